//! A design in the words of a framework, by its [dialect](crate::dialects): each argument of
//! Megatron's goes where the dialect's first row for it says.

use model::design::Design;
use model::ground::choice::{
    Choice as _, ContextParallelAlgo, Method, Optimizer, Precision, RecomputeGranularity,
    ShardingStrategy, SwapModule,
};

use super::groups::{self, Word};
use super::print::{self, Entry};
use super::{Target, layout};
use crate::dialects::{self, Dialect, To};
use crate::models;

/// A file without its comments.
pub(super) fn body(target: Target, design: &Design) -> String {
    let Some(dialect) = dialect(target) else { return String::new() };
    let mut entries = fixed(target, design);
    let words = words(target, design);
    for word in &words {
        write(target, dialect, word, design, &mut entries);
    }
    extra(target, dialect, design, &mut entries);
    // A default that the design doesn't have is switched off.
    let is_untold = |name: &&(&str, &str)| words.iter().all(|word| word.name != name.0);
    for (name, _) in dialect.defaults.iter().filter(is_untold) {
        let told = dialect.rows.iter().find_map(|(path, to)| match to {
            To::Argument(own) if own == name => Some((*path, "false")),
            To::Unless(own) if own == name => Some((*path, "true")),
            To::Argument(_) | To::Unless(_) | To::Choice(_) | To::Nothing(_) => None,
        });
        if let Some((path, value)) = told {
            put(&mut entries, path, vec![value.to_owned()]);
        }
    }
    for (path, to) in dialect.rows {
        unchosen(target, design, path, *to, &mut entries);
    }
    print::body(target, design, &entries)
}

/// The dialect that reads a target.
fn dialect(target: Target) -> Option<&'static Dialect> {
    dialects::named(match target {
        Target::Megatron | Target::Mindspeed => return None,
        Target::Bridge => "a recipe of Megatron-Bridge or NeMo",
        Target::Mindformers => "MindFormers",
        Target::Torchtitan => "torchtitan",
        Target::Deepspeed => "DeepSpeed",
        Target::Accelerate => "Accelerate",
    })
}

/// Ranks that share a batch, where they divide the devices.
fn replicas(d: &Design) -> Option<u64> {
    let p = &d.parallel;
    let ranks = p
        .tensor_model_parallel_size
        .saturating_mul(p.context_parallel_size)
        .saturating_mul(p.pipeline_model_parallel_size);
    d.cluster.num_devices.is_multiple_of(ranks).then(|| d.cluster.num_devices / ranks)
}

/// Micro-batches of a step, where they divide it.
fn steps(d: &Design) -> Option<u64> {
    let each = replicas(d)?.saturating_mul(d.training.micro_batch_size);
    let whole = d.training.global_batch_size;
    (each > 0 && whole.is_multiple_of(each)).then(|| whole / each)
}

/// The arguments of Megatron's, with those that only other frameworks have.
fn words(target: Target, d: &Design) -> Vec<Word> {
    let groups = groups::for_target(false, d);
    let mut words: Vec<Word> = groups.into_iter().flat_map(|group| group.arguments).collect();
    let plain = matches!(d.training.precision, Precision::Bf16 | Precision::Fp16 | Precision::Fp32);
    let recipe = (!plain).then(|| d.training.precision.name().to_owned());
    add(&mut words, "mixed-precision-recipe", recipe);
    if target != Target::Accelerate {
        // `torchrun` is told how many there are.
        drop(&mut words, &["nproc_per_node", "nnodes"]);
    }
    if target == Target::Bridge {
        return words;
    }
    others(target, d, &mut words);
    words
}

fn add(words: &mut Vec<Word>, name: &str, value: Option<String>) {
    if let Some(value) = value {
        words.push(Word { name: name.to_owned(), values: vec![value] });
    }
}

fn drop(words: &mut Vec<Word>, names: &[&str]) {
    words.retain(|word| !names.contains(&word.name.as_str()));
}

