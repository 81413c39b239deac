//! A prediction as data: what `predict --json` prints and `POST /api/v1/predict` answers.
//!
//! The keys are public names and units stand in them. An illegal design gives the same object with
//! every metric null and its violations listed.

use model::design::file::Tree;
use model::design::violation::Violation;
use model::design::{Design, KnobId};
use model::ground::choice::Choice;
use model::metric::{MetricId, Regime};
use model::routing::Trace;
use model::schedule::Task;
use model::search::find::remedies;
use model::search::verdict::Change;
use model::training::anchor;
use model::training::convention::Convention;
use model::training::estimate::{
    Communication, Estimate, PhaseOverlap, StageEstimate, StageMemory, StepPart,
};
use model::{Breakdown, Estimator, MODEL_VERSION, Plan, conventions, estimate};

use crate::predicted::{self, Range};
use crate::typed::{Count, DesignFile, KnobValue, MetricSaid, Named, Real, Said, answers};

answers! {
    /// The object of `moescape predict --json`.
    struct Prediction {
        design: DesignFile,
        /// Sizes that follow from the design's; none where it breaks rules.
        derived: Named<u64>,
        /// Every metric by its id; `/api/v1/metrics` has their units and definitions.
        metrics: Named<MetricSaid>,
        /// By metric where true values lie. One that isn't there is an exact count, or no
        /// published run tells of it.
        expected_error: Named<Range>,
        /// The measured run that is nearest; null where none is near.
        nearest_run: Option<NearestRun>,
        /// The ways to count utilisation; the first is the design's own.
        conventions: Vec<WayOfCounting>,
        /// How the pipeline was timed: `simulated` or `closed_form`.
        timing: Option<&'static str>,
        /// What a step's time is made of, in seconds.
        step: Named<f64>,
        /// Communication that runs beside compute.
        overlap: Vec<Overlap>,
        /// Every pipeline stage.
        stages: Vec<Stage>,
        /// Every kind of exchange.
        communication: Vec<Exchange>,
        /// The rules that the design breaks.
        violations: Vec<BrokenRule>,
        warnings: Vec<String>,
        model_version: &'static str,
        /// What fills the memory, and what one change of a knob does; null where it wasn't asked.
        verdict: Option<MemoryVerdict>,
        /// Loads of experts.
        routing: Option<Loads>,
    }

    /// A published run, with the model's error there.
    struct NearestRun {
        id: &'static str,
        model: &'static str,
        accelerator: &'static str,
        num_devices: u32,
        /// Predicted speed over the published one, less 1.
        speed_error: f64,
        /// How far the design is from it; 0 is the same run.
        distance: f64,
        nearness: &'static str,
    }

    /// A way to count utilisation.
    struct WayOfCounting {
        name: &'static str,
        used_by: &'static str,
        attention_flops: &'static str,
        count_mtp_flops: bool,
        count_recompute_flops: bool,
        flops_per_token: f64,
        peak_tflops: f64,
        utilisation: f64,
    }

    /// A pipeline stage, of one of its devices.
    struct Stage {
        /// Its position, from 0 on.
        stage: u32,
        num_layers: u32,
        /// Parameters that a device holds.
        params: Count,
        memory_peak_bytes: f64,
        /// What fills the peak, in bytes.
        memory: Named<f64>,
        host_memory_bytes: f64,
        /// Micro-batches whose activations are held at once, at most.
        peak_in_flight: f64,
        /// The task at whose start memory is full; null where a formula gave the times.
        fullest_at: Option<TaskAt>,
        forward_seconds: f64,
        backward_seconds: f64,
        compute_seconds: f64,
        exposed_seconds: f64,
        idle_seconds: f64,
    }

    /// A task of the schedule.
    struct TaskAt {
        kind: &'static str,
        chunk: u16,
        micro_batch: u32,
    }

    /// Communication of an axis that runs beside compute.
    struct Overlap {
        axis: &'static str,
        phase: &'static str,
        seconds: f64,
        exposed_seconds: f64,
        /// The hidden share.
        overlap_ratio: f64,
    }

    /// The exchanges of an axis over a link.
    struct Exchange {
        axis: &'static str,
        link: &'static str,
        collective: &'static str,
        bytes_per_call: f64,
        /// Of a step.
        bytes: f64,
        seconds: f64,
        exposed_seconds: f64,
    }

    /// A rule that a design breaks.
    struct BrokenRule {
        rule: &'static str,
        /// The knobs that it is about.
        knobs: Vec<String>,
        /// What is wrong, with the limit.
        message: String,
        /// The nearest values that keep it.
        nearest: Vec<Setting>,
    }

    /// A knob with a value.
    struct Setting {
        knob: String,
        value: KnobValue,
    }

    /// What fills a design's memory, and what one change of a knob does.
    struct MemoryVerdict {
        state: &'static str,
        fits: bool,
        fit_probability: f64,
        place: &'static str,
        /// The fullest stage, from 0 on.
        stage: u32,
        peak_bytes: f64,
        limit_bytes: f64,
        over_bytes: f64,
        headroom_bytes: f64,
        fullest_at: Option<TaskAt>,
        in_flight: f64,
        /// The largest first.
        contents: Vec<Content>,
        mfu: f64,
        changes: Vec<OneChange>,
        /// What makes a design fit that doesn't, what costs least first.
        remedies: Vec<Remedy>,
    }

    /// Changes of the strategy that together make a design fit.
    struct Remedy {
        knobs: Named<KnobValue>,
        fit_probability: f64,
        mfu: f64,
        memory_peak_bytes: f64,
    }

    /// A part of the memory.
    struct Content {
        content: String,
        bytes: f64,
    }

    /// A change of a knob, and what it does.
    struct OneChange {
        knob: String,
        value: KnobValue,
        /// What has to change along.
        with: Vec<Setting>,
        fits: bool,
        fit_probability: f64,
        mfu: f64,
        memory_peak_bytes: f64,
    }

    /// Loads of experts before and after the planner.
    struct Loads {
        /// What the loads are from: a rule, or `trace`.
        balance: &'static str,
        trace: Option<TraceOf>,
        /// Of steps.
        steps: Imbalance,
        /// With what micro-batches add.
        all: Imbalance,
        micro_batch_excess: Real,
        token_drop_ratio: Real,
    }

    /// A measured trace of loads.
    struct TraceOf {
        hash: String,
        steps: usize,
        layers: usize,
        experts: usize,
    }

    /// The busiest device's load over the mean.
    struct Imbalance {
        imbalance_before: Real,
        imbalance_after: Real,
        /// The share of the excess that the planner removes.
        removed: Real,
    }

    /// A number with the formula that makes it of others.
    #[cfg_attr(feature = "schema", schemars(rename = "Term"))]
    struct Explained {
        name: String,
        value: f64,
        /// Empty for counts and ratios.
        unit: &'static str,
        formula: String,
        /// Where the formula or the constant is published; without an address it is derived here.
        source: Published,
        /// How the value follows from those below: sum, product, quotient, max, given, ...
        how: &'static str,
        children: Vec<Explained>,
    }

    /// Where something is published.
    struct Published {
        title: &'static str,
        /// Null for a derivation of our own.
        url: Option<&'static str>,
    }
}

