//! The search for a layout: given a model, a machine and a batch, which design should run?
//!
//! A [`Query`] is a design and what must stay of it. [`Search`] frees the rest of its strategy:
//! degrees of parallelism, micro-batch, schedule and overlaps, recomputation, swapping, sharding
//! and layout. It goes from coarse to fine. Rules prune the grid of degrees in blocks; what can't
//! fit with every way to free memory, or can't be as fast as what is found, is cut; closed forms
//! refine what is left; near the front every design is simulated. Work is counted, never timed, so
//! that a query has one [`Answer`], wherever it is computed and on however many threads.

mod advice;
mod fitting;
mod moving;
mod naming;
mod query;
mod rank;
mod reason;
mod screening;
mod search;
mod sizing;
mod space;
mod strategy;
mod tuning;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::design::{Design, KnobId};
use crate::estimate::Metrics;
use crate::estimator::Estimator;
use crate::metric::{MetricId, MetricValue};
use crate::rules;
use crate::violation::Violation;

pub use advice::{Advice, Change, Loss, MAX_COMBINED, advice};
pub use query::{Goal, Query, Question, Target};
pub use strategy::STRATEGY;

use search::{Simulated, Stage, Walk};
use sizing::Sizing;

/// The share of the memory that a design leaves free at its peak, at least, to be proposed.
pub const MIN_SPARE: f64 = 0.03;

/// Designs of an answer, at most: three with a name and seven others.
pub const MAX_DESIGNS: usize = 10;

fn number(metrics: &Metrics, metric: MetricId) -> f64 {
    match metrics.get(metric) {
        MetricValue::Number(number) => number,
        MetricValue::Flag(flag) => f64::from(u8::from(flag)),
    }
}

/// The share of the device's memory that is free at the peak; negative where it doesn't fit.
#[must_use]
pub fn spare(metrics: &Metrics) -> f64 {
    1.0 - metrics.memory_peak / metrics.memory_limit
}

/// Threads that evaluate designs. The order of results is that of the items.
pub trait Pool {
    /// What `work` makes of each item, with an estimator of its thread.
    fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&mut Estimator, &T) -> R + Sync,
    ) -> Vec<R>;
}

/// The one thread that asks.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneThread;

impl Pool for OneThread {
    fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&mut Estimator, &T) -> R + Sync,
    ) -> Vec<R> {
        let mut estimator = Estimator::new();
        items.iter().map(|item| work(&mut estimator, item)).collect()
    }
}

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
    /// How much slower than the fastest it is, as a share.
    pub behind: f64,
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

/// A search under way.
#[derive(Debug)]
pub struct Search {
    query: Query,
    /// The size that is looked for, before the layout is.
    sizing: Option<Sizing>,
    walk: Walk,
    /// The designs with a name so far, in the order of [`Goal::ALL`].
    named: Vec<Simulated>,
    at_hand: Option<Metrics>,
    stage: SearchStage,
    share: f64,
    /// Estimates of walks that are over, by closed forms and simulated.
    past: [u64; 2],
    /// The answer's size, where the question is for one.
    size: Option<(KnobId, u64)>,
    fewest_devices: Option<u64>,
}

/// What a search is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchStage {
    Sizing,
    Walking,
    Naming,
    /// Nothing fits: the fewest devices on which something does.
    Growing,
    Done,
}

impl Search {
    /// Begins a search.
    ///
    /// # Errors
    /// What no layout can mend: rules that read no knob that is freed.
    pub fn new(query: Query) -> Result<Self, Vec<Violation>> {
        let mut walk = Walk::new(&query);
        let fixed = unmendable(&query, &walk);
        if !fixed.is_empty() {
            return Err(fixed);
        }
        let at_hand = Simulated::new(&mut Estimator::new(), &query.design);
        let sizing = Sizing::new(&query);
        // What is at hand is never answered with less.
        let candidate = at_hand.as_ref().filter(|it| walk.reaches(&it.metrics));
        walk.found.extend(candidate.filter(|_| sizing.is_none()).cloned());
        let stage = if sizing.is_some() { SearchStage::Sizing } else { SearchStage::Walking };
        Ok(Self {
            sizing,
            walk,
            named: Vec::new(),
            at_hand: at_hand.map(|it| it.metrics),
            stage,
            share: 0.0,
            past: [0, 0],
            size: None,
            fewest_devices: None,
            query,
        })
    }

