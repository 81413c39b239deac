//! All of a design that the effect of its loads depends on, and the effect worked out from it.

use alloc::vec::Vec;

use super::capacity::{capacity, drop_ratio};
use super::drawn;
use super::effect::{Effect, StepLoads};
use super::generator::{Generator, Size};
use super::planner::{MoveCost, Outcome, Planner, Predictor, Trigger, unplanned};
use super::trace::{Trace, sum};
use crate::design::Design;
use crate::ground::choice::{self, Balance, PlannerTrigger};

/// Points of an interval that are sampled, at most.
const POINTS: usize = 5;
/// Intervals that are sampled.
const INTERVALS: usize = 3;
/// Layers that are sampled, at most.
const LAYERS: usize = 8;
/// Random numbers that a sample draws at most, where it has more than one layer.
const DRAWS: usize = 24_576;
/// Tokens of a sampled step: so many that whole tokens don't show.
const SAMPLED_TOKENS: u64 = 1 << 20;

/// All of a design that an [`Effect`] depends on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Inputs {
    pub(super) balance: Balance,
    pub(super) skew: f64,
    pub(super) predictor: choice::Planner,
    pub(super) trigger: PlannerTrigger,
    pub(super) window: u64,
    pub(crate) interval: u64,
    pub(super) threshold: f64,
    pub(super) redundant: u64,
    pub(super) devices: u64,
    pub(crate) experts: u64,
    pub(crate) topk: u64,
    pub(super) groups: u64,
    pub(crate) layers: u64,
    pub(super) capacity: Option<f64>,
    pub(super) pads: bool,
}

impl Inputs {
    pub(crate) fn new(design: &Design) -> Self {
        let (routing, transformer) = (&design.routing, &design.transformer);
        let balanced = transformer.moe_router_group_balanced;
        Self {
            balance: routing.balance,
            skew: routing.skew,
            predictor: routing.planner,
            trigger: routing.planner_trigger,
            window: routing.planner_window,
            interval: routing.planner_interval,
            threshold: routing.planner_threshold,
            redundant: routing.redundant_experts,
            devices: design.parallel.expert_model_parallel_size,
            experts: transformer.num_moe_experts.unwrap_or(1),
            topk: transformer.moe_router_topk,
            groups: if balanced { transformer.moe_router_num_groups.unwrap_or(1) } else { 1 },
            layers: transformer.moe_layers(),
            capacity: design.training.moe_expert_capacity_factor,
            pads: design.training.moe_pad_expert_input_to_capacity,
        }
    }

    /// Whether there is a planner, and something to plan.
    pub(crate) fn plans(&self) -> bool {
        self.predictor != choice::Planner::None
    }

    /// The generator of these loads.
    pub(crate) fn generator(&self) -> Generator {
        let groups = self.groups.max(1) as usize;
        Generator { skew: self.skew, groups, ..Generator::default() }
    }

    /// The planner, on steps that stand for `stride` steps of the run each.
    pub(crate) fn planner(&self, stride: u64) -> Planner {
        let window = (self.window as f64 / stride as f64 + 0.5) as usize;
        Planner {
            predictor: match self.predictor {
                choice::Planner::None => Predictor::None,
                choice::Planner::SlidingWindow => Predictor::SlidingWindow(window.max(1)),
                choice::Planner::Ema => Predictor::Ema(libm::pow(EMA_KEEP, stride as f64)),
            },
            interval: (self.interval.max(1) / stride).max(1) as usize,
            trigger: match self.trigger {
                PlannerTrigger::Threshold => Trigger::Threshold(self.threshold),
                PlannerTrigger::OnIncrease => Trigger::OnIncrease,
            },
            devices: self.devices.max(1) as usize,
            redundant: self.redundant as usize,
        }
    }

    /// The effect of the generator's loads, from a small sample: up to [`LAYERS`] layers over the
    /// depth, and [`INTERVALS`] intervals of the planner in up to [`POINTS`] points each, of which
    /// the first, before any plan, counts only for memory. Without a planner one point.
    pub(super) fn generated_effect(&self) -> Effect {
        let experts = self.experts.max(1) as usize;
        let room = |rows: usize, most: usize| (DRAWS / (experts * rows)).clamp(1, most);
        let layers = room(INTERVALS, LAYERS).min(self.layers.max(1) as usize);
        let planned = self.plans();
        let interval = self.interval.max(1) as usize;
        let stride = interval.div_ceil(room(INTERVALS * layers, POINTS));
        let points = if planned { interval / stride } else { 1 };
        let steps = if planned { points * INTERVALS } else { 1 };
        let (tokens, topk) = (SAMPLED_TOKENS, self.topk.max(1));
        let size = Size { steps, stride, layers, experts, tokens, topk };
        let planner = Planner { interval: points, ..self.planner(stride as u64) };
        match drawn::trace(&self.generator(), &size) {
            Ok(trace) => {
                let loads = Loads::new(self, &trace);
                let outcome = loads.run(&trace, &planner);
                self.measure(&trace, &loads, &planner, &outcome, if planned { points } else { 0 })
            }
            Err(_) => Effect::UNIFORM,
        }
    }

