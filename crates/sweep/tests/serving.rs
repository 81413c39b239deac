//! Sweeps of designs that serve.

use std::sync::atomic::AtomicBool;

use model::Answer;
use model::design::KnobId;
use model::ground::knob::Value;
use model::metric::{MetricId, Regime};
use model::serving::{ServingPlan, infer};
use sweep::{Space, Spec, Summary, evaluate, published};

fn space(text: &str) -> Space {
    Space::new(Spec::from_toml(text).expect("a spec")).expect("a space")
}

fn summary(space: &Space) -> Summary {
    evaluate(space, 0..space.num_points(), &AtomicBool::new(false)).expect("nothing stops it")
}

const SMALL: &str = "schema = 1\nobjectives = [\"output_tokens_per_second_per_device max\", \
    \"tpot_seconds min\"]\nconstraints = [\"params_total >= 1e9\", \"tpot_seconds <= 0.025\"]\n\
    [design]\npreset = \"qwen3-32b\"\n[design.cluster]\nnum_devices = 8\n\
    accelerator = \"h100-sxm-80gb\"\n[space.serving]\n\
    tensor_parallel_size = [1, 2, 3, 4, 8]\nconcurrency = [1, 16, 256]\n";

#[test]
fn every_design_has_the_numbers_that_infer_gives() {
    let space = space(SMALL);
    assert_eq!(space.spec().regime(), Regime::Serving);
    let summary = summary(&space);
    assert_eq!(summary.points, 15);
    assert!(summary.feasible >= 4 && summary.feasible < summary.legal, "{}", summary.feasible);
    for row in summary.sample() {
        let plan = ServingPlan::new(&space.design(row.index)).expect("it is legal");
        let inference = infer(&plan);
        let answer = Answer::Serving { plan: &plan, inference: &inference };
        for (column, value) in space.spec().columns.iter().zip(&row.values) {
            assert_eq!(answer.number(*column), Some(*value), "{column:?}");
        }
    }
    // Three is no divisor of the devices.
    assert_eq!(summary.reasons.get("devices_are_whole_instances"), Some(&3));
}

#[test]
fn no_simulation_is_asked_for_and_what_is_best_stays() {
    let space = space(SMALL);
    assert!(!space.spec().has_closed_forms());
    let summary = summary(&space);
    let [best, _] = [0, 1].map(|place| summary.top().nth(place).expect("two objectives"));
    let highest = summary.sample().iter().map(|row| row.values[0]).fold(0.0, f64::max);
    assert_eq!(best[0].values[0].to_bits(), highest.to_bits());
}

#[test]
fn metrics_of_training_and_of_serving_are_not_mixed() {
    let text = "schema = 1\nobjectives = [\"mfu max\", \"tpot_seconds min\"]\n\
                constraints = [\"fits\", \"params_total <= 1e9\"]\n\
                columns = [\"ttft_seconds\"]\n[space]\ntp = [1]\n";
    let errors = Spec::from_toml(text).expect_err("it mixes");
    let places: Vec<&str> = errors.iter().map(|error| error.knob.as_str()).collect();
    assert!(errors.iter().all(|error| error.rule == "mixed_regimes"), "{errors:?}");
    assert_eq!(places, ["objectives", "columns"]);
    let text = "schema = 1\nobjectives = [\"tpot_seconds min\"]\nconstraints = [\"fits\"]\n\
                [space]\n\"serving.concurrency\" = [1]\n";
    let errors = Spec::from_toml(text).expect_err("what fits is asked of training");
    assert_eq!(errors[0].rule, "mixed_regimes");
}

#[test]
fn usual_columns_are_of_the_regime() {
    let text = "schema = 1\nobjectives = [\"ttft_seconds min\"]\n[space]\n\
                \"serving.concurrency\" = [1]\n";
    let spec = Spec::from_toml(text).expect("a spec");
    assert!(spec.constraints.is_empty());
    assert!(spec.columns.contains(&MetricId::tpot_seconds));
    assert!(spec.columns.iter().all(|column| column.is_of(Regime::Serving)));
}

/// The published search at the depth that wins, the least, and at one load.
#[track_caller]
fn searched(name: &str, concurrency: u64) -> Vec<(KnobId, Value)> {
    let published = published().iter().find(|spec| spec.name == name).expect("it is published");
    let line = |line: &str| match line.split_once(" = ") {
        Some(("num_layers", _)) => "num_layers = [40]\n".to_owned(),
        Some(("concurrency", _)) => format!("concurrency = [{concurrency}]\n"),
        _ => format!("{line}\n"),
    };
    let space = space(&published.text.lines().map(line).collect::<String>());
    let summary = summary(&space);
    let best = summary.top().next().and_then(|top| top.first()).expect("something is feasible");
    let design = space.design(best.index);
    space.axes().iter().map(|axis| (axis.knob, design.get(axis.knob))).collect()
}

#[test]
fn the_fastest_of_the_published_search_has_the_published_widths_and_experts() {
    for (name, concurrency) in [("pangu-pro-800i-a2", 192), ("pangu-pro-300i-duo", 32)] {
        let best = searched(name, concurrency);
        let of = |id: KnobId| best.iter().find(|(knob, _)| *knob == id).map(|(_, value)| value);
        for (id, published) in [
            (KnobId::hidden_size, 5_120),
            (KnobId::num_attention_heads, 40),
            (KnobId::num_query_groups, 8),
            (KnobId::num_moe_experts, 64),
            (KnobId::moe_ffn_hidden_size, 1_344),
        ] {
            assert_eq!(of(id), Some(&Value::Integer(published)), "{name}: {best:?}");
        }
    }
}
