//! Keys of trainers that only mean something together: how often a model is copied, and into how
//! many parts each copy is cut.

use crate::arguments::{Argument, spelled};
use crate::draft::Draft;
use crate::{card, models};
use model::design::KnobId;

use super::table::NEOX;
use super::trainers::DEEPSPEED;
use super::{Dialect, maxtext, megatron_core, mindspeed, torchtitan};

/// The arguments of a dialect, each of which then means something by itself.
pub(super) fn together(
    dialect: Option<&Dialect>,
    mut arguments: Vec<Argument>,
    draft: &mut Draft,
) -> Vec<Argument> {
    match dialect.map(|dialect| dialect.title) {
        Some(torchtitan::TITLE) => of_torchtitan(&mut arguments),
        Some(maxtext::TITLE) => of_maxtext(&mut arguments, draft),
        Some(megatron_core::BRIDGE) => recipe(&mut arguments, draft),
        Some(mindspeed::MINDFORMERS) => stages_again(&mut arguments),
        Some(NEOX) => {
            // All nodes of the file of hosts.
            drop_none(&mut arguments, "num-nodes", &["-1"], draft);
            of_neox(&mut arguments);
        }
        Some(DEEPSPEED) => deepspeed(&mut arguments),
        _ => {}
    }
    arguments
}

