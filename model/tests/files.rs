//! Design files: every design survives one, what is wrong is reported, no input breaks the reader.

use model::catalogue::preset::Preset;
use model::design::file::{self, Extent, Tree, json};
use model::design::{Design, KnobId};
use model::ground::knob::KnobError;
use proptest::prelude::*;

#[track_caller]
fn opens(text: &str) -> Design {
    json::read(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

#[track_caller]
fn refused(text: &str) -> Vec<KnobError> {
    json::read(text).expect_err(text)
}

#[track_caller]
fn refused_once(text: &str, rule: &str, knob: &str, nearest: &[&str]) {
    let errors = refused(text);
    let [error] = errors.as_slice() else { panic!("{text}: {errors:?}") };
    assert_eq!((error.rule, error.knob.as_str()), (rule, knob), "{text}: {error:?}");
    assert_eq!(error.nearest, nearest, "{text}: {error:?}");
}

/// A file that sets one knob.
fn one(section: &str, knob: &str, value: &str) -> String {
    format!(r#"{{"schema":1,"{section}":{{"{knob}":{value}}}}}"#)
}

#[test]
fn every_preset_survives_a_file_short_and_full() {
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        for extent in [Extent::Changed, Extent::Full] {
            let design = preset.design();
            assert_eq!(opens(&json::write(&design, extent)), design, "{} {extent:?}", preset.id);
        }
    }
}

#[test]
fn a_file_holds_what_differs_and_a_full_one_every_knob() {
    let mut design = Design::from_preset("deepseek-v3").unwrap();
    design.set_text(KnobId::tensor_model_parallel_size, "2").unwrap();
    assert_eq!(
        json::write(&design, Extent::Changed),
        "{\n  \"schema\": 1,\n  \"preset\": \"deepseek-v3\",\n  \"parallel\": {\n    \
         \"tensor_model_parallel_size\": 2\n  }\n}\n"
    );
    let full = file::write(&design, Extent::Full);
    for id in KnobId::ALL {
        let section = full.get(id.knob().section.name()).unwrap();
        assert!(section.get(id.knob().name).is_some(), "{}", id.id());
    }
}

#[test]
fn what_is_absent_is_the_presets() {
    assert_eq!(opens(r#"{"schema":1}"#), Design::from_preset(Preset::DEFAULT_ID).unwrap());
    let design = opens(r#"{"schema":1,"preset":"deepseek-v3","parallel":{}}"#);
    assert_eq!(design, Design::from_preset("deepseek-v3").unwrap());
}

#[test]
fn unset_options_are_spelled_none() {
    let design = opens(
        r#"{"schema":1,"transformer":{"q_lora_rank":"none"},
            "parallel":{"noop_layers":"none","pipeline_model_parallel_layout":"none"},
            "memory":{"recompute_num_layers":[],"recompute_modules":[],"swap_modules":"none"}}"#,
    );
    for id in [KnobId::q_lora_rank, KnobId::noop_layers, KnobId::recompute_num_layers] {
        assert_eq!(design.get(id).to_string(), "none", "{}", id.id());
    }
    refused_once(
        &one("transformer", "q_lora_rank", "null"),
        "wrong_type",
        "transformer.q_lora_rank",
        &["none"],
    );
    refused_once(
        &one("transformer", "num_layers", "\"none\""),
        "wrong_type",
        "transformer.num_layers",
        &[],
    );
}

#[test]
fn where_a_file_comes_from_changes_nothing() {
    let plain = opens(r#"{"schema":1,"parallel":{"tp":4}}"#);
    for provenance in [r#"{"design":"/?v=1","model_version":"0.4.0","date":"2026-01-31"}"#, "1"] {
        let text = format!(r#"{{"schema":1,"parallel":{{"tp":4}},"provenance":{provenance}}}"#);
        assert_eq!(opens(&text), plain);
    }
    refused_once(
        r#"{"schema":1,"provenance":{},"provenance":{}}"#,
        "repeated_knob",
        "provenance",
        &[],
    );
    assert_eq!(refused(r#"{"schema":1,"provenanse":{}}"#)[0].rule, "unknown_section");
}

#[test]
fn aliases_are_read_in_their_own_section() {
    let design = opens(&one("parallel", "tp", "4"));
    assert_eq!(design.parallel.tensor_model_parallel_size, 4);
    assert_eq!(refused(&one("training", "tp", "4"))[0].rule, "unknown_knob");
}

#[test]
fn bad_input_names_the_knob_and_the_nearest() {
    let layers = "transformer.num_layers";
    let check = |value, rule, nearest: &[&str]| {
        refused_once(&one("transformer", "num_layers", value), rule, layers, nearest);
    };
    check("0", "out_of_range", &["1"]);
    check("-3", "out_of_range", &["1"]);
    check("1000000000000000000", "out_of_range", &["1000"]);
    check("1e30", "out_of_range", &["1000"]);
    check("61.5", "wrong_type", &[]);
    check("\"61\"", "wrong_type", &[]);
    check("true", "wrong_type", &[]);
    check("null", "wrong_type", &[]);
    check("[61]", "wrong_type", &[]);
    check("{\"a\":1}", "wrong_type", &[]);
    refused_once(
        &one("transformer", "num_layer", "61"),
        "unknown_knob",
        "transformer.num_layer",
        &[layers],
    );
    refused_once(&one("paralell", "x", "1"), "unknown_section", "paralell", &["parallel"]);
    refused_once(
        r#"{"schema":1,"tp":4}"#,
        "unknown_section",
        "tp",
        &["parallel.tensor_model_parallel_size"],
    );
    refused_once(r#"{"schema":1,"parallel":4}"#, "wrong_type", "parallel", &[]);
    refused_once(r#"{"schema":2}"#, "unsupported_schema", "schema", &["1"]);
    refused_once(r#"{"schema":"1"}"#, "unsupported_schema", "schema", &["1"]);
    refused_once(r#"{}"#, "missing_schema", "schema", &["1"]);
    refused_once(
        r#"{"schema":1,"preset":"deepseek-3"}"#,
        "unknown_preset",
        "preset",
        &["deepseek-v3"],
    );
    refused_once(r#"{"schema":1,"preset":3}"#, "wrong_type", "preset", &[]);
    refused_once(r#"{"schema":1,"schema":1}"#, "repeated_knob", "schema", &[]);
    refused_once(
        r#"{"schema":1,"transformer":{"num_layers":61,"num_hidden_layers":61}}"#,
        "repeated_knob",
        layers,
        &[],
    );
    refused_once(
        r#"{"schema":1,"transformer":{"num_layers":61},"transformer":{}}"#,
        "repeated_knob",
        "transformer",
        &[],
    );
    refused_once("[]", "wrong_type", "", &[]);
}

#[test]
fn lists_are_checked_item_by_item() {
    let modules = one("memory", "recompute_modules", r#"["moe_act","moe_akt"]"#);
    refused_once(&modules, "unknown_name", "memory.recompute_modules", &["moe_act"]);
    let positions = one("parallel", "noop_layers", "[61,-1]");
    refused_once(&positions, "out_of_range", "parallel.noop_layers", &["0"]);
    let stages = opens(&one("memory", "recompute_num_layers", "[1,2,3]"));
    assert_eq!(stages.get(KnobId::recompute_num_layers).to_string(), "1,2,3");
}

#[test]
fn non_finite_numbers_are_refused() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let knobs =
            Tree::map([("reserved_gib", number.into()), ("recompute_num_layers", number.into())]);
        let tree = Tree::map([("schema", 1_u64.into()), ("memory", knobs)]);
        assert_eq!(file::read(&tree).unwrap_err().len(), 2, "{number}");
    }
}

#[test]
fn text_that_is_no_json_is_refused_with_its_place() {
    for text in ["", "{", "{\"schema\":1", "schema = 1", "{\"schema\":1}x", "{\"schema\":1e999}"] {
        let errors = refused(text);
        assert_eq!(errors[0].rule, "not_json", "{text}");
        assert!(errors[0].detail.contains("line 1"), "{errors:?}");
    }
    assert_eq!(refused(&"[".repeat(100_000))[0].rule, "not_json");
}

#[test]
fn everything_wrong_is_reported_at_once_but_not_without_end() {
    let errors =
        refused(r#"{"preset":"no","transformer":{"num_layers":-1,"x":1},"paralel":{},"memory":3}"#);
    let rules: Vec<&str> = errors.iter().map(|error| error.rule).collect();
    assert_eq!(
        rules,
        [
            "missing_schema",
            "unknown_preset",
            "out_of_range",
            "unknown_knob",
            "unknown_section",
            "wrong_type"
        ]
    );
    let many: Vec<String> = (0..1_000).map(|number| format!(r#""x{number}":1"#)).collect();
    let errors = refused(&format!(r#"{{"schema":1,"parallel":{{{}}}}}"#, many.join(",")));
    assert_eq!(errors.len(), 101);
}

fn any_tree() -> impl Strategy<Value = Tree> {
    let names = KnobId::ALL.iter().map(|id| id.knob().name);
    let words: Vec<&str> =
        names.chain(["schema", "preset", "parallel", "memory", "none"]).collect();
    let word = prop::sample::select(words).prop_map(str::to_string);
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Flag),
        any::<u64>().prop_map(Tree::Unsigned),
        (i64::MIN..0).prop_map(Tree::Negative),
        any::<f64>().prop_map(Tree::Real),
        "\\PC{0,20}".prop_map(Tree::Text),
        word.clone().prop_map(Tree::Text),
    ];
    leaf.prop_recursive(4, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Tree::List),
            prop::collection::vec((word.clone(), inner), 0..8).prop_map(Tree::Map),
        ]
    })
}

proptest! {
    #[test]
    fn no_tree_breaks_the_reader(tree in any_tree(), section in any_tree()) {
        let _ = file::read(&tree);
        let _ = file::read(&Tree::map([("schema", 1_u64.into()), ("memory", section)]));
    }

    #[test]
    fn no_text_breaks_the_reader(text in "\\PC{0,200}") {
        let _ = json::read(&text);
    }
}
