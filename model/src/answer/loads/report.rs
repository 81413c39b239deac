//! A run of a plan's loads, as views and tables show it.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::design::Design;
use crate::ground::choice::{Balance, PlannerTrigger};
use crate::ground::units::{Bytes, Seconds};
use crate::routing::inputs::{Inputs, Loads};
use crate::routing::measure::imbalance;
use crate::routing::{
    Effect, MoveCost, Outcome, Placement, Planner, Predictor, Size, Trace, lower_bound,
};
use crate::training::plan::Plan;
use crate::training::step::estimate;

/// Intervals of the planner that a generated run shows.
const INTERVALS: usize = 4;
/// Points of each of them, at most.
const POINTS: usize = 8;
/// Points of a run without a planner.
const UNPLANNED: usize = 16;
/// Number of bytes at which a move's set-up time doesn't show.
const MANY_BYTES: f64 = 1e9;
/// Tokens of a generated step: so many that whole tokens don't show.
const TOKENS: u64 = 1 << 20;

/// A run of a plan's loads: what was routed where, and what the planner made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The loads: generated, or recorded.
    pub trace: Arc<Trace>,
    /// A sample of a few of its layers and steps, for callers that evaluate it again and again.
    pub sample: Trace,
    /// Steps of the run from one step of [`Self::trace`] to the next.
    pub stride: usize,
    /// Where the experts are before any plan.
    pub first: Placement,
    /// Result of the planner.
    pub outcome: Outcome,
    /// The step of [`Self::trace`] before which the first plan is made.
    pub from: usize,
    /// Slots for experts on a device.
    slots: usize,
    /// Tokens of every layer's experts from the first plan on.
    tokens: Vec<f64>,
}

/// A planner's interval and trigger, and what a step costs with them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cadence {
    /// Steps from one plan to the next.
    pub interval: u64,
    /// The fall of the coefficient of variation from which on experts are moved; none to move them
    /// whenever the imbalance has risen.
    pub threshold: Option<f64>,
    /// Mean imbalance of the step's layers with it.
    pub imbalance: f64,
    /// The step, moves included.
    pub step_time: Seconds,
    /// Time of the moves in it.
    pub migration: Seconds,
}

impl Report {
    /// The run of a plan: of its trace where it has one at hand, else of the generator.
    ///
    /// `None` where every expert gets the same, where there are no experts, and where the loads
    /// are recorded and aren't at hand.
    #[must_use]
    pub fn of(plan: &Plan, trace: Option<&Arc<Trace>>) -> Option<Self> {
        let inputs = Inputs::new(plan.design());
        let (trace, stride) = match (plan.design().routing.balance, trace) {
            (Balance::Uniform, _) | (Balance::Trace, None) => return None,
            (Balance::Trace, Some(trace)) => (Arc::clone(trace), 1),
            (Balance::Skewed, _) => {
                let (trace, stride) = generated(&inputs)?;
                (Arc::new(trace), stride)
            }
        };
        let planner = inputs.planner(stride as u64);
        let outcome = planner.run(&trace, &move_cost(plan));
        let tokens = |from: usize| floats(&tokens(&trace, from..trace.steps()));
        Self::new(Arc::clone(&trace), stride, &planner, outcome, tokens)
    }

    /// A report of what a planner made of loads, with the tokens of every layer's experts from a
    /// step on.
    pub(super) fn new(
        trace: Arc<Trace>,
        stride: usize,
        planner: &Planner,
        outcome: Outcome,
        tokens: impl FnOnce(usize) -> Vec<f64>,
    ) -> Option<Self> {
        let first = Placement::contiguous(trace.experts(), planner.devices, planner.redundant);
        let planned = planner.predictor != Predictor::None && trace.steps() > planner.interval;
        let from = if planned { planner.interval } else { 0 };
        let slots = first.slots_per_device();
        let sample = sample(&trace, SAMPLED_STEPS)?;
        let tokens = tokens(from);
        Some(Self { trace, sample, stride, first, outcome, from, slots, tokens })
    }

