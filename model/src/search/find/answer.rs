//! The answer of a search, and how far it is on its way to it.

use alloc::string::String;
use alloc::vec::Vec;

use super::query::Goal;
use crate::design::{Design, KnobId};
use crate::training::estimate::Metrics;

/// Designs of an answer, at most: three with a name and seven others.
pub const MAX_DESIGNS: usize = 10;

/// Phase of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It looks at every legal grid of degrees.
    Screening,
    /// It refines the best by closed forms.
    Refining,
    /// It simulates what is near the front.
    Simulating,
    /// It looks at other sizes of the machine or the batch.
    Sizing,
    /// All is done.
    Done,
}

/// Progress of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Present phase.
    pub phase: Phase,
    /// The share of its work that is done, an estimate that never falls.
    pub share: f64,
    /// Estimates so far, by closed forms and simulated.
    pub evaluated: u64,
}

/// A design of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// Goal that the design is best at; `None` for the others.
    pub label: Option<Goal>,
    /// The design, timed by simulation.
    pub design: Design,
    /// Predicted metrics.
    pub metrics: Metrics,
    /// Why it is here, in lines for people.
    pub why: Vec<String>,
    /// Bottleneck: what keeps the design from being faster, in a line.
    pub binds: String,
    /// The share of the memory that is free at its peak.
    pub margin: f64,
    /// Lag behind the fastest design, as a share; zero if it is faster by what few runs have.
    pub behind: f64,
    /// The knobs that few runs have as it has them, and the design at hand neither.
    pub unusual: Vec<KnobId>,
}

/// Designs that were ruled out together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuledOut {
    /// A rule's name, `memory`, `slower_than_found`, or `less_promising` where it wasn't looked at
    /// closer.
    pub reason: String,
    /// Number of combinations of degrees, micro-batch, chunks and schedule.
    pub designs: u64,
}

/// The nearest miss, where no design fits and reaches the targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Miss {
    /// The design that comes nearest.
    pub design: Design,
    /// Predicted metrics.
    pub metrics: Metrics,
    /// Limits and targets that the design misses and by how much, in lines for people.
    pub misses: Vec<String>,
    /// Whether more devices were tried: for the layout of a machine, once all else is done.
    pub tried_devices: bool,
    /// The fewest devices of the same kind on which some design does; none within the bound.
    pub fewest_devices: Option<u64>,
}

/// Answer of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The named designs, that of the query's goal first, and others; empty where nothing fits.
    pub designs: Vec<Recommendation>,
    /// Where nothing does: what comes nearest.
    pub miss: Option<Miss>,
    /// The design at hand, simulated; `None` if it breaks rules.
    pub at_hand: Option<Metrics>,
    /// The requested size: the knob and its value. The designs have it.
    pub size: Option<(KnobId, u64)>,
    /// Changes of machine or batch that would make it faster, in lines for people.
    pub for_more: Vec<String>,
    /// Designs ruled out by reason, the most first.
    pub ruled_out: Vec<RuledOut>,
    /// Combinations of degrees, micro-batch, chunks and schedule that there are.
    pub space: u64,
    /// Estimates by closed forms.
    pub evaluated: u64,
    /// Estimates by simulation.
    pub simulated: u64,
}
