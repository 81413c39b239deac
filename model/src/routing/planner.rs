//! Moving experts between devices during a run.

use alloc::vec;
use alloc::vec::Vec;

use super::measure::{coefficient_of_variation, imbalance};
use super::placement::Placement;
use super::trace::Trace;
use crate::ground::sorting::sort_numbers;

/// Predictor of the loads of the next steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Predictor {
    /// Not at all: experts stay where they are.
    None,
    /// By the mean of this many steps, Pangu Ultra MoE's.
    SlidingWindow(usize),
    /// By an exponential moving average that keeps this share of itself every step: MindSpeed's,
    /// with 0.9.
    Ema(f64),
}

/// When a layer's experts move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trigger {
    /// When the coefficient of variation of the predicted device loads falls by at least this;
    /// MindSpeed's is 0.08.
    Threshold(f64),
    /// When the predicted imbalance has risen since the last plan, Pangu Ultra MoE's.
    OnIncrease,
}

/// Planner that moves experts: its predictor, its interval and its trigger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planner {
    /// Predictor of the loads.
    pub predictor: Predictor,
    /// Steps from one plan to the next.
    pub interval: usize,
    /// When a layer takes part.
    pub trigger: Trigger,
    /// Devices that share a layer's experts: expert-parallel ranks.
    pub devices: usize,
    /// Slots for copies of busy experts, on all devices together.
    pub redundant: usize,
}

/// Cost of moving an expert.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoveCost {
    /// Bytes that a device sends for one expert of a layer: weights, main copy and both moments.
    pub bytes_per_expert: f64,
    /// Bytes that a device sends or receives in a second, in an all-to-all of the group.
    pub bytes_per_second: f64,
}

impl MoveCost {
    /// An expert is a byte, and a byte takes a second: bytes and seconds are experts.
    pub(super) const UNIT: Self = Self { bytes_per_expert: 1.0, bytes_per_second: 1.0 };

    fn seconds(&self, bytes: f64) -> f64 {
        bytes / self.bytes_per_second.max(f64::MIN_POSITIVE)
    }
}

/// One layer's move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Migration {
    /// The step before which experts move.
    pub step: usize,
    /// The layer's position.
    pub layer: usize,
    /// Experts that change place or are copied.
    pub experts: usize,
    /// The most that a device sends or receives.
    pub bytes: f64,
    /// Time for that.
    pub seconds: f64,
}

/// Result of a planner's run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Imbalance over devices of each step and layer with experts in their first places.
    pub before: Vec<f64>,
    /// Imbalance over devices of each step and layer with the planner.
    pub after: Vec<f64>,
    /// Every move, in order.
    pub migrations: Vec<Migration>,
    /// Layers of a step.
    pub layers: usize,
    /// Where each layer's experts are in the end.
    pub placements: Vec<Placement>,
}

impl Outcome {
    /// Mean imbalance without the planner, from this step on.
    #[must_use]
    pub fn mean_before(&self, from_step: usize) -> f64 {
        mean(self.before.get(from_step * self.layers..).unwrap_or(&[]))
    }

    /// Mean imbalance with the planner, from this step on.
    #[must_use]
    pub fn mean_after(&self, from_step: usize) -> f64 {
        mean(self.after.get(from_step * self.layers..).unwrap_or(&[]))
    }

    /// The imbalance with the planner that this share of the steps and layers is not above, from
    /// this step on.
    #[must_use]
    pub fn quantile_after(&self, share: f64, from_step: usize) -> f64 {
        let mut sorted = self.after.get(from_step * self.layers..).unwrap_or(&[]).to_vec();
        sort_numbers(&mut sorted);
        let at = libm::ceil(share.clamp(0.0, 1.0) * sorted.len() as f64) as usize;
        sorted.get(at.max(1) - 1).copied().unwrap_or(1.0)
    }

    /// Share of the imbalance beyond 1 that the planner takes away, from this step on:
    /// 1 - (after - 1) / (before - 1) of the means; 0 where there is none.
    #[must_use]
    pub fn removed(&self, from_step: usize) -> f64 {
        let excess = self.mean_before(from_step) - 1.0;
        if excess > 0.0 { 1.0 - (self.mean_after(from_step) - 1.0) / excess } else { 0.0 }
    }

