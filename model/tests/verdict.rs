//! What doesn't fit, why, and which change of a single knob helps.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::answer::ledger::Tensor;
use model::design::{Design, KnobId};
use model::search::verdict::{Change, Place, Verdict};
use model::training::estimate::Estimate;
use model::{Content, Plan, contents, estimate, legal_values, verdict};
use testing::design::{from_preset, plan};

const RECIPE: &str = "pangu-ultra-moe-6k@2";
/// Attention's kernel takes values as narrow as they are.
const UNPADDED: (&str, &str) = ("mla_fa_without_pad", "true");
/// Nothing is freed, and every expert gets the same.
const PLAIN: [(&str, &str); 7] = [
    ("recompute_granularity", "none"),
    ("recompute_modules", "none"),
    ("swap_modules", "none"),
    ("balance", "uniform"),
    ("planner", "none"),
    ("aux_loss", "none"),
    UNPADDED,
];

fn run(design: &Design) -> (Plan, Estimate) {
    let plan = plan(design);
    let estimate = estimate(&plan);
    (plan, estimate)
}

fn of(design: &Design) -> Verdict {
    let (plan, estimate) = run(design);
    verdict(&plan, &estimate)
}

fn changed(design: &Design, change: &Change) -> Design {
    let mut design = design.clone();
    design.set(change.knob, &change.value).unwrap();
    for (knob, value) in &change.with {
        design.set(*knob, value).unwrap();
    }
    design
}

fn change(verdict: &Verdict, knob: KnobId) -> &Change {
    verdict.changes.iter().find(|change| change.knob == knob).unwrap()
}

/// Each change does what the verdict says of it.
#[track_caller]
fn keeps_its_word(design: &Design, verdict: &Verdict) {
    for change in &verdict.changes {
        let metrics = run(&changed(design, change)).1.metrics;
        let name = change.knob.id();
        assert_eq!(metrics.fits, change.fits, "{name}");
        assert!((metrics.mfu - change.mfu).abs() < 1e-15, "{name}");
        assert!((metrics.memory_peak - change.memory_peak).get().abs() < 1.0, "{name}");
        assert!(verdict.changes.iter().filter(|other| other.knob == change.knob).count() == 1);
    }
}

#[test]
fn the_recipe_without_recomputation_and_swapping_says_what_is_too_large_and_when() {
    let design = from_preset(RECIPE, &PLAIN);
    let verdict = of(&design);
    assert!(!verdict.fits);
    assert_eq!((verdict.place, verdict.stage), (Place::Device, 2));
    assert!((verdict.over().to_gib() - 39.6).abs() < 0.5, "{}", verdict.over().to_gib());
    assert!(verdict.headroom().get() <= 0.0);
    assert_eq!(verdict.largest().unwrap().content, Content::Saved(Tensor::Permuted));
    // The first pair: nothing has been freed yet.
    assert_eq!(verdict.fullest.unwrap().backward_micro_batch, 0);
    keeps_its_word(&design, &verdict);
}

#[test]
fn contents_sum_to_the_peak_of_each_stage_and_the_largest_is_first() {
    let full = ("recompute_granularity", "full");
    let designs = [
        from_preset(RECIPE, &PLAIN),
        from_preset(RECIPE, &[full]),
        from_preset(RECIPE, &[full, ("recompute_method", "block"), ("recompute_num_layers", "1")]),
        from_preset(RECIPE, &[]),
        from_preset("llama-3-8b", &[("cpu_offloading_num_layers", "8")]),
    ];
    for design in designs {
        let (plan, estimate) = run(&design);
        for stage in &estimate.stages {
            let parts = contents(&plan, stage);
            let sum: f64 = parts.iter().map(|part| part.bytes.get()).sum();
            let peak = stage.memory.peak().get();
            assert!((sum - peak).abs() < 1e-9 * peak, "{sum} {peak}");
            assert!(parts.windows(2).all(|pair| pair[0].bytes >= pair[1].bytes));
        }
    }
}

