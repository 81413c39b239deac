//! Parallelism, schedule, precision, memory and batch.

use model::design::KnobId;
use model::ground::choice::{
    ContextParallelAlgo, Framework, Method, RecomputeMethod, ShardingStrategy,
};

use super::parts::Parts;
use crate::draft::Draft;
use crate::{Format, dialects};

pub(super) fn read(parts: &Parts, draft: &mut Draft) {
    // Behind a tower of images, whose sequence is the other one.
    if let Some(text) = parts.text("decoder-seq-length") {
        parts.set(KnobId::seq_length, text, "decoder-seq-length", draft);
    }
    experts(parts, draft);
    sequence(draft);
    sharding(parts, draft);
    let parallel = &draft.design.parallel;
    if parallel.context_parallel_size == 1
        && parallel.context_parallel_algo != ContextParallelAlgo::P2p
    {
        draft.withdraw(KnobId::context_parallel_algo, "p2p", "context parallelism is off");
    }
    overlap(parts, draft);
    let shared = draft.design.transformer.moe_shared_expert_intermediate_size;
    if draft.design.schedule.moe_shared_expert_overlap && shared.is_none() {
        let reason = "the model has no shared expert: it changes nothing";
        draft.withdraw(KnobId::moe_shared_expert_overlap, "false", reason);
    }
    precision(parts, draft);
    recomputation(parts, draft);
    swapping(parts, draft);
    loss(parts, draft);
    if parts
        .first_of(&["enable-expert-placement", "enable-fine-grained-expert-placement"])
        .is_some()
    {
        parts.set(KnobId::planner, "ema", "enable-expert-placement", draft);
    }
}

/// EP and ETP. MindSpeed's TP-extend-EP spreads experts over the TP ranks, too.
fn experts(parts: &Parts, draft: &mut Draft) {
    let name = "expert-model-parallel-size";
    let ep = parts.number(name, draft).unwrap_or(1);
    let tp = draft.design.parallel.tensor_model_parallel_size;
    let has_experts = draft.design.transformer.has_experts();
    let extends = parts.has("moe-tp-extend-ep");
    if extends && has_experts {
        let key = "--expert-model-parallel-size x --moe-tp-extend-ep";
        let ranks = ep.saturating_mul(tp).to_string();
        let line = parts.line(name).max(parts.line("moe-tp-extend-ep"));
        return draft.set(KnobId::expert_model_parallel_size, &ranks, key, line);
    }
    if parts.has(name) {
        parts.set(KnobId::expert_model_parallel_size, &ep.to_string(), name, draft);
    }
    let split = "expert-tensor-parallel-size";
    if let Some(etp) = parts.number(split, draft) {
        parts.set(KnobId::expert_tensor_parallel_size, &etp.to_string(), split, draft);
    } else if has_experts && tp > 1 && draft.title.is_some_and(dialects::is_fsdp) {
        experts_of_fsdp(ep, tp, draft);
    } else if has_experts && tp > 1 && draft.model.is_some() {
        // Of a run whose model is in another file the arguments may be there, too.
        let guess = if ep > 1 { 1 } else { tp };
        draft.default(KnobId::expert_tensor_parallel_size, &guess.to_string());
        let purpose = "the text doesn't say whether TP splits experts, too";
        let follows = "the experts' memory and exchanges";
        draft.ask_knob(KnobId::expert_tensor_parallel_size, 0, purpose, follows);
    } else if has_experts && tp > 1 {
        draft.default(KnobId::expert_tensor_parallel_size, &tp.to_string());
        let detail = format!("no --expert-tensor-parallel-size: TP splits each expert, too, {tp}");
        draft.assume(Some(KnobId::expert_tensor_parallel_size), detail);
    }
}

/// Source: torchtitan, `apply_moe_ep_tp` of `models/llama4/infra/parallelize.py` in earlier
/// versions: without EP the plan of the experts is `TensorParallel`, with it `ExpertParallel`.
fn experts_of_fsdp(ep: u64, tp: u64, draft: &mut Draft) {
    let knob = KnobId::expert_tensor_parallel_size;
    let split = if ep > 1 { 1 } else { tp };
    draft.default(knob, &split.to_string());
    let how =
        if ep > 1 { "EP shares experts out whole" } else { "without EP, TP splits each expert" };
    draft.assume(Some(knob), format!("{how}: ETP {split}, as without being told"));
}

