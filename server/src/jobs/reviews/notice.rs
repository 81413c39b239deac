//! Notices between servers on one store about review sessions, so that nobody waits for a look into
//! the store. What is lost is found there a little later.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ground::random::random_id;
use crate::jobs::nats::{Address, Broadcast};

/// The subject of notices; the session's id follows.
const SUBJECT: &str = "moescape.review";

/// A notice of a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Notice {
    /// The server.
    from: String,
    #[serde(flatten)]
    kind: NoticeKind,
}

/// A notice's content.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum NoticeKind {
    /// Events up to this one are in the store.
    Seq { seq: u64 },
    /// A link was withdrawn.
    Cut { link: String },
    /// The session was deleted.
    Deleted,
    /// Request to announce who is there.
    Who,
    /// Something of a connection there that isn't kept, as it is told to those who are there.
    Tell { connection: u64, text: String },
}

/// The way to other servers; it does nothing without NATS.
#[derive(Debug)]
pub(super) struct Notices {
    /// Name of this server among them.
    name: String,
    broadcast: Broadcast,
}

impl Notices {
    pub(super) fn new(address: Option<Address>) -> Self {
        Self { name: random_id(), broadcast: Broadcast::new(address, SUBJECT) }
    }

    /// Begins to listen to other servers, the first time: to a session's id with each notice.
    pub(super) fn listen(&self, on_notice: impl Fn(&str, NoticeKind) + Send + Sync + 'static) {
        let name = self.name.clone();
        self.broadcast.listen(move |review, bytes| match serde_json::from_slice(bytes) {
            Ok(Notice { from, kind }) if from != name => on_notice(review, kind),
            Ok(_) | Err(_) => {}
        });
    }

    /// Sends a notice to the other servers, if it can be sent now.
    pub(super) fn send(&self, review: &Arc<str>, kind: NoticeKind) {
        let notice = || Notice { from: self.name.clone(), kind };
        self.broadcast.send(review, || serde_json::to_vec(&notice()).unwrap_or_default());
    }
}
