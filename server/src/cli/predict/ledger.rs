//! Activations that each layer saves for its backward, tensor by tensor, and what freeing them
//! would cost.

use model::answer::ledger::LayerLedger;
use model::design::file::Tree;
use model::ground::choice::{Choice, RecomputeGranularity};
use model::ground::units::Bytes;
use model::{Plan, ledger};
use present::draw::text::sentence;
use present::format;
use present::insight::memory_view::{fate, freed_by};

use crate::cli::output::table_below;

/// The ledger of every kind of layer, for people.
pub(super) fn text(plan: &Plan) -> String {
    let mut text: Vec<String> = ledger(plan).iter().map(layer).collect();
    if plan.design().memory.recompute_granularity == RecomputeGranularity::Full {
        text.push("  Whole layers are computed again: of those only the input stays\n".into());
    }
    text.join("\n")
}

fn layer(layer: &LayerLedger) -> String {
    let name = sentence(&layer.name);
    let layers = format::counted(layer.num_layers, "layer", "layers");
    let mut text = format!(
        "Saved tensors of a layer, per micro-batch and device: {name}, {layers}\n{}",
        tensors(layer)
    );
    if !layer.recompute.is_empty() {
        let rows = layer.recompute.iter().map(|price| {
            let kernels = format::duration(price.kernels).to_string();
            vec![price.module.name().into(), size(price.frees), kernels]
        });
        text.push_str(&prices("recompute", "kernels", rows));
    }
    if !layer.swap.is_empty() {
        let rows = layer.swap.iter().map(|price| {
            let link = format::duration(price.link).to_string();
            vec![price.module.name().into(), size(price.frees), link]
        });
        text.push_str(&prices("swap", "link, one way", rows));
    }
    text
}

fn tensors(layer: &LayerLedger) -> String {
    let head = ["tensor", "size", "fate", "freed by", "shape"];
    let rows = layer.tensors.iter().map(|saved| {
        vec![
            saved.tensor.label().into(),
            size(saved.bytes),
            fate(saved.fate).into(),
            freed_by(saved),
            saved.tensor.shape().into(),
        ]
    });
    table_below(head, "lrlll", rows)
}

fn prices(what: &str, cost: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    table_below([what, "frees", cost], "lrr", rows)
}

/// Size in MiB, so that a column can be compared by eye.
fn size(bytes: Bytes) -> String {
    format!("{} MiB", format::decimals(bytes.get() / 1_048_576.0, 1))
}

/// The ledger as data, one entry for each kind of layer.
pub(super) fn json(plan: &Plan) -> Tree {
    Tree::List(ledger(plan).iter().map(layer_json).collect())
}

fn layer_json(layer: &LayerLedger) -> Tree {
    let tensors = layer.tensors.iter().map(|saved| {
        let modules = saved.recomputed_by;
        let swap = saved.swapped_by.map(Choice::name);
        Tree::map([
            ("tensor", saved.tensor.label().into()),
            ("bytes", Tree::Real(saved.bytes.get())),
            ("fate", fate(saved.fate).into()),
            ("shape", saved.tensor.shape().into()),
            ("recomputed_by", Tree::list(modules.iter().map(|module| module.name()))),
            ("swapped_by", swap.into()),
        ])
    });
    let recompute = layer.recompute.iter().map(|price| {
        Tree::map([
            ("module", price.module.name().into()),
            ("frees_bytes", Tree::Real(price.frees.get())),
            ("kernel_seconds", Tree::Real(price.kernels.get())),
        ])
    });
    let swap = layer.swap.iter().map(|price| {
        Tree::map([
            ("module", price.module.name().into()),
            ("frees_bytes", Tree::Real(price.frees.get())),
            ("link_seconds", Tree::Real(price.link.get())),
        ])
    });
    Tree::map([
        ("layer", layer.name.to_lowercase().into()),
        ("num_layers", Tree::Unsigned(layer.num_layers)),
        ("tensors", Tree::List(tensors.collect())),
        ("recompute", Tree::List(recompute.collect())),
        ("swap", Tree::List(swap.collect())),
    ])
}
