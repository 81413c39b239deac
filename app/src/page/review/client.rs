//! The line to the server: a socket that is made again when it is lost.
//!
//! Every change has a name, so that one that is sent twice happens once. After a lost line the
//! client says the last event that it has; the server goes on behind it, and what isn't confirmed
//! is sent again.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::closure::Closure;
use review::wire::{Ask, PROTOCOL, Start, Tell};
use review::{Change, Replica, Taken, Unsent};
use web_sys::js_sys::{Function, Math};
use web_sys::{CloseEvent, MessageEvent, WebSocket};

use super::session::{Line, Session};
use super::{browser, history, mentions, presence, prose, sync, words};

/// The first pause before the line is made again, and the longest, in milliseconds.
const PAUSES: (f64, f64) = (400.0, 15_000.0);

/// A line on which nothing was heard for this long is asked after, in milliseconds.
const QUIET: f64 = 25_000.0;

/// How often it is looked at whether the line is quiet.
const LOOK: Duration = Duration::from_secs(5);

/// Changes under way at once: the server takes no flood.
const MAX_SENT: usize = 16;

/// The line.
struct Client {
    session: Session,
    socket: Option<WebSocket>,
    /// Has the server answered on this socket?
    is_welcome: bool,
    /// The changes that this socket was given and hasn't answered.
    sent: BTreeSet<String>,
    /// Failures in a row.
    failures: i32,
    /// When something was heard last.
    heard: f64,
}

thread_local! {
    /// A page has one line; it can't be in a signal, as it belongs to one thread.
    static CLIENT: RefCell<Option<Client>> = const { RefCell::new(None) };
}

fn with<T>(act: impl FnOnce(&mut Client) -> T) -> Option<T> {
    CLIENT.with(|client| client.try_borrow_mut().ok()?.as_mut().map(act))
}

/// Opens the line, and keeps it open as long as the page is there.
pub(super) fn install(session: Session) {
    Effect::new(move || {
        let room = untrack(|| session.with_replica(|replica| replica.room().clone()));
        let earlier = browser::unsent(&session.id());
        session.update(|replica| {
            *replica = Replica::new(room, browser::random());
            replica.resume(earlier);
        });
        sync::show(session);
        let client = Client {
            session,
            socket: None,
            is_welcome: false,
            sent: BTreeSet::new(),
            failures: 0,
            heard: browser::now(),
        };
        CLIENT.with(|place| *place.borrow_mut() = Some(client));
        connect();
        let look = set_interval_with_handle(look, LOOK).ok();
        let online = window_event_listener(ev::online, |_| again_at_once());
        let offline = window_event_listener(ev::offline, |_| lose());
        on_cleanup(move || {
            online.remove();
            offline.remove();
            if let Some(look) = look {
                look.clear();
            }
            let gone = CLIENT.with(|place| place.borrow_mut().take());
            if let Some(socket) = gone.and_then(|client| client.socket) {
                // It is closed or closing then.
                let _ = socket.close();
            }
        });
    });
}

