//! Published architectures, from their configuration files; cluster and strategy below them are
//! ours: legal, plausible, and the same for ever.

use super::{Names, Preset, PresetKind};
use crate::ground::source::{
    DEEPSEEK_V3, GLM, GPT_3, KIMI, LLAMA_3, LLAMA_4, LLAMA_4_SCOUT, MINIMAX, MIXTRAL,
    PANGU_PRO_MOE, PANGU_ULTRA, PANGU_ULTRA_MOE, QWEN3, TELECHAT3,
};

#[rustfmt::skip]
pub(super) static PANGU_ULTRA_MOE_718B: Preset = Preset {
    id: "pangu-ultra-moe-718b",
    title: "Pangu Ultra MoE 718B",
    story: "256 experts top-8 with MLA, built for the 16x16 cube unit",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=61 hidden_size=7680 ffn_hidden_size=18432 num_attention_heads=128 \
        multi_latent_attention=true q_lora_rank=1536 kv_lora_rank=512 qk_head_dim=128 \
        qk_pos_emb_head_dim=64 v_head_dim=128 qk_layernorm=true sandwich_norm=true \
        vocab_size=153600 num_moe_experts=256 moe_router_topk=8 moe_ffn_hidden_size=2048 \
        moe_shared_expert_intermediate_size=2048 moe_layer_freq=([0]*3+[1]*58) \
        mtp_num_layers=1 accelerator=ascend-910b3 num_devices=2048 \
        tensor_model_parallel_size=8 sequence_parallel=true pipeline_model_parallel_size=16 \
        virtual_pipeline_model_parallel_size=2 expert_model_parallel_size=32 \
        noop_layers=61,63 method=interleaved seq_length=8192 global_batch_size=2048 \
        framework=mindspeed recompute_granularity=full moe_hierarchical_alltoallv=true",
    source: PANGU_ULTRA_MOE,
    refused: None,
};

#[rustfmt::skip]
pub(super) static DEEPSEEK_V3_MODEL: Preset = Preset {
    id: "deepseek-v3",
    title: "DeepSeek-V3 671B",
    story: "The model that made fine-grained experts common",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=61 hidden_size=7168 ffn_hidden_size=18432 num_attention_heads=128 \
        multi_latent_attention=true q_lora_rank=1536 kv_lora_rank=512 qk_head_dim=128 \
        qk_pos_emb_head_dim=64 v_head_dim=128 qk_layernorm=true vocab_size=129280 \
        num_moe_experts=256 moe_router_topk=8 moe_ffn_hidden_size=2048 \
        moe_shared_expert_intermediate_size=2048 moe_layer_freq=([0]*3+[1]*58) \
        moe_router_num_groups=8 moe_router_group_topk=4 mtp_num_layers=1 \
        accelerator=h800-sxm-80gb num_devices=1024 pipeline_model_parallel_size=16 \
        expert_model_parallel_size=64 noop_layers=61,63 method=1f1b \
        moe_token_dispatcher_type=flex recompute_granularity=full global_batch_size=4096",
    source: DEEPSEEK_V3,
    refused: None,
};

#[rustfmt::skip]
pub(super) static DEEPSEEK_V3_1: Preset = Preset {
    id: "deepseek-v3.1",
    title: "DeepSeek-V3.1 671B",
    story: "DeepSeek-V3's architecture, trained further",
    kind: PresetKind::Model,
    base: Some(&DEEPSEEK_V3_MODEL),
    settings: "",
    source: DEEPSEEK_V3,
    refused: None,
};

#[rustfmt::skip]
pub(super) static QWEN3_235B: Preset = Preset {
    id: "qwen3-235b-a22b",
    title: "Qwen3-235B-A22B",
    story: "128 experts top-8 with grouped-query attention, no shared expert",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=94 hidden_size=4096 ffn_hidden_size=12288 num_attention_heads=64 \
        num_query_groups=4 kv_channels=128 qk_layernorm=true vocab_size=151936 \
        num_moe_experts=128 moe_router_topk=8 moe_ffn_hidden_size=1536 \
        accelerator=h100-sxm-80gb num_devices=256 tensor_model_parallel_size=2 \
        sequence_parallel=true pipeline_model_parallel_size=8 expert_model_parallel_size=32 \
        noop_layers=94,95 method=1f1b recompute_granularity=full global_batch_size=2048",
    source: QWEN3,
    refused: None,
};

