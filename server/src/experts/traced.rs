//! What a router trace of tasks says of a design's experts.

use model::file::Tree;
use model::pattern::{
    Coverage, Depth, Goal, Keep, Loading, Pair, Patterns, Set, Store, Switches, coverage, depth,
    overlap, together,
};
use model::serving::experts::Experts;
use model::serving::{ServingMetric, ServingPlan, infer};

/// Pairs of experts that are listed, at most.
const PAIRS: usize = 32;

/// What is asked of a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// How experts are shared out over layers.
    pub(crate) goal: Goal,
}

/// A trace beside a design.
#[derive(Debug)]
pub(crate) struct Traced {
    pub(crate) patterns: Patterns,
    /// Experts kept of each layer, in the mean.
    pub(crate) kept: usize,
    pub(crate) goal: Goal,
    /// Task by task: the coverage by its own best experts, what is kept of it, and what the experts
    /// of all tasks together cover of it.
    pub(crate) tasks: Vec<Task>,
    /// Experts of all layers that all tasks together keep.
    pub(crate) union: usize,
    pub(crate) overlap: Vec<Vec<f64>>,
    pub(crate) depth: Vec<Depth>,
    /// Experts that tasks keep together most above chance.
    pub(crate) together: Vec<Pair>,
    pub(crate) store: Store,
    pub(crate) loading: Loading,
    pub(crate) switches: Option<Switches>,
    /// Tokens a second with the experts of one task, and with all of them; 0 where all don't fit.
    pub(crate) rates: [f64; 2],
}

/// One task.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) curve: Coverage,
    pub(crate) keep: Keep,
    /// The mass that the best experts of the mean of all tasks cover.
    pub(crate) pooled: f64,
    /// The mass that the best experts cover which devices have: what its hits are where visits are
    /// as scores.
    pub(crate) hits: f64,
}

impl Traced {
    /// A trace beside a design whose model has as many experts and as many layers with them.
    ///
    /// # Errors
    /// What of the trace isn't the model's.
    pub(crate) fn new(
        plan: &ServingPlan,
        patterns: Patterns,
        asked: Asked,
    ) -> Result<Self, String> {
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
        let least = experts.topk.ceil() as usize;
        let budget = kept * layers;
        let all: Vec<usize> = (0..patterns.tasks().len()).collect();
        let pooled = patterns.pooled(&all).ok_or("the trace is too large")?;
        let shared = Keep::new(&pooled, 0, budget, least, asked.goal);
        let tasks: Vec<Task> = all
            .iter()
            .map(|task| {
                let covered = coverage(&patterns, *task, &shared.sets);
                let curve = Coverage::new(&patterns, *task);
                let on_devices = kept.saturating_sub(experts.on_host as usize);
                Task {
                    hits: curve.mean[on_devices] / curve.mean[kept].max(f64::MIN_POSITIVE),
                    curve,
                    keep: Keep::new(&patterns, *task, budget, least, asked.goal),
                    pooled: covered.iter().sum::<f64>() / layers as f64,
                }
            })
            .collect();
        let host = experts.host;
        let devices = plan.devices() as f64;
        let links = (host.link_gb_per_sec * devices).min(host.memory_gb_per_sec);
        let loading = Loading { expert_bytes: experts.expert_bytes, bytes_per_second: links * 1e9 };
        let keeps: Vec<Keep> = tasks.iter().map(|task| task.keep.clone()).collect();
        let mut union = keeps[0].sets.clone();
        for keep in &keeps {
            union.iter_mut().zip(&keep.sets).for_each(|(all, own)| all.join(own));
        }
        Ok(Self {
            kept,
            goal: asked.goal,
            union: union.iter().map(Set::len).sum(),
            overlap: overlap(&patterns, kept),
            depth: depth(&patterns, kept),
            together: together(&patterns, kept, PAIRS),
            store: Store::new(&patterns),
            switches: Switches::new(&keeps, &loading),
            loading,
            rates: rates(plan),
            tasks,
            patterns,
        })
    }

    /// Changes a second up to which the experts of one task pay.
    pub(crate) fn break_even(&self) -> Option<f64> {
        self.switches.as_ref()?.break_even(self.rates[0], self.rates[1])
    }

    /// The goal's name.
    pub(crate) const fn goal_name(&self) -> &'static str {
        match self.goal {
            Goal::Equal => "equal",
            Goal::Mean => "mean",
            Goal::Least => "least",
        }
    }
}