fn connect() {
    let made = with(|client| {
        let address = browser::absolute(&client.session.address("socket"));
        // http becomes ws, https becomes wss.
        let socket = WebSocket::new(&address.replacen("http", "ws", 1)).ok()?;
        client.socket = Some(socket.clone());
        client.is_welcome = false;
        client.sent.clear();
        client.heard = browser::now();
        Some(socket)
    });
    let Some(Some(socket)) = made else { return later() };
    let own = socket.clone();
    listen(&socket, "open", move |_: web_sys::Event| hello(&own));
    let own = socket.clone();
    listen(&socket, "message", move |event: MessageEvent| {
        if is_current(&own)
            && let Some(text) = event.data().as_string()
        {
            hear(&text);
        }
    });
    let own = socket.clone();
    listen(&socket, "close", move |_: CloseEvent| {
        if is_current(&own) {
            lose();
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

fn hello(socket: &WebSocket) {
    let known = with(|client| {
        let of = |replica: &Replica| (replica.seq(), replica.last_op().map(str::to_owned));
        untrack(|| client.session.with_replica(of))
    });
    let (after, last) = known.unwrap_or_default();
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

/// Sends what isn't sent.
pub(super) fn pump() {
    with(|client| {
        let Some(socket) = client.socket.clone().filter(|_| client.is_welcome) else { return };
        let waiting: Vec<Unsent> = untrack(|| {
            client.session.with_replica(|replica| {
                let unsent = replica.unsent().filter(|it| !client.sent.contains(&it.op));
                unsent.cloned().collect()
            })
        });
        for Unsent { op, change } in waiting {
            if client.sent.len() >= MAX_SENT {
                break;
            }
            let ask = Ask::Do { op: op.clone(), change };
            if let Ok(text) = serde_json::to_string(&ask)
                && socket.send_with_str(&text).is_ok()
            {
                client.sent.insert(op);
            }
        }
    });
}

/// The session of the page.
#[cfg(not(feature = "ssr"))]
pub(super) fn session() -> Option<Session> {
    with(|client| client.session)
}

/// Keeps what isn't confirmed for the case that the page is loaded again.
pub(super) fn keep_unsent(session: Session) {
    untrack(|| {
        session.with_replica(|replica| {
            browser::keep_unsent(&session.id(), &replica.unsent().collect::<Vec<_>>());
        });
    });
}

/// Says something that is kept nowhere: without a line it isn't said.
pub(super) fn say(ask: &Ask) {
    with(|client| {
        if let (true, Some(socket), Ok(text)) =
            (client.is_welcome, &client.socket, serde_json::to_string(ask))
        {
            // A socket that closes meanwhile says so itself.
            let _ = socket.send_with_str(&text);
        }
    });
}

fn hear(text: &str) {
    let Some(session) = with(|client| {
        client.heard = browser::now();
        client.session
    }) else {
        return;
    };
    match serde_json::from_str::<Tell>(text) {
        Ok(tell) => take(session, tell),
        // The server is of a later version: its page is, too.
        Err(_) => session.say("The server has changed. Reload the page to go on."),
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
                    sync::show(session);
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
            pump();
        }
        Tell::Snapshot { room } => {
            session.update(|replica| replica.restart(*room));
            sync::show(session);
            history::forget(session);
            // What it confirms isn't said: all of it again, by the same names.
            with(|client| client.sent.clear());
            pump();
        }
        Tell::Refused { op, why } => {
            with(|client| client.sent.remove(&op));
            let refused = session.update(|replica| replica.refuse(&op)).flatten();
            sync::show(session);
            refuse(session, refused.as_ref(), &why.detail);
            pump();
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
        Tell::Ended { detail, again: false } => end(session, &detail),
        Tell::Ended { detail, again: true } => {
            session.say(format!("The server says: {detail}."));
            lose();
        }
    }
}

/// Takes the whole room of a server that answers. One that is behind what was seen here had its
/// store brought back from an earlier copy: it has the last word, and that is said.
fn welcome_room(session: Session, room: review::Room) {
    let seen = untrack(|| session.seq());
    if room.seq >= seen {
        session.update(|replica| replica.restart(room));
        return;
    }
    let lost = crate::present::format::counted(seen - room.seq, "event", "events");
    session.update(|replica| replica.begin_anew(room));
    session.past.set(None);
    session.say(format!(
        "The server was brought back from an earlier copy: the last {lost} that you saw are gone. \
         The session goes on from how it was then."
    ));
}

fn take_event(session: Session, event: &review::Event) {
    match session.update(|replica| replica.take(event)) {
        Some(Taken::New) => {
            sync::show(session);
            history::hear(session, event);
            if event.by.id != session.you.with_untracked(|you| you.id.clone()) {
                announce(session, event);
            }
        }
        // The server goes on behind the last event that is here.
        Some(Taken::Missed) => again_at_once(),
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
        session.say(format!("{} mentions you: {text}", words::person(&event.by)));
    } else if is_said {
        let done = untrack(|| session.with_room(|room| words::change(&event.change, room)));
        session.say(format!("{} {done}.", words::person(&event.by)));
    }
}

/// Says what wasn't taken; a text is given back.
fn refuse(session: Session, change: Option<&Change>, why: &str) {
    let text = change.and_then(Change::text);
    let text = text.map_or_else(String::new, |text| format!(" You wrote: {text}"));
    session.say(format!("Not saved: {why}.{text}"));
}

/// The line is lost: it is made again after a while.
fn lose() {
    let Some((session, was_open)) = with(|client| {
        if let Some(socket) = client.socket.take() {
            // It is closed or closing then.
            let _ = socket.close();
        }
        client.sent.clear();
        (client.session, std::mem::take(&mut client.is_welcome))
    }) else {
        return;
    };
    if matches!(session.line.get_untracked(), Line::Ended(_)) {
        return;
    }
    session.line.set(Line::Lost);
    session.people.update(Vec::clear);
    session.previews.update(std::collections::BTreeMap::clear);
    if was_open {
        later();
    } else {
        // The server may have had a reason.
        leptos::task::spawn_local(async move {
            match probe(session).await {
                Some(401 | 403 | 404 | 410) => end(session, "This link no longer works."),
                _ => later(),
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

fn end(session: Session, why: &str) {
    session.line.set(Line::Ended(why.to_owned()));
    with(|client| {
        client.is_welcome = false;
        if let Some(socket) = client.socket.take() {
            // It is closed or closing then.
            let _ = socket.close();
        }
    });
}

/// Makes the line again after a pause, which grows and differs from one client to the next.
fn later() {
    let pause = with(|client| {
        let grown = PAUSES.0 * 2.0_f64.powi(client.failures.min(10));
        client.failures += 1;
        grown.min(PAUSES.1) * (0.5 + Math::random() / 2.0)
    });
    if let Some(pause) = pause {
        set_timeout(reconnect, Duration::from_millis(pause as u64));
    }
}

fn reconnect() {
    let wanted = with(|client| {
        let ended = matches!(client.session.line.get_untracked(), Line::Ended(_));
        client.socket.is_none() && !ended
    });
    if wanted == Some(true) {
        connect();
    }
}

fn again_at_once() {
    with(|client| {
        if let Some(socket) = client.socket.take() {
            // It is closed or closing then.
            let _ = socket.close();
        }
        client.is_welcome = false;
        client.failures = 0;
    });
    reconnect();
}

/// A dead line says nothing of itself: when nothing was heard for long, the server is asked.
fn look() {
    let asks = with(|client| {
        let is_quiet = client.is_welcome && browser::now() - client.heard > QUIET;
        if is_quiet {
            client.heard = browser::now();
        }
        is_quiet.then_some(client.session)
    });
    let Some(Some(session)) = asks else { return };
    leptos::task::spawn_local(async move {
        let seq = untrack(|| session.seq());
        let address = session.address(&format!("log?after={seq}&limit=1"));
        let answer = browser::fetch("GET", &address, None).await;
        let missed = answer.as_ref().is_none_or(|(_, text)| text.contains("\"seq\""));
        if missed && untrack(|| session.seq()) == seq {
            lose();
        }
    });
}
