//! Layouts of a model that serves, as data: what `infer --layouts --json` prints and
//! `POST /api/v1/infer/layouts` answers.

use std::collections::BTreeMap;

use model::MODEL_VERSION;
use model::design::Design;
use model::file::{self, Extent, Tree};
use model::link;
use model::serving::Layout;
use model::serving::front::{Front, Instances, Served};

/// Every layout of a design's model on its devices: the best within the limits, those that no
/// other beats, and those that can't serve, by reason.
#[must_use]
pub fn laid_out(design: &Design) -> Tree {
    let front = Front::new(design);
    let one = |it: &Served| served(design, it);
    Tree::map([
        ("design", file::write(design, Extent::Full)),
        ("chosen", front.chosen.as_ref().map_or(Tree::Null, one)),
        ("front", Tree::List(front.best.iter().map(one).collect())),
        ("skipped", Tree::List(skipped(&front))),
        ("tried", Tree::Unsigned(front.tried as u64)),
        ("model_version", MODEL_VERSION.into()),
    ])
}

fn served(design: &Design, it: &Served) -> Tree {
    Tree::map([
        ("decode", instances(it.decode)),
        ("prefill", it.prefill.map_or(Tree::Null, instances)),
        ("concurrency", Tree::Unsigned(it.concurrency)),
        ("output_tokens_per_second_per_device", Tree::number(it.per_device)),
        ("tokens_per_second_per_user", Tree::number(it.per_user)),
        ("ttft_seconds", Tree::number(it.ttft)),
        ("tpot_seconds", Tree::number(it.tpot)),
        ("within_limits", it.is_good.into()),
        ("link", link::encode(&it.design(design)).into()),
    ])
}

fn instances(it: Instances) -> Tree {
    layout(it.layout, it.count)
}

/// A layout with the number of its instances.
#[must_use]
pub fn layout(it: Layout, replicas: u64) -> Tree {
    Tree::map([
        ("replicas", Tree::Unsigned(replicas)),
        ("devices", Tree::Unsigned(replicas * it.devices())),
        ("tensor_parallel_size", Tree::Unsigned(it.tensor)),
        ("pipeline_parallel_size", Tree::Unsigned(it.pipeline)),
        ("data_parallel_size", Tree::Unsigned(it.data)),
        ("moe_expert_parallel_size", Tree::Unsigned(it.expert)),
        ("moe_tensor_parallel_size", Tree::Unsigned(it.expert_tensor)),
    ])
}

/// Why layouts can't serve, the most frequent reason first.
fn skipped(front: &Front) -> Vec<Tree> {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for skipped in &front.skipped {
        *reasons.entry(&skipped.reason).or_default() += 1;
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let one = |(reason, layouts): (&str, u64)| {
        Tree::map([("reason", reason.into()), ("layouts", Tree::Unsigned(layouts))])
    };
    reasons.into_iter().map(one).collect()
}
