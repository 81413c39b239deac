//! Pipeline simulators of equal stages, where a schedule has a closed form: Primus, sail-sg's
//! zero-bubble and PP-Schedule-Visualization.
//!
//! Left to the event simulation: schedules without a closed form (V-half, V-min), zero-bubble and
//! dual pipelines whose forward, input gradient and weight gradient take different times, and
//! pairs that are faster than their parts.

use model::choice::Method;
use model::design::{Design, KnobId};
use model::{Plan, estimate};
use serde_json::Value;

use super::{close, same};

fn all() -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("schedules.json")).unwrap();
    file["cases"].as_array().unwrap().clone()
}

fn number(case: &Value, key: &str) -> f64 {
    case[key].as_f64().unwrap()
}

/// A dense model with one layer per chunk and the schedule of the case.
fn plan(case: &Value) -> Plan {
    let mut design = Design::from_preset("llama-3-8b").unwrap();
    let (stages, chunks) = (number(case, "stages"), number(case, "chunks"));
    for (knob, value) in [
        ("num_layers", stages * chunks),
        ("num_devices", stages),
        ("tensor_model_parallel_size", 1.0),
        ("pipeline_model_parallel_size", stages),
        ("virtual_pipeline_model_parallel_size", chunks),
        ("global_batch_size", number(case, "micro_batches")),
    ] {
        design.set_text(KnobId::find(knob).unwrap(), &value.to_string()).unwrap();
    }
    design.set_text(KnobId::sequence_parallel, "false").unwrap();
    design.set_text(KnobId::method, case["method"].as_str().unwrap()).unwrap();
    Plan::new(&design).unwrap_or_else(|broken| panic!("{case}: {broken:#?}"))
}

/// A step is the work of all micro-batches and the bubble: the bubble over the step here, over the
/// work in PP-Schedule-Visualization.
#[test]
fn steps_are_those_of_the_simulators() {
    for case in all() {
        let each = ["forward", "input_grad", "weight_grad"].map(|pass| number(&case, pass));
        let work = number(&case, "micro_batches") * each.iter().sum::<f64>();
        let ours = work / (1.0 - plan(&case).bubble_ratio_closed_form());
        close(&case.to_string(), ours, number(&case, "step"), 1e-11);
    }
}

#[test]
fn every_schedule_with_a_closed_form_is_compared() {
    let methods: Vec<Method> =
        all().iter().map(|case| plan(case).design().schedule.method).collect();
    for method in [
        Method::OneForwardOneBackward,
        Method::Interleaved,
        Method::OneForwardOneBackwardOverlap,
        Method::ZbH1,
        Method::ZbV,
        Method::DualPipe,
    ] {
        assert!(methods.contains(&method), "{method:?}");
    }
}

#[test]
fn micro_batches_in_flight_are_those_of_primus() {
    for case in all().iter().filter(|case| case.get("in_flight").is_some()) {
        let ours = estimate(&plan(case)).stages[0].peak_in_flight;
        same(&case.to_string(), ours, number(case, "in_flight"));
    }
}
