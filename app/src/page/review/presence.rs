//! Who is there, at what, and going to where they are.

use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use present::page::review::labels;
use review::wire::{Ask, At, Presence};
use web_sys::Element;

use super::session::Session;
use super::{places, socket};
use crate::browser::dom;
use crate::reaction::{effect, handler};
use crate::widget::part::{IntoPart, Part, live, text};

/// Least interval between reports of what the visitor is at: twelve times a second at most.
const REPORT_INTERVAL: Duration = Duration::from_millis(80);

/// Tells the others what the visitor is at, and hears what ends following.
pub(super) fn install(session: Session) {
    let soon = move || soon(session);
    effect(move || {
        session.tab.track();
        session.explorer.explained.track();
        session.following.track();
        soon();
    });
    effect(move || {
        let focus = window_event_listener(ev::focusin, move |event| {
            at_knob(session, event.target());
            soon();
        });
        // Scrolling doesn't bubble; it is caught on its way down.
        let scroll = window_event_listener_untyped("wheel", move |_| {
            stop(session);
            soon();
        });
        let press = window_event_listener(ev::pointerdown, move |event| {
            if !is_to_follow(event.target()) {
                stop(session);
            }
            soon();
        });
        let key = window_event_listener(ev::keydown, move |event| {
            if !is_to_follow(event.target()) {
                stop(session);
            }
            soon();
        });
        on_cleanup(move || {
            focus.remove();
            scroll.remove();
            press.remove();
            key.remove();
        });
    });
}

/// Tells what the visitor is at a little later, with what comes until then.
pub(super) fn soon(session: Session) {
    let is_due = session.tells;
    if is_due.try_get_value() != Some(false) {
        return;
    }
    is_due.set_value(true);
    set_timeout(
        move || {
            // The page may be gone by then.
            let _ = is_due.try_set_value(false);
            look(session);
        },
        REPORT_INTERVAL,
    );
}

/// Whether it is a control that has to do with following: pressing it is no action of one's own.
fn is_to_follow(target: Option<web_sys::EventTarget>) -> bool {
    let element = target.and_then(|target| target.dyn_into::<Element>().ok());
    element.is_some_and(|element| element.closest(".avatars, .banner").ok().flatten().is_some())
}

fn at_knob(session: Session, target: Option<web_sys::EventTarget>) {
    let element = target.and_then(|target| target.dyn_into::<Element>().ok());
    let row = element.and_then(|element| element.closest("[data-knob]").ok().flatten());
    let knob = row.and_then(|row| row.get_attribute("data-knob"));
    if session.here.with_untracked(|here| here.knob != knob) {
        session.here.update(|here| here.knob = knob);
    }
}

fn look(session: Session) {
    let Some(knob) = session.here.try_with_untracked(|here| here.knob.clone()) else { return };
    // Who may not edit only looks at a knob.
    let knob = knob.filter(|_| !session.explorer.locked.get_untracked());
    let view = Some(places::here(session));
    let follows = session.following.get_untracked();
    let cursor = session.pointer.get_untracked();
    let at = At { view, knob, cursor, follows };
    if session.here.with_untracked(|here| *here != at) {
        session.here.set(at.clone());
        socket::say(&Ask::Here { at });
    }
}

/// Tells what the visitor is at on a new line.
pub(super) fn tell(session: Session) {
    session.here.update(|here| here.view = Some(places::here(session)));
    socket::say(&Ask::Here { at: session.here.get_untracked() });
}

/// Someone came, or is at something else.
pub(super) fn come(session: Session, there: Presence) {
    let followed = session.following.get_untracked() == Some(there.connection);
    if followed && let Some(view) = &there.at.view {
        places::go(session, view, there.at.knob.as_deref());
    }
    if there.connection == session.connection.get_untracked() {
        session.you.set(there.person.clone());
    }
    session.people.update(|people| {
        match people.iter_mut().find(|other| other.connection == there.connection) {
            Some(other) => *other = there,
            None => people.push(there),
        }
    });
}

/// Someone left.
pub(super) fn go(session: Session, connection: u64) {
    if session.following.get_untracked() == Some(connection) {
        let name = untrack(|| session.name_of(connection)).unwrap_or_default();
        session.following.set(None);
        session.say(format!("{name} has left; you no longer follow."));
    }
    session.people.update(|people| people.retain(|other| other.connection != connection));
    session.previews.update(|all| drop(all.remove(&connection)));
}

/// Someone asks everyone to look at what they are at.
pub(super) fn brought(session: Session, connection: u64, at: &At) {
    if connection == session.connection.get_untracked() {
        return;
    }
    if let Some(view) = &at.view {
        places::go(session, view, at.knob.as_deref());
    }
    let name = untrack(|| session.name_of(connection)).unwrap_or_else(|| "Someone".to_owned());
    session.say(format!("{name} has brought everyone here."));
}

/// Follows someone, or stops.
pub(super) fn follow(session: Session, connection: u64) {
    if session.following.get_untracked() == Some(connection) {
        return stop(session);
    }
    session.following.set(Some(connection));
    let at = session.people.with_untracked(|people| {
        let found = people.iter().find(|other| other.connection == connection);
        found.map(|found| found.at.clone())
    });
    if let Some(At { view: Some(view), knob, .. }) = at {
        places::go(session, &view, knob.as_deref());
    }
}

/// Stops following, if it does.
pub(super) fn stop(session: Session) {
    if let Some(connection) = session.following.get_untracked() {
        let name = untrack(|| session.name_of(connection)).unwrap_or_default();
        session.following.set(None);
        session.say(format!("You no longer follow {name}."));
    }
}

/// The others and the visitor, each once, as buttons that follow them.
pub(super) fn avatars(session: Session) -> Part {
    let shown = live(move || {
        let own = session.connection.get();
        session.people.with(|people| {
            let others = people.iter().filter(|there| there.connection != own);
            let all = others.map(|there| avatar(session, there)).collect::<Vec<_>>();
            let rest = all.len().saturating_sub(6);
            let more =
                (rest > 0).then(|| view! { <li class="muted">{format!("+{rest}")}</li> }.part());
            Some(all.into_iter().take(6).chain(more).collect::<Vec<Part>>().part())
        })
    });
    view! { <ul class="avatars" aria-label="Others who are here">{shown}</ul> }.part()
}

fn avatar(session: Session, there: &Presence) -> Part {
    let connection = there.connection;
    let name = labels::person(&there.person);
    let pressed = text(move || (session.following.get() == Some(connection)).to_string());
    let title = format!("Follow {name} ({})", labels::role(there.role).to_ascii_lowercase());
    let known = if there.person.is_vouched { " vouched" } else { "" };
    let class = format!("avatar {}{known}", labels::colour(&there.person.id));
    view! {
        <li>
            <button
                type="button"
                class=class
                title=title.clone()
                aria-label=title
                aria-pressed=pressed
                on:click=handler(move |_| follow(session, connection))
            >
                {labels::initials(&there.person, dom::raised)}
            </button>
        </li>
    }
    .part()
}
