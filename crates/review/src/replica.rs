//! A client's copy of a room: its own edits at once, everyone's in the server's order.

use std::collections::VecDeque;

use model::design::link;
use model::design::{Design, KnobId};
use serde::Serialize;

use crate::change::{Change, Setting};
use crate::event::Event;
use crate::json::read_fields;
use crate::person::{Person, Seq};
use crate::room::{Room, apply_settings};

/// Steps that can be undone, at most.
const MAX_STEPS: usize = 200;

/// A client's copy of a room.
#[derive(Clone, Debug)]
pub struct Replica {
    confirmed: Room,
    /// Name of the last event, if it came as an event.
    last_op: Option<String>,
    /// Changes that were sent and aren't confirmed, oldest first.
    pending: VecDeque<Unsent>,
    /// Prefix of the names of this client's changes; a number follows.
    prefix: String,
    asked: u64,
    undo: Vec<Step>,
    redo: Vec<Step>,
}

/// A change that isn't confirmed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unsent {
    /// Name that this client gives it.
    pub op: String,
    /// The change.
    pub change: Change,
}

read_fields! {
    Unsent, strict: false { op, change }
}

/// An edit of the working design by this client, with the way back.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Set { before: Vec<Setting>, after: Vec<Setting> },
    Open { before: String, after: String },
}

/// Outcome of an event that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was the next one.
    New,
    /// It was there already.
    Known,
    /// Some before it are missing: ask for what comes after [`Replica::seq`].
    Missed,
}

/// Outcome of undoing or redoing.
#[derive(Clone, Debug, PartialEq)]
pub enum Undo {
    /// Ask for this.
    Change(Change),
    /// There is no own edit left.
    Nothing,
    /// Someone else has changed the same since, which stays: who, if that is known.
    Overwritten(Option<Person>),
}

impl Replica {
    /// A copy of a room. The prefix is this page's own: no other page, now or later, has the same.
    #[must_use]
    pub fn new(room: Room, prefix: impl Into<String>) -> Self {
        Self {
            confirmed: room,
            last_op: None,
            pending: VecDeque::new(),
            prefix: prefix.into(),
            asked: 0,
            undo: vec![],
            redo: vec![],
        }
    }

    /// The room as the server has confirmed it.
    #[must_use]
    pub const fn room(&self) -> &Room {
        &self.confirmed
    }

    /// The last event that is here.
    #[must_use]
    pub const fn seq(&self) -> Seq {
        self.confirmed.seq
    }

    /// Name of the last event; `None` if only the room is known.
    #[must_use]
    pub fn last_op(&self) -> Option<&str> {
        self.last_op.as_deref()
    }

    /// Number of changes that aren't confirmed.
    #[must_use]
    pub fn unconfirmed(&self) -> usize {
        self.pending.len()
    }

    /// The working design with this client's edits on top, whether confirmed or not.
    #[must_use]
    pub fn design(&self) -> Design {
        let mut design = self.confirmed.design.clone();
        for pending in &self.pending {
            if let Change::Open { link } = &pending.change {
                design = link::salvage(link).0;
            } else if let Change::Set { settings } = &pending.change {
                apply_settings(&mut design, settings);
            } else if let Change::Accept { proposal } = &pending.change {
                let mut proposals = self.confirmed.proposals.iter();
                if let Some(found) = proposals.find(|found| found.seq == *proposal) {
                    apply_settings(&mut design, &found.settings);
                }
            }
        }
        design
    }

    /// Asks for a change, which counts here at once: what to send is in [`Replica::unsent`], too.
    pub fn ask(&mut self, change: Change) -> String {
        if let Some(step) = self.step(&change) {
            self.undo.push(step);
            self.redo.clear();
            let surplus = self.undo.len().saturating_sub(MAX_STEPS);
            self.undo.drain(..surplus);
        }
        self.send(change)
    }

    fn send(&mut self, change: Change) -> String {
        self.asked += 1;
        let op = format!("{}-{}", self.prefix, self.asked);
        self.pending.push_back(Unsent { op: op.clone(), change });
        op
    }

    /// Changes that aren't confirmed, oldest first: after a lost connection all of them are sent
    /// again, by the same names.
    pub fn unsent(&self) -> impl Iterator<Item = &Unsent> {
        self.pending.iter()
    }

    /// Takes up what an earlier copy of this page couldn't send. It is sent by the names that it
    /// had: what the server has of it already happens no second time.
    pub fn resume(&mut self, unsent: Vec<Unsent>) {
        for earlier in unsent.into_iter().rev() {
            if self.pending.iter().all(|pending| pending.op != earlier.op) {
                self.pending.push_front(earlier);
            }
        }
    }