    /// Tokens of each device over their mean, by layer, from the first plan on; with the experts
    /// where they are in the end, or in their first places.
    #[must_use]
    pub fn device_loads(&self, planned: bool) -> Vec<Vec<f64>> {
        let layers = 0..self.trace.layers();
        let mut loads = Vec::new();
        layers
            .map(|layer| {
                let placement = if planned { &self.outcome.placements[layer] } else { &self.first };
                placement.device_loads(self.tokens(layer), &mut loads);
                let mean = loads.iter().sum::<f64>() / loads.len().max(1) as f64;
                loads.iter().map(|load| load / mean.max(f64::MIN_POSITIVE)).collect()
            })
            .collect()
    }

    /// Tokens of each expert of a layer over their mean, in every so manieth step.
    #[must_use]
    pub fn expert_loads(&self, layer: usize, every: usize) -> Vec<Vec<f64>> {
        let row = |step: usize| {
            let row = self.trace.row(step, layer);
            let sum: f64 = row.iter().map(|count| f64::from(*count)).sum();
            let mean = (sum / row.len().max(1) as f64).max(f64::MIN_POSITIVE);
            row.iter().map(|count| f64::from(*count) / mean).collect()
        };
        (0..self.trace.steps()).step_by(every.max(1)).map(row).collect()
    }

    /// The imbalance below which no placement of whole experts comes, by layer.
    #[must_use]
    pub fn bounds(&self) -> Vec<f64> {
        let devices = self.first.devices();
        let bound = |layer: usize| {
            let loads = self.tokens(layer);
            let mean = loads.iter().sum::<f64>() / devices.max(1) as f64;
            lower_bound(loads, devices, self.slots) / mean.max(f64::MIN_POSITIVE)
        };
        (0..self.trace.layers()).map(bound).collect()
    }

    /// The layer whose experts' loads differ most.
    #[must_use]
    pub fn most_uneven_layer(&self) -> usize {
        let layers = (0..self.trace.layers()).map(|layer| (layer, imbalance(self.tokens(layer))));
        layers.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(layer, _)| layer)
    }

    /// Bytes that the busiest device moves in the run, of all layers.
    #[must_use]
    pub fn moved(&self) -> Bytes {
        Bytes::new(self.outcome.migrations.iter().map(|migration| migration.bytes).sum())
    }

    /// Tokens of a layer's experts from the first plan on.
    fn tokens(&self, layer: usize) -> &[f64] {
        let experts = self.trace.experts();
        self.tokens.get(layer * experts..(layer + 1) * experts).unwrap_or(&[])
    }
}

/// Cost of a plan's moves of experts.
pub(super) fn move_cost(plan: &Plan) -> MoveCost {
    MoveCost {
        bytes_per_expert: plan.moved_expert_bytes().get(),
        bytes_per_second: MANY_BYTES / plan.deployment.expert_exchange_seconds(MANY_BYTES),
    }
}

/// Tokens of every layer's experts in these steps, the experts of a layer side by side.
pub(super) fn tokens(trace: &Trace, steps: Range<usize>) -> Vec<u64> {
    let mut sums = vec![0_u64; trace.layers() * trace.experts()];
    for step in steps {
        for (layer, sums) in sums.chunks_exact_mut(trace.experts()).enumerate() {
            for (sum, count) in sums.iter_mut().zip(trace.row(step, layer)) {
                *sum += u64::from(*count);
            }
        }
    }
    sums
}

/// Whole tokens as loads.
pub(super) fn floats(tokens: &[u64]) -> Vec<f64> {
    tokens.iter().map(|count| *count as f64).collect()
}

