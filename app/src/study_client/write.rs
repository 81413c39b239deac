//! What the worker made, written where it is shown.

use leptos::prelude::document;
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, HtmlDetailsElement, HtmlElement, HtmlInputElement, HtmlOptionElement};

use super::edits::edit;
use crate::browser::download::elements;

/// Puts a study in its place; what is open stays open, and what has the focus keeps it.
///
/// Scroll positions are read only in tables that are open: the browser has to lay the page out for
/// it.
pub(super) fn write(host: &HtmlElement, before: Option<&Element>, fresh: &Element) {
    const SCROLLED: &str = "details[open] .scroll-x";
    let opened =
        each(host, "details", |details: &HtmlDetailsElement| (term_of(details), details.open()));
    let scrolled = each(host, SCROLLED, |part: &HtmlElement| part.scroll_left());
    let focused = document().active_element().filter(|focused| host.contains(Some(focused)));
    let step = focused.as_ref().and_then(|focused| focused.get_attribute("data-step"));
    let option = focused.as_ref().and_then(|focused| focused.get_attribute("data-option"));
    let term = focused.and_then(|focused| focused.get_attribute("data-term"));
    // What is edited stays the element that it was: an event that is on its way to it arrives.
    if before.and_then(|before| edit(host, before, fresh)).is_none() {
        host.set_inner_html(&fresh.inner_html());
    }
    // The state of controls isn't in their attributes.
    each(host, "option[selected]", |choice: &HtmlOptionElement| choice.set_selected(true));
    each(host, "input", |input: &HtmlInputElement| input.set_value(&input.default_value()));
    // Terms of an explanation come and go: what was open is known by name there, else by place.
    let mut place = 0..;
    each(host, "details", |details: &HtmlDetailsElement| {
        let (place, term) = (place.next().unwrap_or(0), term_of(details));
        let was = match &term {
            Some(_) => opened.iter().find(|(name, _)| *name == term),
            None => opened.get(place),
        };
        if let Some((_, open)) = was {
            details.set_open(*open);
        }
    });
    let mut scrolled = scrolled.into_iter();
    each(host, SCROLLED, |part: &HtmlElement| {
        if let Some(left) = scrolled.next().filter(|left| *left > 0) {
            part.set_scroll_left(left);
        }
    });
    let link = step.and_then(|step| link_of(host, &step));
    let choice = || {
        let choice = host.query_selector(&format!("[data-option='{}']", option?)).ok()??;
        choice.dyn_into::<HtmlElement>().ok()
    };
    let fold = || {
        let mut terms = elements(host, "[data-term]").filter(|_| term.is_some());
        terms.find(|it| it.get_attribute("data-term") == term)?.dyn_into::<HtmlElement>().ok()
    };
    if let Some(element) = link.or_else(choice).or_else(fold) {
        // Focus fails only on an element that is gone.
        let _ = element.focus();
    }
}

/// The term of an explanation that can be folded.
fn term_of(details: &HtmlDetailsElement) -> Option<String> {
    details.first_element_child()?.get_attribute("data-term")
}

/// The link of that step of the history.
pub fn link_of(host: &Element, step: &str) -> Option<HtmlElement> {
    let is_it = |link: &Element| link.get_attribute("data-step").as_deref() == Some(step);
    elements(host, "a[data-step]").find(is_it)?.dyn_into().ok()
}

/// Something of each element that a selector finds.
fn each<E: JsCast, T>(host: &Element, selector: &str, mut of: impl FnMut(&E) -> T) -> Vec<T> {
    elements(host, selector).map(|element| of(element.unchecked_ref())).collect()
}
