//! A prediction as data: what `predict --json` prints and `POST /api/v1/predict` answers.
//!
//! The keys are public names and units stand in them. An illegal design gives the same object with
//! every metric null and its violations listed.

use model::anchor;
use model::choice::Choice;
use model::convention::Convention;
use model::design::{Design, KnobId};
use model::estimate::{
    Communication, Estimate, PhaseOverlap, StageEstimate, StageMemory, StepPart,
};
use model::file::{self, Extent, Tree};
use model::find::Pool;
use model::metric::MetricId;
use model::routing::Trace;
use model::schedule::Task;
use model::verdict::{Change, Verdict};
use model::violation::Violation;
use model::{Breakdown, Estimator, MODEL_VERSION, Plan, conventions, estimate};

use crate::cores::Cores;
use crate::predicted;

/// Is the verdict on a design's memory asked for? It tries many other designs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asked {
    /// Yes: what fills the memory, and what one change of a knob does.
    Verdict,
    /// No, it is null.
    #[default]
    Numbers,
}

/// Designs of a batch, at most. Each takes some milliseconds with its verdict, which tries many
/// others; a sweep is what evaluates thousands.
pub const MAX_DESIGNS: usize = 100;

/// The predictions for designs, legal or not, in their order, on all cores.
#[must_use]
pub fn predict_all(designs: &[Design], asked: Asked) -> Vec<Tree> {
    Cores::all().map(designs, |estimator, design| predict(estimator, design, asked))
}

/// The prediction for a design, legal or not, with its expert loads.
#[must_use]
pub fn predict(estimator: &mut Estimator, design: &Design, asked: Asked) -> Tree {
    match estimator.estimate(design) {
        Ok((plan, estimate)) => with_loads(&plan, &estimate, None, asked),
        Err(violations) => refused(design, &violations),
    }
}

/// The prediction for a legal design, whose loads may be those of a trace, with its verdict.
#[must_use]
pub fn whole(plan: &Plan, trace: Option<&Trace>) -> Tree {
    with_loads(plan, &estimate(plan), trace, Asked::Verdict)
}

fn with_loads(plan: &Plan, estimate: &Estimate, trace: Option<&Trace>, asked: Asked) -> Tree {
    let mut report = legal(plan, estimate);
    if let Tree::Map(entries) = &mut report {
        let verdict = match asked {
            Asked::Verdict => verdict(&model::verdict(plan, estimate)),
            Asked::Numbers => Tree::Null,
        };
        entries.push(("verdict".into(), verdict));
        entries.push(("routing".into(), loads(plan, trace)));
    }
    report
}

/// The same object for a design that breaks rules.
#[must_use]
pub fn refused(design: &Design, violations: &[Violation]) -> Tree {
    let nothing = MetricId::ALL.iter().map(|id| (id.metric().name, Tree::Null));
    let (map, list) = (Tree::Map(vec![]), Tree::List(vec![]));
    Tree::map([
        ("design", file::write(design, Extent::Full)),
        ("derived", map.clone()),
        ("metrics", Tree::map(nothing)),
        ("expected_error", map.clone()),
        ("nearest_run", Tree::Null),
        ("conventions", list.clone()),
        ("timing", Tree::Null),
        ("step", map),
        ("overlap", list.clone()),
        ("stages", list.clone()),
        ("communication", list.clone()),
        ("violations", Tree::List(violations.iter().map(violation).collect())),
        ("warnings", list),
        ("model_version", MODEL_VERSION.into()),
        ("verdict", Tree::Null),
        ("routing", Tree::Null),
    ])
}

/// The prediction for a legal design.
fn legal(plan: &Plan, estimate: &Estimate) -> Tree {
    let derived = [
        ("data_parallel_size", plan.data_parallel_size()),
        ("expert_data_parallel_size", plan.expert_data_parallel_size()),
        ("num_microbatches", plan.num_microbatches()),
    ];
    let step = estimate.step.parts();
    Tree::map([
        ("design", file::write(plan.design(), Extent::Full)),
        ("derived", Tree::map(derived.map(|(name, size)| (name, Tree::Unsigned(size))))),
        ("metrics", predicted::metrics(&estimate.metrics)),
        ("expected_error", predicted::ranges(plan, &estimate.metrics)),
        ("nearest_run", nearest_run(plan)),
        ("conventions", Tree::List(conventions(plan, estimate).iter().map(convention).collect())),
        ("timing", estimate.timing.name().into()),
        ("step", Tree::map(step.map(|(part, time)| (part_name(part), Tree::number(time.get()))))),
        ("overlap", Tree::List(estimate.overlap.iter().map(overlap).collect())),
        ("stages", Tree::List(estimate.stages.iter().map(stage).collect())),
        ("communication", Tree::List(estimate.communication.iter().map(communication).collect())),
        ("violations", Tree::List(vec![])),
        ("warnings", Tree::list(estimate.warnings.iter().map(String::as_str))),
        ("model_version", MODEL_VERSION.into()),
    ])
}