/// Request for the verdict on a design's memory, which tries many other designs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asked {
    /// Yes: what fills the memory, and what one change of a knob does.
    Verdict,
    /// No, it is null.
    #[default]
    Numbers,
}

/// The prediction for a design, legal or not, with its expert loads.
#[must_use]
pub fn prediction(estimator: &mut Estimator, design: &Design, asked: Asked) -> Prediction {
    match estimator.estimate(design) {
        Ok((plan, estimate)) => legal(&plan, &estimate, None, asked),
        Err(violations) => illegal(design, &violations),
    }
}

/// The prediction for a legal design, whose loads may be those of a trace, with its verdict.
#[must_use]
pub fn whole(plan: &Plan, trace: Option<&Trace>) -> Tree {
    legal(plan, &estimate(plan), trace, Asked::Verdict).said()
}

/// The prediction for a design that breaks rules.
#[must_use]
pub fn illegal(design: &Design, violations: &[Violation]) -> Prediction {
    let nothing = MetricId::of(Regime::Training).map(|id| (id.metric().name, MetricSaid::Unknown));
    Prediction {
        design: DesignFile::of(design),
        derived: Named::none(),
        metrics: Named::of(nothing),
        expected_error: Named::none(),
        nearest_run: None,
        conventions: vec![],
        timing: None,
        step: Named::none(),
        overlap: vec![],
        stages: vec![],
        communication: vec![],
        violations: violations.iter().map(broken).collect(),
        warnings: vec![],
        model_version: MODEL_VERSION,
        verdict: None,
        routing: None,
    }
}