#[rustfmt::skip]
pub(super) static QWEN3_30B: Preset = Preset {
    id: "qwen3-30b-a3b",
    title: "Qwen3-30B-A3B",
    story: "A small MoE that fits one node",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=48 hidden_size=2048 ffn_hidden_size=6144 num_attention_heads=32 \
        num_query_groups=4 kv_channels=128 qk_layernorm=true vocab_size=151936 \
        num_moe_experts=128 moe_router_topk=8 moe_ffn_hidden_size=768 \
        accelerator=h100-sxm-80gb num_devices=16 expert_model_parallel_size=8 \
        recompute_granularity=full global_batch_size=512",
    source: QWEN3,
    refused: None,
};

#[rustfmt::skip]
pub(super) static QWEN3_8B: Preset = Preset {
    id: "qwen3-8b",
    title: "Qwen3-8B",
    story: "A dense model of Qwen3",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=36 hidden_size=4096 ffn_hidden_size=12288 num_attention_heads=32 \
        num_query_groups=8 kv_channels=128 qk_layernorm=true vocab_size=151936 \
        accelerator=h100-sxm-80gb num_devices=8 tensor_model_parallel_size=2 \
        sequence_parallel=true global_batch_size=128",
    source: QWEN3,
    refused: None,
};

#[rustfmt::skip]
pub(super) static QWEN3_32B: Preset = Preset {
    id: "qwen3-32b",
    title: "Qwen3-32B",
    story: "The larger dense model of Qwen3",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=64 hidden_size=5120 ffn_hidden_size=25600 num_attention_heads=64 \
        num_query_groups=8 kv_channels=128 qk_layernorm=true vocab_size=151936 \
        accelerator=h100-sxm-80gb num_devices=32 tensor_model_parallel_size=8 \
        sequence_parallel=true global_batch_size=256",
    source: QWEN3,
    refused: None,
};

#[rustfmt::skip]
pub(super) static MIXTRAL_8X7B: Preset = Preset {
    id: "mixtral-8x7b",
    title: "Mixtral 8x7B",
    story: "Eight wide experts, top-2",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=32 hidden_size=4096 ffn_hidden_size=14336 num_attention_heads=32 \
        num_query_groups=8 vocab_size=32000 num_moe_experts=8 moe_router_topk=2 \
        accelerator=h100-sxm-80gb num_devices=32 tensor_model_parallel_size=2 \
        sequence_parallel=true pipeline_model_parallel_size=2 expert_model_parallel_size=8 \
        global_batch_size=256",
    source: MIXTRAL,
    refused: None,
};

#[rustfmt::skip]
pub(super) static MIXTRAL_8X22B: Preset = Preset {
    id: "mixtral-8x22b",
    title: "Mixtral 8x22B",
    story: "The larger Mixtral",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=56 hidden_size=6144 ffn_hidden_size=16384 num_attention_heads=48 \
        num_query_groups=8 vocab_size=32000 num_moe_experts=8 moe_router_topk=2 \
        accelerator=h100-sxm-80gb num_devices=128 tensor_model_parallel_size=2 \
        sequence_parallel=true pipeline_model_parallel_size=8 expert_model_parallel_size=8 \
        global_batch_size=512",
    source: MIXTRAL,
    refused: None,
};

#[rustfmt::skip]
pub(super) static LLAMA_3_8B: Preset = Preset {
    id: "llama-3-8b",
    title: "Llama 3 8B",
    story: "The dense model that every tool is tested with",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=32 hidden_size=4096 ffn_hidden_size=14336 num_attention_heads=32 \
        num_query_groups=8 vocab_size=128256 accelerator=h100-sxm-80gb num_devices=8 \
        tensor_model_parallel_size=2 sequence_parallel=true seq_length=8192 \
        global_batch_size=128",
    source: LLAMA_3,
    refused: None,
};

#[rustfmt::skip]
pub(super) static LLAMA_3_70B: Preset = Preset {
    id: "llama-3-70b",
    title: "Llama 3 70B",
    story: "Dense, 80 layers",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=80 hidden_size=8192 ffn_hidden_size=28672 num_attention_heads=64 \
        num_query_groups=8 vocab_size=128256 accelerator=h100-sxm-80gb num_devices=64 \
        tensor_model_parallel_size=4 sequence_parallel=true pipeline_model_parallel_size=8 \
        virtual_pipeline_model_parallel_size=5 method=interleaved seq_length=8192 \
        global_batch_size=128",
    source: LLAMA_3,
    refused: None,
};