/// The verdict on a design's memory: what fills it, and what one change of a knob does.
#[must_use]
pub fn verdict(verdict: &Verdict) -> Tree {
    let contents = verdict.contents.iter().map(|part| {
        let content = part.content.label();
        Tree::map([("content", content.into()), ("bytes", Tree::number(part.bytes.get()))])
    });
    Tree::map([
        ("state", verdict.state().name().into()),
        ("fits", Tree::Flag(verdict.fits)),
        ("fit_probability", Tree::number(verdict.fit_probability)),
        ("place", verdict.place.name().into()),
        ("stage", Tree::Unsigned(verdict.stage.into())),
        ("peak_bytes", Tree::number(verdict.peak.get())),
        ("limit_bytes", Tree::number(verdict.limit.get())),
        ("over_bytes", Tree::number(verdict.over().get())),
        ("headroom_bytes", Tree::number(verdict.headroom().get())),
        ("fullest_at", verdict.fullest.as_ref().map_or(Tree::Null, task)),
        ("in_flight", Tree::number(verdict.in_flight)),
        ("contents", Tree::List(contents.collect())),
        ("mfu", Tree::number(verdict.mfu)),
        ("changes", Tree::List(verdict.changes.iter().map(change).collect())),
    ])
}

fn change(change: &Change) -> Tree {
    let along = change.with.iter().map(|(knob, value)| {
        Tree::map([("knob", Tree::from(knob.id())), ("value", Tree::from(value))])
    });
    Tree::map([
        ("knob", Tree::from(change.knob.id())),
        ("value", Tree::from(&change.value)),
        ("with", Tree::List(along.collect())),
        ("fits", Tree::Flag(change.fits)),
        ("fit_probability", Tree::number(change.fit_probability)),
        ("mfu", Tree::number(change.mfu)),
        ("memory_peak_bytes", Tree::number(change.memory_peak.get())),
    ])
}

/// Expert loads before and after the planner: of steps, and with what micro-batches add.
#[must_use]
pub fn loads(plan: &Plan, trace: Option<&Trace>) -> Tree {
    let effect = plan.effect();
    let trace = trace.map_or(Tree::Null, |trace| {
        Tree::map([
            ("hash", trace.content_hash().as_str().into()),
            ("steps", (trace.steps() as u64).into()),
            ("layers", (trace.layers() as u64).into()),
            ("experts", (trace.experts() as u64).into()),
        ])
    });
    let of = |before: f64, after: f64, removed: f64| {
        Tree::map([
            ("imbalance_before", before.into()),
            ("imbalance_after", after.into()),
            ("removed", removed.into()),
        ])
    };
    let steps = &effect.steps;
    Tree::map([
        ("balance", plan.design().routing.balance.name().into()),
        ("trace", trace),
        ("steps", of(steps.imbalance_unplanned, steps.imbalance, steps.removed())),
        ("all", of(effect.imbalance_unplanned, effect.imbalance, effect.removed())),
        ("micro_batch_excess", effect.noise.into()),
        ("token_drop_ratio", effect.drop_ratio.into()),
    ])
}

/// The measured run that is nearest to the design, with the model's error there.
fn nearest_run(plan: &Plan) -> Tree {
    let Some(near) = anchor::nearest(plan) else { return Tree::Null };
    let run = near.run;
    Tree::map([
        ("id", run.id.into()),
        ("model", run.model.into()),
        ("accelerator", run.accelerator.name().into()),
        ("num_devices", Tree::Unsigned(run.devices.into())),
        ("speed_error", Tree::number(run.speed_error())),
        ("distance", Tree::number(near.distance)),
        ("nearness", near.nearness().into()),
    ])
}

/// A way to count utilisation; the first of a report is the design's own.
fn convention(way: &Convention) -> Tree {
    Tree::map([
        ("name", way.name.into()),
        ("used_by", way.used_by.into()),
        ("attention_flops", way.attention.map_or("none", Choice::name).into()),
        ("count_mtp_flops", Tree::Flag(way.counts_mtp)),
        ("count_recompute_flops", Tree::Flag(way.counts_recompute)),
        ("flops_per_token", Tree::number(way.flops_per_token.get())),
        ("peak_tflops", Tree::number(way.peak.get() / 1e12)),
        ("utilisation", Tree::number(way.utilisation)),
    ])
}

