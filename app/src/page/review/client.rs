//! The line to the server: a socket that is made again when it is lost.
//!
//! Every change has a name, so that one that is sent twice happens once. After a lost line the
//! client says the last event that it has; the server goes on behind it, and what isn't confirmed
//! is sent again.

use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::closure::Closure;
use present::page::review::{labels, mentions};
use review::wire::{Ask, PROTOCOL, Start, Tell};
use review::{Change, Replica, Taken};
use web_sys::js_sys::{Function, Math};
use web_sys::{CloseEvent, MessageEvent, WebSocket};

use super::session::{Line, Session};
use super::socket::{self, Client, with};
use super::{browser, history, presence, prose};
use crate::reaction::effect;

/// The first pause before the line is made again, and the longest, in milliseconds.
const PAUSES: (f64, f64) = (400.0, 15_000.0);

/// A line on which nothing was heard for this long is asked after, in milliseconds.
const MAX_QUIET_MILLIS: f64 = 25_000.0;

/// Interval between checks whether the line is quiet.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Opens the line, and keeps it open as long as the page is there.
pub(super) fn install(session: Session) {
    effect(move || {
        let room = untrack(|| session.with_replica(|replica| replica.room().clone()));
        let earlier = browser::unsent(&session.id());
        session.update(|replica| {
            *replica = Replica::new(room, browser::random());
            replica.resume(earlier);
        });
        session.show();
        socket::put(Some(Client::new()));
        connect(session);
        let look = set_interval_with_handle(move || look(session), POLL_INTERVAL).ok();
        let online = window_event_listener(ev::online, move |_| again_at_once(session));
        let offline = window_event_listener(ev::offline, move |_| lose(session));
        on_cleanup(move || {
            online.remove();
            offline.remove();
            if let Some(look) = look {
                look.clear();
            }
            if let Some(mut gone) = socket::put(None) {
                gone.close();
            }
        });
    });
}

fn connect(session: Session) {
    let made = with(|client| {
        let address = browser::absolute(&session.address("socket"));
        // http becomes ws, https becomes wss.
        let socket = WebSocket::new(&address.replacen("http", "ws", 1)).ok()?;
        client.socket = Some(socket.clone());
        client.is_welcome = false;
        client.sent.clear();
        client.heard = browser::now();
        Some(socket)
    });
    let Some(Some(socket)) = made else { return later(session) };
    let own = socket.clone();
    listen(&socket, "open", move |_: web_sys::Event| hello(session, &own));
    let own = socket.clone();
    listen(&socket, "message", move |event: MessageEvent| {
        if is_current(&own)
            && let Some(text) = event.data().as_string()
        {
            hear(session, &text);
        }
    });
    let own = socket.clone();
    listen(&socket, "close", move |_: CloseEvent| {
        if is_current(&own) {
            lose(session);
        }
    });
}

/// Listens as long as the socket is there.
fn listen<E: leptos::wasm_bindgen::convert::FromWasmAbi + 'static>(
    socket: &WebSocket,
    event: &str,
    act: impl FnMut(E) + 'static,
) {
    let callback = Closure::<dyn FnMut(E)>::new(act);
    let function: &Function = callback.as_ref().unchecked_ref();
    // Fails only without a callback.
    let _ = socket.add_event_listener_with_callback(event, function);
    callback.forget();
}

fn is_current(socket: &WebSocket) -> bool {
    with(|client| client.socket.as_ref() == Some(socket)).unwrap_or_default()
}

fn hello(session: Session, socket: &WebSocket) {
    let of = |replica: &Replica| (replica.seq(), replica.last_op().map(str::to_owned));
    let (after, last) = untrack(|| session.with_replica(of));
    let hello = Ask::Hello {
        protocol: PROTOCOL,
        after: Some(after).filter(|seq| *seq > 0),
        last,
        name: browser::name(),
        key: browser::key(),
    };
    if let Ok(text) = serde_json::to_string(&hello) {
        // A socket that closes meanwhile says so itself.
        let _ = socket.send_with_str(&text);
    }
}

