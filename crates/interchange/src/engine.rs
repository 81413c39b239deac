//! Launch commands of inference engines: vLLM and vllm-ascend, SGLang, TensorRT-LLM, and the
//! configuration of `MindIE`.
//!
//! Sources: vLLM `vllm/engine/arg_utils.py`; SGLang `python/sglang/srt/server_args.py`;
//! TensorRT-LLM `tensorrt_llm/commands/serve.py` and `llmapi/llm_args.py`; `MindIE`'s service
//! developer guide, "config.json"; KTransformers' flags of SGLang, `doc/en/kt-kernel`. What
//! [`command()`] writes is read back here.

mod command;
mod manifest;
mod mindie;
mod python;
mod start;

pub use command::command;

use std::collections::BTreeMap;

use model::design::{Design, KnobId};

use crate::arguments::{Argument, of_words};
use crate::draft::Draft;
use crate::{beside, card, comment, launch, shell, tree, yaml};

/// Words by which a text is known to start each engine.
const MARKERS: [(&str, &[&str]); 5] = [
    ("sglang", &["sglang.launch_server", "sglang serve", "dynamo.sglang"]),
    ("tensorrt_llm", &["trtllm-serve", "dynamo.trtllm"]),
    ("vllm", &["vllm serve", "vllm.entrypoints", "dynamo.vllm"]),
    ("lmdeploy", &["lmdeploy serve"]),
    ("mindie", &["\"ModelDeployConfig\"", "\"maxPrefillTokens\"", "\"BackendConfig\""]),
];

/// The engine of a text.
pub(crate) fn engine(text: &str) -> Option<&'static str> {
    if let Some(manifest) = manifest::find(text) {
        return Some(manifest.engine);
    }
    let found = MARKERS.iter().find(|(_, words)| words.iter().any(|word| text.contains(word)));
    found
        .map(|(name, _)| *name)
        .or_else(|| start::of_words(text.split_whitespace()))
        .or_else(|| start::of_settings(text))
}

/// Arguments, by name, with their first word and line.
struct Given(BTreeMap<String, (String, u64)>);

impl Given {
    /// The first of several names that is given, with its value and line.
    fn first(&self, names: &[&str]) -> Option<(&str, u64, String)> {
        names.iter().find_map(|name| {
            let (value, line) = self.0.get(*name)?;
            Some((value.as_str(), *line, format!("--{name}")))
        })
    }

    fn number(&self, names: &[&str]) -> Option<u64> {
        self.first(names)?.0.parse().ok()
    }

    fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|(value, _)| !matches!(value.as_str(), "false" | "False"))
    }
}

/// Knobs that an argument's value is, by all its names.
const VALUES: [(&[&str], KnobId); 6] = [
    (&["pipeline-parallel-size", "pp-size", "pp"], KnobId::pipeline_parallel_size),
    (&["max-num-seqs", "max-batch-size"], KnobId::max_num_seqs),
    (
        &["max-num-batched-tokens", "chunked-prefill-size", "max-num-tokens", "max-prefill-tokens"],
        KnobId::max_num_batched_tokens,
    ),
    (
        &[
            "gpu-memory-utilization",
            "mem-fraction-static",
            "kv-cache-free-gpu-memory-fraction",
            "free-gpu-memory-fraction",
        ],
        KnobId::gpu_memory_utilization,
    ),
    (&["moe-tp", "moe-tensor-parallel-size"], KnobId::moe_tensor_parallel_size),
    (
        &[
            "num-speculative-tokens",
            "speculative-num-steps",
            "num-nextn-predict-layers",
            "max-draft-len",
        ],
        KnobId::num_speculative_tokens,
    ),
];

