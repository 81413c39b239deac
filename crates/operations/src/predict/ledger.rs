//! Activations that each layer saves for its backward, tensor by tensor, and what freeing them
//! would cost.

use model::answer::ledger::LayerLedger;
use model::ground::choice::{Choice, RecomputeGranularity};
use model::ground::units::Bytes;
use model::{Plan, ledger};
use present::draw::text::sentence;
use present::format;
use present::insight::memory_view::{fate, freed_by};
use reports::typed::Real;
use schemars::JsonSchema;

use crate::columns::table_below;

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

reports::said! {
    /// A kind of layer with what it saves for its backward.
    #[derive(Clone, Debug, JsonSchema)]
    pub struct SavedOfLayer {
        layer: String,
        num_layers: u64,
        tensors: Vec<SavedTensor>,
        /// Modules that may be computed again.
        recompute: Vec<RecomputePrice>,
        /// Modules that may be swapped to the host.
        swap: Vec<SwapPrice>,
    }

    /// A saved tensor, per micro-batch and device.
    #[derive(Clone, Debug, JsonSchema)]
    pub struct SavedTensor {
        tensor: &'static str,
        bytes: Real,
        /// Whether it is kept, computed again or swapped.
        fate: &'static str,
        shape: &'static str,
        recomputed_by: Vec<&'static str>,
        swapped_by: Option<&'static str>,
    }

    /// Price of computing a module again.
    #[derive(Clone, Debug, JsonSchema)]
    pub struct RecomputePrice {
        module: &'static str,
        frees_bytes: Real,
        kernel_seconds: Real,
    }

    /// Price of swapping a module.
    #[derive(Clone, Debug, JsonSchema)]
    pub struct SwapPrice {
        module: &'static str,
        frees_bytes: Real,
        /// Time on the link to the host, one way.
        link_seconds: Real,
    }
}

/// The ledger as data, one entry for each kind of layer.
pub(super) fn data(plan: &Plan) -> Vec<SavedOfLayer> {
    ledger(plan).iter().map(of_layer).collect()
}

fn of_layer(layer: &LayerLedger) -> SavedOfLayer {
    let tensors = layer.tensors.iter().map(|saved| SavedTensor {
        tensor: saved.tensor.label(),
        bytes: Real(saved.bytes.get()),
        fate: fate(saved.fate),
        shape: saved.tensor.shape(),
        recomputed_by: saved.recomputed_by.iter().map(|module| module.name()).collect(),
        swapped_by: saved.swapped_by.map(Choice::name),
    });
    let recompute = layer.recompute.iter().map(|price| RecomputePrice {
        module: price.module.name(),
        frees_bytes: Real(price.frees.get()),
        kernel_seconds: Real(price.kernels.get()),
    });
    let swap = layer.swap.iter().map(|price| SwapPrice {
        module: price.module.name(),
        frees_bytes: Real(price.frees.get()),
        link_seconds: Real(price.link.get()),
    });
    SavedOfLayer {
        layer: layer.name.to_lowercase(),
        num_layers: layer.num_layers,
        tensors: tensors.collect(),
        recompute: recompute.collect(),
        swap: swap.collect(),
    }
}
