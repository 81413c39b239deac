//! The way through the grid: screening, expanding, refining, simulating.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::fitting::spare;
use super::fitting::{Closed, Fitting, Room, Saver, is_better, pressure, rank_of, savers};
use super::reach::Reach;
use super::screening::{MAX_ALIKE, MAX_LAG, Screened, Seen, expanded, screened, screened_place};
use super::space::{Degrees, Place, Space};
use super::tuning;
use crate::design::{Design, KnobSet};
use crate::ground::choice::Timing;
use crate::rules::vocabulary::STRATEGY;
use crate::search::find::answer::{Candidate, Phase};
use crate::search::find::pool::Pool;
use crate::search::find::query::Query;
use crate::search::find::rank;
use crate::search::find::reason::complexity;
use crate::search::find::target::Target;
use crate::training::estimate::Metrics;
use crate::training::estimator::Estimator;

/// Degrees that are screened at once.
const SCREENED_AT_ONCE: usize = 256;

/// Why a place isn't looked at closer that might be faster than what is found.
pub(super) const LESS_PROMISING: &str = "less_promising";

/// Maximum number of places that are expanded where a size is only tested for any design that
/// works.
const MAX_EXPANDED_TO_ASK: usize = 96;

/// Places that are looked at closer where nothing fits.
const MAX_NEAREST_POINTS: usize = 24;

/// Factor by which a simulation may differ from its closed form in a target's favour.
const MAX_DRIFT: f64 = 1.15;

/// A design that is timed by simulation, with its metrics.
pub(super) type Simulated = Candidate<Metrics>;

impl Simulated {
    pub(super) fn new(estimator: &mut Estimator, design: &Design) -> Option<Self> {
        let mut design = design.clone();
        design.schedule.timing = Timing::Simulated;
        let metrics = estimator.metrics(&design).ok()?;
        Some(Self { design, metrics })
    }
}

/// Stage of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Screen,
    Expand,
    Refine(usize),
    Simulate,
    Polish(usize),
    Done,
}

/// A walk through the space of one model, machine and batch.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) space: Space,
    pub(super) savers: Vec<Saver>,
    pub(super) room: Room,
    targets: Vec<Target>,
    pub(super) reach: Reach,
    /// Whether it only tests if anything works.
    pub(super) only_asks: bool,
    pub(super) stage: Stage,
    degrees: Vec<Degrees>,
    pub(super) next: usize,
    pub(super) screened: Vec<Screened>,
    /// Places that are bounded where those in front of them weren't enough.
    pub(super) later: Vec<Place>,
    /// Designs that fit by closed forms, the fastest first.
    pub(super) closed: Vec<Closed>,
    /// Designs that fit and reach the targets by simulation, what is worth most first.
    pub(super) found: Vec<Simulated>,
    /// The others that were simulated, the nearest first.
    pub(super) missed: Vec<Simulated>,
    /// The fastest that memory keeps from running: how full it would be, and how fast.
    pub(super) unfitting: Vec<(f64, f64)>,
    /// The fastest that was made to fit at each place that was expanded, by closed forms.
    pub(super) reached: Vec<(Place, f64)>,
    pub(super) ruled_out: BTreeMap<&'static str, u64>,
    /// Combinations of degrees, micro-batch, chunks and schedule.
    pub(super) combinations: u64,
    pub(super) evaluated: u64,
    pub(super) simulated: u64,
}

impl Walk {
    pub(super) fn new(query: &Query) -> Self {
        let space = Space::laid_out(query);
        let (degrees, indivisible) = space.degrees(space.micro_batches().len());
        let mut walk = Self { degrees, ..Self::through(space, query, Reach::WHOLE) };
        for (rule, designs) in indivisible {
            walk.combinations += designs;
            walk.rule_out(rule, designs);
        }
        walk
    }

    /// Discards those of these places that can't be as fast as what is known, and keeps the rest.
    pub(super) fn bound(&mut self, places: &[Place], pool: &impl Pool) {
        let threshold = self.threshold();
        let (space, savers, room) = (&self.space, &self.savers, self.room);
        let seen = pool.map(places, |estimator, place| {
            screened_place(space, savers, room, threshold, estimator, *place)
        });
        seen.into_iter().for_each(|one| self.take_seen(one));
    }

