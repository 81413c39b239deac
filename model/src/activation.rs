//! What a layer keeps for its backward, per device and micro-batch.
//!
//! Letters: T tokens of a TP group, T' tokens that a rank keeps with SP, R rows of local experts,
//! t TP. An element has two bytes unless said; inputs of linear layers are kept as the products
//! read them, in one byte under FP8 (Transformer Engine). Source: Korthikanti et al. 2022,
//! section 4, for the dense layer (with flash attention); the rest is derived from
//! Megatron-Core's autograd functions.

mod tensor;

use crate::choice::{
    ContextParallelAlgo, CudaGraph, RecomputeGranularity, RecomputeModule, Set, ZeroMemory,
};
use crate::plan::Plan;

pub use tensor::{Fate, Tensor};

/// The tensors that one layer saves, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Saved {
    /// Inputs of the norms: T' h each; the first one is the layer's own input. With dropout the
    /// masks of the two residuals as well, with a recorded graph its output.
    pub(crate) norm_inputs: f64,
    /// Outputs of the two norms in front of attention and MLP: T' h each.
    pub(crate) normed: f64,
    /// MLA's latents and their normed copies: T' (r_q + r_kv + r) and T' (r_q + r_kv).
    pub(crate) latents: f64,
    /// Queries: T a d_qk / t, padded as the attention kernel reads them.
    pub(crate) query: f64,
    /// Keys and values: T g (d_qk + d_v) / t, padded likewise.
    pub(crate) key_value: f64,
    /// Log-sum of exponentials, four bytes a row; without flash attention the score matrix.
    pub(crate) scores: f64,
    /// Attention's output as the output projection reads it, T a d_v / t; with Ulysses and with
    /// padding also as the kernel wrote it, which in its backward reads it again.
    pub(crate) attention_output: f64,
    /// Router probabilities (four bytes) and routing map (one): T' E.
    pub(crate) probs: f64,
    /// Rows in expert order: R h.
    pub(crate) permuted: f64,
    /// Input of the activation function of a dense MLP or of the experts.
    pub(crate) activation_input: f64,
    /// Its output.
    pub(crate) activation_output: f64,
    /// The shared experts' two inner tensors.
    pub(crate) shared: f64,
}

impl Saved {
    /// Bytes of each tensor.
    pub(crate) fn tensors(&self) -> [(Tensor, f64); Tensor::ALL.len()] {
        Tensor::ALL.map(|tensor| (tensor, self.bytes(tensor)))
    }

    /// Bytes of one tensor.
    pub(crate) fn bytes(&self, tensor: Tensor) -> f64 {
        match tensor {
            Tensor::NormInputs => self.norm_inputs,
            Tensor::Normed => self.normed,
            Tensor::Latents => self.latents,
            Tensor::Query => self.query,
            Tensor::KeyValue => self.key_value,
            Tensor::Scores => self.scores,
            Tensor::AttentionOutput => self.attention_output,
            Tensor::Probs => self.probs,
            Tensor::Permuted => self.permuted,
            Tensor::ActivationInput => self.activation_input,
            Tensor::ActivationOutput => self.activation_output,
            Tensor::Shared => self.shared,
        }
    }
}

/// What becomes of a layer's tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Kept {
    /// Stays on the device until the backward.
    pub(crate) device: f64,
    /// Waits in host memory.
    pub(crate) host: f64,
    /// Computed again: on the device while the layer's backward runs.
    pub(crate) again: f64,
}

impl Plan {
    /// Everything that a dense layer saves.
    pub(crate) fn dense_layer_saves(&self) -> Saved {
        let (tokens, tp) = (self.tokens(), self.sizes.tp as f64);
        let width = self.shape.ffn as f64 / tp;
        let inputs = (self.shape.mlp_matrices - 1) as f64;
        Saved {
            activation_input: tokens * inputs * width * self.activation_bytes(),
            activation_output: tokens * width * self.linear_input_bytes(),
            ..self.attention_saves()
        }
    }

    /// Everything that a MoE layer saves.
    pub(crate) fn moe_layer_saves(&self) -> Saved {
        let (shape, sizes) = (&self.shape, &self.sizes);
        let element = self.activation_bytes();
        let rows = self.most_rows();
        let inputs = (shape.mlp_matrices - 1) as f64;
        let input = self.linear_input_bytes();
        let inner = rows * (shape.expert_ffn as f64 / sizes.etp as f64);
        let shared = self.tokens() * (shape.shared_ffn as f64 / sizes.tp as f64);
        let own = self.tokens_per_rank();
        // The shared experts' input is gathered again in the backward; a rank keeps its own part.
        let shared_input =
            if shape.shared_ffn > 0 { own * shape.hidden as f64 * input } else { 0.0 };
        Saved {
            probs: own * shape.experts as f64 * 5.0,
            permuted: rows * shape.hidden as f64 * input,
            activation_input: inputs * inner * element,
            activation_output: inner * input,
            shared: (inputs * element + input) * shared + shared_input,
            ..self.attention_saves()
        }
    }