/// Arguments that are read together or say nothing of a step, by the reason.
const NOTHING: [(&str, &str); 3] = [
    (
        "how the server is reached, and what it logs",
        "host port served-model-name api-key log-level uvicorn-log-level disable-log-requests \
         disable-log-stats enable-metrics trust-remote-code download-dir tokenizer seed \
         chat-template tool-call-parser reasoning-parser enable-auto-tool-choice \
         skip-server-warmup \
         watchdog-timeout allowed-local-media-path node-rank nnodes dist-init-addr backend \
         headless data-parallel-address data-parallel-rpc-port data-parallel-start-rank",
    ),
    (
        "a kernel or a detail that isn't told apart",
        "dtype attention-backend moe-runner-backend enable-prefix-caching no-enable-prefix-caching \
         disable-radix-cache page-size block-size swap-space cuda-graph-max-bs compilation-config \
         speculative-eagle-topk speculative-num-draft-tokens speculative-algorithm decoding-type \
         moe-a2a-backend deepep-mode schedule-conservativeness enable-mixed-chunk \
         distributed-executor-backend additional-config async-scheduling disable-custom-all-reduce \
         moe-dense-tp-size enable-dp-lm-head enable-eplb eplb-config load-format \
         kv-transfer-config \
         extra-llm-api-options config config-file extra-engine-args cache-max-entry-count \
         quant-policy print-iter-log stream-interval disable-overlap-scheduler \
         data-parallel-size-local api-server-count method npu-mem-size world-size kt-weight-path \
         kt-method \
         kt-cpuinfer kt-threadpool-count kt-max-deferred-experts-per-token \
         kt-gpu-prefill-token-threshold kt-enable-dynamic-expert-update \
         dbo-decode-token-threshold dbo-prefill-token-threshold all2all-backend",
    ),
    (
        "which model, and what it is called",
        "model model-path model-id model-tag tokenizer-mode revision model-name",
    ),
];

/// Models whose weights are published in fewer bits, as `quantization_config` of their
/// `config.json` says.
const PUBLISHED: [(&[&str], &str); 2] = [
    (
        &[
            "deepseek-v3",
            "deepseek-r1",
            "deepseek-v3.1",
            "deepseek-v3.2",
            "deepseek-v4-flash",
            "deepseek-v4-pro",
            "kimi-k2",
            "minimax-m2",
            "minimax-m2.5",
            "mimo-v2-flash",
        ],
        "fp8",
    ),
    (&["gpt-oss-20b", "gpt-oss-120b"], "mxfp4"),
];

/// Reads a text of an engine into the draft.
pub(crate) fn read(text: &str, base: Option<&Design>, draft: &mut Draft) {
    let manifest = manifest::find(text);
    let engine = manifest.as_ref().map(|it| it.engine).or_else(|| engine(text)).unwrap_or("vllm");
    if let Some(base) = base {
        draft.design = base.clone();
    }
    let hints = ["ASCEND", "ascend", "vllm_ascend", "npu"];
    // What a design says of itself is no hint.
    let mut own = text.lines().filter(|line| !card::is_own(line));
    let on_ascend = own.any(|line| hints.iter().any(|word| line.contains(word)));
    let name = if engine == "vllm" && on_ascend { "vllm_ascend" } else { engine };
    if engine == "lmdeploy" {
        let purpose = "the text starts LMDeploy, which isn't modelled";
        draft.default(KnobId::engine, "vllm");
        draft.ask_knob(KnobId::engine, 0, purpose, "what a step of the engine costs");
    } else {
        draft.set(KnobId::engine, name, engine, 0);
    }
    let (arguments, positional) = match &manifest {
        Some(manifest) => of_manifest(manifest, draft),
        None if engine == "mindie" => (mindie::arguments(text), None),
        None if is_settings(text) => (yaml::arguments(text, draft), None),
        None => of_command(text, engine, draft),
    };
    if arguments.is_empty() && positional.is_none() {
        return draft.fault(0, "", "no command in the text starts an engine");
    }
    let mut given = Given(BTreeMap::new());
    for Argument { name, values, line } in arguments {
        let (section, last) = name.rsplit_once('.').unwrap_or(("", &name));
        // Other sections than these have their own sizes of batches.
        if !matches!(section, "" | "kv-cache-config" | "speculative-config") {
            draft.ignore(&name, line, "a detail of the engine that isn't told apart");
            continue;
        }
        let name = last.to_owned();
        let first = values.into_iter().next().unwrap_or_else(|| "true".to_owned());
        given.0.insert(name, (first, line));
    }
    shape(&given, positional, base, draft);
    layout(&given, engine, draft);
    for (names, knob) in VALUES {
        value(&given, names, knob, engine, draft);
    }
    details(&given, engine, draft);
    lengths(&given, draft);
    devices(base, text, draft);
    if let Some(manifest) = manifest.filter(|_| base.is_none()) {
        instances(&manifest, draft);
    }
    comment::read(text, draft);
    // Counted of those that are kept, which a comment may say.
    host(&given, draft);
    rest(&given, draft);
}

