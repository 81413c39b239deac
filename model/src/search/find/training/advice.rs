//! What would help a design at hand: the search's small steps and moves to other degrees, one to
//! three of them together, and what each loss of the step is worth.

use alloc::vec::Vec;

use super::fitting::{Room, Saver, rank_of, savers};
use super::space::Space;
use super::tuning;
use crate::design::{Design, KnobId, KnobSet};
use crate::ground::choice::{Balance, Timing};
use crate::ground::knob::Value;
use crate::search::find::query::Query;
use crate::search::find::rank;
use crate::search::verdict::Verdict;
use crate::training::estimate::{Estimate, Metrics, StepPart};
use crate::training::estimator::Estimator;
use crate::training::plan::Plan;
use crate::training::step::estimate;

/// Changes that are combined, at most.
pub const MAX_COMBINED: usize = 3;

/// Designs from which each further change starts.
const BEAM_WIDTH: usize = 8;

/// Number of designs, of each number of changes, that are estimated as the design is timed: the
/// best by closed forms.
const MAX_TIMED: usize = 6;

/// A gain in throughput below this share isn't worth a change.
const MIN_GAIN: f64 = 0.002;

/// A part of the step below this share isn't worth a line.
const MIN_LOSS: f64 = 0.02;

/// Maximum number of changes that are listed for a loss.
const MAX_MOVERS: usize = 3;

/// A design some changes away from the one at hand.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The changed design.
    pub design: Design,
    /// Number of knobs that differ.
    pub steps: usize,
    /// Predicted metrics, timed as the design at hand.
    pub metrics: Metrics,
}

impl Change {
    /// The knobs that differ from a design, with their new values, in registry order.
    #[must_use]
    pub fn knobs(&self, from: &Design) -> Vec<(KnobId, Value)> {
        let moved = from.differences(&self.design);
        moved.iter().map(|knob| (knob, self.design.get(knob))).collect()
    }
}

/// A part of the step beyond the ideal, what it is worth and what moves it.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The part.
    pub part: StepPart,
    /// Its share of the step.
    pub share: f64,
    /// MFU that is gained if it vanishes: MFU x share / (1 - share).
    pub worth: f64,
    /// Single changes that make it smaller and the design faster, what takes most of it first.
    pub movers: Vec<Change>,
}

/// Advice for a design: the changes that help it, and the losses of its step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Advice {
    /// The fastest that fits with one change, with two, and with three, where one more brings more.
    pub changes: Vec<Change>,
    /// The losses of the step, the largest first.
    pub losses: Vec<Loss>,
}

/// Advice for a plan: changes of its strategy alone.
///
/// Neighbours are estimated by closed forms where there are any; the best eight with one change are
/// changed once more, and once more. The best six of each number are estimated as the plan is
/// timed, so are those that move a loss. A design that doesn't fit is told what fits.
#[must_use]
pub fn advice(plan: &Plan, now: &Estimate) -> Advice {
    let mut hand = AtHand::new(plan);
    let rounds = hand.rounds(now.metrics.fits);
    Advice { changes: hand.changes(&rounds, now), losses: hand.losses(&rounds, now) }
}

/// Changes that make a plan fit that doesn't, those that cost least MFU first: changes of its
/// strategy, one to three together, single knobs, and the fastest set of recomputation and
/// swapping.
#[must_use]
pub fn remedies(plan: &Plan, verdict: &Verdict) -> Vec<Change> {
    let mut hand = AtHand::new(plan);
    let rounds = hand.rounds(false);
    let mut all = hand.fitting(&rounds);
    let single = verdict.changes.iter().chain(&verdict.set).filter(|change| change.fits);
    for change in single {
        let mut design = plan.design().clone();
        let moved = change.with.iter().map(|(knob, value)| (*knob, value));
        for (knob, value) in moved.chain([(change.knob, &change.value)]) {
            // A verdict's values are in bounds.
            let _ = design.set(knob, value);
        }
        let is_new = all.iter().all(|known| known.design != design);
        let estimate = hand.estimate(&design).filter(|it| it.metrics.fits && is_new);
        all.extend(estimate.map(|it| Change { design, steps: 1, metrics: it.metrics }));
    }
    rank::sort(&mut all, |it| [-it.metrics.mfu, it.steps as f64]);
    all
}