#[test]
fn of_each_knob_no_nearer_value_fits() {
    let design = from_preset(RECIPE, &PLAIN);
    let verdict = of(&design);
    assert!(verdict.changes.iter().filter(|change| change.fits).count() >= 5);
    let halved = change(&verdict, KnobId::micro_batch_size);
    assert_eq!((halved.fits, halved.value.to_string().as_str()), (true, "1"));
    // TP, CP, EP: all legal values between the present one and the one that fits.
    for knob in [KnobId::tensor_model_parallel_size, KnobId::context_parallel_size] {
        let found = change(&verdict, knob);
        assert!(found.fits);
        let number = |text: String| text.parse::<u64>().unwrap();
        let (now, then) = (number(design.get(knob).to_string()), number(found.value.to_string()));
        for value in legal_values(&design, knob) {
            let between = number(value.to_string());
            if now < between && between < then {
                let mut nearer = design.clone();
                nearer.set(knob, &value).unwrap();
                assert!(!run(&nearer).1.metrics.fits, "{} {value}", knob.id());
            }
        }
    }
    // Two modules fit, and no single one.
    let modules = change(&verdict, KnobId::recompute_modules);
    assert_eq!(modules.value.to_string().split(',').count(), 2);
    for module in modules.value.to_string().split(',') {
        let mut one = PLAIN;
        one[0].1 = "selective";
        one[1].1 = module;
        let one = from_preset(RECIPE, &one);
        assert!(!run(&one).1.metrics.fits, "{module}");
    }
}

#[test]
fn knobs_that_can_not_help_alone_come_last_with_their_lowest_peak() {
    // Of all that could be swapped, whoever can.
    let design = from_preset(RECIPE, &[PLAIN.as_slice(), &[("framework", "ideal")]].concat());
    let verdict = of(&design);
    let cannot = verdict.changes.iter().position(|change| !change.fits).unwrap();
    let (can, cannot) = verdict.changes.split_at(cannot);
    assert!(can.iter().all(|change| change.fits));
    assert!(can.windows(2).all(|pair| pair[0].mfu >= pair[1].mfu));
    assert!(cannot.iter().all(|change| !change.fits && change.memory_peak < verdict.peak));
    assert!(cannot.windows(2).all(|pair| pair[0].memory_peak <= pair[1].memory_peak));
    let swap = cannot.iter().find(|change| change.knob == KnobId::swap_modules).unwrap();
    assert_eq!(swap.value.to_string(), "probs,activations,attention_output,optimizer");
}

#[test]
fn what_fits_tells_its_headroom_and_what_could_be_faster_with_it() {
    let design = from_preset(RECIPE, &[UNPADDED]);
    let verdict = of(&design);
    assert!(verdict.fits);
    let room = verdict.headroom();
    assert!((room.get() - (verdict.limit - verdict.peak).get()).abs() < 1.0);
    assert!(room.to_gib() > 10.0);
    keeps_its_word(&design, &verdict);
    assert!(!verdict.changes.is_empty());
    for change in &verdict.changes {
        assert!(change.fits && change.mfu > verdict.mfu);
        assert!(change.memory_peak > verdict.peak);
    }
    // Some of its modules are not needed.
    let modules = change(&verdict, KnobId::recompute_modules);
    let kept = modules.value.to_string();
    assert!(kept.split(',').count() < design.memory.recompute_modules.iter().count());
}

#[test]
fn a_host_that_is_too_small_is_named() {
    let design = from_preset(RECIPE, &[("host_memory_gib", "64")]);
    let verdict = of(&design);
    assert!(!verdict.fits);
    assert_eq!(verdict.place, Place::Host);
    assert_eq!(verdict.largest().unwrap().content, Content::Saved(Tensor::ActivationInput));
    let sum: f64 = verdict.contents.iter().map(|part| part.bytes.get()).sum();
    assert!((sum / verdict.peak.get() - 1.0).abs() < 1e-6);
    let fewer = change(&verdict, KnobId::swap_modules);
    assert!(!fewer.value.to_string().contains("activations"));
    keeps_its_word(&design, &verdict);
}

#[test]
fn what_moves_with_a_knob_is_said() {
    let design = from_preset("deepseek-v3", &PLAIN[..2]);
    let verdict = of(&design);
    let split = change(&verdict, KnobId::tensor_model_parallel_size);
    assert_eq!(split.with.len(), 1);
    assert_eq!(split.with[0].0, KnobId::sequence_parallel);
    let layers = change(&verdict, KnobId::recompute_num_layers);
    assert!(layers.with.iter().any(|(knob, _)| *knob == KnobId::recompute_granularity));
    keeps_its_word(&design, &verdict);
}

#[test]
fn a_verdict_is_the_same_each_time_and_every_preset_has_one() {
    for preset in model::catalogue::preset::Preset::all().filter(|preset| preset.refused.is_none())
    {
        for gib in [8.0, 40.0, 4_000.0] {
            let mut design = preset.design();
            design.cluster.hbm_usable_gib = Some(gib);
            let verdict = of(&design);
            assert_eq!(verdict, of(&design), "{}", preset.id);
            assert_eq!(verdict.fits, verdict.over().get() <= 0.0, "{}", preset.id);
            keeps_its_word(&design, &verdict);
        }
    }
}
