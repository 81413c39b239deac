//! What uneven loads do to a design: the few numbers that an estimate needs.

pub(super) mod presets;

use alloc::vec::Vec;

use super::capacity::{capacity, drop_ratio};
use super::generator::{Generator, Size};
use super::known;
use super::noise::Exchange;
use super::planner::{MoveCost, Outcome, Planner, Predictor, Trigger, unplanned};
use super::trace::{Trace, sum};
use crate::choice::{self, Balance, PlannerTrigger};
use crate::design::Design;
use crate::layout;

/// What uneven loads do to a design.
///
/// The loads of a step depend on the routing knobs, the experts, the router, the capacity and EP
/// alone, so that a sweep over anything else computes them once. Those of its micro-batches vary
/// around them, by a formula of a few sizes: no planner foresees that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Tokens of the fullest expert-parallel rank over the mean, with the planner and what a
    /// capacity drops: mean over steps, layers and micro-batches.
    pub imbalance: f64,
    /// The same without the planner.
    pub imbalance_unplanned: f64,
    /// The imbalance that memory must hold: that of the fullest steps and layers, with the mean of
    /// their micro-batches. A stage holds many micro-batches and layers at once, which don't all
    /// fill the same rank.
    pub fullest: f64,
    /// Share of token copies that a capacity drops of the loads of steps.
    pub drop_ratio: f64,
    /// Experts that the busiest rank sends or receives for one layer in one step, in the mean.
    pub moved: f64,
    /// What a planner can take away: the imbalance of the steps' own loads.
    pub steps: StepLoads,
    /// What it can't: the imbalance beyond 1 that micro-batches would have if their steps were
    /// even.
    pub noise: f64,
}

/// The imbalance of loads that are summed over a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLoads {
    /// Tokens of the fullest rank over the mean, with the planner: mean over steps and layers.
    pub imbalance: f64,
    /// The same without the planner.
    pub imbalance_unplanned: f64,
    /// The imbalance that [`Effect::FULLEST_SHARE`] of all steps and layers is not above, those
    /// before the first plan among them.
    pub fullest: f64,
}

impl StepLoads {
    const EVEN: Self = Self { imbalance: 1.0, imbalance_unplanned: 1.0, fullest: 1.0 };

    /// Share of the imbalance beyond 1 that the planner takes away; 0 where there is none.
    #[must_use]
    pub fn removed(&self) -> f64 {
        removed(self.imbalance_unplanned, self.imbalance)
    }
}

/// 1 - (after - 1) / (before - 1); 0 where there is nothing to take away.
fn removed(before: f64, after: f64) -> f64 {
    if before > 1.0 { 1.0 - (after - 1.0) / (before - 1.0) } else { 0.0 }
}

impl Effect {
    /// Even loads without a capacity: no effect.
    pub const UNIFORM: Self = Self {
        imbalance: 1.0,
        imbalance_unplanned: 1.0,
        fullest: 1.0,
        drop_ratio: 0.0,
        moved: 0.0,
        steps: StepLoads::EVEN,
        noise: 0.0,
    };

    /// Memory holds the step loads of this share of steps and layers.
    pub const FULLEST_SHARE: f64 = 0.99;

    /// The effect of a design's own loads: none where they are even, the generator's where they
    /// are skewed. A trace isn't part of a design, so that traced loads have none here.
    #[must_use]
    pub fn of(design: &Design) -> Self {
        match design.routing.balance {
            Balance::Uniform | Balance::Trace => Self::UNIFORM,
            Balance::Skewed => known::effect(&Inputs::new(design)).in_micro_batches(design),
        }
    }

    /// The effect of recorded loads.
    #[must_use]
    pub fn traced(design: &Design, trace: &Trace) -> Self {
        let loads = Loads::new(&Inputs::new(design), trace);
        Self::of_loads(design, trace, &loads)
    }

    /// The same of loads that were made ready for a design with the same devices and capacity.
    pub(super) fn of_loads(design: &Design, trace: &Trace, loads: &Loads) -> Self {
        let outcome = loads.run(trace, &Inputs::new(design).planner(1));
        Self::of_run(design, trace, loads, &outcome)
    }

    /// The same of what a design's planner made of these loads.
    pub(super) fn of_run(design: &Design, trace: &Trace, loads: &Loads, outcome: &Outcome) -> Self {
        let inputs = Inputs { experts: trace.experts() as u64, ..Inputs::new(design) };
        let planner = inputs.planner(1);
        let planned = planner.predictor != Predictor::None && trace.steps() > planner.interval;
        let from = if planned { planner.interval } else { 0 };
        inputs.measure(trace, loads, &planner, outcome, from).in_micro_batches(design)
    }

