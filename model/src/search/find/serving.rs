//! Layouts and loads of serving: tokens a second per device against tokens a second per user.
//!
//! Every layout of the devices is tried at loads up to what memory holds, prefill and decode
//! together and on pools of their own. What reaches the limits and targets is inferred as a whole,
//! and named.

mod layouts;
mod naming;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::answer::{self, Answer, Candidate, Miss, Phase, Progress, Recommendation};
use super::pool::Pool;
use super::query::Query;
use super::rank;
use super::reason::{self, MAX_TIE_SHARE};
use super::search::Search;
use super::target::{Predicted, Target};
use crate::design::violation::Violation;
use crate::design::{Design, KnobId};
use crate::ground::knob::Value;
use crate::ground::pareto;
use crate::ground::units::Seconds;
use crate::metric::MetricId;
use crate::serving::{
    Inference, Instances, LAYOUT, Layout, ServingPlan, infer, rules, with_layout,
};

use layouts::{Machine, loads, machines};

/// Layouts that are tried at once.
const TRIED_AT_ONCE: usize = 64;

/// Why a layout isn't answered that serves.
const TARGETS: &str = "targets";

/// A layout at a load.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutPoint {
    /// Instances that decode, or do all.
    pub decode: Instances,
    /// Instances that prefill alone, where there are such.
    pub prefill: Option<Instances>,
    /// Requests in flight, on all devices.
    pub concurrency: u64,
    /// Output tokens a second and device.
    pub per_device: f64,
    /// Output tokens a second that a request gets.
    pub per_user: f64,
    /// Time to the first token, the median.
    pub ttft: Seconds,
    /// Time of each further token.
    pub tpot: Seconds,
    /// Whether the limits of both hold, and the targets of the search.
    pub is_good: bool,
}

impl LayoutPoint {
    /// The design of a model and load with this layout.
    #[must_use]
    pub fn design(&self, of: &Design) -> Design {
        let mut design = with_layout(of, self.decode.layout, self.prefill);
        design.serving.concurrency = Some(self.concurrency.max(1));
        design
    }
}

/// A layout that can't serve.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// Layout that an instance would have.
    pub layout: Layout,
    /// Description of the error, in a sentence.
    pub reason: String,
}

/// Layouts beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutFront {
    /// Pareto front: layouts that no other beats in both numbers, slow users first.
    pub best: Vec<LayoutPoint>,
    /// The one of most tokens a second and device within the limits.
    pub chosen: Option<LayoutPoint>,
    /// Layouts that can't serve with prefill and decode together.
    pub skipped: Vec<Skipped>,
    /// Layouts and loads that were computed.
    pub tried: usize,
}

impl LayoutFront {
    /// Every layout of a design's model on its devices, beside each other.
    #[must_use]
    pub fn new(design: &Design, pool: &impl Pool) -> Self {
        let mut search = LayoutSearch::begun(Query::new(design.clone()));
        while matches!(search.stage, Stage::Listing | Stage::Trying) {
            search.step(pool);
        }
        Self {
            best: front(&search.points),
            chosen: search.most_tokens().cloned(),
            skipped: search.skipped,
            tried: search.tried,
        }
    }
}

/// Points that no other beats in tokens per device and per user, slow users first.
fn front(points: &[LayoutPoint]) -> Vec<LayoutPoint> {
    let mut front = pareto::front(points.iter(), |it| [it.per_user, it.per_device]);
    front.sort_by(|one, other| one.per_user.total_cmp(&other.per_user));
    front.into_iter().cloned().collect()
}

impl Predicted for Inference {
    fn bounded(&self, _: &Design, target: &Target) -> Option<f64> {
        match target {
            Target::AtLeast(metric, _) | Target::AtMost(metric, _) => {
                self.metrics.get(*metric).copied()
            }
            Target::Spare(_) | Target::Devices(_) | Target::Run(_) => None,
        }
    }

    fn speed(&self) -> f64 {
        self.metrics.output_tokens_per_second_per_device
    }

    /// Share of the cache that is free with the requests in flight.
    fn spare(&self) -> f64 {
        let held = self.metrics.kv_limited_concurrency;
        (1.0 - self.metrics.requests_in_flight / held).max(0.0)
    }
}

/// Stage of a search for a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The layouts of the machine are listed.
    Listing,
    /// They are tried at loads.
    Trying,
    /// Designs that reach the targets, or come nearest, are inferred as a whole.
    Inferring,
    Done,
}

