//! How a trainer's run is spread and sharded, where several of its words, or a file's name, say it.
//!
//! Sources: huggingface/transformers `src/transformers/training_args.py`, huggingface/accelerate
//! `src/accelerate/commands/launch.py`, deepspeedai/DeepSpeed `deepspeed/launcher/runner.py`,
//! modelscope/ms-swift `swift/arguments/sft_args.py`.

use model::design::KnobId;

use crate::arguments::Argument;
use crate::draft::{DEFAULTED, Draft, Question, shortened};
use crate::files::is_file;

use super::Dialect;
use super::together::{find, number};
use super::trainers::{self, ACCELERATE, AXOLOTL, FACTORY, OPENRLHF, SWIFT, TRAINER, TRL};
use super::words::FSDP_STRATEGY;

/// Devices that one machine has, at most, where a file doesn't say it apart.
const MAX_PER_NODE: u64 = 16;

const STRATEGY: &str = "data-parallel-sharding-strategy";

/// The arguments of a trainer, each of which then means something by itself.
pub(super) fn together(
    dialect: Option<&Dialect>,
    mut arguments: Vec<Argument>,
    draft: &mut Draft,
) -> Vec<Argument> {
    let Some(title) = dialect.map(|dialect| dialect.title) else { return arguments };
    if title == ACCELERATE {
        distributed_type(&mut arguments, draft);
        processes(&mut arguments);
    }
    if !trainers::is_trainer(title) {
        return arguments;
    }
    switches(&mut arguments);
    deepspeed(title, &mut arguments, draft);
    fsdp(title, &mut arguments);
    files_of_accelerate(&mut arguments, draft);
    distributed_type(&mut arguments, draft);
    processes(&mut arguments);
    launcher(&mut arguments);
    algorithm(title, &mut arguments);
    adapters(title, &mut arguments, draft);
    lengths(&mut arguments, draft);
    states(&arguments, draft);
    reduction(&mut arguments);
    arguments
}

fn push(arguments: &mut Vec<Argument>, name: &str, value: &str, line: u64) {
    let values = if value.is_empty() { vec![] } else { vec![value.to_owned()] };
    arguments.push(Argument { name: name.to_owned(), values, line });
}

/// Puts an argument before the others, so that those that the run itself gives win.
fn push_first(arguments: &mut Vec<Argument>, name: &str, value: &str, line: u64) {
    let values = vec![value.to_owned()];
    arguments.insert(0, Argument { name: name.to_owned(), values, line });
}

/// The word of the last argument whose path ends so, and its line.
fn word(arguments: &[Argument], name: &str) -> Option<(String, u64)> {
    let found = find(arguments, name)?;
    Some((found.values.first().cloned().unwrap_or_default(), found.line))
}

fn is_on(arguments: &[Argument], name: &str) -> bool {
    word(arguments, name).is_some_and(|(word, _)| matches!(&*word, "" | "true" | "True" | "1"))
}

/// Accelerate's switches take no word: the program behind one is none of its own.
fn switches(arguments: &mut [Argument]) {
    let is_switch = |it: &&mut Argument| matches!(&*it.name, "use-deepspeed" | "use-fsdp");
    for argument in arguments.iter_mut().filter(is_switch) {
        argument.values.retain(|word| !word.ends_with(".py"));
    }
}

fn is_sharded(arguments: &[Argument]) -> bool {
    let names = ["zero-optimization.stage", "zero-stage", "fsdp-sharding-strategy", STRATEGY];
    names.iter().any(|name| find(arguments, name).is_some())
}

fn framework(arguments: &mut Vec<Argument>, value: &str, line: u64) {
    push_first(arguments, "kernel-framework", value, line);
}

