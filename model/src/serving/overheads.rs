//! Overheads of engines, and errors of what they predict: written by
//! `cargo xtask calibrate --serving`.

use super::engine::{Overheads, Row};
use crate::catalogue::calibration::{ModelKind, Spread};
use crate::ground::choice::Engine;
use crate::ground::fitted::Evidence;

#[rustfmt::skip]
pub(crate) static TABLE: &[Row] = &[
    Row { engine: Engine::Mindie, family: "Ascend 310P", overheads: Overheads {
        kernel_micros: 2.00, dense_layer_micros: 40.0, moe_layer_micros: 120.0,
        step_millis: 0.50, prefill: [1.00, 1.00], experts: 1.00, lockstep: 0.00,
        queue: 1.00, mixes: false,
        fitted_on: Evidence::Unfitted("no run"),
    } },
    Row { engine: Engine::Mindie, family: "Ascend 910B", overheads: Overheads {
        kernel_micros: 2.00, dense_layer_micros: 43.7, moe_layer_micros: 18.0,
        step_millis: 0.50, prefill: [1.00, 1.00], experts: 1.00, lockstep: 0.00,
        queue: 1.00, mixes: false,
        fitted_on: Evidence::Runs(&[("pangu_pro", 6)]),
    } },
    Row { engine: Engine::Mindie, family: "Ascend 910C", overheads: Overheads {
        kernel_micros: 3.75, dense_layer_micros: 0.0, moe_layer_micros: 120.0,
        step_millis: 0.00, prefill: [1.00, 0.84], experts: 1.12, lockstep: 0.00,
        queue: 1.00, mixes: false,
        fitted_on: Evidence::Runs(&[("cann_recipes", 50), ("cloudmatrix", 11)]),
    } },
    Row { engine: Engine::Sglang, family: "Ascend 910B", overheads: Overheads {
        kernel_micros: 4.34, dense_layer_micros: 40.0, moe_layer_micros: 334.7,
        step_millis: 1.40, prefill: [1.03, 1.00], experts: 1.00, lockstep: 0.00,
        queue: 1.00, mixes: false,
        fitted_on: Evidence::Runs(&[("sglang_ascend", 10)]),
    } },
    Row { engine: Engine::Sglang, family: "Ascend 910C", overheads: Overheads {
        kernel_micros: 2.11, dense_layer_micros: 72.2, moe_layer_micros: 149.2,
        step_millis: 0.49, prefill: [1.84, 1.96], experts: 1.17, lockstep: 0.06,
        queue: 1.28, mixes: false,
        fitted_on: Evidence::Runs(&[("sglang_ascend", 47)]),
    } },
    Row { engine: Engine::Sglang, family: "NVIDIA Blackwell", overheads: Overheads {
        kernel_micros: 1.50, dense_layer_micros: 9.3, moe_layer_micros: 20.0,
        step_millis: 0.49, prefill: [1.00, 2.28], experts: 0.92, lockstep: 0.10,
        queue: 0.89, mixes: false,
        fitted_on: Evidence::Runs(&[("silicon", 24)]),
    } },
    Row { engine: Engine::Sglang, family: "NVIDIA Hopper", overheads: Overheads {
        kernel_micros: 0.95, dense_layer_micros: 0.0, moe_layer_micros: 32.6,
        step_millis: 3.00, prefill: [0.80, 0.80], experts: 0.80, lockstep: 0.10,
        queue: 4.60, mixes: false,
        fitted_on: Evidence::Runs(&[("cloudmatrix", 2), ("lmsys_ep", 5), ("silicon", 79)]),
    } },
    Row { engine: Engine::TensorrtLlm, family: "NVIDIA Blackwell", overheads: Overheads {
        kernel_micros: 3.35, dense_layer_micros: 0.0, moe_layer_micros: 9.5,
        step_millis: 0.00, prefill: [0.89, 1.98], experts: 0.80, lockstep: 0.10,
        queue: 0.43, mixes: true,
        fitted_on: Evidence::Runs(&[
            ("silicon", 46), ("trt_bestperf_r1", 5), ("trt_blog01", 12), ("trt_perf_v10", 98),
        ]),
    } },
    Row { engine: Engine::TensorrtLlm, family: "NVIDIA Hopper", overheads: Overheads {
        kernel_micros: 2.72, dense_layer_micros: 0.0, moe_layer_micros: 0.0,
        step_millis: 0.99, prefill: [1.11, 1.33], experts: 1.10, lockstep: 0.16,
        queue: 0.89, mixes: true,
        fitted_on: Evidence::Runs(&[
            ("nim_bench", 31), ("silicon", 108), ("trt_bestperf_r1", 3), ("trt_perf_v10", 112),
        ]),
    } },
    Row { engine: Engine::Vllm, family: "NVIDIA Ampere", overheads: Overheads {
        kernel_micros: 0.93, dense_layer_micros: 0.0, moe_layer_micros: 43.6,
        step_millis: 0.66, prefill: [1.00, 1.20], experts: 0.80, lockstep: 0.10,
        queue: 1.00, mixes: true,
        fitted_on: Evidence::Runs(&[("vllm_ci", 3)]),
    } },
    Row { engine: Engine::Vllm, family: "NVIDIA Blackwell", overheads: Overheads {
        kernel_micros: 2.98, dense_layer_micros: 10.0, moe_layer_micros: 20.0,
        step_millis: 0.00, prefill: [1.04, 1.18], experts: 0.80, lockstep: 0.10,
        queue: 0.62, mixes: true,
        fitted_on: Evidence::Runs(&[("silicon", 33), ("vllm_blog", 4)]),
    } },
    Row { engine: Engine::Vllm, family: "NVIDIA Hopper", overheads: Overheads {
        kernel_micros: 2.21, dense_layer_micros: 25.6, moe_layer_micros: 20.0,
        step_millis: 0.49, prefill: [0.80, 1.76], experts: 1.08, lockstep: 0.10,
        queue: 0.36, mixes: true,
        fitted_on: Evidence::Runs(&[("infx_decodeonly", 1), ("silicon", 95), ("vllm_ci", 6)]),
    } },
];

/// Errors of the time of a token, of a step and of throughput, by kind of model.
#[rustfmt::skip]
pub(super) static SPREADS: [Spread; 3] = [
    Spread { family: "", kind: ModelKind::Dense, is_of_time: true,
        half: [-0.065, 0.201], most: [-0.288, 0.392], coverage: [0.559, 0.960],
        rows: 324, sources: 6 },
    Spread { family: "", kind: ModelKind::Experts, is_of_time: true,
        half: [-0.220, 0.249], most: [-0.592, 0.741], coverage: [0.526, 0.901],
        rows: 538, sources: 13 },
    Spread { family: "", kind: ModelKind::Mixed, is_of_time: true,
        half: [-0.203, 0.397], most: [-1.096, 0.696], coverage: [0.346, 0.939],
        rows: 87, sources: 4 },
];

/// Errors of the time to the first token under load.
#[rustfmt::skip]
pub(super) static FIRST_SPREAD: Spread =
    Spread { family: "", kind: ModelKind::Experts, is_of_time: true,
        half: [-0.977, 0.972], most: [-2.799, 3.955], coverage: [0.596, 1.000],
        rows: 480, sources: 3 };
