//! A panel over or beside the page that takes the focus when it opens and gives it back.

use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;

use super::icon::{Icon, icon};

/// What a panel needs.
pub struct Dialog {
    /// Its id; its heading is `ID-title`.
    pub id: &'static str,
    /// Its class.
    pub class: &'static str,
    /// Does the page behind it wait? Then it is announced as a dialog.
    pub modal: bool,
    /// Is it open?
    pub open: Signal<bool>,
    /// The heading.
    pub title: Signal<String>,
    /// Called when it asks to be closed.
    pub on_close: Callback<()>,
    /// What it holds while it is open.
    pub body: Callback<(), AnyView>,
}

/// Draws a panel; nothing of it is in the page while it is closed.
pub fn dialog(spec: Dialog) -> AnyView {
    let Dialog { id, class, modal, open, title, on_close, body } = spec;
    let heading = NodeRef::<html::H2>::new();
    let opener = StoredValue::new_local(None::<leptos::web_sys::HtmlElement>);
    Effect::new(move |was_open: Option<bool>| {
        let is_open = open.get();
        if is_open && was_open != Some(true) {
            let focused = document().active_element();
            opener.set_value(focused.and_then(|element| element.dyn_into().ok()));
        } else if !is_open && let Some(Some(opener)) = opener.try_update_value(Option::take) {
            // Focus fails only on an element that is gone.
            let _ = opener.focus();
        }
        is_open
    });
    // Runs once the heading is in the page.
    Effect::new(move || {
        if let Some(heading) = heading.get() {
            let _ = heading.focus();
        }
    });
    let title_id = format!("{id}-title");
    let panel = move || {
        let title_id = title_id.clone();
        view! {
            <aside
                id=id
                class=class
                role=if modal { "dialog" } else { "complementary" }
                aria-modal=modal.then_some("true")
                aria-labelledby=title_id
            >
                <div class="dialog-head">
                    <h2 id=title_id.clone() tabindex="-1" node_ref=heading>{move || title.get()}</h2>
                    <button
                        type="button"
                        class="button icon-button"
                        aria-label="Close"
                        on:click=move |_| on_close.run(())
                    >
                        {icon(Icon::Close)}
                    </button>
                </div>
                <div class="dialog-body">{body.run(())}</div>
            </aside>
        }
    };
    view! { <Show when=move || open.get()>{panel.clone()}</Show> }.into_any()
}
