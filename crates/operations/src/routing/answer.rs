//! The loads of a plan, and the same as data.

use std::sync::Arc;

use model::answer::loads::{Cadence, Report, cadences};
use model::routing::{Migration, Trace, capacity};
use model::training::estimate::StepPart;
use model::{Plan, estimate};
use reports::report::{self, Loads};
use reports::typed::{Real, Written, answers};

/// Capacity factors that are shown, from 1 on.
const FACTORS: usize = 9;
/// The largest of them.
const MAX_FACTOR: f64 = 3.0;

/// Loads of a plan, and what its planner makes of them.
pub struct Answer {
    pub(super) plan: Plan,
    pub(super) trace: Option<Arc<Trace>>,
    pub(super) report: Report,
    pub(super) routed: Routed,
}

answers! {
    /// The object of `moescape routing --json`.
    #[cfg_attr(feature = "schema", schemars(rename = "Routing"))]
    struct Routed {
        /// Imbalance of the loads before and after the planner.
        loads: Written<Loads>,
        /// Ranks that experts are placed on.
        ranks: u64,
        /// Steps of the run.
        steps: u64,
        /// Time of a step that waits for the fullest rank.
        imbalance_seconds: Real,
        /// Time of a step that moves of experts take, in the mean.
        migration_seconds: Real,
        /// From the first plan on.
        layers: Vec<RoutedLayer>,
        migrations: Vec<Move>,
        /// The planner's intervals and triggers, each with the step's time.
        cadences: Vec<Interval>,
        /// Tokens dropped by capacity factor, without a planner.
        drops: Vec<Dropped>,
    }

    /// A MoE layer: the mean imbalance of its steps, and the moves of its experts.
    struct RoutedLayer {
        imbalance_before: Real,
        imbalance_after: Real,
        /// Below it no placement of whole experts comes.
        imbalance_bound: Real,
        /// Share of the imbalance beyond 1 that the planner removes.
        removed: Real,
        moves: u64,
        experts_moved: u64,
        bytes_moved: Real,
    }

    /// Experts of a layer that change their ranks.
    struct Move {
        step: u64,
        layer: u64,
        experts: u64,
        bytes: Real,
        seconds: Real,
    }

    /// An interval of the planner with what makes it act.
    struct Interval {
        /// Steps from one plan to the next.
        interval: u64,
        /// Fall of the coefficient of variation from which on it acts; null to act whenever the
        /// imbalance has risen.
        threshold: Option<Real>,
        imbalance: Real,
        step_time_seconds: Real,
        migration_seconds: Real,
        /// Whether no other has a shorter step.
        shortest: bool,
    }

    /// Tokens that a capacity drops.
    struct Dropped {
        capacity_factor: Real,
        token_drop_ratio: Real,
    }
}

impl Answer {
    /// Loads of a plan, with a trace where it has one.
    pub(super) fn new(plan: Plan, trace: Option<Arc<Trace>>, report: Report) -> Self {
        let routed = of(&plan, trace.as_deref(), &report);
        Self { plan, trace, report, routed }
    }
}

fn of(plan: &Plan, trace: Option<&Trace>, report: &Report) -> Routed {
    let step = estimate(plan).step;
    let all = cadences(plan, trace);
    let best = all.iter().min_by(|a, b| a.step_time.get().total_cmp(&b.step_time.get()));
    // If the loads were bounded so.
    let drops = capacity::drop_curve(&report.trace, MAX_FACTOR, FACTORS);
    let drop =
        |(factor, ratio)| Dropped { capacity_factor: Real(factor), token_drop_ratio: Real(ratio) };
    Routed {
        loads: Written::stored(report::loads(plan, trace)),
        ranks: report.first.devices() as u64,
        steps: (report.trace.steps() * report.stride) as u64,
        imbalance_seconds: Real(step.part(StepPart::Imbalance).get()),
        migration_seconds: Real(step.part(StepPart::Migration).get()),
        layers: layers(report),
        migrations: report.outcome.migrations.iter().map(|it| moved(it, report.stride)).collect(),
        cadences: all.iter().map(|one| interval(one, best == Some(one))).collect(),
        drops: drops.map(drop).collect(),
    }
}

/// The layers from the first plan on; without a plan from the first step on.
fn layers(report: &Report) -> Vec<RoutedLayer> {
    let outcome = &report.outcome;
    let bounds = report.bounds();
    let steps = (report.from..report.trace.steps()).len().max(1) as f64;
    let mean = |list: &[f64], layer: usize| {
        let own = list.iter().skip(report.from * outcome.layers + layer).step_by(outcome.layers);
        own.sum::<f64>() / steps
    };
    let layer = |layer: usize| {
        let moves = outcome.migrations.iter().filter(|one| one.layer == layer);
        let [before, after] = [&outcome.before, &outcome.after].map(|list| mean(list, layer));
        let removed = if before > 1.0 { 1.0 - (after - 1.0) / (before - 1.0) } else { 0.0 };
        RoutedLayer {
            imbalance_before: Real(before),
            imbalance_after: Real(after),
            imbalance_bound: Real(bounds.get(layer).copied().unwrap_or(1.0)),
            removed: Real(removed),
            moves: moves.clone().count() as u64,
            experts_moved: moves.clone().map(|one| one.experts as u64).sum(),
            bytes_moved: Real(moves.map(|one| one.bytes).sum()),
        }
    };
    (0..outcome.layers).map(layer).collect()
}

fn moved(one: &Migration, stride: usize) -> Move {
    Move {
        step: (one.step * stride) as u64,
        layer: one.layer as u64,
        experts: one.experts as u64,
        bytes: Real(one.bytes),
        seconds: Real(one.seconds),
    }
}

fn interval(one: &Cadence, is_best: bool) -> Interval {
    Interval {
        interval: one.interval,
        threshold: one.threshold.map(Real),
        imbalance: Real(one.imbalance),
        step_time_seconds: Real(one.step_time.get()),
        migration_seconds: Real(one.migration.get()),
        shortest: is_best,
    }
}
