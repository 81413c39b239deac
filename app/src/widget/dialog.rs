//! Panels that open over or beside the page, take the focus and give it back.

use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::icon::{Icon, icon};
use super::part::{IntoPart, Live, Part, text, while_so};
use crate::reaction::{effect, handler, memo};

/// Inputs of a side panel.
#[derive(Clone, Copy)]
pub struct SidePanel {
    /// Its id; its heading is `ID-title`.
    pub id: &'static str,
    /// Whether it is open.
    pub open: Signal<bool>,
    /// The heading.
    pub title: Signal<String>,
    /// Called when it asks to be closed.
    pub on_close: Callback<()>,
}

/// Draws a panel beside the page, which goes on; nothing of it is there while it is closed.
pub fn side_panel(spec: SidePanel, body: impl Fn() -> Part + Send + 'static) -> Live {
    let SidePanel { id, open, title, on_close } = spec;
    let open = memo(move || open.get());
    let heading = NodeRef::<html::H2>::new();
    let opener = StoredValue::new_local(None::<HtmlElement>);
    let mut was_open = false;
    effect(move || {
        let is_open = open.get();
        if is_open && !was_open {
            let focused = document().active_element();
            opener.set_value(focused.and_then(|element| element.dyn_into().ok()));
        } else if !is_open && let Some(Some(opener)) = opener.try_update_value(Option::take) {
            // Focus fails only on an element that is gone.
            let _ = opener.focus();
        }
        was_open = is_open;
    });
    // Runs once the heading is in the page.
    effect(move || {
        if let Some(heading) = heading.get() {
            let _ = heading.focus();
        }
    });
    let title_id = format!("{id}-title");
    let panel = move || {
        let title_id = title_id.clone();
        view! {
            <aside id=id class=id aria-labelledby=title_id>
                <div class="dialog-head">
                    <h2 id=title_id.clone() tabindex="-1" node_ref=heading>
                        {text(move || title.get())}
                    </h2>
                    {close_button(on_close)}
                </div>
                <div class="dialog-body">{body()}</div>
            </aside>
        }
        .part()
    };
    while_so(open.into(), panel)
}

/// Inputs of a modal dialog.
#[derive(Clone, Copy)]
pub struct Modal {
    /// Its id; its heading is `ID-title`.
    pub id: &'static str,
    /// Whether it is open.
    pub open: RwSignal<bool>,
    /// The heading.
    pub title: &'static str,
}

/// Draws a dialog for which the page waits; the browser keeps the focus inside.
pub fn modal(spec: Modal, body: impl IntoView) -> impl IntoView {
    let Modal { id, open, title } = spec;
    let node = NodeRef::<html::Dialog>::new();
    effect(move || {
        let wanted = open.get();
        let Some(dialog) = node.get() else { return };
        if wanted && !dialog.open() {
            // Fails only on a dialog that is open already or out of the page.
            let _ = dialog.show_modal();
        } else if !wanted {
            dialog.close();
        }
    });
    let title_id = format!("{id}-title");
    view! {
        <dialog
            id=id
            class=format!("{id}-dialog")
            node_ref=node
            aria-labelledby=title_id
            on:close=handler(move |_| open.set(false))
        >
            <div class="dialog-head">
                <h2 id=title_id.clone()>{title}</h2>
                {close_button(Callback::new(move |()| open.set(false)))}
            </div>
            <div class="dialog-body">{body}</div>
        </dialog>
    }
}

fn close_button(on_close: Callback<()>) -> impl IntoView {
    view! {
        <button
            type="button"
            class="button icon-button"
            aria-label="Close"
            on:click=handler(move |_| on_close.run(()))
        >
            {icon(Icon::Close)}
        </button>
    }
}
