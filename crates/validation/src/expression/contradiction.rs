//! Rows whose own numbers can't all be so.

use model::ground::axis::{Axis, Collective, LinkLevel};
use model::ground::choice::{AttentionFlops, Method, Precision};
use model::training::estimate::{Communication, Estimate};
use model::{Plan, estimate};

use crate::convention::{self, Comparison};
use crate::refusal::Refusal;
use crate::runs::Run;

const REASON: &str = "the row contradicts itself";

/// Slowdown of a long step on many devices against a microbenchmark of one matrix product on one:
/// its clock and its power are shared. Microbenchmarks on A100, H100 and H200 are 1.23 times what
/// steps of fully printed layouts leave to their products there.
const LONG_STEP: f64 = 1.2;

/// Refuses a row that is faster than its layout allows.
pub(super) fn check(run: &Run, plan: &Plan) -> Result<(), Refusal> {
    let estimate = estimate(plan);
    let Some(comparison) = convention::compare(run, plan, &estimate) else { return Ok(()) };
    links(plan, &estimate, &comparison)?;
    bubble(run, plan, &comparison)
}

/// Its data-parallel ranks move more bytes between nodes than a device's link carries in the
/// published time. What experts exchange depends on the dispatcher, which few rows print.
fn links(plan: &Plan, estimate: &Estimate, comparison: &Comparison) -> Result<(), Refusal> {
    let measured = estimate.metrics.step_time.get() / (1.0 + comparison.time_error);
    let between = estimate
        .communication
        .iter()
        .filter(|row| row.link == LinkLevel::InterNode && matches!(row.axis, Axis::Dp | Axis::Edp));
    // Gradients go in 16 bits at least.
    let narrow = 2.0 / plan.design().memory.gradient_dtype.bytes();
    let least_bytes = |row: &Communication| {
        let is_gather = row.collective == Collective::AllGather;
        row.bytes.get() * if is_gather { 1.0 } else { narrow }
    };
    let bytes: f64 = between.map(least_bytes).sum();
    let rate = plan.design().cluster.accelerator.row().inter_node_gb_per_sec;
    let least = bytes / 1e9 / rate;
    if least <= measured {
        return Ok(());
    }
    Err(Refusal::new(
        REASON,
        &format!(
            "{:.0} GB between nodes take {least:.1} s at {rate:.0} GB/s, the step {measured:.1} s",
            bytes / 1e9
        ),
    ))
}

/// Its MFU, of causal attention, is above what the bubble of the printed layout leaves of the best
/// measured rate of a matrix product.
fn bubble(run: &Run, plan: &Plan, comparison: &Comparison) -> Result<(), Refusal> {
    let design = plan.design();
    let is_plain =
        matches!(design.schedule.method, Method::OneForwardOneBackward | Method::Interleaved);
    // The best rates are those of products in 16 bits.
    let is_16_bit = matches!(design.training.precision, Precision::Bf16 | Precision::Fp16);
    let Some(chunks) = printed_chunks(run).filter(|_| is_plain && is_16_bit) else {
        return Ok(());
    };
    let stages = design.parallel.pipeline_model_parallel_size;
    let Some(mfu) = causal_mfu(plan, comparison) else { return Ok(()) };
    let left = left_by_bubble(stages, chunks, plan.num_microbatches());
    let best = design.cluster.accelerator.row().best_gemm_fraction / LONG_STEP;
    if stages == 1 || mfu <= left * best {
        return Ok(());
    }
    let percent = |share: f64| 100.0 * share;
    Err(Refusal::new(
        REASON,
        &format!(
            "VPP {chunks} on {stages} stages leaves {:.0} % of a step, and the best matrix product \
             {:.1} % of the peak in it; published are {:.1} %",
            percent(left),
            percent(left * best),
            percent(mfu),
        ),
    ))
}

/// The published MFU with causal attention, of the device's own peak.
fn causal_mfu(plan: &Plan, comparison: &Comparison) -> Option<f64> {
    let mut counted = plan.design().clone();
    counted.training.attention_flops = AttentionFlops::Causal;
    counted.training.peak_for_mfu = None;
    let predicted = estimate(&Plan::new(&counted).ok()?).metrics.mfu;
    Some(predicted * (1.0 + comparison.time_error))
}

/// VPP, where it is printed as a number.
fn printed_chunks(run: &Run) -> Option<u64> {
    run.virtual_pipeline.trim().parse().ok().filter(|chunks| (1..1_000).contains(chunks))
}

