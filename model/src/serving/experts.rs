//! Experts that are kept, dropped, or live on the host.
//!
//! Letters: E routed experts of a layer, E' those kept, k experts of a token, T tokens of a step.

use super::engine::Overheads;
use super::host::Host;
use super::inference::Inference;
use super::instance::{Instance, expert_params};
use super::plan::ServingPlan;
use super::ranks::Layout;
use super::resident::Resident;
pub use super::resident::touched_experts;
use crate::design::Design;
use crate::ground::units::Bytes;
use crate::layer::architecture::Architecture;
use crate::metric::published::{ACCURACIES, Accuracy};

/// The experts of a plan: how many there are, what they weigh and where they live.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Experts {
    /// E, routed experts of a layer of the model.
    pub routed: u64,
    /// E', those that are kept.
    pub kept: u64,
    /// k, experts that a token visits of them.
    pub topk: f64,
    /// Experts of a layer in host memory.
    pub on_host: u64,
    /// Share of visits that go to experts on the devices.
    pub hit_rate: f64,
    /// Layers with experts.
    pub layers: u64,
    /// Bytes of one expert.
    pub expert_bytes: Bytes,
    /// Bytes of all weights as they are served, each counted once: embedding, head and shared
    /// experts among them, MTP layers not.
    pub model_bytes: Bytes,
    /// Weights with MTP layers, whose experts are kept alike.
    pub model_bytes_with_mtp: Bytes,
    /// Bytes of experts in host memory.
    pub host_bytes: Bytes,
    /// Mean load of the busiest expert rank over that of all, among the kept.
    pub imbalance: f64,
    /// The host that computes or sends its experts.
    pub host: Host,
}

impl Experts {
    /// The experts of a plan; `None` if the model has none.
    #[must_use]
    pub fn new(plan: &ServingPlan) -> Option<Self> {
        let moe = plan.architecture.moe()?;
        let design = &plan.served;
        let layers = plan.architecture.moe_layers();
        let resident = Resident::new(&plan.design);
        let expert_bytes = expert_params(moe, &plan.decode) * design.serving.weight_dtype.bytes();
        let expert_bytes = Bytes::new(expert_bytes);
        let on_host = plan.design.serving.experts_on_host.min(moe.experts);
        let [model_bytes, model_bytes_with_mtp] = [0, 1].map(|drafts| model_bytes(design, drafts));
        Some(Self {
            routed: plan.design.transformer.num_moe_experts?,
            kept: moe.experts,
            topk: moe.visited(),
            on_host,
            hit_rate: resident.hits,
            layers,
            expert_bytes,
            model_bytes,
            model_bytes_with_mtp,
            host_bytes: expert_bytes * (on_host as f64 * layers as f64),
            imbalance: plan.skew(&plan.decode),
            host: Host::new(&plan.design),
        })
    }

    /// Experts that a token visits, the most where their number differs.
    #[must_use]
    pub fn visited(&self) -> usize {
        libm::ceil(self.topk) as usize
    }

    /// Distinct experts of a layer that a step of decode touches, of as many requests as an
    /// inference has in flight, drafts among their tokens.
    #[must_use]
    pub fn touched(&self, plan: &ServingPlan, inference: &Inference) -> f64 {
        let requests = inference.metrics.requests_in_flight;
        let instances = plan.replicas().decode.max(1) as f64;
        let tokens = (1 + plan.design().serving.num_speculative_tokens) as f64;
        touched_experts(self.kept as f64, self.topk, requests / instances * tokens)
    }
}

/// Bytes of all weights of a design whose experts are those kept; of MTP layers where some are
/// drafted with.
pub(super) fn model_bytes(served: &Design, drafts: u64) -> Bytes {
    let layout = Layout { tensor: 1, pipeline: 1, data: 1, expert: 1, expert_tensor: 1 };
    let mut alone = served.clone();
    alone.routing.redundant_experts = 0;
    alone.serving.experts_on_host = 0;
    let architecture = Architecture::new(&alone);
    let instance = Instance::new(&alone, layout, &Overheads::IDEAL);
    alone.serving.num_speculative_tokens = drafts;
    instance.weight_bytes(&alone, &architecture)
}

/// Published accuracies of a design's model.
pub fn published(design: &Design) -> impl Iterator<Item = &'static Accuracy> {
    let preset = design.preset.id;
    ACCURACIES.iter().filter(move |row| row.presets.contains(&preset))
}
