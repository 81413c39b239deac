//! What no fitted constant may claim.

use model::catalogue::accelerator::AcceleratorId;
use model::catalogue::calibration::{
    FSDP, MEGATRON, MEMORY_SPREAD, MINDSPEED, PAIR_SPREAD, SPREADS,
};
use model::ground::choice::Choice;

/// Levels of microbenchmarks are above it: no shape reaches an endless product's.
#[test]
fn no_matmul_of_a_step_is_faster_than_the_best_that_was_measured_and_nothing_than_its_peak() {
    for id in AcceleratorId::ALL.iter().copied() {
        let (row, kernels) = (id.row(), id.row().kernels);
        let clock = row.sustained_clock * kernels.in_run;
        assert!(kernels.gemm * clock <= row.best_gemm_fraction, "{id:?}: {}", kernels.gemm);
        if row.fp8_tflops.is_some() {
            for share in [kernels.fp8_gemm, kernels.block_fp8_gemm] {
                assert!(share * clock <= row.best_fp8_gemm_fraction, "{id:?}: {share}");
            }
        }
        for share in [kernels.attention_forward, kernels.attention_backward] {
            assert!(share > 0.0 && share * clock < 1.0, "{id:?}: {share}");
        }
        let bandwidths =
            [kernels.vector_bandwidth, kernels.gather_bandwidth, kernels.matmul_bandwidth];
        for share in bandwidths {
            assert!(share > 0.0 && share < 1.0, "{id:?}: {share}");
        }
    }
}

#[test]
fn every_fitted_constant_names_the_runs_that_it_was_fitted_on() {
    for id in AcceleratorId::ALL.iter().copied() {
        assert!(!id.row().kernels.fitted_on.is_empty(), "{id:?}");
    }
    for host in [MEGATRON, MINDSPEED, FSDP] {
        assert!(!host.fitted_on.is_empty());
    }
}

#[test]
fn the_range_of_half_lies_in_that_of_nine_of_ten() {
    for spread in SPREADS.iter().chain([&PAIR_SPREAD, &MEMORY_SPREAD]) {
        let ([low, high], [lowest, highest]) = (spread.half, spread.most);
        assert!(lowest <= low && low < high && high <= highest, "{spread:?}");
        assert!(spread.rows > 0 && spread.sources > 0, "{spread:?}");
    }
}
