//! Why a change isn't taken.

use serde::Serialize;

use crate::json::{read_by_name, read_fields};

/// Why a change isn't taken, for the person who asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Kind of the reason.
    pub cause: Cause,
    /// Reason, in a sentence.
    pub detail: String,
    /// Values that would be accepted, closest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
}

/// The kinds of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The link doesn't allow it.
    Role,
    /// Its subject doesn't exist.
    Missing,
    /// It is invalid.
    Invalid,
    /// Someone else was first, such as with the answer to a proposal.
    Settled,
    /// The session holds as much of it as it can.
    Full,
}

impl Refusal {
    pub(crate) fn new(cause: Cause, detail: impl Into<String>) -> Self {
        Self { cause, detail: detail.into(), nearest: vec![] }
    }

    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(Cause::Invalid, detail)
    }
}

impl From<model::ground::knob::KnobError> for Refusal {
    fn from(error: model::ground::knob::KnobError) -> Self {
        Self { cause: Cause::Invalid, detail: error.detail, nearest: error.nearest }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Refusal {}

read_fields! {
    Refusal, strict: false { cause, detail; nearest }
}

read_by_name! {
    Cause {
        "role" => Role, "missing" => Missing, "invalid" => Invalid, "settled" => Settled,
        "full" => Full,
    }
}
