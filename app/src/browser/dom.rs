//! Parts of the page that are written anew without losing the focus.

use leptos::prelude::{document, request_animation_frame};
use leptos::wasm_bindgen::JsCast;
use web_sys::js_sys::JsString;
use web_sys::{Element, Event, HtmlElement, HtmlInputElement, HtmlSelectElement, MouseEvent};

use present::site::Page;

use super::download::closest;
use super::folder::known;

/// A text in small letters: the browser has the table of all scripts, so that no module carries it.
pub(crate) fn lowered(text: &str) -> String {
    JsString::from(text).to_lower_case().into()
}

/// A text in capitals, as [`lowered`] gives it in small letters.
pub(crate) fn raised(text: &str) -> String {
    match cfg!(feature = "ssr") {
        true => text.to_uppercase(),
        false => JsString::from(text).to_upper_case().into(),
    }
}

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
    let address = known(&link)?;
    Some((link, address))
}

/// The link of a page to itself that a plain click is on, and what it asks for, which the page does
/// without loading itself again; `None` if the click goes its way.
pub(crate) fn followed<A, E>(
    event: &MouseEvent,
    page: Page,
    read: impl Fn(&str) -> Result<A, E>,
) -> Option<(Element, A)> {
    let (link, address) = clicked_link(event)?;
    let query = address.strip_prefix(page.path())?;
    let query = Some(query).filter(|rest| rest.is_empty() || rest.starts_with('?'))?;
    let asked = read(query).ok()?;
    event.prevent_default();
    Some((link, asked))
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

/// The text of a box, or the chosen value of a list; empty for anything else.
pub(crate) fn value(control: &Element) -> String {
    let input = control.dyn_ref::<HtmlInputElement>().map(HtmlInputElement::value);
    let list = || control.dyn_ref::<HtmlSelectElement>().map(HtmlSelectElement::value);
    input.or_else(list).unwrap_or_default()
}

/// Sets the text of a box, or chooses a value of a list.
pub(crate) fn set_value(control: &Element, text: &str) {
    if let Some(input) = control.dyn_ref::<HtmlInputElement>() {
        input.set_value(text);
    } else if let Some(list) = control.dyn_ref::<HtmlSelectElement>() {
        list.set_value(text);
    }
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
        Some(Self {
            act: control.get_attribute("data-do")?,
            with: control.get_attribute("data-with").unwrap_or_default(),
            value: value(&control),
            checked: input.is_some_and(HtmlInputElement::checked),
            is_button: input.is_none() && !control.is_instance_of::<HtmlSelectElement>(),
            is_text: input
                .is_some_and(|it| !matches!(it.type_().as_str(), "checkbox" | "radio" | "file")),
        })
    }
}