/// Adds words that frameworks other than Megatron's own spell differently, or alone have.
fn others(target: Target, d: &Design, words: &mut Vec<Word>) {
    let on = |is_on: bool| is_on.then(|| "true".to_owned());
    let text = |number: Option<u64>| number.map(|number| number.to_string());
    let chunks = d.parallel.virtual_pipeline_model_parallel_size;
    let is_ring = d.parallel.context_parallel_size > 1
        && d.parallel.context_parallel_algo == ContextParallelAlgo::P2p;
    add(words, "cp-comm-type", is_ring.then(|| "p2p".to_owned()));
    add(words, "gradient-accumulation-steps", text(steps(d)));
    add(words, "data-parallel-size", text(replicas(d)));
    add(words, "world-size", Some(d.cluster.num_devices.to_string()));
    let swaps = d.memory.swap_modules.has(SwapModule::Optimizer);
    add(words, "optimizer-cpu-offload", on(swaps));
    add(words, "swap-optimizer", on(swaps));
    add(words, "padded-vocab-size", Some(d.transformer.vocab_size.to_string()));
    add(words, "use-flash-attn", on(d.kernel.flash_attention));
    add(words, "first-k-dense-replace", text(layout::dense_first(d)));
    let names = [
        "pipeline-model-parallel-layout",
        "num-virtual-stages-per-pipeline-rank",
        "num-distributed-optimizer-instances",
        "optimizer",
    ];
    drop(words, &names);
    add(words, names[1], (chunks > 1).then(|| chunks.to_string()));
    let optimizer = match d.training.optimizer {
        Optimizer::Adam => "AdamW",
        Optimizer::Sgd => "SGD",
        Optimizer::Muon => "Muon",
    };
    add(words, "optimizer", Some(optimizer.to_owned()));
    if target == Target::Mindformers {
        // It has no dispatcher that is called so.
        words.retain(|word| word.values.first().is_none_or(|value| value != "flex"));
        return;
    }
    let sharding = ["use-distributed-optimizer", "data-parallel-sharding-strategy"];
    drop(words, &sharding);
    let strategy = d.parallel.data_parallel_sharding_strategy.name();
    add(words, sharding[1], Some(strategy.to_owned()));
}

/// Rows of a dialect that a design isn't written by.
fn is_other(target: Target, path: &str, d: &Design) -> bool {
    let ulysses = d.parallel.context_parallel_algo == ContextParallelAlgo::A2a;
    match target {
        Target::Accelerate => {
            let other = if is_fsdp(d) { "deepspeed-config." } else { "fsdp-config." };
            path.starts_with(other)
                || path.starts_with("megatron-lm-config.")
                || (path.ends_with("-sp-size") && !ulysses)
                || (path.ends_with("-cp-size") && ulysses)
        }
        Target::Deepspeed => path == "sequence-parallel-size" && !ulysses,
        // Copies and parts are written together; what it recomputes selectively are others.
        Target::Torchtitan => {
            let selective = d.memory.recompute_granularity == RecomputeGranularity::Selective;
            let by_pipeline = d.parallel.pipeline_model_parallel_size > 1 && steps(d).is_some();
            let local = ["training.local-batch-size", "training.batch-size"];
            path.contains("data-parallel-")
                || (by_pipeline && local.contains(&path))
                || !path.contains('.')
                || (path.starts_with("activation-checkpoint.") && selective)
        }
        Target::Megatron | Target::Mindspeed | Target::Bridge | Target::Mindformers => false,
    }
}

fn is_fsdp(d: &Design) -> bool {
    matches!(
        d.parallel.data_parallel_sharding_strategy,
        ShardingStrategy::OptimGrads | ShardingStrategy::OptimGradsParams
    )
}

/// Writes an argument where the dialect's first row for it says.
fn write(target: Target, dialect: &Dialect, word: &Word, d: &Design, entries: &mut Vec<Entry>) {
    let value = word.values.first().map_or("true", String::as_str);
    let rows = dialect.rows.iter().filter(|(path, _)| !is_other(target, path, d));
    for (path, to) in rows {
        let values = match to {
            To::Argument(name) if *name == word.name && word.values.is_empty() => {
                vec!["true".to_owned()]
            }
            To::Argument(name) if *name == word.name => word.values.clone(),
            To::Unless(name) if *name == word.name => vec!["false".to_owned()],
            To::Choice(rows) => {
                let mut own = rows.iter().filter(|row| row.1 == word.name && row.2 == value);
                let Some((theirs, _, _)) = own.next() else { continue };
                vec![(*theirs).to_owned()]
            }
            To::Argument(_) | To::Unless(_) | To::Nothing(_) => continue,
        };
        return put(entries, path, values);
    }
    // Whatever else Megatron has, a recipe of its bridge has on the model.
    if !dialect.strict && is_field(&word.name) {
        put(entries, &word.name, own_values(word));
    }
}

