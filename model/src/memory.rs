//! What lives on a device of each stage at its fullest moment.

use crate::activation::Kept;
use crate::choice::{Method, RecomputeGranularity, ShardingStrategy, SwapModule};
use crate::estimate::StageMemory;
use crate::layout::Stage;
use crate::plan::Plan;
use crate::units::Bytes;

/// Memory of one stage, and what it parks in host memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Occupancy {
    pub(crate) device: StageMemory,
    pub(crate) host: Bytes,
    /// Activation bytes that one micro-batch moves to the host, and back.
    pub(crate) swapped: f64,
    /// Optimizer bytes that a step moves from the host, and back.
    pub(crate) swapped_states: f64,
    pub(crate) in_flight: f64,
}

/// The layers of a model by what they keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LayerMemory {
    dense: Kept,
    moe: Kept,
}

impl LayerMemory {
    pub(crate) fn new(plan: &Plan) -> Self {
        let dense = plan.kept(&plan.dense_layer_saves(), false);
        let moe = if plan.shape.moe_layers > 0 {
            plan.kept(&plan.moe_layer_saves(), true)
        } else {
            dense
        };
        Self { dense, moe }
    }
}

impl Plan {
    /// Memory of a stage.
    ///
    /// Weights, gradients and optimizer are shared out as the sharding strategy says, over DP x CP
    /// for what all ranks hold and over EDP for experts (ZeRO, section 5). Activations are those of
    /// one micro-batch times the micro-batches in flight.
    pub(crate) fn occupancy(&self, index: usize, stage: &Stage, layers: &LayerMemory) -> Occupancy {
        let params = self.stage_params(stage);
        let sharded = |least: ShardingStrategy, bytes: f64| {
            if self.shards(least) {
                (params.dense / self.dense_shards() + params.expert / self.expert_shards()) * bytes
            } else {
                (params.dense + params.expert) * bytes
            }
        };
        let memory = &self.design().memory;
        let stored = self.activation_bytes();
        let mut weights = sharded(ShardingStrategy::OptimGradsParams, stored);
        let mut optimizer = sharded(ShardingStrategy::Optim, self.optimizer_bytes_per_param());
        if memory.reuse_fp32_param {
            // The 16-bit weights are the upper halves of the main copies, where those are whole.
            if self.shards(ShardingStrategy::Optim) {
                optimizer -= sharded(ShardingStrategy::Optim, stored);
            } else {
                weights = 0.0;
            }
        }
        let states = if memory.swap_modules.has(SwapModule::Optimizer) { optimizer } else { 0.0 };
        let kept = self.stage_activations(index, stage, layers);
        let in_flight = self.in_flight(index);
        Occupancy {
            device: StageMemory {
                weights: Bytes::new(weights),
                gradients: Bytes::new(sharded(
                    ShardingStrategy::OptimGrads,
                    memory.gradient_dtype.bytes(),
                )),
                optimizer: Bytes::new(optimizer - states),
                activations: Bytes::new(kept.device * in_flight),
                buffers: Bytes::new(kept.again + self.buffers(stage)),
                reserved: Bytes::gib(memory.reserved_gib),
            },
            host: Bytes::new(kept.host * in_flight + states),
            swapped: kept.host,
            swapped_states: states,
            in_flight,
        }
    }

    /// Bytes of the checkpoints of `layers` recomputed layers: one layer input for each group of
    /// layers inside a chunk.
    fn checkpoints(&self, layers: f64) -> f64 {
        let chunks = self.sizes.vpp as f64;
        let groups = libm::ceil(layers / chunks / self.checkpoint_group(layers));
        self.layer_input() * chunks * groups
    }

