//! The cheapest way to make a design fit: what is computed again, parked or shared out.
//!
//! Every saver is estimated alone; those that free most for their time are added until the design
//! fits, then each is left out again that isn't needed. Beside these there are whole layers, the
//! fewest of each stage. It is a heuristic: what comes of it is refined by [`super::tuning`].

use alloc::vec::Vec;

use super::space::Space;
use crate::design::{Design, KnobId, PerStage};
use crate::ground::choice::{
    Choice, RecomputeGranularity, RecomputeMethod, RecomputeModule, Set, ShardingStrategy,
    SwapModule, ZeroMemory,
};
use crate::rules::rules;
use crate::search::find::rank;
use crate::search::fit::whole_layers;
use crate::training::estimate::Metrics;
use crate::training::estimator::Estimator;

/// The share of the device's memory that is free at the peak; negative where it doesn't fit.
#[must_use]
pub fn spare(metrics: &Metrics) -> f64 {
    1.0 - metrics.memory_peak / metrics.memory_limit
}

/// A way to free memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saver {
    Recompute(RecomputeModule),
    ZeroMemory(ZeroMemory),
    Swap(SwapModule),
    /// Quarters of the layers whose activations are offloaded, where there is one stage.
    Offload(u64),
    Shard(ShardingStrategy),
}

impl Saver {
    pub(super) fn apply(self, design: &mut Design) {
        let memory = &mut design.memory;
        match self {
            Self::Recompute(module) => {
                memory.recompute_granularity = RecomputeGranularity::Selective;
                memory.recompute_modules = memory.recompute_modules.with(module);
            }
            Self::ZeroMemory(level) => memory.moe_zero_memory = level,
            Self::Swap(module) => memory.swap_modules = memory.swap_modules.with(module),
            Self::Offload(quarters) => {
                let layers = design.transformer.num_layers;
                memory.cpu_offloading_num_layers = layers * quarters / 4;
            }
            Self::Shard(strategy) => design.parallel.data_parallel_sharding_strategy = strategy,
        }
    }
}

/// A design with what closed forms say of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Closed {
    pub(super) design: Design,
    pub(super) metrics: Metrics,
    /// Whether none of its neighbours is better.
    pub(super) is_settled: bool,
}

impl Closed {
    pub(super) fn new(estimator: &mut Estimator, design: Design) -> Option<Self> {
        let metrics = estimator.metrics(&design).ok()?;
        Some(Self { design, metrics, is_settled: false })
    }

    /// Value of the design to the search, in tokens per second.
    pub(super) fn worth(&self, space: &Space) -> f64 {
        space.worth(&self.design, &self.metrics)
    }
}

/// Share of the memory limit that a design may fill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Room(pub(super) f64);

impl Room {
    pub(super) fn holds(self, metrics: &Metrics) -> bool {
        metrics.fits && metrics.memory_peak <= metrics.memory_limit * self.0
    }
}

/// Fill of the fuller memory, over its limit; above 1 where the host's is too small.
pub(super) fn pressure(metrics: &Metrics) -> f64 {
    let device = metrics.memory_peak / metrics.memory_limit;
    if metrics.fits || device > 1.0 { device } else { 1.0 + device }
}

/// Whether a design doesn't fit although the device holds it: what it parks is more than the host
/// has room for.
fn overflows_host(metrics: &Metrics) -> bool {
    !metrics.fits && metrics.memory_peak <= metrics.memory_limit
}