/// Whether a text is a file of an engine's settings.
fn is_settings(text: &str) -> bool {
    let has_command = MARKERS.iter().any(|(_, words)| words.iter().any(|word| text.contains(word)));
    !has_command && start::of_settings(text).is_some()
}

type Started = (Vec<Argument>, Option<(String, u64)>);

/// Arguments with which a manifest's container starts its engine.
fn of_manifest(manifest: &manifest::Manifest, draft: &mut Draft) -> Started {
    let (mut arguments, positional) = of_command(&manifest.script, manifest.engine, draft);
    let line = manifest.line;
    arguments.iter_mut().for_each(|argument| argument.line = line);
    if manifest.others > 0 {
        let reason =
            format!("{} more start an engine: the longest command counts", manifest.others);
        draft.ignore("containers", line, reason);
    }
    (arguments, positional.map(|(word, _)| (word, line)))
}

/// Copies of an instance, by the devices that its containers ask for.
fn instances(manifest: &manifest::Manifest, draft: &mut Draft) {
    let own = draft.design.cluster.num_devices;
    let asked = manifest.devices.map(|each| each.saturating_mul(manifest.pods));
    let each = asked.unwrap_or(own).max(own);
    let world = each.saturating_mul(manifest.replicas);
    if world == own || world > 1_048_576 {
        return;
    }
    draft.set(KnobId::num_devices, &world.to_string(), "replicas x devices", manifest.line);
}

/// Arguments that name a file of further ones, which those of the command win over.
const FILES: [&str; 4] = ["config", "extra-llm-api-options", "config-file", "extra-engine-args"];

/// The arguments of the command that starts an engine, and its word without a name.
fn of_command(text: &str, engine: &str, draft: &mut Draft) -> Started {
    let words = shell::command(text, draft, &|line| start::starts(line, engine));
    let words: Vec<(String, u64)> =
        words.into_iter().map(|(word, line)| (long(&word), line)).collect();
    let begins = start::begins(&words);
    let own = begins.and_then(|place| words.get(place + 1..)).unwrap_or(&words);
    let positional = own.first().filter(|_| begins.is_some());
    let positional = positional.filter(|(word, _)| !word.starts_with('-')).cloned();
    let own = of_words(own);
    let mut arguments = vec![];
    for argument in own.iter().filter(|argument| FILES.contains(&argument.name.as_str())) {
        for file in argument.values.iter().take(1) {
            let read = beside::of_path(file, draft);
            if read.is_empty() && here_documents(text).is_empty() {
                let key = format!("--{}", argument.name);
                draft.ignore(&key, argument.line, "the file isn't there: what it sets isn't known");
            }
            arguments.extend(read);
        }
    }
    arguments.extend(own);
    for body in here_documents(text) {
        if let Ok(read) = yaml::read(&body) {
            arguments.extend(tree::arguments(&read, draft));
        }
    }
    (arguments, positional)
}

/// A short name of vLLM's written out: `-tp 8`, `-tp=8`.
fn long(word: &str) -> String {
    let (name, value) = word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v)));
    let name = match name {
        "-tp" => "--tensor-parallel-size",
        "-pp" => "--pipeline-parallel-size",
        "-dp" => "--data-parallel-size",
        "-ep" => "--enable-expert-parallel",
        "-q" => "--quantization",
        _ => return word.to_owned(),
    };
    value.map_or_else(|| name.to_owned(), |value| format!("{name}={value}"))
}

/// Bodies of here-documents, the lines between `<<END` and `END`.
fn here_documents(text: &str) -> Vec<String> {
    let mut found = vec![];
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match open.as_mut() {
            Some((end, body)) if line.trim() == end => {
                found.push(std::mem::take(body));
                open = None;
            }
            Some((_, body)) => {
                body.push_str(line);
                body.push('\n');
            }
            None => {
                let end = line.split_once("<<").map(|(_, end)| {
                    end.trim_start_matches('-').trim().trim_matches(['\'', '"']).to_owned()
                });
                open = end.filter(|end| !end.is_empty()).map(|end| (end, String::new()));
            }
        }
    }
    found
}

