//! What has happened.

use serde::Serialize;

use crate::change::Change;
use crate::json::read_fields;
use crate::person::{Person, Seq};

/// Something that has happened. It is never changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewEvent"))]
pub struct Event {
    /// Its number.
    pub seq: Seq,
    /// When the server took it, in milliseconds since 1970.
    pub at_millis: u64,
    /// Author of the event.
    pub by: Person,
    /// The client's id of it. Within a session it happens once, however often it is sent.
    pub op: String,
    /// Change that it makes.
    pub change: Change,
}

read_fields! {
    Event, strict: false { seq, at_millis, by, op, change }
}
