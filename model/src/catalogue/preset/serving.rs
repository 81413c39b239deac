//! Published runs of serving: machine, layout and load are those of the source; what it leaves open
//! is named in the story.

use super::mixed::GPT_OSS_120B;
use super::models::{DEEPSEEK_V3_MODEL, KIMI_K2, LLAMA_3_70B, PANGU_PRO_MOE_72B, QWEN3_235B};
use super::{Preset, PresetKind};
use crate::ground::source::{AICONFIGURATOR, CLOUDMATRIX, LMSYS_EP, NIM, PANGU_PRO_MOE, Source};

/// A run of serving on top of a model.
const fn run(
    id: &'static str,
    title: &'static str,
    story: &'static str,
    base: &'static Preset,
    settings: &'static str,
    source: Source,
) -> Preset {
    let base = Some(base);
    Preset { id, title, story, kind: PresetKind::Serving, base, settings, source, refused: None }
}

#[rustfmt::skip]
static PANGU_PRO_PREFILL: Preset = run(
    "pangu-pro-moe-800i-a2-prefill", "Pangu Pro MoE on 2 Atlas 800I A2, prefill",
    "Published: 4,828 tokens/s a card for two prompts of 2,048",
    &PANGU_PRO_MOE_72B, "accelerator=ascend-910b3 num_devices=2 engine=mindie data_parallel_size=2 \
        moe_expert_parallel_size=2 moe_tensor_parallel_size=1 weight_dtype=int8 \
        input_length=2048 output_length=1 concurrency=2",
    PANGU_PRO_MOE,
);

#[rustfmt::skip]
static PANGU_PRO_BATCH_1: Preset = run(
    "pangu-pro-moe-800i-a2", "Pangu Pro MoE on 4 Atlas 800I A2, one request",
    "Published: 18.44 ms a token at 2,048 cached ones",
    &PANGU_PRO_MOE_72B,
    "accelerator=ascend-910b3 num_devices=4 engine=mindie tensor_parallel_size=2 \
        data_parallel_size=2 moe_expert_parallel_size=4 moe_tensor_parallel_size=1 \
        weight_dtype=int8 input_length=1792 output_length=512 prefix_cache_hit_rate=0.99 \
        concurrency=1",
    PANGU_PRO_MOE,
);

#[rustfmt::skip]
static PANGU_PRO_BATCH_456: Preset = run(
    "pangu-pro-moe-800i-a2-batch-456",
    "Pangu Pro MoE on 4 Atlas 800I A2, batch 456",
    "Published: 1,148 tokens/s a card at 99.3 ms; its cache fills all memory, so no reserve here",
    &PANGU_PRO_BATCH_1,
    "concurrency=456 hbm_usable_gib=64 gpu_memory_utilization=1 \
        max_num_batched_tokens=1024",
    PANGU_PRO_MOE,
);

#[rustfmt::skip]
static PANGU_PRO_SPECULATIVE: Preset = run(
    "pangu-pro-moe-800i-a2-speculative",
    "Pangu Pro MoE on 4 Atlas 800I A2, speculative",
    "Published: 1,528 tokens/s a card; one draft of DeepSeek's acceptance and an 8-bit cache ours",
    &PANGU_PRO_BATCH_456,
    "concurrency=584 max_num_seqs=512 num_speculative_tokens=1 kv_cache_dtype=int8",
    PANGU_PRO_MOE,
);

#[rustfmt::skip]
static PANGU_PRO_DUO: Preset = run(
    "pangu-pro-moe-300i-duo", "Pangu Pro MoE on 4 Atlas 300I Duo",
    "Published: 201 tokens/s a card at 99.5 ms a token, batch 80, decode alone; eight chips",
    &PANGU_PRO_MOE_72B,
    "accelerator=ascend-300i-duo num_devices=8 engine=mindie data_parallel_size=8 \
        moe_expert_parallel_size=8 moe_tensor_parallel_size=1 weight_dtype=int8 \
        input_length=1792 output_length=512 prefix_cache_hit_rate=0.99 concurrency=80",
    PANGU_PRO_MOE,
);

#[rustfmt::skip]
static PANGU_PRO_DUO_PREFILL: Preset = run(
    "pangu-pro-moe-300i-duo-prefill", "Pangu Pro MoE on 2 Atlas 300I Duo, prefill",
    "Published: 1,055 tokens/s a card for two prompts of 2,048; four chips",
    &PANGU_PRO_DUO,
    "num_devices=4 data_parallel_size=4 moe_expert_parallel_size=4 input_length=2048 \
        prefix_cache_hit_rate=0 output_length=1 concurrency=2",
    PANGU_PRO_MOE,
);