    /// Does a part of the work, some tens of milliseconds on one thread.
    pub fn step(&mut self, pool: &impl Pool) -> Progress {
        match self.stage {
            SearchStage::Sizing => self.look_for_size(pool),
            SearchStage::Walking => {
                self.walk.step(pool);
                if self.walk.stage == Stage::Done {
                    let found = !self.walk.found.is_empty();
                    let sized = self.query.question != Question::Layout;
                    self.stage = match (found, sized) {
                        (true, _) => SearchStage::Naming,
                        (false, true) => SearchStage::Done,
                        (false, false) => {
                            self.sizing = Some(Sizing::more_devices(&self.query));
                            SearchStage::Growing
                        }
                    };
                }
            }
            SearchStage::Naming => {
                let next = naming::next(&mut self.walk, pool, &self.named);
                let is_over = next.is_none();
                self.named.extend(next);
                if is_over || self.named.len() == Goal::ALL.len() {
                    self.stage = SearchStage::Done;
                }
            }
            SearchStage::Growing => {
                if let Some(sizing) = &mut self.sizing
                    && sizing.step(pool)
                {
                    self.fewest_devices = sizing.works;
                    self.end_sizing();
                    self.stage = SearchStage::Done;
                }
            }
            SearchStage::Done => {}
        }
        self.progress()
    }

    fn look_for_size(&mut self, pool: &impl Pool) {
        let Some(sizing) = &mut self.sizing else { return };
        if !sizing.step(pool) {
            return;
        }
        let (knob, works) = (sizing.knob, sizing.works);
        self.end_sizing();
        self.size = works.map(|size| (knob, size));
        let sized = works.and_then(|size| sizing::sized(&self.query, knob, size));
        if let Some(query) = sized {
            self.walk = Walk::new(&query);
        }
        // Where no size works, the design at hand says what it misses by.
        self.stage = SearchStage::Walking;
    }

    fn end_sizing(&mut self) {
        if let Some(sizing) = self.sizing.take() {
            self.past[0] += sizing.evaluated;
            self.past[1] += sizing.simulated;
        }
    }

    fn progress(&mut self) -> Progress {
        let sized = self.query.question != Question::Layout;
        let (phase, share) = match self.stage {
            SearchStage::Sizing => {
                (Phase::Sizing, 0.7 * self.sizing.as_ref().map_or(1.0, Sizing::share))
            }
            SearchStage::Walking => {
                let from = if sized { 0.7 } else { 0.0 };
                (self.walk.phase(), from + (0.95 - from) * self.walk.share())
            }
            SearchStage::Naming => (Phase::Simulating, 0.95),
            SearchStage::Growing => (Phase::Sizing, 0.95),
            SearchStage::Done => (Phase::Done, 1.0),
        };
        self.share = self.share.max(share);
        let [closed, simulated] = self.evaluated();
        Progress { phase, share: self.share, evaluated: closed + simulated }
    }

    /// Estimates so far, by closed forms and simulated.
    fn evaluated(&self) -> [u64; 2] {
        let sizing = self.sizing.as_ref().map_or([0, 0], |it| [it.evaluated, it.simulated]);
        [
            self.past[0] + sizing[0] + self.walk.evaluated,
            self.past[1] + sizing[1] + self.walk.simulated,
        ]
    }