/// Fields of a recipe's model that say how it learns.
const LEARNED: [&str; 16] = [
    "normalization",
    "layernorm-epsilon",
    "rotary-base",
    "rotary-percent",
    "rotary-interleaved",
    "init-method-std",
    "moe-aux-loss-coeff",
    "moe-z-loss-coeff",
    "moe-router-score-function",
    "moe-router-topk-scaling-factor",
    "moe-router-enable-expert-bias",
    "moe-router-bias-update-rate",
    "moe-router-dtype",
    "moe-router-pre-softmax",
    "mtp-loss-scaling-factor",
    "attention-softmax-in-fp32",
];

/// Arguments that no knob reads, where the dialect has a key for them; the others are told in a
/// comment.
fn extra(target: Target, dialect: &Dialect, d: &Design, entries: &mut Vec<Entry>) {
    for word in groups::extra(d) {
        let rows = dialect.rows.iter().filter(|(path, _)| !is_other(target, path, d));
        let mut rows =
            rows.filter(|(_, to)| matches!(to, To::Argument(name) if *name == word.name));
        let field = match word.name.as_str() {
            "norm-epsilon" => "layernorm-epsilon",
            name => name,
        };
        let is_field = target == Target::Bridge && LEARNED.contains(&field);
        let path = rows.next().map(|row| row.0).or(is_field.then_some(field));
        if let Some(path) = path.filter(|_| word.values.len() <= 1) {
            put(entries, path, own_values(&word));
        }
    }
}

fn own_values(word: &Word) -> Vec<String> {
    if word.values.is_empty() { vec!["true".to_owned()] } else { word.values.clone() }
}

/// Whether an argument is a field of Megatron-Core's configuration, not of its launcher.
fn is_field(name: &str) -> bool {
    !matches!(
        name,
        "nproc_per_node"
            | "nnodes"
            | "use-mcore-models"
            | "group-query-attention"
            | "max-position-embeddings"
            | "bf16"
            | "fp16"
            | "fp8-format"
            | "fp8-recipe"
            | "fp4-format"
            | "fp4-recipe"
            | "mixed-precision-recipe"
            | "no-overlap-p2p-communication"
    )
}

/// Puts a value at a path; the last one counts.
fn put(entries: &mut Vec<Entry>, path: &str, values: Vec<String>) {
    let path = path.replace('-', "_");
    match entries.iter_mut().find(|entry| entry.path == path) {
        Some(entry) => entry.values = values,
        None => entries.push(Entry { path, values }),
    }
}

/// The word of a choice that says nothing, where none of its others is written.
fn unchosen(target: Target, d: &Design, path: &str, to: To, entries: &mut Vec<Entry>) {
    let To::Choice(rows) = to else { return };
    let own = path.replace('-', "_");
    if is_other(target, path, d) || entries.iter().any(|entry| entry.path == own) {
        return;
    }
    if let Some((word, _, _)) = rows.iter().find(|row| row.1.is_empty()) {
        put(entries, path, vec![(*word).to_owned()]);
    }
}

/// Entries of a framework's file that don't follow from arguments.
fn fixed(target: Target, d: &Design) -> Vec<Entry> {
    let mut entries = vec![];
    let mut add = |path: &str, value: &str| put(&mut entries, path, vec![value.to_owned()]);
    match target {
        Target::Mindformers => {
            add("use_parallel", "true");
            add("run_mode", "train");
            add("use_legacy", "false");
            add("context.device_target", "Ascend");
        }
        Target::Accelerate => {
            add("compute_environment", "LOCAL_MACHINE");
            add("distributed_type", if is_fsdp(d) { "FSDP" } else { "DEEPSPEED" });
            if is_fsdp(d) {
                add("fsdp_config.fsdp_version", "2");
                add("fsdp_config.fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP");
            }
            if d.parallel.context_parallel_size > 1
                && d.parallel.context_parallel_algo == ContextParallelAlgo::A2a
            {
                add("parallelism_config.parallelism_config_sp_backend", "deepspeed");
            }
        }
        Target::Torchtitan => torchtitan(d, &mut add),
        Target::Deepspeed if matches!(d.training.precision, Precision::Fp32) => {
            add("bf16.enabled", "false");
        }
        Target::Megatron | Target::Mindspeed | Target::Bridge | Target::Deepspeed => {}
    }
    entries
}