    /// A walk of which nothing is done.
    pub(super) fn through(space: Space, query: &Query, reach: Reach) -> Self {
        Self {
            savers: savers(&space),
            room: Room(1.0 - query.spare()),
            targets: query.targets.clone(),
            reach,
            only_asks: false,
            stage: Stage::Screen,
            degrees: Vec::new(),
            next: 0,
            screened: Vec::new(),
            later: Vec::new(),
            closed: Vec::new(),
            found: Vec::new(),
            missed: Vec::new(),
            unfitting: Vec::new(),
            reached: Vec::new(),
            ruled_out: BTreeMap::new(),
            combinations: 0,
            evaluated: 0,
            simulated: 0,
            space,
        }
    }

    /// Phase of the search that the stage belongs to.
    pub(super) fn phase(&self) -> Phase {
        match self.stage {
            Stage::Screen => Phase::Screening,
            Stage::Expand | Stage::Refine(_) => Phase::Refining,
            Stage::Simulate | Stage::Polish(_) | Stage::Done => Phase::Simulating,
        }
    }

    /// The share of the work that is done.
    pub(super) fn share(&self) -> f64 {
        let part = |done: usize, all: usize| done as f64 / all.max(1) as f64;
        match self.stage {
            Stage::Screen => 0.3 * part(self.next, self.degrees.len()),
            Stage::Expand => {
                0.3 + 0.4 * part(self.next, self.screened.len().min(self.reach.expanded))
            }
            Stage::Refine(round) => 0.7 + 0.1 * part(round, self.reach.rounds),
            Stage::Simulate => 0.8,
            Stage::Polish(round) => 0.85 + 0.15 * part(round, self.reach.polish_rounds),
            Stage::Done => 1.0,
        }
    }

    /// Does a part of the work.
    pub(super) fn step(&mut self, pool: &impl Pool) {
        match self.stage {
            Stage::Screen => self.screen(pool),
            Stage::Expand => self.expand(pool),
            Stage::Refine(round) => self.refine(pool, round),
            Stage::Simulate => self.simulate(pool),
            Stage::Polish(round) => self.polish(pool, round),
            Stage::Done => {}
        }
    }

    fn rule_out(&mut self, reason: &'static str, designs: u64) {
        if designs > 0 {
            *self.ruled_out.entry(reason).or_default() += designs;
        }
    }

    /// Looks at some degrees with every micro-batch: what rules allow, how fast it could be at
    /// most, and whether it can fit at all.
    fn screen(&mut self, pool: &impl Pool) {
        let end = (self.next + SCREENED_AT_ONCE).min(self.degrees.len());
        let (space, savers, room) = (&self.space, &self.savers, self.room);
        let sizes = space.micro_batches();
        let seen = pool.map(&self.degrees[self.next..end], |estimator, degrees| {
            screened(space, savers, room, &sizes, estimator, *degrees)
        });
        seen.into_iter().for_each(|one| self.take_seen(one));
        self.next = end;
        if end == self.degrees.len() {
            self.end_screening();
        }
    }

    fn take_seen(&mut self, seen: Seen) {
        self.combinations += seen.combinations;
        self.evaluated += seen.evaluated;
        for (reason, designs) in seen.ruled_out {
            self.rule_out(reason, designs);
        }
        self.screened.extend(seen.places);
    }

    fn end_screening(&mut self) {
        // What may fit comes before what can't.
        let late = |it: &Screened| f64::from(u8::from(it.least > 1.0));
        rank::sort(&mut self.screened, |it| [late(it), -it.promise]);
        (self.next, self.stage) = (0, Stage::Expand);
    }

    /// The tokens per second below which a design isn't looked at closer.
    fn threshold(&self) -> f64 {
        let best = self.closed.first().map_or(0.0, |best| best.worth(&self.space));
        best * (1.0 - MAX_LAG)
    }