fn hear(session: Session, text: &str) {
    with(|client| client.heard = browser::now());
    match browser::read::<Tell>(text) {
        Some(tell) => take(session, tell),
        // The server is of a later version: its page is, too.
        None => session.say("The server has changed. Reload the page to go on."),
    }
}

fn take(session: Session, tell: Tell) {
    match tell {
        Tell::Welcome { connection, you, role, model_version, start, people } => {
            with(|client| {
                client.is_welcome = true;
                client.failures = 0;
            });
            if model_version != model::MODEL_VERSION {
                session.say("The server has a newer model. Reload the page to see its numbers.");
            }
            session.connection.set(connection);
            session.you.set(you);
            session.role.set(role);
            session.people.set(people);
            session.previews.update(std::collections::BTreeMap::clear);
            match start {
                Start::Room { room } => {
                    welcome_room(session, *room);
                    session.show();
                    history::forget(session);
                }
                Start::Events { events } => {
                    for event in &events {
                        take_event(session, event);
                    }
                }
            }
            // Now it is known who "you" is.
            prose::mark_all(session);
            session.line.set(Line::Open);
            session.send();
            presence::tell(session);
        }
        Tell::Event { event } => {
            with(|client| client.sent.remove(&event.op));
            take_event(session, &event);
            session.pump();
        }
        Tell::Snapshot { room } => {
            session.update(|replica| replica.restart(*room));
            session.show();
            history::forget(session);
            // Which changes it confirms isn't reported: all of them again, by the same names.
            with(|client| client.sent.clear());
            session.pump();
        }
        Tell::Refused { op, why } => {
            with(|client| client.sent.remove(&op));
            let refused = session.update(|replica| replica.refuse(&op)).flatten();
            session.show();
            refuse(session, refused.as_ref(), &why.detail);
            session.pump();
        }
        Tell::Present { presence: there } => presence::come(session, there),
        Tell::Gone { connection } => presence::go(session, connection),
        Tell::Preview { connection, setting } => session.previews.update(|all| {
            match setting {
                Some(setting) => drop(all.insert(connection, setting)),
                None => drop(all.remove(&connection)),
            };
        }),
        Tell::Bring { connection, at } => presence::brought(session, connection, &at),
        Tell::Mistake { detail } => session.say(format!("The server says: {detail}")),
        Tell::Ended { detail, again: false, deleted } => {
            end(session, &detail, deleted == Some(true));
        }
        Tell::Ended { detail, again: true, .. } => {
            session.say(format!("The server says: {detail}."));
            lose(session);
        }
    }
}

/// Takes the whole room of a server that answers. One that is behind what was seen here had its
/// store brought back from an earlier copy: it has the last word, and that is reported.
fn welcome_room(session: Session, room: review::Room) {
    let seen = untrack(|| session.seq());
    if room.seq >= seen {
        session.update(|replica| replica.restart(room));
        return;
    }
    let lost = present::format::counted(seen - room.seq, "event", "events");
    session.update(|replica| replica.begin_anew(room));
    session.past.set(None);
    session.say(format!(
        "The server was restored from a backup: the last {lost} that you saw are lost. The session \
         continues from there."
    ));
}

fn take_event(session: Session, event: &review::Event) {
    match session.update(|replica| replica.take(event)) {
        Some(Taken::New) => {
            session.show();
            history::hear(session, event);
            if event.by.id != session.you.with_untracked(|you| you.id.clone()) {
                announce(session, event);
            }
        }
        // The server goes on behind the last event that is here.
        Some(Taken::Missed) => again_at_once(session),
        Some(Taken::Known) | None => {}
    }
}

