//! Parts of the page that are written anew without losing the focus.

use leptos::prelude::{document, request_animation_frame};
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement, HtmlInputElement, HtmlSelectElement, MouseEvent};

use super::download::closest;

/// Writes a part; the control that has the focus keeps it, and what is being typed into it.
///
/// Where that control is gone, the one that is marked to follow it has the focus.
pub(crate) fn write_part(id: &str, html: &str) {
    write_part_after(id, html, None);
}

/// Whether something is being typed into a part that no event has reported yet.
pub(crate) fn is_typing(id: &str) -> bool {
    let node = document().get_element_by_id(id);
    let focused = document().active_element();
    let focused = focused.filter(|it| node.is_some_and(|node| node.contains(Some(it))));
    let input = focused.and_then(|focused| focused.dyn_into::<HtmlInputElement>().ok());
    input.is_some_and(|input| input.value() != input.default_value())
}

/// Writes a part; `taken` is a typed text that the part has taken in, which isn't typed again.
pub(crate) fn write_part_after(id: &str, html: &str, taken: Option<&str>) {
    let Some(node) = document().get_element_by_id(id) else { return };
    let focused = document().active_element().filter(|focused| node.contains(Some(focused)));
    let focused_id = focused.as_ref().map(Element::id).filter(|id| !id.is_empty());
    let typed = focused.and_then(|focused| focused.dyn_into::<HtmlInputElement>().ok());
    let typed = typed.filter(|input| !matches!(input.type_().as_str(), "checkbox" | "radio"));
    let typed = typed.map(|input| input.value()).filter(|typed| Some(typed.as_str()) != taken);
    node.set_inner_html(html);
    let Some(focused_id) = focused_id else { return };
    let next = || node.query_selector("[data-next]").ok().flatten();
    let Some(again) = document().get_element_by_id(&focused_id).or_else(next) else { return };
    if let (Some(typed), Some(input)) = (typed, again.dyn_ref::<HtmlInputElement>()) {
        input.set_value(&typed);
    }
    if let Some(again) = again.dyn_ref::<HtmlElement>() {
        // Focus fails only on an element that is gone.
        let _ = again.focus();
    }
}

/// The link that a plain click is on, and its address; a click with a key opens it elsewhere.
pub(crate) fn clicked_link(event: &MouseEvent) -> Option<(Element, String)> {
    let is_plain = !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key());
    let link = closest(event, "a[href]").filter(|_| is_plain)?;
    let address = link.get_attribute("href")?;
    Some((link, address))
}

/// Puts the focus, in the next frame, on the element of an id, as what had it is written anew; or
/// on another one where there is none any more, which may come to the top of the window then.
pub(crate) fn focus_again(id: String, other: String, to_top: bool) {
    request_animation_frame(move || {
        let element = |id: &str| document().get_element_by_id(id)?.dyn_into::<HtmlElement>().ok();
        let again = (!id.is_empty()).then(|| element(&id)).flatten();
        let moves = to_top && again.is_none();
        let Some(focus) = again.or_else(|| element(&other)) else { return };
        if moves {
            focus.scroll_into_view();
        }
        // Focus fails only on an element that is gone.
        let _ = focus.focus();
    });
}

/// Action that an event requests, with the state of its control.
pub(crate) struct Target {
    /// Name of the action.
    pub(crate) act: String,
    /// Argument of the action.
    pub(crate) with: String,
    /// The value of the control, if it has one.
    pub(crate) value: String,
    /// Whether the control is checked.
    pub(crate) checked: bool,
    /// Whether it is a button, which is pressed rather than changed.
    pub(crate) is_button: bool,
    /// Whether text is typed into it.
    pub(crate) is_text: bool,
}

impl Target {
    /// The control of an event; `None` if the event is on nothing that acts.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        let control = closest(event, "[data-do]")?;
        let input = control.dyn_ref::<HtmlInputElement>();
        let select = control.dyn_ref::<HtmlSelectElement>();
        let value = input.map(HtmlInputElement::value);
        let value = value.or_else(|| select.map(HtmlSelectElement::value)).unwrap_or_default();
        Some(Self {
            act: control.get_attribute("data-do")?,
            with: control.get_attribute("data-with").unwrap_or_default(),
            value,
            checked: input.is_some_and(HtmlInputElement::checked),
            is_button: input.is_none() && select.is_none(),
            is_text: input
                .is_some_and(|it| !matches!(it.type_().as_str(), "checkbox" | "radio" | "file")),
        })
    }
}
