//! Which changes are taken.

use model::design::link;
use model::design::{Design, KnobId};
use model::metric::{MetricAddress, MetricPart};

use crate::anchor::Anchor;
use crate::change::{Change, Setting};
use crate::person::{Person, Seq};
use crate::refusal::{Cause, Refusal};
use crate::role::Role;
use crate::room::{Proposal, ProposalState, Question, Room, Thread};
use crate::text::{clean_name, clean_text};

/// Notes of all threads of a session, at most: all of them are sent to whoever comes in.
const MAX_NOTES: usize = 10_000;
/// Candidates, proposals, questions, their answers, or decisions of a session, at most.
const MAX_ENTRIES: usize = 1_000;
/// Bytes of what people wrote in a session, at most.
const MAX_TEXT_BYTES: usize = 16 << 20;

impl Room {
    /// The change as it will be done, if a person of that role may do it now.
    ///
    /// Text is cleaned, and what the server knows better than the client is written by it: the
    /// design and value that a comment, proposal or decision was made at.
    ///
    /// # Errors
    /// Why it isn't done.
    pub fn admit(&self, role: Role, by: &Person, asked: Change) -> Result<Change, Refusal> {
        let needed = needed(&asked);
        if role < needed {
            return Err(Refusal::new(Cause::Role, role.refusal(needed)));
        }
        let change = match asked {
            Change::Create { .. } => return Err(Refusal::invalid("a session begins once")),
            Change::Rename { name } => Change::Rename { name: clean_name(&name)? },
            Change::Set { settings } => Change::Set { settings: self.settings(&settings)? },
            Change::Open { link } => Change::Open { link: design_link(&link)? },
            Change::Pin { name, link } => self.admit_pin(&name, link)?,
            Change::Unpin { candidate } => self.admit_unpin(candidate)?,
            Change::Propose { settings, reason, .. } => self.admit_proposal(&settings, &reason)?,
            Change::Withdraw { proposal } => self.admit_withdrawal(by, proposal)?,
            Change::Accept { proposal } => {
                self.open_proposal(proposal)?;
                Change::Accept { proposal }
            }
            Change::Reject { proposal, reason } => {
                self.open_proposal(proposal)?;
                Change::Reject { proposal, reason: clean_text(&reason)? }
            }
            Change::Comment { anchor, text, .. } => self.admit_comment(anchor, &text)?,
            Change::Reply { thread, text } => {
                self.room_for_notes()?;
                self.thread(thread)?;
                Change::Reply { thread, text: clean_text(&text)? }
            }
            Change::Resolve { thread } => match self.thread(thread)?.resolved {
                Some(_) => return Err(settled("the thread is resolved already")),
                None => Change::Resolve { thread },
            },
            Change::Reopen { thread } => match self.thread(thread)?.resolved {
                None => return Err(settled("the thread is open already")),
                Some(_) => Change::Reopen { thread },
            },
            Change::Ask { text } => {
                room_for(self.questions.len(), "questions")?;
                Change::Ask { text: clean_text(&text)? }
            }
            Change::Answer { question, text } => {
                self.question(question)?;
                let answers = self.questions.iter().map(|question| question.answers.len()).sum();
                room_for(answers, "answers")?;
                Change::Answer { question, text: clean_text(&text)? }
            }
            Change::AskAgain { question } => {
                if !self.question(question)?.is_answered {
                    return Err(settled("the question is on the agenda already"));
                }
                Change::AskAgain { question }
            }
            Change::Decide { outcome, reason, .. } => {
                room_for(self.decisions.len(), "decisions")?;
                let on = Some(self.seen(None));
                Change::Decide { outcome, reason: clean_text(&reason)?, on }
            }
        };
        if change.text().is_some() {
            self.room_for_text()?;
        }
        Ok(change)
    }

