//! Muon: which parameters it updates, what its states need and what its steps take.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::training::estimate::{Estimate, StepPart};
use testing::design::{estimated, from_preset};

/// A dense model on one stage, eight data-parallel ranks.
const DENSE: &[(&str, &str)] = &[
    ("accelerator", "gb300"),
    ("num_devices", "32"),
    ("tensor_model_parallel_size", "4"),
    ("pipeline_model_parallel_size", "1"),
    ("virtual_pipeline_model_parallel_size", "1"),
    ("method", "1f1b"),
    ("overlap_p2p_comm", "false"),
    ("optimizer", "muon"),
];

fn run(preset: &str, settings: &[&[(&str, &str)]]) -> Estimate {
    estimated(&from_preset(preset, &settings.concat()))
}

fn update(estimate: &Estimate) -> f64 {
    estimate.step.part(StepPart::Optimizer).get()
}

/// Main copy and momentum of matrices, both moments of what Adam updates: Llama 3 70B's tables and
/// its 161 norms.
#[test]
fn matrices_keep_one_momentum_and_tables_both_moments() {
    let whole =
        [("data_parallel_sharding_strategy", "no_shard"), ("overlap_param_gather", "false")];
    let stage = run("llama-3-70b", &[DENSE, &whole]).stages[0];
    let adam = (2 * 128_256 * 8_192) as f64 / 4.0 + (161 * 8_192) as f64;
    let wanted = 8.0 * (stage.params as f64 - adam) + 12.0 * adam;
    let found = stage.memory.optimizer.get();
    assert!((found / wanted - 1.0).abs() < 1e-9, "{found} {wanted}");
}

/// Duplicated, each rank gathers and does the whole; distributed, it does its part and sums squares
/// in every step; blockwise, a smaller matrix without any exchange. On 32 GB300 the first took 632
/// and the second 356 ms (Megatron-LM issue 6676, shapes not printed).
#[test]
fn tensor_parallel_modes_cost_what_they_repeat_and_exchange() {
    let of = |tp: &str, mode: &str| {
        let settings = [("tensor_model_parallel_size", tp), ("muon_tp_mode", mode)];
        let alone = [("sequence_parallel", "false"), ("tp_comm_overlap", "false")];
        let alone: &[(&str, &str)] = if tp == "1" { &alone } else { &[] };
        update(&run("llama-3-70b", &[DENSE, &settings, alone]))
    };
    let modes = ["blockwise", "distributed", "duplicated"];
    let [blockwise, distributed, duplicated] = modes.map(|mode| of("4", mode));
    assert!(blockwise < distributed && distributed < duplicated);
    let ratio = distributed / duplicated;
    assert!((0.4..0.8).contains(&ratio), "{ratio}");
    let [one, other, third] = modes.map(|mode| of("1", mode).to_bits());
    assert!(one == other && other == third);
}

/// Whole matrices: beyond one rank for each of them, more ranks take nothing off the fullest one.
#[test]
fn more_ranks_than_matrices_leave_the_largest_matrix() {
    let small = [("num_layers", "2"), ("tensor_model_parallel_size", "8")];
    let of = |devices: &str| {
        let batch = [("num_devices", devices), ("global_batch_size", "4096")];
        let estimate = run("llama-3-70b", &[DENSE, &small, &batch]);
        (update(&estimate), estimate.stages[0].memory.optimizer.get())
    };
    // 12 matrices: 2 layers of Q, K, V, output, gate with up, down.
    let [few, many, more] = ["16", "512", "4096"].map(of);
    assert!(few.0 > many.0 && few.1 > many.1);
    let largest = 8.0 * (2 * 28_672 * 8_192) as f64 / 8.0;
    assert!(more.1 > largest && more.1 < 1.1 * largest, "{} {largest}", more.1);
    assert!((more.0 / many.0 - 1.0).abs() < 0.1, "{} {}", more.0, many.0);
}

/// DeepSeek-V3's fullest stages hold four MoE layers with four experts each, whose gate with up is
/// 4,096 x 7,168 and whose down 7,168 x 2,048: their FLOPs bound the time at H800's 989 TFLOPS.
#[test]
fn experts_steps_are_those_of_their_own_shapes() {
    let of = |optimizer: &str| {
        let settings = [("optimizer", optimizer), ("dispatch_microseconds", "0")];
        update(&run("deepseek-v3", &[&settings]))
    };
    let steps = of("muon") - of("adam");
    let flops = |m: f64, n: f64| 5.0 * (4.0 * m * m * n + 2.0 * m * m * m);
    let expert = flops(4_096.0, 7_168.0) + flops(2_048.0, 7_168.0);
    let least = 16.0 * expert / 989.4e12;
    assert!((1.0..2.0).contains(&(steps / least)), "{steps} {least}");
}