/// Megatron turns sequence parallelism off where TP is 1. Of a run whose model is in another file
/// the arguments may be there, too: experts with TP have it on.
fn sequence(draft: &mut Draft) {
    let knob = KnobId::sequence_parallel;
    let tp = draft.design.parallel.tensor_model_parallel_size;
    let is_on = draft.design.parallel.sequence_parallel;
    if is_on && tp == 1 {
        draft.withdraw(knob, "false", "TP is 1: Megatron turns it off, with a warning");
    } else if !is_on && tp > 1 && draft.model.is_some() && !draft.is_set(knob) {
        draft.default(knob, "true");
        draft.assume(Some(knob), "not in the text: on, as experts with TP need it");
    }
}

fn sharding(parts: &Parts, draft: &mut Draft) {
    let knob = KnobId::data_parallel_sharding_strategy;
    let strategy = "data-parallel-sharding-strategy";
    if let Some(text) = parts.text(strategy) {
        parts.set(knob, text, strategy, draft);
    } else if parts.has("use-torch-fsdp2") {
        parts.set(knob, "optim_grads_params", "use-torch-fsdp2", draft);
    } else if parts.has("use-distributed-optimizer") {
        parts.set(knob, "optim", "use-distributed-optimizer", draft);
    }
    engine(draft);
}

/// DeepSpeed's engine around a trainer's model, where its own rules are of layers of its own.
///
/// Source: DeepSpeed `runtime/engine.py:_validate_zero3_moe_compatibility` and
/// `_configure_optimizer`.
fn engine(draft: &mut Draft) {
    let is_trainer = draft.title.is_some_and(dialects::is_trainer);
    if !is_trainer || draft.design.kernel.framework != Framework::Deepspeed {
        return;
    }
    let knob = KnobId::framework;
    let strategy = draft.design.parallel.data_parallel_sharding_strategy;
    let has_experts = draft.design.transformer.has_experts();
    if strategy == ShardingStrategy::OptimGradsParams && has_experts {
        draft.withdraw(knob, "fsdp", "ZeRO-3 gathers the trainer's own experts as FSDP does");
        let detail = "ZeRO-3 over experts that aren't DeepSpeed's own: taken as FSDP gathers them";
        draft.assume(Some(knob), detail);
    } else if strategy == ShardingStrategy::NoShard {
        draft.default(KnobId::gradient_dtype, "bf16");
        draft.assume(Some(KnobId::gradient_dtype), "without ZeRO gradients are kept in bf16");
    }
}

/// The schedule's method, from how chunks and pairs are asked for.
fn overlap(parts: &Parts, draft: &mut Draft) {
    let pairs = "moe-fb-overlap";
    let knob = KnobId::method;
    if let Some(method) = parts.text("schedules-method") {
        parts.set(knob, method, "schedules-method", draft);
        if parts.has(pairs) {
            let reason = format!("{method} runs forwards beside backwards already");
            draft.ignore(pairs, parts.line(pairs), reason);
        }
    } else if parts.has(pairs) {
        parts.set(knob, "1f1b_overlap", pairs, draft);
    } else if draft.design.parallel.virtual_pipeline_model_parallel_size > 1 {
        draft.default(knob, "interleaved");
    }
    // Megatron overlaps P2P with interleaved chunks unless told otherwise.
    let interleaved = matches!(
        draft.design.schedule.method,
        Method::Interleaved | Method::OneForwardOneBackwardOverlap
    ) && draft.design.parallel.virtual_pipeline_model_parallel_size > 1;
    if parts.has("no-overlap-p2p-communication") {
        parts.set(KnobId::overlap_p2p_comm, "false", "no-overlap-p2p-communication", draft);
    } else if parts.has("overlap-p2p-communication") {
        parts.set(KnobId::overlap_p2p_comm, "true", "overlap-p2p-communication", draft);
    } else if interleaved {
        draft.default(KnobId::overlap_p2p_comm, "true");
    }
    // Megatron-Core sends the whole in either case; Megatron-LM did so until 2023 when asked to.
    let whole = "no-scatter-gather-tensors-in-pipeline";
    if parts.has(whole) {
        parts.set(KnobId::scatter_gather_tensors_in_pipeline, "false", whole, draft);
    }
}

