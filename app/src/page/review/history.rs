//! What has happened, and the session as it was after any of it.

use std::sync::Arc;

use leptos::ev;
use leptos::prelude::*;
use present::format;
use present::page::review::labels;
use review::json::Fields;
use review::{Event, Room};

use super::compose::button;
use super::session::Session;
use super::{browser, sync};
use crate::reaction::{effect, handler};
use crate::widget::part::{IntoPart, Key, Part, flag, list, live, text};

/// Events per request.
const PAGE_EVENTS: usize = 1_000;

/// The last events are listed; the slider goes to all of them.
const MAX_LISTED_EVENTS: usize = 200;

/// Takes in an event that happened just now.
pub(super) fn hear(session: Session, event: &Event) {
    let follows =
        session.log.with_untracked(|log| log.last().is_some_and(|last| last.seq + 1 == event.seq));
    if follows {
        session.log.update(|log| log.push(event.clone()));
    }
}

/// Forgets the events: some may be missing.
pub(super) fn forget(session: Session) {
    session.log.update(Vec::clear);
    if session.tab.get_untracked() == super::session::Tab::History {
        get(session);
    }
}

/// Gets the events that aren't here.
pub(super) fn get(session: Session) {
    leptos::task::spawn_local(async move {
        loop {
            let after = session.log.try_with_untracked(|log| log.last().map_or(0, |last| last.seq));
            let Some(after) = after.filter(|after| *after < untrack(|| session.seq())) else {
                return;
            };
            let address = session.address(&format!("log?after={after}&limit={PAGE_EVENTS}"));
            let answer = browser::fetch("GET", &address, None).await;
            let events = answer.and_then(|(_, text)| events(&text)).unwrap_or_default();
            let next = events.first().is_some_and(|first| first.seq == after + 1);
            if !next {
                return;
            }
            session.log.update(|log| {
                if log.last().map_or(0, |last| last.seq) == after {
                    log.extend(events);
                }
            });
        }
    });
}

/// The events in an answer of the log.
fn events(text: &str) -> Option<Vec<Event>> {
    browser::read::<Fields>(text)?.take("events").ok()
}

/// Shows the session as it was after an event.
fn look_back(session: Session, seq: u64) {
    let room =
        session.log.with_untracked(|log| Room::of(log.iter().take_while(|event| event.seq <= seq)));
    let design = room.design.clone();
    session.past.set(Some(Arc::new(room)));
    session.explorer.follow(design);
    session.explorer.rest();
}

/// Shows the session as it is.
pub(super) fn back_to_now(session: Session) {
    session.past.set(None);
    session.show();
    session.explorer.rest();
}

/// The events in words, and the slider that goes back to any of them.
pub(super) fn history(session: Session) -> Part {
    // Asked for when this part is opened.
    effect(move || {
        session.seq();
        get(session);
    });
    // Until the events are here, which the slider waits for, the last one that the page knows of.
    let last = move || {
        let loaded = session.log.with(|log| log.last().map(|last| last.seq));
        loaded.unwrap_or_else(|| session.seq())
    };
    let at = move || session.past.with(|past| past.as_ref().map(|room| room.seq));
    let go = move |seq: u64| match seq >= last() {
        true => back_to_now(session),
        false => {
            if session.suggesting.get_untracked() {
                sync::drop_draft(session);
            }
            look_back(session, seq);
        }
    };
    let position = move || at().unwrap_or_else(last).to_string();
    let words = move || match at() {
        Some(seq) => format!("After event {seq} of {}", last()),
        None => format!("Now, after {}", format::counted(last(), "event", "events")),
    };
    let keys = move || {
        session.log.with(|log| {
            log.iter()
                .rev()
                .take(MAX_LISTED_EVENTS)
                .map(|event| (event.seq, 0))
                .collect::<Vec<Key>>()
        })
    };
    let one = move |seq| {
        untrack(|| {
            session.log.with(|log| {
                let event = log.iter().rev().find(|event| event.seq == seq)?;
                // What an event speaks of is there after it, and stays.
                Some(session.with_replica(|replica| line(session, event, replica.room())))
            })
        })
        .unwrap_or_else(|| ().part())
    };
    view! {
        <section aria-labelledby="history-title">
            <h3 id="history-title">"History"</h3>
            <label for="replay">{text(words)}</label>
            <input
                id="replay"
                type="range"
                class="slider"
                autocomplete="off"
                min="1"
                max=text(move || last().max(1).to_string())
                prop:value=text(position)
                disabled=flag(move || session.log.with(Vec::is_empty))
                aria-valuetext=text(words)
                on:input=handler(move |event: ev::Event| {
                    if let Ok(seq) = event_target_value(&event).parse() {
                        go(seq);
                    }
                })
            />
            <ol class="events" reversed>{list(keys, one)}</ol>
        </section>
    }
    .part()
}

fn line(session: Session, event: &Event, room: &Room) -> Part {
    let seq = event.seq;
    let is_now =
        move || session.past.with(|past| past.as_ref().is_some_and(|room| room.seq == seq));
    view! {
        <li class:shown=flag(is_now)>
            <span>
                <strong translate=labels::own(&event.by)>{labels::person(&event.by)}</strong>
                " "
                {labels::change(&event.change, room)}
            </span>
            <span class="muted">
                {format!("{seq} · {}", labels::moment(event.at_millis))} " "
                {button("View this version", move || look_back(session, seq))}
            </span>
        </li>
    }
    .part()
}

/// Says that the page shows the past, with the way back.
pub(super) fn banner(session: Session) -> Part {
    live(move || {
        session.past.get().map(|room| {
            let (of, when) = session.log.with_untracked(|log| {
                let event = log.iter().find(|event| event.seq == room.seq);
                (log.len(), event.map(|event| labels::moment(event.at_millis)).unwrap_or_default())
            });
            let text = format!(
                "Showing the session after event {} of {of}, {when}. Read-only.",
                room.seq,
            );
            view! {
                <div class="banner past" role="status">
                    <p>{text}</p>
                    <button
                        type="button"
                        class="button primary"
                        on:click=handler(move |_| back_to_now(session))
                    >
                        "Back to now"
                    </button>
                </div>
            }
            .part()
        })
    })
    .part()
}
