//! What comes of a session's events.

use std::collections::{BTreeMap, BTreeSet};

use model::design::link;
use model::design::{Design, KnobId};
use serde::{Serialize, Serializer};

use crate::anchor::Anchor;
use crate::change::{Change, Outcome, Said, Setting};
use crate::event::Event;
use crate::json::{Read, Tree, read_by_kind, read_fields};
use crate::person::{Person, Seq};

/// State of a session after its events up to one of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewRoom"))]
pub struct Room {
    /// The number of the last event; 0 before the first.
    pub seq: Seq,
    /// The session's name.
    pub name: String,
    /// When it began, in milliseconds since 1970.
    pub began_at_millis: u64,
    /// The working design. It may break rules, as it may while one person works on it.
    #[serde(serialize_with = "write_design")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub design: Design,
    /// Last edit of each knob, by its id, since the working design was opened.
    pub edited: BTreeMap<String, Edited>,
    /// Designs that were kept, in order.
    pub candidates: Vec<Candidate>,
    /// Suggested changes, in order.
    pub proposals: Vec<Proposal>,
    /// Discussions, in order.
    pub threads: Vec<Thread>,
    /// The agenda, in order.
    pub questions: Vec<Question>,
    /// Decisions, in order.
    pub decisions: Vec<Decision>,
}

/// An edit: its author and time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewEdited"))]
pub struct Edited {
    /// Author.
    pub by: Person,
    /// The event.
    pub seq: Seq,
}

/// A design that was kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewCandidate"))]
pub struct Candidate {
    /// The event that made it.
    pub seq: Seq,
    /// When.
    pub at_millis: u64,
    /// Person who kept it.
    pub by: Person,
    /// Name of it.
    pub name: String,
    /// The design.
    pub link: String,
    /// Withdrawal from the running, if someone took it out.
    pub out: Option<Edited>,
}

/// A suggested change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewProposal"))]
pub struct Proposal {
    /// The event that made it.
    pub seq: Seq,
    /// When.
    pub at_millis: u64,
    /// Person who suggests it.
    pub by: Person,
    /// Which knobs, and to what.
    pub settings: Vec<Setting>,
    /// Why.
    pub reason: String,
    /// The design that it was made for.
    pub link: String,
    /// State of the proposal.
    pub state: ProposalState,
}

/// State of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewProposalState"))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProposalState {
    /// Nothing yet.
    Open,
    /// It was done.
    Accepted {
        /// Person who decided so.
        by: Person,
        /// The event.
        seq: Seq,
    },
    /// It was turned down.
    Rejected {
        /// Person who decided so.
        by: Person,
        /// The event.
        seq: Seq,
        /// Why.
        reason: String,
    },
    /// Its author took it back.
    Withdrawn,
}

/// Something that somebody wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewNote"))]
pub struct Note {
    /// The event.
    pub seq: Seq,
    /// When.
    pub at_millis: u64,
    /// Author.
    pub by: Person,
    /// Markdown.
    pub text: String,
}

/// A discussion.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewThread"))]
pub struct Thread {
    /// Subject of the discussion.
    pub anchor: Anchor,
    /// Numbers that were seen when it began.
    pub said: Option<Said>,
    /// Notes, the first one first.
    pub notes: Vec<Note>,
    /// Person who settled it, and when; none while it is open.
    pub resolved: Option<Edited>,
}

impl Thread {
    /// The event that began it, which names it.
    #[must_use]
    pub fn seq(&self) -> Seq {
        self.notes.first().map_or(0, |note| note.seq)
    }
}

/// A question of the agenda.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewQuestion"))]
pub struct Question {
    /// The question.
    pub asked: Note,
    /// Answers, the last one last.
    pub answers: Vec<Note>,
    /// Whether it is off the agenda.
    pub is_answered: bool,
}

/// A decision. It is never changed; a later one may say otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewDecision"))]
pub struct Decision {
    /// The event.
    pub seq: Seq,
    /// When.
    pub at_millis: u64,
    /// Person who decided.
    pub by: Person,
    /// Outcome of the decision.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
    /// Numbers that were decided on.
    pub on: Said,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            seq: 0,
            name: String::new(),
            began_at_millis: 0,
            design: link::salvage("").0,
            edited: BTreeMap::new(),
            candidates: vec![],
            proposals: vec![],
            threads: vec![],
            questions: vec![],
            decisions: vec![],
        }
    }
}

