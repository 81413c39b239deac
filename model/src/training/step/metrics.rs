//! The headline numbers of a step.

use crate::ground::units::Seconds;
use crate::training::estimate::Metrics;
use crate::training::plan::Plan;

use super::Step;
use super::communication::Totals;
use super::spans::Spans;

/// The metrics of a step with this traffic.
pub(super) fn metrics(plan: &Plan, spans: &Spans, step: &Step, traffic: &Totals) -> Metrics {
    let world = plan.deployment.ranks.world as f64;
    let step_time = step.time.total();
    let per_device = spans.counts.model_flops_per_device(&plan.batch, &plan.deployment.ranks);
    let executed = plan.batch.micro_batches as f64 * spans.compute.flops;
    let budget = step_time.get() * plan.flops.peak_for_mfu.get();
    let throughput = plan.batch.tokens() / step_time.get();
    let [memory_peak, host_peak] = step.peaks();
    let (total, active) = (spans.counts.params_total, spans.counts.params_active);
    let embedding = spans.counts.table;
    Metrics {
        mfu: per_device / budget,
        hfu: executed / budget,
        tokens_per_second: throughput,
        tokens_per_second_per_device: throughput / world,
        step_time,
        model_tflops_per_device: per_device / step_time.get() / 1e12,
        params_total: total,
        params_active: active,
        params_total_no_input_embedding: total - embedding,
        params_active_no_input_embedding: active - embedding,
        flops_per_token: spans.counts.flops_per_token,
        memory_peak,
        memory_limit: plan.memory_limit,
        fits: plan.fits(memory_peak, host_peak),
        fit_probability: step.fit_probability(&plan.schedule, plan.room([memory_peak, host_peak])),
        bubble_ratio: step.bubble_ratio(),
        bubble_ratio_closed_form: spans.frame.bubble,
        comm_volume: traffic.bytes,
        comm_exposed: traffic.exposed,
        overlap_ratio: if traffic.time > Seconds::ZERO {
            (1.0 - traffic.exposed / traffic.time).max(0.0)
        } else {
            1.0
        },
        imbalance_ratio: plan.effect().imbalance,
        token_drop_ratio: plan.capacity.drop_ratio(&plan.effect),
    }
}
