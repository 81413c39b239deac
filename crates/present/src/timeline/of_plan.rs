//! The timeline of a plan: its tasks, what is said of it, and its plan as a figure names it.

use std::sync::Arc;

use model::design::KnobId;
use model::ground::choice::Balance;
use model::ground::decimal;
use model::ground::knob::Value;
use model::{Plan, design::link};

use super::drawing::drawing;
use super::files::chrome_trace;
use super::source::Scene;
use crate::format;
use crate::insight::numbers::Numbers;
use crate::insight::recorded;
use crate::words::provenance::Provenance;

/// A pipeline with more tasks than this has no timeline: computing it would keep the page waiting.
const MAX_TASKS: u64 = 300_000;

/// The figure's heading.
pub const TITLE: &str = "Pipeline timeline";

/// A plan as the figure names it: the design's link, and behind it the numbers of what a recorded
/// trace does to it, which no link has.
#[must_use]
pub fn written(plan: &Plan) -> String {
    let mut text = link::encode(plan.design());
    if plan.design().routing.balance == Balance::Trace {
        for number in recorded::numbers(plan.effect()) {
            text.push(' ');
            text.push_str(&number.to_string());
        }
    }
    text
}

/// The plan that a figure names. Most changes leave the loads of the plan before as they are, which
/// take longer than the rest.
#[must_use]
pub fn read(text: &str, before: Option<&Plan>) -> Option<Plan> {
    let mut parts = text.split(' ');
    let design = link::decode(parts.next()?).ok()?;
    let loads: Vec<f64> = parts.filter_map(decimal::parse).collect();
    if let Some(effect) = recorded::effect(&loads, &design) {
        return Plan::with_effect(&design, effect).ok();
    }
    let before = before.filter(|before| before.design().routing.balance != Balance::Trace);
    before.map_or_else(|| Plan::new(&design), |before| before.variant(&design)).ok()
}

/// The timeline of a design's numbers as a picture that nothing moves in, or why there is none.
///
/// # Errors
/// A step with too many tasks.
pub fn still(numbers: &Numbers, width: f64) -> Result<String, String> {
    let scene = scene(&numbers.plan)?;
    Ok(drawing(&scene, TITLE, &caption(&numbers.plan), width))
}

/// The timeline of a design's numbers as a Chrome trace, or why there is none.
///
/// # Errors
/// A step with too many tasks.
pub fn trace(numbers: &Numbers, provenance: &Provenance) -> Result<String, String> {
    Ok(chrome_trace(&scene(&numbers.plan)?, provenance))
}

fn size(plan: &Plan, id: KnobId) -> u64 {
    match plan.design().get(id) {
        Value::Integer(size) => size,
        Value::None | Value::Flag(_) | Value::Real(_) | Value::Text(_) | Value::List(_) => 1,
    }
}

/// The timeline of a plan.
///
/// # Errors
/// A step with too many tasks.
pub fn scene(plan: &Plan) -> Result<Scene, String> {
    let stages = size(plan, KnobId::pipeline_model_parallel_size);
    let chunks = size(plan, KnobId::virtual_pipeline_model_parallel_size);
    // A forward and a backward of each, at least.
    let tasks = [stages, chunks, plan.num_microbatches()];
    let tasks = tasks.into_iter().fold(2_u64, u64::saturating_mul);
    let scene = if tasks <= MAX_TASKS { model::training::timeline::timeline(plan) } else { None };
    match scene {
        Some(scene) => Ok(Arc::new(scene)),
        None => Err(format!(
            "This design has {} tasks in a step, too many for a timeline. Fewer micro-batches, \
             stages or virtual stages have one.",
            format::whole(tasks),
        )),
    }
}

/// One sentence on a plan's timeline.
#[must_use]
pub fn caption(plan: &Plan) -> String {
    let stages = size(plan, KnobId::pipeline_model_parallel_size);
    format!(
        "What {} do when, over {} of a step; light hatching is bubble",
        format::counted(stages, "stage", "stages"),
        format::counted(plan.num_microbatches(), "micro-batch", "micro-batches"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(query: &str) -> model::design::Design {
        link::decode(query).expect("a link that decodes")
    }

    #[test]
    fn a_plan_is_read_as_it_was_written_whatever_was_shown_before() {
        let uneven = Plan::new(&design("routing.balance=skewed")).expect("a legal design");
        for query in ["", "training.global_batch_size=3072", "routing.balance=skewed"] {
            let plan = Plan::new(&design(query)).expect("a legal design");
            for before in [None, Some(&uneven)] {
                assert_eq!(read(&written(&plan), before).as_ref(), Some(&plan), "{query}");
            }
        }
    }

    #[test]
    fn what_a_trace_does_comes_with_the_plan_to_the_last_bit() {
        let traced = design(&format!("routing.balance=trace&routing.trace={}", "0".repeat(64)));
        let numbers = [1.0 / 3.0 + 1.0, 2.0 / 7.0 + 1.5, 1.0e-7 + 2.0, 0.1 + 0.2, 1.0 / 49.0];
        let effect = recorded::effect(&numbers, &traced).expect("five numbers");
        let plan = Plan::with_effect(&traced, effect).expect("a legal design");
        let read = read(&written(&plan), None).expect("what was written");
        assert_eq!(read, plan);
    }

    #[test]
    fn a_figure_of_nothing_that_can_run_has_no_plan() {
        assert!(read("pp=0", None).is_none());
        assert!(read("parallel.pipeline_model_parallel_size=12", None).is_none());
    }
}
