//! Specs: what is read, and what is refused before anything runs.

use model::design::KnobId;
use model::ground::knob::Value;
use sweep::{Sampling, Space, Spec, published};

/// The rules that a spec of one space line and more breaks.
#[track_caller]
fn refused(text: &str) -> Vec<&'static str> {
    let errors = match Spec::from_toml(text) {
        Err(errors) => errors,
        Ok(spec) => vec![Space::new(spec).expect_err(text)],
    };
    assert!(errors.iter().all(|error| !error.detail.is_empty()), "{errors:?}");
    errors.iter().map(|error| error.rule).collect()
}

#[test]
fn published_specs_can_be_run() {
    for spec in published() {
        let space = Space::new(Spec::from_toml(spec.text).unwrap()).unwrap();
        assert!(space.num_points() > 5_000, "{}", spec.name);
    }
}

#[test]
fn an_axis_has_the_values_that_its_form_says() {
    let spec = Spec::from_toml(
        "schema = 1\n[space]\ntp = { powers_of_two = [2, 9] }\n\
         mbs = { from = 1, to = 7, step = 3 }\n\
         pp = { divisors_of = 12 }\nskew = { from = 0.1, to = 0.3, step = 0.1 }\n\
         recompute_modules = [\"none\", [\"moe_act\", \"core_attn\"]]\n\
         ep = { divisors_of = \"num_moe_experts\" }\nnum_moe_experts = [6, 4]\n",
    )
    .unwrap();
    let numbers = |name: &str| -> Vec<String> {
        let knob = KnobId::find(name).unwrap();
        let axis = spec.axes.iter().find(|axis| axis.knob == knob).unwrap();
        axis.values.iter().map(Value::to_string).collect()
    };
    assert_eq!(numbers("tp"), ["2", "4", "8"]);
    assert_eq!(numbers("mbs"), ["1", "4", "7"]);
    assert_eq!(numbers("pp"), ["1", "2", "3", "4", "6", "12"]);
    assert_eq!(numbers("skew"), ["0.1", "0.2", "0.3"]);
    assert_eq!(numbers("recompute_modules"), ["none", "core_attn,moe_act"]);
    assert_eq!(numbers("ep"), ["1", "2", "3", "4", "6"]);
}