#[rustfmt::skip]
pub(super) static LLAMA_3_1_405B: Preset = Preset {
    id: "llama-3.1-405b",
    title: "Llama 3.1 405B",
    story: "The largest open dense model",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=126 hidden_size=16384 ffn_hidden_size=53248 num_attention_heads=128 \
        num_query_groups=8 vocab_size=128256 accelerator=h100-sxm-80gb num_devices=1024 \
        tensor_model_parallel_size=8 sequence_parallel=true context_parallel_size=2 \
        pipeline_model_parallel_size=16 noop_layers=126,127 method=1f1b seq_length=8192 \
        global_batch_size=512",
    source: LLAMA_3,
    refused: None,
};

#[rustfmt::skip]
pub(super) static KIMI_K2: Preset = Preset {
    id: "kimi-k2",
    title: "Kimi K2 1T",
    story: "384 experts, half of DeepSeek-V3's heads",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=61 hidden_size=7168 ffn_hidden_size=18432 num_attention_heads=64 \
        multi_latent_attention=true q_lora_rank=1536 kv_lora_rank=512 qk_head_dim=128 \
        qk_pos_emb_head_dim=64 v_head_dim=128 qk_layernorm=true vocab_size=163840 \
        num_moe_experts=384 moe_router_topk=8 moe_ffn_hidden_size=2048 \
        moe_shared_expert_intermediate_size=2048 moe_layer_freq=([0]*1+[1]*60) \
        accelerator=ascend-910c num_devices=1024 tensor_model_parallel_size=2 \
        sequence_parallel=true pipeline_model_parallel_size=8 expert_model_parallel_size=64 \
        noop_layers=61,62,63 method=1f1b recompute_granularity=full framework=mindspeed \
        global_batch_size=4096",
    source: KIMI,
    refused: None,
};

#[rustfmt::skip]
pub(super) static GLM_4_5: Preset = Preset {
    id: "glm-4.5",
    title: "GLM-4.5 355B",
    story: "160 experts, 96 heads on a hidden size of 5,120",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=92 hidden_size=5120 ffn_hidden_size=12288 num_attention_heads=96 \
        num_query_groups=8 kv_channels=128 add_qkv_bias=true qk_layernorm=true \
        vocab_size=151552 num_moe_experts=160 moe_router_topk=8 moe_ffn_hidden_size=1536 \
        moe_shared_expert_intermediate_size=1536 moe_layer_freq=([0]*3+[1]*89) \
        mtp_num_layers=1 accelerator=h100-sxm-80gb num_devices=512 \
        tensor_model_parallel_size=2 sequence_parallel=true pipeline_model_parallel_size=16 \
        expert_model_parallel_size=32 noop_layers=92,93,95 method=1f1b \
        recompute_granularity=full global_batch_size=2048",
    source: GLM,
    refused: None,
};

#[rustfmt::skip]
pub(super) static GLM_4_5_AIR: Preset = Preset {
    id: "glm-4.5-air",
    title: "GLM-4.5-Air 106B",
    story: "The smaller GLM-4.5",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=46 hidden_size=4096 ffn_hidden_size=10944 num_attention_heads=96 \
        num_query_groups=8 kv_channels=128 add_qkv_bias=true vocab_size=151552 \
        num_moe_experts=128 moe_router_topk=8 moe_ffn_hidden_size=1408 \
        moe_shared_expert_intermediate_size=1408 moe_layer_freq=([0]*1+[1]*45) \
        mtp_num_layers=1 accelerator=ascend-910c num_devices=256 \
        pipeline_model_parallel_size=4 expert_model_parallel_size=16 noop_layers=46 \
        method=1f1b recompute_granularity=full framework=mindspeed global_batch_size=1024",
    source: GLM,
    refused: None,
};

#[rustfmt::skip]
pub(super) static GLM_5: Preset = Preset {
    id: "glm-5",
    title: "GLM-5 744B",
    story: "Sparse attention with an indexer",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=78 hidden_size=6144 ffn_hidden_size=12288 num_attention_heads=64 \
        multi_latent_attention=true q_lora_rank=2048 kv_lora_rank=512 qk_head_dim=192 \
        qk_pos_emb_head_dim=64 v_head_dim=256 qk_layernorm=true \
        experimental_attention_variant=dsa dsa_indexer_n_heads=32 vocab_size=154880 \
        num_moe_experts=256 moe_router_topk=8 moe_ffn_hidden_size=2048 \
        moe_shared_expert_intermediate_size=2048 moe_layer_freq=([0]*3+[1]*75) \
        mtp_num_layers=1 accelerator=h800-sxm-80gb num_devices=1024 \
        pipeline_model_parallel_size=16 expert_model_parallel_size=64 noop_layers=78 \
        method=1f1b moe_token_dispatcher_type=flex recompute_granularity=full \
        global_batch_size=4096",
    source: GLM,
    refused: None,
};

