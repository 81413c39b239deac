//! What a router trace of tasks says of a design's experts.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::experts::Experts;
use super::infer;
use super::plan::ServingPlan;
use crate::routing::pattern::{
    Coverage, Depth, Goal, Keep, Loading, Pair, Patterns, Set, Store, Switches, coverage, depth,
    overlap, together,
};

/// Pairs of experts that are listed, at most.
const MAX_PAIRS: usize = 32;

/// A trace beside a design.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// Experts kept of each layer, in the mean.
    pub kept: usize,
    /// Objective by which they are shared out over layers.
    pub goal: Goal,
    /// Its tasks, in the order of the trace.
    pub tasks: Vec<Task>,
    /// Experts of all layers that all tasks together keep.
    pub union: usize,
    /// Share of experts that two tasks keep both, task by task.
    pub overlap: Vec<Vec<f64>>,
    /// Specialisation of the experts, layer by layer.
    pub depth: Vec<Depth>,
    /// Experts that tasks keep together most above chance.
    pub together: Vec<Pair>,
    /// Size of a store of these patterns.
    pub store: Store,
    /// Speed at which experts are loaded onto the devices.
    pub loading: Loading,
    /// Changes between tasks; none of fewer than two.
    pub switches: Option<Switches>,
    /// Tokens a second of all devices.
    pub rates: Rates,
}

/// Tokens a second of all devices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// With the experts of one task.
    pub kept: f64,
    /// With all of them; 0 where they don't fit.
    pub all: f64,
}

/// One task.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Coverage by its own best experts, by the number kept of each layer.
    pub curve: Coverage,
    /// The experts to keep of it.
    pub keep: Keep,
    /// The mass that the best experts of the mean of all tasks cover.
    pub pooled: f64,
    /// The mass that the best experts cover which devices have: what its hits are where visits are
    /// as scores.
    pub hits: f64,
}

impl Traced {
    /// A trace beside a design whose model has as many experts and as many layers with them.
    ///
    /// # Errors
    /// What of the trace isn't the model's.
    pub fn new(plan: &ServingPlan, patterns: &Patterns, goal: Goal) -> Result<Self, String> {
        let Some(experts) = Experts::new(plan) else {
            return Err("the model has no experts, so that no trace can be of it".to_owned());
        };
        let (layers, found) = (patterns.layers().len(), patterns.experts());
        if found as u64 > experts.routed || layers as u64 > experts.layers {
            return Err(format!(
                "the trace has {found} experts in {layers} layers, the model {} in {}",
                experts.routed, experts.layers
            ));
        }
        let kept = (experts.kept as usize).min(found);
        let least = experts.visited();
        let budget = kept * layers;
        let all: Vec<usize> = (0..patterns.tasks().len()).collect();
        let pooled = patterns.pooled(&all).ok_or("the trace is too large")?;
        let shared = Keep::new(&pooled, 0, budget, least, goal);
        let tasks: Vec<Task> = all
            .iter()
            .map(|task| {
                let covered = coverage(patterns, *task, &shared.sets);
                let curve = Coverage::new(patterns, *task);
                let on_devices = kept.saturating_sub(experts.on_host as usize);
                Task {
                    hits: curve.mean[on_devices] / curve.mean[kept].max(f64::MIN_POSITIVE),
                    curve,
                    keep: Keep::new(patterns, *task, budget, least, goal),
                    pooled: covered.iter().sum::<f64>() / layers as f64,
                }
            })
            .collect();
        let host = experts.host;
        let devices = plan.devices() as f64;
        let links = (host.link_gb_per_sec * devices).min(host.memory_gb_per_sec);
        let loading =
            Loading { expert_bytes: experts.expert_bytes.get(), bytes_per_second: links * 1e9 };
        let keeps: Vec<Keep> = tasks.iter().map(|task| task.keep.clone()).collect();
        let mut union = keeps[0].sets.clone();
        for keep in &keeps {
            union.iter_mut().zip(&keep.sets).for_each(|(all, own)| all.join(own));
        }
        Ok(Self {
            kept,
            goal,
            union: union.iter().map(Set::len).sum(),
            overlap: overlap(patterns, kept),
            depth: depth(patterns, kept),
            together: together(patterns, kept, MAX_PAIRS),
            store: Store::new(patterns),
            switches: Switches::new(&keeps, &loading),
            loading,
            rates: rates(plan),
            tasks,
        })
    }

    /// Changes a second up to which the experts of one task pay.
    #[must_use]
    pub fn break_even(&self) -> Option<f64> {
        self.switches.as_ref()?.break_even(self.rates.kept, self.rates.all)
    }
}

fn rates(plan: &ServingPlan) -> Rates {
    let rate = |plan: &ServingPlan| {
        let per_device = infer(plan).metrics.output_tokens_per_second_per_device;
        per_device * plan.devices() as f64
    };
    let mut all = plan.design().clone();
    all.serving.experts_kept = None;
    all.serving.experts_kept_topk = None;
    Rates { kept: rate(plan), all: ServingPlan::new(&all).as_ref().map_or(0.0, rate) }
}