/// An explanation with its terms.
#[must_use]
pub fn breakdown(node: &Breakdown) -> Tree {
    Tree::map([
        ("name", node.name.as_str().into()),
        ("value", Tree::number(node.value)),
        ("unit", node.unit.into()),
        ("formula", node.formula.as_str().into()),
        ("source", source(node.source)),
        ("how", node.how.name().into()),
        ("children", Tree::List(node.children.iter().map(breakdown).collect())),
    ])
}

/// Where something is published; the address is null for a derivation of our own.
#[must_use]
pub fn source(source: model::source::Source) -> Tree {
    let url = Some(source.url).filter(|url| !url.is_empty());
    Tree::map([("title", source.title.into()), ("url", url.into())])
}

fn stage(stage: &StageEstimate) -> Tree {
    let memory = StageMemory::LABELS.into_iter().zip(stage.memory.parts());
    Tree::map([
        ("stage", Tree::Unsigned(stage.stage.into())),
        ("num_layers", Tree::Unsigned(stage.num_layers.into())),
        ("params", count(stage.params)),
        ("memory_peak_bytes", Tree::number(stage.memory.peak().get())),
        ("memory", Tree::map(memory.map(|(name, bytes)| (name, Tree::number(bytes.get()))))),
        ("host_memory_bytes", Tree::number(stage.host_memory.get())),
        ("peak_in_flight", Tree::number(stage.peak_in_flight)),
        ("fullest_at", stage.fullest.as_ref().map_or(Tree::Null, task)),
        ("forward_seconds", Tree::number(stage.forward.get())),
        ("backward_seconds", Tree::number(stage.backward.get())),
        ("compute_seconds", Tree::number(stage.compute.get())),
        ("exposed_seconds", Tree::number(stage.exposed.get())),
        ("idle_seconds", Tree::number(stage.idle.get())),
    ])
}

/// A task of the schedule.
fn task(task: &Task) -> Tree {
    Tree::map([
        ("kind", task.kind.name().into()),
        ("chunk", Tree::Unsigned(task.chunk.into())),
        ("micro_batch", Tree::Unsigned(task.micro_batch.into())),
    ])
}

fn overlap(part: &PhaseOverlap) -> Tree {
    Tree::map([
        ("axis", part.axis.name().into()),
        ("phase", part.phase.name().into()),
        ("seconds", Tree::number(part.time.get())),
        ("exposed_seconds", Tree::number(part.exposed.get())),
        ("overlap_ratio", Tree::number(part.ratio())),
    ])
}

fn communication(row: &Communication) -> Tree {
    Tree::map([
        ("axis", row.axis.name().into()),
        ("link", row.link.name().into()),
        ("collective", row.collective.name().into()),
        ("bytes_per_call", Tree::number(row.bytes_per_call.get())),
        ("bytes", Tree::number(row.bytes.get())),
        ("seconds", Tree::number(row.time.get())),
        ("exposed_seconds", Tree::number(row.exposed.get())),
    ])
}

/// A broken rule with the nearest values that keep it.
#[must_use]
pub fn violation(violation: &Violation) -> Tree {
    let nearest = violation.nearest.iter().map(|nearest| {
        let value = Tree::from(&nearest.value);
        Tree::map([("knob", Tree::from(nearest.knob.id())), ("value", value)])
    });
    Tree::map([
        ("rule", violation.rule.into()),
        ("knobs", Tree::list(violation.knobs.iter().copied().map(KnobId::id))),
        ("message", violation.message.as_str().into()),
        ("nearest", Tree::List(nearest.collect())),
    ])
}

/// The public name of a part of the step.
const fn part_name(part: StepPart) -> &'static str {
    match part {
        StepPart::Ideal => "ideal_seconds",
        StepPart::Kernels => "kernels_seconds",
        StepPart::Vector => "vector_seconds",
        StepPart::Recompute => "recompute_seconds",
        StepPart::Host => "host_seconds",
        StepPart::TensorParallel => "tensor_parallel_seconds",
        StepPart::ContextParallel => "context_parallel_seconds",
        StepPart::ExpertParallel => "expert_parallel_seconds",
        StepPart::PipelineParallel => "pipeline_parallel_seconds",
        StepPart::Swap => "swap_seconds",
        StepPart::Contention => "contention_seconds",
        StepPart::Bubble => "bubble_seconds",
        StepPart::DataParallel => "data_parallel_seconds",
        StepPart::Optimizer => "optimizer_seconds",
        StepPart::Stragglers => "stragglers_seconds",
        StepPart::Imbalance => "imbalance_seconds",
        StepPart::Migration => "migration_seconds",
    }
}

fn count(value: u128) -> Tree {
    u64::try_from(value).map_or(Tree::Real(value as f64), Tree::Unsigned)
}