/// The model's shape, by its name; a base has one of its own.
fn shape(
    given: &Given,
    positional: Option<(String, u64)>,
    base: Option<&Design>,
    draft: &mut Draft,
) {
    let named = given.first(&["model", "model-path", "model-id", "model-tag", "model-name"]);
    let named = named.map(|(value, line, _)| (value.to_owned(), line)).or(positional);
    let answer = draft.answers.model.clone().map(|name| (name, 0));
    let Some((name, line)) = answer.or(named) else {
        return ask_model(None, "the text names no model".to_owned(), 0, base, draft);
    };
    match launch::known_as(&name) {
        Some((known, doubt)) => {
            draft.design.transformer = known.transformer();
            draft.model = Some(known);
            draft.assume(None, format!("`{name}` is {}, as in {}", known.name, known.source));
            if let Some(doubt) = doubt {
                launch::ask_for(&name, &known, &doubt, line, draft);
            }
            if name.to_lowercase().contains("fp8") {
                draft.set(KnobId::weight_dtype, "fp8", &name, line);
            } else if let Some((_, dtype)) =
                PUBLISHED.iter().find(|row| row.0.contains(&known.name))
            {
                let engine = draft.design.get(KnobId::engine).to_string();
                let on_ascend = matches!(engine.as_str(), "vllm_ascend" | "mindie");
                // Ascend computes no 8-bit floating point: its builds of such weights are W8A8.
                let own = if on_ascend && *dtype == "fp8" { "int8" } else { *dtype };
                draft.default(KnobId::weight_dtype, own);
                let detail = format!("{} is published in {dtype}: {own}", known.name);
                draft.assume(Some(KnobId::weight_dtype), detail);
            }
        }
        None => {
            ask_model(Some(&name), format!("the shape of `{name}` isn't known"), line, base, draft);
        }
    }
}

fn ask_model(
    name: Option<&str>,
    purpose: String,
    line: u64,
    base: Option<&Design>,
    draft: &mut Draft,
) {
    match base {
        Some(_) => draft.assume(None, format!("{purpose}: that of the preset")),
        None => launch::ask_which(name, purpose, line, draft),
    }
}

/// Tensor, data and expert parallelism, which each engine counts in its own way.
fn layout(given: &Given, engine: &str, draft: &mut Draft) {
    let tensor_names = ["tensor-parallel-size", "tp-size", "tp", "tensor-parallel"];
    let data_names = ["data-parallel-size", "dp-size", "dp"];
    let data = given.number(&data_names).unwrap_or(1).max(1);
    // MindIE counts the devices, of which the rest is tensor parallelism.
    let world = given.number(&["world-size"]).filter(|_| engine == "mindie");
    let untold = world.map_or(1, |world| (world / data).max(1));
    let ranks = given.number(&tensor_names).unwrap_or(untold);
    let line =
        |names: &[&str]| given.first(names).map_or((0, String::new()), |(_, l, key)| (l, key));
    let (tensor_line, tensor_key) = line(&tensor_names);
    let (data_line, data_key) = line(&data_names);
    let (tensor, data) = match engine {
        // SGLang counts attention groups inside of its degree of tensor parallelism.
        "sglang" if given.has("enable-dp-attention") => ((ranks / data).max(1), data),
        "sglang" if data > 1 => {
            let reason = "copies of the whole, which share no experts: one of them is read";
            draft.ignore(&data_key, data_line, reason);
            (ranks, 1)
        }
        "tensorrt_llm" if given.has("enable-attention-dp") => (1, ranks),
        _ => (ranks, data),
    };
    let key = if tensor_key.is_empty() { "--tensor-parallel-size" } else { &tensor_key };
    draft.set(KnobId::tensor_parallel_size, &tensor.to_string(), key, tensor_line);
    let key = if data > 1 && data_key.is_empty() { key } else { &data_key };
    if data > 1 {
        draft.set(KnobId::data_parallel_size, &data.to_string(), key, data_line.max(tensor_line));
    }
    let names = ["ep-size", "ep", "moe-ep", "expert-parallel-size", "moe-expert-parallel-size"];
    let experts = given.first(&names);
    let all = tensor.saturating_mul(data);
    let (expert, key, line) = match experts {
        Some((value, line, key)) => (value.to_owned(), key, line),
        None if given.has("enable-expert-parallel") => {
            let line = given.first(&["enable-expert-parallel"]).map_or(0, |it| it.1);
            (all.to_string(), "--enable-expert-parallel".to_owned(), line)
        }
        None => return,
    };
    draft.set(KnobId::moe_expert_parallel_size, &expert, &key, line);
}

