//! The values of knobs that are a choice from a list, under their public names.

mod set;

pub use set::Set;

macro_rules! choices {
    ($($(#[$doc:meta])* $Name:ident {
        $($(#[$variant_doc:meta])* $Variant:ident = $name:literal,)+
    })+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum $Name { $($(#[$variant_doc])* #[doc = concat!("`", $name, "`")] $Variant,)+ }

            impl Choice for $Name {
                const NAMES: &'static [&'static str] = &[$($name,)+];
                const ALL: &'static [Self] = &[$(Self::$Variant,)+];
                fn index(self) -> usize {
                    self as usize
                }
            }
        )+
    };
}

/// A closed list of named values.
pub trait Choice: Copy + Sized + PartialEq + 'static {
    /// The public names, in the order of `ALL`.
    const NAMES: &'static [&'static str];
    /// Every value.
    const ALL: &'static [Self];
    /// Position in `ALL`.
    fn index(self) -> usize;

    /// The public name.
    fn name(self) -> &'static str {
        Self::NAMES[self.index()]
    }

    /// The value of that name.
    fn from_name(name: &str) -> Option<Self> {
        let position = Self::NAMES.iter().position(|known| *known == name)?;
        Self::ALL.get(position).copied()
    }
}

impl AttentionVariant {
    /// Whether it is linear attention, in place of attention.
    #[must_use]
    pub const fn is_linear(self) -> bool {
        matches!(self, Self::Gdn | Self::Gdn2 | Self::Kda | Self::Lightning)
    }

    /// Whether it is attention over keys that an indexer chooses.
    #[must_use]
    pub const fn is_sparse(self) -> bool {
        matches!(self, Self::Dsa | Self::Msa)
    }
}

/// Standard deviation of the logarithm of an expert's load in models that were trained with an
/// auxiliary loss; [`crate::routing::Generator`] has where it comes from.
pub const TRAINED_SKEW: f64 = 0.21;

