//! What the laws see of a model.

use crate::training::plan::Plan;

/// A model as the laws see it: no depth, no kind of attention, no tokenizer, data or optimizer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// E, routed experts; one for a dense model.
    pub experts: f64,
    /// k, experts of a token.
    pub topk: f64,
    /// s, shared experts, in units of a routed one.
    pub shared: f64,
    /// Hidden size.
    pub hidden: f64,
    /// Inner width of an expert.
    pub expert_width: f64,
    /// Layers: no law reads them, but two models that differ in depth alone are told so.
    pub layers: u64,
    /// Na: active parameters with the output embedding.
    pub active: f64,
    /// Active parameters without embeddings.
    pub active_body: f64,
    /// All parameters without embeddings.
    pub total_body: f64,
}

impl Shape {
    /// The shape of a plan's model.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let model = &plan.design().transformer;
        let backbone = &plan.deployment.backbone;
        let (into, out) = (backbone.embedding_params(), backbone.table_params());
        let width = model.moe_ffn_hidden_size.unwrap_or(model.ffn_hidden_size) as f64;
        let is_moe = model.num_moe_experts.is_some();
        let shared = model.moe_shared_expert_intermediate_size.unwrap_or(0) as f64 / width;
        // A tied table counts once in either sum and is an embedding all the same.
        let tables = into + backbone.head_params();
        let active_body = (plan.params_active() - tables) as f64;
        Self {
            experts: model.num_moe_experts.unwrap_or(1) as f64,
            topk: if is_moe { model.moe_router_topk as f64 } else { 1.0 },
            shared: if is_moe { shared } else { 0.0 },
            hidden: model.hidden_size as f64,
            expert_width: width,
            layers: model.num_layers,
            active: active_body + out as f64,
            active_body,
            total_body: (plan.params_total() - tables) as f64,
        }
    }

    /// A = (k + s) / (E + s), the share of experts that a token meets.
    #[must_use]
    pub fn activation(&self) -> f64 {
        (self.topk + self.shared) / (self.experts + self.shared)
    }

    /// X = 1 / A, the expansion.
    #[must_use]
    pub fn expansion(&self) -> f64 {
        1.0 / self.activation()
    }

    /// G = 2 x hidden size / expert width, the granularity.
    #[must_use]
    pub fn granularity(&self) -> f64 {
        2.0 * self.hidden / self.expert_width
    }

    /// C = 6 x active parameters without embeddings x tokens, in FLOPs.
    #[must_use]
    pub fn compute(&self, tokens: f64) -> f64 {
        6.0 * self.active_body * tokens
    }

    /// Whether its experts are few or wide, of which one law alone knows: G < 2 or k = 1.
    #[must_use]
    pub fn is_coarse(&self) -> bool {
        self.granularity() < 2.0 || self.topk <= 1.0
    }
}
