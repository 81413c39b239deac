//! Input of a search: the goal, the question, the targets, and what stays.

use alloc::vec::Vec;

use super::target::{Domain, Target};
use crate::design::{Design, KnobId, KnobSet};
use crate::metric::MetricId;
use crate::run::budget::lacks;

/// The share of the memory that a design leaves free at its peak, at least, to be proposed.
pub const MIN_SPARE: f64 = 0.03;

/// Largest lag of the safest design behind the fastest, as a share of the speed.
pub(super) const MAX_SAFEST_LAG: f64 = 0.05;

/// Largest lag of the simplest design behind the fastest, as a share of the speed.
pub(super) const MAX_SIMPLEST_LAG: f64 = 0.10;

/// Goal: the quality that the first design of an answer is best in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The highest lower end of the 50 % range of tokens per second.
    #[default]
    Fastest,
    /// Within 5 % of the fastest: the most memory to spare and the fewest overlaps that must hold.
    Safest,
    /// Within 10 % of the fastest: the fewest knobs that differ from their neutral values.
    Simplest,
}

impl Goal {
    /// Every goal.
    pub const ALL: [Self; 3] = [Self::Fastest, Self::Safest, Self::Simplest];

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fastest => "fastest",
            Self::Safest => "safest",
            Self::Simplest => "simplest",
        }
    }
}

/// Question about the machine: a layout for it, or an extreme size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Question {
    /// The best layout of the design as it is.
    #[default]
    Layout,
    /// The fewest devices on which a layout fits and reaches the targets; full nodes.
    FewestDevices,
    /// The most sequences of a step with which a layout reaches the targets.
    LargestBatch,
    /// The longest sequence with which a layout fits and reaches the targets, with at most as many
    /// tokens in a step.
    LongestSequence,
}

impl Question {
    /// Every question.
    pub const ALL: [Self; 4] =
        [Self::Layout, Self::FewestDevices, Self::LargestBatch, Self::LongestSequence];

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Layout => "layout",
            Self::FewestDevices => "fewest_devices",
            Self::LargestBatch => "largest_batch",
            Self::LongestSequence => "longest_sequence",
        }
    }
}

/// Input of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Domain that is searched.
    pub domain: Domain,
    /// The model, the machine and the batch or the lengths of requests; its strategy or layout is
    /// the design at hand.
    pub design: Design,
    /// Quality that the first design is best in.
    pub goal: Goal,
    /// Question about the machine.
    pub question: Question,
    /// Knobs of the strategy or layout that stay as they are.
    pub keep: KnobSet,
    /// Targets that every proposed design must reach.
    pub targets: Vec<Target>,
    /// Whether everything counts, also what the design's framework can't express.
    pub any_schedule: bool,
}

impl Query {
    /// The best layout of a design, with nothing kept.
    #[must_use]
    pub fn new(design: Design) -> Self {
        Self {
            domain: Domain::Training,
            design,
            goal: Goal::Fastest,
            question: Question::Layout,
            keep: KnobSet::EMPTY,
            targets: Vec::new(),
            any_schedule: false,
        }
    }

    /// Text of what a question needs to have an answer and lacks, in a line for people.
    #[must_use]
    pub fn missing(&self) -> Option<&'static str> {
        let bounds_time =
            |target: &Target| matches!(target, Target::AtMost(MetricId::step_time_seconds, _));
        let unbounded =
            self.question == Question::LargestBatch && !self.targets.iter().any(bounds_time);
        unbounded.then_some(
            "a larger batch always fits in more micro-batches: say how long a step may take, such \
             as step_time_seconds<=20",
        )
    }

    /// Knobs of the run that targets need and that have no value.
    #[must_use]
    pub fn lacks(&self) -> Vec<KnobId> {
        let mut knobs: Vec<KnobId> = Vec::new();
        for target in &self.targets {
            let Target::Run(target) = target else { continue };
            knobs.extend(lacks(target.metric, &self.design));
        }
        knobs.sort_unstable();
        knobs.dedup();
        knobs
    }
}
