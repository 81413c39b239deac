//! Objects whose `kind` says which other names they have, as they are read.
//!
//! What is read is put into one struct that knows every name, and made a variant of afterwards. An
//! enum that serde reads by its tag is first kept in memory as a tree of its own, once more for
//! every enum in it: that took a fifth of the browser's module, and twice the memory for a room.

use serde::Deserialize;

use crate::anchor::Anchor;
use crate::change::{Change, Outcome, Said, Setting};
use crate::event::{Event, Person, Seq};
use crate::refusal::Refusal;
use crate::role::Role;
use crate::room::{ProposalState, Room};
use crate::wire::{At, Presence, Start, Tell};

/// What a kind has to have.
pub(crate) fn need<T>(field: &mut Option<T>, name: &str) -> Result<T, String> {
    field.take().ok_or_else(|| format!("missing field `{name}`"))
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
pub(crate) struct ChangeFields {
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

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StateKind {
    Open,
    Accepted,
    Rejected,
    Withdrawn,
}

/// A [`ProposalState`].
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct StateFields {
    kind: StateKind,
    by: Option<Person>,
    seq: Option<Seq>,
    reason: Option<String>,
}

impl TryFrom<StateFields> for ProposalState {
    type Error = String;

    fn try_from(mut fields: StateFields) -> Result<Self, String> {
        let by = |of: &mut StateFields| need(&mut of.by, "by");
        let seq = |of: &mut StateFields| need(&mut of.seq, "seq");
        let of = &mut fields;
        Ok(match of.kind {
            StateKind::Open => Self::Open,
            StateKind::Accepted => Self::Accepted { by: by(of)?, seq: seq(of)? },
            StateKind::Rejected => Self::Rejected {
                by: by(of)?,
                seq: seq(of)?,
                reason: need(&mut of.reason, "reason")?,
            },
            StateKind::Withdrawn => Self::Withdrawn,
        })
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StartKind {
    Room,
    Events,
}

/// A [`Start`].
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct StartFields {
    kind: StartKind,
    room: Option<Box<Room>>,
    events: Option<Vec<Event>>,
}

impl TryFrom<StartFields> for Start {
    type Error = String;

    fn try_from(mut of: StartFields) -> Result<Self, String> {
        Ok(match of.kind {
            StartKind::Room => Self::Room { room: need(&mut of.room, "room")? },
            StartKind::Events => Self::Events { events: need(&mut of.events, "events")? },
        })
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TellKind {
    Welcome,
    Event,
    Snapshot,
    Refused,
    Present,
    Gone,
    Preview,
    Bring,
    Mistake,
    Ended,
}

/// A [`Tell`].
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct TellFields {
    kind: TellKind,
    connection: Option<u64>,
    you: Option<Person>,
    role: Option<Role>,
    model_version: Option<String>,
    start: Option<Start>,
    people: Option<Vec<Presence>>,
    event: Option<Box<Event>>,
    room: Option<Box<Room>>,
    op: Option<String>,
    why: Option<Refusal>,
    presence: Option<Presence>,
    setting: Option<Setting>,
    at: Option<At>,
    detail: Option<String>,
    again: Option<bool>,
}

impl TryFrom<TellFields> for Tell {
    type Error = String;

    fn try_from(mut fields: TellFields) -> Result<Self, String> {
        let connection = |of: &mut TellFields| need(&mut of.connection, "connection");
        let detail = |of: &mut TellFields| need(&mut of.detail, "detail");
        let of = &mut fields;
        Ok(match of.kind {
            TellKind::Welcome => Self::Welcome {
                connection: connection(of)?,
                you: need(&mut of.you, "you")?,
                role: need(&mut of.role, "role")?,
                model_version: need(&mut of.model_version, "model_version")?,
                start: need(&mut of.start, "start")?,
                people: need(&mut of.people, "people")?,
            },
            TellKind::Event => Self::Event { event: need(&mut of.event, "event")? },
            TellKind::Snapshot => Self::Snapshot { room: need(&mut of.room, "room")? },
            TellKind::Refused => {
                Self::Refused { op: need(&mut of.op, "op")?, why: need(&mut of.why, "why")? }
            }
            TellKind::Present => Self::Present { presence: need(&mut of.presence, "presence")? },
            TellKind::Gone => Self::Gone { connection: connection(of)? },
            TellKind::Preview => {
                Self::Preview { connection: connection(of)?, setting: of.setting.take() }
            }
            TellKind::Bring => {
                Self::Bring { connection: connection(of)?, at: need(&mut of.at, "at")? }
            }
            TellKind::Mistake => Self::Mistake { detail: detail(of)? },
            TellKind::Ended => {
                Self::Ended { detail: detail(of)?, again: need(&mut of.again, "again")? }
            }
        })
    }
}