fn value(given: &Given, names: &[&str], knob: KnobId, engine: &str, draft: &mut Draft) {
    let Some((value, _, key)) = given.first(names) else { return };
    if value == "-1" && names.len() > 1 && engine == "sglang" {
        // Whole prompts have a budget of their own.
        let others: Vec<&str> = names.iter().copied().filter(|name| !key.ends_with(name)).collect();
        value_of(given, &others, knob, engine, draft);
    }
    value_of(given, &[key.trim_start_matches('-')], knob, engine, draft);
}

fn value_of(given: &Given, names: &[&str], knob: KnobId, engine: &str, draft: &mut Draft) {
    let Some((value, line, key)) = given.first(names) else { return };
    if value.contains('$') {
        return draft.ask_knob(knob, line, &format!("{key} is `{value}`"), knob.knob().label);
    }
    if value == "-1" {
        if knob == KnobId::max_num_batched_tokens && engine == "sglang" {
            draft.set(KnobId::enable_chunked_prefill, "false", &key, line);
        }
        return draft.ignore(&key, line, "-1 leaves it to the engine");
    }
    draft.set(knob, value, &key, line);
}

/// Requests of SGLang, formats, graphs and what overlaps.
fn details(given: &Given, engine: &str, draft: &mut Draft) {
    if let Some(requests) = given.number(&["max-running-requests"]) {
        let groups = draft.design.serving.data_parallel_size.max(1);
        let line = given.first(&["max-running-requests"]).map_or(0, |it| it.1);
        let each = (requests / groups).max(1).to_string();
        draft.set(KnobId::max_num_seqs, &each, "--max-running-requests", line);
    }
    if let Some((value, line, key)) = given.first(&["quantization", "weights"]) {
        let ours = match value.to_lowercase().as_str() {
            "fp8" | "w8a8_fp8" | "modelopt" | "block_fp8" => "fp8",
            "ascend" | "w8a8" | "w8a8_int8" | "int8" => "int8",
            "awq" | "gptq" | "awq_marlin" | "gptq_marlin" | "w4a16" | "int4" | "w4a8" => "int4",
            "mxfp4" => "mxfp4",
            "modelopt_fp4" | "nvfp4" => "nvfp4",
            _ => "",
        };
        if ours.is_empty() {
            draft.ask_knob(KnobId::weight_dtype, line, &format!("{key} {value}"), "weights' bytes");
        } else {
            draft.set(KnobId::weight_dtype, ours, &key, line);
        }
    }
    let caches =
        ["kv-cache-dtype", if engine == "tensorrt_llm" { "dtype" } else { "kv-cache-dtype" }];
    if let Some((value, line, key)) = given.first(&caches) {
        let ours = if value.starts_with("fp8") { "fp8" } else { "bf16" };
        draft.set(KnobId::kv_cache_dtype, ours, &key, line);
    }
    if let Some((value, line, key)) = given.first(&["speculative-config"]) {
        let behind = value.split_once("num_speculative_tokens").map_or("", |(_, rest)| rest);
        let digits: String = behind
            .chars()
            .skip_while(|c| !c.is_ascii_digit())
            .take_while(char::is_ascii_digit)
            .collect();
        if !digits.is_empty() {
            draft.set(KnobId::num_speculative_tokens, &digits, &key, line);
        }
    }
    for (name, knob, value) in [
        ("enforce-eager", KnobId::graph_mode, "none"),
        ("disable-cuda-graph", KnobId::graph_mode, "none"),
        ("enable-two-batch-overlap", KnobId::two_batch_overlap, "true"),
        ("enable-dbo", KnobId::two_batch_overlap, "true"),
        ("enable-chunked-prefill", KnobId::enable_chunked_prefill, "true"),
        ("no-enable-chunked-prefill", KnobId::enable_chunked_prefill, "false"),
    ] {
        if given.has(name) {
            let line = given.first(&[name]).map_or(0, |it| it.1);
            draft.set(knob, value, &format!("--{name}"), line);
        }
    }
}

