//! Serving: the same model, answering.
//!
//! A [`ServingPlan`] stands beside the plan of training, on a deployment of its own: what layers
//! take is told by the same mixers and MLPs, for the rows of a step of decode or of a prompt. What
//! is its own: the cache, the engine, and how requests share steps.

mod engine;
mod explain;
pub mod experts;
pub mod fits;
mod formats;
pub mod front;
pub mod host;
mod inference;
mod instance;
mod load;
mod memory;
mod metric;
mod overheads;
mod pass;
mod range;
mod ranks;
mod resident;
mod routed;
pub mod rules;
pub mod runs;
mod speculation;

use alloc::vec::Vec;

use crate::accelerator::Accelerator;
use crate::architecture::Architecture;
use crate::choice::Disaggregation;
use crate::design::{Design, KnobId};
use crate::metric::MetricId;
use crate::violation::Violation;

pub use engine::{Overheads, family, is_known, overheads};
pub use explain::explain;
pub use inference::{
    Inference, Part, Slowest, accepted_tokens, decode_step, infer, prefill_rate, prefill_seconds,
};
use instance::{Instance, expert_params};
pub use memory::ServingMemory;
pub use metric::ServingMetric;
pub use range::serving_range;
pub use ranks::Layout;
use resident::kept_alone;

/// The knob of serving that a short name means there.
#[must_use]
pub fn alias(name: &str) -> Option<KnobId> {
    Some(match name {
        "tp" => KnobId::tensor_parallel_size,
        "pp" => KnobId::pipeline_parallel_size,
        "dp" => KnobId::data_parallel_size,
        "ep" => KnobId::moe_expert_parallel_size,
        "etp" => KnobId::moe_tensor_parallel_size,
        _ => return None,
    })
}

/// A design whose serving breaks no rule, with every size resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct ServingPlan {
    design: Design,
    /// The same with the experts that are kept.
    served: Design,
    architecture: Architecture,
    /// Bytes of a parameter of an expert on the host.
    host_bytes: f64,
    overheads: Overheads,
    decode: Instance,
    /// Where prompts have devices of their own.
    prefill: Option<Instance>,
    /// Instances of both.
    replicas: [u64; 2],
}

impl ServingPlan {
    /// Checks a design and derives what formulas need.
    ///
    /// # Errors
    /// Every rule of its model, machine and serving that it breaks.
    pub fn new(design: &Design) -> Result<Self, Vec<Violation>> {
        let violations = rules::violations(design);
        if !violations.is_empty() {
            return Err(violations);
        }
        let overheads = engine::overheads(design.serving.engine, design.cluster.accelerator);
        Ok(Self::with_overheads(design, overheads))
    }

    /// The plan of a design that breaks no rule, with an engine's overheads: how a calibration
    /// tries values that the table doesn't hold.
    #[must_use]
    pub fn with_overheads(design: &Design, overheads: Overheads) -> Self {
        let bytes = design.serving.weight_dtype.bytes();
        Self::on_card(design, overheads, design.cluster.accelerator.row(), bytes)
    }

    /// The same on a card that designs can't name, with experts on the host in a format of their
    /// own.
    fn on_card(design: &Design, overheads: Overheads, row: &Accelerator, host_bytes: f64) -> Self {
        let layout = Layout::decode(design);
        let served = kept_alone(design);
        let decode = Instance::on(&served, layout, &overheads, row);
        let is_apart = design.serving.disaggregation == Disaggregation::PrefillDecode;
        let of_prefill = Layout::prefill(design);
        let prefill = is_apart.then(|| Instance::on(&served, of_prefill, &overheads, row));
        let [prompts, answers] = pools(design);
        Self {
            architecture: Architecture::new(&served),
            served,
            host_bytes,
            replicas: [
                if is_apart { (prompts / of_prefill.devices()).max(1) } else { 0 },
                (answers / layout.devices()).max(1),
            ],
            overheads,
            decode,
            prefill,
            design: design.clone(),
        }
    }

    /// The design that was checked.
    #[must_use]
    pub const fn design(&self) -> &Design {
        &self.design
    }

    /// Parameters of the model as one of the metrics counts them; none by any other.
    #[must_use]
    pub fn params(&self, metric: MetricId) -> Option<u128> {
        let (on, architecture) = (&self.decode.deployment, &self.architecture);
        let [total, active] = [architecture.params_total(on), architecture.params_active(on)];
        let table = on.backbone.table_params();
        let known = [
            (MetricId::params_total, total),
            (MetricId::params_active, active),
            (MetricId::params_total_no_input_embedding, total - table),
            (MetricId::params_active_no_input_embedding, active - table),
        ];
        known.into_iter().find(|(known, _)| *known == metric).map(|(_, count)| count)
    }

    /// Instances that prefill alone, and those that decode.
    #[must_use]
    pub const fn replicas(&self) -> [u64; 2] {
        self.replicas
    }

    /// The layout of an instance that decodes.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.decode.layout
    }

    /// The layout of an instance that prefills alone, where there are such.
    #[must_use]
    pub fn prefill_layout(&self) -> Option<Layout> {
        self.prefill.as_ref().map(|instance| instance.layout)
    }
}

/// Bytes that the fullest device of an instance needs for one request, and those that the engine
/// takes; none where the layout itself is illegal.
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

/// Devices for prompts and for answers: all for answers where they aren't apart.
pub(crate) fn pools(design: &Design) -> [u64; 2] {
    let (all, serving) = (design.cluster.num_devices, &design.serving);
    if serving.disaggregation == Disaggregation::None {
        return [0, all];
    }
    match (serving.prefill_devices, serving.decode_devices) {
        (Some(prefill), Some(decode)) => [prefill, decode],
        (Some(prefill), None) => [prefill, all.saturating_sub(prefill)],
        (None, Some(decode)) => [all.saturating_sub(decode), decode],
        (None, None) => [all / 2, all - all / 2],
    }
}
