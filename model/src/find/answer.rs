//! The answer of a search, and how far it is on its way to it.

use alloc::string::String;
use alloc::vec::Vec;

use super::query::Goal;
use crate::design::{Design, KnobId};
use crate::estimate::Metrics;

/// Designs of an answer, at most: three with a name and seven others.
pub const MAX_DESIGNS: usize = 10;

/// What a search is at.
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

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// What it is at.
    pub phase: Phase,
    /// The share of its work that is done, an estimate that never falls.
    pub share: f64,
    /// Estimates so far, by closed forms and simulated.
    pub evaluated: u64,
}

/// A design of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// What it is best at; none for the others.
    pub label: Option<Goal>,
    /// The design, timed by simulation.
    pub design: Design,
    /// What it is predicted to do.
    pub metrics: Metrics,
    /// Why it is here, in lines for people.
    pub why: Vec<String>,
    /// What keeps it from being faster, in a line.
    pub binds: String,
    /// The share of the memory that is free at its peak.
    pub margin: f64,
    /// How much slower than the fastest it is, as a share; zero where it is faster by what few runs
    /// have.
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
    /// How many combinations of degrees, micro-batch, chunks and schedule.
    pub designs: u64,
}

/// The nearest miss, where no design fits and reaches the targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Miss {
    /// The design that comes nearest.
    pub design: Design,
    /// What it is predicted to do.
    pub metrics: Metrics,
    /// What it misses and by how much, in lines for people.
    pub misses: Vec<String>,
    /// Whether more devices were tried: for the layout of a machine, once all else is done.
    pub tried_devices: bool,
    /// The fewest devices of the same kind on which some design does; none within the bound.
    pub fewest_devices: Option<u64>,
}

/// What a search has found.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The named designs, that of the query's goal first, and others; empty where nothing fits.
    pub designs: Vec<Recommendation>,
    /// Where nothing does: what comes nearest.
    pub miss: Option<Miss>,
    /// The design at hand, simulated; none where it breaks rules.
    pub at_hand: Option<Metrics>,
    /// The size that was asked for: the knob and its value. The designs have it.
    pub size: Option<(KnobId, u64)>,
    /// What it would take to be faster, in lines for people.
    pub for_more: Vec<String>,
    /// What was ruled out, and why, the most first.
    pub ruled_out: Vec<RuledOut>,
    /// Combinations of degrees, micro-batch, chunks and schedule that there are.
    pub space: u64,
    /// Estimates by closed forms.
    pub evaluated: u64,
    /// Estimates by simulation.
    pub simulated: u64,
}
