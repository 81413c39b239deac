//! Published architectures whose layers differ by what mixes their tokens, from their
//! configuration files; cluster and strategy below them are ours, as in `models`.

use super::{Names, Preset, PresetKind};
use crate::ground::source::{
    DEEPSEEK_V3_2, DEEPSEEK_V4, GEMMA_3, GPT_OSS, KIMI_K3_BRIDGE, KIMI_LINEAR, LONGCAT_FLASH,
    MIMO_V2, MINIMAX_M1, MSA, NEMOTRON_3, NEMOTRON_H, QWEN3_5, QWEN3_NEXT,
};

#[rustfmt::skip]
pub(super) static GPT_OSS_120B: Preset = Preset {
    id: "gpt-oss-120b",
    title: "gpt-oss-120b",
    story: "A window of 128 tokens in every second layer, sinks, 128 experts top-4",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=36 hidden_size=2880 ffn_hidden_size=2880 num_attention_heads=64 \
        num_query_groups=8 kv_channels=64 add_qkv_bias=true add_bias_linear=true \
        softmax_type=learnable window_size=128 window_attn_skip_freq=2 vocab_size=201088 \
        num_moe_experts=128 moe_router_topk=4 moe_ffn_hidden_size=2880 \
        accelerator=h100-sxm-80gb num_devices=64 expert_model_parallel_size=32 \
        moe_token_dispatcher_type=flex recompute_granularity=full global_batch_size=512",
    source: GPT_OSS,
    refused: None,
};

#[rustfmt::skip]
static GPT_OSS_20B: Preset = Preset {
    id: "gpt-oss-20b",
    title: "gpt-oss-20b",
    story: "gpt-oss-120b's layers, two thirds as many, with a quarter of the experts",
    kind: PresetKind::Model,
    base: Some(&GPT_OSS_120B),
    settings: "num_layers=24 num_moe_experts=32 num_devices=8 expert_model_parallel_size=8 \
        global_batch_size=128",
    source: GPT_OSS,
    refused: None,
};

#[rustfmt::skip]
static GEMMA_3_27B: Preset = Preset {
    id: "gemma-3-27b",
    title: "Gemma 3 27B",
    story: "Dense, a window of 1,024 tokens in five layers of six",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=62 hidden_size=5376 ffn_hidden_size=21504 num_attention_heads=32 \
        num_query_groups=16 kv_channels=128 qk_layernorm=true sandwich_norm=true \
        window_size=1024 window_attn_skip_freq=6 vocab_size=262208 \
        untie_embeddings_and_output_weights=false accelerator=h100-sxm-80gb num_devices=64 \
        tensor_model_parallel_size=4 sequence_parallel=true seq_length=8192 \
        global_batch_size=128",
    source: GEMMA_3,
    refused: None,
};

#[rustfmt::skip]
static QWEN3_NEXT_80B: Preset = Preset {
    id: "qwen3-next-80b-a3b",
    title: "Qwen3-Next-80B-A3B",
    story: "Gated delta nets in three layers of four, 512 experts top-10 and a gated shared one",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=48 hidden_size=2048 ffn_hidden_size=5120 num_attention_heads=16 \
        num_query_groups=2 kv_channels=256 qk_layernorm=true attention_output_gate=true \
        experimental_attention_variant=gdn linear_attention_freq=4 linear_num_key_heads=16 \
        linear_num_value_heads=32 vocab_size=151936 num_moe_experts=512 moe_router_topk=10 \
        moe_ffn_hidden_size=512 moe_shared_expert_intermediate_size=512 \
        moe_shared_expert_gate=true accelerator=h100-sxm-80gb num_devices=64 \
        expert_model_parallel_size=32 moe_token_dispatcher_type=flex \
        recompute_granularity=full global_batch_size=512",
    source: QWEN3_NEXT,
    refused: None,
};

#[rustfmt::skip]
static QWEN3_5_35B: Preset = Preset {
    id: "qwen3.5-35b-a3b",
    title: "Qwen3.5-35B-A3B",
    story: "Qwen3-Next's layers, 40 of them with 256 experts top-8",
    kind: PresetKind::Model,
    base: Some(&QWEN3_NEXT_80B),
    settings: "num_layers=40 ffn_hidden_size=512 vocab_size=248320 num_moe_experts=256 \
        moe_router_topk=8 mtp_num_layers=1 num_devices=32 expert_model_parallel_size=16 \
        global_batch_size=256",
    source: QWEN3_5,
    refused: None,
};

