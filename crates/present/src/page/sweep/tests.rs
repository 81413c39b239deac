//! Form and text of a spec say the same.

use model::design::KnobId;
use model::design::file::Tree;
use model::design::link;
use model::ground::knob::Value;

use super::form;
use super::server_html;
use crate::insight::spec::space::{self, Form};
use crate::insight::spec::{around, parse, print, set, shown, values, vary};

/// Every form of a knob, as people write it.
const ALL_FORMS: &str = r#"
schema = 1
name = "A \"quoted\" name"
objectives = ["mfu max"]
constraints = ["fits", "params_total >= 690e9"]
resolution = 0.001

[design]
preset = "pangu-ultra-moe-6k"

[design.schedule]
timing = "closed_form"

[space]
mbs = [1, 2]
"memory.swap_modules" = ["none", ["probs"], ["probs", "activations"]]

[space.transformer]
num_layers = { from = 51, to = 71, step = 2 }
moe_layer_freq = { dense_layers = 3 }
moe_shared_expert_intermediate_size = { same_as = "moe_ffn_hidden_size", times = 2 }

[space.parallel]
tp = { powers_of_two = [1, 16] }
ep = { divisors_of = "num_moe_experts" }
noop_layers = { fill = "chunks" }

[sampling]
method = "random"
count = 100000
seed = 7
"#;

#[test]
fn a_spec_that_is_written_reads_as_the_same() {
    let tree = parse(ALL_FORMS).unwrap();
    let text = print(&tree);
    assert_eq!(parse(&text).unwrap(), sorted_like(&tree, &parse(&text).unwrap()), "{text}");
    assert_eq!(print(&parse(&text).unwrap()), text, "and stays as it is");
    let json = model::design::file::json::print(&tree);
    assert_eq!(print(&parse(&json).unwrap()), text);
}

/// TOML has tables behind scalars; the order of keys is no part of a spec.
fn sorted_like(tree: &Tree, like: &Tree) -> Tree {
    match (tree, like) {
        (Tree::Map(entries), Tree::Map(order)) => Tree::Map(
            order
                .iter()
                .filter_map(|(key, like)| {
                    let (_, value) = entries.iter().find(|(known, _)| known == key)?;
                    Some((key.clone(), sorted_like(value, like)))
                })
                .collect(),
        ),
        _ => tree.clone(),
    }
}

#[test]
fn a_design_of_a_link_becomes_a_spec_around_it() {
    let design = link::decode("preset=deepseek-v3&tp=4").unwrap();
    let tree = around(&design);
    let text = print(&tree);
    assert!(text.contains("preset = \"deepseek-v3\""), "{text}");
    let name = "Strategies for DeepSeek-V3 671B · 1,024 x H800 SXM 80 GB";
    assert!(text.contains(&format!("name = \"{name}\"")), "{text}");
    assert!(text.contains("timing = \"closed_form\""), "{text}");
    assert!(text.contains("tensor_model_parallel_size = { powers_of_two = [1, 16] }"), "{text}");
    // Six that one would try first, and recomputation, which that preset leaves neutral.
    assert_eq!(space::entries(&parse(&text).unwrap()).len(), 7);
}

#[test]
fn what_a_design_leaves_neutral_varies_and_its_title_is_its_own() {
    let design = |query: &str| link::decode(query).unwrap();
    let imported =
        design("preset=glm-4.5&num_devices=256&sequence_parallel=false&recompute_granularity=none");
    let text = print(&around(&imported));
    assert!(text.contains("sequence_parallel = [false, true]"), "{text}");
    assert!(text.contains("recompute_granularity = [\"none\", \"full\"]"), "{text}");
    // What a preset decided stays decided.
    let text = print(&around(&design("preset=pangu-ultra-moe-6k&num_devices=4096")));
    let (_, space) = text.split_once("[space").unwrap();
    assert!(!space.contains("sequence_parallel") && !space.contains("recompute"), "{text}");
    assert!(text.contains("name = \"Strategies for Pangu Ultra MoE · 4,096 x 910B3\""), "{text}");
}

