//! What different papers call MFU: one run, several numbers.
//!
//! The same step time gives MFUs up to 21 % apart: half of the attention scores are counted or all
//! of them, the MTP layer or not, recomputed work or not, and peaks differ. A published MFU can be
//! compared only under its own convention. Some counters count what isn't there: a look-up as a
//! product, or each expert as wide as the dense MLP.

use alloc::vec::Vec;

use crate::ground::choice::AttentionFlops;
use crate::ground::units::{Flops, FlopsPerSecond};
use crate::training::estimate::Estimate;
use crate::training::plan::Plan;

/// One way to count, and what this run's utilisation is by it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convention {
    /// Name of the number.
    pub name: &'static str,
    /// Frameworks or papers that count so.
    pub used_by: &'static str,
    /// Which attention scores count; none counts parameters alone.
    pub attention: Option<AttentionFlops>,
    /// Does the MTP layer with its head count?
    pub counts_mtp: bool,
    /// Does work that is done again count?
    pub counts_recompute: bool,
    /// FLOPs that are counted for a token.
    pub flops_per_token: Flops,
    /// The peak of a device that they are compared with.
    pub peak: FlopsPerSecond,
    /// FLOPs per token x tokens per second and device / peak.
    pub utilisation: f64,
}

/// The run's utilisation under each convention, the design's own first.
///
/// # Source
/// Megatron-Core `training.py:num_floating_point_operations` (causal from r0.12 on, full before);
/// Pangu Ultra MoE (full attention and MTP reproduce its 30.0 % at 294.9 TFLOPS); PaLM, appendix B,
/// for MFU and HFU. 6 N D: jax-ml/scaling-book#31; the input embedding among N:
/// tenstorrent/tt-metal#50114; experts as wide as the dense MLP: alibaba/Pai-Megatron-Patch#485.
#[must_use]
pub fn conventions(plan: &Plan, estimate: &Estimate) -> Vec<Convention> {
    let rate = estimate.metrics.tokens_per_second_per_device;
    let (own_peak, nominal) = (plan.flops.peak_for_mfu, plan.flops.peak);
    let way = |name, used_by, attention, flops_per_token: Flops, peak: FlopsPerSecond| Convention {
        name,
        used_by,
        attention,
        counts_mtp: false,
        counts_recompute: false,
        flops_per_token,
        peak,
        utilisation: flops_per_token.get() * rate / peak.get(),
    };
    let count = |name, used_by, attention, counts_mtp, peak: FlopsPerSecond| {
        let flops_per_token = plan.flops_per_token_under(attention, counts_mtp);
        Convention { counts_mtp, ..way(name, used_by, Some(attention), flops_per_token, peak) }
    };
    let (causal, full) = (AttentionFlops::Causal, AttentionFlops::Full);
    let own = count(
        "MFU as set in this design",
        "the knobs attention_flops, count_mtp_flops and peak_for_mfu",
        plan.flops.attention,
        plan.flops.counts_mtp,
        own_peak,
    );
    let executed = estimate.metrics.hfu * own_peak.get() / rate;
    let hardware = Convention {
        name: "HFU, everything that is executed",
        used_by: "PaLM's HFU; Megatron-LM 2021 and BLOOM count full recomputation",
        counts_recompute: true,
        counts_mtp: true,
        attention: Some(causal),
        flops_per_token: Flops::new(executed),
        peak: nominal,
        utilisation: executed * rate / nominal.get(),
    };
    let metrics = &estimate.metrics;
    let table = metrics.params_active - metrics.params_active_no_input_embedding;
    // A table that is tied is the head's.
    let products =
        metrics.params_active - if plan.deployment.backbone.is_untied { table } else { 0 };
    let six = |params: u128| Flops::new(6.0 * params as f64);
    let dense_width = plan.flops_per_token_at_dense_width().map(|flops| {
        let used_by = "Megatron-LM before moe_ffn_hidden_size, and forks of it";
        way("MFU, experts as wide as the dense MLP", used_by, Some(full), flops, nominal)
    });
    let ways = [
        own,
        count("MFU, causal attention", "Megatron-Core from r0.12 on", causal, true, nominal),
        count("MFU, full attention", "Megatron-LM before, NeMo, PaLM", full, false, nominal),
        count("MFU, full attention and MTP", "Pangu Ultra MoE", full, true, nominal),
        hardware,
        way(
            "MFU, 6 x active parameters",
            "scaling laws, and what is told of tokens and device-hours alone",
            None,
            six(products),
            nominal,
        ),
        way(
            "MFU, input embedding counted, too",
            "counters that take each table for a product",
            None,
            six(products + table),
            nominal,
        ),
    ];
    ways.into_iter().chain(dense_width).collect()
}