#[rustfmt::skip]
static QWEN3_5_27B: Preset = Preset {
    id: "qwen3.5-27b",
    title: "Qwen3.5-27B",
    story: "Gated delta nets in three layers of four of a dense model",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=64 hidden_size=5120 ffn_hidden_size=17408 num_attention_heads=24 \
        num_query_groups=4 kv_channels=256 qk_layernorm=true attention_output_gate=true \
        experimental_attention_variant=gdn linear_attention_freq=4 linear_num_key_heads=16 \
        linear_num_value_heads=48 vocab_size=248320 mtp_num_layers=1 \
        accelerator=h100-sxm-80gb num_devices=64 tensor_model_parallel_size=4 \
        sequence_parallel=true global_batch_size=256",
    source: QWEN3_5,
    refused: None,
};

#[rustfmt::skip]
static MIMO_V2_FLASH: Preset = Preset {
    id: "mimo-v2-flash",
    title: "MiMo-V2-Flash 309B-A15B",
    story: "A window of 128 tokens and more keys in five layers of six, values narrower than keys",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=48 hidden_size=4096 ffn_hidden_size=16384 num_attention_heads=64 \
        num_query_groups=4 kv_channels=192 \
        layer_overrides=0-47:v_head_dim=128;1-4,6-10,12-16,18-22,24-28,30-34,36-40,\
        42-46:num_query_groups=8,window_size=128 \
        vocab_size=152576 num_moe_experts=256 moe_router_topk=8 moe_ffn_hidden_size=2048 \
        moe_layer_freq=([0]*1+[1]*47) accelerator=h100-sxm-80gb num_devices=256 \
        pipeline_model_parallel_size=4 expert_model_parallel_size=32 \
        moe_token_dispatcher_type=flex recompute_granularity=full global_batch_size=1024",
    source: MIMO_V2,
    refused: None,
};

#[rustfmt::skip]
static KIMI_LINEAR_48B: Preset = Preset {
    id: "kimi-linear-48b-a3b",
    title: "Kimi-Linear-48B-A3B",
    story: "Kimi Delta Attention in three layers of four, MLA without positions in the others",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=27 hidden_size=2304 ffn_hidden_size=9216 num_attention_heads=32 \
        multi_latent_attention=true kv_lora_rank=512 qk_head_dim=128 qk_pos_emb_head_dim=64 \
        v_head_dim=128 qk_layernorm=true position_embedding_type=none \
        experimental_attention_variant=kda linear_attention_freq=([1,1,1,0]*6+[1]*2+[0]*1) \
        linear_num_key_heads=32 linear_num_value_heads=32 vocab_size=163840 \
        num_moe_experts=256 moe_router_topk=8 moe_ffn_hidden_size=1024 \
        moe_shared_expert_intermediate_size=1024 moe_layer_freq=([0]*1+[1]*26) \
        accelerator=h100-sxm-80gb num_devices=64 expert_model_parallel_size=32 \
        moe_token_dispatcher_type=flex recompute_granularity=full global_batch_size=512",
    source: KIMI_LINEAR,
    refused: None,
};

#[rustfmt::skip]
static KIMI_K3: Preset = Preset {
    id: "kimi-k3",
    title: "Kimi K3 2.8T",
    story: "Kimi-Linear's layers at 7,168, experts of latents, and residuals that are mixed over \
            the depth",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=93 hidden_size=7168 ffn_hidden_size=33792 num_attention_heads=96 \
        multi_latent_attention=true q_lora_rank=1536 kv_lora_rank=512 qk_head_dim=128 \
        qk_pos_emb_head_dim=64 v_head_dim=128 qk_layernorm=true attention_output_gate=true \
        position_embedding_type=none experimental_attention_variant=kda \
        linear_attention_freq=([1,1,1,0]*23+[0]*1) linear_num_key_heads=96 \
        linear_num_value_heads=96 linear_key_head_dim=128 linear_value_head_dim=128 \
        attention_residual_block_size=12 vocab_size=163840 num_moe_experts=896 \
        moe_router_topk=16 moe_ffn_hidden_size=3072 moe_latent_size=3584 \
        moe_shared_expert_intermediate_size=6144 moe_layer_freq=([0]*1+[1]*92) \
        accelerator=gb300 num_devices=2048 pipeline_model_parallel_size=8 \
        pipeline_model_parallel_layout=Et*11|(t*12|)*6t*10L expert_model_parallel_size=64 \
        moe_token_dispatcher_type=flex recompute_granularity=full global_batch_size=8192",
    source: KIMI_K3_BRIDGE,
    refused: None,
};