/// A search for a layout of serving.
#[derive(Debug)]
pub struct LayoutSearch {
    query: Query,
    /// Targets of the query, and the limits of the design.
    targets: Vec<Target>,
    stage: Stage,
    machines: Vec<Machine>,
    next: usize,
    points: Vec<LayoutPoint>,
    skipped: Vec<Skipped>,
    ruled_out: BTreeMap<&'static str, u64>,
    tried: usize,
    inferred: usize,
    at_hand: Option<Inference>,
    /// Designs that reach the targets, the fastest first.
    found: Vec<Candidate<Inference>>,
    /// The designs with a name, in the order of [`super::Goal::ALL`].
    named: Vec<Candidate<Inference>>,
    /// Design that comes nearest, where none reaches the targets.
    nearest: Option<Candidate<Inference>>,
}

impl Search for LayoutSearch {
    type Metrics = Inference;

    fn new(mut query: Query) -> Result<Self, Vec<Violation>> {
        let is_fixed = |violation: &Violation| {
            let rule = rules::rules().find(|(rule, _)| rule.name == violation.rule);
            rule.is_some_and(|(rule, _)| !rule.reads.meets(&LAYOUT))
        };
        let broken: Vec<Violation> =
            rules::violations(&query.design).into_iter().filter(is_fixed).collect();
        if !broken.is_empty() {
            return Err(broken);
        }
        let at_hand = inferred(&query.design);
        // The load is searched.
        query.design.serving.request_rate = None;
        Ok(Self { at_hand, ..Self::begun(query) })
    }

    fn step(&mut self, pool: &impl Pool) -> Progress {
        match self.stage {
            Stage::Listing => {
                self.machines = machines(&self.query.design, pool);
                self.machines.retain(|it| keeps(&self.query, it));
                self.stage = Stage::Trying;
            }
            Stage::Trying => self.try_some(pool),
            Stage::Inferring => {
                self.infer_best(pool);
                self.stage = Stage::Done;
            }
            Stage::Done => {}
        }
        let tried = self.next as f64 / self.machines.len().max(1) as f64;
        let (phase, share) = match self.stage {
            Stage::Listing | Stage::Trying => (Phase::Screening, 0.05 + 0.85 * tried),
            Stage::Inferring => (Phase::Simulating, 0.9),
            Stage::Done => (Phase::Done, 1.0),
        };
        Progress { phase, share, evaluated: (self.tried + self.inferred) as u64 }
    }

    fn answer(&self) -> Answer<Inference> {
        Answer {
            designs: self.recommendations(),
            miss: self.nearest.as_ref().map(|nearest| self.miss(nearest)),
            at_hand: self.at_hand.clone(),
            size: None,
            for_more: Vec::new(),
            ruled_out: answer::most_first(&self.ruled_out),
            space: self.machines.len() as u64,
            evaluated: self.tried as u64,
            simulated: self.inferred as u64,
        }
    }
}

impl LayoutSearch {
    /// A search of which nothing is done, whatever rules its design breaks.
    fn begun(query: Query) -> Self {
        let serving = &query.design.serving;
        let limit = |metric, millis: Option<f64>| {
            millis.map(|millis| Target::AtMost(metric, millis * 1e-3))
        };
        let ttft = limit(MetricId::ttft_seconds, serving.ttft_limit_milliseconds);
        let tpot = limit(MetricId::tpot_seconds, serving.tpot_limit_milliseconds);
        let targets = query.targets.iter().copied().chain(ttft).chain(tpot).collect();
        Self {
            query,
            targets,
            stage: Stage::Listing,
            machines: Vec::new(),
            next: 0,
            points: Vec::new(),
            skipped: Vec::new(),
            ruled_out: BTreeMap::new(),
            tried: 0,
            inferred: 0,
            at_hand: None,
            found: Vec::new(),
            named: Vec::new(),
            nearest: None,
        }
    }

    /// Tries some layouts at every load that they hold.
    fn try_some(&mut self, pool: &impl Pool) {
        let end = (self.next + TRIED_AT_ONCE).min(self.machines.len());
        let Query { design, targets, keep, .. } = &self.query;
        let load = design.serving.concurrency.filter(|_| keep.has(KnobId::concurrency));
        let some = &self.machines[self.next..end];
        let seen = pool.map(some, |_, machine| loads(design, machine, targets, load));
        for (machine, loads) in some.iter().zip(seen) {
            self.tried += loads.tried;
            let is_good = loads.points.iter().any(|point| point.is_good);
            if let Some((rule, reason)) = loads.broken {
                *self.ruled_out.entry(rule.name).or_default() += 1;
                // Only pools that could serve are reported.
                if machine.prefill.is_none() {
                    self.skipped.push(Skipped { layout: machine.layout, reason });
                }
            } else if !is_good {
                *self.ruled_out.entry(TARGETS).or_default() += 1;
            }
            self.points.extend(loads.points);
        }
        self.next = end;
        if end == self.machines.len() {
            self.stage = Stage::Inferring;
        }
    }

