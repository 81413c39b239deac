//! The state of the explorer, moved as a visitor moves it.

use super::*;

const PP: KnobId = KnobId::pipeline_model_parallel_size;

/// Runs a check inside a reactive owner, as a page does.
fn check(query: &str, check: impl FnOnce(Explorer)) {
    let design = model::design::link::decode(query).expect("a link that decodes");
    let owner = Owner::new();
    owner.with(|| check(Explorer::new(design)));
}

#[test]
fn every_preset_that_opens_is_legal() {
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        assert_eq!(Plan::new(&preset.design()).err(), None, "{}", preset.id);
    }
}

#[test]
fn numbers_follow_the_knobs() {
    check("", |explorer| {
        let before = explorer.with_numbers(|numbers| numbers.plan.num_microbatches());
        explorer.set(KnobId::global_batch_size, &Value::Integer(12_288)).expect("in bounds");
        let after = explorer.with_numbers(|numbers| numbers.plan.num_microbatches());
        assert_eq!(after, 2 * before);
        assert_eq!(explorer.changed().get(), [KnobId::global_batch_size]);
    });
}

#[test]
fn the_last_good_numbers_stay_while_a_rule_is_broken_and_a_way_out_mends_it() {
    check("", |explorer| {
        let before = explorer.with_numbers(Clone::clone);
        explorer.set(PP, &Value::Integer(12)).expect("in bounds");
        assert!(explorer.with_violations(|violations| !violations.is_empty()));
        assert_eq!(explorer.shown(), NumbersOf::LastLegal);
        assert!(explorer.with_numbers(|numbers| *numbers == before));
        let ways = explorer.with_violations(|violations| violations[0].nearest.clone());
        let way = ways.iter().find(|way| way.knob == PP).expect("a way out by the same knob");
        explorer.mend(way);
        assert_eq!(explorer.shown(), NumbersOf::Design);
    });
}

#[test]
fn a_link_to_an_illegal_design_shows_its_presets_numbers() {
    check("?parallel.pipeline_model_parallel_size=12", |explorer| {
        assert_eq!(explorer.shown(), NumbersOf::Preset);
        assert!(explorer.with_violations(|violations| !violations.is_empty()));
    });
}

#[test]
fn a_state_of_the_software_goes_and_comes_with_the_accelerator() {
    check("", |explorer| {
        let own = explorer.preset_value(KnobId::accelerator);
        let software = || explorer.with_design(|design| design.kernel.software);
        let (before, h100) = (software(), Value::Text("h100-sxm-80gb".to_owned()));
        explorer.set(KnobId::accelerator, &h100).expect("an accelerator");
        assert_eq!((software(), explorer.shown()), (Software::Calibrated, NumbersOf::Design));
        explorer.undo();
        assert_eq!(software(), before);
        explorer.redo();
        explorer.set(KnobId::accelerator, &own).expect("an accelerator");
        assert_eq!(software(), before);
        assert!(explorer.changed().get().is_empty());
    });
}

#[test]
fn a_rejected_value_changes_nothing() {
    check("", |explorer| {
        for text in ["-1", "NaN", "1000000000000000000", "many", ""] {
            assert!(explorer.set_text(PP, text).is_err(), "{text}");
        }
        assert!(explorer.changed().get().is_empty());
        assert_eq!(explorer.undo_label(), None);
    });
}

#[test]
fn undo_after_another_preset_brings_the_changes_back() {
    check("", |explorer| {
        explorer.set(PP, &Value::Integer(8)).expect("in bounds");
        assert!(explorer.open_preset("deepseek-v3-2k-h800"));
        assert!(explorer.changed().get().is_empty());
        explorer.undo();
        assert_eq!(explorer.changed().get(), [PP]);
        explorer.reset(PP);
        assert!(explorer.changed().get().is_empty());
    });
}

#[test]
fn the_row_of_a_knob_follows_it() {
    check("", |explorer| {
        let row = explorer.row(PP);
        let state = || (row.value.get(), row.is_changed.get(), row.is_broken.get());
        let first = state();
        assert_eq!(first, (explorer.preset_value(PP), false, false));
        explorer.set(PP, &Value::Integer(12)).expect("in bounds");
        assert_eq!(state(), (Value::Integer(12), true, true));
        explorer.undo();
        assert_eq!(state(), first);
        assert!(explorer.open_preset("deepseek-v3-2k-h800"));
        assert_eq!(state(), (explorer.preset_value(PP), false, false));
    });
}

#[test]
fn what_takes_long_follows_when_the_knobs_rest() {
    check("", |explorer| {
        assert!(explorer.rests());
        explorer.set(KnobId::micro_batch_size, &Value::Integer(4)).expect("in bounds");
        assert!(!explorer.rests());
        explorer.rest();
        assert!(explorer.rests());
    });
}

#[test]
fn a_sliders_positions_stay_while_it_moves() {
    check("", |explorer| {
        let before = explorer.positions(PP);
        assert!(before.contains(&8) && before.contains(&16), "{before:?}");
        explorer.set(PP, &Value::Integer(8)).expect("in bounds");
        assert_eq!(explorer.positions(PP), before);
    });
}