    /// Measures what a planner made of loads, from this step on.
    pub(super) fn measure(
        &self,
        trace: &Trace,
        loads: &Loads,
        planner: &Planner,
        outcome: &Outcome,
        from: usize,
    ) -> Effect {
        let drop_ratio = loads.drop_ratio(from * trace.layers());
        let moved = moved(outcome, planner, trace, from, self.interval);
        // Padded experts compute their whole capacity, whatever they get.
        let even = Effect { drop_ratio, moved, ..Effect::UNIFORM };
        if self.pads && self.capacity.is_some() {
            return even;
        }
        let steps = StepLoads {
            imbalance: outcome.mean_after(from),
            imbalance_unplanned: outcome.mean_before(from),
            fullest: outcome.quantile_after(Effect::FULLEST_SHARE, 0),
        };
        let StepLoads { imbalance, imbalance_unplanned, fullest } = steps;
        Effect { imbalance, imbalance_unplanned, fullest, steps, ..even }
    }

    /// A number that inputs which differ hardly ever share: FNV-1a of their bits.
    pub(super) fn digest(&self) -> u64 {
        let Self { balance, skew, predictor, trigger, window, interval, threshold, .. } = *self;
        let kinds = [balance as u64, predictor as u64, trigger as u64, u64::from(self.pads)];
        let sizes = [
            window,
            interval,
            self.redundant,
            self.devices,
            self.experts,
            self.topk,
            self.groups,
            self.layers,
        ];
        let reals = [skew, threshold, self.capacity.unwrap_or(-1.0)].map(f64::to_bits);
        let words = kinds.into_iter().chain(sizes).chain(reals);
        words.flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// All of these that [`Loads`] depend on.
    pub(crate) const fn of_loads(&self) -> (u64, Option<f64>) {
        (self.devices, self.capacity)
    }
}

/// Values that the effect of a trace's loads needs and that don't depend on a planner.
pub(crate) struct Loads {
    /// Trace that a capacity lets through.
    clipped: Option<Trace>,
    /// The share that it drops, by step and layer.
    drops: Vec<f64>,
    /// The imbalance with experts in their first places, by step and layer.
    before: Vec<f64>,
}

impl Loads {
    pub(crate) fn new(inputs: &Inputs, trace: &Trace) -> Self {
        let clipped = inputs.capacity.and_then(|factor| clipped(trace, factor));
        let drops = inputs.capacity.map_or_else(Vec::new, |factor| {
            trace.rows().map(|(_, row)| drop_ratio(row, factor)).collect()
        });
        let devices = inputs.devices.max(1) as usize;
        let before = unplanned(clipped.as_ref().unwrap_or(trace), devices);
        Self { clipped, drops, before }
    }

    /// Outcome of a planner on these loads, when moving an expert takes a second.
    pub(crate) fn run(&self, trace: &Trace, planner: &Planner) -> Outcome {
        let kept = self.clipped.as_ref().unwrap_or(trace);
        planner.run_on(kept, &MoveCost::UNIT, self.before.clone())
    }

    /// Does every copy get through?
    pub(crate) const fn are_whole(&self) -> bool {
        self.clipped.is_none()
    }

    /// The mean share that a capacity drops from this row on.
    fn drop_ratio(&self, from: usize) -> f64 {
        let drops = self.drops.get(from..).unwrap_or(&[]);
        if drops.is_empty() { 0.0 } else { drops.iter().sum::<f64>() / drops.len() as f64 }
    }
}

/// MindSpeed's share that the moving average keeps in a step.
const EMA_KEEP: f64 = 0.9;

/// Experts that the busiest rank moves for one layer in one step of the run: the mean over the
/// plans from this step on, one every `interval` steps.
fn moved(outcome: &Outcome, planner: &Planner, trace: &Trace, from: usize, interval: u64) -> f64 {
    if planner.predictor == Predictor::None {
        return 0.0;
    }
    // The first plan, which brings order into the first places, is made once in a run.
    let from = from + 1;
    let plans = (trace.steps() - 1) / planner.interval.max(1);
    let later = plans.saturating_sub((from - 1) / planner.interval.max(1));
    let all = outcome.migration_seconds(from) / trace.layers() as f64;
    if later > 0 { all / later as f64 / interval.max(1) as f64 } else { 0.0 }
}

/// Trace that a capacity lets through.
fn clipped(trace: &Trace, factor: f64) -> Option<Trace> {
    let mut counts = Vec::with_capacity(trace.steps() * trace.layers() * trace.experts());
    for (_, row) in trace.rows() {
        let most = capacity(factor, sum(row) as f64, row.len() as f64);
        counts.extend(row.iter().map(|count| f64::from(*count).min(most) as u32));
    }
    Trace::new([trace.steps(), trace.layers(), trace.experts()], counts).ok()
}