#[rustfmt::skip]
static MINIMAX_M1_456B: Preset = Preset {
    id: "minimax-m1",
    title: "MiniMax-M1 456B",
    story: "Lightning attention in seven layers of eight, 32 experts top-2",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=80 hidden_size=6144 ffn_hidden_size=9216 num_attention_heads=64 \
        num_query_groups=8 kv_channels=128 experimental_attention_variant=lightning \
        linear_attention_freq=8 linear_num_key_heads=64 linear_num_value_heads=64 \
        vocab_size=200064 num_moe_experts=32 moe_router_topk=2 moe_ffn_hidden_size=9216 \
        accelerator=h800-sxm-80gb num_devices=512 pipeline_model_parallel_size=8 \
        virtual_pipeline_model_parallel_size=2 method=interleaved \
        expert_model_parallel_size=32 moe_token_dispatcher_type=flex \
        recompute_granularity=full global_batch_size=1024",
    source: MINIMAX_M1,
    refused: None,
};

#[rustfmt::skip]
static NEMOTRON_H_8B: Preset = Preset {
    id: "nemotron-h-8b",
    title: "Nemotron-H 8B",
    story: "Mamba-2 and MLPs, four layers of attention among 52",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=52 hidden_size=4096 ffn_hidden_size=21504 gated_linear_unit=false \
        num_attention_heads=32 num_query_groups=8 kv_channels=128 \
        position_embedding_type=none \
        hybrid_layer_pattern=M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M- \
        mamba_num_heads=128 vocab_size=131072 accelerator=h100-sxm-80gb num_devices=32 \
        tensor_model_parallel_size=2 sequence_parallel=true seq_length=8192 \
        global_batch_size=256 recompute_granularity=full",
    source: NEMOTRON_H,
    refused: None,
};

#[rustfmt::skip]
static NEMOTRON_H_56B: Preset = Preset {
    id: "nemotron-h-56b",
    title: "Nemotron-H 56B",
    story: "Nemotron-H of 118 sub-layers, ten of them attention",
    kind: PresetKind::Model,
    base: Some(&NEMOTRON_H_8B),
    settings: "num_layers=118 hidden_size=8192 ffn_hidden_size=32768 num_attention_heads=64 \
        hybrid_layer_pattern=M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-\
        M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M- \
        mamba_num_heads=256 mamba_state_dim=256 num_devices=256 tensor_model_parallel_size=8 \
        global_batch_size=768",
    source: NEMOTRON_H,
    refused: None,
};

#[rustfmt::skip]
static NEMOTRON_3_NANO: Preset = Preset {
    id: "nemotron-3-nano-30b-a3b",
    title: "Nemotron 3 Nano 30B-A3B",
    story: "Mamba-2 and experts in turns, six layers of attention",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=52 hidden_size=2688 ffn_hidden_size=1856 gated_linear_unit=false \
        num_attention_heads=32 num_query_groups=2 kv_channels=128 \
        position_embedding_type=none \
        hybrid_layer_pattern=MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME \
        mamba_num_heads=64 vocab_size=131072 num_moe_experts=128 moe_router_topk=6 \
        moe_ffn_hidden_size=1856 moe_shared_expert_intermediate_size=3712 \
        accelerator=h100-sxm-80gb num_devices=16 expert_model_parallel_size=8 \
        moe_token_dispatcher_type=flex seq_length=8192 recompute_granularity=full \
        global_batch_size=256",
    source: NEMOTRON_3,
    refused: None,
};