#[test]
fn a_knob_that_is_freed_varies_once() {
    let mut tree = around(&link::decode("preset=deepseek-v3").unwrap());
    let before = space::entries(&tree).len();
    let values = [Value::Integer(1), Value::Integer(2)];
    vary(&mut tree, KnobId::context_parallel_size, &values);
    vary(&mut tree, KnobId::context_parallel_size, &values);
    vary(&mut tree, KnobId::tensor_model_parallel_size, &values);
    assert_eq!(space::entries(&tree).len(), before + 1);
    assert!(print(&tree).contains("context_parallel_size = [1, 2]"));
}

#[test]
fn the_room_for_the_numbers_is_there_before_they_are() {
    let [before, after] = [["…"; 5], ["1"; 5]].map(|values| server_html::cost(&values, "how"));
    assert_eq!(before.replace('…', "1"), after);
}

#[test]
fn every_form_is_known_and_shown() {
    let tree = parse(ALL_FORMS).unwrap();
    let entries = space::entries(&tree);
    assert!(entries.iter().all(|entry| entry.knob.is_some()), "{entries:?}");
    let forms: Vec<Form> = entries.iter().map(|entry| Form::of(&entry.tree)).collect();
    for form in Form::ALL.into_iter().filter(|form| *form != Form::Other) {
        assert!(forms.contains(&form), "{form:?}");
    }
    let html = form::form(&tree, &[]);
    for entry in &entries {
        assert!(html.contains(&format!("id=\"form-{}\"", entry.key())), "{}", entry.key());
        let (knob, form) = (entry.knob.unwrap(), Form::of(&entry.tree));
        assert!(form.suits(knob), "{}", entry.key());
        assert_eq!(Form::of(&form.start(knob, &entry.tree)), form);
    }
}

#[test]
fn every_way_to_sample_is_offered_and_refinement_says_what_it_does() {
    let mut tree = parse(ALL_FORMS).unwrap();
    for method in ["random", "lhs", "refine"] {
        set(&mut tree, &["sampling", "method"], Some(method.into()));
        let html = form::form(&tree, &[]);
        assert!(html.contains(&format!("<option value=\"{method}\" selected>")), "{method}");
        assert!(html.contains("id=\"count\"") && html.contains("id=\"seed\""), "{method}");
        assert_eq!(html.contains("too large to enumerate"), method == "refine", "{method}");
    }
}

#[test]
fn values_that_are_typed_come_back() {
    for text in ["1, 2, 4", "none, [moe_act], [moe_permute, moe_act]", "true, false", "0.5, 2"] {
        assert_eq!(values(text).iter().map(shown).collect::<Vec<_>>().join(", "), text);
    }
    assert_eq!(values("6,").len(), 1);
    assert_eq!(values("[[]],]").len(), 2);
}

#[test]
fn parts_are_put_and_taken_away_with_what_they_leave_empty() {
    let mut tree = Tree::Map(vec![]);
    set(&mut tree, &["a", "b", "c"], Some(Tree::Unsigned(1)));
    set(&mut tree, &["a", "d"], Some(Tree::Unsigned(2)));
    set(&mut tree, &["a", "b", "c"], None);
    assert_eq!(tree, Tree::map([("a", Tree::map([("d", Tree::Unsigned(2))]))]));
    set(&mut tree, &["x", "y"], None);
    set(&mut tree, &["a", "d"], None);
    assert_eq!(tree, Tree::Map(vec![]));
}

#[test]
fn nonsense_has_a_form_too() {
    for text in [
        "",
        "space = 3",
        "[space]\ntp = 4",
        "objectives = 3",
        "design = []",
        "[space.parallel]\nnothing = { a = 1 }",
        "{\"space\": {\"parallel\": {\"tp\": {}}}}",
    ] {
        let tree = parse(text).unwrap();
        let html = form::form(&tree, &[]);
        assert!(html.contains("id=\"add-knob\""), "{text}");
        let _ = print(&tree);
    }
    assert!(parse("= what").is_err());
}
