//! What a launch script needs beside a design's own arguments so that it starts: environment,
//! paths, data, tokenizer, how processes find each other.
//!
//! Sources: NVIDIA/Megatron-LM `megatron/training/arguments.py` (`validate_args`) and
//! `megatron/core/tokenizers`; Ascend/MindSpeed-LLM `examples/mcore/*/pretrain_*.sh` and
//! `docs/zh/pytorch/features/mcore/environment_variable.md`.

use model::design::Design;
use model::ground::choice::{CudaGraph, ShardingStrategy, SwapModule};

use super::Launcher;
use super::groups::{self, Group, Word};
use crate::carried::{self, Piece};

/// A variable that whoever starts the script sets; the script stops where it is empty. Shells take
/// no single quote in what they say then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) name: &'static str,
    /// Meaning of its value.
    pub(super) meaning: &'static str,
}

const CHECKOUT: Variable =
    Variable { name: "CHECKOUT_PATH", meaning: "the checkout that pretrain_gpt.py is in" };
const DATA: Variable = Variable {
    name: "DATA_PATH",
    meaning: "the prefix of the tokenized data, or weights and prefixes",
};
const TOKENIZER: Variable =
    Variable { name: "TOKENIZER_PATH", meaning: "the folder of the tokenizer" };
const RATE: Variable = Variable { name: "LR", meaning: "the peak learning rate, such as 2e-4" };
const STEPS: Variable = Variable { name: "TRAIN_ITERS", meaning: "the number of steps" };
const SAVE: Variable = Variable { name: "SAVE_PATH", meaning: "a folder for checkpoints" };
const ADDRESS: Variable =
    Variable { name: "MASTER_ADDR", meaning: "the address of the first node, the same on all" };
const RANK: Variable = Variable {
    name: "NODE_RANK",
    meaning: "the number of this node, from 0; each node starts the script",
};

/// An argument that a script needs, the names that say it otherwise, and the variable behind it.
struct Needed {
    name: &'static str,
    otherwise: &'static [&'static str],
    variable: Option<Variable>,
    value: &'static str,
}

const fn asked(
    name: &'static str,
    otherwise: &'static [&'static str],
    variable: Variable,
    value: &'static str,
) -> Needed {
    Needed { name, otherwise, variable: Some(variable), value }
}

const fn usual(name: &'static str, value: &'static str) -> Needed {
    Needed { name, otherwise: &[], variable: None, value }
}

/// Arguments that name a tokenizer's files, beside those of its kind.
const TOKENIZERS: &[&str] = &["vocab-file", "tokenizer-model", "tokenizer-name-or-path"];

/// The data that a run reads, however it is said.
const SOURCES: &[&str] = &[
    "mock-data",
    "train-data-path",
    "data-args-path",
    "per-split-data-args-path",
    "valid-data-path",
];

/// Arguments that every run needs, in MindSpeed's words or Megatron's.
fn needed(mindspeed: bool) -> [Needed; 9] {
    let (kind, path) = if mindspeed {
        ("PretrainedFromHF", "tokenizer-name-or-path")
    } else {
        ("HuggingFaceTokenizer", "tokenizer-model")
    };
    [
        asked("data-path", SOURCES, DATA, "${DATA_PATH}"),
        usual("tokenizer-type", kind),
        asked(path, TOKENIZERS, TOKENIZER, "${TOKENIZER_PATH}"),
        asked("lr", &[], RATE, "${LR}"),
        asked("train-iters", &["train-samples"], STEPS, "${TRAIN_ITERS}"),
        asked("save", &[], SAVE, "${SAVE_PATH}"),
        usual("save-interval", "1000"),
        usual("log-interval", "1"),
        usual("log-throughput", ""),
    ]
}

/// The arguments that start a run beside the design's, and the variables that they take.
pub(super) fn run(mindspeed: bool, design: &Design) -> (Group, Vec<Variable>) {
    let mut group = Group::new("Data, tokenizer, learning and checkpoints", "RUN_ARGS");
    let mut variables = vec![CHECKOUT];
    let extra = groups::extra(design);
    let has = |name: &str| extra.iter().any(|word| word.name == name);
    // It counts, and reads no files.
    let is_null = extra.iter().any(|word| {
        word.name == "tokenizer-type" && word.values.iter().any(|kind| kind.starts_with("Null"))
    });
    for one in needed(mindspeed) {
        let is_file = one.variable == Some(TOKENIZER);
        if has(one.name) || one.otherwise.iter().any(|name| has(name)) || (is_file && is_null) {
            continue;
        }
        let values = if one.value.is_empty() { vec![] } else { vec![one.value.to_owned()] };
        group.arguments.push(Word { name: one.name.to_owned(), values });
        variables.extend(one.variable);
    }
    (group, variables)
}

