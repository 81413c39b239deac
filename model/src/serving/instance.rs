//! One instance of a model: the devices that answer a request together.

use super::engine::Overheads;
use super::formats;
use super::ranks::Layout;
use super::resident::Resident;
use crate::catalogue::accelerator::Accelerator;
use crate::catalogue::calibration::IDEAL;
use crate::design::{Design, Kernel};
use crate::device::kernel::Device;
use crate::device::topology::Machine;
use crate::ground::choice::{
    ContextParallelAlgo, Dispatcher, FlexBackend, Framework, Precision, WeightDtype,
};
use crate::ground::units::Bytes;
use crate::layer::architecture::Architecture;
use crate::layer::backbone::Backbone;
use crate::layer::deployment::{Deployment, Dispatch};
use crate::layer::mlp::{Moe, Transform as _};
use crate::layer::tuning::Tuning;

/// An instance: its layout, the deployment that formulas of layers read, and the device as it
/// computes what stays in 16 bits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Instance {
    pub(super) layout: Layout,
    pub(super) deployment: Deployment,
    pub(super) wide: Device,
}

impl Instance {
    /// Instance of a design whose experts are those kept.
    pub(super) fn new(design: &Design, layout: Layout, overheads: &Overheads) -> Self {
        Self::on(design, layout, overheads, design.cluster.accelerator.row())
    }

    /// Instance on a device that is given.
    pub(super) fn on(
        design: &Design,
        layout: Layout,
        overheads: &Overheads,
        row: &Accelerator,
    ) -> Self {
        let row = *row;
        let [device, wide] = formats::devices(design, &row, overheads);
        let mut machine = Machine::new(design, &row);
        machine.small = Some(row.fabric.small);
        let deployment = Deployment {
            backbone: Backbone::new(design),
            ranks: layout.ranks(),
            machine,
            device,
            accelerator: row,
            host: IDEAL,
            kernel: Kernel { framework: Framework::Ideal, ..Kernel::default() },
            precision: match design.serving.weight_dtype {
                // What tells the width of a dispatched row.
                WeightDtype::Fp8 | WeightDtype::Int8 | WeightDtype::Nvfp4 => {
                    Precision::Fp8Blockwise
                }
                WeightDtype::Bf16 | WeightDtype::Fp16 | WeightDtype::Int4 | WeightDtype::Mxfp4 => {
                    Precision::Bf16
                }
            },
            dispatch: Dispatch {
                dispatcher: Dispatcher::Flex,
                backend: FlexBackend::Deepep,
                is_hierarchical: false,
            },
            context: ContextParallelAlgo::P2p,
            tuning: Tuning::FULL,
        };
        Self { layout, deployment, wide }
    }

    /// Bytes of weights on the fullest device: linear layers in their format, embedding, head,
    /// router and norms in 16 bits; redundant experts and MTP layers that draft among them, experts
    /// on the host not.
    pub(super) fn weight_bytes(&self, design: &Design, architecture: &Architecture) -> Bytes {
        let on = &self.deployment;
        let dtype = design.serving.weight_dtype;
        let (all, experts) = (dtype.bytes(), dtype.bytes());
        let dense_bytes = if dtype.is_of_experts() { 2.0 } else { all };
        let experts = experts * Resident::new(design).share;
        let drafts = design.serving.num_speculative_tokens > 0;
        let mut bytes = 0.0;
        for (index, kind) in architecture.kinds.iter().enumerate() {
            let mut layers = architecture.layers[index] as f64;
            if drafts && index == architecture.mtp.kind.index() {
                layers += architecture.mtp.layers as f64;
            }
            let params = kind.params(on);
            let held = params.on_rank(&on.ranks, kind.expert_copies());
            // Routers and norms are whole on each rank and in 16 bits.
            let wide = kind.norm_params(on) + kind.mlp.moe().map_or(0, |moe| moe.router_params(on));
            let wide = wide as f64;
            bytes +=
                layers * ((held.dense - wide) * dense_bytes + wide * 2.0 + held.expert * experts);
        }
        let backbone = &on.backbone;
        let tables = backbone.embedding_params() + backbone.head_params();
        let stages = on.ranks.pp as f64;
        // The first stage has the embedding and the last one the head.
        let ends = tables as f64 / on.ranks.tp as f64 * 2.0;
        Bytes::new(if stages > 1.0 { bytes / stages + ends / 2.0 } else { bytes + ends })
    }

    /// Bytes that the fullest device keeps of a sequence of this many tokens.
    pub(super) fn cached_bytes(
        &self,
        architecture: &Architecture,
        tokens: f64,
        element_bytes: f64,
    ) -> Bytes {
        let on = &self.deployment;
        let kinds = architecture.kinds.iter().zip(architecture.layers);
        let all: f64 = kinds
            .map(|(kind, layers)| {
                use crate::layer::mixer::Mix;
                layers as f64 * kind.mixer.cached_bytes(on, tokens, element_bytes)
            })
            .sum();
        Bytes::new(all / on.ranks.pp as f64)
    }
}

/// Parameters of one expert.
pub(super) fn expert_params(moe: &Moe, instance: &Instance) -> f64 {
    moe.params(&instance.deployment).expert as f64 / moe.experts.max(1) as f64
}