#[rustfmt::skip]
static DEEPSEEK_CLOUDMATRIX: Preset = run(
    "deepseek-r1-cloudmatrix384", "DeepSeek-R1 on CloudMatrix384",
    "Six pools of 16 NPUs prefill, one of 160 decodes with EP 320, two dies each; answers ours",
    &DEEPSEEK_V3_MODEL,
    "accelerator=ascend-910c num_devices=512 engine=mindie disaggregation=prefill_decode \
        prefill_devices=192 decode_devices=320 data_parallel_size=320 \
        moe_expert_parallel_size=320 moe_tensor_parallel_size=1 \
        prefill_data_parallel_size=32 prefill_moe_expert_parallel_size=32 \
        prefill_moe_tensor_parallel_size=1 redundant_experts=64 weight_dtype=int8 \
        num_speculative_tokens=1 acceptance_length=1.7 input_length=4096 output_length=1024 \
        concurrency=15360",
    CLOUDMATRIX,
);

#[rustfmt::skip]
static DEEPSEEK_96_H100: Preset = run(
    "deepseek-r1-96-h100", "DeepSeek-R1 on 96 H100",
    "SGLang on 12 nodes: decode with EP 72 as published, prefill on the three that are left",
    &DEEPSEEK_V3_MODEL,
    "accelerator=h100-sxm-80gb num_devices=96 engine=sglang disaggregation=prefill_decode \
        prefill_devices=24 decode_devices=72 data_parallel_size=72 \
        moe_expert_parallel_size=72 moe_tensor_parallel_size=1 prefill_data_parallel_size=24 \
        prefill_moe_expert_parallel_size=24 prefill_moe_tensor_parallel_size=1 \
        redundant_experts=32 weight_dtype=fp8 two_batch_overlap=true \
        max_num_batched_tokens=16384 input_length=2000 output_length=100 concurrency=18432",
    LMSYS_EP,
);

#[rustfmt::skip]
static QWEN3_8_H100: Preset = run(
    "qwen3-235b-8-h100", "Qwen3-235B-A22B on 8 H100",
    "FP8, TP 8 and EP 8, 128 requests of about 920 tokens in and 460 out",
    &QWEN3_235B,
    "accelerator=h100-sxm-80gb num_devices=8 engine=tensorrt_llm tensor_parallel_size=8 \
        moe_expert_parallel_size=8 moe_tensor_parallel_size=1 weight_dtype=fp8 \
        kv_cache_dtype=fp8 input_length=921 output_length=460 concurrency=128",
    AICONFIGURATOR,
);

#[rustfmt::skip]
static GPT_OSS_1_H100: Preset = run(
    "gpt-oss-120b-1-h100", "gpt-oss-120b on one H100",
    "MXFP4 experts, 16 requests of about 920 tokens in and out; the load is ours",
    &GPT_OSS_120B, "accelerator=h100-sxm-80gb num_devices=1 engine=vllm weight_dtype=mxfp4 \
        input_length=921 output_length=921 concurrency=16",
    AICONFIGURATOR,
);

#[rustfmt::skip]
static LLAMA_2_H100: Preset = run(
    "llama-3.3-70b-2-h100", "Llama 3.3 70B on 2 H100",
    "FP8, TP 2, 5,000 tokens in and 500 out; memory held 85 requests",
    &LLAMA_3_70B,
    "accelerator=h100-sxm-80gb num_devices=2 engine=tensorrt_llm tensor_parallel_size=2 \
        weight_dtype=fp8 kv_cache_dtype=fp8 input_length=5000 output_length=500 \
        concurrency=50",
    NIM,
);

#[rustfmt::skip]
static KIMI_128_H200: Preset = run(
    "kimi-k2-128-h200", "Kimi K2 on 128 H200",
    "SGLang, four nodes prefill and twelve decode with EP 96, as published; the load is ours",
    &KIMI_K2, "accelerator=h200-sxm-141gb num_devices=128 engine=sglang \
        disaggregation=prefill_decode prefill_devices=32 decode_devices=96 \
        data_parallel_size=96 moe_expert_parallel_size=96 moe_tensor_parallel_size=1 \
        prefill_data_parallel_size=32 prefill_moe_expert_parallel_size=32 \
        prefill_moe_tensor_parallel_size=1 weight_dtype=fp8 max_num_batched_tokens=16384 \
        input_length=2000 output_length=100 concurrency=12288",
    LMSYS_EP,
);

pub(super) static SERVED: &[&Preset] = &[
    &PANGU_PRO_BATCH_1,
    &PANGU_PRO_BATCH_456,
    &PANGU_PRO_SPECULATIVE,
    &PANGU_PRO_PREFILL,
    &PANGU_PRO_DUO,
    &PANGU_PRO_DUO_PREFILL,
    &DEEPSEEK_CLOUDMATRIX,
    &DEEPSEEK_96_H100,
    &QWEN3_8_H100,
    &GPT_OSS_1_H100,
    &LLAMA_2_H100,
    &KIMI_128_H200,
];
