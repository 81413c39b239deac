//! Reasons for not expressing a run.

use model::ground::knob::KnobError;

/// A reason, in general and in particular.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The reason without what is particular to one row, so that rows can be counted by it.
    pub(crate) reason: String,
    /// Detail of this row; may be empty.
    pub(crate) detail: String,
    /// No knob expresses the architecture: the row doesn't count as one that could be expressed.
    pub(crate) inexpressible: bool,
}

impl Refusal {
    pub(crate) fn new(reason: &str, detail: &str) -> Self {
        Self { reason: reason.to_owned(), detail: detail.to_owned(), inexpressible: false }
    }

    /// An architecture that no knob expresses.
    pub(crate) fn architecture(reason: &str) -> Self {
        let reason = format!("no knob expresses its architecture: {reason}");
        Self { reason, detail: String::new(), inexpressible: true }
    }

    /// A step of another kind of training: no row that could be expressed either.
    pub(crate) fn other_training(reason: &str) -> Self {
        Self { reason: reason.to_owned(), detail: String::new(), inexpressible: true }
    }

    /// An architecture that isn't known.
    pub(crate) fn unknown(detail: &str) -> Self {
        Self::new("its architecture isn't known", detail)
    }

    /// Something that the source leaves open and that can't be assumed.
    pub(crate) fn open(reason: &str) -> Self {
        Self::new(reason, "")
    }

    /// A value that its knob doesn't take.
    pub(crate) fn knob(error: &KnobError) -> Self {
        Self::new("a value is out of a knob's range", &error.detail)
    }
}

impl core::fmt::Display for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.reason)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}
