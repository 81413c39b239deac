//! Pipeline simulators of equal stages: AMD's Primus, sail-sg's zero-bubble and
//! PP-Schedule-Visualization.
//!
//! Every case agrees, in time and, where Primus says it, in what is held: also V-half and V-min,
//! passes of different lengths and pairs that are faster than their parts. Left out are the five
//! cases that a tool gave up on: Primus interleaves 8 stages with 8 micro-batches to a step of
//! zero (here 34.5 units, the published formula's), PP-Schedule-Visualization recurses without end
//! where m is no multiple of p (a rule here, and Megatron's).

use model::design::{Design, KnobId};
use model::ground::choice::{Choice, Method};
use model::schedule::{ChunkTimes, Schedule, Times};
use model::{Plan, estimate};
use serde_json::Value;

use super::{close, same};

/// A simulation of another tool.
struct Run {
    name: String,
    schedule: Schedule,
    stage: ChunkTimes,
    /// A forward and a backward that run as one.
    pair: f64,
    step: f64,
    in_flight: Option<f64>,
}

fn all() -> Vec<Run> {
    let file: Value = serde_json::from_str(include_str!("schedules.json")).unwrap();
    file["cases"].as_array().unwrap().iter().map(Run::read).collect()
}

impl Run {
    fn read(case: &Value) -> Self {
        let number = |key: &str| case[key].as_f64().unwrap();
        let count = |key: &str| case[key].as_u64().unwrap();
        let [forward, input_grad, weight_grad] =
            ["forward", "input_grad", "weight_grad"].map(number);
        let method = Method::from_name(case["method"].as_str().unwrap()).unwrap();
        let [stages, chunks, micro_batches] = ["stages", "chunks", "micro_batches"].map(count);
        Self {
            name: case.to_string(),
            schedule: Schedule::new(method, stages, chunks, micro_batches, None).unwrap(),
            stage: ChunkTimes { forward, input_grad, weight_grad },
            pair: case["pair"].as_f64().unwrap_or(forward + input_grad + weight_grad),
            step: number("step"),
            in_flight: case["in_flight"].as_f64(),
        }
    }

    /// Do forward, input and weight gradients take the same, and a pair as long as its parts?
    fn is_even(&self) -> bool {
        let ChunkTimes { forward, input_grad, weight_grad } = self.stage;
        let like = |a: f64, b: f64| (a - b).abs() < 1e-9 * a;
        like(forward, input_grad)
            && like(forward, weight_grad)
            && like(self.pair, forward + self.stage.backward())
    }

    /// A dense model with one layer per chunk and this schedule.
    fn plan(&self, timing: &str) -> Plan {
        let mut design = Design::from_preset("llama-3-8b").unwrap();
        let schedule = &self.schedule;
        for (knob, value) in [
            ("num_layers", schedule.stages() * schedule.chunks()),
            ("num_devices", schedule.stages()),
            ("tensor_model_parallel_size", 1),
            ("pipeline_model_parallel_size", schedule.stages()),
            ("virtual_pipeline_model_parallel_size", schedule.chunks()),
            ("global_batch_size", schedule.micro_batches()),
        ] {
            design.set_text(KnobId::find(knob).unwrap(), &value.to_string()).unwrap();
        }
        design.set_text(KnobId::sequence_parallel, "false").unwrap();
        design.set_text(KnobId::method, schedule.method().name()).unwrap();
        design.set_text(KnobId::timing, timing).unwrap();
        Plan::new(&design).unwrap_or_else(|broken| panic!("{}: {broken:#?}", self.name))
    }
}

#[test]
fn all_runs_of_all_tools_are_compared() {
    let count = |tool: &str| all().iter().filter(|run| run.name.contains(tool)).count();
    assert_eq!(["primus", "zero-bubble", "pp-schedule-visualization"].map(count), [26, 6, 57]);
}

#[test]
fn steps_are_those_of_the_simulators() {
    for run in all() {
        let times = Times::equal(&run.schedule, run.stage, Some(run.pair), 0.0);
        close(&run.name, run.schedule.simulate(&times).seconds, run.step, 1e-9);
    }
}

#[test]
fn micro_batches_in_flight_are_those_of_primus() {
    for run in all() {
        let Some(in_flight) = run.in_flight else { continue };
        let timeline = run.schedule.simulate(&Times::equal(&run.schedule, run.stage, None, 0.0));
        let peaks = (0..run.schedule.stages()).map(|stage| timeline.peak_in_flight(stage));
        same(&run.name, peaks.fold(0.0, f64::max), in_flight);
    }
}

/// The formulas give the same steps wherever they hold.
#[test]
fn formulas_are_those_of_the_simulators() {
    let mut methods = Vec::new();
    for run in all() {
        let Some(formula) = run.schedule.closed_form_seconds(run.stage, run.pair) else { continue };
        close(&run.name, formula, run.step, 1e-11);
        if run.is_even() {
            let bubble = run.plan("closed_form").bubble_ratio_closed_form();
            let work = run.schedule.micro_batches() as f64 * run.pair;
            close(&run.name, work / (1.0 - bubble), run.step, 1e-11);
        }
        methods.push(run.schedule.method());
    }
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

/// A plan's estimate holds what its schedule does; V-half and V-min have no formula for it.
#[test]
fn plans_hold_what_primus_holds() {
    for run in all() {
        let Some(in_flight) = run.in_flight else { continue };
        let held = |timing| {
            let stages = estimate(&run.plan(timing)).stages;
            stages.iter().map(|stage| stage.peak_in_flight).fold(0.0, f64::max)
        };
        same(&run.name, held("simulated"), in_flight);
        if !matches!(run.schedule.method(), Method::VHalf | Method::VMin) {
            same(&run.name, held("closed_form"), in_flight);
        }
    }
}

/// Where Primus gave up, the formula and the simulation agree.
#[test]
fn eight_stages_interleave_eight_micro_batches() {
    let schedule = Schedule::new(Method::Interleaved, 8, 2, 8, None).unwrap();
    let stage = ChunkTimes { forward: 1.0, input_grad: 1.0, weight_grad: 1.0 };
    let step = schedule.simulate(&Times::equal(&schedule, stage, None, 0.0)).seconds;
    same("step", step, (8.0 + 7.0 / 2.0) * 3.0);
    same("formula", schedule.closed_form_seconds(stage, 3.0).unwrap(), step);
}
