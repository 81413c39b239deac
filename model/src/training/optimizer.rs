//! The optimizer: what it holds for each parameter, and the ranks that share it out (ZeRO, section
//! 5).

use crate::catalogue::accelerator::Accelerator;
use crate::design::Design;
use crate::ground::choice::{MuonTpMode, Optimizer, Precision, ShardingStrategy};
use crate::layer::params::RankParams;
use crate::layer::ranks::Ranks;

/// Newton-Schulz steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Muon {
    /// Way in which matrices that TP cuts are taken.
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

/// Sharding over data-parallel ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sharding {
    strategy: ShardingStrategy,
    /// Instances of the distributed optimizer.
    pub(crate) instances: u64,
    /// Ranks that share out the states of parameters which all DP x CP ranks hold.
    pub(crate) dense_ranks: f64,
    /// Ranks that share out the states of experts.
    pub(crate) expert_ranks: f64,
}

impl Sharding {
    /// The sharding of a design over these ranks.
    pub(crate) fn new(design: &Design, ranks: &Ranks) -> Self {
        let instances = design.parallel.num_distributed_optimizer_instances;
        Self {
            strategy: design.parallel.data_parallel_sharding_strategy,
            instances,
            dense_ranks: (ranks.dp * ranks.cp / instances) as f64,
            expert_ranks: (ranks.edp / instances).max(1) as f64,
        }
    }

    /// Whether at least these states are shared out.
    pub(crate) fn shards(&self, least: ShardingStrategy) -> bool {
        self.strategy as u8 >= least as u8
    }

    /// A rank's share of these parameters.
    pub(crate) fn share(&self, params: &RankParams) -> f64 {
        params.dense / self.dense_ranks + params.expert / self.expert_ranks
    }

    /// Parameters of which a rank has these states: its share where they are shared out.
    pub(crate) fn params(&self, params: &RankParams, states: ShardingStrategy) -> f64 {
        if self.shards(states) { self.share(params) } else { params.dense + params.expert }
    }
}
