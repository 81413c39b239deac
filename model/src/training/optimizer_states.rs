//! The optimizer and the formats of what it holds for each parameter.

use crate::catalogue::accelerator::Accelerator;
use crate::design::Design;
use crate::ground::choice::{MuonTpMode, Optimizer, Precision};

/// Newton-Schulz steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Muon {
    /// How they take matrices that TP cuts.
    pub(crate) tp_mode: MuonTpMode,
    /// FLOP/s of a large product in BF16, whatever the run's precision: the steps run in it
    /// (`muon_fp32_matmul_prec`, medium).
    pub(crate) product_rate: f64,
}

impl Muon {
    fn new(design: &Design, row: &Accelerator) -> Self {
        let own = design.cluster.peak_bf16_tflops;
        let peak = own.or(row.bf16_tflops).unwrap_or(row.fp16_tflops) * 1e12;
        let product_rate = peak * row.sustained_clock * row.kernels.gemm;
        Self { tp_mode: design.training.muon_tp_mode, product_rate }
    }
}

/// Gradients and optimizer states of one parameter, in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OptimizerStates {
    /// Muon, where that updates matrices.
    pub(crate) muon: Option<Muon>,
    /// Accumulated gradient.
    pub(crate) gradient: f64,
    /// Main copy and moments; with Muon those of a matrix.
    pub(crate) per_param: f64,
    /// Second moment, which Muon's matrices have none of.
    pub(crate) second_moment: f64,
    /// Whether weights live inside their FP32 copies.
    pub(crate) reuses_main_params: bool,
}

impl OptimizerStates {
    /// The states that a design's optimizer holds on this accelerator.
    pub(crate) fn new(design: &Design, row: &Accelerator) -> Self {
        let (memory, training) = (&design.memory, &design.training);
        let moments = match training.optimizer {
            Optimizer::Adam => memory.exp_avg_dtype.bytes() + memory.exp_avg_sq_dtype.bytes(),
            Optimizer::Sgd | Optimizer::Muon => memory.exp_avg_dtype.bytes(),
        };
        // Weights already in fp32 are their own main copy.
        let is_own_copy = training.precision == Precision::Fp32;
        Self {
            muon: (training.optimizer == Optimizer::Muon).then(|| Muon::new(design, row)),
            gradient: memory.gradient_dtype.bytes(),
            per_param: moments + if is_own_copy { 0.0 } else { memory.main_params_dtype.bytes() },
            second_moment: memory.exp_avg_sq_dtype.bytes(),
            reuses_main_params: memory.reuse_fp32_param,
        }
    }
}
