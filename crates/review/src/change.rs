//! What can be done in a session.

use serde::Serialize;

use crate::anchor::Anchor;
use crate::json::{
    Read, Tree, deserialize_by_tree, read_by_kind, read_by_name, read_fields, unexpected,
};
use crate::person::Seq;

/// Something to do, or, in an event, what was done.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewChange", deny_unknown_fields))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// The session begins. Only the server does that.
    Create {
        /// Its name.
        name: String,
        /// The working design to begin with.
        link: String,
    },
    /// Gives the session another name.
    Rename {
        /// The name.
        name: String,
    },
    /// Sets knobs of the working design, all in one step.
    Set {
        /// Which, and to what.
        settings: Vec<Setting>,
    },
    /// Makes another design the working one.
    Open {
        /// That design.
        link: String,
    },
    /// Keeps a design as a candidate.
    Pin {
        /// Name of it.
        name: String,
        /// The design; the working one if it is left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        link: Option<String>,
    },
    /// Takes a candidate out of the running. It stays in the record.
    Unpin {
        /// The candidate.
        candidate: Seq,
    },
    /// Suggests a change of knobs.
    Propose {
        /// Which, and to what.
        settings: Vec<Setting>,
        /// Why.
        reason: String,
        /// The design that it was made for; the server writes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        link: Option<String>,
    },
    /// Takes one's own proposal back.
    Withdraw {
        /// The proposal.
        proposal: Seq,
    },
    /// Does what a proposal suggests.
    Accept {
        /// The proposal.
        proposal: Seq,
    },
    /// Turns a proposal down.
    Reject {
        /// The proposal.
        proposal: Seq,
        /// Why.
        reason: String,
    },
    /// Begins a thread.
    Comment {
        /// Subject of the thread.
        anchor: Anchor,
        /// Markdown.
        text: String,
        /// Numbers that were seen; the server writes them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<Said>,
    },
    /// Goes on with a thread.
    Reply {
        /// The thread.
        thread: Seq,
        /// Markdown.
        text: String,
    },
    /// Says that a thread is settled.
    Resolve {
        /// The thread.
        thread: Seq,
    },
    /// Says that it isn't.
    Reopen {
        /// The thread.
        thread: Seq,
    },
    /// Puts a question on the agenda.
    Ask {
        /// Markdown.
        text: String,
    },
    /// Answers a question, which takes it off the agenda.
    Answer {
        /// The question.
        question: Seq,
        /// Markdown.
        text: String,
    },
    /// Puts a question back on the agenda.
    AskAgain {
        /// The question.
        question: Seq,
    },
    /// Decides on the working design.
    Decide {
        /// Outcome of the decision.
        outcome: Outcome,
        /// Why.
        reason: String,
        /// Numbers that were decided on; the server writes them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<Said>,
    },
}

impl Change {
    /// Text that somebody wrote with it: a comment, reply, reason, question or answer.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Comment { text, .. }
            | Self::Reply { text, .. }
            | Self::Ask { text }
            | Self::Answer { text, .. } => Some(text),
            Self::Propose { reason, .. }
            | Self::Reject { reason, .. }
            | Self::Decide { reason, .. } => Some(reason),
            Self::Create { .. }
            | Self::Rename { .. }
            | Self::Set { .. }
            | Self::Open { .. }
            | Self::Pin { .. }
            | Self::Unpin { .. }
            | Self::Withdraw { .. }
            | Self::Accept { .. }
            | Self::Resolve { .. }
            | Self::Reopen { .. }
            | Self::AskAgain { .. } => None,
        }
    }
}

/// A knob and what it is set to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewSetting"))]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The knob's id.
    pub knob: String,
    /// The value as links spell it; none for the preset's.
    pub value: Option<String>,
}

/// A design as somebody saw it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewSaid"))]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// The design.
    pub link: String,
    /// The model that made its numbers.
    pub model_version: String,
    /// The value of what was spoken of, if that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<SaidValue>,
}

/// A value at a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(untagged)]
pub enum SaidValue {
    /// A verdict.
    Flag(bool),
    /// A number in the metric's unit.
    Number(f64),
    /// A knob's value as links spell it.
    Text(String),
}

impl Read for SaidValue {
    fn read(tree: Tree) -> Result<Self, String> {
        match tree {
            Tree::Flag(flag) => Ok(Self::Flag(flag)),
            Tree::Whole(_) | Tree::Real(_) => f64::read(tree).map(Self::Number),
            Tree::Text(text) => Ok(Self::Text(text)),
            Tree::Null | Tree::List(_) | Tree::Object(_) => {
                Err(unexpected("a flag, a number or a text"))
            }
        }
    }
}

deserialize_by_tree!(SaidValue);

/// Outcome of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewOutcome"))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is what will be done.
    Approve,
    /// It isn't.
    Reject,
    /// Not as it is.
    NeedsWork,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 3] = [Self::Approve, Self::Reject, Self::NeedsWork];

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::NeedsWork => "needs_work",
        }
    }

    /// For people: "Approved".
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Approve => "Approved",
            Self::Reject => "Rejected",
            Self::NeedsWork => "Needs work",
        }
    }
}

read_fields! {
    Setting, strict: true { knob, value }
    Said, strict: true { link, model_version, value }
}

read_by_name! {
    Outcome { "approve" => Approve, "reject" => Reject, "needs_work" => NeedsWork }
}

read_by_kind! {
    Change, strict: true
    "create" => Create { name, link }
    "rename" => Rename { name }
    "set" => Set { settings }
    "open" => Open { link }
    "pin" => Pin { name, link }
    "unpin" => Unpin { candidate }
    "propose" => Propose { settings, reason, link }
    "withdraw" => Withdraw { proposal }
    "accept" => Accept { proposal }
    "reject" => Reject { proposal, reason }
    "comment" => Comment { anchor, text, said }
    "reply" => Reply { thread, text }
    "resolve" => Resolve { thread }
    "reopen" => Reopen { thread }
    "ask" => Ask { text }
    "answer" => Answer { question, text }
    "ask_again" => AskAgain { question }
    "decide" => Decide { outcome, reason, on }
}
