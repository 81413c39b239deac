//! The bar on top of the page, and the bars that say that something is out of the ordinary.

use leptos::prelude::*;
use present::page::review::labels;
use review::wire::Ask;
use review::{Replica, Role};

use super::session::{Line, Session};
use super::{decisions, name, presence, socket, sync};
use crate::browser::on_server;
use crate::panel::header;
use crate::reaction::handler;
use crate::widget::icon::{Icon, icon};
use crate::widget::part::{IntoPart, Part, flag, live, text, while_so};

/// Name of the session, who is there, undo and redo.
pub(super) fn bar(session: Session) -> Part {
    let can_undo = move || session.may(Role::Edit) && session.with_replica(Replica::can_undo);
    let (undo, redo) = (move || sync::undo(session), move || sync::redo(session));
    let can_redo = move || session.may(Role::Edit) && session.with_replica(Replica::can_redo);
    let decided = live(move || {
        let (text, is_stale) = decisions::sentence(session)?;
        let class = if is_stale { "standing short stale" } else { "standing short" };
        let shown = if is_stale { "Decision stale".to_owned() } else { short(&text) };
        Some(view! { <span class=class title=text>{shown}</span> }.part())
    });
    let bring = while_so(session.can(Role::Edit), move || {
        view! {
            <button
                type="button"
                class="button only-keyboard"
                title="Bring everyone to your view"
                on:click=handler(move |_| socket::say(&Ask::Bring {}))
            >
                "Bring everyone here"
            </button>
        }
        .part()
    });
    view! {
        <header class="header">
            <div inner_html=on_server(header::of_session)></div>
            <div class="session-bar">
            <p class="session-name">
                <strong translate="no">
                    {text(move || session.with_room(|room| room.name.clone()))}
                </strong>
                <span class="muted">
                    {text(move || labels::role(session.role.get()).to_owned())}
                </span>
                {decided}
            </p>
            {presence::avatars(session)}
            <div class="actions" role="toolbar" aria-label="Session">
                {bring}
                {step("Undo", "Undo your own last edit (Ctrl+Z)", Icon::Undo, can_undo, undo)}
                {step("Redo", "Redo your own last edit (Ctrl+Shift+Z)", Icon::Redo, can_redo, redo)}
            </div>
            </div>
        </header>
    }
    .part()
}

/// A button on the visitor's own edits, which works while there is one to act on.
fn step(
    label: &'static str,
    title: &'static str,
    shown: Icon,
    works: impl Fn() -> bool + Send + 'static,
    act: impl Fn() + 'static,
) -> Part {
    view! {
        <button
            type="button"
            class="button plain"
            aria-label=label
            title=title
            disabled=flag(move || !works())
            on:click=handler(move |_| act())
        >
            {icon(shown)}
        </button>
    }
    .part()
}

/// The first words of a decision: what and by whom.
fn short(text: &str) -> String {
    text.split(" for ").next().unwrap_or(text).to_owned()
}

/// Banners of the exceptional states: a lost line, following someone.
pub(super) fn banners(session: Session) -> Part {
    let line = live(move || {
        if session.line.get() != Line::Lost {
            return None;
        }
        let waiting = name::waiting(session).map_or_else(
            || "You can go on; what you do is sent when the line is back.".to_owned(),
            |waiting| format!("{waiting} to be sent, kept in this browser tab."),
        );
        let text = format!("Connection lost, reconnecting. {waiting}");
        Some(view! { <div class="banner line" role="status"><p>{text}</p></div> }.part())
    });
    let follows = live(move || {
        let connection = session.following.get()?;
        let text = format!(
            "You follow {}. Anything you do yourself ends that.",
            session.name_of(connection)?,
        );
        let stop = move |_| presence::stop(session);
        Some(
            view! {
                <div class="banner">
                    <p>{text}</p>
                    <button type="button" class="button" on:click=stop>"Stop following"</button>
                </div>
            }
            .part(),
        )
    });
    view! { {line}{follows} }.part()
}

/// The page in place of all else once the session has ended for the visitor: why, and what wasn't
/// taken, to be copied.
pub(super) fn ended(session: Session) -> Part {
    live(move || {
        let Line::Ended { why, is_deleted } = session.line.get() else { return None };
        let lines: Vec<String> = session.with_replica(|replica| {
            let room = replica.room();
            replica.unsent().map(|unsent| full(&unsent.change, room)).collect()
        });
        let unsent = match (lines.is_empty(), is_deleted) {
            (true, true) => "",
            (true, false) => "All your changes were saved.",
            (false, _) => "The server hasn't saved this; copy what you still need.",
        };
        let (title, rest) = if is_deleted {
            let rest = "What was said and decided in it is deleted with it. The design as you saw \
                        it last can still be opened.";
            ("This review is no longer here", rest)
        } else {
            let rest = "Ask whoever gave you the link for a new one. What was said and decided \
                        stays with the session.";
            ("You are no longer in this review", rest)
        };
        let items: Vec<_> = lines.into_iter().map(|line| view! { <li>{line}</li> }).collect();
        let link = session.explorer.link();
        let name = session.with_room(|room| room.name.clone());
        Some(
            view! {
                <main class="ended-page" tabindex="-1" aria-labelledby="ended-title">
                    <h1 id="ended-title">{title}</h1>
                    <p role="alert">{format!("{name}: {why}")}</p>
                    <p>{rest}</p>
                    <p class="muted">{unsent}</p>
                    <ul class="unsent">{items}</ul>
                    <p class="acts">
                        <a class="button primary" href=format!("/?{link}")>
                            "Open the design in the explorer"
                        </a>
                    </p>
                </main>
            }
            .part(),
        )
    })
    .part()
}

/// A change with all that was written in it.
fn full(change: &review::Change, room: &review::Room) -> String {
    let said = labels::change(change, room);
    match change.text() {
        Some(text) => format!("You {said}: {text}"),
        None => format!("You {said}"),
    }
}

/// Notes for the visitor. They stay until the next one, and are read out.
pub(super) fn note(session: Session) -> Part {
    let is_empty = move || session.note.with(String::is_empty);
    view! {
        <div class="toast" class:empty=flag(is_empty)>
            <p role="status" aria-live="polite">{text(move || session.note.get())}</p>
            <button
                type="button"
                class="button icon-button"
                aria-label="Close the note"
                hidden=flag(is_empty)
                on:click=handler(move |_| session.note.set(String::new()))
            >
                {icon(Icon::Close)}
            </button>
        </div>
    }
    .part()
}