choices! {
    /// Term in the denominator of attention's softmax beside the exponentials of its scores.
    SoftmaxType {
        /// Nothing.
        Vanilla = "vanilla",
        /// One: a score of zero for no value.
        OffByOne = "off-by-one",
        /// A learned score for each head, a sink.
        Learnable = "learnable",
    }
    /// Replacement of attention in some layers, or addition to it.
    AttentionVariant {
        /// Nothing.
        None = "none",
        /// Gated delta net.
        Gdn = "gdn",
        /// Gated delta net 2: gates of channels.
        Gdn2 = "gdn2",
        /// Latent attention over keys that an indexer chooses.
        Dsa = "dsa",
        /// Grouped-query attention over blocks of keys that an indexer chooses.
        Msa = "msa",
        /// Kimi Delta Attention.
        Kda = "kda",
        /// Lightning attention.
        Lightning = "lightning",
    }
    /// Split of query, key and value over context-parallel ranks.
    ContextParallelAlgo {
        /// Ring attention: keys and values travel from rank to rank.
        P2p = "p2p",
        /// Ulysses: heads are exchanged for sequence.
        A2a = "a2a",
        /// Keys and values are gathered before attention.
        Allgather = "allgather",
        /// Ulysses inside a node, a ring between nodes.
        Hybrid = "hybrid",
    }
    /// State that the data-parallel ranks shard among them.
    ShardingStrategy {
        /// Nothing: each rank holds all.
        NoShard = "no_shard",
        /// Optimizer states (ZeRO-1).
        Optim = "optim",
        /// Optimizer states and gradients (ZeRO-2).
        OptimGrads = "optim_grads",
        /// Optimizer states, gradients and parameters (ZeRO-3).
        OptimGradsParams = "optim_grads_params",
    }
    /// Which parallel axis has neighbours closest to each other, first to last.
    RankOrder {
        /// Megatron-Core's default.
        TpCpEpDpPp = "tp-cp-ep-dp-pp",
        /// Pipeline stages next to each other, data parallelism outermost.
        TpCpEpPpDp = "tp-cp-ep-pp-dp",
    }
    /// The order in which a stage runs its forwards and backwards.
    Method {
        /// All forwards, then all backwards.
        Gpipe = "gpipe",
        /// One forward, one backward.
        OneForwardOneBackward = "1f1b",
        /// 1F1B over several chunks per stage (VPP).
        Interleaved = "interleaved",
        /// Interleaved, and each forward runs together with a backward (adaptive pipe overlap).
        OneForwardOneBackwardOverlap = "1f1b_overlap",
        /// Zero bubble with 1F1B's memory.
        ZbH1 = "zb_h1",
        /// Zero bubble with twice 1F1B's memory.
        Zb2p = "zb_2p",
        /// Zero bubble, two chunks in a V.
        ZbV = "zb_v",
        /// Half of 1F1B's memory, chunks in a V.
        VHalf = "v_half",
        /// A third of 1F1B's memory, chunks in a V.
        VMin = "v_min",
        /// Two directions at once, weights twice.
        DualPipe = "dualpipe",
        /// DualPipe cut in half: chunks in a V, weights once.
        DualPipeV = "dualpipev",
    }
    /// Where the pipeline's times come from.
    Timing {
        /// The schedule's published formula on the stages' own times.
        ClosedForm = "closed_form",
        /// An event simulation of the schedule's tasks.
        Simulated = "simulated",
    }
    /// Dispatch of tokens to their experts.
    Dispatcher {
        /// Every rank gathers all tokens and keeps its own.
        Allgather = "allgather",
        /// Each copy of a token is sent to its expert's rank.
        Alltoall = "alltoall",
        /// A library that sends a token once to each node (DeepEP, HybridEP).
        Flex = "flex",
    }
    /// The library behind the `flex` dispatcher.
    FlexBackend {
        /// DeepSeek's DeepEP.
        Deepep = "deepep",
        /// NVIDIA's HybridEP.
        Hybridep = "hybridep",
    }
    /// The number format of matrix products.
    Precision {
        /// bfloat16.
        Bf16 = "bf16",
        /// IEEE half.
        Fp16 = "fp16",
        /// IEEE single.
        Fp32 = "fp32",
        /// FP8 with delayed scaling.
        Fp8Delayed = "fp8_delayed",
        /// FP8, one scale per tensor.
        Fp8Tensorwise = "fp8_tensorwise",
        /// FP8, one scale per block.
        Fp8Blockwise = "fp8_blockwise",
        /// Microscaling FP8.
        Mxfp8 = "mxfp8",
        /// NVIDIA's FP4.
        Nvfp4 = "nvfp4",
    }
    /// The optimizer, by the states that it keeps per parameter.
    Optimizer {
        /// Two moments.
        Adam = "adam",
        /// One momentum, no second moment.
        Sgd = "sgd",
        /// Momentum, orthogonalised by Newton-Schulz steps.
        Muon = "muon",
    }
    /// Steps of Muon on matrices that tensor parallelism cuts.
    MuonTpMode {
        /// Each rank's part is a matrix of its own.
        Blockwise = "blockwise",
        /// Every rank gathers the matrix and does all of it.
        Duplicated = "duplicated",
        /// The ranks share the products and sum them in every step.
        Distributed = "distributed",
    }
    /// Convention for the FLOPs of attention that the model FLOPs count.
    AttentionFlops {
        /// The whole square of scores.
        Full = "full",
        /// The half below the diagonal.
        Causal = "causal",
    }
    /// Whether whole layers or parts of them are computed again in the backward pass.
    RecomputeGranularity {
        /// Nothing.
        None = "none",
        /// The modules of `recompute_modules`.
        Selective = "selective",
        /// Whole layers.
        Full = "full",
    }
    /// Which layers full recomputation takes.
    RecomputeMethod {
        /// All layers, in groups of `recompute_num_layers`.
        Uniform = "uniform",
        /// The first `recompute_num_layers` layers of each stage.
        Block = "block",
    }
    /// Parts of a layer that can be computed again.
    RecomputeModule {
        /// Core attention.
        CoreAttn = "core_attn",
        /// All projections of MLA, from the layer's normed input to query, key and value.
        MlaQkv = "mla_qkv",
        /// MLA's key and value only.
        MlaKv = "mla_kv",
        /// MLA's up-projections and rotary embedding.
        MlaUpProj = "mla_up_proj",
        /// The copies of tokens in expert order.
        MoePermute = "moe_permute",
        /// The activation function of experts.
        MoeAct = "moe_act",
        /// Layer norms.
        Layernorm = "layernorm",
        /// The dense layers' MLP.
        Mlp = "mlp",
        /// The whole MoE layer but attention.
        Moe = "moe",
        /// The shared experts.
        SharedExperts = "shared_experts",
    }
    /// Distribution of the lengths of documents.
    LengthDistribution {
        /// As long as their sequence.
        None = "none",
        /// Evenly from nothing to twice the mean.
        Uniform = "uniform",
        /// Log-normal.
        LogNormal = "log_normal",
        /// As a histogram says.
        Histogram = "histogram",
    }
    /// Linear layers that adapters of low rank stand beside, by Megatron-Bridge's names.
    LoraModule {
        /// The joint projection to queries, keys and values.
        LinearQkv = "linear_qkv",
        /// The projection behind attention.
        LinearProj = "linear_proj",
        /// MLA's projection down to the latent of queries.
        LinearQDownProj = "linear_q_down_proj",
        /// MLA's projection up to queries, or to them of the hidden state.
        LinearQUpProj = "linear_q_up_proj",
        /// MLA's projection down to the latent of keys and values.
        LinearKvDownProj = "linear_kv_down_proj",
        /// MLA's projection up to keys and values.
        LinearKvUpProj = "linear_kv_up_proj",
        /// Input projection of linear attention or of Mamba.
        InProj = "in_proj",
        /// Output projection of linear attention or of Mamba.
        OutProj = "out_proj",
        /// First matrices of dense MLPs and of shared experts, gate and up-projection in one.
        LinearFc1 = "linear_fc1",
        /// Last matrices of dense MLPs and of shared experts.
        LinearFc2 = "linear_fc2",
        /// First matrices of routed experts, a pair of adapters for each.
        ExpertsFc1 = "experts.linear_fc1",
        /// Last matrices of routed experts.
        ExpertsFc2 = "experts.linear_fc2",
        /// The router's scores.
        Router = "router",
    }
    /// Parts of a model that may be left as they are.
    ModelPart {
        /// The input embedding, learned positions among it.
        Embedding = "embedding",
        /// Matrices of attention, or of what takes its place.
        SelfAttention = "self_attention",
        /// Matrices of dense MLPs.
        Mlp = "mlp",
        /// Routed experts.
        Experts = "experts",
        /// Shared experts.
        SharedExperts = "shared_experts",
        /// Routers.
        Router = "router",
        /// The output head.
        OutputLayer = "output_layer",
    }
    /// Which kernels a fused loss is.
    CrossEntropyFusion {
        /// Megatron-Core's, over logits that the head has made.
        Native = "native",
        /// Transformer Engine's, over the same.
        Te = "te",
        /// One with the head: logits live in tiles, forward, and are computed again in slices of
        /// the vocabulary, backward.
        Linear = "linear",
    }
    /// MindSpeed's zero-memory levels: what a MoE layer's backward makes again of its experts'
    /// tensors, rather than keep it.
    ZeroMemory {
        /// Off.
        Disable = "disable",
        /// The activation function, and the experts' input: it is sorted and sent once more.
        Level0 = "level0",
        /// Also the input of the activation function, by the experts' first product, and the inner
        /// tensors of the shared experts.
        Level1 = "level1",
    }
    /// Tensors parked in host memory between forward and backward, or between steps.
    SwapModule {
        /// Router probabilities and the routing map.
        Probs = "probs",
        /// The experts' saved activations.
        Activations = "activations",
        /// The output of core attention.
        AttentionOutput = "attention_output",
        /// Optimizer states.
        Optimizer = "optimizer",
    }
    /// Number format of something held in memory.
    StateDtype {
        /// Four bytes.
        Fp32 = "fp32",
        /// Two bytes.
        Bf16 = "bf16",
        /// Two bytes.
        Fp16 = "fp16",
        /// One byte.
        Fp8 = "fp8",
    }
    /// Encoding of positions in the sequence.
    PositionEmbedding {
        /// Rotary, applied to query and key.
        Rope = "rope",
        /// A learned table, added to the input.
        LearnedAbsolute = "learned_absolute",
        /// Nothing.
        None = "none",
    }
    /// Where expert loads come from.
    Balance {
        /// Every expert gets the same.
        Uniform = "uniform",
        /// A seeded generator.
        Skewed = "skewed",
        /// A recorded trace.
        Trace = "trace",
    }
    /// Over which tokens the auxiliary loss balances.
    AuxLoss {
        /// Each sequence.
        Sequence = "sequence",
        /// Each micro-batch.
        MicroBatch = "micro_batch",
        /// The tokens of an expert-parallel group.
        EpGroup = "ep_group",
        /// The tokens of all data-parallel ranks.
        DpGroup = "dp_group",
        /// No such loss.
        None = "none",
    }
    /// Planner that moves experts between devices.
    Planner {
        /// Nobody.
        None = "none",
        /// By the mean load over a window.
        SlidingWindow = "sliding_window",
        /// By an exponential moving average.
        Ema = "ema",
    }
    /// When the planner moves experts.
    PlannerTrigger {
        /// Above a threshold of imbalance.
        Threshold = "threshold",
        /// Only when imbalance grows.
        OnIncrease = "on_increase",
    }
    /// The state of the software: which rates its kernels and its host reach.
    Software {
        /// The family's own constants, as calibrated.
        Calibrated = "calibrated",
        /// Ascend in November 2024: CANN 8.0, MindFormers 1.3.
        Ascend202411 = "ascend-2024-11",
        /// Ascend in May 2025: Pangu Ultra MoE's paper.
        Ascend202505 = "ascend-2025-05",
        /// Ascend in June 2025: its follow-up, with faster operators and a faster host.
        Ascend202506 = "ascend-2025-06",
        /// Ascend in 2026: CANN 8.5 to 9.
        Ascend2026 = "ascend-2026",
    }
    /// The training framework, with its own overhead per kernel.
    Framework {
        /// Megatron-Core.
        Megatron = "megatron",
        /// MindSpeed.
        Mindspeed = "mindspeed",
        /// PyTorch FSDP.
        Fsdp = "fsdp",
        /// DeepSpeed's engine around Megatron-LM's kernels.
        Deepspeed = "deepspeed",
        /// No overhead at all.
        Ideal = "ideal",
    }
    /// Inference engine that serves the model.
    Engine {
        /// vLLM.
        Vllm = "vllm",
        /// SGLang.
        Sglang = "sglang",
        /// TensorRT-LLM.
        TensorrtLlm = "tensorrt_llm",
        /// `MindIE`.
        Mindie = "mindie",
        /// vLLM Ascend.
        VllmAscend = "vllm_ascend",
        /// No overhead at all.
        Ideal = "ideal",
    }
    /// Whether prefill and decode run on devices of their own.
    Disaggregation {
        /// On the same.
        None = "none",
        /// Prefill on one pool of devices, decode on another.
        PrefillDecode = "prefill_decode",
    }
    /// Launch of the kernels of an engine's decode step.
    GraphMode {
        /// One by one.
        None = "none",
        /// Replayed from a recorded graph.
        Full = "full",
    }
    /// Number format of the weights of linear layers in serving.
    WeightDtype {
        /// 16 bits, 8 of exponent.
        Bf16 = "bf16",
        /// 16 bits, 5 of exponent.
        Fp16 = "fp16",
        /// 8-bit floating point; activations too.
        Fp8 = "fp8",
        /// 8-bit whole numbers; activations too (W8A8).
        Int8 = "int8",
        /// 4-bit whole numbers in groups of 128; activations in 16 bits (W4A16).
        Int4 = "int4",
        /// 4-bit floating point in blocks of 32, of experts alone; the rest in 16 bits.
        Mxfp4 = "mxfp4",
        /// 4-bit floating point in blocks of 16.
        Nvfp4 = "nvfp4",
    }
    /// Number format of cached keys and values.
    KvDtype {
        /// 16 bits.
        Bf16 = "bf16",
        /// 8-bit floating point.
        Fp8 = "fp8",
        /// 8-bit whole numbers.
        Int8 = "int8",
    }
    /// Whether kernels are replayed from a recorded graph.
    CudaGraph {
        /// No graph.
        None = "none",
        /// Megatron's own, per layer.
        Local = "local",
        /// Transformer Engine's, per layer.
        TransformerEngine = "transformer_engine",
    }
}