/// Variables that imported arguments take, with the first that does.
pub(super) fn imported(design: &Design) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = vec![];
    for word in groups::extra(design) {
        let values = word.values.iter().filter_map(|value| carried::pieces(value)).flatten();
        for piece in values {
            if let Piece::Variable(name) = piece
                && found.iter().all(|(own, _)| own != name)
            {
                found.push((name.to_owned(), word.name.clone()));
            }
        }
    }
    found
}

/// Rendezvous of the processes: the launcher's further arguments, and the variables they take.
pub(super) fn rendezvous(
    launcher: Launcher,
    nodes: u64,
) -> (&'static [&'static str], Vec<Variable>) {
    match launcher {
        _ if nodes <= 1 => (&[], vec![]),
        Launcher::Torchrun => (
            &[
                "--node_rank \"$NODE_RANK\"",
                "--master_addr \"$MASTER_ADDR\"",
                "--master_port \"$MASTER_PORT\"",
            ],
            vec![ADDRESS, RANK],
        ),
        Launcher::Slurm => (
            &[
                "--rdzv_id \"$SLURM_JOB_ID\"",
                "--rdzv_backend c10d",
                "--rdzv_endpoint \"$MASTER_ADDR:$MASTER_PORT\"",
            ],
            vec![],
        ),
    }
}

/// Lines that set the environment, each with why where it isn't plain.
pub(super) fn environment(mindspeed: bool, d: &Design) -> Vec<String> {
    let mut lines = vec![];
    let mut set = |name: &str, value: &str| lines.push(format!("export {name}={value}"));
    if mindspeed {
        set("CUDA_DEVICE_MAX_CONNECTIONS", "1");
        set("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True");
        set("HCCL_CONNECT_TIMEOUT", "3600");
        set("HCCL_EXEC_TIMEOUT", "3600");
        if d.kernel.launch_blocking {
            set("ASCEND_LAUNCH_BLOCKING", "1");
        } else {
            set("TASK_QUEUE_ENABLE", "2");
        }
        if d.kernel.host_binding {
            set("CPU_AFFINITY_CONF", "1");
        }
        return lines;
    }
    connections(d, &mut lines);
    let mut set = |name: &str, value: &str| lines.push(format!("export {name}={value}"));
    set("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True");
    if d.kernel.cuda_graph_impl != CudaGraph::None {
        // Megatron asserts it beside expandable segments.
        set("NCCL_GRAPH_REGISTER", "0");
    }
    if offloads(d) {
        set("NVTE_CPU_OFFLOAD_V1", "1");
    }
    if d.kernel.launch_blocking {
        set("CUDA_LAUNCH_BLOCKING", "1");
    }
    lines
}

/// Whether Megatron parks activations on the host module by module.
pub(super) fn offloads(d: &Design) -> bool {
    [SwapModule::Activations, SwapModule::AttentionOutput]
        .into_iter()
        .any(|module| d.memory.swap_modules.has(module))
}

/// Sets the number of hardware queues (`CUDA_DEVICE_MAX_CONNECTIONS`): one lets TP and CP send in
/// the order that overlaps, and Megatron asserts it there up to Hopper; its FSDP refuses one, and
/// exchanges of experts that run beside other micro-batches want many.
fn connections(d: &Design, lines: &mut Vec<String>) {
    let p = &d.parallel;
    let is_fsdp = matches!(
        p.data_parallel_sharding_strategy,
        ShardingStrategy::OptimGrads | ShardingStrategy::OptimGradsParams
    );
    if is_fsdp {
        lines.push("unset CUDA_DEVICE_MAX_CONNECTIONS".to_owned());
    } else if d.schedule.overlap_moe_expert_parallel_comm {
        lines.push("export CUDA_DEVICE_MAX_CONNECTIONS=32".to_owned());
    } else if p.tensor_model_parallel_size > 1 || p.context_parallel_size > 1 {
        lines.push("export CUDA_DEVICE_MAX_CONNECTIONS=1".to_owned());
    }
}

/// The program that trains: models of sub-layers have one of their own.
pub(super) fn program(mindspeed: bool, d: &Design) -> &'static str {
    match (d.transformer.is_hybrid(), mindspeed) {
        (false, _) => "pretrain_gpt.py",
        (true, false) => "pretrain_hybrid.py",
        (true, true) => "pretrain_mamba.py",
    }
}
