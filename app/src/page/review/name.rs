//! Asks for a name before the first thing that others see.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use review::wire::Ask;
use review::{MAX_NAME_LEN, Replica, clean_name};

use super::session::Session;
use super::{browser, socket};
use crate::reaction::{effect, handler};
use crate::widget::part::{IntoPart, Part, text};

/// The id of the box.
const ID: &str = "your-name";

/// The dialog that asks.
pub(super) fn dialog(session: Session) -> Part {
    let node = NodeRef::<html::Dialog>::new();
    let name = RwSignal::new(String::new());
    let problem = RwSignal::new(None::<String>);
    effect(move || {
        let Some(dialog) = node.get() else { return };
        if session.asks_name.get() && !dialog.open() {
            name.set(browser::name().unwrap_or_default());
            // Fails only on a dialog that is open already or out of the page.
            let _ = dialog.show_modal();
            browser::focus(ID);
        } else if !session.asks_name.get() {
            dialog.close();
        }
    });
    let take = move || match clean_name(&name.get_untracked()) {
        Ok(name) => {
            browser::keep_name(&name);
            session.you.update(|you| you.name.clone_from(&name));
            session.asks_name.set(false);
            socket::say(&Ask::Name { name });
            session.pump();
        }
        Err(refusal) => problem.set(Some(format!("That can't be a name: {refusal}."))),
    };
    let leave = move || leave(session);
    view! {
        <dialog
            id="name"
            class="name-dialog"
            node_ref=node
            aria-labelledby="name-title"
            on:close=handler(move |_| {
                if session.asks_name.get_untracked() {
                    leave();
                }
            })
        >
            <form
                class="composer"
                on:submit=handler(move |event: ev::SubmitEvent| {
                    event.prevent_default();
                    take();
                })
            >
                <h2 id="name-title">"What is your name?"</h2>
                <p class="muted">
                    "Others see it with your changes. This browser remembers it for next time."
                </p>
                <label for=ID>"Your name"</label>
                <input
                    id=ID
                    type="text"
                    maxlength=MAX_NAME_LEN
                    autocomplete="name"
                    aria-describedby="name-problem"
                    prop:value=text(move || name.get())
                    on:input=handler(move |event: ev::Event| name.set(event_target_value(&event)))
                />
                <p id="name-problem" class="problem">
                    {text(move || problem.get().unwrap_or_default())}
                </p>
                <p class="acts">
                    <button type="submit" class="button primary">"Continue"</button>
                    <button type="button" class="button" on:click=handler(move |_| leave())>
                        "Cancel"
                    </button>
                </p>
            </form>
        </dialog>
    }
    .part()
}

/// Goes on without a name: what the visitor did is taken back, as nobody can be shown for it.
fn leave(session: Session) {
    session.asks_name.set(false);
    if session.you.with_untracked(|you| !you.name.is_empty()) {
        return;
    }
    session.update(|replica| {
        let ops: Vec<String> = replica.unsent().map(|unsent| unsent.op.clone()).collect();
        for op in ops {
            replica.refuse(&op);
        }
    });
    session.show();
}

/// Number of changes that wait for a line, in words.
pub(super) fn waiting(session: Session) -> Option<String> {
    let count = session.with_replica(Replica::unconfirmed);
    (count > 0).then(|| present::format::counted(count as u64, "change waits", "changes wait"))
}
