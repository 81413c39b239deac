//! The tensors that a layer saves for its backward, and which knobs free them.

use crate::choice::{RecomputeModule, SwapModule, ZeroMemory};

/// A tensor, or several that live and die together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tensor {
    /// Inputs of the norms; the first one is the layer's own input.
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
    /// What attention gives.
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
}

/// What becomes of a saved tensor until its backward.
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
    pub const ALL: [Self; 12] = [
        Self::NormInputs,
        Self::Normed,
        Self::Latents,
        Self::Query,
        Self::KeyValue,
        Self::Scores,
        Self::AttentionOutput,
        Self::Probs,
        Self::Permuted,
        Self::ActivationInput,
        Self::ActivationOutput,
        Self::Shared,
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
            Self::AttentionOutput => "attention output",
            Self::Probs => "router probabilities",
            Self::Permuted => "rows in expert order",
            Self::ActivationInput => "activation input",
            Self::ActivationOutput => "activation output",
            Self::Shared => "shared experts",
        }
    }

    /// Its shape. T tokens of a TP group, T' tokens that a rank keeps with SP, t TP, a heads, g
    /// groups, R rows of local experts.
    #[must_use]
    pub const fn shape(self) -> &'static str {
        match self {
            Self::NormInputs => "2 T' h, 4 T' h with sandwich norm",
            Self::Normed => "2 T' h",
            Self::Latents => "T' (r_q + r_kv + r), and T' (r_q + r_kv) normed",
            Self::Query => "T a d_qk / t; d padded as the kernel reads it",
            Self::KeyValue => "T g (d_qk + d_v) / t; d padded as the kernel reads it",
            Self::Scores => "4 bytes x T a / t; T a s / t twice without flash attention",
            Self::AttentionOutput => {
                "T a d_v / t; with Ulysses or padding also as the kernel wrote it"
            }
            Self::Probs => "5 bytes x T' E",
            Self::Permuted => "R h",
            Self::ActivationInput => "T ffn / t, twice with a gate; R for experts",
            Self::ActivationOutput => "T ffn / t; R for experts",
            Self::Shared => "T ffn / t for each matrix, and T' h",
        }
    }

    /// The modules whose recomputation frees it.
    #[must_use]
    pub const fn recomputed_by(self, is_moe: bool) -> &'static [RecomputeModule] {
        use RecomputeModule as Module;
        match self {
            Self::NormInputs | Self::AttentionOutput => &[],
            Self::Normed => &[Module::Layernorm],
            Self::Latents => &[Module::MlaQkv],
            Self::Query => &[Module::MlaQkv, Module::MlaUpProj],
            Self::KeyValue => &[Module::MlaQkv, Module::MlaUpProj, Module::MlaKv],
            Self::Scores => &[Module::CoreAttn],
            Self::ActivationInput | Self::ActivationOutput if !is_moe => &[Module::Mlp],
            Self::Probs | Self::Permuted | Self::Shared if !is_moe => &[],
            Self::Probs | Self::ActivationInput => &[Module::Moe],
            Self::Permuted => &[Module::MoePermute, Module::Moe],
            Self::ActivationOutput => &[Module::MoeAct, Module::Moe],
            Self::Shared => &[Module::SharedExperts, Module::Moe],
        }
    }

    /// Does this zero-memory level of MindSpeed free it?
    ///
    /// Level 0 drops the experts' input and the output of their activation function. Level 1 drops
    /// that function's input as well, and the inner tensors of the shared experts.
    ///
    /// # Source
    /// MindSpeed, `moe_layer_overlap_all2all.py` and
    /// `grouped_mlp_with_comp_and_comm_overlap_all2all.py`: the storages that are resized to zero.
    #[must_use]
    pub const fn freed_at(self, level: ZeroMemory, is_moe: bool) -> bool {
        if !is_moe {
            return false;
        }
        match self {
            Self::Permuted | Self::ActivationOutput => !matches!(level, ZeroMemory::Disable),
            Self::ActivationInput | Self::Shared => matches!(level, ZeroMemory::Level1),
            Self::NormInputs
            | Self::Normed
            | Self::Latents
            | Self::Query
            | Self::KeyValue
            | Self::Scores
            | Self::AttentionOutput
            | Self::Probs => false,
        }
    }

    /// The module whose swap takes it to the host.
    #[must_use]
    pub const fn swapped_by(self, is_moe: bool) -> Option<SwapModule> {
        match self {
            Self::Probs => Some(SwapModule::Probs),
            Self::AttentionOutput => Some(SwapModule::AttentionOutput),
            Self::Permuted | Self::ActivationInput | Self::ActivationOutput if is_moe => {
                Some(SwapModule::Activations)
            }
            Self::NormInputs
            | Self::Normed
            | Self::Latents
            | Self::Query
            | Self::KeyValue
            | Self::Scores
            | Self::Permuted
            | Self::ActivationInput
            | Self::ActivationOutput
            | Self::Shared => None,
        }
    }
}
