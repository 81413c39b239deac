//! What has happened.

use serde::{Deserialize, Serialize};

use crate::change::Change;

/// The number of an event in its session, from 1 on. What an event makes, such as a thread, is
/// called by its number.
pub type Seq = u64;

/// Something that has happened. It is never changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Its number.
    pub seq: Seq,
    /// When the server took it, in milliseconds since 1970.
    pub at_millis: u64,
    /// Who did it.
    pub by: Person,
    /// What the client calls it. Within a session it happens once, however often it is sent.
    pub op: String,
    /// What.
    pub change: Change,
}

/// Someone in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Of this browser, or of this user of a proxy that knows its users. The server makes it of a
    /// secret, so that nobody can take another's.
    pub id: String,
    /// As they call themselves.
    pub name: String,
    /// Has a proxy vouched for the name?
    #[serde(default)]
    pub is_vouched: bool,
}