/// The prediction for a legal design, whose loads may be those of a trace.
#[must_use]
pub fn legal(plan: &Plan, estimate: &Estimate, trace: Option<&Trace>, asked: Asked) -> Prediction {
    let derived = [
        ("data_parallel_size", plan.data_parallel_size()),
        ("expert_data_parallel_size", plan.expert_data_parallel_size()),
        ("num_microbatches", plan.num_microbatches()),
    ];
    let step = estimate.step.parts();
    Prediction {
        design: DesignFile::of(plan.design()),
        derived: Named::of(derived),
        metrics: predicted::metrics(&estimate.metrics),
        expected_error: predicted::ranges(plan, &estimate.metrics),
        nearest_run: nearest_run(plan),
        conventions: conventions(plan, estimate).iter().map(convention).collect(),
        timing: Some(estimate.timing.name()),
        step: Named::of(step.map(|(part, time)| (part_name(part), time.get()))),
        overlap: estimate.overlap.iter().map(overlap).collect(),
        stages: estimate.stages.iter().map(stage).collect(),
        communication: estimate.communication.iter().map(communication).collect(),
        violations: vec![],
        warnings: estimate.warnings.clone(),
        model_version: MODEL_VERSION,
        verdict: match asked {
            Asked::Verdict => Some(verdict(plan, estimate)),
            Asked::Numbers => None,
        },
        routing: Some(loads_of(plan, trace)),
    }
}

/// The verdict on a design's memory: what fills it, and what one change of a knob does.
fn verdict(plan: &Plan, estimate: &Estimate) -> MemoryVerdict {
    let verdict = &model::verdict(plan, estimate);
    let remedies = if verdict.fits { vec![] } else { remedies(plan, verdict) };
    let contents = verdict
        .contents
        .iter()
        .map(|part| Content { content: part.content.label().to_string(), bytes: part.bytes.get() });
    MemoryVerdict {
        state: verdict.state().name(),
        fits: verdict.fits,
        fit_probability: verdict.fit_probability,
        place: verdict.place.name(),
        stage: verdict.stage,
        peak_bytes: verdict.peak.get(),
        limit_bytes: verdict.limit.get(),
        over_bytes: verdict.over().get(),
        headroom_bytes: verdict.headroom().get(),
        fullest_at: verdict.fullest.as_ref().map(task),
        in_flight: verdict.in_flight,
        contents: contents.collect(),
        mfu: verdict.mfu,
        changes: verdict.changes.iter().map(change).collect(),
        remedies: remedies.iter().map(|one| remedy(plan.design(), one)).collect(),
    }
}

fn remedy(design: &Design, change: &model::search::find::Change) -> Remedy {
    let knobs = change.knobs(design).into_iter();
    Remedy {
        knobs: Named(
            knobs.map(|(knob, value)| (knob.id(), KnobValue(Tree::from(&value)))).collect(),
        ),
        fit_probability: change.metrics.fit_probability,
        mfu: change.metrics.mfu,
        memory_peak_bytes: change.metrics.memory_peak.get(),
    }
}

fn change(change: &Change) -> OneChange {
    let along = change
        .with
        .iter()
        .map(|(knob, value)| Setting { knob: knob.id(), value: KnobValue(Tree::from(value)) });
    OneChange {
        knob: change.knob.id(),
        value: KnobValue(Tree::from(&change.value)),
        with: along.collect(),
        fits: change.fits,
        fit_probability: change.fit_probability,
        mfu: change.mfu,
        memory_peak_bytes: change.memory_peak.get(),
    }
}

/// Expert loads before and after the planner: of steps, and with what micro-batches add.
#[must_use]
pub fn loads(plan: &Plan, trace: Option<&Trace>) -> Tree {
    loads_of(plan, trace).said()
}

fn loads_of(plan: &Plan, trace: Option<&Trace>) -> Loads {
    let effect = plan.effect();
    let trace = trace.map(|trace| TraceOf {
        hash: trace.content_hash().as_str().to_owned(),
        steps: trace.steps(),
        layers: trace.layers(),
        experts: trace.experts(),
    });
    let of = |before: f64, after: f64, removed: f64| Imbalance {
        imbalance_before: Real(before),
        imbalance_after: Real(after),
        removed: Real(removed),
    };
    let steps = &effect.steps;
    Loads {
        balance: plan.design().routing.balance.name(),
        trace,
        steps: of(steps.imbalance_unplanned, steps.imbalance, steps.removed()),
        all: of(effect.imbalance_unplanned, effect.imbalance, effect.removed()),
        micro_batch_excess: Real(effect.noise),
        token_drop_ratio: Real(effect.drop_ratio),
    }
}