/// Comments, suggestions and decisions of others are read out; edits would be too many.
fn announce(session: Session, event: &review::Event) {
    let is_said = matches!(
        event.change,
        Change::Comment { .. }
            | Change::Reply { .. }
            | Change::Propose { .. }
            | Change::Ask { .. }
            | Change::Answer { .. }
            | Change::Decide { .. }
    );
    let names = || untrack(|| session.participants());
    let you = session.you.with_untracked(|you| you.name.clone());
    let text = event.change.text().unwrap_or_default();
    if is_said && text.contains('@') && mentions::is_named(text, &you, &names()) {
        session.say(format!("{} mentions you: {text}", labels::person(&event.by)));
    } else if is_said {
        let done = untrack(|| session.with_room(|room| labels::change(&event.change, room)));
        session.say(format!("{} {done}.", labels::person(&event.by)));
    }
}

/// Says what wasn't taken; a text is given back.
fn refuse(session: Session, change: Option<&Change>, why: &str) {
    let text = change.and_then(Change::text);
    let text = text.map_or_else(String::new, |text| format!(" You wrote: {text}"));
    session.say(format!("Not saved: {why}.{text}"));
}

/// The line is lost: it is made again after a while.
fn lose(session: Session) {
    let Some(was_open) = with(|client| {
        client.sent.clear();
        client.close()
    }) else {
        return;
    };
    if matches!(session.line.get_untracked(), Line::Ended { .. }) {
        return;
    }
    session.line.set(Line::Lost);
    session.people.update(Vec::clear);
    session.previews.update(std::collections::BTreeMap::clear);
    if was_open {
        later(session);
    } else {
        // The server may have had a reason.
        leptos::task::spawn_local(async move {
            match probe(session).await {
                Some(401 | 403 | 404 | 410) => end(session, "This link no longer works.", false),
                _ => later(session),
            }
        });
    }
}

/// Asks for the next event without the socket: the status of the answer.
async fn probe(session: Session) -> Option<u16> {
    let seq = untrack(|| session.seq());
    let address = session.address(&format!("log?after={seq}&limit=1"));
    browser::fetch("GET", &address, None).await.map(|(status, _)| status)
}

fn end(session: Session, why: &str, is_deleted: bool) {
    session.line.set(Line::Ended { why: why.to_owned(), is_deleted });
    with(Client::close);
}

/// Makes the line again after a pause, which grows and differs from one client to the next.
fn later(session: Session) {
    let pause = with(|client| {
        let grown = PAUSES.0 * 2.0_f64.powi(client.failures.min(10));
        client.failures += 1;
        grown.min(PAUSES.1) * (0.5 + Math::random() / 2.0)
    });
    if let Some(pause) = pause {
        set_timeout(move || reconnect(session), Duration::from_millis(pause as u64));
    }
}

fn reconnect(session: Session) {
    let wanted = with(|client| {
        let ended = matches!(session.line.get_untracked(), Line::Ended { .. });
        client.socket.is_none() && !ended
    });
    if wanted == Some(true) {
        connect(session);
    }
}

fn again_at_once(session: Session) {
    with(|client| {
        client.close();
        client.failures = 0;
    });
    reconnect(session);
}

/// A dead line says nothing of itself: when nothing was heard for long, the server is asked.
fn look(session: Session) {
    let is_quiet = with(|client| {
        let is_quiet = client.is_welcome && browser::now() - client.heard > MAX_QUIET_MILLIS;
        if is_quiet {
            client.heard = browser::now();
        }
        is_quiet
    });
    if is_quiet != Some(true) {
        return;
    }
    leptos::task::spawn_local(async move {
        let seq = untrack(|| session.seq());
        let address = session.address(&format!("log?after={seq}&limit=1"));
        let answer = browser::fetch("GET", &address, None).await;
        let missed = answer.as_ref().is_none_or(|(_, text)| text.contains("\"seq\""));
        if missed && untrack(|| session.seq()) == seq {
            lose(session);
        }
    });
}
