//! What tells the layers of plans apart.

use crate::layer::ranks::Ranks;
use crate::routing::Effect;
use crate::training::plan::Plan;

/// All that single layers depend on beside the model, the accelerator and how operators run: plans
/// that agree in those and in this have the same layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LayerKey {
    /// TP, CP, EP, ranks of sequence parallelism, and sequences of a micro-batch.
    sizes: [u64; 5],
    is_pipelined: bool,
    /// Bits of the mean and the fullest imbalance, and of what a capacity drops.
    loads: [u64; 3],
    /// Bits of how far a token sees, of the imbalance of attention and of what CP ranks exchange.
    lengths: [u64; 3],
}

impl LayerKey {
    pub(crate) fn new(plan: &Plan) -> Self {
        let Ranks { tp, cp, ep, sp, pp, .. } = plan.deployment.ranks;
        let Effect { imbalance, fullest, drop_ratio, .. } = plan.effect;
        Self {
            sizes: [tp, cp, ep, sp, plan.batch.micro_batch],
            is_pipelined: pp > 1,
            loads: [imbalance, fullest, drop_ratio].map(f64::to_bits),
            lengths: [plan.attended() as f64, plan.attention_imbalance, plan.split_share]
                .map(f64::to_bits),
        }
    }

    /// The key of layers without experts, which neither EP nor loads reach.
    pub(crate) const fn without_experts(&self) -> Self {
        let [tp, cp, _, sp, micro_batch] = self.sizes;
        Self { sizes: [tp, cp, 1, sp, micro_batch], loads: [0; 3], ..*self }
    }
}