    /// Goes through chunks, schedules and pairs of the most promising places.
    fn expand(&mut self, pool: &impl Pool) {
        let threshold = self.threshold();
        let end = (self.next + self.reach.at_once).min(self.screened.len());
        let batch = &self.screened[self.next..end];
        let hopeful = |one: &&Screened| one.bound > threshold && one.least <= 1.0;
        let places: Vec<Place> = batch.iter().filter(hopeful).map(|one| one.place).collect();
        let (space, savers, room) = (&self.space, &self.savers, self.room);
        let thrifty = self.reach.thrifty;
        let seen = pool.map(&places, |estimator, place| {
            expanded(space, savers, room, threshold, thrifty, estimator, *place)
        });
        let mut cut = [0, 0];
        for one in batch.iter().filter(|one| !hopeful(one)) {
            cut[usize::from(one.least > 1.0)] += one.variants;
        }
        self.next = end;
        self.rule_out("slower_than_found", cut[0]);
        self.rule_out("memory", cut[1]);
        for (place, one) in places.iter().zip(seen) {
            self.evaluated += one.evaluated;
            for (reason, designs) in one.ruled_out {
                self.rule_out(reason, designs);
            }
            let speed = one.closed.first().map(|it| it.worth(&self.space));
            self.reached.extend(speed.map(|speed| (*place, speed)));
            self.unfitting.extend(one.unfitting);
            self.closed.extend(one.closed);
        }
        self.settle_closed();
        let most = if self.only_asks { MAX_EXPANDED_TO_ASK } else { self.reach.expanded };
        let is_due = self.next >= most.min(self.screened.len());
        let is_enough = is_due && self.look_further(pool);
        let may_fit = self.screened.get(self.next).is_some_and(|one| one.least <= 1.0);
        let is_last = !may_fit || is_enough;
        if is_last {
            for (reason, designs) in self.left() {
                self.rule_out(reason, designs);
            }
            self.stage = Stage::Refine(0);
            if self.closed.is_empty() && !self.only_asks {
                self.closed = self.nearest(pool);
            }
            if self.only_asks {
                let may = self.closed.iter().any(|it| self.may_reach(it));
                self.stage = if may { Stage::Simulate } else { Stage::Done };
            }
        }
    }

    /// Why the places behind those that were expanded aren't, with the designs of each.
    pub(super) fn left(&self) -> Vec<(&'static str, u64)> {
        let threshold = self.threshold();
        let left = self.screened.iter().skip(self.next);
        let why = left.map(|one| {
            let reason = if one.least > 1.0 {
                "memory"
            } else if one.bound <= threshold {
                "slower_than_found"
            } else {
                LESS_PROMISING
            };
            (reason, one.variants)
        });
        why.collect()
    }

    /// Combinations that were discarded by a bound or a rule.
    pub(super) fn discarded(&self) -> u64 {
        let cut = self.ruled_out.iter().filter(|(reason, _)| **reason != LESS_PROMISING);
        cut.map(|(_, designs)| designs).sum()
    }

    /// Designs nearest to fitting, where none fits: those of the places that need least memory.
    fn nearest(&mut self, pool: &impl Pool) -> Vec<Closed> {
        let mut places: Vec<Screened> = self.screened.clone();
        rank::sort(&mut places, |it| [it.least, 0.0]);
        places.truncate(MAX_NEAREST_POINTS);
        let (space, savers, room) = (&self.space, &self.savers, self.room);
        let seen = pool.map(&places, |estimator, one| {
            let mut fitting = Fitting::new(space, savers);
            let variants = space.variants(one.place.degrees.pp);
            let (legal, _) = space.legal_variants(one.place, &variants, 1);
            let light = space.design(one.place, *legal.first()?);
            let light = fitting.closed(estimator, light)?;
            Some((fitting.fit(estimator, &light, room), fitting.evaluated))
        });
        let mut nearest = Vec::new();
        for (closed, evaluated) in seen.into_iter().flatten() {
            self.evaluated += evaluated;
            nearest.push(closed);
        }
        nearest
    }

    /// Whether the simulation may say of a design by closed forms that it reaches the targets.
    fn may_reach(&self, closed: &Closed) -> bool {
        let metrics = &closed.metrics;
        self.targets.iter().all(|target| match *target {
            Target::AtLeast(metric, least) => {
                metrics.number(metric).is_some_and(|number| number * MAX_DRIFT >= least)
            }
            Target::AtMost(metric, most) => {
                metrics.number(metric).is_some_and(|number| number <= most * MAX_DRIFT)
            }
            Target::Run(target) => target.number(&closed.design, metrics).is_some_and(|number| {
                target.is_reached(if target.is_most {
                    number / MAX_DRIFT
                } else {
                    number * MAX_DRIFT
                })
            }),
            Target::Spare(_) | Target::Devices(_) => true,
        })
    }

