//! The command that starts an engine with a design's layout, which [`super::read`] reads back.

use model::design::{Design, KnobId};
use model::ground::choice::{Choice, Engine, GraphMode, KvDtype, WeightDtype};
use model::serving::ServingPlan;

use crate::comment;

/// The command; `MODEL` stands for the name of the weights, which a design doesn't know. Experts
/// that are kept or wait on the host stand in comments where the engine has no flag for them.
#[must_use]
pub fn command(plan: &ServingPlan) -> String {
    let design = plan.design();
    let command = match design.serving.engine {
        Engine::Vllm | Engine::VllmAscend | Engine::Ideal => vllm(plan),
        Engine::Sglang => sglang(plan),
        Engine::TensorrtLlm => tensorrt(plan),
        Engine::Mindie => mindie(plan),
    };
    let mut lines = vec![command];
    for (knob, why) in EXPERTS {
        let value = design.get(knob).to_string();
        let has_flag = knob == KnobId::experts_on_host && design.serving.engine == Engine::Sglang;
        if !matches!(value.as_str(), "none" | "0") && !has_flag {
            lines.push(format!("# {why}"));
            lines.push(format!("# {} {}={value}", comment::MARK, knob.id()));
        }
    }
    lines.join("\n")
}

/// Knobs that prune experts or move them to the host, with the comment for engines without a flag.
const EXPERTS: [(KnobId, &str); 3] = [
    (KnobId::experts_kept, "No flag prunes experts: MODEL has those alone that are kept."),
    (KnobId::experts_kept_topk, "num_experts_per_tok of the config.json of MODEL:"),
    (KnobId::experts_on_host, "No flag of this engine leaves experts on the host:"),
];

fn joined(parts: &[String]) -> String {
    parts.join(" \\\n  ")
}

/// Tokens of a request, at most.
fn length(design: &Design) -> u64 {
    design.serving.input_length + design.serving.output_length
}

/// Experts of a layer on the device, where others wait on the host.
fn on_device(design: &Design) -> Option<u64> {
    let serving = &design.serving;
    let kept = serving.experts_kept.or(design.transformer.num_moe_experts)?;
    (serving.experts_on_host > 0).then(|| kept.saturating_sub(serving.experts_on_host))
}

fn vllm(plan: &ServingPlan) -> String {
    let (design, layout) = (plan.design(), plan.layout());
    let serving = &design.serving;
    let mut parts =
        vec!["vllm serve MODEL".to_owned(), format!("--tensor-parallel-size {}", layout.tensor)];
    if layout.pipeline > 1 {
        parts.push(format!("--pipeline-parallel-size {}", layout.pipeline));
    }
    if layout.data > 1 {
        parts.push(format!("--data-parallel-size {}", layout.data));
    }
    if layout.expert > 1 {
        parts.push("--enable-expert-parallel".to_owned());
    }
    parts.push(format!("--max-num-seqs {}", serving.max_num_seqs));
    parts.push(format!("--max-num-batched-tokens {}", serving.max_num_batched_tokens));
    parts.push(format!("--max-model-len {}", length(design)));
    parts.push(format!("--gpu-memory-utilization {}", serving.gpu_memory_utilization));
    match serving.weight_dtype {
        WeightDtype::Fp8 => parts.push("--quantization fp8".to_owned()),
        WeightDtype::Int8 if serving.engine == Engine::VllmAscend => {
            parts.push("--quantization ascend".to_owned());
        }
        // Read from the weights' own configuration.
        WeightDtype::Bf16
        | WeightDtype::Fp16
        | WeightDtype::Int8
        | WeightDtype::Int4
        | WeightDtype::Mxfp4
        | WeightDtype::Nvfp4 => {}
    }
    if serving.kv_cache_dtype == KvDtype::Fp8 {
        parts.push("--kv-cache-dtype fp8".to_owned());
    }
    if serving.num_speculative_tokens > 0 {
        parts.push(format!(
            "--speculative-config '{{\"method\": \"mtp\", \"num_speculative_tokens\": {}}}'",
            serving.num_speculative_tokens
        ));
    }
    if serving.graph_mode == GraphMode::None {
        parts.push("--enforce-eager".to_owned());
    }
    if !serving.enable_chunked_prefill {
        parts.push("--no-enable-chunked-prefill".to_owned());
    }
    if serving.two_batch_overlap {
        parts.push("--enable-dbo".to_owned());
    }
    joined(&parts)
}

