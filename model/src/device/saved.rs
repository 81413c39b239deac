//! The tensors that a layer saves for its backward, and which knobs free them.
//!
//! Letters: T tokens of a TP group, T' tokens that a rank keeps with SP, R rows of local experts,
//! t TP. An element has two bytes unless said; inputs of linear layers are kept as the products
//! read them, in one byte under FP8 (Transformer Engine). Source: Korthikanti et al. 2022,
//! section 4, for the dense layer (with flash attention); the rest is derived from
//! Megatron-Core's autograd functions.

use alloc::vec::Vec;

use crate::ground::choice::{RecomputeModule, SwapModule};

/// A tensor, or several that live and die together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tensor {
    /// Inputs of the norms; the first one is the layer's own input. With hyper-connections also
    /// the streams.
    NormInputs,
    /// Outputs of the norms in front of attention and MLP.
    Normed,
    /// MLA's latents and their normed copies.
    Latents,
    /// Queries.
    Query,
    /// Keys and values.
    KeyValue,
    /// Log-sums of flash attention, or the score matrix without it.
    Scores,
    /// Inputs and results of the convolution of linear attention.
    Convolved,
    /// Tensors that a chunked scan keeps: queries, keys, values, gates and each chunk's inverse.
    Scanned,
    /// Output of attention.
    AttentionOutput,
    /// Router probabilities and map.
    Probs,
    /// Rows in expert order.
    Permuted,
    /// Input of the activation function of the dense MLP or of the experts.
    ActivationInput,
    /// Its output.
    ActivationOutput,
    /// The shared experts' inner tensors.
    Shared,
    /// Rows between the two matrices of adapters.
    Adapters,
}

/// Fate of a saved tensor until its backward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays on the device.
    Kept,
    /// It waits in host memory.
    Swapped,
    /// It is dropped and computed again.
    Recomputed,
}

impl Tensor {
    /// Every tensor, in the order of a forward.
    pub const ALL: [Self; 15] = [
        Self::NormInputs,
        Self::Normed,
        Self::Latents,
        Self::Query,
        Self::KeyValue,
        Self::Scores,
        Self::Convolved,
        Self::Scanned,
        Self::AttentionOutput,
        Self::Probs,
        Self::Permuted,
        Self::ActivationInput,
        Self::ActivationOutput,
        Self::Shared,
        Self::Adapters,
    ];

    /// A short name for people.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::NormInputs => "norm inputs",
            Self::Normed => "norm outputs",
            Self::Latents => "MLA latents",
            Self::Query => "queries",
            Self::KeyValue => "keys and values",
            Self::Scores => "attention statistics",
            Self::Convolved => "convolution inputs",
            Self::Scanned => "scan inputs and gates",
            Self::AttentionOutput => "attention output",
            Self::Probs => "router probabilities",
            Self::Permuted => "rows in expert order",
            Self::ActivationInput => "activation input",
            Self::ActivationOutput => "activation output",
            Self::Shared => "shared experts",
            Self::Adapters => "adapters' inner rows",
        }
    }

    /// Its shape. T tokens of a TP group, T' tokens that a rank keeps with SP, t TP, a heads, g
    /// groups, R rows of local experts.
    #[must_use]
    pub const fn shape(self) -> &'static str {
        match self {
            Self::NormInputs => {
                "2 T' h, 4 T' h with sandwich norm; 2 (n + 1) T' h more with n streams"
            }
            Self::Normed => "2 T' h",
            Self::Latents => "T' (r_q + r_kv + r), and T' (r_q + r_kv) normed",
            Self::Query => "T a d_qk / t; d padded as the kernel reads it",
            Self::KeyValue => "T g (d_qk + d_v) / t; d padded as the kernel reads it",
            Self::Scores => "4 bytes x T a / t; T a s / t twice without flash attention",
            Self::Convolved => {
                "T (2 K + V) / t and what is normed of it; K and V all keys and values"
            }
            Self::Scanned => "T H (2 d_k + d_v + C) / t and decays in FP32; C tokens of a chunk",
            Self::AttentionOutput => {
                "T a d_v / t; with Ulysses or padding also as the kernel wrote it"
            }
            Self::Probs => "5 bytes x T' E",
            Self::Permuted => "R h",
            Self::ActivationInput => "T ffn / t, twice with a gate; R for experts",
            Self::ActivationOutput => "T ffn / t; R for experts",
            Self::Shared => "T ffn / t for each matrix, and T' h",
            Self::Adapters => "T x LoRA rank for each adapter; R for experts",
        }
    }
}

/// One tensor of a layer with the knobs that free it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Saved {
    pub(crate) tensor: Tensor,
    /// Bytes of one micro-batch on one device.
    pub(crate) bytes: f64,
    /// The modules whose recomputation frees it.
    pub(crate) recomputed_by: &'static [RecomputeModule],
    /// Whether MindSpeed's `--moe-zero-memory level1` drops it.
    ///
    /// # Source
    /// MindSpeed, `moe_layer_overlap_all2all.py` and
    /// `grouped_mlp_with_comp_and_comm_overlap_all2all.py`: the storages that are resized to zero.
    pub(crate) at_level_1: bool,
    /// The module whose swap takes it to the host.
    pub(crate) swapped_by: Option<SwapModule>,
}

impl Saved {
    /// A tensor that stays on the device but for recomputation of these modules.
    pub(crate) const fn new(
        tensor: Tensor,
        bytes: f64,
        recomputed_by: &'static [RecomputeModule],
    ) -> Self {
        Self { tensor, bytes, recomputed_by, at_level_1: false, swapped_by: None }
    }

    /// The tensor, where this swap takes it to the host.
    pub(crate) const fn swapped_by(self, module: SwapModule) -> Self {
        Self { swapped_by: Some(module), ..self }
    }

    /// The tensor, where zero-memory level 1 drops it.
    pub(crate) const fn at_level_1(self) -> Self {
        Self { at_level_1: true, ..self }
    }
}

/// The tensors that one layer saves, each at most once.
pub(crate) type SavedTensors = Vec<Saved>;