    fn admit_pin(&self, name: &str, link: Option<String>) -> Result<Change, Refusal> {
        room_for(self.candidates.len(), "candidates")?;
        let link = link.map_or_else(|| Ok(self.link()), |link| design_link(&link))?;
        Ok(Change::Pin { name: clean_name(name)?, link: Some(link) })
    }

    fn admit_unpin(&self, candidate: Seq) -> Result<Change, Refusal> {
        let found = self.candidates.iter().find(|found| found.seq == candidate);
        let found = found.ok_or_else(|| missing("candidate", candidate))?;
        if found.out.is_some() {
            return Err(settled("the candidate is out of the running already"));
        }
        Ok(Change::Unpin { candidate })
    }

    fn admit_proposal(&self, settings: &[Setting], reason: &str) -> Result<Change, Refusal> {
        room_for(self.proposals.len(), "proposals")?;
        let (settings, reason) = (self.settings(settings)?, clean_text(reason)?);
        Ok(Change::Propose { settings, reason, link: Some(self.link()) })
    }

    fn admit_withdrawal(&self, by: &Person, proposal: Seq) -> Result<Change, Refusal> {
        if self.open_proposal(proposal)?.by.id == by.id {
            return Ok(Change::Withdraw { proposal });
        }
        let detail = "a proposal is taken back by the one who made it";
        Err(Refusal::new(Cause::Role, detail))
    }

    fn admit_comment(&self, anchor: Anchor, text: &str) -> Result<Change, Refusal> {
        self.room_for_notes()?;
        self.check_anchor(&anchor)?;
        let said = Some(self.seen(Some(&anchor)));
        Ok(Change::Comment { anchor, text: clean_text(text)?, said })
    }

    fn room_for_text(&self) -> Result<(), Refusal> {
        let notes = self.threads.iter().flat_map(|thread| &thread.notes);
        let answers = self.questions.iter().flat_map(|question| &question.answers);
        let asked = self.questions.iter().map(|question| &question.asked);
        let texts = notes.chain(answers).chain(asked).map(|note| &note.text);
        let reasons = self.proposals.iter().map(|proposal| &proposal.reason);
        let reasons = reasons.chain(self.decisions.iter().map(|decision| &decision.reason));
        if texts.chain(reasons).map(String::len).sum::<usize>() < MAX_TEXT_BYTES {
            return Ok(());
        }
        let most = MAX_TEXT_BYTES >> 20;
        Err(Refusal::new(Cause::Full, format!("a session holds at most {most} MiB of text")))
    }

    fn room_for_notes(&self) -> Result<(), Refusal> {
        let notes: usize = self.threads.iter().map(|thread| thread.notes.len()).sum();
        if notes < MAX_NOTES {
            return Ok(());
        }
        Err(Refusal::new(Cause::Full, format!("a session holds at most {MAX_NOTES} comments")))
    }

    /// Settings by the knobs' full names, each of which the working design takes.
    fn settings(&self, settings: &[Setting]) -> Result<Vec<Setting>, Refusal> {
        if settings.is_empty() {
            return Err(Refusal::invalid("no knob is named"));
        }
        if settings.len() > KnobId::ALL.len() {
            return Err(Refusal::invalid("more knobs are named than there are"));
        }
        let mut design: Design = self.design.clone();
        let check = |setting: &Setting| {
            let id = KnobId::find(&setting.knob)?;
            if let Some(value) = &setting.value {
                design.set_text(id, value)?;
            }
            let value = setting.value.as_ref().map(|_| design.get(id).to_string());
            Ok(Setting { knob: id.id(), value })
        };
        settings.iter().map(check).collect()
    }

