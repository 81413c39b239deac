//! What an instance's fullest device holds.

use super::engine::RESERVE_GIB;
use super::instance::Instance;
use crate::design::Design;
use crate::ground::units::Bytes;
use crate::layer::architecture::Architecture;

/// Memory of one device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServingMemory {
    /// Weights.
    pub weights: Bytes,
    /// Activations of a step with as many tokens as the budget has.
    pub activations: Bytes,
    /// Graphs, buffers of collectives, the runtime.
    pub reserve: Bytes,
    /// Bytes left for keys and values.
    pub cache: Bytes,
    /// Bytes of the device that the engine takes.
    pub limit: Bytes,
    /// Cached bytes of one sequence at its mean length.
    pub sequence: Bytes,
    /// Cached bytes of one more token of a sequence.
    pub token: Bytes,
}

impl ServingMemory {
    /// Memory of an instance: what is left for the cache is shared by the sequences of one
    /// attention group.
    pub(super) fn new(design: &Design, architecture: &Architecture, instance: &Instance) -> Self {
        let (serving, on) = (&design.serving, &instance.deployment);
        let ideal = serving.engine == crate::ground::choice::Engine::Ideal;
        let usable = design.cluster.hbm_usable_gib.unwrap_or(on.accelerator.hbm_usable_gib);
        let limit = Bytes::gib(usable) * serving.gpu_memory_utilization;
        let weights = instance.weight_bytes(design, architecture);
        // The hidden state twice, what is projected of it, and an MLP's inner width with its gate;
        // of experts every copy of a token.
        let hidden = on.backbone.hidden as f64;
        let widest = architecture.kinds.iter().map(|kind| match kind.mlp.moe() {
            Some(moe) => {
                let share = on.ranks.etp as f64 / on.ranks.tp as f64;
                moe.visited()
                    * share
                    * (hidden + on.backbone.mlp_inputs() * moe.width as f64 / on.ranks.etp as f64)
            }
            None => on.backbone.mlp_inputs() * on.split(design.transformer.ffn_hidden_size),
        });
        let widest = widest.fold(0.0_f64, f64::max);
        let tokens = serving.max_num_batched_tokens as f64;
        let activations = Bytes::new(tokens * (4.0 * hidden + widest) * 2.0);
        let reserve = if ideal { Bytes::ZERO } else { Bytes::gib(RESERVE_GIB) };
        let mean = serving.input_length as f64 + serving.output_length as f64 / 2.0;
        let element = serving.kv_cache_dtype.bytes();
        let cached = |tokens: f64| instance.cached_bytes(architecture, tokens, element);
        Self {
            weights,
            activations,
            reserve,
            cache: (limit - weights - activations - reserve).max(Bytes::ZERO),
            limit,
            sequence: cached(mean),
            token: cached(mean + 1.0) - cached(mean),
        }
    }

    /// Sequences of an attention group whose keys and values fit.
    pub(super) fn sequences(&self) -> f64 {
        if self.sequence > Bytes::ZERO {
            libm::floor(self.cache / self.sequence)
        } else {
            f64::INFINITY
        }
    }
}
