//! How what was said and decided stands to the design of now.

use model::design::Design;
use model::metric::MetricValue;
use model::serving::{ServingPlan, infer};
use model::training::estimate::Estimate;
use model::{MODEL_VERSION, Plan, estimate};
use serde::{Deserialize, Serialize};

use crate::anchor::Anchor;
use crate::change::{Said, SaidValue};
use crate::room::{Decision, Room, Thread};

/// A design with its numbers, to ask many anchors of.
#[derive(Clone, Debug)]
pub struct Numbers {
    design: Design,
    /// None while the design breaks a rule.
    estimate: Option<Estimate>,
}

impl Numbers {
    /// The numbers of a design.
    #[must_use]
    pub fn of(design: &Design) -> Self {
        let estimate = Plan::new(design).ok().map(|plan| estimate(&plan));
        Self { design: design.clone(), estimate }
    }

    /// The value of what an anchor names: none where it has no value of its own, or while the
    /// design breaks a rule.
    #[must_use]
    pub fn value(&self, anchor: &Anchor) -> Option<SaidValue> {
        match anchor {
            Anchor::Metric(address) => Some(match self.estimate.as_ref()?.get(*address)? {
                MetricValue::Number(number) => SaidValue::Number(number),
                MetricValue::Flag(flag) => SaidValue::Flag(flag),
            }),
            Anchor::Served(id) => {
                let plan = ServingPlan::new(&self.design).ok()?;
                infer(&plan).metrics.get(*id).copied().map(SaidValue::Number)
            }
            Anchor::Stage(stage) => {
                let stages = &self.estimate.as_ref()?.stages;
                let stage = stages.iter().find(|row| row.stage == *stage)?;
                Some(SaidValue::Number(stage.memory.peak().get()))
            }
            Anchor::Knob(knob) => Some(SaidValue::Text(self.design.get(*knob).to_string())),
            Anchor::Design
            | Anchor::Candidate(_)
            | Anchor::Proposal(_)
            | Anchor::SweepRow { .. } => None,
        }
    }
}

/// Reason why a decision no longer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stale {
    /// The working design is another one now.
    Design,
    /// The design is the same; the model that made its numbers is another one.
    Model,
}

impl Decision {
    /// Reason why it should be decided again; `None` while it holds.
    #[must_use]
    pub fn stale(&self, room: &Room) -> Option<Stale> {
        if self.on.link != room.link() {
            Some(Stale::Design)
        } else if self.on.model_version != MODEL_VERSION {
            Some(Stale::Model)
        } else {
            None
        }
    }
}

impl Thread {
    /// Whether the value has moved since the thread began. A thread on the design as a whole is
    /// outdated once it is another design; one on a candidate or on a sweep never is, as these
    /// don't move.
    #[must_use]
    pub fn is_outdated(&self, numbers: &Numbers) -> bool {
        let Some(said) = &self.said else { return false };
        match &self.anchor {
            Anchor::Candidate(_) | Anchor::Proposal(_) | Anchor::SweepRow { .. } => false,
            Anchor::Design => said.link != model::design::link::encode(&numbers.design),
            Anchor::Metric(_) | Anchor::Served(_) | Anchor::Knob(_) | Anchor::Stage(_) => {
                said.value != numbers.value(&self.anchor)
            }
        }
    }
}

impl Room {
    /// The working design as it is seen now, with the value of what an anchor names.
    #[must_use]
    pub fn seen(&self, anchor: Option<&Anchor>) -> Said {
        let value = anchor.and_then(|anchor| match anchor {
            // A knob needs no estimate.
            Anchor::Knob(knob) => Some(SaidValue::Text(self.design.get(*knob).to_string())),
            Anchor::Metric(_) | Anchor::Served(_) | Anchor::Stage(_) => {
                Numbers::of(&self.design).value(anchor)
            }
            Anchor::Design
            | Anchor::Candidate(_)
            | Anchor::Proposal(_)
            | Anchor::SweepRow { .. } => None,
        });
        Said { link: self.link(), model_version: MODEL_VERSION.to_owned(), value }
    }

    /// The decision that counts: the last one.
    #[must_use]
    pub fn decision(&self) -> Option<&Decision> {
        self.decisions.last()
    }
}