    /// The point of most tokens a second and device that reaches limits and targets.
    fn most_tokens(&self) -> Option<&LayoutPoint> {
        let good = self.points.iter().filter(|point| point.is_good);
        good.max_by(|one, other| one.per_device.total_cmp(&other.per_device))
    }

    /// Infers the points that may be named or told, or that may come nearest.
    fn infer_best(&mut self, pool: &impl Pool) {
        let most = self.most_tokens().map_or(0.0, |it| it.per_device);
        let good: Vec<LayoutPoint> = self.points.iter().filter(|it| it.is_good).cloned().collect();
        let mut best = front(&good);
        best.extend(good.into_iter().filter(|it| it.per_device >= most * naming::MIN_NAMED_SPEED));
        let mut candidates = self.inferred(&best, pool);
        if let Some(metrics) = &self.at_hand {
            // What is at hand is never answered with less.
            candidates
                .push(Candidate { design: self.query.design.clone(), metrics: metrics.clone() });
        }
        candidates.retain(|it| self.reaches(it));
        rank::sort(&mut candidates, |it| {
            [-it.metrics.speed(), reason::complexity(&it.design, &naming::DEGREES) as f64]
        });
        candidates.dedup();
        // Of those that nobody would call slower, the one that is best for a user is the fastest.
        let least = candidates.first().map_or(0.0, |it| it.metrics.speed()) * (1.0 - MAX_TIE_SHARE);
        let alike = candidates.iter().take_while(|it| it.metrics.speed() >= least);
        let per_token = |it: &Candidate<Inference>| it.metrics.metrics.tpot_seconds;
        let best =
            alike.enumerate().min_by(|one, other| per_token(one.1).total_cmp(&per_token(other.1)));
        if let Some((best, _)) = best {
            candidates[..=best].rotate_right(1);
        }
        self.named = naming::named(&candidates, &self.targets);
        self.found = candidates;
        if self.found.is_empty() {
            let mut all = self.inferred(&self.points.clone(), pool);
            let short = |it: &Candidate<Inference>| {
                let short = |target: &Target| target.shortfall(&it.design, &it.metrics);
                self.targets.iter().map(short).sum::<f64>()
            };
            rank::sort(&mut all, |it| [short(it), -it.metrics.speed()]);
            self.nearest = all.into_iter().next();
        }
    }

    /// Designs of points, with their inferences.
    fn inferred(&mut self, points: &[LayoutPoint], pool: &impl Pool) -> Vec<Candidate<Inference>> {
        self.inferred += points.len();
        let of = &self.query.design;
        let all = pool.map(points, |_, point| {
            let design = point.design(of);
            inferred(&design).map(|metrics| Candidate { design, metrics })
        });
        all.into_iter().flatten().collect()
    }

    fn reaches(&self, it: &Candidate<Inference>) -> bool {
        self.targets.iter().all(|target| target.is_reached(&it.design, &it.metrics))
    }

    /// The named designs, and others that no layout beats in both numbers.
    fn recommendations(&self) -> Vec<Recommendation<Inference>> {
        let Some(fastest) = self.named.first() else { return Vec::new() };
        let own = kind(&fastest.design);
        let second = self.found.iter().find(|it| kind(&it.design) != own);
        let at_hand = self.at_hand.as_ref().map(Predicted::speed);
        answer::recommended(self.query.goal, &self.named, &self.found, kind, |label, one| {
            let why = |goal| naming::why(goal, one, fastest, second, at_hand, &self.targets);
            Recommendation {
                label,
                why: label.map_or_else(Vec::new, why),
                bottleneck: String::from(one.metrics.bottleneck.words()),
                margin: one.metrics.spare(),
                behind: reason::behind(one, fastest),
                unusual: Vec::new(),
                design: one.design.clone(),
                metrics: one.metrics.clone(),
            }
        })
    }

    fn miss(&self, nearest: &Candidate<Inference>) -> Miss<Inference> {
        let Candidate { design, metrics } = nearest;
        let misses = self.targets.iter().filter_map(|target| target.miss(design, metrics));
        Miss {
            misses: misses.collect(),
            design: design.clone(),
            metrics: metrics.clone(),
            tried_devices: false,
            fewest_devices: None,
        }
    }
}

/// Inference of a design; `None` if it is illegal.
fn inferred(design: &Design) -> Option<Inference> {
    Some(infer(&ServingPlan::new(design).ok()?))
}

/// Whether a layout has the knobs that a query keeps as the design has them.
fn keeps(query: &Query, machine: &Machine) -> bool {
    let Query { design, keep, .. } = query;
    let other = with_layout(design, machine.layout, machine.prefill);
    keep.iter().all(|knob| other.get(knob) == design.get(knob))
}

/// Layout of a design, whatever its load.
fn kind(design: &Design) -> Vec<Value> {
    naming::DEGREES.iter().map(|knob| design.get(knob)).collect()
}
