//! Published training runs. What a source leaves open is named in the story.

use super::models::{DEEPSEEK_V3_MODEL, PANGU_PRO_MOE_72B, PANGU_ULTRA_MOE_718B};
use super::{Preset, PresetKind};
use crate::ground::source::{
    DEEPSEEK_V3, HUAWEI_OPERATORS, MINDSPEED, PANGU_PRO_MOE, PANGU_ULTRA_MOE,
};

// Both runs of Pangu Ultra MoE are of before May 2025. Attention's kernel took values as wide as
// queries and keys alone then: they were padded to 192 (Huawei's article on Pangu's RECT-FA kernel
// of June 2025 calls that usual; MindSpeed-LLM asks for CANN 8.2 to go without).

#[rustfmt::skip]
static PANGU_ULTRA_MOE_6K: Preset = Preset {
    id: "pangu-ultra-moe-6k",
    title: "Pangu Ultra MoE on 6,144 NPUs, kernels of 2026",
    story: "The layout of the paper's final run, with the kernels and the host of today",
    kind: PresetKind::Recipe,
    base: Some(&PANGU_ULTRA_MOE_718B),
    settings: "accelerator=ascend-910b3 num_devices=6144 tensor_model_parallel_size=8 \
        sequence_parallel=true pipeline_model_parallel_size=16 \
        virtual_pipeline_model_parallel_size=2 expert_model_parallel_size=32 \
        noop_layers=61,63 method=1f1b_overlap overlap_p2p_comm=true overlap_grad_reduce=true \
        overlap_param_gather=true delay_wgrad_compute=true moe_hierarchical_alltoallv=true \
        seq_length=8192 micro_batch_size=2 global_batch_size=6144 attention_flops=full \
        count_mtp_flops=true recompute_granularity=selective \
        recompute_modules=mla_qkv,moe_permute,moe_act swap_modules=probs,activations \
        cross_entropy_loss_fusion=true gmm_add=true framework=mindspeed balance=skewed \
        aux_loss=ep_group planner=sliding_window planner_trigger=on_increase \
        mla_fa_without_pad=false padded_base_length=192",
    source: PANGU_ULTRA_MOE,
    refused: None,
};

#[rustfmt::skip]
static PANGU_ULTRA_MOE_4K_BASELINE: Preset = Preset {
    id: "pangu-ultra-moe-4k-baseline",
    title: "Pangu Ultra MoE on 4,096 NPUs, before tuning, kernels of 2026",
    story: "The paper's start with the kernels and the host of today; the layout is plausible",
    kind: PresetKind::Recipe,
    base: Some(&PANGU_ULTRA_MOE_718B),
    settings: "accelerator=ascend-910b3 num_devices=4096 tensor_model_parallel_size=8 \
        sequence_parallel=true pipeline_model_parallel_size=16 \
        virtual_pipeline_model_parallel_size=1 expert_model_parallel_size=32 \
        noop_layers=61,63 method=1f1b moe_hierarchical_alltoallv=false seq_length=8192 \
        micro_batch_size=1 global_batch_size=4096 attention_flops=full \
        recompute_granularity=full framework=mindspeed balance=skewed aux_loss=ep_group \
        mla_fa_without_pad=false padded_base_length=192",
    source: PANGU_ULTRA_MOE,
    refused: None,
};

static PANGU_ULTRA_MOE_6K_2: Preset = Preset {
    id: "pangu-ultra-moe-6k@2",
    title: "Pangu Ultra MoE on 6,144 NPUs",
    story: "The paper's final run: 237.6 tokens/s per NPU at 30.0 % MFU",
    kind: PresetKind::Recipe,
    base: Some(&PANGU_ULTRA_MOE_6K),
    settings: "software=ascend-2025-05",
    source: PANGU_ULTRA_MOE,
    refused: None,
};

static PANGU_ULTRA_MOE_6K_FOLLOWUP: Preset = Preset {
    id: "pangu-ultra-moe-6k-followup",
    title: "Pangu Ultra MoE on 6,144 NPUs, a month later",
    story: "The follow-up of June 2025: 41 % MFU on 6,000 to 10,000 NPUs; the paper's layout",
    kind: PresetKind::Recipe,
    base: Some(&PANGU_ULTRA_MOE_6K),
    settings: "software=ascend-2025-06",
    source: HUAWEI_OPERATORS,
    refused: None,
};