/// A design by closed forms.
#[derive(Clone, Debug)]
struct Screened {
    design: Design,
    metrics: Metrics,
}

/// The design at hand, and what estimates others.
struct AtHand<'a> {
    plan: &'a Plan,
    space: Space,
    savers: Vec<Saver>,
    estimator: Estimator,
    /// Closed forms, where the schedule has one.
    quick: Timing,
    /// Whether no neighbours were asked for yet: layouts are balanced anew for the first design.
    is_first: bool,
}

impl<'a> AtHand<'a> {
    fn new(plan: &'a Plan) -> Self {
        let space = Space::new(&Query::new(plan.design().clone()));
        let mut closed = plan.design().clone();
        closed.schedule.timing = Timing::ClosedForm;
        let own = plan.design().schedule.timing;
        let quick = if plan.variant(&closed).is_ok() { Timing::ClosedForm } else { own };
        let savers = savers(&space);
        Self { plan, space, savers, estimator: Estimator::new(), quick, is_first: true }
    }

    /// The metrics of a design, with the plan's own trace where its loads are of one.
    fn metrics(&mut self, design: &Design) -> Option<Metrics> {
        if design.routing.balance == Balance::Trace {
            return Some(estimate(&self.plan.variant(design).ok()?).metrics);
        }
        self.estimator.metrics(design).ok()
    }

    fn estimate(&mut self, design: &Design) -> Option<Estimate> {
        if design.routing.balance == Balance::Trace {
            return Some(estimate(&self.plan.variant(design).ok()?));
        }
        self.estimator.estimate(design).ok().map(|(_, estimate)| estimate)
    }

    /// For each number of changes the designs that fit, the fastest first.
    fn rounds(&mut self, fits: bool) -> Vec<Vec<Screened>> {
        let mut first = self.plan.design().clone();
        first.schedule.timing = self.quick;
        let mut starts = Vec::from([first]);
        let mut rounds: Vec<Vec<Screened>> = Vec::new();
        for _ in 0..MAX_COMBINED {
            let mut round: Vec<Screened> = Vec::new();
            for start in &starts {
                for design in self.next(start) {
                    let Some(metrics) = self.metrics(&design) else { continue };
                    if metrics.fits || !fits {
                        round.push(Screened { design, metrics });
                    }
                }
            }
            // What doesn't fit yet goes on from what comes nearest.
            let room = Room(1.0);
            rank::sort(&mut round, |it| rank_of(&it.metrics, it.metrics.tokens_per_second, room));
            round.dedup_by(|one, other| one.design == other.design);
            let (good, near): (Vec<_>, Vec<_>) = round.iter().partition(|it| it.metrics.fits);
            let half = if near.is_empty() { BEAM_WIDTH } else { BEAM_WIDTH / 2 };
            let next = good.iter().take(half).chain(near.iter().take(BEAM_WIDTH - half));
            starts = next.map(|it| it.design.clone()).collect();
            round.retain(|it| it.metrics.fits);
            rounds.push(round);
        }
        rounds
    }

    /// All designs one change away.
    fn next(&mut self, design: &Design) -> Vec<Design> {
        self.space.lay_out_around(self.plan, design);
        let mut next = tuning::neighbours(&self.space, &self.savers, design);
        next.extend(self.space.moved(design));
        if self.is_first {
            self.is_first = false;
            next.extend(tuning::balanced(&self.space, design));
        }
        next
    }

    /// A design as the plan is timed.
    fn timed(&mut self, design: &Design) -> Option<(Design, Estimate)> {
        let mut design = design.clone();
        design.schedule.timing = self.plan.design().schedule.timing;
        let estimate = self.estimate(&design)?;
        Some((design, estimate))
    }