#[rustfmt::skip]
static NEMOTRON_3_SUPER: Preset = Preset {
    id: "nemotron-3-super-120b-a12b",
    title: "Nemotron 3 Super 120B-A12B",
    story: "512 experts top-22 of latents a quarter as wide, and two MTP depths of one layer",
    kind: PresetKind::Model,
    base: Some(&NEMOTRON_3_NANO),
    settings: "num_layers=88 hidden_size=4096 ffn_hidden_size=2688 \
        hybrid_layer_pattern=MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEME\
        MEM*EMEMEMEM*EMEMEMEME/*E/*E \
        mtp_num_layers=2 mtp_use_repeated_layer=true mamba_num_heads=128 num_moe_experts=512 \
        moe_router_topk=22 moe_ffn_hidden_size=2688 moe_latent_size=1024 \
        moe_shared_expert_intermediate_size=5376 accelerator=gb200 num_devices=64 \
        tensor_model_parallel_size=2 sequence_parallel=true expert_model_parallel_size=64 \
        global_batch_size=512",
    source: NEMOTRON_3,
    refused: None,
};

#[rustfmt::skip]
static NEMOTRON_3_ULTRA: Preset = Preset {
    id: "nemotron-3-ultra-550b-a55b",
    title: "Nemotron 3 Ultra 550B-A55B",
    story: "Nemotron 3's largest: 108 sub-layers, experts of latents a quarter as wide",
    kind: PresetKind::Model,
    base: Some(&NEMOTRON_3_SUPER),
    settings: "num_layers=108 hidden_size=8192 ffn_hidden_size=5120 num_attention_heads=64 \
        hybrid_layer_pattern=MEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEM*EMEMEM*E\
        MEMEMEM*EMEMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME/*E \
        mtp_num_layers=1 mtp_use_repeated_layer=false mamba_num_heads=256 \
        moe_ffn_hidden_size=5120 moe_latent_size=2048 \
        moe_shared_expert_intermediate_size=10240 accelerator=gb300 num_devices=256 \
        global_batch_size=256",
    source: NEMOTRON_3,
    refused: None,
};

#[rustfmt::skip]
static DEEPSEEK_V3_2_MODEL: Preset = Preset {
    id: "deepseek-v3.2",
    title: "DeepSeek-V3.2 671B",
    story: "DeepSeek-V3 with sparse attention: an indexer chooses 2,048 keys for each query",
    kind: PresetKind::Model,
    base: Some(&super::models::DEEPSEEK_V3_MODEL),
    settings: "experimental_attention_variant=dsa dsa_indexer_n_heads=64 dsa_indexer_head_dim=128 \
        dsa_indexer_topk=2048",
    source: DEEPSEEK_V3_2,
    refused: None,
};

#[rustfmt::skip]
static DEEPSEEK_V4_FLASH: Preset = Preset {
    id: "deepseek-v4-flash",
    title: "DeepSeek-V4-Flash 284B-A13B",
    story: "Keys that stand for 4 and for 128 tokens in turns, four residual streams",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=43 hidden_size=4096 ffn_hidden_size=2048 num_attention_heads=64 \
        multi_latent_attention=true q_lora_rank=1024 qk_head_dim=448 kv_lora_rank=448 \
        qk_pos_emb_head_dim=64 v_head_dim=512 qk_layernorm=true softmax_type=learnable \
        window_size=128 dsa_indexer_n_heads=64 dsa_indexer_head_dim=128 dsa_indexer_topk=512 \
        attention_compress_ratios=([0]*2+[4,128]*20+[4]+[0]) enable_mhc_connections=true \
        vocab_size=129280 num_moe_experts=256 moe_router_topk=6 moe_ffn_hidden_size=2048 \
        moe_shared_expert_intermediate_size=2048 mtp_num_layers=1 accelerator=gb300 \
        num_devices=128 expert_model_parallel_size=64 moe_token_dispatcher_type=flex \
        recompute_granularity=full global_batch_size=2048",
    source: DEEPSEEK_V4,
    refused: None,
};

#[rustfmt::skip]
static DEEPSEEK_V4_PRO: Preset = Preset {
    id: "deepseek-v4-pro",
    title: "DeepSeek-V4-Pro 1.6T-A49B",
    story: "DeepSeek-V4-Flash's layers, wider, half as many more and with 384 experts",
    kind: PresetKind::Model,
    base: Some(&DEEPSEEK_V4_FLASH),
    settings: "num_layers=61 hidden_size=7168 ffn_hidden_size=3072 num_attention_heads=128 \
        q_lora_rank=1536 o_groups=16 dsa_indexer_topk=1024 \
        attention_compress_ratios=([128]*2+[4,128]*29+[4]+[0]) num_moe_experts=384 \
        moe_ffn_hidden_size=3072 moe_shared_expert_intermediate_size=3072 num_devices=512 \
        pipeline_model_parallel_size=2",
    source: DEEPSEEK_V4,
    refused: None,
};