#[test]
fn a_constraint_keeps_multiples() {
    let text = "schema = 1\nconstraints = [\"hidden_size % 256 == 0\", \"tp<=8\"]\n[space]\n\
                tp = [1]\n";
    let spec = Spec::from_toml(text).unwrap();
    let of = |value| spec.constraints.iter().map(move |constraint| constraint.holds(value));
    assert_eq!(of(512.0).collect::<Vec<_>>(), [true, false]);
    assert_eq!(of(5.0).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn tied_knobs_follow() {
    let space = Space::new(
        Spec::from_toml(
            "schema = 1\n[space]\nmbs = [1, 2]\ngbs = { same_as = \"num_devices\", times = 3 }\n\
             num_devices = { same_as = \"mbs\", times = 64 }\nnum_layers = [58, 61]\n\
             moe_layer_freq = { dense_layers = 3 }\nnoop_layers = { fill = \"chunks\" }\n",
        )
        .unwrap(),
    )
    .unwrap();
    assert_eq!(space.num_points(), 4);
    let seen: Vec<_> = (0..4)
        .map(|index| {
            let design = space.design(index);
            let (layers, mbs) = (design.transformer.num_layers, design.training.micro_batch_size);
            assert_eq!(design.transformer.moe_layer_freq.len(), Some(layers));
            assert_eq!(design.training.global_batch_size, 192 * mbs);
            (layers, mbs, design.parallel.noop_layers.0.clone())
        })
        .collect();
    assert!(seen.contains(&(61, 1, vec![61, 63])), "the paper's own no-op layers: {seen:?}");
    assert!(seen.contains(&(58, 2, vec![53, 55, 57, 59, 61, 63][1..].to_vec())), "{seen:?}");
}

#[test]
fn the_same_spec_has_the_same_name_in_either_format() {
    let toml = "schema = 1\n[space]\ntp = [1, 2]\n";
    let json = r#"{"space": {"tp": [1, 2]}, "schema": 1}"#;
    let (one, other) = (Spec::from_toml(toml).unwrap(), Spec::from_json(json).unwrap());
    assert_eq!(one, other);
    assert_eq!(one.digest(), other.digest());
    assert_ne!(one.digest(), Spec::from_toml(&toml.replace("2]", "4]")).unwrap().digest());
    assert_eq!(one.sampling, Sampling::Grid);
}

#[test]
fn bad_specs_are_refused_before_anything_runs() {
    for (text, rules) in [
        ("schema = 1", vec!["empty_space"]),
        ("schema = 1\nspace = 3", vec!["wrong_type"]),
        ("schema = ", vec!["not_toml"]),
        ("[space]\ntp = [1]", vec!["missing_schema"]),
        ("schema = 2\n[space]\ntp = [1]", vec!["unsupported_schema"]),
        ("schema = 1\nspce = 1\n[space]\ntp = [1]", vec!["unknown_key"]),
        ("schema = 1\n[space]\ntpx = [1]", vec!["unknown_knob"]),
        ("schema = 1\n[space]\ntp = []", vec!["empty_axis"]),
        ("schema = 1\n[space]\ntp = 4", vec!["wrong_type"]),
        ("schema = 1\n[space]\ntp = [1, 1]", vec!["repeated_value"]),
        ("schema = 1\n[space]\ntp = [1]\n\"parallel.tp\" = [2]", vec!["repeated_knob"]),
        ("schema = 1\n[space]\ntp = [\"a\", -1]", vec!["wrong_type", "out_of_range"]),
        ("schema = 1\n[space]\ntp = { from = 8, to = 1 }", vec!["empty_axis"]),
        ("schema = 1\n[space]\ntp = { from = 1, to = 8, step = 0 }", vec!["empty_axis"]),
        ("schema = 1\n[space]\ntp = { from = 1, by = 8 }", vec!["unknown_form"]),
        ("schema = 1\n[space]\nmethod = { from = 1, to = 8 }", vec!["not_a_number"]),
        ("schema = 1\n[space]\nvocab_size = { from = 1, to = 999999 }", vec!["too_many_values"]),
        (
            "schema = 1\n[space]\ntp = { same_as = \"pp\" }\npp = { same_as = \"tp\" }",
            vec!["tie_cycle"],
        ),
        ("schema = 1\n[space]\ntp = { divisors_of = \"tp\" }", vec!["tie_cycle"]),
        ("schema = 1\n[space]\npp = { fill = \"chunks\" }", vec!["wrong_tie"]),
        (
            "schema = 1\nconstraints = [\"mfu > 0.5\", \"mfu < 0.4\"]\n[space]\ntp = [1]",
            vec!["contradictory_constraints"],
        ),
        (
            "schema = 1\nconstraints = [\"tp >= 16\"]\n[space]\ntp = [1]",
            vec!["contradictory_constraints"],
        ),
        ("schema = 1\nconstraints = [\"mfu ~ 1\"]\n[space]\ntp = [1]", vec!["wrong_constraint"]),
        ("schema = 1\nconstraints = [\"mfi > 1\"]\n[space]\ntp = [1]", vec!["unknown_name"]),
        ("schema = 1\nconstraints = [\"mfu > nan\"]\n[space]\ntp = [1]", vec!["wrong_constraint"]),
        ("schema = 1\nobjectives = []\n[space]\ntp = [1]", vec!["wrong_objective"]),
        ("schema = 1\nobjectives = [\"mfu\"]\n[space]\ntp = [1]", vec!["wrong_objective"]),
        ("schema = 1\nobjectives = [\"fits max\"]\n[space]\ntp = [1]", vec!["not_a_number"]),
        ("schema = 1\nresolution = 2\n[space]\ntp = [1]", vec!["out_of_range"]),
        ("schema = 1\n[space]\ntp = [1]\n[sampling]\nmethod = \"sobol\"", vec!["unknown_method"]),
        ("schema = 1\n[space]\ntp = [1]\n[sampling]\nmethod = \"lhs\"", vec!["missing_count"]),
        ("schema = 1\ndesign = { preset = \"x\" }\n[space]\ntp = [1]", vec!["unknown_preset"]),
    ] {
        assert_eq!(refused(text), rules, "{text}");
    }
}

#[test]
fn too_many_points_are_an_error_or_a_sample() {
    let axes = "hidden_size = { from = 1024, to = 9023 }\nvocab_size = { from = 1000, to = 9999 }\n\
                ffn_hidden_size = { from = 1000, to = 9999 }\n\
                seq_length = { from = 1000, to = 9999 }";
    let grid = format!("schema = 1\n[space]\n{axes}\n");
    assert_eq!(refused(&grid), ["too_many_points"]);
    let more = format!("{grid}kv_lora_rank = {{ from = 1, to = 9999 }}\n");
    assert_eq!(refused(&more), ["too_many_points"]);
    let sampled = format!("{grid}[sampling]\nmethod = \"lhs\"\ncount = 500\nseed = 9\n");
    let space = Space::new(Spec::from_toml(&sampled).unwrap()).unwrap();
    assert_eq!(space.num_points(), 500);
    assert!((0..500).all(|place| space.index(place) < space.size()));
}