/// The last argument whose path ends so.
pub(super) fn find<'a>(arguments: &'a [Argument], name: &str) -> Option<&'a Argument> {
    arguments.iter().rev().find(|argument| {
        argument.name.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

pub(super) fn number(arguments: &[Argument], name: &str) -> Option<u64> {
    find(arguments, name)?.values.first()?.parse().ok().filter(|number| *number > 0)
}

pub(super) fn replace(arguments: &mut [Argument], name: &str, value: u64) {
    let place = find(arguments, name).and_then(|found| arguments.iter().position(|a| a == found));
    if let Some(argument) = place.and_then(|place| arguments.get_mut(place)) {
        argument.values = vec![value.to_string()];
    }
}

/// MindFormers' numbers of layers that each stage computes again.
///
/// Source: mindspore-lab/mindformers, `mindformers/models/utils.py` (`LayerSetting`).
fn stages_again(arguments: &mut Vec<Argument>) {
    let is_count = |word: &String| word.parse::<u64>().is_ok();
    let is_it = |it: &&mut Argument| {
        it.name.ends_with("recompute-config.recompute") && it.values.iter().all(is_count)
    };
    let Some(found) = arguments.iter_mut().find(is_it) else { return };
    let (line, counts) = (found.line, found.values.join(","));
    found.values = vec!["true".to_owned()];
    if !counts.is_empty() {
        push(arguments, "recompute-method", "block", line);
        push(arguments, "recompute-num-layers", &counts, line);
    }
}

/// HSDP: copies times parts are the ranks that share a batch; copies of one part each are DDP.
///
/// Source: `torchtitan/distributed/parallel_dims.py`.
fn of_torchtitan(arguments: &mut Vec<Argument>) {
    let (parts, copies) = ("data-parallel-shard-degree", "data-parallel-replicate-degree");
    if let (Some(shard), Some(replicate)) = (number(arguments, parts), number(arguments, copies)) {
        replace(arguments, parts, shard.saturating_mul(replicate));
        if shard == 1 && replicate > 1 {
            replace(arguments, copies, 1);
            let line = find(arguments, copies).map_or(0, |argument| argument.line);
            let name = "data-parallel-sharding-strategy".to_owned();
            arguments.push(Argument { name, values: vec!["no_shard".to_owned()], line });
        }
    }
    // `context_parallel_rotate_method` of `torchtitan/config/configs.py` of earlier versions.
    let (context, method) = ("context-parallel-degree", "context-parallel-rotate-method");
    if number(arguments, context).is_some_and(|ranks| ranks > 1)
        && find(arguments, method).is_none()
    {
        let line = find(arguments, context).map_or(0, |argument| argument.line);
        push(arguments, "cp-comm-type", "allgather", line);
    }
    pipeline_batch(arguments);
    // How many chunks an interleaved schedule has follows from the layers of each.
    if find(arguments, "pipeline-parallel-layers-per-stage").is_some() {
        let is_interleaved = |argument: &Argument| {
            argument.name.ends_with("pipeline-parallel-schedule")
                && argument.values.first().is_some_and(|word| word == "Interleaved1F1B")
        };
        arguments.retain(|argument| !is_interleaved(argument));
    }
}

/// Beside a pipeline torchtitan's local batch is all of its micro-batches together, of one sequence
/// each by default.
///
/// Source: `torchtitan/distributed/pipeline_parallel.py:build_pipeline_schedule` of earlier
/// versions.
fn pipeline_batch(arguments: &mut Vec<Argument>) {
    let (local, micro) = ("local-batch-size", "pipeline-parallel-microbatch-size");
    let is_pipeline =
        number(arguments, "pipeline-parallel-degree").is_some_and(|stages| stages > 1);
    let Some(whole) = number(arguments, local).filter(|_| is_pipeline) else { return };
    let each = number(arguments, micro).unwrap_or(1);
    if !whole.is_multiple_of(each) {
        return;
    }
    replace(arguments, local, each);
    let line = find(arguments, local).map_or(0, |argument| argument.line);
    let name = "gradient-accumulation-steps".to_owned();
    arguments.push(Argument { name, values: vec![(whole / each).to_string()], line });
}

/// The batch says how many replicas there are; sequence parallelism is Ulysses'.
///
/// Source: `_configure_train_batch_size` in `deepspeed/runtime/config.py`.
fn deepspeed(arguments: &mut Vec<Argument>) {
    let batch = "train-batch-size";
    let micro = number(arguments, "train-micro-batch-size-per-gpu");
    let steps = number(arguments, "gradient-accumulation-steps");
    if let (Some(whole), Some(micro), Some(steps)) = (number(arguments, batch), micro, steps) {
        let each = micro.saturating_mul(steps);
        let line = find(arguments, batch).map_or(0, |argument| argument.line);
        if whole.is_multiple_of(each) {
            let values = vec![(whole / each).to_string()];
            arguments.push(Argument { name: "data-parallel-size".to_owned(), values, line });
        }
    }
    if let Some(line) = find(arguments, "sequence-parallel-size").map(|argument| argument.line) {
        let values = vec!["ulysses_cp_algo".to_owned()];
        arguments.push(Argument { name: "context-parallel-algo".to_owned(), values, line });
    }
}

fn push(arguments: &mut Vec<Argument>, name: &str, value: &str, line: u64) {
    arguments.push(Argument { name: name.to_owned(), values: vec![value.to_owned()], line });
}

/// Drops arguments of a name whose value is none in this framework, and says so.
fn drop_none(arguments: &mut Vec<Argument>, name: &str, none: &[&str], draft: &mut Draft) {
    let is_none = |argument: &Argument| {
        argument.name.rsplit('.').next() == Some(name)
            && argument.values.first().is_some_and(|value| none.contains(&value.as_str()))
    };
    arguments.retain(|argument| {
        if is_none(argument) {
            draft.ignore(&argument.name, argument.line, "as much as none");
        }
        !is_none(argument)
    });
}

/// The mesh of MaxText: axes between slices and inside of one, of which those of data share the
/// batch, those of FSDP the parameters, too. A batch of each device is less than that of a replica.
///
/// Source: AI-Hypercomputer/maxtext, `src/maxtext/configs/base.yml` and `pyconfig.py`; a chunk of a
/// pipeline has one layer by default.
fn of_maxtext(arguments: &mut Vec<Argument>, draft: &mut Draft) {
    for (name, none) in [
        ("q-lora-rank", &["0"][..]),
        ("num-experts", &["1"]),
        ("n-routing-groups", &["-1"]),
        ("topk-routing-group", &["-1"]),
        ("sliding-window-size", &["0"]),
        ("quantization", &[""]),
        ("shared-experts", &["0"]),
        ("mtp-num-layers", &["0"]),
    ] {
        drop_none(arguments, name, none, draft);
    }
    for argument in arguments.iter_mut().filter(|it| it.name.ends_with("model-name")) {
        let own = argument.values.first().map(String::as_str);
        if let Some((_, name)) = maxtext::MODELS.iter().find(|(theirs, _)| Some(*theirs) == own) {
            argument.values = vec![(*name).to_owned()];
        }
    }
    let gates = find(arguments, "mlp-activations").map(|it| (it.values.len(), it.line));
    if let Some((1, line)) = gates {
        push(arguments, "swiglu", "false", line);
    }
    let axis = |arguments: &[Argument], names: &[&str]| {
        let named = names.iter().flat_map(|name| ["ici", "dcn"].map(|of| (of, name)));
        named.fold(1_u64, |product, (of, name)| {
            let size = number(arguments, &format!("{of}-{name}-parallelism"));
            product.saturating_mul(size.unwrap_or(1))
        })
    };
    let line = arguments.iter().find(|it| it.name.ends_with("-parallelism")).map_or(0, |a| a.line);
    let tensor = axis(arguments, &["tensor", "tensor-transpose", "tensor-sequence"]);
    let (stages, experts) = (axis(arguments, &["pipeline"]), axis(arguments, &["expert"]));
    if stages > 1 && find(arguments, "num-layers-per-pipeline-stage").is_none() {
        push(arguments, "num-layers-per-virtual-pipeline-stage", "1", line);
    }
    let context = axis(arguments, &["context", "sequence"]);
    let parts = axis(arguments, &["fsdp", "fsdp-transpose"]).saturating_mul(experts);
    let copies = axis(arguments, &["data"]);
    for (name, size) in [
        ("tensor-model-parallel-size", tensor),
        ("pipeline-model-parallel-size", stages),
        ("expert-model-parallel-size", experts),
        ("context-parallel-size", context),
    ] {
        if size > 1 {
            push(arguments, name, &size.to_string(), line);
        }
    }
    // An axis of -1 takes the devices that are left.
    let is_open = |it: &Argument| {
        it.name.ends_with("-parallelism") && it.values.first().is_some_and(|value| value == "-1")
    };
    let is_open = arguments.iter().any(is_open);
    let ranks = parts.saturating_mul(copies);
    if line > 0 && ranks > 1 && !is_open {
        push(arguments, "data-parallel-size", &ranks.to_string(), line);
    }
    if copies > 1 && parts > 1 {
        push(arguments, "num-distributed-optimizer-instances", &copies.to_string(), line);
    } else if copies > 1 && !is_open {
        push(arguments, "data-parallel-sharding-strategy", "no_shard", line);
    }
    let each = tensor.saturating_mul(context).saturating_mul(stages);
    per_device(arguments, each, stages, draft);
}

/// Converts a batch per device into a replica's micro-batch, split over pipeline stages if there
/// are several.
fn per_device(arguments: &mut Vec<Argument>, devices: u64, stages: u64, draft: &mut Draft) {
    let name = "per-device-batch-size";
    let text = find(arguments, name).and_then(|it| it.values.first().cloned());
    let Some(each) = text.and_then(|text| text.parse::<f64>().ok()) else { return };
    let whole = each * devices as f64;
    let stages = stages.max(1) as f64;
    if !(1.0..=1e6).contains(&(whole / stages)) || (whole / stages).fract() > 0.0 {
        let line = find(arguments, name).map_or(0, |it| it.line);
        draft.ignore(name, line, "a batch that its replica's devices can't share evenly");
        return arguments.retain(|it| !it.name.ends_with(name));
    }
    replace(arguments, name, (whole / stages) as u64);
    if stages > 1.0 {
        let steps = number(arguments, "gradient-accumulation-steps").unwrap_or(1);
        let steps = steps.saturating_mul(stages as u64).to_string();
        let line = find(arguments, name).map_or(0, |it| it.line);
        arguments.retain(|it| !it.name.ends_with("gradient-accumulation-steps"));
        push(arguments, "gradient-accumulation-steps", &steps, line);
    }
}

/// One expert is a dense layer, and a token takes one by default.
///
/// Source: EleutherAI/gpt-neox, `megatron/neox_arguments/neox_args.py:NeoXArgsMoE`.
fn of_neox(arguments: &mut Vec<Argument>) {
    let names = ["moe-num-experts", "num-experts"];
    let experts = names.iter().find_map(|name| number(arguments, name)).unwrap_or(1);
    if experts > 1 && find(arguments, "moe-top-k").is_none() {
        push(arguments, "moe-top-k", "1", crate::draft::DEFAULTED);
    } else if experts <= 1 {
        arguments.retain(|it| !(names.contains(&it.name.as_str()) || it.name.starts_with("moe-")));
    }
}

/// Names of recipes by which a command takes one: `--recipe qwen3_30b_a3b_pretrain_config`.
const RECIPES: [&str; 4] = ["recipe", "model-recipe-name", "factory", "recipe-name"];

/// Sets the recomputation of scripts that measure a recipe and give layers or modules alone.
///
/// Source: NVIDIA-NeMo/Megatron-Bridge, `scripts/performance/utils/overrides.py`,
/// `_set_recompute_overrides`.
fn measured(arguments: &mut Vec<Argument>) {
    let says = |name: &str| arguments.iter().find(|it| it.name == name).map(|it| it.line);
    if says("model-recipe-name").is_none() || says("recompute-granularity").is_some() {
        return;
    }
    let (modules, layers) = (says("recompute-modules"), says("recompute-num-layers"));
    if let Some(line) = modules {
        push(arguments, "recompute-granularity", "selective", line);
    } else if let Some(line) = layers {
        push(arguments, "recompute-granularity", "full", line);
        push(arguments, "recompute-method", "block", line);
    }
}

/// A recipe's name says the model, and its settings aren't in the text.
fn recipe(arguments: &mut Vec<Argument>, draft: &mut Draft) {
    measured(arguments);
    let is_recipe = |it: &Argument| RECIPES.contains(&it.name.as_str());
    let mut inner = vec![];
    for argument in arguments.iter_mut().filter(|it| is_recipe(it)) {
        let Some(text) = argument.values.first().cloned() else { continue };
        let (name, given) = text.split_once('(').unwrap_or((text.as_str(), ""));
        let detail = format!(
            "the settings of the recipe `{name}` aren't in the text: what overrides them is read, \
             and the rest is as without one"
        );
        draft.assume(None, crate::draft::shortened(&detail));
        for (key, value) in
            given.trim_end_matches(')').split(',').filter_map(|it| it.split_once('='))
        {
            let values = vec![value.trim().trim_matches(['"', '\'']).to_owned()];
            inner.push(Argument { name: spelled(key.trim()), values, line: argument.line });
        }
        if let Some((word, precision)) = precision_of_recipe(name) {
            let detail = format!("the recipe's name says {word}: {precision}");
            draft.assume(Some(KnobId::precision), detail);
            let values = vec![precision.to_owned()];
            let name = "mixed-precision-recipe".to_owned();
            inner.push(Argument { name, values, line: argument.line });
        }
        argument.name = "model-name".to_owned();
        argument.values = vec![model_of_recipe(name)];
    }
    let is_given = arguments.iter().any(|it| it.name.ends_with("mixed-precision"));
    inner.retain(|it| !(is_given && it.name == "mixed-precision-recipe"));
    arguments.extend(inner);
    // A family and a size are a recipe's name in parts: `--model_name qwen3 --model_size 30b_a3b`.
    let size = arguments.iter().find(|it| it.name == "model-size");
    let size = size.and_then(|it| it.values.first().cloned());
    if let Some(size) = size.filter(|_| arguments.iter().any(|it| it.name == "model-name")) {
        arguments.retain(|it| it.name != "model-size");
        for argument in arguments.iter_mut().filter(|it| it.name == "model-name") {
            for value in &mut argument.values {
                *value = model_of_recipe(&format!("{value}_{size}"));
            }
        }
    }
    // NeMo's modules are called as its recipes are.
    for argument in arguments.iter_mut().filter(|it| it.name == "model") {
        for value in argument.values.iter_mut().filter(|value| !value.contains('/')) {
            *value = model_of_recipe(value);
        }
    }
}

/// The precision that a recipe's name says, with the word that says it.
///
/// Source: NVIDIA-NeMo/Megatron-Bridge, `src/megatron/bridge/recipes` (`fp8cs`, `fp8mx`, `nvfp4`).
fn precision_of_recipe(name: &str) -> Option<(&'static str, &'static str)> {
    const WORDS: [(&str, &str); 6] = [
        ("mxfp8", "mxfp8"),
        ("fp8mx", "mxfp8"),
        ("nvfp4", "nvfp4"),
        ("fp8cs", "fp8_tensorwise"),
        ("fp8sc", "fp8_blockwise"),
        ("fp8ds", "fp8_delayed"),
    ];
    let mut parts = name.split(['_', '-', '.']);
    parts.find_map(|part| WORDS.iter().copied().find(|(word, _)| word.eq_ignore_ascii_case(part)))
}

/// Words of a recipe's name that say how the model is trained, beside numbers of something.
const SETTINGS: [&str; 21] = [
    "pretrain",
    "finetune",
    "sft",
    "peft",
    "lora",
    "dora",
    "config",
    "recipe",
    "full",
    "bf16",
    "fp16",
    "fp8",
    "nvfp4",
    "mxfp8",
    "cs",
    "mx",
    "sc",
    "ds",
    "performance",
    "long",
    "mcore",
];

/// The name of a recipe's model: what is left of it without the words that say how it is trained.
pub(super) fn model_of_recipe(name: &str) -> String {
    let name = name.rsplit(['.', '/']).next().unwrap_or(name).to_lowercase();
    let is_setting = |word: &&str| {
        let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let counts = rest.len() < word.len()
            && matches!(rest, "k" | "gpu" | "gpus" | "node" | "nodes" | "steps");
        let counted = ["gpus", "nodes", "seq"].iter().any(|of| {
            let rest = word.strip_prefix(of);
            rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()))
        });
        word.is_empty() || counts || counted || SETTINGS.contains(word) || card::is_named(word)
    };
    let words: Vec<&str> = name.split(['_', '-']).collect();
    let first = words.iter().position(|word| !is_setting(word)).unwrap_or(0);
    let last = words.iter().rposition(|word| !is_setting(word)).unwrap_or(0);
    let model = words.get(first..=last).unwrap_or_default().join("-");
    if models::find(&model).is_some() {
        return model;
    }
    // `llama31_8b` is 3.1.
    let mut parts = model.splitn(2, '-');
    let (series, rest) = (parts.next().unwrap_or_default(), parts.next());
    let letters = series.trim_end_matches(|c: char| c.is_ascii_digit());
    let pointed = match series.strip_prefix(letters).map(|it| it.split_at_checked(1)) {
        Some(Some((major, minor))) if minor.len() == 1 => format!("{letters}{major}.{minor}"),
        _ => return model,
    };
    let pointed = rest.map_or_else(|| pointed.clone(), |rest| format!("{pointed}-{rest}"));
    if models::find(&pointed).is_some() { pointed } else { model }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recipe_s_name_is_its_model_s_without_how_it_is_trained() {
        for (recipe, model) in [
            ("qwen3_235b_a22b_pretrain_config", "qwen3-235b-a22b"),
            ("deepseek_v3_pretrain_config_32nodes", "deepseek-v3"),
            ("llama31_405b_finetune_config", "llama3.1-405b"),
            ("llama3_8b_16k_pretrain_config", "llama3-8b"),
            ("pretrain_llama3_70b_bf16_gpus8_h100", "llama3-70b"),
            ("deepseek_v3_proxy_pretrain_config", "deepseek-v3-proxy"),
        ] {
            assert_eq!(model_of_recipe(recipe), model);
        }
    }
}
