//! The search for a layout: given a model, a machine and a batch, which design should run?
//!
//! A [`Query`] is a design and what must stay of it. [`Search`] frees the rest of its strategy:
//! degrees of parallelism, micro-batch, schedule and overlaps, recomputation, swapping, sharding
//! and layout. It goes from coarse to fine. Rules prune the grid of degrees in blocks; what can't
//! fit with every way to free memory, or can't be as fast as what is found, is cut; closed forms
//! refine what is left; near the front every design is simulated. Work is counted, never timed, so
//! that a query has one [`Answer`], wherever it is computed and on however many threads.

mod advice;
mod answer;
mod fitting;
mod guide;
mod moving;
mod naming;
mod plainness;
mod pool;
mod published;
mod query;
mod rank;
mod reach;
mod reason;
mod screening;
mod search;
mod sizing;
mod space;
mod strategy;
mod tuning;
mod variants;

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::design::KnobId;
use crate::design::violation::Violation;
use crate::rules;
use crate::training::estimate::Metrics;
use crate::training::estimator::Estimator;

pub use crate::rules::vocabulary::STRATEGY;
pub use advice::{Advice, Change, Loss, MAX_COMBINED, advice, remedies};
pub use answer::{Answer, MAX_DESIGNS, Miss, Phase, Progress, Recommendation, RuledOut};
pub use guide::{Guide, Near};
pub use pool::{OneThread, Pool};
pub use query::{Goal, MIN_SPARE, Query, Question, Target, spare};

use search::{Simulated, Stage, Walk};
use sizing::Sizing;

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

/// Stage of a search.
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
        let is_told = |it: &&Simulated| walk.space.keeps(&it.design);
        let candidate = at_hand.as_ref().filter(|it| walk.reaches(it)).filter(is_told);
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
                match next {
                    // Small steps to the safest or simplest came by a faster one: it is the
                    // fastest, and the others are measured by it.
                    Some(faster) if naming::is_faster(&self.walk, &faster, &self.named) => {
                        self.walk.take(faster);
                        self.walk.settle_found();
                        self.named.clear();
                    }
                    next => self.named.extend(next),
                }
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

    /// Designs found so far, with what was ruled out.
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
            why: label.map_or_else(Vec::new, |goal| {
                let mut why = reason::why(goal, one, fastest, second, at_hand);
                if goal == Goal::Fastest {
                    why.extend(reason::plainness(walk, one));
                }
                why
            }),
            binds: reason::binds(walk, one),
            margin: spare(&one.metrics),
            unusual: walk.space.unusual(&one.design).collect(),
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

    /// Nearest miss, where nothing fits and reaches the targets.
    fn miss(&self) -> Option<Miss> {
        if !self.walk.found.is_empty() || self.walk.stage != Stage::Done {
            return None;
        }
        let nearest = self.walk.missed.first()?;
        Some(Miss {
            design: nearest.design.clone(),
            metrics: nearest.metrics,
            misses: reason::misses(&self.walk, &self.query.targets, nearest),
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
