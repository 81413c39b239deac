//! Architectures beyond the presets, as their `config.json` on the hub has them.

/// An architecture.
pub(super) struct Row {
    /// Its names, in lower case; the first is the one that is shown.
    pub(super) names: &'static [&'static str],
    /// The page whose `config.json` has the shape, or who publishes it.
    pub(super) source: &'static str,
    /// Knobs of the section `transformer` that differ from a plain Llama of 32
    /// layers: 4096 wide, 14336 in each MLP, 32 heads, 128256 tokens.
    pub(super) shape: &'static str,
}

const fn row(names: &'static [&'static str], source: &'static str, shape: &'static str) -> Row {
    Row { names, source, shape }
}

/// Every row.
#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
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
    row(&["qwen2.5-0.5b", "qwen2-0.5b", "qwen2.5-coder-0.5b"], "hub: Qwen/Qwen2.5-0.5B",
        "num_layers=24 hidden_size=896 ffn_hidden_size=4864 num_attention_heads=14 \
         num_query_groups=2 add_qkv_bias=true vocab_size=151936 \
         untie_embeddings_and_output_weights=false"),
    row(&["qwen2.5-1.5b", "qwen2-1.5b", "qwen2.5-coder-1.5b", "qwen2.5-math-1.5b"],
        "hub: Qwen/Qwen2.5-1.5B",
        "num_layers=28 hidden_size=1536 ffn_hidden_size=8960 num_attention_heads=12 \
         num_query_groups=2 add_qkv_bias=true vocab_size=151936 \
         untie_embeddings_and_output_weights=false"),
    row(&["deepseek-r1-distill-qwen-1.5b"],
        "hub: deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B",
        "num_layers=28 hidden_size=1536 ffn_hidden_size=8960 num_attention_heads=12 \
         num_query_groups=2 add_qkv_bias=true vocab_size=151936"),
    row(&["qwen2.5-3b", "qwen2.5-coder-3b"], "hub: Qwen/Qwen2.5-3B",
        "num_layers=36 hidden_size=2048 ffn_hidden_size=11008 num_attention_heads=16 \
         num_query_groups=2 add_qkv_bias=true vocab_size=151936 \
         untie_embeddings_and_output_weights=false"),
    row(&["qwen2.5-7b", "qwen2-7b", "qwen2.5-coder-7b", "qwen2.5-math-7b",
        "deepseek-r1-distill-qwen-7b", "openthinker-7b"], "hub: Qwen/Qwen2.5-7B",
        "num_layers=28 hidden_size=3584 ffn_hidden_size=18944 num_attention_heads=28 \
         num_query_groups=4 add_qkv_bias=true vocab_size=152064"),
    row(&["qwen2.5-14b", "qwen2.5-coder-14b", "deepseek-r1-distill-qwen-14b"],
        "hub: Qwen/Qwen2.5-14B",
        "num_layers=48 hidden_size=5120 ffn_hidden_size=13824 num_attention_heads=40 \
         num_query_groups=8 add_qkv_bias=true vocab_size=152064"),
    row(&["qwen2.5-32b", "qwen2.5-coder-32b", "deepseek-r1-distill-qwen-32b", "qwq-32b",
        "qwq-32b-preview"], "hub: Qwen/Qwen2.5-32B",
        "num_layers=64 hidden_size=5120 ffn_hidden_size=27648 num_attention_heads=40 \
         num_query_groups=8 add_qkv_bias=true vocab_size=152064"),
    row(&["qwen2.5-72b", "qwen2-72b", "qwen2.5-math-72b", "kimi-dev-72b"], "hub: Qwen/Qwen2.5-72B",
        "num_layers=80 hidden_size=8192 ffn_hidden_size=29568 num_attention_heads=64 \
         num_query_groups=8 add_qkv_bias=true vocab_size=152064"),
    row(&["qwen-72b", "qwen1.5-72b"], "hub: Qwen/Qwen-72B",
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
    // torchtitan `models/qwen3_5/__init__.py` has these, and slime `scripts/models/qwen3.5-*.sh`.
    row(&["qwen3.5-0.8b"], "hub: Qwen/Qwen3.5-0.8B",
        "num_layers=24 hidden_size=1024 ffn_hidden_size=3584 num_attention_heads=8 \
         num_query_groups=2 kv_channels=256 qk_layernorm=true attention_output_gate=true \
         experimental_attention_variant=gdn linear_num_value_heads=16 vocab_size=248320 \
         untie_embeddings_and_output_weights=false mtp_num_layers=1"),
    row(&["qwen3.5-2b"], "hub: Qwen/Qwen3.5-2B",
        "num_layers=24 hidden_size=2048 ffn_hidden_size=6144 num_attention_heads=8 \
         num_query_groups=2 kv_channels=256 qk_layernorm=true attention_output_gate=true \
         experimental_attention_variant=gdn linear_num_value_heads=16 vocab_size=248320 \
         untie_embeddings_and_output_weights=false mtp_num_layers=1"),
    row(&["qwen3.5-4b"], "hub: Qwen/Qwen3.5-4B",
        "hidden_size=2560 ffn_hidden_size=9216 num_attention_heads=16 num_query_groups=4 \
         kv_channels=256 qk_layernorm=true attention_output_gate=true \
         experimental_attention_variant=gdn linear_num_value_heads=32 vocab_size=248320 \
         untie_embeddings_and_output_weights=false mtp_num_layers=1"),
    row(&["qwen3.5-9b"], "hub: Qwen/Qwen3.5-9B",
        "ffn_hidden_size=12288 num_attention_heads=16 num_query_groups=4 kv_channels=256 \
         qk_layernorm=true attention_output_gate=true experimental_attention_variant=gdn \
         linear_num_value_heads=32 vocab_size=248320 mtp_num_layers=1"),
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
    row(&["deepseek-v2", "deepseek-v2.5", "deepseek-coder-v2", "deepseek-v2-236b"],
        "hub: deepseek-ai/DeepSeek-V2",
        "num_layers=60 hidden_size=5120 ffn_hidden_size=12288 num_attention_heads=128 \
         multi_latent_attention=true q_lora_rank=1536 qk_layernorm=true vocab_size=102400 \
         num_moe_experts=160 moe_router_topk=6 moe_ffn_hidden_size=1536 \
         moe_shared_expert_intermediate_size=3072 moe_layer_freq=([0]*1+[1]*59) \
         moe_router_num_groups=8 moe_router_group_topk=3"),
    // torchtitan's flavor 16B of deepseek_v3 has this shape, and not Moonlight's.
    row(&["deepseek-v2-lite", "deepseek-coder-v2-lite", "deepseek-v2-16b",
        "torchtitan-deepseek-v3-16b"],
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
    row(&["llama-2-7b", "llama-7b", "llama-1-7b"], "hub: meta-llama/Llama-2-7b-hf",
        "ffn_hidden_size=11008 vocab_size=32000"),
    row(&["llama-2-13b", "llama-13b", "llama-1-13b"], "hub: meta-llama/Llama-2-13b-hf",
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
    row(&["step-3.7-flash", "step-3.5-flash"], "hub: stepfun-ai/Step-3.7-Flash, its text model",
        "num_layers=45 ffn_hidden_size=11264 num_attention_heads=64 num_query_groups=8 \
         kv_channels=128 qk_layernorm=true \
         layer_overrides=1-3,5-7,9-11,13-15,17-19,21-23,25-27,29-31,33-35,37-39,41-43:\
         num_attention_heads=96,window_size=512 \
         vocab_size=128896 num_moe_experts=288 moe_router_topk=8 moe_ffn_hidden_size=1280 \
         moe_shared_expert_intermediate_size=1280 moe_layer_freq=([0]*3+[1]*42) \
         mtp_num_layers=3"),
    // Dense models of further families.
    row(&["qwen1.5-7b"], "hub: Qwen/Qwen1.5-7B",
        "ffn_hidden_size=11008 add_qkv_bias=true vocab_size=151936"),
    row(&["qwen1.5-14b"], "hub: Qwen/Qwen1.5-14B",
        "num_layers=40 hidden_size=5120 ffn_hidden_size=13696 num_attention_heads=40 \
         add_qkv_bias=true vocab_size=152064"),
    row(&["qwen1.5-32b"], "hub: Qwen/Qwen1.5-32B",
        "num_layers=64 hidden_size=5120 ffn_hidden_size=27392 num_attention_heads=40 \
         num_query_groups=8 add_qkv_bias=true vocab_size=152064"),
    row(&["llama-30b", "llama-33b"], "arXiv:2302.13971, table 2",
        "num_layers=60 hidden_size=6656 ffn_hidden_size=17920 num_attention_heads=52 \
         vocab_size=32000"),
    row(&["llama-65b"], "arXiv:2302.13971, table 2",
        "num_layers=80 hidden_size=8192 ffn_hidden_size=22016 num_attention_heads=64 \
         vocab_size=32000"),
    row(&["codellama-34b"], "hub: codellama/CodeLlama-34b-hf",
        "num_layers=48 hidden_size=8192 ffn_hidden_size=22016 num_attention_heads=64 \
         num_query_groups=8 vocab_size=32000"),
    row(&["tinyllama-1.1b"], "hub: TinyLlama/TinyLlama-1.1B-Chat-v1.0",
        "num_layers=22 hidden_size=2048 ffn_hidden_size=5632 num_query_groups=4 \
         vocab_size=32000"),
    row(&["deepseek-llm-7b"], "hub: deepseek-ai/deepseek-llm-7b-base",
        "num_layers=30 ffn_hidden_size=11008 vocab_size=102400"),
    row(&["deepseek-llm-67b"], "hub: deepseek-ai/deepseek-llm-67b-base",
        "num_layers=95 hidden_size=8192 ffn_hidden_size=22016 num_attention_heads=64 \
         num_query_groups=8 vocab_size=102400"),
    row(&["deepseek-coder-6.7b"], "hub: deepseek-ai/deepseek-coder-6.7b-base",
        "ffn_hidden_size=11008 vocab_size=32256"),
    row(&["deepseek-coder-33b"], "hub: deepseek-ai/deepseek-coder-33b-base",
        "num_layers=62 hidden_size=7168 ffn_hidden_size=19200 num_attention_heads=56 \
         num_query_groups=8 vocab_size=32256"),
    row(&["deepseek-moe-16b"], "hub: deepseek-ai/deepseek-moe-16b-base",
        "num_layers=28 hidden_size=2048 ffn_hidden_size=10944 num_attention_heads=16 \
         vocab_size=102400 num_moe_experts=64 moe_router_topk=6 moe_ffn_hidden_size=1408 \
         moe_shared_expert_intermediate_size=2816 moe_layer_freq=([0]*1+[1]*27)"),
    row(&["mistral-7b-v0.1", "zephyr-7b", "zephyr-7b-beta", "zephyr-7b-alpha"],
        "hub: mistralai/Mistral-7B-v0.1",
        "num_query_groups=8 window_size=4096 vocab_size=32000"),
    row(&["mistral-7b"], "hub: mistralai/Mistral-7B-v0.3",
        "num_query_groups=8 vocab_size=32768"),
    row(&["mistral-nemo", "mistral-nemo-12b", "mistral-nemo-2407"],
        "hub: mistralai/Mistral-Nemo-Base-2407",
        "num_layers=40 hidden_size=5120 num_query_groups=8 kv_channels=128 vocab_size=131072"),
    row(&["mistral-small-24b", "mistral-small-24b-2501", "mistral-small-3.1-24b-2503",
        "mistral-small-3.2-24b-2506", "devstral-small-2505", "devstral-small-2507",
        "devstral-small-24b",
        "magistral-small-2506"],
        "hub: mistralai/Mistral-Small-24B-Base-2501",
        "num_layers=40 hidden_size=5120 ffn_hidden_size=32768 num_query_groups=8 \
         kv_channels=128 vocab_size=131072"),
    row(&["mistral-large-2407", "mistral-large-123b"],
        "hub: mistralai/Mistral-Large-Instruct-2407",
        "num_layers=88 hidden_size=12288 ffn_hidden_size=28672 num_attention_heads=96 \
         num_query_groups=8 vocab_size=32768"),
    row(&["ministral-8b", "ministral-8b-2410"], "hub: mistralai/Ministral-8B-Instruct-2410",
        "num_layers=36 ffn_hidden_size=12288 num_query_groups=8 kv_channels=128 \
         vocab_size=131072"),
    row(&["codestral-22b", "mistral-small-2409"], "hub: mistralai/Codestral-22B-v0.1",
        "num_layers=56 hidden_size=6144 ffn_hidden_size=16384 num_attention_heads=48 \
         num_query_groups=8 vocab_size=32768"),
    row(&["phi-3-mini", "phi-3-mini-4k", "phi-3-mini-128k", "phi-3.5-mini"],
        "hub: microsoft/Phi-3-mini-4k-instruct",
        "hidden_size=3072 ffn_hidden_size=8192 vocab_size=32064"),
    row(&["phi-3-medium", "phi-3-medium-4k", "phi-3-medium-128k"],
        "hub: microsoft/Phi-3-medium-4k-instruct",
        "num_layers=40 hidden_size=5120 ffn_hidden_size=17920 num_attention_heads=40 \
         num_query_groups=10 vocab_size=32064"),
    row(&["phi-4", "phi-4-14b"], "hub: microsoft/phi-4",
        "num_layers=40 hidden_size=5120 ffn_hidden_size=17920 num_attention_heads=40 \
         num_query_groups=10 vocab_size=100352"),
    row(&["phi-4-mini"], "hub: microsoft/Phi-4-mini-instruct",
        "hidden_size=3072 ffn_hidden_size=8192 num_attention_heads=24 num_query_groups=8 \
         kv_channels=128 vocab_size=200064 untie_embeddings_and_output_weights=false"),
    row(&["gemma-2-2b"], "hub: google/gemma-2-2b",
        "num_layers=26 hidden_size=2304 ffn_hidden_size=9216 num_attention_heads=8 \
         num_query_groups=4 kv_channels=256 sandwich_norm=true window_size=4096 \
         window_attn_skip_freq=2 vocab_size=256000 untie_embeddings_and_output_weights=false"),
    row(&["gemma-2-27b"], "hub: google/gemma-2-27b",
        "num_layers=46 hidden_size=4608 ffn_hidden_size=36864 num_query_groups=16 \
         kv_channels=128 sandwich_norm=true window_size=4096 window_attn_skip_freq=2 \
         vocab_size=256000 untie_embeddings_and_output_weights=false"),
    row(&["gemma-7b"], "hub: google/gemma-7b",
        "num_layers=28 hidden_size=3072 ffn_hidden_size=24576 num_attention_heads=16 \
         kv_channels=256 vocab_size=256000 untie_embeddings_and_output_weights=false"),
    row(&["gemma-2b"], "hub: google/gemma-2b",
        "num_layers=18 hidden_size=2048 ffn_hidden_size=16384 num_attention_heads=8 \
         num_query_groups=1 kv_channels=256 vocab_size=256000 \
         untie_embeddings_and_output_weights=false"),
    row(&["gemma-3-1b"], "hub: google/gemma-3-1b-pt",
        "num_layers=26 hidden_size=1152 ffn_hidden_size=6912 num_attention_heads=4 \
         num_query_groups=1 kv_channels=256 qk_layernorm=true sandwich_norm=true \
         window_size=512 window_attn_skip_freq=6 vocab_size=262144 \
         untie_embeddings_and_output_weights=false"),
    row(&["gemma-3-4b"], "hub: google/gemma-3-4b-pt, its text model",
        "num_layers=34 hidden_size=2560 ffn_hidden_size=10240 num_attention_heads=8 \
         num_query_groups=4 kv_channels=256 qk_layernorm=true sandwich_norm=true \
         window_size=1024 window_attn_skip_freq=6 vocab_size=262208 \
         untie_embeddings_and_output_weights=false"),
    row(&["gemma-3-12b"], "hub: google/gemma-3-12b-pt, its text model",
        "num_layers=48 hidden_size=3840 ffn_hidden_size=15360 num_attention_heads=16 \
         num_query_groups=8 kv_channels=256 qk_layernorm=true sandwich_norm=true \
         window_size=1024 window_attn_skip_freq=6 vocab_size=262208 \
         untie_embeddings_and_output_weights=false"),
    row(&["yi-6b", "yi-1.5-6b"], "hub: 01-ai/Yi-6B",
        "ffn_hidden_size=11008 num_query_groups=4 vocab_size=64000"),
    row(&["yi-1.5-9b", "yi-9b"], "hub: 01-ai/Yi-1.5-9B",
        "num_layers=48 ffn_hidden_size=11008 num_query_groups=4 vocab_size=64000"),
    row(&["yi-34b", "yi-1.5-34b"], "hub: 01-ai/Yi-34B",
        "num_layers=60 hidden_size=7168 ffn_hidden_size=20480 num_attention_heads=56 \
         num_query_groups=8 vocab_size=64000"),
    row(&["baichuan2-7b"], "hub: baichuan-inc/Baichuan2-7B-Base",
        "ffn_hidden_size=11008 vocab_size=125696"),
    row(&["baichuan2-13b"], "hub: baichuan-inc/Baichuan2-13B-Base",
        "num_layers=40 hidden_size=5120 ffn_hidden_size=13696 num_attention_heads=40 \
         position_embedding_type=none vocab_size=125696"),
    row(&["internlm2-7b", "internlm2.5-7b"], "hub: internlm/internlm2-7b",
        "num_query_groups=8 vocab_size=92544"),
    row(&["internlm2-20b", "internlm2.5-20b"], "hub: internlm/internlm2-20b",
        "num_layers=48 hidden_size=6144 ffn_hidden_size=16384 num_attention_heads=48 \
         num_query_groups=8 vocab_size=92544"),
    row(&["internlm3-8b"], "hub: internlm/internlm3-8b-instruct",
        "num_layers=48 ffn_hidden_size=10240 num_query_groups=2 kv_channels=128 \
         vocab_size=128512"),
    row(&["glm-4-32b", "glm-4-32b-0414", "glm-z1-32b-0414"], "hub: zai-org/GLM-4-32B-0414",
        "num_layers=61 hidden_size=6144 ffn_hidden_size=23040 num_attention_heads=48 \
         num_query_groups=2 kv_channels=128 sandwich_norm=true vocab_size=151552"),
    row(&["olmo-2-7b", "olmo-2-1124-7b"], "hub: allenai/OLMo-2-1124-7B",
        "ffn_hidden_size=11008 qk_layernorm=true vocab_size=100352"),
    row(&["olmo-2-13b", "olmo-2-1124-13b"], "hub: allenai/OLMo-2-1124-13B",
        "num_layers=40 hidden_size=5120 ffn_hidden_size=13824 num_attention_heads=40 \
         qk_layernorm=true vocab_size=100352"),
    row(&["olmo-2-32b", "olmo-2-0325-32b"], "hub: allenai/OLMo-2-0325-32B",
        "num_layers=64 hidden_size=5120 ffn_hidden_size=27648 num_attention_heads=40 \
         num_query_groups=8 qk_layernorm=true vocab_size=100352"),
    row(&["olmo-3-7b", "olmo-3-1025-7b"], "hub: allenai/Olmo-3-1025-7B",
        "ffn_hidden_size=11008 qk_layernorm=true window_size=4096 window_attn_skip_freq=4 \
         vocab_size=100278"),
    row(&["olmo-3-32b", "olmo-3-1125-32b"], "hub: allenai/Olmo-3-1125-32B",
        "num_layers=64 hidden_size=5120 ffn_hidden_size=27648 num_attention_heads=40 \
         num_query_groups=8 qk_layernorm=true window_size=4096 window_attn_skip_freq=4 \
         vocab_size=100278"),
    row(&["seed-oss-36b"], "hub: ByteDance-Seed/Seed-OSS-36B-Base",
        "num_layers=64 hidden_size=5120 ffn_hidden_size=27648 num_attention_heads=80 \
         num_query_groups=8 kv_channels=128 add_qkv_bias=true vocab_size=155136"),
    row(&["command-r-35b", "c4ai-command-r-v01", "command-r-v01"],
        "hub: CohereLabs/c4ai-command-r-v01",
        "num_layers=40 hidden_size=8192 ffn_hidden_size=22528 num_attention_heads=64 \
         vocab_size=256000 untie_embeddings_and_output_weights=false"),
    row(&["smollm2-135m", "smollm-135m"], "hub: HuggingFaceTB/SmolLM2-135M",
        "num_layers=30 hidden_size=576 ffn_hidden_size=1536 num_attention_heads=9 \
         num_query_groups=3 vocab_size=49152 untie_embeddings_and_output_weights=false"),
    row(&["smollm2-360m", "smollm-360m"], "hub: HuggingFaceTB/SmolLM2-360M",
        "hidden_size=960 ffn_hidden_size=2560 num_attention_heads=15 num_query_groups=5 \
         vocab_size=49152 untie_embeddings_and_output_weights=false"),
    row(&["smollm2-1.7b", "smollm-1.7b"], "hub: HuggingFaceTB/SmolLM2-1.7B",
        "num_layers=24 hidden_size=2048 ffn_hidden_size=8192 vocab_size=49152 \
         untie_embeddings_and_output_weights=false"),
    row(&["smollm3-3b"], "hub: HuggingFaceTB/SmolLM3-3B",
        "num_layers=36 hidden_size=2048 ffn_hidden_size=11008 num_attention_heads=16 \
         num_query_groups=4 vocab_size=128256 untie_embeddings_and_output_weights=false"),
    row(&["gpt2-xl"], "hub: openai-community/gpt2-xl",
        "num_layers=48 hidden_size=1600 ffn_hidden_size=6400 gated_linear_unit=false \
         num_attention_heads=25 add_bias_linear=true add_qkv_bias=true \
         position_embedding_type=learned_absolute vocab_size=50257 \
         untie_embeddings_and_output_weights=false"),
    // Mixtures of experts of further families.
    row(&["dbrx", "dbrx-132b"], "hub: databricks/dbrx-base",
        "num_layers=40 hidden_size=6144 ffn_hidden_size=10752 num_attention_heads=48 \
         num_query_groups=8 vocab_size=100352 num_moe_experts=16 moe_router_topk=4"),
    row(&["olmoe-1b-7b", "olmoe-1b-7b-0924", "olmoe-1b-7b-0125"],
        "hub: allenai/OLMoE-1B-7B-0924",
        "num_layers=16 hidden_size=2048 ffn_hidden_size=1024 num_attention_heads=16 \
         qk_layernorm=true vocab_size=50304 num_moe_experts=64 moe_router_topk=8"),
    row(&["ernie-4.5-300b-a47b"], "hub: baidu/ERNIE-4.5-300B-A47B-PT",
        "num_layers=54 hidden_size=8192 ffn_hidden_size=28672 num_attention_heads=64 \
         num_query_groups=8 vocab_size=103424 num_moe_experts=64 moe_router_topk=8 \
         moe_ffn_hidden_size=3584 moe_layer_freq=([0]*3+[1]*51)"),
    row(&["ernie-4.5-21b-a3b"], "hub: baidu/ERNIE-4.5-21B-A3B-PT",
        "num_layers=28 hidden_size=2560 ffn_hidden_size=12288 num_attention_heads=20 \
         num_query_groups=4 kv_channels=128 vocab_size=103424 \
         untie_embeddings_and_output_weights=false num_moe_experts=64 moe_router_topk=6 \
         moe_ffn_hidden_size=1536 moe_shared_expert_intermediate_size=3072 \
         moe_layer_freq=([0]*1+[1]*27)"),
    row(&["ling-lite"], "hub: inclusionAI/Ling-lite",
        "num_layers=28 hidden_size=2048 ffn_hidden_size=5632 num_attention_heads=16 \
         num_query_groups=4 kv_channels=128 vocab_size=126464 num_moe_experts=64 \
         moe_router_topk=6 moe_ffn_hidden_size=1408 moe_shared_expert_intermediate_size=2816"),
    row(&["ling-mini-2.0", "ling-mini-16b-a1b"], "hub: inclusionAI/Ling-mini-2.0",
        "num_layers=20 hidden_size=2048 ffn_hidden_size=5120 num_attention_heads=16 \
         num_query_groups=4 kv_channels=128 qk_layernorm=true vocab_size=157184 \
         num_moe_experts=256 moe_router_topk=8 moe_ffn_hidden_size=512 \
         moe_shared_expert_intermediate_size=512 moe_layer_freq=([0]*1+[1]*19) \
         moe_router_num_groups=8 moe_router_group_topk=4"),
    row(&["ling-flash-2.0"], "hub: inclusionAI/Ling-flash-2.0",
        "ffn_hidden_size=9216 num_query_groups=4 kv_channels=128 qk_layernorm=true \
         vocab_size=157184 num_moe_experts=256 moe_router_topk=8 moe_ffn_hidden_size=1024 \
         moe_shared_expert_intermediate_size=1024 moe_layer_freq=([0]*1+[1]*31) \
         moe_router_num_groups=8 moe_router_group_topk=4"),
    row(&["ling-1t", "ling-1t-2.0"], "hub: inclusionAI/Ling-1T",
        "num_layers=80 hidden_size=8192 ffn_hidden_size=18432 num_attention_heads=64 \
         num_query_groups=8 qk_layernorm=true vocab_size=157184 num_moe_experts=256 \
         moe_router_topk=8 moe_ffn_hidden_size=2048 moe_shared_expert_intermediate_size=2048 \
         moe_layer_freq=([0]*4+[1]*76) moe_router_num_groups=8 moe_router_group_topk=4"),
];