    fn changes(&mut self, rounds: &[Vec<Screened>], now: &Estimate) -> Vec<Change> {
        let mut best: Vec<Change> = Vec::new();
        let mut least = if now.metrics.fits { now.metrics.tokens_per_second } else { 0.0 };
        for (round, steps) in rounds.iter().zip(1..) {
            let mut found: Option<Change> = None;
            for screened in round.iter().take(MAX_TIMED) {
                let Some((design, estimate)) = self.timed(&screened.design) else { continue };
                let metrics = estimate.metrics;
                let speed = metrics.tokens_per_second;
                let more = found.as_ref().map_or(0.0, |it| it.metrics.tokens_per_second);
                if metrics.fits && speed > more {
                    found = Some(Change { design, steps, metrics });
                }
            }
            if let Some(found) = found
                && found.metrics.tokens_per_second > least * (1.0 + MIN_GAIN)
            {
                least = found.metrics.tokens_per_second;
                best.push(found);
            }
        }
        best
    }

    /// Fastest changes that fit, of each number of changes, each of other knobs than those before
    /// it.
    fn fitting(&mut self, rounds: &[Vec<Screened>]) -> Vec<Change> {
        let mut all: Vec<Change> = Vec::new();
        let mut known: Vec<KnobSet> = Vec::new();
        for (round, steps) in rounds.iter().zip(1..) {
            let mut of_round = 0;
            for screened in round {
                let moved = self.plan.design().differences(&screened.design);
                if of_round >= MAX_MOVERS || known.contains(&moved) {
                    continue;
                }
                known.push(moved);
                let timed = self.timed(&screened.design).filter(|(_, it)| it.metrics.fits);
                let Some((design, estimate)) = timed else { continue };
                of_round += 1;
                all.push(Change { design, steps, metrics: estimate.metrics });
            }
        }
        all
    }

    fn losses(&mut self, rounds: &[Vec<Screened>], now: &Estimate) -> Vec<Loss> {
        let total = now.step.total();
        let mut losses: Vec<Loss> = now
            .step
            .parts()
            .filter(|(part, time)| *part != StepPart::Ideal && *time / total >= MIN_LOSS)
            .map(|(part, time)| {
                let share = time / total;
                let worth = now.metrics.mfu * share / (1.0 - share);
                Loss { part, share, worth, movers: Vec::new() }
            })
            .collect();
        rank::sort(&mut losses, |it| [-it.share, 0.0]);
        let Some(singles) = rounds.first() else { return losses };
        // What is slower by closed forms helps no loss.
        let singles: Vec<(Design, Estimate)> = singles
            .iter()
            .take(MAX_TIMED * MAX_COMBINED)
            .filter_map(|screened| self.timed(&screened.design))
            .collect();
        for loss in &mut losses {
            let before = now.step.part(loss.part);
            let mut movers: Vec<(f64, Change)> = Vec::new();
            for (design, estimate) in &singles {
                let metrics = estimate.metrics;
                let gain = metrics.tokens_per_second / now.metrics.tokens_per_second - 1.0;
                let left = estimate.step.part(loss.part) / before;
                let is_faster = gain > MIN_GAIN || !now.metrics.fits;
                if metrics.fits && is_faster && left < 1.0 - MIN_LOSS {
                    movers.push((left, Change { design: design.clone(), steps: 1, metrics }));
                }
            }
            rank::sort(&mut movers, |(left, _)| [*left, 0.0]);
            loss.movers = movers.into_iter().map(|(_, mover)| mover).collect();
            let mut knobs: Vec<KnobSet> = Vec::new();
            loss.movers.retain(|mover| {
                let moved = self.plan.design().differences(&mover.design);
                let is_new = !knobs.contains(&moved);
                knobs.push(moved);
                is_new
            });
            loss.movers.truncate(MAX_MOVERS);
        }
        losses
    }
}