#[rustfmt::skip]
pub(super) static LLAMA4_MAVERICK: Preset = Preset {
    id: "llama4-maverick",
    title: "Llama 4 Maverick 400B",
    story: "MoE in every second layer, top-1",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=48 hidden_size=5120 ffn_hidden_size=16384 num_attention_heads=40 \
        num_query_groups=8 kv_channels=128 vocab_size=202048 num_moe_experts=128 \
        moe_router_topk=1 moe_ffn_hidden_size=8192 moe_shared_expert_intermediate_size=8192 \
        moe_layer_freq=([0,1]*24) accelerator=h100-sxm-80gb num_devices=512 \
        tensor_model_parallel_size=4 sequence_parallel=true pipeline_model_parallel_size=4 \
        expert_model_parallel_size=64 method=1f1b recompute_granularity=full \
        global_batch_size=1024",
    source: LLAMA_4,
    refused: None,
};

#[rustfmt::skip]
static LLAMA4_SCOUT: Preset = Preset {
    id: "llama4-scout",
    title: "Llama 4 Scout 109B",
    story: "16 experts top-1 beside a shared one in every layer",
    kind: PresetKind::Model,
    base: Some(&LLAMA4_MAVERICK),
    settings: "num_moe_experts=16 moe_layer_freq=1 num_devices=128 expert_model_parallel_size=16 \
        global_batch_size=512",
    source: LLAMA_4_SCOUT,
    refused: None,
};

#[rustfmt::skip]
pub(super) static GPT3_175B: Preset = Preset {
    id: "gpt3-175b",
    title: "GPT-3 175B",
    story: "The dense model of the first large-scale tables",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=96 hidden_size=12288 ffn_hidden_size=49152 gated_linear_unit=false \
        num_attention_heads=96 add_qkv_bias=true add_bias_linear=true \
        position_embedding_type=learned_absolute vocab_size=51200 \
        untie_embeddings_and_output_weights=false accelerator=a100-sxm-80gb num_devices=128 \
        tensor_model_parallel_size=8 sequence_parallel=true pipeline_model_parallel_size=8 \
        virtual_pipeline_model_parallel_size=3 method=interleaved seq_length=2048 \
        global_batch_size=256",
    source: GPT_3,
    refused: None,
};

#[rustfmt::skip]
pub(super) static MINIMAX_M2: Preset = Preset {
    id: "minimax-m2",
    title: "MiniMax-M2 230B",
    story: "256 small experts with grouped-query attention",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=62 hidden_size=3072 ffn_hidden_size=8192 num_attention_heads=48 \
        num_query_groups=8 kv_channels=128 qk_layernorm=true vocab_size=200064 \
        num_moe_experts=256 moe_router_topk=8 moe_ffn_hidden_size=1536 mtp_num_layers=3 \
        accelerator=h100-sxm-80gb num_devices=256 pipeline_model_parallel_size=8 \
        expert_model_parallel_size=32 noop_layers=62,63,64,65,66,67,68 method=1f1b \
        recompute_granularity=full global_batch_size=1024",
    source: MINIMAX,
    refused: None,
};

#[rustfmt::skip]
pub(super) static OPENPANGU_R_72B: Preset = Preset {
    id: "openpangu-r-72b-2512",
    title: "openPangu-R-72B-2512",
    story: "Pangu Pro's successor",
    kind: PresetKind::Model,
    base: None,
    settings: "",
    source: PANGU_PRO_MOE,
    refused: Some(
        "its query-key width differs from its value width without MLA, and it has attention sinks",
    ),
};

#[rustfmt::skip]
pub(super) static PANGU_PRO_MOE_72B: Preset = Preset {
    id: "pangu-pro-moe-72b",
    title: "Pangu Pro MoE 72B",
    story: "Grouped experts: balanced over devices by construction",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=48 hidden_size=5120 ffn_hidden_size=5376 num_attention_heads=40 \
        num_query_groups=8 kv_channels=128 vocab_size=153376 num_moe_experts=64 \
        moe_router_topk=8 moe_ffn_hidden_size=1344 moe_shared_expert_intermediate_size=5376 \
        moe_router_num_groups=8 moe_router_group_balanced=true accelerator=ascend-910b3 \
        num_devices=320 tensor_model_parallel_size=8 sequence_parallel=true \
        pipeline_model_parallel_size=5 virtual_pipeline_model_parallel_size=5 \
        expert_model_parallel_size=8 noop_layers=48,49 method=interleaved \
        framework=mindspeed global_batch_size=1280",
    source: PANGU_PRO_MOE,
    refused: None,
};

