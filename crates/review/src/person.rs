//! Persons in a session, and the numbers that its events have.

use serde::Serialize;

use crate::json::read_fields;

/// The number of an event in its session, from 1 on. What an event makes, such as a thread, is
/// called by its number.
pub type Seq = u64;

/// Someone in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewPerson"))]
pub struct Person {
    /// Id of this browser, or of this user of a proxy that knows its users. The server makes it
    /// of a secret, so that nobody can take another's.
    pub id: String,
    /// As they call themselves.
    pub name: String,
    /// Has a proxy vouched for the name?
    #[serde(default)]
    pub is_vouched: bool,
}

read_fields! {
    Person, strict: false { id, name; is_vouched }
}