/// The savers of a space.
pub(super) fn savers(space: &Space) -> Vec<Saver> {
    let mut savers = Vec::new();
    let design = &space.base;
    if space.is_free(KnobId::recompute_granularity) {
        savers.extend(RecomputeModule::ALL.iter().map(|module| Saver::Recompute(*module)));
    }
    if space.is_free(KnobId::moe_zero_memory) {
        savers.extend([ZeroMemory::Level0, ZeroMemory::Level1].map(Saver::ZeroMemory));
    }
    if space.is_free(KnobId::swap_modules) {
        let modules = SwapModule::ALL.iter().copied();
        savers.extend(modules.map(Saver::Swap));
    }
    if space.is_free(KnobId::cpu_offloading_num_layers) {
        savers.extend((1..=4).map(Saver::Offload));
    }
    if space.is_free(KnobId::data_parallel_sharding_strategy) {
        let more = [ShardingStrategy::OptimGrads, ShardingStrategy::OptimGradsParams];
        savers.extend(more.map(Saver::Shard));
    }
    savers.retain(|saver| {
        // What the model has no tensors for is illegal at any place.
        let mut with = design.clone();
        saver.apply(&mut with);
        let breaks =
            |knob| rules().iter().any(|rule| rule.knobs.contains(&knob) && rule.is_broken(&with));
        match saver {
            Saver::Recompute(_) => {
                !breaks(KnobId::recompute_modules)
                    && space.can_say(&with, KnobId::recompute_modules)
            }
            Saver::Swap(_) => {
                !breaks(KnobId::swap_modules) && space.can_say(&with, KnobId::swap_modules)
            }
            Saver::Offload(_) => space.can_say(&with, KnobId::cpu_offloading_num_layers),
            Saver::ZeroMemory(_) => space.can_say(&with, KnobId::moe_zero_memory),
            Saver::Shard(_) => true,
        }
    });
    savers
}

/// A search for what makes designs of a space fit.
pub(super) struct Fitting<'a> {
    pub(super) space: &'a Space,
    pub(super) savers: &'a [Saver],
    /// Estimates so far.
    pub(super) evaluated: u64,
    /// Tokens per second that a design has to exceed: what saves memory only costs time, so one
    /// that is slower already is given up.
    pub(super) worth: f64,
    /// Whether designs are alike enough for the order of savers of one to be that of the next.
    alike: bool,
    /// That order, the cheapest first, once it is known.
    order: Option<Vec<Saver>>,
}

impl<'a> Fitting<'a> {
    pub(super) fn new(space: &'a Space, savers: &'a [Saver]) -> Self {
        Self { space, savers, evaluated: 0, worth: 0.0, alike: false, order: None }
    }

    /// Fitting of designs that differ in their schedule alone, where little time is to be spent.
    pub(super) fn alike(space: &'a Space, savers: &'a [Saver]) -> Self {
        Self { alike: true, ..Self::new(space, savers) }
    }

    fn is_worth(&self, closed: &Closed) -> bool {
        closed.worth(self.space) > self.worth
    }

    pub(super) fn closed(&mut self, estimator: &mut Estimator, design: Design) -> Option<Closed> {
        self.evaluated += 1;
        if self.space.keeps(&design) { Closed::new(estimator, design) } else { None }
    }

    /// The fastest way found in which a design with nothing saved fits; the one that comes nearest
    /// where none does.
    pub(super) fn fit(&mut self, estimator: &mut Estimator, light: &Closed, room: Room) -> Closed {
        if room.holds(&light.metrics) {
            return light.clone();
        }
        let parts = self.with_parts(estimator, light, light, room);
        let whole = self.with_layers(estimator, light, room);
        match whole {
            Some(whole) if is_better(self.space, &whole, &parts, room) => whole,
            _ => parts,
        }
    }