fn sglang(plan: &ServingPlan) -> String {
    let (design, layout) = (plan.design(), plan.layout());
    let serving = &design.serving;
    // SGLang counts attention groups inside of its degree of tensor parallelism.
    let ranks = layout.tensor * layout.data;
    let mut parts = vec![
        "python -m sglang.launch_server --model-path MODEL".to_owned(),
        format!("--tp-size {ranks}"),
    ];
    if layout.pipeline > 1 {
        parts.push(format!("--pp-size {}", layout.pipeline));
    }
    if layout.data > 1 {
        parts.push(format!("--dp-size {} --enable-dp-attention", layout.data));
    }
    if layout.expert > 1 {
        parts.push(format!("--ep-size {}", layout.expert));
    }
    parts.push(format!("--max-running-requests {}", serving.max_num_seqs * layout.data));
    let budget = serving.max_num_batched_tokens;
    parts.push(if serving.enable_chunked_prefill {
        format!("--chunked-prefill-size {budget}")
    } else {
        format!("--chunked-prefill-size -1 --max-prefill-tokens {budget}")
    });
    parts.push(format!("--context-length {}", length(design)));
    parts.push(format!("--mem-fraction-static {}", serving.gpu_memory_utilization));
    if serving.kv_cache_dtype == KvDtype::Fp8 {
        parts.push("--kv-cache-dtype fp8_e4m3".to_owned());
    }
    if serving.two_batch_overlap {
        parts.push("--enable-two-batch-overlap".to_owned());
    }
    if serving.graph_mode == GraphMode::None {
        parts.push("--disable-cuda-graph".to_owned());
    }
    if let Some(on_device) = on_device(design) {
        // KTransformers' kernels in SGLang compute the others on the host.
        parts.push(format!("--kt-weight-path MODEL --kt-num-gpu-experts {on_device}"));
    }
    if serving.num_speculative_tokens > 0 {
        parts.push(format!(
            "--speculative-algorithm EAGLE --speculative-num-steps {0} \
             --speculative-eagle-topk 1 --speculative-num-draft-tokens {1}",
            serving.num_speculative_tokens,
            serving.num_speculative_tokens + 1
        ));
    }
    joined(&parts)
}

fn tensorrt(plan: &ServingPlan) -> String {
    let (design, layout) = (plan.design(), plan.layout());
    let serving = &design.serving;
    let ranks = layout.tensor * layout.data;
    let mut parts = vec!["trtllm-serve MODEL".to_owned(), format!("--tp_size {ranks}")];
    if layout.pipeline > 1 {
        parts.push(format!("--pp_size {}", layout.pipeline));
    }
    if layout.expert > 1 {
        parts.push(format!("--ep_size {}", layout.expert));
    }
    parts.push(format!("--max_batch_size {}", serving.max_num_seqs));
    parts.push(format!("--max_num_tokens {}", serving.max_num_batched_tokens));
    parts.push(format!("--max_seq_len {}", length(design)));
    parts.push(format!("--kv_cache_free_gpu_memory_fraction {}", serving.gpu_memory_utilization));
    let mut options = Vec::new();
    if layout.data > 1 {
        options.push("enable_attention_dp: true".to_owned());
    }
    if serving.kv_cache_dtype == KvDtype::Fp8 {
        options.push("kv_cache_config:\n  dtype: fp8".to_owned());
    }
    if serving.num_speculative_tokens > 0 {
        options.push(format!(
            "speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: {}",
            serving.num_speculative_tokens
        ));
    }
    if options.is_empty() {
        return joined(&parts);
    }
    parts.push("--extra_llm_api_options options.yaml".to_owned());
    format!("cat > options.yaml <<'END'\n{}\nEND\n{}", options.join("\n"), joined(&parts))
}

/// `MindIE`'s service reads its layout from a file.
fn mindie(plan: &ServingPlan) -> String {
    let (design, layout) = (plan.design(), plan.layout());
    let serving = &design.serving;
    let weights = serving.weight_dtype.name();
    format!(
        "# conf/config.json, BackendConfig.ModelDeployConfig; weights in {weights}\n\
         \"maxSeqLen\": {},\n\"maxInputTokenLen\": {},\n\"ModelConfig\": [{{\n  \
         \"worldSize\": {},\n  \"tp\": {}, \"dp\": {}, \"moe_tp\": {}, \"moe_ep\": {},\n  \
         \"npuMemSize\": -1\n}}]\n\
         # ScheduleConfig\n\"maxBatchSize\": {},\n\"maxPrefillTokens\": {}",
        length(design),
        serving.input_length,
        layout.devices(),
        layout.tensor,
        layout.data,
        layout.expert_tensor,
        layout.expert,
        serving.max_num_seqs,
        serving.max_num_batched_tokens,
    )
}
