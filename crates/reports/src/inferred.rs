//! An inference as data: what `infer --json` prints and `POST /api/v1/infer` answers.
//!
//! The keys are public names and units stand in them. A design whose serving is illegal gives the
//! same object with every metric null and its violations listed.

use model::MODEL_VERSION;
use model::design::{Design, KnobId};
use model::file::{self, Extent, Tree};
use model::knob::Section;
use model::serving::{
    Inference, Part, ServingMemory, ServingMetric, ServingPlan, infer, serving_range,
};
use model::violation::Violation;

use crate::experts;
use crate::laid_out::layout;
use crate::report::violation;

/// The inference of a design, legal or not; what was set and isn't read is warned of.
#[must_use]
pub fn inferred(design: &Design, set: &[KnobId]) -> Tree {
    match ServingPlan::new(design) {
        Ok(plan) => legal(&plan, &infer(&plan), &unread(set)),
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

fn refused(design: &Design, violations: &[Violation]) -> Tree {
    let nothing = ServingMetric::ALL.iter().map(|id| (id.metric().name, Tree::Null));
    Tree::map([
        ("design", file::write(design, Extent::Full)),
        ("metrics", Tree::map(nothing)),
        ("ranges", Tree::Map(vec![])),
        ("binds", Tree::Null),
        ("layout", Tree::Null),
        ("timeline", Tree::Null),
        ("memory", Tree::Null),
        ("experts", Tree::Null),
        ("violations", Tree::List(violations.iter().map(violation).collect())),
        ("warnings", Tree::List(vec![])),
        ("model_version", MODEL_VERSION.into()),
    ])
}

fn legal(plan: &ServingPlan, inference: &Inference, unread: &[String]) -> Tree {
    let metrics =
        ServingMetric::ALL.iter().map(|id| (id.metric().name, Tree::number(inference.get(*id))));
    let warnings = inference.warnings.iter().chain(unread).map(String::as_str);
    Tree::map([
        ("design", file::write(plan.design(), Extent::Full)),
        ("metrics", Tree::map(metrics)),
        ("ranges", ranges(plan, inference)),
        ("binds", inference.binds.name().into()),
        ("layout", layouts(plan)),
        (
            "timeline",
            Tree::map([
                ("prefill", parts(&inference.prefill)),
                ("decode", parts(&inference.decode)),
            ]),
        ),
        ("memory", memory(&inference.memory)),
        ("experts", experts::section(plan, inference)),
        ("violations", Tree::List(vec![])),
        ("warnings", Tree::list(warnings)),
        ("model_version", MODEL_VERSION.into()),
    ])
}

/// The ranges of metrics in their own units, and the band of the first token's time.
fn ranges(plan: &ServingPlan, inference: &Inference) -> Tree {
    let range = |id: &ServingMetric| {
        let range = serving_range(plan, *id)?;
        let value = inference.get(*id);
        let ends =
            |factors: [f64; 2]| Tree::List(factors.map(|it| Tree::number(value * it)).to_vec());
        let mut entries = vec![
            ("range_50".to_owned(), ends(range.half)),
            ("range_90".to_owned(), ends(range.most)),
            ("rows".to_owned(), Tree::Unsigned(range.basis.rows.into())),
            ("sources".to_owned(), Tree::Unsigned(range.basis.sources.into())),
        ];
        if *id == ServingMetric::ttft_seconds {
            let band = inference.ttft_band.map(Tree::number).to_vec();
            entries.push(("band_of_requests".to_owned(), Tree::List(band)));
        }
        Some((id.metric().name, Tree::Map(entries)))
    };
    Tree::map(ServingMetric::ALL.iter().filter_map(range))
}

fn layouts(plan: &ServingPlan) -> Tree {
    let [prefill, decode] = plan.replicas();
    let of_prefill = plan.prefill_layout().map(|it| layout(it, prefill));
    Tree::map([
        ("decode", layout(plan.layout(), decode)),
        ("prefill", of_prefill.unwrap_or(Tree::Null)),
    ])
}

fn parts(parts: &[Part]) -> Tree {
    Tree::List(
        parts
            .iter()
            .map(|part| {
                Tree::map([("part", part.name.into()), ("seconds", Tree::number(part.seconds))])
            })
            .collect(),
    )
}

fn memory(memory: &ServingMemory) -> Tree {
    let bytes = [
        ("weights_bytes", memory.weights),
        ("activations_bytes", memory.activations),
        ("reserve_bytes", memory.reserve),
        ("cache_bytes", memory.cache),
        ("limit_bytes", memory.limit),
        ("cache_bytes_per_request", memory.sequence),
        ("cache_bytes_per_token", memory.token),
    ];
    Tree::map(bytes.map(|(name, bytes)| (name, Tree::number(bytes))))
}
