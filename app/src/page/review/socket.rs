//! The socket to the server, and what it was given.
//!
//! It knows nothing of the session, so that the session can send through it.

use std::cell::RefCell;
use std::collections::BTreeSet;

use review::wire::Ask;
use review::{Replica, Unsent};
use web_sys::WebSocket;

use super::browser;

/// Changes under way at once: the server takes no flood.
const MAX_SENT: usize = 16;

/// The page's end of the line.
pub(super) struct Client {
    /// The socket; `None` while the line is lost.
    pub(super) socket: Option<WebSocket>,
    /// Whether the server has answered on this socket.
    pub(super) is_welcome: bool,
    /// The changes that this socket was given and hasn't answered.
    pub(super) sent: BTreeSet<String>,
    /// Failures in a row.
    pub(super) failures: i32,
    /// Time at which something was heard last.
    pub(super) heard: f64,
}

impl Client {
    /// A client that has no socket yet.
    pub(super) fn new() -> Self {
        let (sent, heard) = (BTreeSet::new(), browser::now());
        Self { socket: None, is_welcome: false, sent, failures: 0, heard }
    }

    /// Closes the socket, and says whether the server had answered on it.
    pub(super) fn close(&mut self) -> bool {
        if let Some(socket) = self.socket.take() {
            // It is closed or closing then.
            let _ = socket.close();
        }
        std::mem::take(&mut self.is_welcome)
    }
}

thread_local! {
    /// A page has one line; it can't be in a signal, as it belongs to one thread.
    static CLIENT: RefCell<Option<Client>> = const { RefCell::new(None) };
}

/// Puts the page's client in place of the one before, which comes back.
pub(super) fn put(client: Option<Client>) -> Option<Client> {
    CLIENT.with(|place| std::mem::replace(&mut *place.borrow_mut(), client))
}

/// Acts on the page's client, if it has one.
pub(super) fn with<T>(act: impl FnOnce(&mut Client) -> T) -> Option<T> {
    CLIENT.with(|client| client.try_borrow_mut().ok()?.as_mut().map(act))
}

/// Sends what isn't sent.
pub(super) fn pump(replica: &Replica) {
    with(|client| {
        let Some(socket) = client.socket.clone().filter(|_| client.is_welcome) else { return };
        let waiting = replica.unsent().filter(|it| !client.sent.contains(&it.op));
        for Unsent { op, change } in waiting.cloned().collect::<Vec<_>>() {
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

/// Sends a message that is kept nowhere: without a line it is dropped.
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
