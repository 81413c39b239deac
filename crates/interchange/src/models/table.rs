//! Architectures beyond the presets, as their `config.json` on the hub has them.

/// An architecture.
pub(super) struct Row {
    /// Its names, in lower case; the first is the one that is shown.
    pub(super) names: &'static [&'static str],
    /// The page whose `config.json` has the shape, or who publishes it.
    pub(super) source: &'static str,
    /// A preset's id, or knobs of the section `transformer` that differ from a plain Llama of 32
    /// layers: 4096 wide, 14336 in each MLP, 32 heads, 128256 tokens.
    pub(super) shape: &'static str,
}

const fn row(names: &'static [&'static str], source: &'static str, shape: &'static str) -> Row {
    Row { names, source, shape }
}

/// Every row.
#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    // The same shape as a preset's.
    row(&["deepseek-r1", "deepseek-r1-zero", "dsv3", "deepseek3-671b", "deepseek-v3-671b"],
        "hub: deepseek-ai/DeepSeek-R1", "deepseek-v3"),
    row(&["deepseek-v32"], "hub: deepseek-ai/DeepSeek-V3.2", "deepseek-v3.2"),
    row(&["llama-3.1-8b"],
        "hub: meta-llama/Llama-3.1-8B", "llama-3-8b"),
    row(&["llama-3.1-70b", "llama-3.3-70b"],
        "hub: meta-llama/Llama-3.1-70B", "llama-3-70b"),
    row(&["llama-405b", "405b", "llama-3-405b"],
        "hub: meta-llama/Llama-3.1-405B", "llama-3.1-405b"),
    row(&["kimi-k2.5", "kimi-k2.6"], "hub: moonshotai/Kimi-K2.5", "kimi-k2"),
    row(&["glm-5.1"], "hub: zai-org/GLM-5.1", "glm-5"),
    row(&["qwen3.6-35b-a3b"], "hub: Qwen/Qwen3.6-35B-A3B", "qwen3.5-35b-a3b"),
    row(&["qwen3.6-27b"], "hub: Qwen/Qwen3.6-27B", "qwen3.5-27b"),
    row(&["qwen3-next"], "hub: Qwen/Qwen3-Next-80B-A3B-Instruct", "qwen3-next-80b-a3b"),
    row(&["minimax-m2.5", "minimax-m2.7"], "hub: MiniMaxAI/MiniMax-M2.5", "minimax-m2"),
    row(&["llama-4-maverick-17b-128e"],
        "hub: meta-llama/Llama-4-Maverick-17B-128E-Instruct", "llama4-maverick"),
    row(&["llama-4-scout-17b-16e"],
        "hub: meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama4-scout"),
    // Qwen.
    row(&["qwen1.5-moe-a2.7b"], "hub: Qwen/Qwen1.5-MoE-A2.7B",
        "num_layers=24 hidden_size=2048 ffn_hidden_size=5632 num_attention_heads=16 \
         add_qkv_bias=true vocab_size=151936 num_moe_experts=60 moe_router_topk=4 \
         moe_ffn_hidden_size=1408 moe_shared_expert_intermediate_size=5632 \
         moe_shared_expert_gate=true"),
    row(&["qwen2-57b-a14b"], "hub: Qwen/Qwen2-57B-A14B",
        "num_layers=28 hidden_size=3584 ffn_hidden_size=18944 num_attention_heads=28 \
         num_query_groups=4 add_qkv_bias=true vocab_size=151936 num_moe_experts=64 \
         moe_router_topk=8 moe_ffn_hidden_size=2560 moe_shared_expert_intermediate_size=20480 \
         moe_shared_expert_gate=true"),
    row(&["qwen2.5-0.5b", "qwen2-0.5b"], "hub: Qwen/Qwen2.5-0.5B",
        "num_layers=24 hidden_size=896 ffn_hidden_size=4864 num_attention_heads=14 \
         num_query_groups=2 add_qkv_bias=true vocab_size=151936 \
         untie_embeddings_and_output_weights=false"),
    row(&["qwen2.5-1.5b", "qwen2-1.5b"], "hub: Qwen/Qwen2.5-1.5B",
        "num_layers=28 hidden_size=1536 ffn_hidden_size=8960 num_attention_heads=12 \
         num_query_groups=2 add_qkv_bias=true vocab_size=151936 \
         untie_embeddings_and_output_weights=false"),
    row(&["qwen2.5-3b"], "hub: Qwen/Qwen2.5-3B",
        "num_layers=36 hidden_size=2048 ffn_hidden_size=11008 num_attention_heads=16 \
         num_query_groups=2 add_qkv_bias=true vocab_size=151936 \
         untie_embeddings_and_output_weights=false"),
    row(&["qwen2.5-7b", "qwen2-7b"], "hub: Qwen/Qwen2.5-7B",
        "num_layers=28 hidden_size=3584 ffn_hidden_size=18944 num_attention_heads=28 \
         num_query_groups=4 add_qkv_bias=true vocab_size=152064"),
    row(&["qwen2.5-14b"], "hub: Qwen/Qwen2.5-14B",
        "num_layers=48 hidden_size=5120 ffn_hidden_size=13824 num_attention_heads=40 \
         num_query_groups=8 add_qkv_bias=true vocab_size=152064"),
    row(&["qwen2.5-32b"], "hub: Qwen/Qwen2.5-32B",
        "num_layers=64 hidden_size=5120 ffn_hidden_size=27648 num_attention_heads=40 \
         num_query_groups=8 add_qkv_bias=true vocab_size=152064"),
    row(&["qwen2.5-72b", "qwen2-72b"], "hub: Qwen/Qwen2.5-72B",
        "num_layers=80 hidden_size=8192 ffn_hidden_size=29568 num_attention_heads=64 \
         num_query_groups=8 add_qkv_bias=true vocab_size=152064"),
    row(&["qwen-72b"], "hub: Qwen/Qwen-72B",
        "num_layers=80 hidden_size=8192 ffn_hidden_size=24576 num_attention_heads=64 \
         kv_channels=128 add_qkv_bias=true vocab_size=152064"),
    row(&["qwen3-0.6b"], "hub: Qwen/Qwen3-0.6B",
        "num_layers=28 hidden_size=1024 ffn_hidden_size=3072 num_attention_heads=16 \
         num_query_groups=8 kv_channels=128 qk_layernorm=true vocab_size=151936 \
         untie_embeddings_and_output_weights=false"),
    row(&["qwen3-1.7b"], "hub: Qwen/Qwen3-1.7B",
        "num_layers=28 hidden_size=2048 ffn_hidden_size=6144 num_attention_heads=16 \
         num_query_groups=8 kv_channels=128 qk_layernorm=true vocab_size=151936 \
         untie_embeddings_and_output_weights=false"),
    row(&["qwen3-4b"], "hub: Qwen/Qwen3-4B",
        "num_layers=36 hidden_size=2560 ffn_hidden_size=9728 num_attention_heads=32 \
         num_query_groups=8 kv_channels=128 qk_layernorm=true vocab_size=151936 \
         untie_embeddings_and_output_weights=false"),
    row(&["qwen3-14b"], "hub: Qwen/Qwen3-14B",
        "num_layers=40 hidden_size=5120 ffn_hidden_size=17408 num_attention_heads=40 \
         num_query_groups=8 kv_channels=128 qk_layernorm=true vocab_size=151936"),
    row(&["qwen3-coder-480b-a35b"], "hub: Qwen/Qwen3-Coder-480B-A35B-Instruct",
        "num_layers=62 hidden_size=6144 ffn_hidden_size=8192 num_attention_heads=96 \
         num_query_groups=8 kv_channels=128 qk_layernorm=true vocab_size=151936 \
         num_moe_experts=160 moe_router_topk=8 moe_ffn_hidden_size=2560"),
    row(&["qwen3.5-122b-a10b"], "hub: Qwen/Qwen3.5-122B-A10B",
        "num_layers=48 hidden_size=3072 ffn_hidden_size=1024 num_query_groups=2 kv_channels=256 \
         qk_layernorm=true attention_output_gate=true experimental_attention_variant=gdn \
         linear_num_value_heads=64 vocab_size=248320 num_moe_experts=256 moe_router_topk=8 \
         moe_ffn_hidden_size=1024 moe_shared_expert_intermediate_size=1024 \
         moe_shared_expert_gate=true mtp_num_layers=1"),
    row(&["qwen3.5-397b-a17b"], "hub: Qwen/Qwen3.5-397B-A17B",
        "num_layers=60 ffn_hidden_size=1024 num_query_groups=2 kv_channels=256 \
         qk_layernorm=true attention_output_gate=true experimental_attention_variant=gdn \
         linear_num_value_heads=64 vocab_size=248320 num_moe_experts=512 moe_router_topk=10 \
         moe_ffn_hidden_size=1024 moe_shared_expert_intermediate_size=1024 \
         moe_shared_expert_gate=true mtp_num_layers=1"),
    // DeepSeek and those of its shape.
    row(&["deepseek-v2", "deepseek-v2.5"], "hub: deepseek-ai/DeepSeek-V2",
        "num_layers=60 hidden_size=5120 ffn_hidden_size=12288 num_attention_heads=128 \
         multi_latent_attention=true q_lora_rank=1536 qk_layernorm=true vocab_size=102400 \
         num_moe_experts=160 moe_router_topk=6 moe_ffn_hidden_size=1536 \
         moe_shared_expert_intermediate_size=3072 moe_layer_freq=([0]*1+[1]*59) \
         moe_router_num_groups=8 moe_router_group_topk=3"),
    // torchtitan's flavor 16B of deepseek_v3 has this shape, and not Moonlight's.
    row(&["deepseek-v2-lite", "deepseek-coder-v2-lite", "torchtitan-deepseek-v3-16b"],
        "hub: deepseek-ai/DeepSeek-V2-Lite",
        "num_layers=27 hidden_size=2048 ffn_hidden_size=10944 num_attention_heads=16 \
         multi_latent_attention=true qk_layernorm=true vocab_size=102400 num_moe_experts=64 \
         moe_router_topk=6 moe_ffn_hidden_size=1408 moe_shared_expert_intermediate_size=2816 \
         moe_layer_freq=([0]*1+[1]*26)"),
    row(&["moonlight-16b-a3b", "moonlight", "deepseek-v3-16b"], "hub: moonshotai/Moonlight-16B-A3B",
        "num_layers=27 hidden_size=2048 ffn_hidden_size=11264 num_attention_heads=16 \
         multi_latent_attention=true qk_layernorm=true vocab_size=163840 num_moe_experts=64 \
         moe_router_topk=6 moe_ffn_hidden_size=1408 moe_shared_expert_intermediate_size=2816 \
         moe_layer_freq=([0]*1+[1]*26)"),
    row(&["kimi-k3-curve"], "AMD-AGI/Primus: kimi_k3_curve.yaml",
        "num_layers=24 hidden_size=2048 ffn_hidden_size=9728 num_attention_heads=16 \
         multi_latent_attention=true q_lora_rank=512 kv_lora_rank=256 qk_head_dim=128 \
         qk_pos_emb_head_dim=64 v_head_dim=128 qk_layernorm=true attention_output_gate=true \
         position_embedding_type=none experimental_attention_variant=kda \
         linear_attention_freq=4 linear_num_key_heads=16 linear_num_value_heads=16 \
         attention_residual_block_size=8 vocab_size=151680 num_moe_experts=32 \
         moe_router_topk=4 moe_ffn_hidden_size=1024 moe_latent_size=1024 \
         moe_shared_expert_intermediate_size=2048 moe_layer_freq=([0]*1+[1]*23)"),
    row(&["glm-4.7-flash", "glm4.7-30b-a3b"], "hub: zai-org/GLM-4.7-Flash",
        "num_layers=47 hidden_size=2048 ffn_hidden_size=10240 num_attention_heads=20 \
         multi_latent_attention=true q_lora_rank=768 qk_head_dim=192 v_head_dim=256 \
         qk_layernorm=true vocab_size=154880 num_moe_experts=64 moe_router_topk=4 \
         moe_ffn_hidden_size=1536 moe_shared_expert_intermediate_size=1536 \
         moe_layer_freq=([0]*1+[1]*46)"),
    row(&["glm-5.2", "glm52"], "hub: zai-org/GLM-5.2",
        "num_layers=78 hidden_size=6144 ffn_hidden_size=12288 num_attention_heads=64 \
         multi_latent_attention=true q_lora_rank=2048 qk_head_dim=192 v_head_dim=256 \
         qk_layernorm=true experimental_attention_variant=dsa dsa_indexer_n_heads=32 \
         dsa_indexer_topk_freq=4 dsa_indexer_skip_topk_offset=3 vocab_size=154880 \
         num_moe_experts=256 moe_router_topk=8 moe_ffn_hidden_size=2048 \
         moe_shared_expert_intermediate_size=2048 moe_layer_freq=([0]*3+[1]*75) mtp_num_layers=1"),
    row(&["glm-4-9b"], "hub: zai-org/glm-4-9b",
        "num_layers=40 ffn_hidden_size=13696 num_query_groups=2 kv_channels=128 \
         add_qkv_bias=true vocab_size=151552"),
    // Llama, Grok and others.
    row(&["llama-2-7b"], "hub: meta-llama/Llama-2-7b-hf",
        "ffn_hidden_size=11008 vocab_size=32000"),
    row(&["llama-2-13b"], "hub: meta-llama/Llama-2-13b-hf",
        "num_layers=40 hidden_size=5120 ffn_hidden_size=13824 num_attention_heads=40 \
         vocab_size=32000"),
    row(&["llama-2-70b"], "hub: meta-llama/Llama-2-70b-hf",
        "num_layers=80 hidden_size=8192 ffn_hidden_size=28672 num_attention_heads=64 \
         num_query_groups=8 vocab_size=32000"),
    row(&["llama-3.2-1b"], "hub: meta-llama/Llama-3.2-1B",
        "num_layers=16 hidden_size=2048 ffn_hidden_size=8192 num_query_groups=8 kv_channels=64 \
         untie_embeddings_and_output_weights=false"),
    row(&["llama-3.2-3b"], "hub: meta-llama/Llama-3.2-3B",
        "num_layers=28 hidden_size=3072 ffn_hidden_size=8192 num_attention_heads=24 \
         num_query_groups=8 kv_channels=128 untie_embeddings_and_output_weights=false"),
    row(&["grok-1"], "hub: xai-org/grok-1",
        "num_layers=64 hidden_size=6144 ffn_hidden_size=32768 num_attention_heads=48 \
         num_query_groups=8 vocab_size=131072 untie_embeddings_and_output_weights=false \
         num_moe_experts=8 moe_router_topk=2"),
    row(&["grok-2"], "hub: xai-org/grok-2",
        "num_layers=64 hidden_size=8192 ffn_hidden_size=32768 num_attention_heads=64 \
         num_query_groups=8 vocab_size=131072 num_moe_experts=8 moe_router_topk=2 \
         moe_ffn_hidden_size=16384 moe_shared_expert_intermediate_size=32768"),
    row(&["phi-3.5-moe"], "hub: microsoft/Phi-3.5-MoE-instruct",
        "ffn_hidden_size=6400 num_query_groups=8 add_qkv_bias=true vocab_size=32064 \
         num_moe_experts=16 moe_router_topk=2"),
    row(&["gpt-neox-20b"], "hub: EleutherAI/gpt-neox-20b",
        "num_layers=44 hidden_size=6144 ffn_hidden_size=24576 gated_linear_unit=false \
         num_attention_heads=64 add_bias_linear=true add_qkv_bias=true vocab_size=50432"),
    row(&["bloom", "bloom-176b"], "hub: bigscience/bloom",
        "num_layers=70 hidden_size=14336 ffn_hidden_size=57344 gated_linear_unit=false \
         num_attention_heads=112 add_qkv_bias=true add_bias_linear=true \
         position_embedding_type=none vocab_size=250880 untie_embeddings_and_output_weights=false"),
    row(&["falcon-180b"], "hub: tiiuae/falcon-180B",
        "num_layers=80 hidden_size=14848 ffn_hidden_size=59392 gated_linear_unit=false \
         num_attention_heads=232 num_query_groups=8 vocab_size=65024"),
    row(&["gemma-2-9b"], "hub: google/gemma-2-9b",
        "num_layers=42 hidden_size=3584 num_attention_heads=16 num_query_groups=8 \
         kv_channels=256 sandwich_norm=true window_size=4096 window_attn_skip_freq=2 \
         vocab_size=256000 untie_embeddings_and_output_weights=false"),
    row(&["minicpm3-4b"], "hub: openbmb/MiniCPM3-4B",
        "num_layers=62 hidden_size=2560 ffn_hidden_size=6400 num_attention_heads=40 \
         multi_latent_attention=true q_lora_rank=768 kv_lora_rank=256 qk_head_dim=64 \
         qk_pos_emb_head_dim=32 v_head_dim=64 qk_layernorm=true vocab_size=73448 \
         untie_embeddings_and_output_weights=false"),
    row(&["hunyuan-a13b"], "hub: tencent/Hunyuan-A13B-Instruct",
        "ffn_hidden_size=3072 num_query_groups=8 kv_channels=128 qk_layernorm=true \
         vocab_size=128167 untie_embeddings_and_output_weights=false num_moe_experts=64 \
         moe_router_topk=8 moe_ffn_hidden_size=3072 moe_shared_expert_intermediate_size=3072"),
    row(&["openpangu-embedded-7b"], "config.json of openPangu-Embedded-7B-V1.1",
        "num_layers=34 ffn_hidden_size=12800 num_query_groups=8 add_qkv_bias=true \
         vocab_size=153376"),
    row(&["mimo-7b", "mimo-7b-rl"], "hub: XiaomiMiMo/MiMo-7B-Base",
        "num_layers=36 ffn_hidden_size=11008 num_query_groups=8 kv_channels=128 \
         add_qkv_bias=true vocab_size=151680 mtp_num_layers=1"),
    row(&["step-3.7-flash"], "hub: stepfun-ai/Step-3.7-Flash",
        "num_layers=45 ffn_hidden_size=11264 num_attention_heads=64 num_query_groups=8 \
         kv_channels=128 vocab_size=128896 num_moe_experts=288 moe_router_topk=8 \
         moe_ffn_hidden_size=1280 moe_shared_expert_intermediate_size=1280 \
         moe_layer_freq=([0]*3+[1]*42) mtp_num_layers=3"),
];
