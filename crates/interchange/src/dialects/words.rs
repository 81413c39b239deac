//! Words that several frameworks choose among: each with the argument that it is, and its value.

/// Why a word that leaves it to the framework says nothing.
pub(super) const UNTOLD: &str = "as without being told";

/// How ZeRO's stages and FSDP's strategies shard.
pub(super) const SHARDING: &[(&str, &str, &str)] = &[
    ("0", "data-parallel-sharding-strategy", "no_shard"),
    ("1", "data-parallel-sharding-strategy", "optim"),
    ("2", "data-parallel-sharding-strategy", "optim_grads"),
    ("3", "data-parallel-sharding-strategy", "optim_grads_params"),
    ("full_shard", "data-parallel-sharding-strategy", "optim_grads_params"),
    ("hybrid_shard", "data-parallel-sharding-strategy", "optim_grads_params"),
    ("shard_grad_op", "data-parallel-sharding-strategy", "optim_grads"),
    ("no_shard", "data-parallel-sharding-strategy", "no_shard"),
];

/// Precisions by all their spellings.
pub(super) const PRECISION: &[(&str, &str, &str)] = &[
    ("bf16", "bf16", "true"),
    ("bf16-mixed", "bf16", "true"),
    ("amp_bf16", "bf16", "true"),
    ("bfloat16", "bf16", "true"),
    ("bf16-true", "bf16", "true"),
    ("bf16_mixed", "bf16", "true"),
    ("fp16", "fp16", "true"),
    ("16", "fp16", "true"),
    ("16-mixed", "fp16", "true"),
    ("amp_fp16", "fp16", "true"),
    ("float16", "fp16", "true"),
    ("fp8", "fp8-format", "hybrid"),
    ("amp_fp8", "fp8-format", "hybrid"),
    ("32", "", "fp32, as without being told"),
    ("fp32", "", "fp32, as without being told"),
    ("float32", "", "fp32, as without being told"),
    ("no", "", "fp32, as without being told"),
];

/// Precisions as PyTorch spells them.
pub(super) const DTYPE: &[(&str, &str, &str)] = &[
    ("bfloat16", "bf16", "true"),
    ("float16", "fp16", "true"),
    ("float32", "", "fp32, as without being told"),
    ("bf16", "bf16", "true"),
    ("fp16", "fp16", "true"),
    ("fp32", "", "fp32, as without being told"),
];

/// Megatron-Bridge's recipes of mixed precision, with NeMo's spellings.
///
/// Source: `src/megatron/bridge/training/mixed_precision.py`.
pub(super) const MIXED: &[(&str, &str, &str)] = &[
    ("bf16_mixed", "bf16", "true"),
    ("fp16_mixed", "fp16", "true"),
    ("bf16_with_fp8_delayed_scaling_mixed", "mixed-precision-recipe", "fp8_delayed"),
    ("bf16_with_fp8_current_scaling_mixed", "mixed-precision-recipe", "fp8_tensorwise"),
    ("bf16_with_fp8_subchannel_scaling_mixed", "mixed-precision-recipe", "fp8_blockwise"),
    ("bf16_with_mxfp8_mixed", "mixed-precision-recipe", "mxfp8"),
    ("bf16_with_nvfp4_mixed", "mixed-precision-recipe", "nvfp4"),
    ("bf16-mixed", "bf16", "true"),
    ("fp16-mixed", "fp16", "true"),
    ("16-mixed", "fp16", "true"),
    ("bf16", "bf16", "true"),
    ("fp16", "fp16", "true"),
    ("fp8", "fp8-format", "hybrid"),
];

/// What torchtitan recomputes.
pub(super) const CHECKPOINT: &[(&str, &str, &str)] = &[
    ("full", "recompute-granularity", "full"),
    ("selective", "recompute-granularity", "selective"),
    ("none", "", "nothing is recomputed"),
];

/// Whether FSDP keeps whole parameters after the forward.
pub(super) const RESHARD: &[(&str, &str, &str)] = &[
    ("true", "data-parallel-sharding-strategy", "optim_grads_params"),
    ("false", "data-parallel-sharding-strategy", "optim_grads"),
    ("full_shard", "data-parallel-sharding-strategy", "optim_grads_params"),
    ("shard_grad_op", "data-parallel-sharding-strategy", "optim_grads"),
];

/// Where the states of the optimizer wait.
pub(super) const OFFLOAD: &[(&str, &str, &str)] = &[
    ("cpu", "optimizer-cpu-offload", "true"),
    ("none", "", "nothing is offloaded"),
    ("nvme", "optimizer-cpu-offload", "true"),
];

/// A switch that recomputes whole layers.
pub(super) const RECOMPUTE: &[(&str, &str, &str)] = &[
    ("true", "recompute-granularity", "full"),
    ("full", "recompute-granularity", "full"),
    ("selective", "recompute-granularity", "selective"),
    ("false", "", "nothing is recomputed"),
    ("none", "", "nothing is recomputed"),
    ("null", "", "nothing is recomputed"),
];