/// `--deepspeed`: a stage of ms-swift's, JSON, or a file, which may be there.
fn deepspeed(title: &str, arguments: &mut Vec<Argument>, draft: &mut Draft) {
    let names = ["deepspeed", "deepspeed-config", "ds-config"];
    let given = names.iter().filter_map(|name| word(arguments, name));
    let Some((value, line)) = given.max_by_key(|(value, _)| value.len()) else {
        if let Some((_, line)) = word(arguments, "zero-stage") {
            framework(arguments, "deepspeed", line);
        } else if title == OPENRLHF {
            framework(arguments, "deepspeed", DEFAULTED);
        }
        return;
    };
    arguments.retain(|argument| !names.contains(&argument.name.as_str()));
    if matches!(&*value, "" | "null" | "None" | "~" | "false" | "False") {
        return;
    }
    framework(arguments, "deepspeed", line);
    draft.ignore("--deepspeed", line, "read: how ZeRO shards");
    let is_text = value.trim_start().starts_with('{');
    if !is_text && !is_sharded(arguments) && !is_here(&value, draft) {
        by_name(&value, line, arguments, draft);
        if title == SWIFT && !is_file(&value) {
            // Its own files: `swift/config/zero3.json`.
            push_first(arguments, "zero-optimization.overlap-comm", "false", line);
        }
    }
}

/// DeepSpeed reduces gradients beside the backward of stage 3 alone, by default.
///
/// Source: DeepSpeed, `runtime/zero/config.py:overlap_comm_valid`.
fn reduction(arguments: &mut Vec<Argument>) {
    let is_engine = word(arguments, "kernel-framework").is_some_and(|(it, _)| it == "deepspeed");
    let told = ["overlap-comm", "overlap-grad-reduce"];
    if !is_engine || told.iter().any(|name| find(arguments, name).is_some()) {
        return;
    }
    // A file beside the run says it in Megatron's words already.
    let names = ["zero-optimization.stage", "zero-stage", STRATEGY];
    let stage = names.iter().find_map(|name| word(arguments, name)).map(|(stage, _)| stage);
    if !matches!(stage.as_deref(), Some("3" | "optim_grads_params")) {
        push(arguments, "overlap-grad-reduce", "false", DEFAULTED);
    }
}

fn is_here(path: &str, draft: &Draft) -> bool {
    draft.files.find(path).is_some_and(|index| index > 0)
}

/// The stage that a file's name says: `ds_z3_config.json`, `zero2_offload.json`, `zero3`.
fn stage_of(name: &str) -> Option<&'static str> {
    let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    ["zero", "stage", "z"].iter().find_map(|mark| {
        name.match_indices(mark).find_map(|(place, _)| {
            let rest = name.get(place + mark.len()..)?;
            let digit = rest.trim_start_matches(['_', '-']).get(..1)?;
            ["0", "1", "2", "3"].into_iter().find(|stage| *stage == digit)
        })
    })
}

/// Derives the sharding from the name of a file that isn't there; asks if the name has no stage.
fn by_name(value: &str, line: u64, arguments: &mut Vec<Argument>, draft: &mut Draft) {
    let Some(stage) = stage_of(value) else {
        return draft.ask(Question {
            name: KnobId::data_parallel_sharding_strategy.id(),
            line,
            file: None,
            purpose: format!("{} isn't there: it says how ZeRO shards", shortened(value)),
            guess: None,
            follows: "memory, and what is gathered and reduced".to_owned(),
        });
    };
    push_first(arguments, "zero-optimization.stage", stage, line);
    let is_file = is_file(value);
    let mut detail = format!("ZeRO stage {stage}");
    if value.contains("offload") {
        push_first(arguments, "zero-optimization.offload-optimizer.device", "cpu", line);
        detail.push_str(", and the optimizer's states on the host");
    }
    if is_file {
        let file = shortened(value);
        let knob = Some(KnobId::data_parallel_sharding_strategy);
        draft.assume(knob, format!("{file} isn't there: its name says {detail}"));
    }
}