    /// What one micro-batch keeps on a stage. `again` is the largest of its layers, since layers
    /// are computed again, or brought back from the host, one at a time; with prefetch the next
    /// one is on its way.
    fn stage_activations(&self, index: usize, stage: &Stage, layers: &LayerMemory) -> Kept {
        let mut sum = Kept::default();
        let mtp_moe = self.shape.moe_layers > 0;
        let counts = [
            (layers.dense, stage.dense + if mtp_moe { 0.0 } else { stage.mtp }),
            (layers.moe, stage.moe + if mtp_moe { stage.mtp } else { 0.0 }),
        ];
        let memory = &self.design().memory;
        let all: f64 = counts.iter().map(|(_, count)| count).sum();
        let full = memory.recompute_granularity == RecomputeGranularity::Full;
        let recomputed = if full { self.recomputed_layers(index, all) } else { 0.0 };
        let offloaded = (memory.cpu_offloading_num_layers as f64).min(all - recomputed);
        for (kept, count) in counts {
            if count <= 0.0 {
                continue;
            }
            let share = if all > 0.0 { count / all } else { 0.0 };
            let normal = count - (recomputed + offloaded) * share;
            let away = offloaded * share;
            let whole = kept.device + kept.host;
            sum.device += kept.device * normal + self.checkpoints(recomputed) * share;
            sum.host += kept.host * normal + whole * away;
            let again = if recomputed > 0.0 {
                whole * self.checkpoint_group(recomputed)
            } else {
                kept.again + kept.host * if memory.swap_prefetch { 2.0 } else { 1.0 }
            };
            sum.again = sum.again.max(again);
        }
        // The head keeps its normed input.
        sum.device += self.layer_input() * 2.0 * (stage.head + stage.mtp_head);
        sum
    }

    /// Buffers of the task that runs: dispatched rows, gathered tokens, received boundary, logits,
    /// and gathered weights under ZeRO-3.
    fn buffers(&self, stage: &Stage) -> f64 {
        let row = self.shape.hidden as f64 * self.activation_bytes();
        let rows = if stage.moe + stage.mtp > 0.0 && self.shape.moe_layers > 0 {
            self.expert_rows()
        } else {
            0.0
        };
        let gathered = if self.sizes.tp > 1 { self.tokens() * row } else { 0.0 };
        let boundary = if self.sizes.pp > 1 { 2.0 * self.layer_input() } else { 0.0 };
        let logits = if stage.head + stage.mtp_head > 0.0 {
            let width = self.shape.vocab as f64 / self.sizes.tp as f64;
            let fused = self.design().memory.cross_entropy_loss_fusion;
            // Unfused, an FP32 copy and its gradient stand beside the 16-bit logits.
            let bytes = self.activation_bytes() + if fused { 0.0 } else { 8.0 };
            self.tokens() * width * bytes
        } else {
            0.0
        };
        let weights = if self.shards(ShardingStrategy::OptimGradsParams) {
            let params = self.stage_params(stage);
            // The layer that computes and the one that is fetched.
            2.0 * (params.dense + params.expert) / stage.layers().max(1.0) * self.activation_bytes()
        } else {
            0.0
        };
        rows * row + gathered + boundary + logits + weights
    }

    /// Full-stage micro-batches whose activations a stage holds at once, at most.
    ///
    /// GPipe m. 1F1B p - i on stage i. Interleaved (2 (p - i - 1) + (v - 1) k + 1) / v with groups
    /// of k = p micro-batches; overlapping pairs hold one chunk more. Zero bubble: H1 p, 2p twice
    /// that; ZB-V p; DualPipe and DualPipeV p + 1. Never more than m.
    ///
    /// # Source
    /// Narayanan et al. 2021, section 2.2; Korthikanti et al. 2022, appendix; Zero Bubble,
    /// section 2; DualPipe's table of memory.
    pub(crate) fn in_flight(&self, index: usize) -> f64 {
        let schedule = &self.design().schedule;
        let (p, v, m) =
            (self.sizes.pp as f64, self.sizes.vpp as f64, self.sizes.micro_batches as f64);
        let behind = p - index as f64;
        let group = schedule.microbatch_group_size_per_vp_stage.map_or(p, |group| group as f64);
        let interleaved = if self.sizes.vpp == 1 {
            behind
        } else {
            (2.0 * (behind - 1.0) + (v - 1.0) * group + 1.0) / v
        };
        let held = match schedule.method {
            Method::Gpipe => m,
            Method::OneForwardOneBackward => behind,
            Method::Interleaved => interleaved,
            Method::OneForwardOneBackwardOverlap => interleaved + 1.0 / v,
            Method::ZbH1 | Method::ZbV | Method::VHalf | Method::VMin => p,
            Method::Zb2p => 2.0 * p - 1.0,
            Method::DualPipe | Method::DualPipeV => p + 1.0,
        };
        held.min(m)
    }
}