impl Room {
    /// The room after all of these events.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut room = Self::default();
        events.into_iter().for_each(|event| room.apply(event));
        room
    }

    /// Takes the next event.
    ///
    /// What an admitted event speaks of is always there; one that speaks of something else changes
    /// nothing but the number of the last event.
    pub fn apply(&mut self, event: &Event) {
        self.seq = event.seq;
        let edited = Edited { by: event.by.clone(), seq: event.seq };
        match &event.change {
            Change::Create { name, link } => {
                self.name.clone_from(name);
                self.began_at_millis = event.at_millis;
                self.open(link);
            }
            Change::Rename { name } => self.name.clone_from(name),
            Change::Set { settings } => self.set(settings, &edited),
            Change::Open { link } => self.open(link),
            Change::Pin { name, link } => self.pin(event, name, link.as_deref()),
            Change::Unpin { candidate } => {
                let mut candidates = self.candidates.iter_mut();
                if let Some(found) = candidates.find(|found| found.seq == *candidate) {
                    found.out = Some(edited);
                }
            }
            Change::Propose { settings, reason, link } => {
                self.propose(event, settings, reason, link.as_deref());
            }
            Change::Withdraw { proposal } => self.conclude(*proposal, ProposalState::Withdrawn),
            Change::Accept { proposal } => {
                self.conclude(
                    *proposal,
                    ProposalState::Accepted { by: edited.by.clone(), seq: event.seq },
                );
                self.set(&self.settings_of(*proposal), &edited);
            }
            Change::Reject { proposal, reason } => {
                let (by, reason) = (edited.by, reason.clone());
                self.conclude(*proposal, ProposalState::Rejected { by, seq: event.seq, reason });
            }
            Change::Comment { anchor, text, said } => self.threads.push(Thread {
                anchor: anchor.clone(),
                said: said.clone(),
                notes: vec![note(event, text)],
                resolved: None,
            }),
            Change::Reply { thread, text } => {
                let note = note(event, text);
                self.in_thread(*thread, |found| found.notes.push(note));
            }
            Change::Resolve { thread } => {
                self.in_thread(*thread, |found| found.resolved = Some(edited));
            }
            Change::Reopen { thread } => self.in_thread(*thread, |found| found.resolved = None),
            Change::Ask { text } => {
                let asked = note(event, text);
                self.questions.push(Question { asked, answers: vec![], is_answered: false });
            }
            Change::Answer { question, text } => self.answer(*question, Some(note(event, text))),
            Change::AskAgain { question } => self.answer(*question, None),
            Change::Decide { outcome, reason, on } => {
                self.decide(event, *outcome, reason, on.as_ref());
            }
        }
    }

    fn pin(&mut self, event: &Event, name: &str, link: Option<&str>) {
        self.candidates.push(Candidate {
            seq: event.seq,
            at_millis: event.at_millis,
            by: event.by.clone(),
            name: name.to_owned(),
            link: link.map_or_else(|| self.link(), str::to_owned),
            out: None,
        });
    }

    fn propose(&mut self, event: &Event, settings: &[Setting], reason: &str, link: Option<&str>) {
        self.proposals.push(Proposal {
            seq: event.seq,
            at_millis: event.at_millis,
            by: event.by.clone(),
            settings: settings.to_vec(),
            reason: reason.to_owned(),
            link: link.map_or_else(|| self.link(), str::to_owned),
            state: ProposalState::Open,
        });
    }

    fn conclude(&mut self, proposal: Seq, state: ProposalState) {
        if let Some(found) = self.proposals.iter_mut().find(|found| found.seq == proposal) {
            found.state = state;
        }
    }

    fn settings_of(&self, proposal: Seq) -> Vec<Setting> {
        let found = self.proposals.iter().find(|found| found.seq == proposal);
        found.map(|found| found.settings.clone()).unwrap_or_default()
    }

    fn in_thread(&mut self, thread: Seq, act: impl FnOnce(&mut Thread)) {
        if let Some(found) = self.threads.iter_mut().find(|found| found.seq() == thread) {
            act(found);
        }
    }

    fn answer(&mut self, question: Seq, answer: Option<Note>) {
        let found = self.questions.iter_mut().find(|found| found.asked.seq == question);
        if let Some(found) = found {
            found.is_answered = answer.is_some();
            found.answers.extend(answer);
        }
    }

    fn decide(&mut self, event: &Event, outcome: Outcome, reason: &str, on: Option<&Said>) {
        self.decisions.push(Decision {
            seq: event.seq,
            at_millis: event.at_millis,
            by: event.by.clone(),
            outcome,
            reason: reason.to_owned(),
            on: on.cloned().unwrap_or_else(|| self.seen(None)),
        });
    }

    fn open(&mut self, link: &str) {
        // What a later version of the model no longer knows is left at the preset's value.
        self.design = link::salvage(link).0;
        self.edited.clear();
    }

    /// Sets knobs; what a later version of the model no longer knows stays as it is.
    fn set(&mut self, settings: &[Setting], edited: &Edited) {
        for id in apply_settings(&mut self.design, settings) {
            self.edited.insert(id.id(), edited.clone());
        }
    }

    /// The names of all whose doing is in the room, each once.
    #[must_use]
    pub fn names(&self) -> BTreeSet<String> {
        fn of(note: &Note) -> &str {
            &note.by.name
        }
        let edits = self.edited.values().map(|edited| edited.by.name.as_str());
        let candidates = self.candidates.iter().map(|found| found.by.name.as_str());
        let proposals = self.proposals.iter().map(|found| found.by.name.as_str());
        let threads = self.threads.iter().flat_map(|thread| &thread.notes).map(of);
        let questions = self.questions.iter();
        let asked = questions.flat_map(|it| std::iter::once(&it.asked).chain(&it.answers)).map(of);
        let decisions = self.decisions.iter().map(|decision| decision.by.name.as_str());
        let all = edits.chain(candidates).chain(proposals).chain(threads).chain(asked);
        let mut names = BTreeSet::new();
        names.extend(all.chain(decisions).filter(|name| !name.is_empty()).map(str::to_owned));
        names
    }

    /// The link of the working design.
    #[must_use]
    pub fn link(&self) -> String {
        link::encode(&self.design)
    }
}