    /// The effect of the generator's loads, from a small sample: up to [`LAYERS`] layers over the
    /// depth, and [`INTERVALS`] intervals of the planner in up to [`POINTS`] points each, of which
    /// the first, before any plan, counts only for memory. Without a planner one point.
    pub(super) fn generated(inputs: &Inputs) -> Self {
        let experts = inputs.experts.max(1) as usize;
        let room = |rows: usize, most: usize| (DRAWS / (experts * rows)).clamp(1, most);
        let layers = room(INTERVALS, LAYERS).min(inputs.layers.max(1) as usize);
        let planned = inputs.plans();
        let interval = inputs.interval.max(1) as usize;
        let stride = interval.div_ceil(room(INTERVALS * layers, POINTS));
        let points = if planned { interval / stride } else { 1 };
        let steps = if planned { points * INTERVALS } else { 1 };
        let (tokens, topk) = (SAMPLED_TOKENS, inputs.topk.max(1));
        let size = Size { steps, stride, layers, experts, tokens, topk };
        let planner = Planner { interval: points, ..inputs.planner(stride as u64) };
        match inputs.generator().trace(&size) {
            Ok(trace) => {
                let loads = Loads::new(inputs, &trace);
                let outcome = loads.run(&trace, &planner);
                inputs.measure(&trace, &loads, &planner, &outcome, if planned { points } else { 0 })
            }
            Err(_) => Self::UNIFORM,
        }
    }

    /// The same step loads in the micro-batches of this design, whose routing they are of.
    ///
    /// Of independent normal loads of devices the excess of the largest over the mean adds up like
    /// spreads do: as the square root of the sum of squares.
    #[must_use]
    pub fn in_micro_batches(self, design: &Design) -> Self {
        let exchange = Exchange::of(design);
        let noise = exchange.as_ref().map_or(0.0, Exchange::noise);
        let capacity = design.training.moe_expert_capacity_factor;
        let most = capacity.map_or(f64::INFINITY, |factor| factor / (1.0 - self.drop_ratio));
        let most = exchange.map_or(most, |exchange| most.min(exchange.most()));
        let both = |steps: f64| {
            let excess = steps - 1.0;
            let both = libm::sqrt(excess * excess + noise * noise);
            if noise > 0.0 { (1.0 + both).min(most).max(steps) } else { steps }
        };
        Self {
            imbalance: both(self.steps.imbalance),
            imbalance_unplanned: both(self.steps.imbalance_unplanned),
            fullest: both(self.steps.fullest),
            noise,
            ..self
        }
    }

    /// Share of the imbalance beyond 1 that the planner takes away, of the micro-batches' loads.
    #[must_use]
    pub fn removed(&self) -> f64 {
        removed(self.imbalance_unplanned, self.imbalance)
    }

    /// As it would be if every rank got the same of what a capacity lets through.
    #[must_use]
    pub const fn even(&self) -> Self {
        Self { drop_ratio: self.drop_ratio, ..Self::UNIFORM }
    }
}

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
    balance: Balance,
    skew: f64,
    predictor: choice::Planner,
    trigger: PlannerTrigger,
    window: u64,
    pub(super) interval: u64,
    threshold: f64,
    redundant: u64,
    devices: u64,
    pub(super) experts: u64,
    pub(super) topk: u64,
    groups: u64,
    pub(super) layers: u64,
    capacity: Option<f64>,
    pads: bool,
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
            layers: layout::moe_layers(design),
            capacity: design.training.moe_expert_capacity_factor,
            pads: design.training.moe_pad_expert_input_to_capacity,
        }
    }

    /// Is there a planner, and something to plan?
    pub(super) fn plans(&self) -> bool {
        self.predictor != choice::Planner::None
    }

    /// The generator of these loads.
    pub(super) fn generator(&self) -> Generator {
        let groups = self.groups.max(1) as usize;
        Generator { skew: self.skew, groups, ..Generator::default() }
    }

    /// The planner, on steps that stand for `stride` steps of the run each.
    pub(super) fn planner(&self, stride: u64) -> Planner {
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

    /// Measures what a planner made of loads, from this step on.
    fn measure(
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
    pub(super) const fn of_loads(&self) -> (u64, Option<f64>) {
        (self.devices, self.capacity)
    }
}

/// What loads of a trace need to be measured and doesn't depend on a planner.
pub(super) struct Loads {
    /// What a capacity lets through.
    clipped: Option<Trace>,
    /// The share that it drops, by step and layer.
    drops: Vec<f64>,
    /// The imbalance with experts in their first places, by step and layer.
    before: Vec<f64>,
}

impl Loads {
    pub(super) fn new(inputs: &Inputs, trace: &Trace) -> Self {
        let clipped = inputs.capacity.and_then(|factor| clipped(trace, factor));
        let drops = inputs.capacity.map_or_else(Vec::new, |factor| {
            trace.rows().map(|(_, row)| drop_ratio(row, factor)).collect()
        });
        let devices = inputs.devices.max(1) as usize;
        let before = unplanned(clipped.as_ref().unwrap_or(trace), devices);
        Self { clipped, drops, before }
    }

    /// What a planner makes of them, when to move an expert takes a second.
    pub(super) fn run(&self, trace: &Trace, planner: &Planner) -> Outcome {
        let kept = self.clipped.as_ref().unwrap_or(trace);
        planner.run_on(kept, &MoveCost::UNIT, self.before.clone())
    }

    /// Does every copy get through?
    pub(super) const fn are_whole(&self) -> bool {
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

/// What a capacity lets through.
fn clipped(trace: &Trace, factor: f64) -> Option<Trace> {
    let mut counts = Vec::with_capacity(trace.steps() * trace.layers() * trace.experts());
    for (_, row) in trace.rows() {
        let most = capacity(factor, sum(row) as f64, row.len() as f64);
        counts.extend(row.iter().map(|count| f64::from(*count).min(most) as u32));
    }
    Trace::new([trace.steps(), trace.layers(), trace.experts()], counts).ok()
}