#[rustfmt::skip]
static MINIMAX_M3: Preset = Preset {
    id: "minimax-m3",
    title: "MiniMax-M3 428B-A23B",
    story: "Blocks of 128 keys, of which each query and group of heads looks at 16",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=60 hidden_size=6144 ffn_hidden_size=12288 num_attention_heads=64 \
        num_query_groups=4 kv_channels=128 qk_layernorm=true \
        experimental_attention_variant=msa sparse_attention_freq=([0]*3+[1]*57) \
        dsa_indexer_n_heads=4 dsa_indexer_head_dim=128 dsa_indexer_topk=2048 \
        sparse_block_size=128 vocab_size=200064 num_moe_experts=128 moe_router_topk=4 \
        moe_ffn_hidden_size=3072 moe_shared_expert_intermediate_size=3072 \
        moe_layer_freq=([0]*3+[1]*57) mtp_num_layers=1 accelerator=h200-sxm-141gb \
        num_devices=512 tensor_model_parallel_size=2 sequence_parallel=true \
        tp_comm_overlap=true overlap_moe_expert_parallel_comm=true \
        expert_model_parallel_size=128 moe_token_dispatcher_type=flex global_batch_size=2048",
    source: MSA,
    refused: None,
};

#[rustfmt::skip]
static LONGCAT_FLASH_560B: Preset = Preset {
    id: "longcat-flash",
    title: "LongCat-Flash 560B-A27B",
    story: "28 times attention and MLP twice, the first MLP beside 512 experts and 256 of no work",
    kind: PresetKind::Model,
    base: None,
    settings: "num_layers=56 hidden_size=6144 ffn_hidden_size=12288 num_attention_heads=64 \
        multi_latent_attention=true q_lora_rank=1536 kv_lora_rank=512 qk_head_dim=128 \
        qk_pos_emb_head_dim=64 v_head_dim=128 qk_layernorm=true vocab_size=131072 \
        num_moe_experts=512 moe_zero_experts=256 moe_router_topk=12 moe_ffn_hidden_size=2048 \
        moe_shared_expert_intermediate_size=12288 moe_layer_freq=2 \
        moe_shared_expert_overlap=true accelerator=h800-sxm-80gb num_devices=512 \
        pipeline_model_parallel_size=8 expert_model_parallel_size=32 \
        moe_token_dispatcher_type=flex recompute_granularity=full global_batch_size=2048",
    source: LONGCAT_FLASH,
    refused: None,
};

#[rustfmt::skip]
presets! {
    GPT_OSS_120B;
    GPT_OSS_20B;
    GEMMA_3_27B;
    QWEN3_NEXT_80B,
        "hub: Qwen/Qwen3-Coder-Next" => ["qwen3-coder-next"],
        "hub: Qwen/Qwen3-Next-80B-A3B-Instruct" => ["qwen3-next"];
    KIMI_LINEAR_48B;
    MINIMAX_M1_456B,
        "hub: MiniMaxAI/MiniMax-Text-01" => ["minimax-text-01", "minimax-m1-80k", "minimax-m1-40k"];
    NEMOTRON_H_8B;
    NEMOTRON_H_56B;
    NEMOTRON_3_NANO as ["nemotron-3-nano", "nemotron-3-nano-30b"];
    NEMOTRON_3_SUPER as ["nemotron-3-super", "nemotron-3-super-120b"];
    NEMOTRON_3_ULTRA as ["nemotron-3-ultra", "nemotron-3-ultra-550b"];
    DEEPSEEK_V3_2_MODEL,
        "hub: deepseek-ai/DeepSeek-V3.2" => ["deepseek-v32"];
    DEEPSEEK_V4_FLASH;
    DEEPSEEK_V4_PRO;
    LONGCAT_FLASH_560B;
    QWEN3_5_35B,
        "hub: Qwen/Qwen3.6-35B-A3B" => ["qwen3.6-35b-a3b"];
    QWEN3_5_27B,
        "hub: Qwen/Qwen3.6-27B" => ["qwen3.6-27b"];
    MIMO_V2_FLASH;
    KIMI_K3;
    MINIMAX_M3;
}
