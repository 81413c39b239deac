//! Words that several frameworks choose among: each with the argument that it is, and its value.

/// Why a word that leaves it to the framework says nothing.
pub(super) const DEFAULTED: &str = "as without being told";

/// Sharding by ZeRO's stages and FSDP's strategies.
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
    ("mxfp8", "mixed-precision-recipe", "mxfp8"),
    ("nvfp4", "mixed-precision-recipe", "nvfp4"),
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

/// Recomputation by torchtitan's modes of activation checkpointing.
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
    ("true", "optimizer-cpu-offload", "true"),
    ("false", "", "nothing is offloaded"),
    ("none", "", "nothing is offloaded"),
    ("nvme", "optimizer-cpu-offload", "true"),
];

/// A switch that recomputes whole layers, whose inputs may wait on the host or a disk.
///
/// Source: axolotl, `src/axolotl/utils/schemas/config.py`, `gradient_checkpointing`.
pub(super) const RECOMPUTE: &[(&str, &str, &str)] = &[
    ("true", "recompute-granularity", "full"),
    ("full", "recompute-granularity", "full"),
    ("offload", "recompute-granularity", "full"),
    ("offload_disk", "recompute-granularity", "full"),
    ("unsloth", "recompute-granularity", "full"),
    ("selective", "recompute-granularity", "selective"),
    ("false", "", "nothing is recomputed"),
    ("none", "", "nothing is recomputed"),
    ("null", "", "nothing is recomputed"),
];

/// FSDP's strategies, by name and by the number of each.
///
/// Source: `FSDP_SHARDING_STRATEGY` of `src/accelerate/utils/constants.py`, counted from 1.
pub(super) const FSDP_STRATEGY: &[(&str, &str, &str)] = &[
    ("full_shard", "data-parallel-sharding-strategy", "optim_grads_params"),
    ("hybrid_shard", "data-parallel-sharding-strategy", "optim_grads_params"),
    ("shard_grad_op", "data-parallel-sharding-strategy", "optim_grads"),
    ("hybrid_shard_zero2", "data-parallel-sharding-strategy", "optim_grads"),
    ("no_shard", "data-parallel-sharding-strategy", "no_shard"),
    ("1", "data-parallel-sharding-strategy", "optim_grads_params"),
    ("2", "data-parallel-sharding-strategy", "optim_grads"),
    ("3", "data-parallel-sharding-strategy", "no_shard"),
    ("4", "data-parallel-sharding-strategy", "optim_grads_params"),
    ("5", "data-parallel-sharding-strategy", "optim_grads"),
];

/// A switch of bf16, which may be left to the device.
pub(super) const SWITCHED_BF16: &[(&str, &str, &str)] = &[
    ("true", "bf16", "true"),
    ("auto", "bf16", "true"),
    ("full", "bf16", "true"),
    ("1", "bf16", "true"),
    ("false", "", "it is switched off"),
    ("null", "", "it is switched off"),
    ("", "", "it is switched off"),
];

/// A switch of fp16.
pub(super) const SWITCHED_FP16: &[(&str, &str, &str)] = &[
    ("true", "fp16", "true"),
    ("1", "fp16", "true"),
    ("auto", "", "bf16 where the device has it"),
    ("false", "", "it is switched off"),
    ("null", "", "it is switched off"),
    ("", "", "it is switched off"),
];

/// Optimizers of `TrainingArguments`: `OptimizerNames` of `training_args.py`, and DeepSpeed's.
/// Others are asked for.
pub(super) const OPTIM: &[(&str, &str, &str)] = &[
    ("adamw_torch", "optimizer", "adam"),
    ("adamw_torch_fused", "optimizer", "adam"),
    ("adamw_torch_xla", "optimizer", "adam"),
    ("adamw_torch_npu_fused", "optimizer", "adam"),
    ("adamw_apex_fused", "optimizer", "adam"),
    ("adamw_hf", "optimizer", "adam"),
    ("adamw", "optimizer", "adam"),
    ("adam", "optimizer", "adam"),
    ("fusedadam", "optimizer", "adam"),
    ("adamw_8bit", "optimizer", "adam"),
    ("adamw_bnb_8bit", "optimizer", "adam"),
    ("adamw_torch_8bit", "optimizer", "adam"),
    ("adamw_torch_4bit", "optimizer", "adam"),
    ("paged_adamw_8bit", "optimizer", "adam"),
    ("paged_adamw_32bit", "optimizer", "adam"),
    ("paged_adamw", "optimizer", "adam"),
    ("sgd", "optimizer", "sgd"),
    ("muon", "optimizer", "muon"),
    (super::ANY, "optimizer", ""),
];

/// Kernels of attention, which are fused but for the eager one.
pub(super) const KERNEL_ATTENTION: &[(&str, &str, &str)] = &[
    ("flash_attention_2", "attention-backend", "flash"),
    ("flash_attention_3", "attention-backend", "flash"),
    ("flash_attention_4", "attention-backend", "flash"),
    ("flash_attn", "attention-backend", "flash"),
    ("kernels-community/flash-attn", "attention-backend", "flash"),
    ("kernels-community/flash-attn3", "attention-backend", "flash"),
    ("kernels-community/vllm-flash-attn3", "attention-backend", "flash"),
    ("fa2", "attention-backend", "flash"),
    ("fa3", "attention-backend", "flash"),
    ("sdpa", "attention-backend", "flash"),
    ("auto", "attention-backend", "flash"),
    ("true", "attention-backend", "flash"),
    ("flex_attention", "attention-backend", "flash"),
    ("xformers", "attention-backend", "flash"),
    ("eager", "attention-backend", "unfused"),
    ("disabled", "attention-backend", "unfused"),
    ("null", "", "as without being told"),
];

/// Where parameters wait.
pub(super) const OFFLOAD_PARAMETERS: &[(&str, &str, &str)] = &[
    ("cpu", "", "no knob parks parameters on the host: the peak of memory is a ceiling"),
    ("nvme", "", "no knob parks parameters on a disk: the peak of memory is a ceiling"),
    ("none", "", "nothing is offloaded"),
];
