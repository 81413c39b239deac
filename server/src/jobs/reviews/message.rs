//! The messages between those who use a session and its keeper.

use std::collections::BTreeSet;

use axum::extract::ws::Utf8Bytes;
use review::wire::{At, Presence, Tell};
use review::{Person, Role, Seq, Setting};
use tokio::sync::{broadcast, oneshot};

use super::commit::ChangeRequest;
use super::notice::NoticeKind;
use super::participant::{Cut, Grant};

/// A message to a keeper.
#[derive(Debug)]
pub(crate) enum Message {
    /// A change is requested.
    Do(Box<ChangeRequest>),
    /// Someone comes.
    Join(Box<Joining>),
    /// Someone missed a message.
    Again(oneshot::Sender<Again>),
    /// Someone does something that isn't kept.
    Show(u64, Showing),
    /// Someone leaves.
    Leave(u64),
    /// A link was withdrawn, or the session deleted.
    Cut(Cut),
    /// Another server sends a notice.
    Notice(NoticeKind),
}

/// Someone who comes.
#[derive(Debug)]
pub(crate) struct Joining {
    pub(crate) grant: Grant,
    pub(crate) person: Person,
    pub(crate) connection: u64,
    /// The last event that they have, and what it is called, as far as they know.
    pub(crate) after: Option<Seq>,
    pub(crate) last: Option<String>,
    pub(crate) answer: oneshot::Sender<Result<Joined, Full>>,
}

/// Error of a session that is full: nobody can come in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Full;

/// Someone who is in.
#[derive(Debug)]
pub(crate) struct Joined {
    /// The first thing to tell them.
    pub(crate) welcome: Utf8Bytes,
    /// The last event in it.
    pub(crate) seq: Seq,
    /// Connections that it names.
    pub(crate) known: BTreeSet<u64>,
    /// Everything from then on.
    pub(crate) casts: broadcast::Receiver<Cast>,
}

/// Everything, once more.
#[derive(Debug)]
pub(crate) struct Again {
    pub(crate) snapshot: Utf8Bytes,
    pub(crate) seq: Seq,
    pub(crate) people: Vec<Presence>,
}

/// Something of a participant that isn't kept.
#[derive(Clone, Debug)]
pub(crate) enum Showing {
    Here(At),
    Name(String),
    Preview(Option<Setting>),
    Bring,
}

/// Something for all who are there.
#[derive(Clone, Debug)]
pub(crate) enum Cast {
    /// An event, with its number.
    Event(Seq, Utf8Bytes),
    /// Something that isn't kept, with the connection that it is of.
    Tell(u64, Utf8Bytes),
    /// Someone left.
    Gone(u64, Utf8Bytes),
    /// Some have to leave.
    Cut(Cut),
}

/// Text of a message, as it is sent.
pub(crate) fn text(told: &Tell) -> Utf8Bytes {
    // Neither a map with keys that aren't text nor a number that isn't one is in it.
    serde_json::to_string(told).unwrap_or_default().into()
}

/// Whether someone of that role may show knobs on their way, and ask everyone to look.
pub(crate) fn may_lead(role: Role) -> bool {
    role >= Role::Edit
}

/// Connections that all have left, of those that someone was told of.
pub(crate) fn left(known: &BTreeSet<u64>, people: &[Presence]) -> Vec<u64> {
    let there: BTreeSet<u64> = people.iter().map(|presence| presence.connection).collect();
    known.difference(&there).copied().collect()
}