    /// Sorts what fits by closed forms, and keeps a few of each set of degrees.
    pub(super) fn settle_closed(&mut self) {
        let room = self.room;
        let space = &self.space;
        rank::sort(&mut self.closed, |it| rank_of(&it.metrics, it.worth(space), room));
        let mut kept: Vec<Closed> = Vec::new();
        for closed in core::mem::take(&mut self.closed) {
            let alike = kept.iter().filter(|it| degrees(&it.design) == degrees(&closed.design));
            let (mut count, mut is_known) = (0, false);
            for one in alike {
                count += 1;
                is_known |= one.design == closed.design;
            }
            if count < MAX_ALIKE && !is_known {
                kept.push(closed);
            }
            if kept.len() >= self.reach.refined {
                break;
            }
        }
        self.closed = kept;
    }

    /// A round of small steps by closed forms.
    fn refine(&mut self, pool: &impl Pool, round: usize) {
        let (space, savers, room) = (&self.space, &self.savers, self.room);
        let best: Vec<Design> = self
            .closed
            .iter()
            .take(self.reach.balanced)
            .map(|closed| closed.design.clone())
            .collect();
        let seen = pool.map(&self.closed, |estimator, closed| {
            let balances = round == 0 && best.contains(&closed.design);
            refined(space, savers, room, estimator, closed, balances)
        });
        let mut moved = false;
        for (closed, (better, evaluated)) in self.closed.iter_mut().zip(seen) {
            self.evaluated += evaluated;
            match better {
                Some(better) => {
                    *closed = better;
                    moved = true;
                }
                None => closed.is_settled = true,
            }
        }
        self.settle_closed();
        let ends = !moved || round + 1 >= self.reach.rounds;
        self.stage = if ends { Stage::Simulate } else { Stage::Refine(round + 1) };
    }

    /// Simulates the best of the closed forms; where that says otherwise of the memory, what is
    /// saved is chosen anew.
    fn simulate(&mut self, pool: &impl Pool) {
        let (space, savers, room) = (&self.space, &self.savers, self.room);
        let count = self.closed.len().min(self.reach.simulated);
        let seen = pool.map(&self.closed[..count], |estimator, closed| {
            simulated(space, savers, room, estimator, closed)
        });
        for (designs, evaluated) in seen {
            self.evaluated += evaluated;
            self.simulated += designs.len() as u64;
            designs.into_iter().for_each(|design| self.take(design));
        }
        self.settle_found();
        self.stage = Stage::Polish(0);
    }

    /// A round of small steps by simulation, from the best with different degrees.
    fn polish(&mut self, pool: &impl Pool, round: usize) {
        let before = self.best();
        let starts = self.starts();
        let (space, savers, room) = (&self.space, &self.savers, self.room);
        // Equal designs differ in the same knobs from any other.
        let apart = |design: &Design| starts.first().map(|start| start.differences(design));
        let known: Vec<(Option<KnobSet>, &Design)> = self
            .found
            .iter()
            .chain(&self.missed)
            .map(|it| (apart(&it.design), &it.design))
            .collect();
        let mut steps: Vec<(Option<KnobSet>, Design)> = Vec::new();
        for start in &starts {
            let mut closed = start.clone();
            closed.schedule.timing = Timing::ClosedForm;
            let mut next = tuning::neighbours(space, savers, &closed);
            if round == 0 {
                next.extend(tuning::balanced(space, &closed));
                next.extend(tuning::fewest_layers(space, &closed, room));
            }
            for mut design in next {
                design.schedule.timing = Timing::Simulated;
                let apart = apart(&design);
                let is_known = known.iter().any(|it| it.0 == apart && *it.1 == design)
                    || steps.iter().any(|it| it.0 == apart && it.1 == design);
                if !is_known {
                    steps.push((apart, design));
                }
            }
        }
        let worth = self.threshold_simulated();
        let seen = pool.map(&steps, |estimator, (_, design)| {
            let mut quick = design.clone();
            quick.schedule.timing = Timing::ClosedForm;
            let closed = Closed::new(estimator, quick)?;
            // What the closed form finds much slower, or far too large, the simulation does too.
            let hopeless = closed.worth(space) < worth || pressure(&closed.metrics) > room.0 * 1.15;
            if hopeless { None } else { Simulated::new(estimator, design) }
        });
        self.evaluated += steps.len() as u64;
        for design in seen.into_iter().flatten() {
            self.simulated += 1;
            self.take(design);
        }
        self.settle_found();
        let ends = round + 1 >= self.reach.polish_rounds || self.best() <= before && round > 0;
        self.stage = if ends { Stage::Done } else { Stage::Polish(round + 1) };
    }

    fn best(&self) -> f64 {
        self.found.first().map_or(0.0, |best| self.space.worth(&best.design, &best.metrics))
    }

