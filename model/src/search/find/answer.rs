//! The answer of a search, and how far it is on its way to it.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::query::Goal;
use super::rank;
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

/// A design that may be answered, with its predicted metrics.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Candidate<M> {
    pub(super) design: Design,
    pub(super) metrics: M,
}

/// A design of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation<M = Metrics> {
    /// Goal that the design is best at; `None` for the others.
    pub label: Option<Goal>,
    /// The design; of training, timed by simulation.
    pub design: Design,
    /// Predicted metrics.
    pub metrics: M,
    /// Why it is here, in lines for people.
    pub why: Vec<String>,
    /// Bottleneck: what keeps the design from being faster, in a line.
    pub bottleneck: String,
    /// The share of the memory that is free: of the device at its peak, or of the cache.
    pub margin: f64,
    /// Lag behind the fastest design, as a share; zero if it is faster by what few runs have.
    pub behind: f64,
    /// The knobs that few runs have as it has them, and the design at hand neither.
    pub unusual: Vec<KnobId>,
}

/// Designs that were ruled out together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuledOut {
    /// A rule's name, `memory`, `slower_than_found`, `less_promising` where it wasn't looked at
    /// closer, or `targets` where no load of a layout reaches them.
    pub reason: String,
    /// Number of combinations of degrees, micro-batch, chunks and schedule, or of layouts.
    pub designs: u64,
}

/// The nearest miss, where no design fits and reaches the targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Miss<M = Metrics> {
    /// The design that comes nearest.
    pub design: Design,
    /// Predicted metrics.
    pub metrics: M,
    /// Limits and targets that the design misses and by how much, in lines for people.
    pub misses: Vec<String>,
    /// Whether more devices were tried: for the layout of a machine, once all else is done.
    pub tried_devices: bool,
    /// The fewest devices of the same kind on which some design does; none within the bound.
    pub fewest_devices: Option<u64>,
}

/// Answer of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<M = Metrics> {
    /// The named designs, that of the query's goal first, and others; empty where nothing fits.
    pub designs: Vec<Recommendation<M>>,
    /// Where nothing does: what comes nearest.
    pub miss: Option<Miss<M>>,
    /// The design at hand, of training simulated; `None` if it breaks rules.
    pub at_hand: Option<M>,
    /// The requested size: the knob and its value. The designs have it.
    pub size: Option<(KnobId, u64)>,
    /// Changes of machine or batch that would make it faster, in lines for people.
    pub for_more: Vec<String>,
    /// Designs ruled out by reason, the most first.
    pub ruled_out: Vec<RuledOut>,
    /// Combinations of degrees, micro-batch, chunks and schedule that there are, or of layouts.
    pub space: u64,
    /// Estimates by closed forms; of serving, loads of layouts.
    pub evaluated: u64,
    /// Estimates by simulation; of serving, whole inferences.
    pub simulated: u64,
}

/// The named designs, that of a goal first, and others in their order up to [`MAX_DESIGNS`], each
/// of another kind than those before it.
pub(super) fn recommended<M, K: PartialEq>(
    goal: Goal,
    named: &[Candidate<M>],
    others: &[Candidate<M>],
    kind: impl Fn(&Design) -> K,
    recommend: impl Fn(Option<Goal>, &Candidate<M>) -> Recommendation<M>,
) -> Vec<Recommendation<M>> {
    let labelled = Goal::ALL.into_iter().zip(named);
    let mut designs: Vec<Recommendation<M>> =
        labelled.map(|(goal, one)| recommend(Some(goal), one)).collect();
    rank::sort(&mut designs, |it| [f64::from(u8::from(it.label != Some(goal))), 0.0]);
    let mut known: Vec<K> = designs.iter().map(|it| kind(&it.design)).collect();
    for one in others {
        if designs.len() >= MAX_DESIGNS {
            break;
        }
        let own = kind(&one.design);
        if !known.contains(&own) {
            known.push(own);
            designs.push(recommend(None, one));
        }
    }
    designs
}

/// Reasons with the designs that each ruled out, the most first.
pub(super) fn most_first(ruled_out: &BTreeMap<&'static str, u64>) -> Vec<RuledOut> {
    let all = ruled_out.iter();
    let mut all: Vec<RuledOut> = all
        .map(|(reason, designs)| RuledOut { reason: String::from(*reason), designs: *designs })
        .collect();
    rank::sort(&mut all, |it| [-(it.designs as f64), 0.0]);
    all
}