/// The measured run that is nearest to the design, with the model's error there.
fn nearest_run(plan: &Plan) -> Option<NearestRun> {
    let near = anchor::nearest(plan)?;
    let run = near.run;
    Some(NearestRun {
        id: run.id,
        model: run.model,
        accelerator: run.accelerator.name(),
        num_devices: run.devices,
        speed_error: run.speed_error(),
        distance: near.distance,
        nearness: near.nearness(),
    })
}

/// A way to count utilisation; the first of a report is the design's own.
fn convention(way: &Convention) -> WayOfCounting {
    WayOfCounting {
        name: way.name,
        used_by: way.used_by,
        attention_flops: way.attention.map_or("none", Choice::name),
        count_mtp_flops: way.counts_mtp,
        count_recompute_flops: way.counts_recompute,
        flops_per_token: way.flops_per_token.get(),
        peak_tflops: way.peak.get() / 1e12,
        utilisation: way.utilisation,
    }
}

/// An explanation with its terms.
#[must_use]
pub fn breakdown(node: &Breakdown) -> Tree {
    explained(node).said()
}

/// Explanation with its terms, as [`breakdown`] writes it, by its parts.
#[must_use]
pub fn explained(node: &Breakdown) -> Explained {
    Explained {
        name: node.name.clone(),
        value: node.value,
        unit: node.unit.name(),
        formula: node.formula.clone(),
        source: published(node.source),
        how: node.how.name(),
        children: node.children.iter().map(explained).collect(),
    }
}

/// Where something is published; the address is null for a derivation of our own.
#[must_use]
pub fn source(source: model::ground::source::Source) -> Tree {
    published(source).said()
}

/// Place of publication, as [`source()`] writes it, by its parts.
pub fn published(source: model::ground::source::Source) -> Published {
    Published { title: source.title, url: Some(source.url).filter(|url| !url.is_empty()) }
}

fn stage(stage: &StageEstimate) -> Stage {
    let memory = StageMemory::LABELS.into_iter().zip(stage.memory.parts());
    Stage {
        stage: stage.stage,
        num_layers: stage.num_layers,
        params: Count(stage.params),
        memory_peak_bytes: stage.memory.peak().get(),
        memory: Named::of(memory.map(|(name, bytes)| (name, bytes.get()))),
        host_memory_bytes: stage.host_memory.get(),
        peak_in_flight: stage.peak_in_flight,
        fullest_at: stage.fullest.as_ref().map(task),
        forward_seconds: stage.forward.get(),
        backward_seconds: stage.backward.get(),
        compute_seconds: stage.compute.get(),
        exposed_seconds: stage.exposed.get(),
        idle_seconds: stage.idle.get(),
    }
}

/// A task of the schedule.
fn task(task: &Task) -> TaskAt {
    TaskAt { kind: task.kind.name(), chunk: task.chunk, micro_batch: task.micro_batch }
}

fn overlap(part: &PhaseOverlap) -> Overlap {
    Overlap {
        axis: part.axis.name(),
        phase: part.phase.name(),
        seconds: part.time.get(),
        exposed_seconds: part.exposed.get(),
        overlap_ratio: part.ratio(),
    }
}

fn communication(row: &Communication) -> Exchange {
    Exchange {
        axis: row.axis.name(),
        link: row.link.name(),
        collective: row.collective.name(),
        bytes_per_call: row.bytes_per_call.get(),
        bytes: row.bytes.get(),
        seconds: row.time.get(),
        exposed_seconds: row.exposed.get(),
    }
}

/// A broken rule with the nearest values that keep it.
#[must_use]
pub fn violation(violation: &Violation) -> Tree {
    broken(violation).said()
}

/// Broken rule, as [`violation`] writes it, by its parts.
#[must_use]
pub fn broken(violation: &Violation) -> BrokenRule {
    let nearest = violation.nearest.iter().map(|nearest| Setting {
        knob: nearest.knob.id(),
        value: KnobValue(Tree::from(&nearest.value)),
    });
    BrokenRule {
        rule: violation.rule,
        knobs: violation.knobs.iter().copied().map(KnobId::id).collect(),
        message: violation.message.clone(),
        nearest: nearest.collect(),
    }
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
