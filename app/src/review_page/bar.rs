//! The bar on top of the page, and the bars that say that something is out of the ordinary.

use leptos::prelude::*;
use review::wire::Ask;
use review::{Replica, Role};

use super::session::{Line, Session};
use super::{client, decisions, name, presence, sync, words};
use crate::panels::header;
use crate::widgets::icon::{Icon, icon};

/// Name of the session, who is there, undo and redo.
pub(super) fn bar(session: Session) -> impl IntoView {
    let can_undo = move || session.may(Role::Edit) && session.with_replica(Replica::can_undo);
    let can_redo = move || session.may(Role::Edit) && session.with_replica(Replica::can_redo);
    let decided = move || {
        decisions::sentence(session).map(|(text, is_stale)| {
            view! { <span class="standing short" class:stale=is_stale title=text.clone()>
                {if is_stale { "Decision stale".to_owned() } else { short(&text) }}
            </span> }
        })
    };
    view! {
        <header class="header">
            {header::brand()}
            <p class="session-name">
                <strong>{move || session.with_room(|room| room.name.clone())}</strong>
                <span class="muted">{move || words::role(session.role.get())}</span>
                {decided}
            </p>
            {presence::avatars(session)}
            <div class="actions" role="toolbar" aria-label="Session">
                {move || session.may(Role::Edit).then(|| view! {
                    <button
                        type="button"
                        class="button only-keyboard"
                        title="Everyone's page goes to where you are"
                        on:click=move |_| client::say(&Ask::Bring {})
                    >
                        "Bring everyone here"
                    </button>
                })}
                <button
                    type="button"
                    class="button"
                    aria-label="Undo"
                    title="Undo your own last edit (Ctrl+Z)"
                    disabled=move || !can_undo()
                    on:click=move |_| sync::undo(session)
                >
                    {icon(Icon::Undo)}
                </button>
                <button
                    type="button"
                    class="button"
                    aria-label="Redo"
                    title="Redo your own last edit (Ctrl+Shift+Z)"
                    disabled=move || !can_redo()
                    on:click=move |_| sync::redo(session)
                >
                    {icon(Icon::Redo)}
                </button>
                {header::palette_button()} {header::theme_button()}
            </div>
        </header>
    }
}

/// The first words of a decision: what and by whom.
fn short(text: &str) -> String {
    text.split(" for ").next().unwrap_or(text).to_owned()
}

/// What is out of the ordinary: no line, following someone.
pub(super) fn banners(session: Session) -> impl IntoView {
    let line = move || match session.line.get() {
        Line::Open | Line::Opening => None,
        Line::Lost => {
            let waiting = name::waiting(session);
            let waiting = waiting.map_or_else(
                || "You can go on; what you do is sent when the line is back.".to_owned(),
                |waiting| format!("{waiting} to be sent; keep this page open."),
            );
            Some(format!("The line to the server is lost and is being made again. {waiting}"))
        }
        Line::Ended(why) => {
            let waiting = name::waiting(session).map_or_else(
                || "Everything that you did was taken.".to_owned(),
                |waiting| format!("{waiting} that the server hasn't taken."),
            );
            Some(format!("You are no longer in this session: {why} {waiting}"))
        }
    };
    let follows = move || {
        let connection = session.following.get()?;
        let name = session.name_of(connection)?;
        Some(view! {
            <div class="banner">
                <p>{format!("You follow {name}. Anything you do yourself ends that.")}</p>
                <button type="button" class="button" on:click=move |_| presence::stop(session)>
                    "Stop following"
                </button>
            </div>
        })
    };
    view! {
        {move || line().map(|text| view! {
            <div
                class="banner line"
                class:ended=matches!(session.line.get_untracked(), Line::Ended(_))
                role="status"
            >
                <p>{text}</p>
                {unsent(session)}
            </div>
        })}
        {follows}
    }
}

/// Once the session has ended for the visitor: what wasn't sent, to be copied.
fn unsent(session: Session) -> Option<impl IntoView> {
    if !matches!(session.line.get(), Line::Ended(_)) {
        return None;
    }
    let lines: Vec<String> = session.with_replica(|replica| {
        let room = replica.room();
        replica.unsent().map(|(_, change)| full(change, room)).collect()
    });
    let link = session.explorer.with_design(model::link::encode);
    let items: Vec<_> = lines.into_iter().map(|line| view! { <li>{line}</li> }).collect();
    Some(view! {
        <ul class="unsent">{items}</ul>
        <a class="button" href=format!("/?{link}")>"Open the design in the explorer"</a>
    })
}

/// A change with all that was written in it.
fn full(change: &review::Change, room: &review::Room) -> String {
    let said = words::change(change, room);
    match change.text() {
        Some(text) => format!("You {said}: {text}"),
        None => format!("You {said}"),
    }
}

/// Notes for the visitor. They stay until the next one, and are read out.
pub(super) fn note(session: Session) -> impl IntoView {
    let is_empty = move || session.note.with(String::is_empty);
    view! {
        <div class="toast" class:empty=is_empty>
            <p role="status" aria-live="polite">{move || session.note.get()}</p>
            <button
                type="button"
                class="button icon-button"
                aria-label="Close the note"
                hidden=is_empty
                on:click=move |_| session.note.set(String::new())
            >
                {icon(Icon::Close)}
            </button>
        </div>
    }
}
