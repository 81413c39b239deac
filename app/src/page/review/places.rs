//! Somebody's place on the page, in a text that another page can go to: the part of the panel, what
//! is in view and the metric that is explained, as `discuss/memory/mfu`.

use leptos::prelude::*;
use model::metric::MetricId;
use web_sys::{Element, Event, ScrollIntoViewOptions, ScrollLogicalPosition};

use super::session::{Session, Tab};
use crate::browser::download::elements;

/// The parts of the page that can be in view: those of the results.
const PARTS: &str = "#results > .cards, #results > .verdict-box, #results [data-study]";

/// Place of the visitor.
pub(super) fn here(session: Session) -> String {
    let tab = session.tab.get_untracked().id();
    let explained = session.explorer.explained.get_untracked();
    let explained = explained.map_or("", |metric| metric.metric().name);
    format!("{tab}/{}/{explained}", in_view().unwrap_or_default())
}

/// The part that is on top of what is in view.
fn in_view() -> Option<String> {
    let top = document().get_element_by_id("results")?.get_bounding_client_rect().top().max(0.0);
    let is_in_view = |part: &Element| {
        let bounds = part.get_bounding_client_rect();
        bounds.height() > 0.0 && bounds.bottom() > top + 60.0
    };
    elements(&document().document_element()?, PARTS).find(is_in_view).map(|part| name(&part))
}

fn name(part: &Element) -> String {
    let study = part.get_attribute("data-study");
    study.unwrap_or_else(|| part.class_name().split(' ').next().unwrap_or_default().to_owned())
}

/// Goes to where somebody else is.
pub(super) fn go(session: Session, place: &str, knob: Option<&str>) {
    let mut parts = place.split('/');
    let (tab, part, metric) = (parts.next(), parts.next(), parts.next());
    if let Some(tab) = Tab::ALL.into_iter().find(|known| Some(known.id()) == tab) {
        session.tab.set(tab);
    }
    session.explorer.explained.set(metric.and_then(MetricId::find));
    if let Some(knob) = knob {
        scroll_to(&format!("[data-knob=\"{knob}\"]"));
    }
    // Names of parts are our own; another's text must not become a selector.
    if let Some(part) =
        part.filter(|part| part.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'))
        && !part.is_empty()
    {
        scroll_to(&format!("#results [data-study=\"{part}\"], #results > .{part}"));
    }
}

/// Brings an element into view.
pub(super) fn scroll_to(selector: &str) {
    let find = || document().query_selector(selector).ok().flatten();
    let fold = find().and_then(|element| element.closest("details:not([open])").ok().flatten());
    // What is folded away can't be scrolled to; a fold makes its rows when it is told so.
    if let (Some(fold), Ok(toggle)) = (fold, Event::new("toggle")) {
        // A fixed, valid attribute name can always be set, and the event is fresh.
        let _ = fold.set_attribute("open", "");
        let _ = fold.dispatch_event(&toggle);
    }
    let Some(element) = find() else { return };
    let options = ScrollIntoViewOptions::new();
    options.set_block(ScrollLogicalPosition::Start);
    element.scroll_into_view_with_scroll_into_view_options(&options);
}
