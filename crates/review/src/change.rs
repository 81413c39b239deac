//! What can be done in a session.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::anchor::Anchor;
use crate::fields::need;
use crate::person::Seq;

/// Something to do, or, in an event, what was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", try_from = "ChangeFields")]
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
        /// What to call it.
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
        /// What it is about.
        anchor: Anchor,
        /// Markdown.
        text: String,
        /// What was seen; the server writes it.
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
        /// How.
        outcome: Outcome,
        /// Why.
        reason: String,
        /// What was decided on; the server writes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<Said>,
    },
}

impl Change {
    /// What somebody wrote with it: a comment, reply, reason, question or answer.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The knob's id.
    pub knob: String,
    /// The value as links spell it; none for the preset's.
    pub value: Option<String>,
}

/// A design as somebody saw it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[serde(untagged)]
pub enum SaidValue {
    /// A verdict.
    Flag(bool),
    /// A number in the metric's unit.
    Number(f64),
    /// A knob's value as links spell it.
    Text(String),
}

impl<'de> Deserialize<'de> for SaidValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadValue)
    }
}

struct ReadValue;

impl Visitor<'_> for ReadValue {
    type Value = SaidValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a flag, a number or a text")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<SaidValue, E> {
        Ok(SaidValue::Flag(flag))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<SaidValue, E> {
        Ok(SaidValue::Number(number as f64))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<SaidValue, E> {
        Ok(SaidValue::Number(number as f64))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<SaidValue, E> {
        Ok(SaidValue::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<SaidValue, E> {
        Ok(SaidValue::Text(text.to_owned()))
    }
}

/// How a decision went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ChangeKind {
    Create,
    Rename,
    Set,
    Open,
    Pin,
    Unpin,
    Propose,
    Withdraw,
    Accept,
    Reject,
    Comment,
    Reply,
    Resolve,
    Reopen,
    Ask,
    Answer,
    AskAgain,
    Decide,
}

/// A [`Change`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeFields {
    kind: ChangeKind,
    name: Option<String>,
    link: Option<String>,
    settings: Option<Vec<Setting>>,
    candidate: Option<Seq>,
    reason: Option<String>,
    proposal: Option<Seq>,
    anchor: Option<Anchor>,
    text: Option<String>,
    said: Option<Said>,
    thread: Option<Seq>,
    question: Option<Seq>,
    outcome: Option<Outcome>,
    on: Option<Said>,
}

impl ChangeFields {
    fn change(&mut self) -> Result<Change, String> {
        let name = |of: &mut Self| need(&mut of.name, "name");
        let link = |of: &mut Self| need(&mut of.link, "link");
        let settings = |of: &mut Self| need(&mut of.settings, "settings");
        let reason = |of: &mut Self| need(&mut of.reason, "reason");
        let proposal = |of: &mut Self| need(&mut of.proposal, "proposal");
        let text = |of: &mut Self| need(&mut of.text, "text");
        let thread = |of: &mut Self| need(&mut of.thread, "thread");
        let question = |of: &mut Self| need(&mut of.question, "question");
        Ok(match self.kind {
            ChangeKind::Create => Change::Create { name: name(self)?, link: link(self)? },
            ChangeKind::Rename => Change::Rename { name: name(self)? },
            ChangeKind::Set => Change::Set { settings: settings(self)? },
            ChangeKind::Open => Change::Open { link: link(self)? },
            ChangeKind::Pin => Change::Pin { name: name(self)?, link: self.link.take() },
            ChangeKind::Unpin => {
                Change::Unpin { candidate: need(&mut self.candidate, "candidate")? }
            }
            ChangeKind::Propose => {
                let (settings, reason) = (settings(self)?, reason(self)?);
                Change::Propose { settings, reason, link: self.link.take() }
            }
            ChangeKind::Withdraw => Change::Withdraw { proposal: proposal(self)? },
            ChangeKind::Accept => Change::Accept { proposal: proposal(self)? },
            ChangeKind::Reject => {
                Change::Reject { proposal: proposal(self)?, reason: reason(self)? }
            }
            ChangeKind::Comment => {
                let anchor = need(&mut self.anchor, "anchor")?;
                Change::Comment { anchor, text: text(self)?, said: self.said.take() }
            }
            ChangeKind::Reply => Change::Reply { thread: thread(self)?, text: text(self)? },
            ChangeKind::Resolve => Change::Resolve { thread: thread(self)? },
            ChangeKind::Reopen => Change::Reopen { thread: thread(self)? },
            ChangeKind::Ask => Change::Ask { text: text(self)? },
            ChangeKind::Answer => Change::Answer { question: question(self)?, text: text(self)? },
            ChangeKind::AskAgain => Change::AskAgain { question: question(self)? },
            ChangeKind::Decide => {
                let outcome = need(&mut self.outcome, "outcome")?;
                Change::Decide { outcome, reason: reason(self)?, on: self.on.take() }
            }
        })
    }

    /// The first field that nobody took: a change of that kind has no such.
    fn left(&self) -> Option<&'static str> {
        let left = [
            ("name", self.name.is_some()),
            ("link", self.link.is_some()),
            ("settings", self.settings.is_some()),
            ("candidate", self.candidate.is_some()),
            ("reason", self.reason.is_some()),
            ("proposal", self.proposal.is_some()),
            ("anchor", self.anchor.is_some()),
            ("text", self.text.is_some()),
            ("said", self.said.is_some()),
            ("thread", self.thread.is_some()),
            ("question", self.question.is_some()),
            ("outcome", self.outcome.is_some()),
            ("on", self.on.is_some()),
        ];
        left.into_iter().find(|(_, is_left)| *is_left).map(|(name, _)| name)
    }
}

impl TryFrom<ChangeFields> for Change {
    type Error = String;

    fn try_from(mut fields: ChangeFields) -> Result<Self, String> {
        let change = fields.change()?;
        match fields.left() {
            None => Ok(change),
            Some(name) => Err(format!("unknown field `{name}` of a change of this kind")),
        }
    }
}
