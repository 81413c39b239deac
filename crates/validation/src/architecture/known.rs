//! Architectures that runs name without printing them, and that no preset has.
//!
//! Each from its public configuration file; names are compared without case and punctuation.

use std::sync::LazyLock;

use serde::Deserialize;

/// A model: its name, its architecture in words, and where that is published.
#[derive(Debug, Deserialize)]
pub(super) struct Known {
    pub(super) name: String,
    pub(super) words: String,
    #[expect(dead_code, reason = "stands beside the numbers for the reader")]
    pub(super) source: String,
}

const fn known(name: &'static str, words: &'static str, source: &'static str) -> Known {
    Known { name, words, source }
}

pub(super) static KNOWN: &[Known] = &[
    known("LLaMA 7B", "L32 h4096 heads32 ffn11008 V32000", "arXiv 2302.13971, table 2"),
    known("LLaMA 13B", "L40 h5120 heads40 ffn13824 V32000", "arXiv 2302.13971, table 2"),
    known("LLaMA 33B", "L60 h6656 heads52 ffn17920 V32000", "arXiv 2302.13971, table 2"),
    known("LLaMA 65B", "L80 h8192 heads64 ffn22016 V32000", "arXiv 2302.13971, table 2"),
    known("Llama-2-7b", "L32 h4096 heads32 ffn11008 V32000", "meta-llama/Llama-2-7b-hf"),
    known("Llama-2-13b", "L40 h5120 heads40 ffn13824 V32000", "meta-llama/Llama-2-13b-hf"),
    known("Llama-2-70b", "L80 h8192 heads64 kv8 ffn28672 V32000", "meta-llama/Llama-2-70b-hf"),
    known("CodeLlama-34b", "L48 h8192 heads64 kv8 ffn22016 V32000", "codellama/CodeLlama-34b-hf"),
    known(
        "Mistral-7B",
        "L32 h4096 heads32 kv8 ffn14336 V32000 SWA4096",
        "mistralai/Mistral-7B-v0.1",
    ),
    known("Yi-34B", "L60 h7168 heads56 kv8 ffn20480 V64000", "01-ai/Yi-34B"),
    known("Baichuan-7B", "L32 h4096 heads32 ffn11008 V64000", "baichuan-inc/Baichuan-7B"),
    known("Baichuan2-7B", "L32 h4096 heads32 ffn11008 V125696", "baichuan-inc/Baichuan2-7B-Base"),
    known("Baichuan2-13B", "L40 h5120 heads40 ffn13696 V125696", "baichuan-inc/Baichuan2-13B-Base"),
    known("InternLM-7B", "L32 h4096 heads32 ffn11008 V103168", "internlm/internlm-7b"),
    known("InternLM-20B", "L60 h5120 heads40 ffn13824 V103168", "internlm/internlm-20b"),
    known("InternLM2-20B", "L48 h6144 heads48 kv8 ffn16384 V92544", "internlm/internlm2-20b"),
    known("Qwen1.5-7B", "L32 h4096 heads32 ffn11008 qkv_bias V151936", "Qwen/Qwen1.5-7B"),
    known("Qwen1.5-14B", "L40 h5120 heads40 ffn13696 qkv_bias V152064", "Qwen/Qwen1.5-14B"),
    known("Qwen1.5-72B", "L80 h8192 heads64 ffn24576 qkv_bias V152064", "Qwen/Qwen1.5-72B"),
    known("Qwen1.5-110B", "L80 h8192 heads64 kv8 ffn49152 qkv_bias V152064", "Qwen/Qwen1.5-110B"),
    known("Qwen2-7B", "L28 h3584 heads28 kv4 ffn18944 qkv_bias V152064", "Qwen/Qwen2-7B"),
    known("Qwen2-72B", "L80 h8192 heads64 kv8 ffn29568 qkv_bias V152064", "Qwen/Qwen2-72B"),
    known("Qwen2.5-7B", "L28 h3584 heads28 kv4 ffn18944 qkv_bias V152064", "Qwen/Qwen2.5-7B"),
    known("Qwen2.5-32B", "L64 h5120 heads40 kv8 ffn27648 qkv_bias V152064", "Qwen/Qwen2.5-32B"),
    known("Qwen2.5-72B", "L80 h8192 heads64 kv8 ffn29568 qkv_bias V152064", "Qwen/Qwen2.5-72B"),
    known("Llama-3.2-1B", "L16 h2048 heads32 kv8 ffn8192 tied V128256", "meta-llama/Llama-3.2-1B"),
    known(
        "Llama-3.2-3B",
        "L28 h3072 heads24 kv8 hd128 ffn8192 tied V128256",
        "meta-llama/Llama-3.2-3B",
    ),
    known(
        "Llama-4-Scout",
        "L48 h5120 heads40 kv8 hd128 E16 top1 moe_ffn8192 shared8192 V202048",
        "meta-llama/Llama-4-Scout-17B-16E",
    ),
    known(
        "Qwen3-1.7B",
        "L28 h2048 heads16 kv8 hd128 ffn6144 qk_norm tied V151936",
        "Qwen/Qwen3-1.7B",
    ),
    known("Qwen3-4B", "L36 h2560 heads32 kv8 hd128 ffn9728 qk_norm tied V151936", "Qwen/Qwen3-4B"),
    known("Qwen3-14B", "L40 h5120 heads40 kv8 hd128 ffn17408 qk_norm V151936", "Qwen/Qwen3-14B"),
    known("Qwen1.5-0.5B", "L24 h1024 heads16 ffn2816 qkv_bias tied V151936", "Qwen/Qwen1.5-0.5B"),
    known("Qwen1.5-1.8B", "L24 h2048 heads16 ffn5504 qkv_bias V151936", "Qwen/Qwen1.5-1.8B"),
    known("Qwen1.5-4B", "L40 h2560 heads20 ffn6912 qkv_bias V151936", "Qwen/Qwen1.5-4B"),
    known("Qwen2-0.5B", "L24 h896 heads14 kv2 ffn4864 qkv_bias tied V151936", "Qwen/Qwen2-0.5B"),
    known("Qwen2-1.5B", "L28 h1536 heads12 kv2 ffn8960 qkv_bias tied V151936", "Qwen/Qwen2-1.5B"),
    known(
        "Qwen2-57B-A14B",
        "L28 h3584 heads28 kv4 E64 top8 moe_ffn2560 shared20480 qkv_bias V151936",
        "Qwen/Qwen2-57B-A14B",
    ),
    known("InternLM2-7B", "L32 h4096 heads32 kv8 ffn14336 V92544", "internlm/internlm2-7b"),
    known("ChatGLM3-6B", "L28 h4096 heads32 kv2 ffn13696 qkv_bias V65024", "THUDM/chatglm3-6b"),
    known("GLM4-9B", "L40 h4096 heads32 kv2 ffn13696 qkv_bias V151552", "THUDM/glm-4-9b"),
    known("BLOOM-176B", "L70 h14336 heads112 ffn4h V250880", "bigscience/bloom"),
    known("OPT-175B", "L96 h12288 heads96 ffn4h V50272", "arXiv 2205.01068, table 1"),
    known("MT-NLG-530B", "L105 h20480 heads128 ffn4h V51200", "arXiv 2201.11990"),
    known("DBRX", "L40 h6144 heads48 kv8 E16 top4 moe_ffn10752 V100352", "databricks/dbrx-base"),
    known(
        "OLMoE-1B-7B",
        "L16 h2048 heads16 E64 top8 moe_ffn1024 qk_norm V50304",
        "allenai/OLMoE-1B-7B-0924",
    ),
    known(
        "DeepSeek-V2-Lite",
        "L27(1 dense) h2048 MLA16 (kv_lora512 qk128+64 v128) E64 top6 moe_ffn1408 shared2 \
         dense_ffn10944 V102400",
        "deepseek-ai/DeepSeek-V2-Lite",
    ),
    known("Gemma-2B", "L18 h2048 heads8 kv1 hd256 ffn16384 tied V256000", "google/gemma-2b"),
    known("Gemma-7B", "L28 h3072 heads16 hd256 ffn24576 tied V256000", "google/gemma-7b"),
    known(
        "Gemma2-9B",
        "L42 h3584 heads16 kv8 hd256 ffn14336 sandwich tied V256000 SWA4096 full_every2",
        "google/gemma-2-9b",
    ),
    known(
        "Gemma2-27B",
        "L46 h4608 heads32 kv16 hd128 ffn36864 sandwich tied V256000 SWA4096 full_every2",
        "google/gemma-2-27b",
    ),
    known("DeepSeek-67B", "L95 h8192 heads64 kv8 ffn22016 V102400", "deepseek-llm-67b-base"),
    known(
        "DeepSeek-V2",
        "L60(1 dense) h5120 MLA128 (q_lora1536 kv_lora512 qk128+64 v128) E160 top6 moe_ffn1536 \
         shared2 dense_ffn12288 V102400",
        "deepseek-ai/DeepSeek-V2",
    ),
    // MindSpeed-LLM's script for 40B has every size of Grok-1 but its 64 layers.
    known(
        "Grok1-8x5B",
        "L12 h6144 heads48 kv8 E8 top2 moe_ffn32768 V131072",
        "MindSpeed-LLM tests/pipeline/grok1; 12 layers as published beside the run",
    ),
    known("Grok-1", "L64 h6144 heads48 kv8 E8 top2 moe_ffn32768 V131072", "xai-org/grok-1"),
    known(
        "Moonlight-16B-A3B",
        "L27(1 dense) h2048 MLA16 (kv_lora512 qk128+64 v128) E64 top6 moe_ffn1408 shared2 \
         dense_ffn11264 V163840",
        "moonshotai/Moonlight-16B-A3B",
    ),
    known(
        "Moonlight",
        "L27(1 dense) h2048 MLA16 (kv_lora512 qk128+64 v128) E64 top6 moe_ffn1408 shared2 \
         dense_ffn11264 V163840",
        "moonshotai/Moonlight-16B-A3B",
    ),
    known(
        "DeepSeek-V3-16B",
        "L27(1 dense) h2048 MLA16 (kv_lora512 qk128+64 v128) E64 top6 moe_ffn1408 shared2 \
         dense_ffn10944 V102400",
        "torchtitan deepseek_v3 16B",
    ),
    known(
        "DeepSeek-MoE-16B",
        "L28(1 dense) h2048 heads16 E64 top6 moe_ffn1408 shared2 dense_ffn10944 V102400",
        "deepseek-ai/deepseek-moe-16b-base",
    ),
    known("Llama-2-34b", "L48 h8192 heads64 kv8 ffn22016 V32000", "arXiv 2307.09288"),
    known("Qwen-7B", "L32 h4096 heads32 ffn11008 qkv_bias V151936", "Qwen/Qwen-7B"),
    known("Qwen-14B", "L40 h5120 heads40 ffn13696 qkv_bias V152064", "Qwen/Qwen-14B"),
    known("Qwen-72B", "L80 h8192 heads64 ffn24576 qkv_bias V152064", "Qwen/Qwen-72B"),
    known("Qwen1.5-32B", "L64 h5120 heads40 kv8 ffn27392 qkv_bias V152064", "Qwen/Qwen1.5-32B"),
    known(
        "Qwen1.5-MoE-A2.7B",
        "L24 h2048 heads16 E60 top4 moe_ffn1408 shared5632 qkv_bias V151936",
        "Qwen/Qwen1.5-MoE-A2.7B",
    ),
    known("Qwen2.5-14B", "L48 h5120 heads40 kv8 ffn13824 qkv_bias V152064", "Qwen/Qwen2.5-14B"),
    known("Qwen2.5-3B", "L36 h2048 heads16 kv2 ffn11008 qkv_bias tied V151936", "Qwen/Qwen2.5-3B"),
    known(
        "Qwen2.5-1.5B",
        "L28 h1536 heads12 kv2 ffn8960 qkv_bias tied V151936",
        "Qwen/Qwen2.5-1.5B",
    ),
    known(
        "Qwen2.5-0.5B",
        "L24 h896 heads14 kv2 ffn4864 qkv_bias tied V151936",
        "Qwen/Qwen2.5-0.5B",
    ),
    known(
        "Qwen3-0.6B",
        "L28 h1024 heads16 kv8 hd128 ffn3072 qk_norm tied V151936",
        "Qwen/Qwen3-0.6B",
    ),
    known(
        "Phi-3.5-MoE",
        "L32 h4096 heads32 kv8 E16 top2 moe_ffn6400 qkv_bias V32064",
        "microsoft/Phi-3.5-MoE-instruct",
    ),
    known("Baichuan-13B", "L40 h5120 heads40 ffn13696 V64000", "baichuan-inc/Baichuan-13B-Base"),
    known("Yi-6B", "L32 h4096 heads32 kv4 ffn11008 V64000", "01-ai/Yi-6B"),
    known("MPT-7B", "MPT L32 h4096 heads32 ffn4h V50432", "mosaicml/mpt-7b"),
    known("MPT-30B", "MPT L48 h7168 heads64 ffn4h V50432", "mosaicml/mpt-30b"),
    known(
        "GPT-NeoX-20B",
        "L44 h6144 heads64 ffn4h untied V50432 parallel residual",
        "EleutherAI/gpt-neox-20b",
    ),
    known(
        "GPT-J-6B",
        "L28 h4096 heads16 ffn4h untied V50400 parallel residual",
        "EleutherAI/gpt-j-6b",
    ),
    known("TinyLlama-1.1B", "L22 h2048 heads32 kv4 ffn5632 V32000", "TinyLlama/TinyLlama-1.1B"),
    known("OLMo-7B", "L32 h4096 heads32 ffn11008 V50304", "allenai/OLMo-7B"),
    known("DeepSeek-7B", "L30 h4096 heads32 ffn11008 V102400", "deepseek-ai/deepseek-llm-7b-base"),
    known("TeleChat2-3B", "L24 h3072 heads24 ffn6144 V131072", "Tele-AI/TeleChat2-3B"),
    known("TeleChat2-7B", "L30 h4096 heads32 ffn12288 V131072", "Tele-AI/TeleChat2-7B"),
    known("TeleChat2-35B", "L64 h6144 heads48 ffn20480 V131072", "Tele-AI/TeleChat2-35B"),
    known(
        "TeleChat2-39B-A12B",
        "L30 h4096 heads32 E16 top4 moe_ffn6144 V131072",
        "Tele-AI/TeleChat2-39B-A12B; mindformers telechat2-39b-a12b yaml",
    ),
    // The model card gives all but the heads, here of 128.
    known("TeleChat3-36B", "L64 h6144 heads48 kv8 ffn24576 V131072", "Tele-AI/TeleChat3-36B"),
    known("LLaMA 70B", "L80 h8192 heads64 kv8 ffn28672 V32000", "meta-llama/Llama-2-70b-hf"),
    known("MiniCPM-2B", "L40 h2304 heads36 ffn5760 tied V122753", "openbmb/MiniCPM-2B-sft-bf16"),
    known(
        "MiniCPM-8x2B",
        "L40 h2304 heads36 E8 top2 moe_ffn5760 tied V122753",
        "openbmb/MiniCPM-MoE-8x2B",
    ),
    known("Bloom-7B1", "L30 h4096 heads32 ffn4h V250880", "bigscience/bloom-7b1"),
    known("Aquila-7B", "L32 h4096 heads32 ffn11008 V100008", "BAAI/Aquila-7B"),
    known("Aquila2-7B", "L32 h4096 heads32 ffn11008 V100008", "BAAI/Aquila2-7B"),
    known("Aquila2-34B", "L60 h6144 heads48 kv8 ffn24576 V100008", "BAAI/Aquila2-34B"),
    known("GPT-22B", "L48 h6144 heads64 ffn4h V51200", "arXiv 2205.05198, table 3"),
    known("GPT-175B", "L96 h12288 heads96 ffn4h V51200", "arXiv 2205.05198, table 3"),
    known("GPT-530B", "L105 h20480 heads128 ffn4h V51200", "arXiv 2205.05198, table 3"),
    known("GPT-1T", "L128 h25600 heads160 ffn4h V51200", "arXiv 2205.05198, table 3"),
    known(
        "PaLM-540B",
        "L118 h18432 heads48 kv1 hd256 ffn73728 gated tied V256000",
        "arXiv 2204.02311, table 1",
    ),
    known("GLM-130B", "L70 h12288 heads96 ffn32768 gated V150528", "arXiv 2210.02414, table 11"),
    known("Falcon-7B", "L32 h4544 heads71 kv1 ffn4h V65024 parallel block", "tiiuae/falcon-7b"),
    known("Falcon-40B", "L60 h8192 heads128 kv8 ffn4h V65024 parallel block", "tiiuae/falcon-40b"),
    known(
        "Skywork-MoE",
        "L52 h4608 heads36 E16 top2 moe_ffn12288 V65536",
        "Skywork/Skywork-MoE-Base",
    ),
    known("TeleChat2-115B", "L96 h8192 heads64 kv8 ffn40960 V131072", "Tele-AI/TeleChat2-115B"),
    known("GPT3-5B", "L24 h4096 heads32 ffn4h V51200", "NeMo-Framework-Launcher gpt3/5b.yaml"),
    known("GPT3-20B", "L44 h6144 heads48 ffn4h V51200", "NeMo-Framework-Launcher gpt3/20b.yaml"),
    known(
        "Nemotron4-15B",
        "L32 h6144 heads48 kv8 ffn24576 (non-gated) V256000",
        "arXiv 2402.16819, table 1",
    ),
    known(
        "Nemotron4-340B",
        "L96 h18432 heads96 kv8 ffn73728 (non-gated) V256000",
        "arXiv 2406.11704, table 1",
    ),
    known(
        "Nemotron-8B",
        "L32 h4096 heads32 ffn16384 (non-gated) V256000",
        "NeMo nemotron.py Nemotron3Config8B",
    ),
    known(
        "Nemotron-22B",
        "L40 h6144 heads48 ffn24576 (non-gated) V256000",
        "NeMo nemotron.py Nemotron3Config22B",
    ),
];

/// Models whose name alone says that no knob expresses them, and why.
pub(super) static REFUSED: &[(&str, &str)] = &[
    ("nemotron35", "a hybrid of Mamba and attention whose sizes aren't published"),
    ("deepseekv4", "compressed sparse attention"),
    ("llava", "a vision model"),
    ("t5", "an encoder"),
    ("bert", "an encoder"),
    ("vit", "a vision model"),
];