#[rustfmt::skip]
pub(super) static PANGU_ULTRA_135B: Preset = Preset {
    id: "pangu-ultra-135b",
    title: "Pangu Ultra 135B",
    story: "Dense, with sandwich norms",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=94 hidden_size=12288 ffn_hidden_size=28672 num_attention_heads=96 \
        num_query_groups=8 kv_channels=128 sandwich_norm=true vocab_size=153376 \
        accelerator=ascend-910b3 num_devices=1024 tensor_model_parallel_size=8 \
        sequence_parallel=true pipeline_model_parallel_size=8 \
        virtual_pipeline_model_parallel_size=6 noop_layers=94,95 method=interleaved \
        framework=mindspeed seq_length=8192 global_batch_size=512",
    source: PANGU_ULTRA,
    refused: None,
};

#[rustfmt::skip]
pub(super) static TELECHAT3_105B: Preset = Preset {
    id: "telechat3-105b-a4.7b",
    title: "TeleChat3 105B-A4.7B",
    story: "192 experts top-4, hidden size of only 2,560",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=45 hidden_size=2560 ffn_hidden_size=7680 num_attention_heads=32 \
        multi_latent_attention=true q_lora_rank=1536 kv_lora_rank=512 qk_head_dim=128 \
        qk_pos_emb_head_dim=64 v_head_dim=128 qk_layernorm=true vocab_size=131072 \
        num_moe_experts=192 moe_router_topk=4 moe_ffn_hidden_size=1536 \
        moe_shared_expert_intermediate_size=1536 mtp_num_layers=1 accelerator=ascend-910b3 \
        num_devices=512 pipeline_model_parallel_size=4 expert_model_parallel_size=16 \
        noop_layers=45,46 method=1f1b framework=mindspeed recompute_granularity=full \
        global_batch_size=2048",
    source: TELECHAT3,
    refused: None,
};

#[rustfmt::skip]
presets! {
    PANGU_ULTRA_MOE_718B;
    DEEPSEEK_V3_MODEL,
        "hub: deepseek-ai/DeepSeek-R1" => ["deepseek-r1", "deepseek-r1-zero", "dsv3",
            "deepseek3-671b", "deepseek-v3-671b"];
    DEEPSEEK_V3_1;
    QWEN3_235B;
    QWEN3_30B,
        "hub: Qwen/Qwen3-Coder-30B-A3B-Instruct" => ["qwen3-coder-30b-a3b", "qwen3-coder-flash"];
    QWEN3_8B,
        "hub: deepseek-ai/DeepSeek-R1-0528-Qwen3-8B" => ["deepseek-r1-0528-qwen3-8b"];
    QWEN3_32B;
    MIXTRAL_8X7B;
    MIXTRAL_8X22B;
    LLAMA_3_8B,
        "hub: meta-llama/Llama-3.1-8B" => ["llama-3.1-8b", "deepseek-r1-distill-llama-8b"];
    LLAMA_3_70B,
        "hub: meta-llama/Llama-3.1-70B" => ["llama-3.1-70b", "llama-3.3-70b",
            "deepseek-r1-distill-llama-70b", "llama-3.1-nemotron-70b", "llama-3.1-tulu-3-70b"];
    LLAMA_3_1_405B,
        "hub: meta-llama/Llama-3.1-405B" => ["llama-405b", "405b", "llama-3-405b"];
    KIMI_K2,
        "hub: moonshotai/Kimi-K2.5" => ["kimi-k2.5", "kimi-k2.6", "kimi-k2.7-code"];
    GLM_4_5,
        "hub: zai-org/GLM-4.6" => ["glm-4.6", "glm-4.7"];
    GLM_4_5_AIR;
    GLM_5,
        "hub: zai-org/GLM-5.1" => ["glm-5.1"];
    LLAMA4_MAVERICK as ["llama-4-maverick"],
        "hub: meta-llama/Llama-4-Maverick-17B-128E-Instruct" => ["llama-4-maverick-17b-128e",
            "llama4-17b-128e"];
    LLAMA4_SCOUT as ["llama-4-scout"],
        "hub: meta-llama/Llama-4-Scout-17B-16E-Instruct" => ["llama-4-scout-17b-16e",
            "llama4-17b-16e"];
    GPT3_175B;
    MINIMAX_M2,
        "hub: MiniMaxAI/MiniMax-M2.5" => ["minimax-m2.5", "minimax-m2.7"];
    OPENPANGU_R_72B;
    PANGU_PRO_MOE_72B as ["pangu-pro-moe"];
    PANGU_ULTRA_135B;
    TELECHAT3_105B;
}
