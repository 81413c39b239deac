//! The least memory that a design needs to serve one request.

use super::engine::Overheads;
use super::host;
use super::instance::expert_params;
use super::memory::ServingMemory;
use super::plan::ServingPlan;
use super::ranks::Layout;
use crate::design::Design;
use crate::ground::units::Bytes;

/// Memory that is needed, and memory that there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Need {
    /// Bytes that are needed.
    pub(crate) needed: Bytes,
    /// Bytes that there are.
    pub(crate) limit: Bytes,
}

impl Need {
    /// Whether it is enough.
    pub(crate) fn is_met(self) -> bool {
        self.needed <= self.limit
    }
}

/// Need of the fullest device of an instance for one request, and what the engine takes of it;
/// none where the layout itself is illegal.
pub(crate) fn least_memory(design: &Design) -> Option<Need> {
    let layout = Layout::decode(design);
    let is_moe = design.transformer.num_moe_experts.is_some();
    let ranks = layout.tensor * layout.data;
    if layout.pipeline > design.transformer.num_layers
        || (is_moe && layout.expert * layout.expert_tensor != ranks)
    {
        return None;
    }
    let plan = ServingPlan::with_overheads(design, Overheads::IDEAL);
    let memory = ServingMemory::new(design, &plan.architecture, &plan.decode);
    let needed = memory.weights + memory.activations + memory.reserve + memory.sequence;
    Some(Need { needed, limit: memory.limit })
}

/// Need of experts on the hosts of an instance, by node, and what a host has; `None`
/// where nothing lies there.
pub(crate) fn host_memory(design: &Design) -> Option<Need> {
    let layout = Layout::decode(design);
    let on_host = design.serving.experts_on_host as f64;
    if on_host == 0.0 || layout.pipeline > design.transformer.num_layers {
        return None;
    }
    let plan = ServingPlan::with_overheads(design, Overheads::IDEAL);
    let params = expert_params(plan.architecture.moe()?, &plan.decode);
    let layers = plan.architecture.moe_layers() as f64;
    let bytes = Bytes::new(on_host * layers * params * design.serving.weight_dtype.bytes());
    let limit = Bytes::gib(host::Host::new(design).memory_gib);
    Some(Need { needed: bytes / host::nodes(design, layout.devices()), limit })
}