/// `--fsdp "full_shard auto_wrap offload"`, `fsdp: true`, and axolotl's section alone.
fn fsdp(title: &str, arguments: &mut Vec<Argument>) {
    let given = find(arguments, "fsdp").filter(|argument| argument.name == "fsdp").cloned();
    arguments.retain(|argument| argument.name != "fsdp");
    let section = arguments.iter().find(|argument| argument.name.starts_with("fsdp-config."));
    let line = match (&given, section) {
        (Some(given), _) => given.line,
        (None, Some(section)) if title == AXOLOTL => section.line,
        (None, _) => return,
    };
    let words: Vec<String> = given.into_iter().flat_map(|argument| argument.values).collect();
    let words: Vec<&str> = words.iter().flat_map(|word| word.split([' ', ','])).collect();
    if words.iter().any(|word| matches!(*word, "" | "null" | "None" | "~" | "false" | "False")) {
        return;
    }
    let named = words.iter().find_map(|word| {
        FSDP_STRATEGY.iter().find(|row| row.0.eq_ignore_ascii_case(word)).map(|row| row.2)
    });
    push_first(arguments, STRATEGY, named.unwrap_or("optim_grads_params"), line);
    if words.contains(&"offload") {
        push(arguments, "optimizer-cpu-offload", "", line);
    }
    framework(arguments, "fsdp", line);
}

/// Accelerate's file that isn't there, by its name.
fn files_of_accelerate(arguments: &mut Vec<Argument>, draft: &mut Draft) {
    let names = ["config-file", "accelerate-config", "deepspeed-config-file"];
    let found = names.iter().find_map(|name| word(arguments, name));
    let Some((value, line)) = found.filter(|(value, _)| is_file(value)) else { return };
    let is_read = is_sharded(arguments) || find(arguments, "distributed-type").is_some();
    if is_read || is_here(&value, draft) {
        return;
    }
    let file = value.rsplit('/').next().unwrap_or(&value).to_ascii_lowercase();
    let knob = Some(KnobId::data_parallel_sharding_strategy);
    if file.contains("fsdp") {
        let detail = format!("{} isn't there: its name says FSDP", shortened(&value));
        draft.assume(knob, detail);
        push_first(arguments, STRATEGY, "optim_grads_params", line);
        framework(arguments, "fsdp", line);
    } else if ["ddp", "multi_gpu"].iter().any(|word| file.contains(word)) {
        let detail = format!("{} isn't there: its name says DDP", shortened(&value));
        draft.assume(knob, detail);
    } else {
        by_name(&value, line, arguments, draft);
        if stage_of(&value).is_some() {
            framework(arguments, "deepspeed", line);
        }
    }
}

/// Reads from Accelerate's file which engine shards the run.
fn distributed_type(arguments: &mut Vec<Argument>, draft: &mut Draft) {
    let Some((kind, line)) = word(arguments, "distributed-type") else {
        let has_file = find(arguments, "deepspeed-config-file").is_some();
        if is_on(arguments, "use-fsdp") {
            framework(arguments, "fsdp", 0);
        } else if let Some((_, line)) = word(arguments, "use-deepspeed")
            && is_on(arguments, "use-deepspeed")
            && !is_sharded(arguments)
            && !has_file
        {
            // `zero_stage` of Accelerate's `DeepSpeedPlugin`.
            push_first(arguments, "zero-stage", "2", line);
            framework(arguments, "deepspeed", line);
        }
        return;
    };
    arguments.retain(|argument| !argument.name.ends_with("distributed-type"));
    draft.ignore("distributed-type", line, "read: how the run is sharded");
    match kind.to_ascii_uppercase().as_str() {
        "FSDP" => {
            push_first(arguments, STRATEGY, "optim_grads_params", line);
            framework(arguments, "fsdp", line);
        }
        "DEEPSPEED" => {
            let file = word(arguments, "deepspeed-config-file");
            if let Some((file, line)) = file.filter(|_| !is_sharded(arguments)) {
                if !is_here(&file, draft) {
                    by_name(&file, line, arguments, draft);
                }
            } else {
                // Accelerate's own stage.
                push_first(arguments, "zero-stage", "2", line);
            }
            framework(arguments, "deepspeed", line);
        }
        "MULTI_GPU" | "MULTI_NPU" | "NO" => push_first(arguments, STRATEGY, "no_shard", line),
        _ => {}
    }
    let hybrid = ["4", "5", "HYBRID_SHARD", "HYBRID_SHARD_ZERO2"];
    let is_hybrid = word(arguments, "fsdp-sharding-strategy")
        .is_some_and(|(strategy, _)| hybrid.contains(&strategy.as_str()));
    if let Some(nodes) = number(arguments, "num-machines").filter(|nodes| is_hybrid && *nodes > 1) {
        push(arguments, "num-distributed-optimizer-instances", &nodes.to_string(), line);
    }
}