    /// Seconds of all moves from this step on, one layer after the other.
    #[must_use]
    pub fn migration_seconds(&self, from_step: usize) -> f64 {
        let late = |migration: &&Migration| migration.step >= from_step;
        self.migrations.iter().filter(late).map(|migration| migration.seconds).sum()
    }

    /// The outcome with the cost of its moves, for a run that was made with [`MoveCost::UNIT`]: no
    /// plan depends on it.
    pub(crate) fn at_cost(mut self, cost: &MoveCost) -> Self {
        for migration in &mut self.migrations {
            migration.bytes *= cost.bytes_per_expert;
            migration.seconds = cost.seconds(migration.bytes);
        }
        self
    }

    /// Imbalance before and after of one step: means over its layers.
    #[must_use]
    pub fn step(&self, step: usize) -> [f64; 2] {
        let start = step * self.layers;
        let row = |list: &[f64]| {
            list.get(start..start + self.layers).map_or(1.0, |row: &[f64]| mean(row))
        };
        [row(&self.before), row(&self.after)]
    }
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 1.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

impl Planner {
    /// The run of a trace with experts first placed contiguously.
    ///
    /// Before step t, every `interval` steps, loads are foretold from the steps before t and each
    /// layer gets a greedy plan, which it takes where the trigger says so. Beside the trace only
    /// sums of one step's size are held, and two numbers for each step and layer.
    ///
    /// # Source
    /// Pangu Ultra MoE, arXiv 2505.04519; MindSpeed, `moe_expert_load_balance_placeemnt.md`.
    #[must_use]
    pub fn run(&self, trace: &Trace, cost: &MoveCost) -> Outcome {
        self.run_on(trace, cost, unplanned(trace, self.devices))
    }

    /// [`Self::run`] with the imbalance without a planner given, see [`unplanned`].
    pub(super) fn run_on(&self, trace: &Trace, cost: &MoveCost, before: Vec<f64>) -> Outcome {
        let placement = Placement::contiguous(trace.experts(), self.devices, self.redundant);
        let first = Layer { placement, at_plan: 1.0, is_first: true, order: Vec::new() };
        let mut layers = vec![first; trace.layers()];
        let mut forecast = Forecast::new(self, trace);
        let mut outcome = Outcome { layers: trace.layers(), ..Outcome::default() };
        outcome.after.reserve(before.len());
        let mut loads = Vec::with_capacity(self.devices);
        for step in 0..trace.steps() {
            if self.plans_before(step) {
                forecast.look_back(self, trace, step);
                for (at, layer) in layers.iter_mut().enumerate() {
                    let predicted = forecast.loads(at);
                    if let Some(found) = self.replan(layer, predicted, cost) {
                        outcome.migrations.push(Migration { step, layer: at, ..found });
                    }
                }
            }
            for (at, layer) in layers.iter().enumerate() {
                let row = trace.row(step, at);
                outcome.after.push(match before.get(outcome.after.len()) {
                    Some(before) if layer.is_first => *before,
                    _ => layer.placement.token_imbalance(row, &mut loads),
                });
                forecast.see(self, step, at, row);
            }
        }
        outcome.before = before;
        outcome.placements = layers.into_iter().map(|layer| layer.placement).collect();
        outcome
    }

    /// Whether there is a plan before this step.
    fn plans_before(&self, step: usize) -> bool {
        self.predictor != Predictor::None && step > 0 && step.is_multiple_of(self.interval.max(1))
    }

    /// Gives a layer a new placement, where the trigger says so.
    fn replan(&self, layer: &mut Layer, predicted: &[f64], cost: &MoveCost) -> Option<Migration> {
        let mut now = Vec::with_capacity(self.devices);
        layer.placement.device_loads(predicted, &mut now);
        // What no plan could change isn't planned for: a spread is never below zero.
        let stays = match self.trigger {
            Trigger::Threshold(threshold) => coefficient_of_variation(&now) < threshold,
            Trigger::OnIncrease => imbalance(&now) <= layer.at_plan,
        };
        if stays {
            return None;
        }
        let (devices, redundant) = (self.devices, self.redundant);
        let plan = Placement::greedy_from(predicted, devices, redundant, &mut layer.order);
        let mut then = Vec::with_capacity(self.devices);
        plan.device_loads(predicted, &mut then);
        let better = match self.trigger {
            Trigger::Threshold(threshold) => {
                coefficient_of_variation(&now) - coefficient_of_variation(&then) >= threshold
            }
            Trigger::OnIncrease => imbalance(&then) < imbalance(&now),
        };
        if !better {
            return None;
        }
        let (experts, bytes) = self.traffic(&layer.placement, &plan, cost);
        layer.at_plan = imbalance(&then);
        layer.placement = plan;
        layer.is_first = false;
        let seconds = cost.seconds(bytes);
        (experts > 0).then_some(Migration { step: 0, layer: 0, experts, bytes, seconds })
    }