    fn attention_saves(&self) -> Saved {
        let (shape, sizes) = (&self.shape, &self.sizes);
        let (tokens, own, element) =
            (self.tokens(), self.tokens_per_rank(), self.activation_bytes());
        let hidden = own * shape.hidden as f64 * element;
        let training = &self.design().training;
        let masked = |dropout: f64| if dropout > 0.0 { 1.0 } else { 0.0 };
        let (heads, groups) =
            (shape.heads as f64 / sizes.tp as f64, shape.groups as f64 / sizes.tp as f64);
        let latents = shape.mla.map_or(0.0, |mla| {
            let normed = self.design().transformer.qk_layernorm;
            let width = mla.q_rank + mla.kv_rank;
            (width + mla.rope_dim + if normed { width } else { 0 }) as f64 * own * element
        });
        let norms = if self.design().transformer.sandwich_norm { 4.0 } else { 2.0 };
        let scores = if self.design().kernel.flash_attention {
            tokens * heads * 4.0
        } else {
            // Softmax output and its masked copy, and with dropout the mask: 5 a s^2 b.
            let mask = masked(training.attention_dropout);
            tokens * heads * shape.seq as f64 * (2.0 * element + mask)
        };
        let [qk_dim, v_dim] = shape.kernel_dims;
        let exchanged = match self.design().parallel.context_parallel_algo {
            ContextParallelAlgo::A2a | ContextParallelAlgo::Hybrid => sizes.cp > 1,
            ContextParallelAlgo::P2p | ContextParallelAlgo::Allgather => false,
        };
        let written = if exchanged || v_dim > shape.v_dim { v_dim } else { 0 };
        Saved {
            // Behind attention and MLP a dropout mask of one byte an element.
            norm_inputs: (norms + self.graph_outputs()) * hidden
                + 2.0 * masked(training.hidden_dropout) * own * shape.hidden as f64,
            normed: 2.0 * hidden / element * self.linear_input_bytes(),
            latents,
            query: tokens * heads * qk_dim as f64 * element,
            key_value: tokens * groups * (qk_dim + v_dim) as f64 * element,
            scores,
            attention_output: tokens * heads * (shape.v_dim + written) as f64 * element,
            ..Saved::default()
        }
    }

    /// Tensors of T' h that a recorded graph of a layer keeps for a micro-batch: its output, in a
    /// buffer of its own, from which the next graph's input is copied. Launched one by one, kernels
    /// hand the same tensor on.
    ///
    /// # Source
    /// Transformer Engine, `make_graphed_callables`; Megatron-Bridge, `training/cuda-graphs.md`: a
    /// few GB, more than 10 GB with a pipeline.
    fn graph_outputs(&self) -> f64 {
        match self.design().kernel.cuda_graph_impl {
            CudaGraph::None => 0.0,
            CudaGraph::Local | CudaGraph::TransformerEngine => 1.0,
        }
    }

    /// What stays, what waits in host memory, and what is computed again, of one layer.
    pub(crate) fn kept(&self, saved: &Saved, is_moe: bool) -> Kept {
        let mut kept = Kept::default();
        let recomputed = self.recomputed_modules();
        for (tensor, bytes) in saved.tensors() {
            match self.fate_under(recomputed, tensor, is_moe) {
                Fate::Kept => kept.device += bytes,
                Fate::Swapped => kept.host += bytes,
                Fate::Recomputed => kept.again += bytes,
            }
        }
        kept
    }

    /// What becomes of a tensor of a dense or a MoE layer, without whole-layer recomputation and
    /// offloading. What is computed again needs no copy on the host.
    pub(crate) fn fate(&self, tensor: Tensor, is_moe: bool) -> Fate {
        self.fate_under(self.recomputed_modules(), tensor, is_moe)
    }

    fn fate_under(&self, recomputed: Set<RecomputeModule>, tensor: Tensor, is_moe: bool) -> Fate {
        let memory = &self.design().memory;
        let modules = tensor.recomputed_by(is_moe);
        let freed = tensor.freed_at(memory.moe_zero_memory, is_moe);
        if freed || modules.iter().any(|module| recomputed.has(*module)) {
            return Fate::Recomputed;
        }
        match tensor.swapped_by(is_moe) {
            Some(module) if memory.swap_modules.has(module) => Fate::Swapped,
            Some(_) | None => Fate::Kept,
        }
    }

    /// The modules that are computed again in layers that aren't computed again as a whole: those
    /// of selective recomputation, and those of a zero-memory level.
    pub(crate) fn recomputed_modules(&self) -> Set<RecomputeModule> {
        let memory = &self.design().memory;
        let selective = memory.recompute_granularity == RecomputeGranularity::Selective;
        let modules = if selective { memory.recompute_modules } else { Set::EMPTY };
        match memory.moe_zero_memory {
            ZeroMemory::Disable => modules,
            ZeroMemory::Level0 | ZeroMemory::Level1 => {
                modules.with(RecomputeModule::MoePermute).with(RecomputeModule::MoeAct)
            }
        }
    }

    /// Is this module computed again in layers that aren't computed again as a whole?
    pub(crate) fn recomputes(&self, module: RecomputeModule) -> bool {
        self.recomputed_modules().has(module)
    }

    /// Are the experts' first product and the shared experts run again, all but the last product?
    pub(crate) fn recomputes_first_products(&self) -> bool {
        self.design().memory.moe_zero_memory == ZeroMemory::Level1
            && !self.recomputes(RecomputeModule::Moe)
    }

    /// Bytes of an element that a linear layer keeps for the gradient of its weight.
    fn linear_input_bytes(&self) -> f64 {
        self.activation_bytes().min(self.design().training.precision.operand_bytes())
    }

    /// The input of one layer: all that full recomputation keeps, T' h.
    pub(crate) fn layer_input(&self) -> f64 {
        self.tokens_per_rank() * self.shape.hidden as f64 * self.activation_bytes()
    }
}
