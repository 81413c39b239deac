//! What a router trace says of experts, as data.

use model::routing::pattern::{Depth, Pair, Patterns, Set};
use model::serving::traced::{Task, Traced};

use reports::typed::answers;

answers! {
    /// A router trace beside a design: which experts its tasks visit, and what it costs to keep
    /// those on the devices.
    struct OfTrace {
        /// Null for a measured trace.
        generated_by_seed: Option<u64>,
        /// Routed experts of a layer.
        experts: usize,
        /// Layers of the trace.
        layers: usize,
        /// Experts kept of each layer, in the mean.
        kept_per_layer: usize,
        /// How they are shared out over layers: `equal`, `mean` or `least`.
        goal: &'static str,
        /// Experts of all layers that all tasks together keep.
        union_experts: usize,
        tasks: Vec<OfTask>,
        /// Share of experts that two tasks keep both, task by task.
        overlap: Vec<Vec<f64>>,
        /// How special experts are, layer by layer.
        depth: Vec<OfLayer>,
        /// Experts that tasks keep together most above chance.
        together: Vec<Together>,
        /// Of one stored pattern.
        pattern_bytes: u64,
        /// Of a store of all patterns.
        store_bytes: u64,
        /// How fast experts come to the devices.
        load_bytes_per_second: f64,
        /// To load the experts of the first task.
        load_seconds: f64,
        /// Of a change between tasks, in the mean; null with fewer than two.
        switch_bytes: Option<f64>,
        switch_seconds: Option<f64>,
        switch_seconds_longest: Option<f64>,
        /// With the experts of one task.
        tokens_per_second_kept: f64,
        /// With all experts; 0 where they don't fit.
        tokens_per_second_all: f64,
        /// Changes a second up to which the experts of one task pay.
        switches_per_second_that_pay: Option<f64>,
    }

    /// A task of the trace.
    struct OfTask {
        task: String,
        /// The mass that the experts cover which are kept for it, in the mean over layers.
        covered: f64,
        /// The same in the layer where it is least.
        covered_least: f64,
        /// The mass that the best experts of the mean of all tasks cover.
        covered_by_all_tasks_best: f64,
        /// Experts to keep of each layer for 95 % of the mass.
        kept_for_95_percent: usize,
        /// The mass covered by how many experts are kept of each layer, from none on.
        coverage: Vec<f64>,
        /// The mass that the best experts cover which devices have.
        hits_on_devices: f64,
        /// Layer by layer.
        kept_experts: Vec<Vec<usize>>,
    }

    /// How special the experts of a layer are.
    struct OfLayer {
        /// As the source counts it.
        layer: u32,
        /// Experts that would carry the mass if all carried as much.
        effective_experts: f64,
        /// Share of experts that two tasks keep both; 1 for one task.
        overlap: f64,
        /// Experts that the tasks keep together.
        union: usize,
    }

    /// Two experts of a layer that tasks keep together.
    struct Together {
        /// As the source counts it.
        layer: u32,
        /// Both, the lower number first.
        experts: [usize; 2],
        /// Tasks that keep both.
        tasks: usize,
        /// That number over the one that chance gives.
        lift: f64,
    }
}

/// The experts of a set.
fn numbers(set: &Set) -> Vec<usize> {
    set.members().collect()
}

/// A trace beside a design.
pub(super) fn of_trace(traced: &Traced, patterns: &Patterns) -> OfTrace {
    let changes = traced.switches.as_ref();
    OfTrace {
        generated_by_seed: patterns.seed(),
        experts: patterns.experts(),
        layers: patterns.layers().len(),
        kept_per_layer: traced.kept,
        goal: traced.goal.name(),
        union_experts: traced.union,
        tasks: patterns.tasks().iter().zip(&traced.tasks).map(of_task).collect(),
        overlap: traced.overlap.clone(),
        depth: traced.depth.iter().map(of_layer).collect(),
        together: traced.together.iter().map(together).collect(),
        pattern_bytes: traced.store.pattern_bytes,
        store_bytes: traced.store.bytes(),
        load_bytes_per_second: traced.loading.bytes_per_second,
        load_seconds: traced.loading.seconds(traced.tasks[0].keep.experts()),
        switch_bytes: changes.map(|it| it.bytes),
        switch_seconds: changes.map(|it| it.seconds),
        switch_seconds_longest: changes.map(|it| it.most_seconds),
        tokens_per_second_kept: traced.rates.kept,
        tokens_per_second_all: traced.rates.all,
        switches_per_second_that_pay: traced.break_even(),
    }
}

fn of_task((name, task): (&String, &Task)) -> OfTask {
    OfTask {
        task: name.clone(),
        covered: task.keep.mean(),
        covered_least: task.keep.least(),
        covered_by_all_tasks_best: task.pooled,
        kept_for_95_percent: task.curve.kept_for(0.95),
        coverage: task.curve.mean.clone(),
        hits_on_devices: task.hits,
        kept_experts: task.keep.sets.iter().map(numbers).collect(),
    }
}

fn of_layer(it: &Depth) -> OfLayer {
    OfLayer {
        layer: it.layer,
        effective_experts: it.effective,
        overlap: it.overlap,
        union: it.union,
    }
}

fn together(it: &Pair) -> Together {
    Together { layer: it.layer, experts: it.experts, tasks: it.tasks, lift: it.lift }
}
