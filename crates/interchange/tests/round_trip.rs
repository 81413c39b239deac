//! Designs exported and imported again; texts of all kinds.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use interchange::{Format, Provenance, export, import};
use model::design::{Design, KnobId};
use model::knob::{Kind, LayerText};
use model::preset::Preset;
use proptest::prelude::*;

const DATE: Provenance<'_> = Provenance { date: "2026-01-31" };
const LAUNCHERS: [Format; 2] = [Format::Megatron, Format::Mindspeed];

#[track_caller]
fn comes_back(format: Format, design: &Design) -> String {
    let text = export(format, design, &DATE).unwrap();
    let import = import(format, &text, None);
    assert_eq!(import.errors, [], "{text}");
    assert_eq!(import.unknown, [], "{text}");
    assert_eq!(import.design.as_ref(), Some(design), "{text}");
    text
}

#[test]
fn every_preset_comes_back_from_its_arguments() {
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        for format in LAUNCHERS {
            let text = comes_back(format, &preset.design());
            assert!(text.contains(&format!("preset={}", preset.id)));
            assert!(text.contains(&format!("model version: {}", model::MODEL_VERSION)));
            assert!(text.contains("date: 2026-01-31"));
        }
    }
}

#[test]
fn a_vocabulary_that_padding_makes_too_large_comes_back() {
    let mut design = Design::from_preset("llama-3-8b").unwrap();
    design.set_text(KnobId::vocab_size, "4193425").unwrap();
    design.set_text(KnobId::tensor_model_parallel_size, "918").unwrap();
    for format in LAUNCHERS {
        comes_back(format, &design);
    }
}

#[test]
fn knobs_with_an_argument_need_no_comment() {
    let comments = |format, id: &str| -> Vec<String> {
        let text = export(format, &Design::from_preset(id).unwrap(), &DATE).unwrap();
        let lines = text.lines().filter_map(|line| line.strip_prefix("# moescape: "));
        lines.map(|line| line.split('=').next().unwrap().to_owned()).collect()
    };
    assert_eq!(comments(Format::Megatron, "llama-3-8b"), ["preset"]);
    let mixtral = comments(Format::Megatron, "mixtral-8x22b");
    assert_eq!(mixtral, ["preset"]);
    let recipe = comments(Format::Mindspeed, "deepseek-v3-512-910c");
    assert_eq!(recipe, ["preset"]);
}

#[test]
fn a_format_that_holds_no_run_has_no_export() {
    let design = Design::from_preset("llama-3-8b").unwrap();
    assert_eq!(export(Format::HuggingFace, &design, &DATE), None);
}

/// Values of a knob, of which some are legal in no design.
fn values(knob: KnobId) -> BoxedStrategy<String> {
    let whole = |low: u64, high: u64| {
        prop_oneof![low..=high, (low..=high.min(low.saturating_add(64))).prop_map(|n| n)]
            .prop_map(|number| number.to_string())
            .boxed()
    };
    match knob.knob().kind {
        Kind::Integer(low, high) => whole(low, high),
        Kind::OptionalInteger(low, high) => {
            prop_oneof![Just("none".to_owned()), whole(low, high)].boxed()
        }
        Kind::Real(low, high) => (low..high).prop_map(|real| real.to_string()).boxed(),
        Kind::OptionalReal(low, high) => {
            prop_oneof![Just("none".to_owned()), (low..high).prop_map(|real| real.to_string())]
                .boxed()
        }
        Kind::Flag => prop_oneof![Just("true".to_owned()), Just("false".to_owned())].boxed(),
        Kind::Choice(names) => prop::sample::select(names).prop_map(str::to_owned).boxed(),
        Kind::Subset(names) => prop::sample::subsequence(names, 0..=names.len())
            .prop_map(|names| if names.is_empty() { "none".into() } else { names.join(",") })
            .boxed(),
        Kind::LayerFreq => prop::sample::select(vec!["1", "2", "([0]*3+[1]*58)", "([0,1]*16)"])
            .prop_map(str::to_owned)
            .boxed(),
        Kind::PerStage(high) => prop_oneof![
            Just("none".to_owned()),
            whole(0, high),
            prop::collection::vec(0..=high, 2..6).prop_map(|numbers| joined(&numbers))
        ]
        .boxed(),
        Kind::PositionList(_) => {
            prop::collection::vec(0..100_u64, 0..5).prop_map(|numbers| joined(&numbers)).boxed()
        }
        Kind::LayerPattern(LayerText::Ratios) => {
            let ratios = ["none", "([0]*2+[4,128]*20+[4]+[0])", "([128]*61)"];
            prop::sample::select(ratios.to_vec()).prop_map(str::to_owned).boxed()
        }
        Kind::LayerPattern(text @ (LayerText::Overrides | LayerText::Lengths)) => {
            prop::sample::select(vec!["none", text.example()]).prop_map(str::to_owned).boxed()
        }
        Kind::LayerPattern(LayerText::SubLayers) => {
            let patterns = ["none", "M*-E", "M-M*|MEME/*E", "+-G-"];
            prop::sample::select(patterns.to_vec()).prop_map(str::to_owned).boxed()
        }
        Kind::Layout => {
            let layouts = ["none", "Et*3|(tt|)*29mL", "Et*8|t*8nhL", "E||tL"];
            prop::sample::select(layouts.to_vec()).prop_map(str::to_owned).boxed()
        }
        Kind::Hash => Just("none".to_owned()).boxed(),
    }
}

fn joined(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    if numbers.is_empty() { "none".to_owned() } else { numbers.join(",") }
}

fn designs() -> impl Strategy<Value = Design> {
    let presets: Vec<_> = Preset::all().filter(|preset| preset.refused.is_none()).collect();
    let knob = prop::sample::select(KnobId::ALL)
        .prop_flat_map(|knob| values(knob).prop_map(move |value| (knob, value)));
    (prop::sample::select(presets), prop::collection::vec(knob, 0..24)).prop_map(
        |(preset, settings)| {
            let mut design = preset.design();
            for (knob, value) in settings {
                design.set_text(knob, &value).unwrap();
            }
            design
        },
    )
}

/// Pieces that scripts, YAML and JSON are made of, in no order.
fn texts() -> impl Strategy<Value = String> {
    // With a tilde between two.
    let pieces: Vec<&str> = "\
        --num-layers~ 8~=~\"~'~\\\n~\n~$A~${A:-~}~$((~))~(~)~A=~ARGS+=(~[@]~`~<<EOF~EOF~#\
        ~# moescape: ~parallel.noop_layers=1~{~[~:~, ~- ~a: ~&x ~*x~if ~then~|~>~2>&1~-1~1e9\
        ~--noop-layers 1,2~--hidden-size 64~--pipeline-model-parallel-layout~Et*3|mL~null\
        ~99999999999999999999~\u{0}~é~\"hidden_size\"~\"num_hidden_layers\"~true"
        .split('~')
        .collect();
    prop::collection::vec(prop::sample::select(pieces), 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_design_comes_back_from_its_arguments(design in designs()) {
        for format in LAUNCHERS {
            comes_back(format, &design);
        }
    }

    #[test]
    fn no_text_makes_an_import_panic(text in texts(), any in any::<String>()) {
        for format in Format::ALL {
            let _ = import(format, &text, None);
            let _ = import(format, &any, None);
        }
    }
}