    /// Savers that free most for their time, added until it fits; from a design that may have
    /// some already.
    fn with_parts(
        &mut self,
        estimator: &mut Estimator,
        light: &Closed,
        from: &Closed,
        room: Room,
    ) -> Closed {
        let is_light = from.design.memory.recompute_granularity != RecomputeGranularity::Full;
        let known = self.order.clone().filter(|_| is_light);
        let order = known.unwrap_or_else(|| {
            let order = self.ranked(estimator, from, is_light);
            if self.alike && is_light {
                self.order = Some(order.clone());
            }
            order
        });
        let mut best = from.clone();
        let mut taken: Vec<Saver> = Vec::new();
        for saver in order {
            if room.holds(&best.metrics) || !self.is_worth(&best) {
                break;
            }
            let mut design = best.design.clone();
            saver.apply(&mut design);
            let Some(more) = self.closed(estimator, design) else { continue };
            let frees = more.metrics.memory_peak < best.metrics.memory_peak;
            if frees && !overflows_host(&more.metrics) {
                best = more;
                taken.push(saver);
            }
        }
        if room.holds(&best.metrics) && taken.len() > 1 {
            best = self.without_idle(estimator, light, from, best, &taken, room);
        }
        best
    }

    /// The savers that free something of a design, those that free most for their time first.
    fn ranked(&mut self, estimator: &mut Estimator, from: &Closed, is_light: bool) -> Vec<Saver> {
        let mut ranked: Vec<(f64, Saver)> = Vec::new();
        for saver in self.savers {
            if !is_light && matches!(saver, Saver::Recompute(_) | Saver::ZeroMemory(_)) {
                continue;
            }
            let mut design = from.design.clone();
            let is_able = match *saver {
                Saver::Shard(strategy) => self.space.shards(&design, strategy),
                Saver::Offload(_) => design.parallel.pipeline_model_parallel_size == 1,
                Saver::Recompute(_) | Saver::ZeroMemory(_) | Saver::Swap(_) => true,
            };
            if !is_able {
                continue;
            }
            saver.apply(&mut design);
            let Some(alone) = self.closed(estimator, design) else { continue };
            let freed = from.metrics.memory_peak.get() - alone.metrics.memory_peak.get();
            let cost = alone.metrics.step_time.get() - from.metrics.step_time.get();
            if freed > 0.0 && !overflows_host(&alone.metrics) {
                // What is unusual costs its doubt, too.
                let doubt = from.worth(self.space) / from.metrics.tokens_per_second
                    - alone.worth(self.space) / alone.metrics.tokens_per_second;
                let doubt = doubt.max(0.0) * from.metrics.step_time.get();
                ranked.push(((cost.max(0.0) + doubt) / freed, *saver));
            }
        }
        rank::sort(&mut ranked, |(cost, _)| [*cost, 0.0]);
        ranked.into_iter().map(|(_, saver)| saver).collect()
    }

    /// The design without savers that turned out not to be needed, the dearest first.
    fn without_idle(
        &mut self,
        estimator: &mut Estimator,
        light: &Closed,
        from: &Closed,
        mut best: Closed,
        taken: &[Saver],
        room: Room,
    ) -> Closed {
        let mut kept: Vec<Saver> = taken.to_vec();
        // The last one was needed when it came.
        for place in (0..taken.len() - 1).rev() {
            let mut design = from.design.clone();
            if kept.iter().all(|saver| !matches!(saver, Saver::Recompute(_))) {
                design.memory.recompute_granularity = light.design.memory.recompute_granularity;
            }
            let fewer = kept.iter().enumerate().filter(|(at, _)| *at != place);
            fewer.for_each(|(_, saver)| saver.apply(&mut design));
            let Some(less) = self.closed(estimator, design) else { continue };
            if room.holds(&less.metrics) && less.metrics.step_time <= best.metrics.step_time {
                best = less;
                kept.remove(place);
            }
        }
        best
    }

