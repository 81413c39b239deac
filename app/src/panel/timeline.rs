//! The timeline of the design that the page shows.
//!
//! The explorer's module writes what the figure is of into it and draws nothing: the module of the
//! studies does, [`take_over`], once the figure is looked at. Its plan is a link, and what a trace
//! does to it, since the modules share no memory.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::*;
use model::Plan;
use model::choice::Balance;
use model::design::KnobId;
use model::knob::Value;
use model::link;
use present::format;
use present::insight::numbers::Numbers;
use present::insight::recorded;
use present::site::SCHEDULE_OF_DESIGN_PATH;
use present::words::provenance::Provenance;

use crate::explorer::{Explorer, Shown};
use crate::timeline::{self, PLAN, Scene, Subject, chrome_trace, drawing};

/// A pipeline with more tasks than this has no timeline: computing it would keep the page waiting.
const MAX_TASKS: u64 = 300_000;

/// The figure's id and its heading.
const ID: &str = "timeline";
const TITLE: &str = "Pipeline timeline";

/// What stands in place of a timeline where there can be none.
const NOTHING: &str = "This design breaks a rule, so it has no timeline.";

/// From the explorer to its design's schedule alone.
fn open_alone(explorer: Explorer) -> impl IntoView {
    let address =
        move || format!("{SCHEDULE_OF_DESIGN_PATH}?{}", explorer.with_design(link::encode));
    view! { <a class="open-alone" data-design="" href=address>"Open its schedule alone"</a> }
}

/// What each stage does when.
pub fn timeline(explorer: Explorer) -> impl IntoView {
    let is_legal = move || explorer.shown() == Shown::Design;
    let show = move || {
        if !is_legal() {
            return Err(NOTHING.to_owned());
        }
        explorer.with_numbers(|numbers| scene(&numbers.plan))
    };
    let caption = Signal::derive(move || explorer.with_numbers(|numbers| caption(&numbers.plan)));
    let plan = move || is_legal().then(|| explorer.with_numbers(|numbers| written(&numbers.plan)));
    let figure = timeline::frame((ID, TITLE), caption, plan, show, NodeRef::new());
    (figure, open_alone(explorer))
}

/// A plan as the figure names it: the design's link, and behind it the numbers of what a recorded
/// trace does to it, which no link has.
fn written(plan: &Plan) -> String {
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
fn read(text: &str, before: Option<&Plan>) -> Option<Plan> {
    let mut parts = text.split(' ');
    let design = link::decode(parts.next()?).ok()?;
    let loads: Vec<f64> = parts.filter_map(|number| number.parse().ok()).collect();
    if let Some(effect) = recorded::effect(&loads, &design) {
        return Plan::with_effect(&design, effect).ok();
    }
    let before = before.filter(|before| before.design().routing.balance != Balance::Trace);
    before.map_or_else(|| Plan::new(&design), |before| before.variant(&design)).ok()
}

thread_local! {
    /// The plan that the figure shows, in the module that draws it.
    static SHOWN: RefCell<Option<Plan>> = const { RefCell::new(None) };
}

/// Draws the figure on the page from now on, in the module that the explorer leaves it to.
pub fn take_over() {
    let show = || {
        let figure = document().get_element_by_id(ID);
        let text = figure.and_then(|figure| figure.get_attribute(PLAN));
        SHOWN.with_borrow_mut(|shown| {
            let plan = text.and_then(|text| read(&text, shown.as_ref())).ok_or(NOTHING)?;
            scene(shown.insert(plan))
        })
    };
    let caption = || SHOWN.with_borrow(|shown| shown.as_ref().map(caption).unwrap_or_default());
    let (caption, show) = (Rc::new(caption), Rc::new(show));
    timeline::take_over(Subject { id: ID, title: TITLE, caption, show });
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

fn scene(plan: &Plan) -> Result<Scene, String> {
    let stages = size(plan, KnobId::pipeline_model_parallel_size);
    let chunks = size(plan, KnobId::virtual_pipeline_model_parallel_size);
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

fn caption(plan: &Plan) -> String {
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