fn precision(parts: &Parts, draft: &mut Draft) {
    let knob = KnobId::precision;
    // A framework's recipe of mixed precision, by our name of it.
    if let Some(text) = parts.text("mixed-precision-recipe") {
        return parts.set(knob, text, "mixed-precision-recipe", draft);
    }
    if let Some(name) = parts.first_of(&["fp4-format", "fp4"]) {
        return parts.set(knob, "nvfp4", name, draft);
    }
    if let Some(name) = parts.first_of(&["fp8-format", "fp8"]) {
        let recipe = parts.text("fp8-recipe").unwrap_or("delayed");
        let ours = if recipe == "mxfp8" { "mxfp8".to_owned() } else { format!("fp8_{recipe}") };
        return parts.set(knob, &ours, name, draft);
    }
    match parts.first_of(&["bf16", "fp16"]) {
        Some(name) => parts.set(knob, name, name, draft),
        None if draft.model.is_some() => {
            draft.default(knob, "bf16");
            draft.assume(Some(knob), "no precision is given: bf16, as the model is published");
        }
        None => {
            draft.default(knob, "fp32");
            draft.assume(Some(knob), "neither --bf16 nor --fp16: fp32, as Megatron does");
        }
    }
}

fn recomputation(parts: &Parts, draft: &mut Draft) {
    let knob = KnobId::recompute_granularity;
    let name = "recompute-granularity";
    if let Some(text) = parts.text(name) {
        if text == "selective" && draft.title.is_some_and(dialects::is_torchtitan) {
            return selective_checkpointing(parts, draft);
        }
        parts.set(knob, text, name, draft);
    } else if parts.has("recompute-activations") {
        parts.set(knob, "selective", "recompute-activations", draft);
    }
    let granularity = draft.design.get(knob).to_string();
    layers_again(parts, granularity == "full", draft);
    modules_again(parts, &granularity, draft);
}

/// torchtitan's selective checkpointing computes every n-th layer again, or with `op` all but
/// attention and every second matrix product. Grouped products aren't among those that it keeps.
///
/// Source: torchtitan, `distributed/activation_checkpoint.py` and `config/job_config.py`, whose
/// `selective_ac_option` was 2 by default.
fn selective_checkpointing(parts: &Parts, draft: &mut Draft) {
    let (mode, option) = ("recompute-granularity", "selective-ac-option");
    let given = parts.text(option).unwrap_or("2");
    let key = if parts.has(option) { option } else { mode };
    let transformer = &draft.design.transformer;
    if given == "op" && transformer.has_experts() {
        let latent = if transformer.multi_latent_attention { ",mla_up_proj" } else { "" };
        parts.set(KnobId::recompute_granularity, "selective", mode, draft);
        parts.set(KnobId::recompute_modules, &format!("layernorm,moe{latent}"), key, draft);
        let detail = "selective_ac_option op keeps attention and every second matrix product, and \
                      no grouped one: taken as norms and experts computed again";
        return draft.assume(Some(KnobId::recompute_modules), detail);
    }
    let every = given.parse::<u64>().ok().filter(|every| *every > 0).unwrap_or(2);
    let stages = draft.design.parallel.pipeline_model_parallel_size.max(1);
    let layers = transformer.num_layers.div_ceil(stages) / every;
    if layers == 0 {
        return parts.ignore(mode, "no stage has as many layers", draft);
    }
    parts.set(KnobId::recompute_granularity, "full", mode, draft);
    parts.set(KnobId::recompute_method, "block", mode, draft);
    parts.set(KnobId::recompute_num_layers, &layers.to_string(), key, draft);
    if given == "op" {
        let detail = "selective_ac_option op keeps every second matrix product: taken as half of \
                      the layers of each stage, computed again as a whole";
        draft.assume(Some(KnobId::recompute_num_layers), detail);
    }
}

/// `--recompute-num-layers`: of each chunk in both, of each stage here.
fn layers_again(parts: &Parts, full: bool, draft: &mut Draft) {
    let name = "recompute-num-layers";
    let Some(text) = parts.text(name) else { return };
    if !full {
        return parts.ignore(name, "only full recomputation counts layers", draft);
    }
    let block = draft.design.memory.recompute_method == RecomputeMethod::Block;
    let chunks = draft.design.parallel.virtual_pipeline_model_parallel_size;
    let whole_stage = parts.has("enable-recompute-layers-per-pp-rank");
    match text.parse::<u64>() {
        Ok(layers) if block && chunks > 1 && !whole_stage => {
            let transformer = &draft.design.transformer;
            let slots = transformer.num_layers + draft.design.parallel.noop_layers.0.len() as u64;
            let stage = slots.div_ceil(draft.design.parallel.pipeline_model_parallel_size);
            let of_stage = layers.saturating_mul(chunks).min(stage.max(1)).to_string();
            parts.set(KnobId::recompute_num_layers, &of_stage, name, draft);
        }
        _ => parts.set(KnobId::recompute_num_layers, text, name, draft),
    }
}

