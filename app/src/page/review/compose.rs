//! Boxes to write in.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use present::page::review::{labels, mentions};
use review::MAX_TEXT_LEN;

use super::session::Session;
use crate::browser::dom;
use crate::reaction::handler;
use crate::widget::part::{IntoPart, Part, live, text as text_of};

/// A box with a button that sends what is in it.
pub(super) struct Composer {
    /// Its id.
    pub(super) id: String,
    /// Label above the box.
    pub(super) label: &'static str,
    /// Text of the button.
    pub(super) button: &'static str,
    /// Text in the box; it is emptied when it is sent.
    pub(super) text: RwSignal<String>,
    /// Called with the text.
    pub(super) on_send: Callback<String>,
}

/// Draws the box. Ctrl and Enter send as well; after an `@` it offers the names of who takes part.
pub(super) fn composer(session: Session, spec: Composer) -> Part {
    let Composer { id, label, button, text, on_send } = spec;
    let node = NodeRef::<html::Textarea>::new();
    // The text before the name that is being written, and the names that it may become.
    let offered = RwSignal::new((String::new(), Vec::<String>::new()));
    let send = move || {
        let written = text.get_untracked().trim().to_owned();
        if !written.is_empty() {
            text.set(String::new());
            offered.update(|(_, names)| names.clear());
            on_send.run(written);
        }
    };
    let typed = move |event: web_sys::Event| {
        let written = event_target_value(&event);
        let to = node.get_untracked().and_then(|area| area.selection_start().ok().flatten());
        let before = mentions::up_to(&written, to);
        let next = mentions::begun(before).map(|begun| {
            let names = untrack(|| session.participants());
            let names = mentions::fitting(&before[begun + 1..], names, dom::lowered);
            (before[..begun].to_owned(), names)
        });
        let next = next.unwrap_or_default();
        if offered.with_untracked(|shown| *shown != next) {
            offered.set(next);
        }
        text.set(written);
    };
    view! {
        <form
            class="composer"
            on:submit=handler(move |event: ev::SubmitEvent| {
                event.prevent_default();
                send();
            })
        >
            <label for=id.clone()>{label}</label>
            <textarea
                id=id
                node_ref=node
                rows="2"
                maxlength=MAX_TEXT_LEN
                autocomplete="off"
                prop:value=text_of(move || text.get())
                on:input=typed
                on:keydown=handler(move |event: ev::KeyboardEvent| {
                    if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
                        event.prevent_default();
                        send();
                    }
                })
            ></textarea>
            {names(node, text, offered)}
            <button type="submit" class="button">{button}</button>
        </form>
    }
    .part()
}

/// The names that an `@` may become, as buttons that write them.
fn names(
    node: NodeRef<html::Textarea>,
    text: RwSignal<String>,
    offered: RwSignal<(String, Vec<String>)>,
) -> Part {
    let pick = move |name: &str| {
        let (before, _) = offered.get_untracked();
        let Some(area) = node.get_untracked() else { return };
        let to = area.selection_start().ok().flatten();
        let whole = text.get_untracked();
        let after = &whole[mentions::up_to(&whole, to).len()..];
        let written = format!("{before}@{name} ");
        let caret = written.encode_utf16().count() as u32;
        text.set(format!("{written}{after}"));
        offered.update(|(_, names)| names.clear());
        request_animation_frame(move || {
            // Focus fails only on an element that is gone.
            let _ = area.focus();
            let _ = area.set_selection_range(caret, caret);
        });
    };
    let buttons = move || {
        let names = offered.with(|(_, names)| names.clone());
        let one = |name: String| {
            let label = format!("@{name}");
            view! {
                <button type="button" class="text-button" on:click=handler(move |_| pick(&name))>
                    {label}
                </button>
            }
            .part()
        };
        let is_empty = names.is_empty();
        let names: Vec<Part> = names.into_iter().map(one).collect();
        (!is_empty).then(|| {
            view! { <p class="mentions" role="group" aria-label="Mention someone">{names}</p> }
                .part()
        })
    };
    live(buttons).part()
}

/// A form of several lines that is sent here, not to the server; `class` says how it is laid out.
pub(super) fn form(class: &'static str, send: impl Fn() + 'static, fields: Part) -> Part {
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        send();
    };
    view! { <form class=class on:submit=submit>{fields}</form> }.part()
}

/// A line to write in, behind its label.
pub(super) fn line(
    id: &'static str,
    label: &'static str,
    max_len: Option<usize>,
    written: RwSignal<String>,
) -> Part {
    view! {
        <label for=id>{label}</label>
        <input
            id=id
            type="text"
            maxlength=max_len
            autocomplete="off"
            spellcheck=max_len.is_none().then_some("false")
            prop:value=text_of(move || written.get())
            on:input=handler(move |event: ev::Event| written.set(event_target_value(&event)))
        />
    }
    .part()
}

/// A button of the panel.
pub(super) fn button(label: &'static str, act: impl Fn() + 'static) -> Part {
    text_button(label, Box::new(act))
}

fn text_button(label: &'static str, act: Box<dyn Fn()>) -> Part {
    view! {
        <button type="button" class="text-button" on:click=handler(move |_| act())>
            {label}
        </button>
    }
    .part()
}

/// Author and time of a note.
pub(super) fn byline(by: &review::Person, at_millis: u64) -> Part {
    let class = format!("avatar small {}", labels::colour(&by.id));
    view! {
        <p class="byline">
            <span class=class aria-hidden="true">{labels::initials(by, dom::raised)}</span>
            <strong translate=labels::own(by)>{labels::person(by)}</strong>
            <span class="muted">{labels::moment(at_millis)}</span>
        </p>
    }
    .part()
}