/// The share of a step that the bubble leaves: v m / (v m + p - 1).
fn left_by_bubble(stages: u64, chunks: u64, micro_batches: u64) -> f64 {
    let work = chunks as f64 * micro_batches as f64;
    work / (work + stages.saturating_sub(1) as f64)
}

/// Speed-up by more chunks from which on a run without them that is as fast is a contradiction:
/// releases of one source differ by less.
const MIN_CONTRADICTING_SPEEDUP: f64 = 1.25;

/// Refuses a row without interleaving that is as fast as the same run with it, in the same source,
/// although the bubble would make it slower by a quarter or more.
pub(crate) fn among(runs: &[Run], run: &Run) -> Result<(), Refusal> {
    let Some((chunks, time)) = printed_chunks(run).zip(run.step_time) else { return Ok(()) };
    let bubble = |run: &Run| -> Option<f64> {
        let per_step = run.data_parallel?.checked_mul(run.micro_batch_size?)?;
        let count = run.global_batch_size?.checked_div(per_step).filter(|count| *count > 0)?;
        Some(left_by_bubble(run.pipeline_parallel?, printed_chunks(run)?, count))
    };
    let is_same = |other: &&Run| {
        let key = |run: &Run| {
            let layout = [
                run.num_devices,
                run.tensor_parallel,
                run.pipeline_parallel,
                run.context_parallel,
                run.expert_parallel,
                run.data_parallel,
                run.seq_length,
                run.micro_batch_size,
                run.global_batch_size,
            ];
            let words = [&run.model, &run.hardware, &run.precision, &run.recompute];
            (layout, words.map(|word| word.to_lowercase()))
        };
        let is_near = other.source_id == run.source_id && other.num_devices == run.num_devices;
        is_near && key(other) == key(run)
    };
    for other in runs.iter().filter(is_same) {
        let Some((more, slower)) = printed_chunks(other).zip(other.step_time) else { continue };
        let gain = bubble(other).zip(bubble(run)).map(|(with, without)| with / without);
        if more > chunks
            && time <= slower
            && gain.is_some_and(|gain| gain >= MIN_CONTRADICTING_SPEEDUP)
        {
            let detail = format!("VPP {chunks} is as fast as VPP {more} in {}", other.id);
            return Err(Refusal::new(REASON, &detail));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A published row: eight stages, 16 micro-batches.
    fn run(virtual_pipeline: &str, step_time: f64) -> Run {
        Run {
            id: format!("v{virtual_pipeline}"),
            model: "nemotron4-340b".to_owned(),
            hardware: "DGX-H100".to_owned(),
            precision: "BF16".to_owned(),
            num_devices: Some(256),
            tensor_parallel: Some(8),
            pipeline_parallel: Some(8),
            context_parallel: Some(1),
            data_parallel: Some(4),
            virtual_pipeline: virtual_pipeline.to_owned(),
            seq_length: Some(4_096),
            micro_batch_size: Some(1),
            global_batch_size: Some(64),
            step_time: Some(step_time),
            measured_fields: vec!["step_time_s".to_owned()],
            ..Run::default()
        }
    }

    fn reason(run: &Run) -> Option<String> {
        crate::expression::for_run(run).err().map(|refusal| refusal.reason)
    }

    #[test]
    fn a_row_faster_than_its_bubble_allows_is_refused() {
        assert_eq!(reason(&run("1", 4.36)).as_deref(), Some(REASON));
        assert_eq!(reason(&run("12", 4.36)), None);
        assert_eq!(reason(&run("1", 5.6)), None);
        // Where VPP isn't printed, nothing is contradicted.
        assert_eq!(reason(&run("", 4.36)), None);
    }

    #[cfg(feature = "runs")]
    #[test]
    fn a_row_whose_weights_come_faster_than_its_links_carry_them_is_refused() {
        let published = crate::runs::published();
        let mut run = published.iter().find(|run| run.id == "automodel-009").unwrap().clone();
        assert_eq!(reason(&run).as_deref(), Some(REASON));
        run.step_time = Some(6.2);
        assert_eq!(reason(&run), None);
    }

    #[test]
    fn a_row_as_fast_as_the_same_run_with_interleaving_is_refused() {
        let runs = [run("1", 4.36), run("12", 4.67)];
        let detail = among(&runs, &runs[0]).unwrap_err().detail;
        assert!(detail.contains("v12"), "{detail}");
        assert!(among(&runs, &runs[1]).is_ok());
        let slower = [run("1", 6.2), run("12", 4.67)];
        assert!(among(&slower, &slower[0]).is_ok());
        let mut other = [run("1", 4.36), run("12", 4.67)];
        other[1].global_batch_size = Some(4_096);
        assert!(among(&other, &other[0]).is_ok());
    }
}