    /// Takes an event from the server.
    pub fn take(&mut self, event: &Event) -> Taken {
        if event.seq <= self.confirmed.seq {
            // The answer to something that was sent twice.
            self.forget_pending(&event.op);
            return Taken::Known;
        }
        if event.seq > self.confirmed.seq + 1 {
            return Taken::Missed;
        }
        self.confirmed.apply(event);
        self.last_op = Some(event.op.clone());
        self.forget_pending(&event.op);
        Taken::New
    }

    /// Takes the whole room anew. What it confirms of this client's changes isn't said, so they are
    /// sent again; the server knows them by their names.
    pub fn restart(&mut self, room: Room) {
        // A late snapshot of what has been overtaken would undo confirmed events.
        if room.seq >= self.confirmed.seq {
            self.confirmed = room;
            self.last_op = None;
        }
    }

    /// Takes the room of a server whose log is another one than what was seen here: its store was
    /// brought back from an earlier copy. What isn't confirmed stays; nothing else does, the steps
    /// to undo included.
    pub fn begin_anew(&mut self, room: Room) {
        self.confirmed = room;
        self.last_op = None;
        self.undo.clear();
        self.redo.clear();
    }

    /// The server doesn't take a change: it is taken back here.
    pub fn refuse(&mut self, op: &str) -> Option<Change> {
        let place = self.pending.iter().position(|pending| pending.op == op)?;
        self.pending.remove(place).map(|pending| pending.change)
    }

    fn forget_pending(&mut self, op: &str) {
        self.pending.retain(|pending| pending.op != op);
    }

    /// Undoes this client's last edit, as far as nobody else has changed the same since.
    pub fn undo(&mut self) -> Undo {
        let Some(step) = self.undo.pop() else { return Undo::Nothing };
        let (change, back) = self.back(&step);
        self.redo.extend(back);
        self.turn(change, &step)
    }

    /// Redoes the edit that was undone last.
    pub fn redo(&mut self) -> Undo {
        let Some(step) = self.redo.pop() else { return Undo::Nothing };
        let (change, back) = self.back(&step);
        self.undo.extend(back);
        self.turn(change, &step)
    }

    /// Whether there is an own edit to undo.
    #[must_use]
    pub fn can_undo(&self) -> bool {
        !self.undo.is_empty()
    }

    /// Whether there is an undone edit to redo.
    #[must_use]
    pub fn can_redo(&self) -> bool {
        !self.redo.is_empty()
    }

    fn turn(&mut self, change: Option<Change>, step: &Step) -> Undo {
        match change {
            Some(change) => {
                self.send(change.clone());
                Undo::Change(change)
            }
            None => Undo::Overwritten(self.overwriter(step)),
        }
    }

    /// Person who last set the knobs that a step set, if that is known.
    fn overwriter(&self, step: &Step) -> Option<Person> {
        let Step::Set { after, .. } = step else { return None };
        let edited = after.iter().find_map(|setting| self.confirmed.edited.get(&setting.knob))?;
        Some(edited.by.clone())
    }

    /// Step of an edit, with its way back; `None` if the change isn't an edit of the working
    /// design.
    fn step(&self, change: &Change) -> Option<Step> {
        let design = self.design();
        if let Change::Set { settings } = change {
            let mut edited = design.clone();
            let ids = apply_settings(&mut edited, settings);
            let of = |design: &Design| ids.iter().map(|id| setting(design, *id)).collect();
            return Some(Step::Set { before: of(&design), after: of(&edited) });
        }
        let Change::Open { link } = change else { return None };
        Some(Step::Open { before: link::encode(&design), after: link.clone() })
    }

    /// The change that takes a step back, and the step that takes that back.
    fn back(&self, step: &Step) -> (Option<Change>, Option<Step>) {
        let design = self.design();
        match step {
            Step::Set { before, after } => {
                let pairs = before.iter().zip(after);
                let own = pairs.filter(|(_, after)| is_so(&design, after));
                let (before, after): (Vec<_>, Vec<_>) =
                    own.map(|(before, after)| (before.clone(), after.clone())).unzip();
                if before.is_empty() {
                    return (None, None);
                }
                let step = Step::Set { before: after, after: before.clone() };
                (Some(Change::Set { settings: before }), Some(step))
            }
            Step::Open { before, after } => {
                if link::salvage(after).0 != design {
                    return (None, None);
                }
                let step = Step::Open { before: after.clone(), after: before.clone() };
                (Some(Change::Open { link: before.clone() }), Some(step))
            }
        }
    }
}

fn setting(design: &Design, id: KnobId) -> Setting {
    Setting { knob: id.id(), value: Some(design.get(id).to_string()) }
}

fn is_so(design: &Design, wanted: &Setting) -> bool {
    KnobId::find(&wanted.knob).is_ok_and(|id| setting(design, id).value == wanted.value)
}