fn modules_again(parts: &Parts, granularity: &str, draft: &mut Draft) {
    let mut modules: Vec<&str> = vec![];
    let mut keys: Vec<&str> = vec![];
    let mut line = 0;
    if parts.has("recompute-modules") {
        keys.push("--recompute-modules");
        line = parts.line("recompute-modules");
        let words = parts.words("recompute-modules").iter().flat_map(|word| word.split(','));
        modules.extend(words.filter(|word| !word.is_empty()));
    }
    for (key, module) in [
        ("--recompute-activation-function", "moe_act"),
        ("--recompute-norm", "layernorm"),
        ("--recompute-mla-up-proj", "mla_up_proj"),
        ("--mla-zero-memory", "mla_up_proj"),
    ] {
        let name = &key[2..];
        if !parts.has(name) {
            continue;
        }
        if module == "moe_act" && !draft.design.transformer.has_experts() {
            let reason = "no knob recomputes the activation function of dense layers";
            parts.ignore(name, reason, draft);
            continue;
        }
        line = line.max(parts.line(name));
        keys.push(key);
        modules.push(module);
    }
    let asked = parts.text("recompute-granularity") == Some("selective");
    if draft.format == Format::Mindspeed
        && asked
        && !modules.is_empty()
        && keys.first() != Some(&"--recompute-modules")
    {
        // MindSpeed's own arguments come beside what `selective` takes.
        modules.push("core_attn");
    }
    if modules.is_empty() && granularity == "selective" {
        let name = "recompute-granularity";
        return parts.set(KnobId::recompute_modules, "core_attn", name, draft);
    }
    if modules.is_empty() {
        return;
    }
    if granularity == "full" {
        let reason = "whole layers are recomputed already";
        return keys.iter().for_each(|key| draft.ignore(key, line, reason));
    }
    let keys = keys.join(", ");
    draft.set(KnobId::recompute_granularity, "selective", &keys, line);
    draft.set(KnobId::recompute_modules, &modules.join(","), &keys, line);
}

/// Activations that Megatron's fine-grained offloading moves to the host: the input of the experts'
/// first product and what their activation makes, or attention's output with what it is made of.
fn parked(parts: &Parts) -> Vec<&'static str> {
    let name = "offload-modules";
    let words: Vec<&str> = parts.words(name).iter().flat_map(|word| word.split(',')).collect();
    if !parts.has("fine-grained-activation-offloading") {
        return vec![];
    }
    let has = |names: &[&str]| names.iter().any(|name| words.contains(name));
    let found = [
        (has(&["expert_fc1", "moe_act", "fused_group_mlp"]), "activations"),
        (has(&["core_attn", "attn_proj"]), "attention_output"),
    ];
    found.into_iter().filter(|found| found.0).map(|found| found.1).collect()
}

fn swapping(parts: &Parts, draft: &mut Draft) {
    let parked = parked(parts);
    let swaps = [
        ("swap-attention", "attention_output"),
        ("mla-swap-core-attn-out", "attention_output"),
        ("swap-optimizer", "optimizer"),
        ("optimizer-cpu-offload", "optimizer"),
        ("offload-optimizer-states", "optimizer"),
    ];
    let given: Vec<_> = swaps.iter().filter(|(name, _)| parts.has(name)).collect();
    let of_modules = (!parked.is_empty()).then_some("offload-modules");
    let first = given.first().map(|(name, _)| *name).or(of_modules);
    let Some(first) = first else { return };
    let mut modules: Vec<&str> = parked;
    modules.extend(given.iter().map(|(_, module)| *module));
    modules.dedup();
    if parts.has("optimizer-cpu-offload") {
        offloading(parts, draft);
    }
    let names = of_modules.into_iter().chain(given.iter().map(|(name, _)| *name));
    let keys: Vec<String> = names.map(super::parts::dashed).collect();
    let (keys, line) = (keys.join(", "), parts.line(first));
    draft.set(KnobId::swap_modules, &modules.join(","), &keys, line);
    if parts.has("swap-attention") && draft.format == Format::Mindspeed {
        let detail = "--swap-attention: the output of attention is swapped, no other module";
        draft.assume(Some(KnobId::swap_modules), detail);
    }
}