/// Tokens a second of all devices with the experts that are kept, and with all of them.
fn rates(plan: &ServingPlan) -> [f64; 2] {
    let rate = |plan: &ServingPlan| {
        let per_device = infer(plan).get(ServingMetric::output_tokens_per_second_per_device);
        per_device * plan.devices() as f64
    };
    let mut all = plan.design().clone();
    all.serving.experts_kept = None;
    all.serving.experts_kept_topk = None;
    [rate(plan), ServingPlan::new(&all).as_ref().map_or(0.0, rate)]
}

/// The experts of a set.
fn numbers(set: &Set, patterns: &Patterns) -> Tree {
    let members = (0..patterns.experts()).filter(|expert| set.has(*expert));
    Tree::List(members.map(|expert| Tree::Unsigned(expert as u64)).collect())
}

/// As data.
pub(crate) fn json(traced: &Traced) -> Tree {
    let patterns = &traced.patterns;
    let task = |(name, task): (&String, &Task)| {
        let curve = task.curve.mean.iter().map(|share| Tree::number(*share));
        Tree::map([
            ("task", name.as_str().into()),
            ("covered", Tree::number(task.keep.mean())),
            ("covered_least", Tree::number(task.keep.least())),
            ("covered_by_all_tasks_best", Tree::number(task.pooled)),
            ("kept_for_95_percent", Tree::Unsigned(task.curve.kept_for(0.95) as u64)),
            ("coverage", Tree::List(curve.collect())),
            ("hits_on_devices", Tree::number(task.hits)),
            (
                "kept_experts",
                Tree::List(task.keep.sets.iter().map(|set| numbers(set, patterns)).collect()),
            ),
        ])
    };
    let depth = |it: &Depth| {
        Tree::map([
            ("layer", Tree::Unsigned(it.layer.into())),
            ("effective_experts", Tree::number(it.effective)),
            ("overlap", Tree::number(it.overlap)),
            ("union", Tree::Unsigned(it.union as u64)),
        ])
    };
    let pair = |it: &Pair| {
        Tree::map([
            ("layer", Tree::Unsigned(it.layer.into())),
            ("experts", Tree::List(it.experts.map(|one| Tree::Unsigned(one as u64)).to_vec())),
            ("tasks", Tree::Unsigned(it.tasks as u64)),
            ("lift", Tree::number(it.lift)),
        ])
    };
    let row = |row: &Vec<f64>| Tree::List(row.iter().map(|it| Tree::number(*it)).collect());
    let optional = |number: Option<f64>| number.map_or(Tree::Null, Tree::number);
    let changes = traced.switches.as_ref();
    Tree::map([
        ("generated_by_seed", patterns.seed().map_or(Tree::Null, Tree::Unsigned)),
        ("experts", Tree::Unsigned(patterns.experts() as u64)),
        ("layers", Tree::Unsigned(patterns.layers().len() as u64)),
        ("kept_per_layer", Tree::Unsigned(traced.kept as u64)),
        ("goal", traced.goal_name().into()),
        ("union_experts", Tree::Unsigned(traced.union as u64)),
        ("tasks", Tree::List(patterns.tasks().iter().zip(&traced.tasks).map(task).collect())),
        ("overlap", Tree::List(traced.overlap.iter().map(row).collect())),
        ("depth", Tree::List(traced.depth.iter().map(depth).collect())),
        ("together", Tree::List(traced.together.iter().map(pair).collect())),
        ("pattern_bytes", Tree::Unsigned(traced.store.pattern_bytes)),
        ("store_bytes", Tree::Unsigned(traced.store.bytes())),
        ("load_bytes_per_second", Tree::number(traced.loading.bytes_per_second)),
        ("load_seconds", Tree::number(traced.loading.seconds(traced.tasks[0].keep.experts()))),
        ("switch_bytes", optional(changes.map(|it| it.bytes))),
        ("switch_seconds", optional(changes.map(|it| it.seconds))),
        ("switch_seconds_longest", optional(changes.map(|it| it.most_seconds))),
        ("tokens_per_second_kept", Tree::number(traced.rates[0])),
        ("tokens_per_second_all", Tree::number(traced.rates[1])),
        ("switches_per_second_that_pay", optional(traced.break_even())),
    ])
}
