//! The least memory that a design needs to serve one request.

use super::engine::Overheads;
use super::host;
use super::instance::expert_params;
use super::memory::ServingMemory;
use super::plan::ServingPlan;
use super::ranks::Layout;
use crate::design::Design;

/// Bytes that the fullest device of an instance needs for one request, and those that the engine
/// takes; `None` if the layout itself is illegal.
pub(crate) fn least_memory(design: &Design) -> Option<[f64; 2]> {
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
    let least = memory.weights + memory.activations + memory.reserve + memory.sequence;
    Some([least, memory.limit])
}

/// Bytes of experts on the hosts of an instance for each of its nodes, and what a host has; none
/// where nothing lies there.
pub(crate) fn host_memory(design: &Design) -> Option<[f64; 2]> {
    let layout = Layout::decode(design);
    let on_host = design.serving.experts_on_host as f64;
    if on_host == 0.0 || layout.pipeline > design.transformer.num_layers {
        return None;
    }
    let plan = ServingPlan::with_overheads(design, Overheads::IDEAL);
    let params = expert_params(plan.architecture.moe()?, &plan.decode);
    let layers = plan.architecture.moe_layers() as f64;
    let bytes = on_host * layers * params * design.serving.weight_dtype.bytes();
    let memory = host::Host::new(design).memory_gib * 1_073_741_824.0;
    Some([bytes / host::nodes(design, layout.devices()), memory])
}
