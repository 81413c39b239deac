//! Which experts are kept, and which of them devices have.
//!
//! Letters: E' experts of a layer that are kept, k experts of a token, T tokens of a step.

use crate::design::Design;

/// The design with the experts that are kept, as if the model had no others: rows of the router go
/// with their experts, and a token's choice is among those that are left.
///
/// Router groups stay only where as many experts are left in each and those kept hold a token's.
///
/// # Source
/// PreMoe, `partial_process.py:load_permute_prune_experts`.
pub(super) fn kept_alone(design: &Design) -> Design {
    let mut served = design.clone();
    let serving = &design.serving;
    let Some(routed) = design.transformer.num_moe_experts else { return served };
    if serving.experts_kept.is_none() && serving.experts_kept_topk.is_none() {
        return served;
    }
    let kept = serving.experts_kept.unwrap_or(routed).min(routed);
    let own = &mut served.transformer;
    own.num_moe_experts = Some(kept);
    own.moe_router_topk = serving.experts_kept_topk.unwrap_or(own.moe_router_topk).min(kept);
    let groups = own.moe_router_num_groups.unwrap_or(1);
    let limited = own.moe_router_group_topk.unwrap_or(groups);
    let is_even = kept.is_multiple_of(groups);
    if !own.moe_router_group_balanced && (!is_even || kept / groups * limited < own.moe_router_topk)
    {
        own.moe_router_num_groups = None;
        own.moe_router_group_topk = None;
    }
    served
}

/// Experts of a layer that a device may visit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Resident {
    /// Experts in device memory over all that are kept, copies of busy ones counted.
    pub(super) share: f64,
    /// Share of visits that go to them.
    pub(super) hits: f64,
}

impl Resident {
    /// All of them.
    pub(super) const ALL: Self = Self { share: 1.0, hits: 1.0 };

    /// Resident experts of a design, whose hits are as many as its knob says; without it as if all
    /// experts were visited alike.
    pub(super) fn new(design: &Design) -> Self {
        let serving = &design.serving;
        let routed = design.transformer.num_moe_experts.unwrap_or(0);
        let kept = serving.experts_kept.unwrap_or(routed).min(routed);
        let on_host = serving.experts_on_host.min(kept);
        if on_host == 0 {
            return Self::ALL;
        }
        let all = (kept + design.routing.redundant_experts) as f64;
        let even = (kept - on_host) as f64 / kept as f64;
        let hits =
            if on_host == kept { 0.0 } else { serving.expert_cache_hit_rate.unwrap_or(even) };
        Self { share: (all - on_host as f64) / all, hits }
    }
}

/// Distinct experts that this many tokens visit: E' (1 - (1 - k / E')^T).
#[must_use]
pub fn touched_experts(experts: f64, topk: f64, tokens: f64) -> f64 {
    if experts <= 0.0 {
        return 0.0;
    }
    experts * (1.0 - libm::pow(1.0 - (topk / experts).min(1.0), tokens))
}
