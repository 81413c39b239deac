//! Boxes to write in.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use review::LONGEST_TEXT;

/// A box with a button that sends what is in it.
pub(super) struct Composer {
    /// Its id.
    pub(super) id: String,
    /// What is to be written, which is read above the box.
    pub(super) label: &'static str,
    /// What the button says.
    pub(super) button: &'static str,
    /// What is written; it is emptied when it is sent.
    pub(super) text: RwSignal<String>,
    /// Called with what was written.
    pub(super) on_send: Callback<String>,
}

/// Draws the box. Ctrl and Enter send as well.
pub(super) fn composer(spec: Composer) -> AnyView {
    let Composer { id, label, button, text, on_send } = spec;
    let send = move || {
        let written = text.get_untracked().trim().to_owned();
        if !written.is_empty() {
            text.set(String::new());
            on_send.run(written);
        }
    };
    view! {
        <form
            class="composer"
            on:submit=move |event| {
                event.prevent_default();
                send();
            }
        >
            <label for=id.clone()>{label}</label>
            <textarea
                id=id
                rows="2"
                maxlength=LONGEST_TEXT
                autocomplete="off"
                prop:value=move || text.get()
                on:input=move |event| text.set(event_target_value(&event))
                on:keydown=move |event| {
                    if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
                        event.prevent_default();
                        send();
                    }
                }
            ></textarea>
            <button type="submit" class="button">{button}</button>
        </form>
    }
    .into_any()
}

/// A button of the panel.
pub(super) fn button(label: &'static str, act: impl Fn() + 'static) -> impl IntoView {
    let act = StoredValue::new_local(act);
    view! {
        <button
            type="button"
            class="text-button"
            on:click=move |_| act.with_value(|act| act())
        >
            {label}
        </button>
    }
}

/// Puts the focus on an element, once it is on the page.
pub(super) fn focus(id: &'static str) {
    request_animation_frame(move || {
        let element = document().get_element_by_id(id);
        if let Some(element) = element.and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok()) {
            // Focus fails only on an element that is gone.
            let _ = element.focus();
        }
    });
}

/// Who wrote something, and when.
pub(super) fn byline(by: &review::Person, at_millis: u64) -> impl IntoView + use<> {
    let class = format!("avatar small {}", super::words::colour(&by.id));
    view! {
        <p class="byline">
            <span class=class aria-hidden="true">{super::words::initials(by)}</span>
            <strong>{super::words::person(by)}</strong>
            <span class="muted">{super::words::moment(at_millis)}</span>
        </p>
    }
}

/// What somebody wrote, as HTML that can do nothing.
pub(super) fn prose(markdown: &str) -> impl IntoView + use<> {
    view! { <div class="prose" inner_html=review::to_html(markdown)></div> }
}