/// Models that torchtitan has, by name and flavor.
///
/// Source: the registries in `torchtitan/models/*/__init__.py`.
const FLAVORS: [(&str, &str); 15] = [
    ("llama3", "8B"),
    ("llama3", "70B"),
    ("llama3", "405B"),
    ("deepseek_v3", "16B"),
    ("deepseek_v3", "671B"),
    ("qwen3", "0.6B"),
    ("qwen3", "1.7B"),
    ("qwen3", "4B"),
    ("qwen3", "8B"),
    ("qwen3", "14B"),
    ("qwen3", "32B"),
    ("qwen3", "30B-A3B"),
    ("qwen3", "235B-A22B"),
    ("gpt_oss", "20b"),
    ("gpt_oss", "120b"),
];

fn torchtitan(d: &Design, add: &mut impl FnMut(&str, &str)) {
    let is_same = |(name, flavor): &&(&str, &str)| {
        let known = models::find(&format!("{name}-{flavor}"));
        known.is_some_and(|known| known.transformer() == d.transformer)
    };
    match FLAVORS.iter().find(is_same) {
        Some((name, flavor)) => {
            add("model.name", name);
            add("model.flavor", flavor);
        }
        None => add("model.name", d.preset.id),
    }
    if d.training.precision == Precision::Fp8Tensorwise {
        add("model.converters", "quantize.linear.float8");
    } else if d.training.precision == Precision::Mxfp8 {
        add("model.converters", "quantize.linear.mx");
    }
    if let Some(steps) = steps(d).filter(|_| d.parallel.pipeline_model_parallel_size > 1) {
        // Beside a pipeline the local batch is all of its micro-batches.
        let each = d.training.micro_batch_size;
        add("training.local_batch_size", &steps.saturating_mul(each).to_string());
        add("parallelism.pipeline_parallel_microbatch_size", &each.to_string());
    }
    if let Some(replicas) = replicas(d) {
        let copies = match d.parallel.data_parallel_sharding_strategy {
            ShardingStrategy::NoShard => replicas,
            ShardingStrategy::Optim
            | ShardingStrategy::OptimGrads
            | ShardingStrategy::OptimGradsParams => d.parallel.num_distributed_optimizer_instances,
        };
        if copies > 0 && replicas.is_multiple_of(copies) {
            let parts = (replicas / copies).to_string();
            add("parallelism.data_parallel_shard_degree", &parts);
            add("parallelism.data_parallel_replicate_degree", &copies.to_string());
        }
    }
    if !pipeline_of_chunks(d).is_empty() {
        add("parallelism.pipeline_parallel_schedule", pipeline_of_chunks(d));
        let chunks = d
            .parallel
            .pipeline_model_parallel_size
            .saturating_mul(d.parallel.virtual_pipeline_model_parallel_size);
        let layers = d.transformer.num_layers;
        if d.schedule.method == Method::Interleaved && layers.is_multiple_of(chunks) {
            let each = (layers / chunks).to_string();
            add("parallelism.pipeline_parallel_layers_per_stage", &each);
            // Without being told embedding and head count as a layer each.
            add("parallelism.pipeline_parallel_first_stage_less_layers", "0");
            add("parallelism.pipeline_parallel_last_stage_less_layers", "0");
        }
    }
}

/// torchtitan's name of a schedule; empty if it has none.
fn pipeline_of_chunks(d: &Design) -> &'static str {
    match d.schedule.method {
        Method::Gpipe => "GPipe",
        Method::Interleaved => "Interleaved1F1B",
        Method::ZbV => "ZBVZeroBubble",
        Method::DualPipeV => "DualPipeV",
        Method::OneForwardOneBackward
        | Method::OneForwardOneBackwardOverlap
        | Method::ZbH1
        | Method::Zb2p
        | Method::VHalf
        | Method::VMin
        | Method::DualPipe => "",
    }
}