/// Notes the effects of `--optimizer-cpu-offload` that no knob has.
fn offloading(parts: &Parts, draft: &mut Draft) {
    let knob = Some(KnobId::swap_modules);
    let detail = "--optimizer-cpu-offload: moments wait on the host, and the device computes the \
                  step; Megatron's CPU computes it, which takes longer";
    draft.assume(knob, detail);
    let name = "optimizer-offload-fraction";
    let Some(text) = parts.text(name) else { return };
    let Some(fraction) = text.parse::<f64>().ok().filter(|part| (0.0..1.0).contains(part)) else {
        return parts.ignore(name, "all of the optimizer's states are on the host", draft);
    };
    parts.ignore(name, "no knob parks a part of the optimizer's states", draft);
    let kept = 100.0 * (1.0 - fraction);
    let detail = format!(
        "--{name} {text} keeps {kept:.0} % of the optimizer's states on the device, here none: \
         the peak is a floor"
    );
    draft.assume(knob, detail);
}

/// The loss of a part of the tokens at a time.
///
/// Source: MindSpeed-LLM, `features_manager/memory/chunk_loss.py`; a chunk has 1024 tokens without
/// being told.
fn loss(parts: &Parts, draft: &mut Draft) {
    let (mode, size) = ("loss-compute-mode", "loss-chunk-size");
    if parts.text(mode) != Some("chunk") {
        let reason = "the loss is of all tokens at once";
        return [mode, size].iter().for_each(|name| {
            if parts.has(name) {
                parts.ignore(name, reason, draft);
            }
        });
    }
    let tokens = parts.number(size, draft).filter(|size| *size > 0).unwrap_or(1_024);
    let training = &draft.design.training;
    let all = training.seq_length.saturating_mul(training.micro_batch_size);
    let chunks = all.div_ceil(tokens).clamp(1, 4_096).to_string();
    parts.set(KnobId::loss_chunks, &chunks, mode, draft);
}

/// The batch, which may follow from the cluster.
pub(super) fn batch(parts: &Parts, draft: &mut Draft) {
    let name = "global-batch-size";
    if let Some(text) = parts.text(name) {
        return parts.set(KnobId::global_batch_size, text, name, draft);
    }
    // Of what is answered, not of what the text says.
    let size = |knob: KnobId, own: u64| {
        draft.answers.knob(knob).and_then(|text| text.parse().ok()).unwrap_or(own).max(1)
    };
    let parallel = &draft.design.parallel;
    let ranks = size(KnobId::tensor_model_parallel_size, parallel.tensor_model_parallel_size)
        .saturating_mul(size(
            KnobId::pipeline_model_parallel_size,
            parallel.pipeline_model_parallel_size,
        ))
        .saturating_mul(size(KnobId::context_parallel_size, parallel.context_parallel_size));
    let devices = size(KnobId::num_devices, draft.design.cluster.num_devices);
    let replicas = (devices / ranks).max(1);
    let each = replicas
        .saturating_mul(size(KnobId::micro_batch_size, draft.design.training.micro_batch_size));
    let name = "gradient-accumulation-steps";
    if let Some(steps) = parts.number(name, draft) {
        let batch = each.saturating_mul(steps.max(1)).to_string();
        return parts.set(KnobId::global_batch_size, &batch, name, draft);
    }
    let name = "least-batch-size";
    if let Some(least) = parts.number(name, draft) {
        let each = each.max(1);
        let batch = least.div_ceil(each).max(1).saturating_mul(each);
        draft.default(KnobId::global_batch_size, &batch.min(16_777_216).to_string());
        let detail = format!("no accumulation: {batch}, the fewest rounds that make {least}");
        return draft.assume(Some(KnobId::global_batch_size), detail);
    }
    let parallel = &draft.design.parallel;
    if parallel.virtual_pipeline_model_parallel_size > 1 {
        // Interleaving takes as many micro-batches as there are stages, at least.
        let stages = parallel.pipeline_model_parallel_size;
        let batch = each.saturating_mul(stages).min(16_777_216).to_string();
        draft.default(KnobId::global_batch_size, &batch);
        let purpose = "the text doesn't say how many sequences a step has";
        let follows = "the step's time, and the pipeline's bubble";
        return draft.ask_knob(KnobId::global_batch_size, 0, purpose, follows);
    }
    let batch = each;
    draft.default(KnobId::global_batch_size, &batch.min(16_777_216).to_string());
    let detail = format!("no --global-batch-size: {batch}, one micro-batch for each replica");
    draft.assume(Some(KnobId::global_batch_size), detail);
}