static PANGU_ULTRA_MOE_4K_BASELINE_2: Preset = Preset {
    id: "pangu-ultra-moe-4k-baseline@2",
    title: "Pangu Ultra MoE on 4,096 NPUs, before tuning",
    story: "The paper's start, 18.9 % MFU; its layout isn't published, this one is plausible",
    kind: PresetKind::Recipe,
    base: Some(&PANGU_ULTRA_MOE_4K_BASELINE),
    settings: "software=ascend-2025-05",
    source: PANGU_ULTRA_MOE,
    refused: None,
};

#[rustfmt::skip]
static DEEPSEEK_V3_2K_H800: Preset = Preset {
    id: "deepseek-v3-2k-h800",
    title: "DeepSeek-V3 on 2,048 H800",
    story: "DualPipe over 16 stages, EP 64, FP8; layers are spread evenly here",
    kind: PresetKind::Recipe,
    base: Some(&DEEPSEEK_V3_MODEL),
    settings: "accelerator=h800-sxm-80gb num_devices=2048 pipeline_model_parallel_size=16 \
        virtual_pipeline_model_parallel_size=1 expert_model_parallel_size=64 \
        noop_layers=61,63 method=dualpipe overlap_p2p_comm=true overlap_grad_reduce=true \
        overlap_param_gather=true delay_wgrad_compute=true \
        overlap_moe_expert_parallel_comm=true moe_token_dispatcher_type=flex seq_length=4096 \
        micro_batch_size=1 global_batch_size=15360 precision=fp8_blockwise peak_for_mfu=989 \
        exp_avg_dtype=bf16 exp_avg_sq_dtype=bf16 recompute_granularity=selective \
        recompute_modules=mla_up_proj,moe_act,layernorm",
    source: DEEPSEEK_V3,
    refused: None,
};

#[rustfmt::skip]
static DEEPSEEK_V3_512_910C: Preset = Preset {
    id: "deepseek-v3-512-910c",
    title: "DeepSeek-V3 on 512 dies of 910C",
    story: "MindSpeed's script for Atlas A3: DualPipeV, EP 32, optimizer in host memory",
    kind: PresetKind::Recipe,
    base: Some(&DEEPSEEK_V3_MODEL),
    settings: "accelerator=ascend-910c num_devices=512 tensor_model_parallel_size=2 \
        sequence_parallel=true pipeline_model_parallel_size=8 \
        virtual_pipeline_model_parallel_size=2 expert_model_parallel_size=32 \
        noop_layers=61,62 method=dualpipev \
        overlap_grad_reduce=true overlap_param_gather=true \
        moe_token_dispatcher_type=alltoall seq_length=4096 micro_batch_size=1 \
        global_batch_size=3840 recompute_granularity=full recompute_method=block \
        recompute_num_layers=8 swap_modules=optimizer gmm_add=true moe_permute_fusion=false \
        framework=mindspeed",
    source: MINDSPEED,
    refused: None,
};

#[rustfmt::skip]
static PANGU_PRO_MOE_4K: Preset = Preset {
    id: "pangu-pro-moe-4k",
    title: "Pangu Pro MoE on 4,000 NPUs",
    story: "The published layout TP8 EP2 PP5 VPP5; batch of the second phase",
    kind: PresetKind::Recipe,
    base: Some(&PANGU_PRO_MOE_72B),
    settings: "accelerator=ascend-910b3 num_devices=4000 tensor_model_parallel_size=8 \
        sequence_parallel=true pipeline_model_parallel_size=5 \
        virtual_pipeline_model_parallel_size=5 expert_model_parallel_size=16 \
        noop_layers=48,49 method=interleaved overlap_grad_reduce=true \
        overlap_param_gather=true seq_length=4096 micro_batch_size=1 global_batch_size=4000 \
        framework=mindspeed",
    source: PANGU_PRO_MOE,
    refused: None,
};

pub(super) static RECIPES: &[&Preset] = &[
    &PANGU_ULTRA_MOE_6K_2,
    &PANGU_ULTRA_MOE_6K_FOLLOWUP,
    &PANGU_ULTRA_MOE_4K_BASELINE_2,
    &PANGU_ULTRA_MOE_6K,
    &PANGU_ULTRA_MOE_4K_BASELINE,
    &DEEPSEEK_V3_2K_H800,
    &DEEPSEEK_V3_512_910C,
    &PANGU_PRO_MOE_4K,
];
