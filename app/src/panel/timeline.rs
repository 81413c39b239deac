//! The timeline of the design that the page shows.

use std::sync::Arc;

use leptos::prelude::*;
use model::Plan;
use model::design::KnobId;
use model::knob::Value;
use model::link;

use crate::explorer::{Explorer, Shown};
use crate::insight::numbers::Numbers;
use crate::present::format;
use crate::present::provenance::Provenance;
use crate::site::SCHEDULE_OF_DESIGN_PATH;
use crate::timeline::{Scene, TimelineFigure, chrome_trace, drawing, timeline as figure};

/// A pipeline with more tasks than this has no timeline: computing it would keep the page waiting.
const MAX_TASKS: u64 = 300_000;

/// The figure's heading.
const TITLE: &str = "Pipeline timeline";

/// From the explorer to its design's schedule alone.
fn open_alone(explorer: Explorer) -> impl IntoView {
    let address =
        move || format!("{SCHEDULE_OF_DESIGN_PATH}?{}", explorer.with_design(link::encode));
    view! { <a class="open-alone" data-design="" href=address>"Open its schedule alone"</a> }
}

/// What each stage does when.
pub fn timeline(explorer: Explorer) -> impl IntoView {
    let show = move || {
        if untrack(|| explorer.shown()) != Shown::Design {
            return Err("This design breaks a rule, so it has no timeline.".to_owned());
        }
        explorer.with_numbers_untracked(|numbers| scene(&numbers.plan))
    };
    let figure = figure(TimelineFigure {
        id: "timeline",
        title: TITLE,
        caption: Signal::derive(move || explorer.with_numbers(caption)),
        show: Arc::new(show),
        changes: Signal::derive(move || {
            // Legal again with the same numbers counts too.
            let _ = explorer.shown();
            explorer.with_numbers(|_| ());
        }),
    });
    (figure, open_alone(explorer))
}

/// The timeline of a design's numbers as a picture that nothing moves in, or why there is none.
///
/// # Errors
/// A step with too many tasks.
pub fn still(numbers: &Numbers, width: f64) -> Result<String, String> {
    let scene = scene(&numbers.plan)?;
    Ok(drawing(&scene, TITLE, &caption(numbers), width))
}

/// The timeline of a design's numbers as a Chrome trace, or why there is none.
///
/// # Errors
/// A step with too many tasks.
pub fn trace(numbers: &Numbers, provenance: &Provenance) -> Result<String, String> {
    Ok(chrome_trace(&scene(&numbers.plan)?, provenance))
}

fn scene(plan: &Plan) -> Result<Scene, String> {
    let size = |id| match plan.design().get(id) {
        Value::Integer(size) => size,
        Value::None | Value::Flag(_) | Value::Real(_) | Value::Text(_) | Value::List(_) => 1,
    };
    let stages = size(KnobId::pipeline_model_parallel_size);
    let chunks = size(KnobId::virtual_pipeline_model_parallel_size);
    // A forward and a backward of each, at least.
    let tasks = [stages, chunks, plan.num_microbatches()];
    let tasks = tasks.into_iter().fold(2_u64, u64::saturating_mul);
    let scene = if tasks <= MAX_TASKS { model::timeline::timeline(plan) } else { None };
    match scene {
        Some(scene) => Ok(Arc::new(scene)),
        None => Err(format!(
            "This design has {} tasks in a step, too many for a timeline. Fewer micro-batches, \
             stages or virtual stages have one.",
            format::whole(tasks),
        )),
    }
}

fn caption(numbers: &Numbers) -> String {
    let stages = numbers.estimate.stages.len() as u64;
    format!(
        "What {} do when, over {} of a step; light hatching is bubble",
        format::counted(stages, "stage", "stages"),
        format::counted(numbers.plan.num_microbatches(), "micro-batch", "micro-batches"),
    )
}
