//! What is said over a session's socket, as JSON.
//!
//! A client begins with [`Ask::Hello`]; the server answers with [`Tell::Welcome`] and from then on
//! tells every event in order. Presence and previews are sent to those who are there and kept
//! nowhere.

use serde::{Deserialize, Serialize};

use crate::change::{Change, Setting};
use crate::event::Event;
use crate::json::{read_by_kind, read_fields};
use crate::person::{Person, Seq};
use crate::refusal::Refusal;
use crate::role::Role;
use crate::room::Room;

/// The version of what is said; a server refuses others.
pub const PROTOCOL: u32 = 1;

/// Bytes of a message to the server, at most.
pub const MAX_MESSAGE_BYTES: usize = 64 << 10;

/// Message of a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ask {
    /// The first message.
    Hello {
        /// [`PROTOCOL`].
        protocol: u32,
        /// The last event that the client has; none when it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<Seq>,
        /// Name of that event, if the client knows it: a server whose event of that number is
        /// another one, as its store was brought back from a copy, answers with the whole room.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last: Option<String>,
        /// The name that its person goes by; none for someone who only looks on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// A secret of this browser, from which the server makes the person's id.
        key: String,
    },
    /// Asks for a change.
    Do {
        /// Name that the client gives it: the same when it is sent again.
        op: String,
        /// The change.
        change: Change,
    },
    /// Says another name from now on.
    Name {
        /// The name.
        name: String,
    },
    /// Says what its person is at.
    Here {
        /// That.
        at: At,
    },
    /// Shows a knob on its way, while a slider is held.
    Preview {
        /// The knob and where it is; none when it was let go.
        setting: Option<Setting>,
    },
    /// Asks everyone to look at what its person is at. It takes a role that may edit.
    Bring {},
}

/// Message of the server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Tell {
    /// The answer to [`Ask::Hello`].
    Welcome {
        /// The client's place among those who are there: unique while it is connected.
        connection: u64,
        /// The client's person.
        you: Person,
        /// Role that its link gives.
        role: Role,
        /// The model of the server.
        model_version: String,
        /// Where to go on.
        start: Start,
        /// Other people who are there.
        people: Vec<Presence>,
    },
    /// Something has happened.
    Event {
        /// That.
        event: Box<Event>,
    },
    /// The client was too slow, or the server began anew: all of it at once.
    Snapshot {
        /// The room as it is.
        room: Box<Room>,
    },
    /// A change wasn't taken.
    Refused {
        /// Name that the client gave it.
        op: String,
        /// Why.
        why: Refusal,
    },
    /// Someone came, or is at something else.
    Present {
        /// Person, and the place where they are.
        presence: Presence,
    },
    /// Someone left.
    Gone {
        /// Their connection.
        connection: u64,
    },
    /// A knob is on its way.
    Preview {
        /// Connection of the person who holds it.
        connection: u64,
        /// Where it is; none when it was let go.
        setting: Option<Setting>,
    },
    /// Look at what someone is at.
    Bring {
        /// Connection of the person who asks.
        connection: u64,
        /// Place where they are.
        at: At,
    },
    /// A message made no sense, or there were too many.
    Mistake {
        /// Error, in a sentence.
        detail: String,
    },
    /// The last message: the link was withdrawn or has expired, the session was deleted, or the
    /// server ends.
    Ended {
        /// Why.
        detail: String,
        /// Whether the client may try again.
        again: bool,
        /// Whether the session was deleted; absent if it wasn't.
        #[serde(skip_serializing_if = "Option::is_none")]
        deleted: Option<bool>,
    },
}

/// Where a client goes on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Start {
    /// With the whole room.
    Room {
        /// The room as it is.
        room: Box<Room>,
    },
    /// With the events that it missed.
    Events {
        /// These.
        events: Vec<Event>,
    },
}

/// Someone who is there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Presence {
    /// Their connection.
    pub connection: u64,
    /// Person; without a name for someone who only looks on.
    pub person: Person,
    /// Role that their link gives.
    pub role: Role,
    /// Place where they are.
    pub at: At,
}

/// Place of a person in the page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct At {
    /// The part of the page, by its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    /// The knob that they edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knob: Option<String>,
    /// A point over a chart, in the chart's data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// The connection that they follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<u64>,
}

/// A point over a chart: in data, not in pixels, as every screen is another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cursor {
    /// The chart, by its id.
    pub chart: String,
    /// Along its width, 0 to 1.
    pub x: f64,
    /// Along its height, 0 to 1.
    pub y: f64,
}

read_by_kind! {
    Start, strict: false
    "room" => Room { room }
    "events" => Events { events }
}

read_fields! {
    Presence, strict: false { connection, person, role, at }
    At, strict: true { view, knob, cursor, follows }
    Cursor, strict: true { chart, x, y }
}

read_by_kind! {
    Tell, strict: false
    "welcome" => Welcome { connection, you, role, model_version, start, people }
    "event" => Event { event }
    "snapshot" => Snapshot { room }
    "refused" => Refused { op, why }
    "present" => Present { presence }
    "gone" => Gone { connection }
    "preview" => Preview { connection, setting }
    "bring" => Bring { connection, at }
    "mistake" => Mistake { detail }
    "ended" => Ended { detail, again, deleted }
}