/// Accelerate counts all processes of all machines.
fn processes(arguments: &mut Vec<Argument>) {
    let (all, machines) = ("num-processes", "num-machines");
    let Some(world) = number(arguments, all) else {
        // How many there are is left open: a machine alone counts none.
        if find(arguments, all).is_some() {
            arguments.retain(|argument| !argument.name.ends_with(machines));
        }
        return;
    };
    // Of one machine that has more than any has, only the number of all counts.
    let nodes = number(arguments, machines)
        .filter(|nodes| world.is_multiple_of(*nodes) && world / nodes <= MAX_PER_NODE);
    let Some(nodes) = nodes else {
        return arguments.retain(|argument| !argument.name.ends_with(machines));
    };
    let line = find(arguments, all).map_or(0, |argument| argument.line);
    arguments.retain(|it| !it.name.ends_with(all) && !it.name.ends_with(machines));
    push(arguments, "nnodes", &nodes.to_string(), line);
    push(arguments, "nproc-per-node", &(world / nodes).to_string(), line);
}

/// DeepSpeed's launcher: `--include localhost:0,1`, and one node where no file names more.
fn launcher(arguments: &mut Vec<Argument>) {
    if let Some((include, line)) = word(arguments, "include") {
        let hosts: Vec<&str> = include.split('@').collect();
        let each = hosts.first().and_then(|host| host.split_once(':'));
        if let Some((_, slots)) = each {
            let slots = slots.split(',').filter(|slot| !slot.is_empty()).count();
            push(arguments, "num-nodes", &hosts.len().to_string(), line);
            push(arguments, "num-gpus", &slots.to_string(), line);
        }
    }
    let says = |name: &str| find(arguments, name).is_some();
    let is_one = ["num-gpus", "nproc-per-node"].iter().any(|name| says(name))
        && !["num-nodes", "nnodes", "hostfile"].iter().any(|name| says(name));
    if is_one {
        push(arguments, "nnodes", "1", DEFAULTED);
    }
}

/// Sets the algorithm of context parallelism, and the fewest sequences of a step.
fn algorithm(title: &str, arguments: &mut Vec<Argument>) {
    let ulysses = ["sequence-parallel-size", "parallelism-config-sp-size"];
    let ring = ["ring-attn-size", "context-parallel-size", "sequence-parallel-degree"];
    if let Some(line) = ulysses.iter().find_map(|name| find(arguments, name)).map(|it| it.line) {
        push(arguments, "context-parallel-algo", "ulysses_cp_algo", line);
    } else if let Some(line) = ring.iter().find_map(|name| find(arguments, name)).map(|it| it.line)
    {
        push(arguments, "context-parallel-algo", "megatron_cp_algo", line);
    }
    // `parallelism_config_cp_comm_strategy` of Accelerate's `commands/launch.py`.
    let parts = find(arguments, "parallelism-config-cp-size").map(|it| it.line);
    let told = find(arguments, "parallelism-config-cp-comm-strategy");
    if let Some(line) = parts.filter(|_| told.is_none()) {
        push(arguments, "cp-comm-type", "allgather", line);
    }
    let is_group = word(arguments, "rlhf-type").is_some_and(|(kind, _)| kind == "grpo");
    if title == SWIFT && find(arguments, "gradient-accumulation-steps").is_none() {
        let fewest = if is_group { "1" } else { "16" };
        push(arguments, "least-batch-size", fewest, DEFAULTED);
    }
}

