//! The timeline of the design that the page shows.
//!
//! The explorer's module writes what the figure is of into it and draws nothing: the module of the
//! studies does, [`take_over`], once the figure is looked at. Its plan is a link, and what a trace
//! does to it, since the modules share no memory.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::*;
use model::Plan;
use present::site::SCHEDULE_OF_DESIGN_PATH;
use present::timeline::of_plan::{TITLE, caption, read, scene, written};

use crate::explorer::{Explorer, NumbersOf};
use crate::timeline::{PLAN, Subject, frame};
use crate::widget::part::text;

/// The figure's id.
const ID: &str = "timeline";

/// Text in place of a timeline, for a design that can have none.
const NOTHING: &str = "This design breaks a rule, so it has no timeline.";

/// From the explorer to its design's schedule alone.
fn open_alone(explorer: Explorer) -> impl IntoView {
    let address = text(move || format!("{SCHEDULE_OF_DESIGN_PATH}?{}", explorer.link()));
    view! { <a class="open-alone" data-design="" href=address>"Open its schedule alone"</a> }
}

/// Tasks of each stage over time.
pub fn timeline(explorer: Explorer) -> impl IntoView {
    let is_legal = move || explorer.shown() == NumbersOf::Design;
    let show = move || {
        if !is_legal() {
            return Err(NOTHING.to_owned());
        }
        explorer.with_numbers(|numbers| scene(&numbers.plan))
    };
    let caption = Signal::derive(move || explorer.with_numbers(|numbers| caption(&numbers.plan)));
    let plan = move || is_legal().then(|| explorer.with_numbers(|numbers| written(&numbers.plan)));
    let figure = frame((ID, TITLE), caption, plan, show, NodeRef::new());
    (figure, open_alone(explorer))
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
    crate::timeline::take_over(Subject { id: ID, title: TITLE, caption, show });
}