impl Precision {
    /// Bytes of one activation or weight element as a matrix product reads it.
    #[must_use]
    pub const fn operand_bytes(self) -> f64 {
        match self {
            Self::Bf16 | Self::Fp16 => 2.0,
            Self::Fp32 => 4.0,
            Self::Fp8Delayed | Self::Fp8Tensorwise | Self::Fp8Blockwise | Self::Mxfp8 => 1.0,
            // Half a byte and one 8-bit scale for every 16 elements.
            Self::Nvfp4 => 0.5625,
        }
    }

    /// Bytes of one element of the weights that stay in memory and of stored activations.
    #[must_use]
    pub const fn stored_bytes(self) -> f64 {
        match self {
            Self::Fp32 => 4.0,
            Self::Bf16
            | Self::Fp16
            | Self::Fp8Delayed
            | Self::Fp8Tensorwise
            | Self::Fp8Blockwise
            | Self::Mxfp8
            | Self::Nvfp4 => 2.0,
        }
    }
}

impl StateDtype {
    /// Bytes of one element.
    #[must_use]
    pub const fn bytes(self) -> f64 {
        match self {
            Self::Fp32 => 4.0,
            Self::Bf16 | Self::Fp16 => 2.0,
            Self::Fp8 => 1.0,
        }
    }
}

impl WeightDtype {
    /// Bytes of one weight: 4-bit formats with the scales of their groups.
    ///
    /// # Source
    /// W4A16 in groups of 128 has 16 bits of scale for each; OCP Microscaling 8 bits for 32;
    /// NVIDIA's NVFP4 8 bits for 16.
    #[must_use]
    pub const fn bytes(self) -> f64 {
        match self {
            Self::Bf16 | Self::Fp16 => 2.0,
            Self::Fp8 | Self::Int8 => 1.0,
            Self::Int4 => 0.5 + 2.0 / 128.0,
            Self::Mxfp4 => 0.5 + 1.0 / 32.0,
            Self::Nvfp4 => 0.5 + 1.0 / 16.0,
        }
    }

    /// Whether it is the format of experts alone.
    #[must_use]
    pub const fn is_of_experts(self) -> bool {
        matches!(self, Self::Mxfp4)
    }
}

impl KvDtype {
    /// Bytes of one cached element.
    #[must_use]
    pub const fn bytes(self) -> f64 {
        match self {
            Self::Bf16 => 2.0,
            Self::Fp8 | Self::Int8 => 1.0,
        }
    }
}
