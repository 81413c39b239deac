//! An inference as data: what `infer --json` prints and `POST /api/v1/infer` answers.
//!
//! The keys are public names and units stand in them. A design whose serving is illegal gives the
//! same object with every metric null and its violations listed.

use model::design::violation::Violation;
use model::design::{Design, KnobId};
use model::ground::knob::Section;
use model::metric::{MetricId, Regime};
use model::serving::{FirstTokens, Inference, Part, Replicas, ServingMemory, ServingPlan, infer};
use model::{Answer, MODEL_VERSION};

use crate::experts::{self, OfExperts};
use crate::report::{BrokenRule, broken};
use crate::typed::{DesignFile, May, Named, answers};

answers! {
    /// The object of `moescape infer --json`.
    #[cfg_attr(feature = "schema", schemars(rename = "Inference"))]
    struct Inferred {
        design: DesignFile,
        /// Every metric of serving by its id; null where the design breaks rules.
        metrics: Named<Option<f64>>,
        /// By metric where half and nine of ten runs lie, and what that rests on.
        ranges: Named<ServingRange>,
        /// What keeps more tokens from being answered.
        binds: Option<&'static str>,
        layout: Option<Pools>,
        /// A step of decode and a prompt by part.
        timeline: Option<Timeline>,
        /// Of a device.
        memory: Option<Named<f64>>,
        /// Of a model with experts: those kept and on the host, their bytes, what a step touches,
        /// what is published of accuracy with a share of them, and what fits on which machine.
        experts: Option<OfExperts>,
        violations: Vec<BrokenRule>,
        warnings: Vec<String>,
        model_version: &'static str,
    }

    /// Where true values lie, and what that rests on.
    struct ServingRange {
        range_50: [f64; 2],
        range_90: [f64; 2],
        /// Published runs that it rests on.
        rows: u32,
        /// Sources of these.
        sources: u32,
        /// Of the time of the first token: the soonest and the latest of the requests at once.
        #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
        band_of_requests: May<[f64; 2]>,
    }

    /// A layout with the number of its instances.
    struct Layout {
        /// Instances of the model.
        replicas: u64,
        /// Devices of all of them.
        devices: u64,
        tensor_parallel_size: u64,
        pipeline_parallel_size: u64,
        /// Attention groups of an instance.
        data_parallel_size: u64,
        moe_expert_parallel_size: u64,
        moe_tensor_parallel_size: u64,
    }

    /// The instances that decode, and those that prefill apart.
    struct Pools {
        decode: Layout,
        /// Null where instances prefill and decode.
        prefill: Option<Layout>,
    }

    /// What time is made of.
    struct Timeline {
        /// Of a prompt.
        prefill: Vec<TimePart>,
        /// Of a step.
        decode: Vec<TimePart>,
    }

    /// A part of a time.
    struct TimePart {
        part: &'static str,
        seconds: f64,
    }
}

/// The inference of a design, legal or not.
#[must_use]
pub fn inferred(design: &Design) -> Inferred {
    match ServingPlan::new(design) {
        Ok(plan) => legal(&plan, &infer(&plan), &[]),
        Err(violations) => refused(design, &violations),
    }
}

/// Warnings of knobs that serving doesn't read.
#[must_use]
pub fn unread(set: &[KnobId]) -> Vec<String> {
    let is_unread = |id: &&KnobId| match id.knob().section {
        Section::Parallel
        | Section::Schedule
        | Section::Training
        | Section::Memory
        | Section::Run => true,
        Section::Kernel => **id != KnobId::dispatch_microseconds,
        Section::Transformer | Section::Cluster | Section::Routing | Section::Serving => false,
    };
    let unread = set.iter().filter(is_unread);
    unread.map(|id| format!("{} is of training; serving does not read it", id.id())).collect()
}

/// The inference of a design that breaks rules.
#[must_use]
pub fn refused(design: &Design, violations: &[Violation]) -> Inferred {
    Inferred {
        design: DesignFile::of(design),
        metrics: Named::of(MetricId::of(Regime::Serving).map(|id| (id.metric().name, None))),
        ranges: Named::none(),
        binds: None,
        layout: None,
        timeline: None,
        memory: None,
        experts: None,
        violations: violations.iter().map(broken).collect(),
        warnings: vec![],
        model_version: MODEL_VERSION,
    }
}

/// The inference of a legal design, with warnings of knobs that aren't read.
#[must_use]
pub fn legal(plan: &ServingPlan, inference: &Inference, unread: &[String]) -> Inferred {
    let answer = Answer::Serving { plan, inference };
    let metrics = MetricId::of(Regime::Serving);
    let metrics = metrics.map(|id| (id.metric().name, answer.number(id)));
    Inferred {
        design: DesignFile::of(plan.design()),
        metrics: Named::of(metrics),
        ranges: ranges(answer, inference),
        binds: Some(inference.bottleneck.name()),
        layout: Some(pools(plan)),
        timeline: Some(Timeline {
            prefill: parts(&inference.prefill),
            decode: parts(&inference.decode),
        }),
        memory: Some(memory(&inference.memory)),
        experts: experts::of_experts(plan, inference),
        violations: vec![],
        warnings: inference.warnings.iter().chain(unread).cloned().collect(),
        model_version: MODEL_VERSION,
    }
}

/// The ranges of metrics in their own units, and the band of the first token's time.
fn ranges(answer: Answer<'_>, inference: &Inference) -> Named<ServingRange> {
    let range = |id: MetricId| {
        let (range, value) = (answer.range(id)?, answer.number(id)?);
        let ends = |factors: [f64; 2]| factors.map(|it| value * it);
        let is_first = id == MetricId::ttft_seconds;
        let range = ServingRange {
            range_50: ends(range.half),
            range_90: ends(range.most),
            rows: range.basis.rows,
            sources: range.basis.sources,
            band_of_requests: May(is_first.then(|| band(inference))),
        };
        Some((id.metric().name, range))
    };
    Named::of(MetricId::of(Regime::Serving).filter_map(range))
}

/// Between when first tokens come.
fn band(inference: &Inference) -> [f64; 2] {
    let FirstTokens { soonest, latest } = inference.first_tokens;
    [soonest.get(), latest.get()]
}

fn pools(plan: &ServingPlan) -> Pools {
    let Replicas { prefill, decode } = plan.replicas();
    Pools {
        decode: layout(plan.layout(), decode),
        prefill: plan.prefill_layout().map(|it| layout(it, prefill)),
    }
}

/// A layout with the number of its instances.
#[must_use]
pub fn layout(it: model::serving::Layout, replicas: u64) -> Layout {
    Layout {
        replicas,
        devices: replicas * it.devices(),
        tensor_parallel_size: it.tensor,
        pipeline_parallel_size: it.pipeline,
        data_parallel_size: it.data,
        moe_expert_parallel_size: it.expert,
        moe_tensor_parallel_size: it.expert_tensor,
    }
}

fn parts(parts: &[Part]) -> Vec<TimePart> {
    parts.iter().map(|part| TimePart { part: part.name, seconds: part.time.get() }).collect()
}

fn memory(memory: &ServingMemory) -> Named<f64> {
    Named::of([
        ("weights_bytes", memory.weights.get()),
        ("activations_bytes", memory.activations.get()),
        ("reserve_bytes", memory.reserve.get()),
        ("cache_bytes", memory.cache.get()),
        ("limit_bytes", memory.limit.get()),
        ("cache_bytes_per_request", memory.sequence.get()),
        ("cache_bytes_per_token", memory.token.get()),
    ])
}
