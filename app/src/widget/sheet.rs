//! A panel that a phone raises over the page: where the focus is when it comes and goes.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use crate::reaction::effect;

/// Brings the focus onto the sheet of that id when the control that raises it opens it, and back to
/// that control when the sheet closes with the focus inside.
///
/// The control is the one whose `aria-controls` names the sheet. On a wide page, where the sheet is
/// always open, it isn't in view and gets no focus.
pub fn guide_focus(id: &'static str, open: RwSignal<bool>) {
    let mut was_open = None;
    effect(move || {
        let is_open = open.get();
        let sheet = document().get_element_by_id(id);
        let control = document().query_selector(&format!("[aria-controls={id}]")).ok().flatten();
        if let (Some(sheet), Some(control), Some(focused)) =
            (sheet, control, document().active_element())
        {
            if is_open && was_open == Some(false) && focused == control {
                // In the next frame: what isn't drawn yet takes no focus.
                request_animation_frame(move || focus(&sheet));
            } else if !is_open && was_open == Some(true) && sheet.contains(Some(&focused)) {
                focus(&control);
            }
        }
        was_open = Some(is_open);
    });
}

fn focus(element: &Element) {
    if let Some(element) = element.dyn_ref::<HtmlElement>() {
        // Focus fails only on an element that is gone.
        let _ = element.focus();
    }
}