    /// The tokens per second by closed forms below which a step isn't simulated.
    fn threshold_simulated(&self) -> f64 {
        self.best() * (1.0 - 2.0 * MAX_LAG)
    }

    /// Where small steps by simulation start: the best of different degrees; where nothing fits
    /// yet, what comes nearest.
    fn starts(&self) -> Vec<Design> {
        let from = if self.found.is_empty() { &self.missed } else { &self.found };
        let mut starts: Vec<Design> = Vec::new();
        for one in from {
            if starts.iter().all(|known| degrees(known) != degrees(&one.design)) {
                starts.push(one.design.clone());
            }
            if starts.len() >= self.reach.polished {
                break;
            }
        }
        starts
    }

    /// Whether a simulated design fits with the requested room, and reaches the targets.
    pub(super) fn reaches(&self, one: &Simulated) -> bool {
        let Simulated { design, metrics } = one;
        self.room.holds(metrics)
            && self.targets.iter().all(|target| target.is_reached(design, metrics))
    }

    pub(super) fn take(&mut self, design: Simulated) {
        if self.reaches(&design) {
            self.found.push(design);
        } else {
            self.missed.push(design);
        }
    }

    pub(super) fn settle_found(&mut self) {
        let space = &self.space;
        let worth = |it: &Simulated| space.worth(&it.design, &it.metrics);
        rank::sort(&mut self.found, |it| [-worth(it), complexity(&it.design, &STRATEGY) as f64]);
        self.found.dedup();
        let room = self.room;
        let targets = &self.targets;
        rank::sort(&mut self.missed, |it| {
            let [late, rank] = rank_of(&it.metrics, it.metrics.tokens_per_second, room);
            let short =
                targets.iter().map(|target| target.shortfall(&it.design, &it.metrics)).sum();
            // Of what fits, what is nearest to the targets; of the rest, to fitting.
            if late > 0.0 { [late, rank] } else { [late, short] }
        });
        self.missed.dedup();
        self.missed.truncate(64);
        debug_assert!(self.found.iter().all(|it| spare(&it.metrics) >= 0.0), "what fits has room");
    }
}

/// The degrees of a design, with its micro-batch.
pub(super) fn degrees(design: &Design) -> [u64; 6] {
    let parallel = &design.parallel;
    [
        parallel.tensor_model_parallel_size,
        parallel.pipeline_model_parallel_size,
        parallel.context_parallel_size,
        parallel.expert_model_parallel_size,
        parallel.expert_tensor_parallel_size,
        design.training.micro_batch_size,
    ]
}

/// The best of a design's neighbours, where it is better; and how many were estimated.
fn refined(
    space: &Space,
    savers: &[Saver],
    room: Room,
    estimator: &mut Estimator,
    closed: &Closed,
    balances: bool,
) -> (Option<Closed>, u64) {
    if closed.is_settled {
        return (None, 0);
    }
    let mut next = tuning::neighbours(space, savers, &closed.design);
    if balances {
        next.extend(tuning::balanced(space, &closed.design));
    }
    let evaluated = next.len() as u64;
    let mut best: Option<Closed> = None;
    for design in next {
        let Some(other) = Closed::new(estimator, design) else { continue };
        let than = best.as_ref().unwrap_or(closed);
        if is_better(space, &other, than, room) {
            best = Some(other);
        }
    }
    (best, evaluated)
}

/// A design simulated; and where its memory is another one than the closed form's, also what is
/// saved by the room that the closed form has for it.
fn simulated(
    space: &Space,
    savers: &[Saver],
    room: Room,
    estimator: &mut Estimator,
    closed: &Closed,
) -> (Vec<Simulated>, u64) {
    let Some(first) = Simulated::new(estimator, &closed.design) else { return (Vec::new(), 0) };
    let ratio = closed.metrics.memory_peak / first.metrics.memory_peak;
    let mut all = Vec::from([first]);
    let mut fitting = Fitting::new(space, savers);
    if !(0.995..=1.005).contains(&ratio) {
        let mut light = closed.design.clone();
        space.save_nothing(&mut light);
        if let Some(light) = fitting.closed(estimator, light) {
            let other = fitting.fit(estimator, &light, Room(room.0 * ratio));
            if other.design != closed.design {
                all.extend(Simulated::new(estimator, &other.design));
            }
        }
    }
    (all, fitting.evaluated)
}