/// Sets adapters by default, and notes the frozen weights.
fn adapters(title: &str, arguments: &mut Vec<Argument>, draft: &mut Draft) {
    let is_stage = find(arguments, "stage").is_some() || find(arguments, "do-train").is_some();
    if title == FACTORY && is_stage && find(arguments, "finetuning-type").is_none() {
        push(arguments, "finetuning-type", "lora", DEFAULTED);
    }
    if title == FACTORY && find(arguments, "disable-gradient-checkpointing").is_none() {
        push(arguments, "recompute-granularity", "full", DEFAULTED);
    }
    if matches!(title, TRAINER | TRL | OPENRLHF) && is_on(arguments, "use-peft") {
        let is_given = ["lora-r", "lora-rank"].iter().any(|name| find(arguments, name).is_some());
        if !is_given {
            // `ModelConfig` of trl/trainer/model_config.py.
            push(arguments, "lora-r", "16", DEFAULTED);
        }
    }
    let four = ["load-in-4bit", "load-in-8bit"].iter().any(|name| is_on(arguments, name));
    let bits =
        ["quantization-bit", "quant-bits"].iter().any(|name| number(arguments, name).is_some());
    let is_qlora = word(arguments, "adapter").is_some_and(|(word, _)| word == "qlora");
    if four || bits || is_qlora {
        let detail = "the frozen weights are quantized, which no knob says: they are taken in the \
                      precision of the run, and the peak of memory is a ceiling";
        draft.assume(Some(KnobId::lora_rank), detail);
    }
    let named = [
        "load-in-4bit",
        "load-in-8bit",
        "quantization-bit",
        "quant-bits",
        "quantization-method",
        "quant-method",
    ];
    arguments.retain(|argument| {
        let is_read = named.contains(&argument.name.as_str());
        if is_read {
            draft.ignore(&argument.name, argument.line, "the frozen weights' precision");
        }
        !is_read
    });
}

/// Sequences are taken as full; those of preferences are two, and of answers prompt and answer.
fn lengths(arguments: &mut Vec<Argument>, draft: &mut Draft) {
    let answer = "max-completion-length";
    let is_group = word(arguments, "rlhf-type").is_some_and(|(kind, _)| kind == "grpo");
    // ms-swift's length of GRPO is the prompt's.
    let prompt = if is_group { "max-length" } else { "max-prompt-length" };
    if let (Some(asked), Some(answered)) = (number(arguments, prompt), number(arguments, answer)) {
        let line = find(arguments, prompt).map_or(0, |argument| argument.line);
        let tokens = asked.saturating_add(answered);
        arguments.retain(|argument| argument.name != "max-length");
        push(arguments, "seq-length", &tokens.to_string(), line);
    }
    let is_packed = ["packing", "sample-packing", "neat-packing", "packing-samples"];
    if !is_packed.iter().any(|name| is_on(arguments, name)) {
        draft.assume(
            Some(KnobId::seq_length),
            "sequences aren't packed: each is taken as long as may be",
        );
    }
    let kinds = ["dpo", "kto", "orpo", "simpo", "cpo", "rm", "ppo"];
    let named = ["stage", "rlhf-type", "rl"].iter().find_map(|name| word(arguments, name));
    if let Some((kind, _)) = named.filter(|(kind, _)| kinds.contains(&kind.as_str())) {
        let detail = format!(
            "{kind}: a step is taken as one of pre-training over its sequences; the second answer \
             of a pair and the reference model aren't counted"
        );
        draft.assume(None, detail);
    }
    arguments.retain(|argument| {
        let is_read = matches!(argument.name.as_str(), "rlhf-type" | "rl" | "stage");
        if is_read {
            draft.ignore(&argument.name, argument.line, "what the loss is made of");
        }
        !is_read
    });
}

fn is_narrow(optimizer: &str) -> bool {
    ["8bit", "4bit"].iter().any(|bits| optimizer.contains(bits))
}

/// Moments of few bits.
fn states(arguments: &[Argument], draft: &mut Draft) {
    let named = ["optim", "optimizer"].iter().find_map(|name| word(arguments, name));
    if let Some((optimizer, _)) = named.filter(|(name, _)| is_narrow(name)) {
        let detail = format!(
            "{optimizer}: its states have 8 bits or 4, here 32: the peak of memory is a ceiling"
        );
        draft.assume(Some(KnobId::optimizer), detail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_s_name_says_its_stage_or_nothing() {
        for (name, stage) in [
            ("examples/deepspeed/ds_z3_config.json", Some("3")),
            ("zero2_offload.json", Some("2")),
            ("zero3", Some("3")),
            ("deepspeed_zero_1.yaml", Some("1")),
            ("ds_config_stage2.json", Some("2")),
            ("ds_config.json", None),
            ("zebra.json", None),
            ("z", None),
        ] {
            assert_eq!(stage_of(name), stage, "{name}");
        }
    }
}