    fn check_anchor(&self, anchor: &Anchor) -> Result<(), Refusal> {
        match anchor {
            Anchor::Candidate(seq) => {
                let found = self.candidates.iter().any(|found| found.seq == *seq);
                found.then_some(()).ok_or_else(|| missing("candidate", *seq))
            }
            Anchor::Proposal(seq) => self.proposal(*seq).map(|_| ()),
            Anchor::Stage(stage) => self.check_stage(*stage, Anchor::Stage),
            Anchor::Metric(address) => match address.part {
                MetricPart::Stage(stage) => self.check_stage(stage, |last| {
                    Anchor::Metric(MetricAddress { part: MetricPart::Stage(last), ..*address })
                }),
                MetricPart::Whole | MetricPart::Axis(..) => Ok(()),
            },
            Anchor::Design | Anchor::Served(_) | Anchor::Knob(_) | Anchor::SweepRow { .. } => {
                Ok(())
            }
        }
    }

    /// Checks that the working design has this stage, also while it breaks a rule; `at` gives the
    /// anchor of one.
    fn check_stage(&self, stage: u32, at: impl Fn(u32) -> Anchor) -> Result<(), Refusal> {
        let stages = self.design.parallel.pipeline_model_parallel_size;
        let last = u32::try_from(stages.saturating_sub(1)).unwrap_or(u32::MAX);
        if stage <= last {
            return Ok(());
        }
        let detail = format!("the design has no stage {stage}: its last one is {last}");
        Err(Refusal { nearest: vec![at(last).to_string()], ..Refusal::invalid(detail) })
    }

    fn proposal(&self, seq: Seq) -> Result<&Proposal, Refusal> {
        let found = self.proposals.iter().find(|found| found.seq == seq);
        found.ok_or_else(|| missing("proposal", seq))
    }

    fn open_proposal(&self, seq: Seq) -> Result<&Proposal, Refusal> {
        let found = self.proposal(seq)?;
        let done = match &found.state {
            ProposalState::Open => return Ok(found),
            ProposalState::Accepted { by, .. } => format!("accepted by {}", by.name),
            ProposalState::Rejected { by, .. } => format!("rejected by {}", by.name),
            ProposalState::Withdrawn => "withdrawn".to_owned(),
        };
        Err(settled(&format!("the proposal was {done}")))
    }

    fn thread(&self, seq: Seq) -> Result<&Thread, Refusal> {
        let found = self.threads.iter().find(|found| found.seq() == seq);
        found.ok_or_else(|| missing("thread", seq))
    }

    fn question(&self, seq: Seq) -> Result<&Question, Refusal> {
        let found = self.questions.iter().find(|found| found.asked.seq == seq);
        found.ok_or_else(|| missing("question", seq))
    }
}

/// The weakest role that may do it.
const fn needed(change: &Change) -> Role {
    match change {
        Change::Propose { .. }
        | Change::Withdraw { .. }
        | Change::Comment { .. }
        | Change::Reply { .. }
        | Change::Resolve { .. }
        | Change::Reopen { .. }
        | Change::Ask { .. }
        | Change::Answer { .. }
        | Change::AskAgain { .. } => Role::Comment,
        Change::Create { .. } => Role::Own,
        Change::Rename { .. }
        | Change::Set { .. }
        | Change::Open { .. }
        | Change::Pin { .. }
        | Change::Unpin { .. }
        | Change::Accept { .. }
        | Change::Reject { .. }
        | Change::Decide { .. } => Role::Edit,
    }
}

/// The canonical link of a design, whose preset and knobs are all known.
fn design_link(link: &str) -> Result<String, Refusal> {
    match link::decode(link) {
        Ok(design) => Ok(link::encode(&design)),
        Err(mut errors) => Err(errors.swap_remove(0).into()),
    }
}

fn room_for(count: usize, what: &str) -> Result<(), Refusal> {
    if count < MAX_ENTRIES {
        return Ok(());
    }
    Err(Refusal::new(Cause::Full, format!("a session holds at most {MAX_ENTRIES} {what}")))
}

fn missing(what: &str, seq: Seq) -> Refusal {
    Refusal::new(Cause::Missing, format!("this session has no {what} {seq}"))
}

fn settled(detail: &str) -> Refusal {
    Refusal::new(Cause::Settled, detail)
}
