//! Strategies of training: degrees of parallelism, micro-batch, schedule and overlaps,
//! recomputation, swapping, sharding and layout.
//!
//! It goes from coarse to fine. Rules prune the grid of degrees in blocks; what can't fit with
//! every way to free memory, or can't be as fast as what is found, is cut; closed forms refine what
//! is left; near the front every design is simulated.

mod published;
mod reach;
mod strategy;
mod space;
mod fitting;
mod moving;
mod plainness;
mod screening;
mod tuning;
mod advice;
mod variants;
mod walk;
mod guide;
mod naming;
mod reason;
mod sizing;

use alloc::vec::Vec;

use super::answer::{self, Answer, Miss, Phase, Progress, Recommendation};
use super::pool::Pool;
use super::query::{Goal, MIN_SPARE, Query, Question};
use super::reason as shared;
use super::search::Search;
use super::target::{Predicted, Target};
use crate::design::violation::Violation;
use crate::design::{Design, KnobId};
use crate::ground::choice::{Choice, Method, ShardingStrategy};
use crate::ground::units::Bytes;
use crate::metric::MetricId;
use crate::rules;
use crate::rules::vocabulary::{Vocabulary, can_shard};
use crate::training::estimate::Metrics;
use crate::training::estimator::Estimator;

pub use advice::{Advice, Change, Loss, MAX_COMBINED, advice, remedies};
pub use fitting::spare;
pub use guide::{Guide, Near};

use sizing::Sizing;
use space::Space;
use walk::{Simulated, Stage, Walk, degrees};

impl Predicted for Metrics {
    fn bounded(&self, design: &Design, target: &Target) -> Option<f64> {
        match target {
            Target::AtLeast(metric, _) | Target::AtMost(metric, _) => self.number(*metric),
            Target::Run(target) => target.number(design, self),
            Target::Spare(_) | Target::Devices(_) => None,
        }
    }

    fn speed(&self) -> f64 {
        self.tokens_per_second
    }

    fn spare(&self) -> f64 {
        spare(self)
    }
}

impl Query {
    /// The design with every freed knob of its strategy at its neutral value: what no layout
    /// changes is read from it.
    #[must_use]
    pub fn plain(&self) -> Design {
        Space::new(self).base
    }

    /// The schedules that the search goes through, where they aren't kept.
    #[must_use]
    pub fn methods(&self) -> Vec<Method> {
        strategy::methods(&self.design, &self.words())
    }

    /// The ways to share out states that the search goes through, where they aren't kept.
    #[must_use]
    pub fn sharding_strategies(&self) -> Vec<ShardingStrategy> {
        let own = self.design.parallel.data_parallel_sharding_strategy;
        let all = ShardingStrategy::ALL.iter().copied();
        all.filter(|it| *it == own || self.any_schedule || can_shard(&self.design, *it)).collect()
    }

    /// Strategy values that the framework's arguments can express.
    pub(super) fn words(&self) -> Vocabulary {
        if self.any_schedule { Vocabulary::any() } else { Vocabulary::of(&self.design) }
    }

    /// The share of the memory that has to stay free: [`MIN_SPARE`], and more where a target
    /// asks for it.
    #[must_use]
    pub fn spare(&self) -> f64 {
        let cluster = &self.design.cluster;
        let usable = cluster.hbm_usable_gib.unwrap_or(cluster.accelerator.row().hbm_usable_gib);
        self.targets.iter().fold(MIN_SPARE, |most, target| match *target {
            Target::Spare(share) => most.max(share),
            Target::AtMost(MetricId::memory_peak_bytes, bytes) => {
                most.max(1.0 - bytes / Bytes::gib(usable).get())
            }
            Target::AtLeast(..) | Target::AtMost(..) | Target::Devices(_) | Target::Run(_) => most,
        })
    }
}

/// A search for a strategy of training.
#[derive(Debug)]
pub struct StrategySearch {
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

impl Search for StrategySearch {
    type Metrics = Metrics;

    fn new(query: Query) -> Result<Self, Vec<Violation>> {
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

    fn step(&mut self, pool: &impl Pool) -> Progress {
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

    fn answer(&self) -> Answer {
        let [evaluated, simulated] = self.evaluated();
        Answer {
            designs: self.recommendations(),
            miss: self.miss(),
            at_hand: self.at_hand,
            size: self.size,
            for_more: match self.named.first() {
                Some(fastest) => reason::for_more(&self.walk, fastest),
                None => Vec::new(),
            },
            ruled_out: answer::most_first(&self.walk.ruled_out),
            space: self.walk.combinations,
            evaluated,
            simulated,
        }
    }
}

impl StrategySearch {
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

    /// The named designs and others; before they are named the fastest so far.
    fn recommendations(&self) -> Vec<Recommendation> {
        let walk = &self.walk;
        let found = self.named.first().or(walk.found.first());
        let Some(fastest) = found else { return Vec::new() };
        let own = degrees(&fastest.design);
        let second = walk.found.iter().find(|it| degrees(&it.design) != own);
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
            bottleneck: reason::bottleneck(walk, one),
            margin: spare(&one.metrics),
            unusual: walk.space.unusual(&one.design).collect(),
            behind: shared::behind(one, fastest),
        };
        // Before they are named the fastest so far stands for them.
        let named =
            if self.named.is_empty() { core::slice::from_ref(fastest) } else { &self.named };
        answer::recommended(self.query.goal, named, &walk.found, degrees, recommend)
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