    /// The fewest whole layers of each stage with which it fits; with all of them and savers beside
    /// where these alone aren't enough. `None` if layers aren't freed, or nothing is gained.
    fn with_layers(
        &mut self,
        estimator: &mut Estimator,
        light: &Closed,
        room: Room,
    ) -> Option<Closed> {
        if !self.space.is_free(KnobId::recompute_granularity) {
            return None;
        }
        let all = self.layers(estimator, light, None)?;
        if !self.is_worth(&all) && !room.holds(&all.metrics) {
            return None;
        }
        if !room.holds(&all.metrics) {
            let more = self.with_parts(estimator, light, &all, room);
            return Some(more);
        }
        let design = &light.design;
        let stages = design.parallel.pipeline_model_parallel_size;
        // In steps that the framework can express.
        let step = self.space.step_of_layers(design);
        let most = crate::layer::layout::slots(design).div_ceil(stages).div_ceil(step);
        let (mut low, mut high, mut best) = (0, most, all);
        while high - low > 1 {
            let middle = low.midpoint(high);
            let some = self.layers(estimator, light, Some(middle * step))?;
            if room.holds(&some.metrics) {
                (high, best) = (middle, some);
            } else if self.is_worth(&some) {
                low = middle;
            } else {
                return None;
            }
        }
        Some(best)
    }

    fn layers(
        &mut self,
        estimator: &mut Estimator,
        light: &Closed,
        count: Option<u64>,
    ) -> Option<Closed> {
        let layers = count.map(PerStage::Same);
        self.closed(estimator, whole_layers(&light.design, layers))
    }

    /// The design with all of its layers computed again and all that the host can take swapped: the
    /// least memory, near enough, and what that costs.
    pub(super) fn least(&mut self, estimator: &mut Estimator, light: &Closed) -> Option<Closed> {
        let mut design = light.design.clone();
        if self.space.is_free(KnobId::recompute_granularity) {
            design = whole_layers(&design, None);
        }
        for saver in self.savers {
            match saver {
                Saver::Swap(_) => saver.apply(&mut design),
                Saver::Shard(strategy) if self.space.shards(&design, *strategy) => {
                    saver.apply(&mut design);
                }
                Saver::Shard(_)
                | Saver::Recompute(_)
                | Saver::ZeroMemory(_)
                | Saver::Offload(_) => {}
            }
        }
        let least = self.closed(estimator, design.clone());
        let offloads = design.parallel.pipeline_model_parallel_size == 1
            && self.savers.contains(&Saver::Offload(4))
            && least.as_ref().is_none_or(|least| pressure(&least.metrics) > 1.0);
        if !offloads {
            return least;
        }
        Saver::Offload(4).apply(&mut design);
        let parked = self.closed(estimator, design);
        match (least, parked) {
            (Some(least), Some(parked)) => {
                let parks = pressure(&parked.metrics) < pressure(&least.metrics);
                Some(if parks { parked } else { least })
            }
            (least, parked) => least.or(parked),
        }
    }
}

/// The rank of a design, the better first: what fits, what is worth most first; then what doesn't,
/// the nearest first.
pub(super) fn rank_of(metrics: &Metrics, worth: f64, room: Room) -> [f64; 2] {
    if room.holds(metrics) { [0.0, -worth] } else { [1.0, pressure(metrics)] }
}

/// Whether one is better than another: it fits, and is worth more; or comes nearer to fitting.
pub(super) fn is_better(space: &Space, one: &Closed, other: &Closed, room: Room) -> bool {
    let [one, other] = [one, other].map(|it| rank_of(&it.metrics, it.worth(space), room));
    one[0].total_cmp(&other[0]).then(one[1].total_cmp(&other[1])).is_lt()
}

/// The design with whole layers computed again in groups under one checkpoint.
pub(super) fn grouped_layers(design: &Design, group: u64) -> Design {
    let mut grouped = whole_layers(design, None);
    grouped.memory.recompute_method = RecomputeMethod::Uniform;
    grouped.memory.recompute_num_layers = Some(PerStage::Same(group));
    grouped
}

/// No module of a set, which is then no recomputation.
pub(super) fn set_modules(design: &mut Design, modules: Set<RecomputeModule>) {
    design.memory.recompute_modules = modules;
    design.memory.recompute_granularity = if modules.is_empty() {
        RecomputeGranularity::None
    } else {
        RecomputeGranularity::Selective
    };
}