    /// Experts that move, and the most that a device sends or receives for it.
    fn traffic(&self, from: &Placement, to: &Placement, cost: &MoveCost) -> (usize, f64) {
        let moves = from.moves_to(to);
        let mut ends = vec![[0_u32; 2]; self.devices.max(1)];
        for one in &moves {
            ends[one.from as usize][0] += 1;
            ends[one.to as usize][1] += 1;
        }
        let most = ends.iter().map(|[sent, received]| *sent.max(received)).max().unwrap_or(0);
        (moves.len(), f64::from(most) * cost.bytes_per_expert)
    }
}

/// A layer while the run goes on.
#[derive(Clone)]
struct Layer {
    placement: Placement,
    /// Predicted imbalance right behind the last plan; 1 before the first one.
    at_plan: f64,
    /// Are the experts where they were before any plan?
    is_first: bool,
    /// The experts in the order of what was predicted at the last plan, the heaviest first.
    order: Vec<u32>,
}

/// Imbalance over devices of each step and layer with experts in their first places.
pub(super) fn unplanned(trace: &Trace, devices: usize) -> Vec<f64> {
    trace.rows().map(|(_, row)| Placement::first_imbalance(row, devices)).collect()
}

/// Planner's statistics of past loads.
struct Forecast {
    experts: usize,
    /// Load of each layer and expert: the average so far, or the sum over the window.
    loads: Vec<f64>,
}

impl Forecast {
    fn new(planner: &Planner, trace: &Trace) -> Self {
        let held = if planner.predictor == Predictor::None { 0 } else { trace.layers() };
        Self { experts: trace.experts(), loads: vec![0.0; held * trace.experts()] }
    }

    fn loads(&self, layer: usize) -> &[f64] {
        self.loads.get(layer * self.experts..(layer + 1) * self.experts).unwrap_or(&[])
    }

    /// Adds so many times the loads of these steps. Sums of whole tokens are exact.
    fn add(&mut self, trace: &Trace, steps: core::ops::Range<usize>, times: f64) {
        for step in steps {
            for layer in 0..trace.layers() {
                let start = layer * self.experts;
                let loads = self.loads[start..].iter_mut();
                for (load, count) in loads.zip(trace.row(step, layer)) {
                    *load += times * f64::from(*count);
                }
            }
        }
    }

    /// Sums the window before a plan: anew, or where windows overlap by what came and what went.
    fn look_back(&mut self, planner: &Planner, trace: &Trace, step: usize) {
        let Predictor::SlidingWindow(window) = planner.predictor else { return };
        let (window, interval) = (window.max(1), planner.interval.max(1));
        let before = step.saturating_sub(interval);
        if window <= interval || before == 0 {
            self.loads.fill(0.0);
            self.add(trace, step.saturating_sub(window)..step, 1.0);
        } else {
            self.add(trace, before..step, 1.0);
            self.add(trace, before.saturating_sub(window)..step.saturating_sub(window), -1.0);
        }
    }

    /// Takes a row into the moving average.
    fn see(&mut self, planner: &Planner, step: usize, layer: usize, row: &[u32]) {
        let Predictor::Ema(keep) = planner.predictor else { return };
        let range = layer * self.experts..(layer + 1) * self.experts;
        // The first step stands for all before it.
        let keep = if step == 0 { 0.0 } else { keep };
        let loads = self.loads.get_mut(range).into_iter().flatten();
        for (load, count) in loads.zip(row) {
            *load = keep * *load + (1.0 - keep) * f64::from(*count);
        }
    }
}