/// Experts on the host, which KTransformers counts by those that stay.
fn host(given: &Given, draft: &mut Draft) {
    let name = "kt-num-gpu-experts";
    let Some(on_device) = given.number(&[name]) else { return };
    let design = &draft.design;
    let Some(kept) = design.serving.experts_kept.or(design.transformer.num_moe_experts) else {
        return;
    };
    let line = given.first(&[name]).map_or(0, |it| it.1);
    let others = kept.saturating_sub(on_device).to_string();
    draft.set(KnobId::experts_on_host, &others, &format!("--{name}"), line);
}

/// Sets and asks for the lengths of requests: an engine is given only their maximum.
fn lengths(given: &Given, draft: &mut Draft) {
    let names = ["max-model-len", "context-length", "max-seq-len", "session-len"];
    let inputs = given.number(&["max-input-token-len", "max-input-len"]);
    let Some(most) = given.number(&names) else { return };
    let line = given.first(&names).map_or(0, |it| it.1);
    let serving = &draft.design.serving;
    let (mut input, mut output) = (serving.input_length, serving.output_length);
    if let Some(given) = inputs.filter(|given| *given < most) {
        (input, output) = (given, most - given);
    } else if input.saturating_add(output) > most {
        input = (most / 2).max(1);
        output = most.saturating_sub(input).max(1);
    }
    draft.default(KnobId::input_length, &input.to_string());
    draft.default(KnobId::output_length, &output.to_string());
    let purpose = format!("requests have at most {most} tokens; how long they are isn't said");
    draft.ask_knob(KnobId::input_length, line, &purpose, "prefill, and the cache's size");
    draft.ask_knob(KnobId::output_length, line, &purpose, "decode, and the cache's size");
}

/// As many devices as one instance has, where no base says more.
fn devices(base: Option<&Design>, text: &str, draft: &mut Draft) {
    let serving = &draft.design.serving;
    let one = serving
        .tensor_parallel_size
        .saturating_mul(serving.pipeline_parallel_size)
        .saturating_mul(serving.data_parallel_size);
    if base.is_some_and(|base| base.cluster.num_devices.is_multiple_of(one.max(1))) {
        return;
    }
    draft.default(KnobId::num_devices, &one.to_string());
    let detail = format!("one instance: {one} devices");
    draft.assume(Some(KnobId::num_devices), detail);
    if base.is_none() {
        draft.card = card::named(text);
        let on_ascend = matches!(
            draft.design.get(KnobId::engine).to_string().as_str(),
            "vllm_ascend" | "mindie"
        );
        let usual = if on_ascend { "ascend-910c" } else { "h100-sxm-80gb" };
        launch::accelerator(usual, draft);
    }
}

/// Says of every other argument why it changes nothing, or that it isn't known.
fn rest(given: &Given, draft: &mut Draft) {
    for (name, (_, line)) in &given.0 {
        let key = format!("--{name}");
        if draft.mentions(&key) {
            continue;
        }
        let reason = NOTHING.iter().find(|(_, names)| names.split_whitespace().any(|n| n == name));
        match reason {
            Some((reason, _)) => draft.ignore(&key, *line, *reason),
            None if READ.contains(&name.as_str()) => draft.ignore(&key, *line, "read"),
            None => draft.unknown(&key, *line, None),
        }
    }
}

/// Arguments that are read, and may have set nothing.
const READ: [&str; 15] = [
    "session-len",
    "enable-dp-attention",
    "enable-attention-dp",
    "max-model-len",
    "context-length",
    "max-seq-len",
    "max-input-token-len",
    "max-input-len",
    "tensor-parallel-size",
    "data-parallel-size",
    "dp",
    "dp-size",
    "speculative-config",
    "enable-expert-parallel",
    "max-running-requests",
];