    /// What is found so far.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let [evaluated, simulated] = self.evaluated();
        let mut ruled_out: Vec<RuledOut> = self
            .walk
            .ruled_out
            .iter()
            .map(|(reason, designs)| RuledOut { reason: reason.to_string(), designs: *designs })
            .collect();
        rank::sort(&mut ruled_out, |it| [-(it.designs as f64), 0.0]);
        Answer {
            designs: self.recommendations(),
            miss: self.miss(),
            at_hand: self.at_hand,
            size: self.size,
            for_more: match self.named.first() {
                Some(fastest) => reason::for_more(&self.walk, fastest),
                None => Vec::new(),
            },
            ruled_out,
            space: self.walk.combinations,
            evaluated,
            simulated,
        }
    }

    /// The named designs and others; before they are named the fastest so far.
    fn recommendations(&self) -> Vec<Recommendation> {
        let walk = &self.walk;
        let found = self.named.first().or(walk.found.first());
        let Some(fastest) = found else { return Vec::new() };
        let degrees = |it: &Simulated| search::degrees(&it.design);
        let second = walk.found.iter().find(|it| degrees(it) != degrees(fastest));
        let at_hand = self.at_hand.as_ref().filter(|it| it.fits && self.size.is_none());
        let recommend = |label: Option<Goal>, one: &Simulated| Recommendation {
            label,
            design: one.design.clone(),
            metrics: one.metrics,
            why: label
                .map_or_else(Vec::new, |goal| reason::why(goal, one, fastest, second, at_hand)),
            binds: reason::binds(walk, one),
            margin: spare(&one.metrics),
            behind: (1.0 - one.metrics.tokens_per_second / fastest.metrics.tokens_per_second)
                .max(0.0),
        };
        let named = Goal::ALL.into_iter().zip(&self.named);
        let mut designs: Vec<Recommendation> =
            named.map(|(goal, one)| recommend(Some(goal), one)).collect();
        if designs.is_empty() {
            designs.push(recommend(Some(Goal::Fastest), fastest));
        }
        let goal = Some(self.query.goal);
        rank::sort(&mut designs, |it| [f64::from(u8::from(it.label != goal)), 0.0]);
        let mut known: Vec<[u64; 6]> =
            designs.iter().map(|it| search::degrees(&it.design)).collect();
        for one in &walk.found {
            if designs.len() >= MAX_DESIGNS {
                break;
            }
            if !known.contains(&degrees(one)) {
                known.push(degrees(one));
                designs.push(recommend(None, one));
            }
        }
        designs
    }

    /// What comes nearest, where nothing fits and reaches the targets.
    fn miss(&self) -> Option<Miss> {
        if !self.walk.found.is_empty() || self.walk.stage != Stage::Done {
            return None;
        }
        let nearest = self.walk.missed.first()?;
        Some(Miss {
            design: nearest.design.clone(),
            metrics: nearest.metrics,
            misses: reason::misses(&self.walk, &self.query.targets, &nearest.metrics),
            tried_devices: self.stage == SearchStage::Done
                && self.query.question == Question::Layout,
            fewest_devices: self.fewest_devices,
        })
    }
}

/// Rules that a design breaks whatever its layout, and whatever the size that is asked for.
fn unmendable(query: &Query, walk: &Walk) -> Vec<Violation> {
    let free = match query.question {
        Question::Layout => walk.space.free,
        Question::FewestDevices => walk.space.free.and(&[KnobId::num_devices]),
        Question::LargestBatch => walk.space.free.and(&[KnobId::global_batch_size]),
        Question::LongestSequence => {
            walk.space.free.and(&[KnobId::seq_length, KnobId::global_batch_size])
        }
    };
    let is_fixed = |violation: &Violation| {
        let rule = rules::rules().iter().find(|rule| rule.name == violation.rule);
        rule.is_some_and(|rule| !rule.reads.meets(&free))
    };
    rules::violations(&walk.space.base).into_iter().filter(is_fixed).collect()
}

/// Searches to the end.
///
/// # Errors
/// What no layout can mend: rules that read no knob that is freed.
pub fn find(query: Query, pool: &impl Pool) -> Result<Answer, Vec<Violation>> {
    let mut search = Search::new(query)?;
    while search.step(pool).phase != Phase::Done {}
    Ok(search.answer())
}