/// A trace with every k-th layer and step of another one, at most [`SAMPLED_LAYERS`] and this many.
pub(super) fn sample(trace: &Trace, steps: usize) -> Option<Trace> {
    let every_layer = trace.layers().div_ceil(SAMPLED_LAYERS).max(1);
    let every_step = trace.steps().div_ceil(steps).max(1);
    let mut counts = Vec::new();
    for step in (0..trace.steps()).step_by(every_step) {
        for layer in (0..trace.layers()).step_by(every_layer) {
            counts.extend_from_slice(trace.row(step, layer));
        }
    }
    let layers = trace.layers().div_ceil(every_layer);
    let steps = trace.steps().div_ceil(every_step);
    Trace::new([steps, layers, trace.experts()], counts).ok()
}

/// The generator's loads for a design, and the steps between two of them.
fn generated(inputs: &Inputs) -> Option<(Trace, usize)> {
    let interval = inputs.interval.max(1) as usize;
    let stride = if inputs.plans() { interval.div_ceil(POINTS) } else { 1 };
    let steps = if inputs.plans() { interval / stride * INTERVALS } else { UNPLANNED };
    let size = Size {
        steps: steps.max(1),
        stride,
        layers: inputs.layers.max(1) as usize,
        experts: inputs.experts.max(1) as usize,
        tokens: TOKENS,
        topk: inputs.topk.max(1),
    };
    let trace = inputs.generator().trace(&size).ok()?;
    Some((trace, stride))
}

/// Layers and steps of a trace that are looked at again and again, at most.
const SAMPLED_LAYERS: usize = 8;
const SAMPLED_STEPS: usize = 64;
/// Steps between plans that are compared.
const COMPARED: [u64; 7] = [1, 5, 10, 20, 50, 100, 200];
/// Thresholds that are compared.
const THRESHOLDS: [f64; 2] = [0.02, 0.08];

/// Step time of a plan for each interval and trigger of its planner: the first of each trigger that
/// moves less often than it pays is where it breaks even.
///
/// Empty where there is nothing to plan.
#[must_use]
pub fn cadences(plan: &Plan, trace: Option<&Trace>) -> Vec<Cadence> {
    let design = plan.design();
    if !is_planned(design) {
        return Vec::new();
    }
    let trace = trace.and_then(|trace| sample(trace, trace.steps()));
    let loads = trace.map(|trace| (Loads::new(&Inputs::new(design), &trace), trace));
    let all = compared(design).filter_map(|(threshold, design)| {
        let plan = match &loads {
            Some((loads, trace)) => {
                Plan::with_effect(&design, Effect::of_loads(&design, trace, loads))
            }
            None => Plan::new(&design),
        };
        plan.ok().map(|plan| Cadence::of(&plan, threshold))
    });
    all.collect()
}

/// Are there loads to plan for?
pub(super) fn is_planned(design: &Design) -> bool {
    Inputs::new(design).plans() && design.routing.balance != Balance::Uniform
}

/// A design with each interval and threshold that is compared: the same designs for all that
/// differ in these alone.
pub(super) fn compared(design: &Design) -> impl Iterator<Item = (Option<f64>, Design)> + '_ {
    let triggers = THRESHOLDS.into_iter().map(Some).chain([None]);
    let all = triggers.flat_map(|trigger| COMPARED.map(|interval| (trigger, interval)));
    all.map(|(threshold, interval)| {
        let mut design = design.clone();
        design.routing.planner_interval = interval;
        design.routing.planner_trigger = match threshold {
            Some(_) => PlannerTrigger::Threshold,
            None => PlannerTrigger::OnIncrease,
        };
        design.routing.planner_threshold = threshold.unwrap_or(THRESHOLDS[0]);
        (threshold, design)
    })
}

impl Cadence {
    /// Cost of a plan's step with its planner's interval.
    pub(super) fn of(plan: &Plan, threshold: Option<f64>) -> Self {
        Self {
            interval: plan.design().routing.planner_interval,
            threshold,
            imbalance: plan.effect().imbalance,
            step_time: estimate(plan).metrics.step_time,
            migration: plan.migration_time(),
        }
    }
}