/// Sets knobs of a design: those that it knows, which are returned.
pub(crate) fn apply_settings(design: &mut Design, settings: &[Setting]) -> Vec<KnobId> {
    let mut known = Vec::with_capacity(settings.len());
    for setting in settings {
        let Ok(id) = KnobId::find(&setting.knob) else { continue };
        match &setting.value {
            Some(value) if design.set_text(id, value).is_err() => continue,
            Some(_) => {}
            None => design.reset(id),
        }
        known.push(id);
    }
    known
}

fn note(event: &Event, text: &str) -> Note {
    let by = event.by.clone();
    Note { seq: event.seq, at_millis: event.at_millis, by, text: text.to_owned() }
}

fn write_design<S: Serializer>(design: &Design, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&link::encode(design))
}

impl Read for Design {
    fn read(tree: Tree) -> Result<Self, String> {
        String::read(tree).map(|link| link::salvage(&link).0)
    }
}

read_fields! {
    Room, strict: false {
        seq, name, began_at_millis, design, edited, candidates, proposals, threads, questions,
        decisions
    }
    Edited, strict: false { by, seq }
    Candidate, strict: false { seq, at_millis, by, name, link, out }
    Proposal, strict: false { seq, at_millis, by, settings, reason, link, state }
    Note, strict: false { seq, at_millis, by, text }
    Thread, strict: false { anchor, said, notes, resolved }
    Question, strict: false { asked, answers, is_answered }
    Decision, strict: false { seq, at_millis, by, outcome, reason, on }
}

read_by_kind! {
    ProposalState, strict: false
    "open" => Open {}
    "accepted" => Accepted { by, seq }
    "rejected" => Rejected { by, seq, reason }
    "withdrawn" => Withdrawn {}
}
