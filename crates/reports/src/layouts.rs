//! Layouts of a model that serves, as data: what `infer --layouts --json` prints and
//! `POST /api/v1/infer/layouts` answers.

use std::collections::BTreeMap;

use model::MODEL_VERSION;
use model::design::Design;
use model::design::file::Tree;
use model::design::link;
use model::search::find::{LayoutFront, LayoutPoint, Pool};
use model::serving::Instances;

use crate::typed::{DesignFile, Said, answers};

answers! {
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

    /// A layout at a load.
    struct LaidOut {
        decode: Layout,
        /// Null where instances prefill and decode.
        prefill: Option<Layout>,
        /// Requests at once in an instance.
        concurrency: u64,
        output_tokens_per_second_per_device: f64,
        tokens_per_second_per_user: f64,
        ttft_seconds: f64,
        tpot_seconds: f64,
        /// Whether both times are within the design's limits.
        within_limits: bool,
        /// The query of a link that opens the design.
        link: String,
    }

    /// Why layouts can't serve.
    struct Skipped {
        reason: String,
        /// How many.
        layouts: u64,
    }

    /// The object of `moescape infer --layouts --json`.
    struct Layouts {
        design: DesignFile,
        /// The best within the limits; null where none is.
        chosen: Option<LaidOut>,
        /// Those that no other beats.
        front: Vec<LaidOut>,
        /// Those that can't serve, the most frequent reason first.
        skipped: Vec<Skipped>,
        /// Layouts and loads that were tried.
        tried: usize,
        model_version: &'static str,
    }
}

/// Every layout of a design's model on its devices: the best within the limits, those that no
/// other beats, and those that can't serve, by reason.
#[must_use]
pub fn layouts(design: &Design, pool: &impl Pool) -> Tree {
    let front = LayoutFront::new(design, pool);
    let one = |it: &LayoutPoint| point(design, it);
    let layouts = Layouts {
        design: DesignFile::of(design),
        chosen: front.chosen.as_ref().map(one),
        front: front.best.iter().map(one).collect(),
        skipped: skipped(&front),
        tried: front.tried,
        model_version: MODEL_VERSION,
    };
    layouts.said()
}

fn point(design: &Design, it: &LayoutPoint) -> LaidOut {
    LaidOut {
        decode: instances(it.decode),
        prefill: it.prefill.map(instances),
        concurrency: it.concurrency,
        output_tokens_per_second_per_device: it.per_device,
        tokens_per_second_per_user: it.per_user,
        ttft_seconds: it.ttft.get(),
        tpot_seconds: it.tpot.get(),
        within_limits: it.is_good,
        link: link::encode(&it.design(design)),
    }
}

fn instances(it: Instances) -> Layout {
    layout(it.layout, it.count)
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

/// Why layouts can't serve, the most frequent reason first.
fn skipped(front: &LayoutFront) -> Vec<Skipped> {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for skipped in &front.skipped {
        *reasons.entry(&skipped.reason).or_default() += 1;
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let one = |(reason, layouts): (&str, u64)| Skipped { reason: reason.to_owned(), layouts };
    reasons.into_iter().map(one).collect()
}
