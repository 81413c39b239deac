//! Frameworks that train by reinforcement: what their trainer does, beside what generates.

use crate::arguments::Argument;
use crate::draft::Draft;

use super::Dialect;
use super::To::{Argument as Is, Choice, Nothing};
use super::words::{PRECISION, RECOMPUTE, RESHARD};

/// verl's trainer for fine-tuning, whose engine is FSDP by default.
pub(super) const VERL_SFT: &str = "verl's fine-tuning";

pub(super) const VERL: &str = "verl";
pub(super) const NEMO_RL: &str = "NeMo-RL";

/// A framework whose trainer is PyTorch's FSDP, unless it is told to be Megatron.
pub(super) struct Sharded {
    /// Name that people use for it with this trainer.
    pub(super) title: &'static str,
    /// The dialect that it is of.
    of: &'static str,
    /// Settings that it has by default.
    pub(super) defaults: &'static [(&'static str, &'static str)],
}

/// Sources: verl, `trainer/config/engine/fsdp.yaml`, `trainer/config/model/hf_model.yaml` and
/// `workers/fsdp_workers.py`; NeMo-RL, `models/policy/workers/dtensor_policy_worker.py`.
pub(super) const SHARDED: [Sharded; 3] = [
    Sharded {
        title: "verl with FSDP",
        of: VERL,
        defaults: &[
            ("data-parallel-sharding-strategy", "optim_grads_params"),
            ("bf16", ""),
            ("micro-batch-size", "1"),
            ("mtp-num-layers", "0"),
            ("recompute-granularity", "full"),
            ("moe-token-dispatcher-type", "alltoall"),
            ("overlap-grad-reduce", ""),
        ],
    },
    Sharded {
        title: "verl's fine-tuning with FSDP",
        of: VERL_SFT,
        defaults: &[
            ("data-parallel-sharding-strategy", "optim_grads_params"),
            ("bf16", ""),
            ("recompute-granularity", "full"),
            ("use-flash-attn", ""),
            ("mtp-num-layers", "0"),
            ("overlap-grad-reduce", ""),
            ("global-batch-size", "256"),
            ("micro-batch-size", "4"),
            ("seq-length", "1024"),
            ("context-parallel-algo", "ulysses_cp_algo"),
        ],
    },
    Sharded {
        title: "NeMo-RL with DTensor",
        of: NEMO_RL,
        defaults: &[
            ("data-parallel-sharding-strategy", "optim_grads_params"),
            ("bf16", ""),
            ("micro-batch-size", "1"),
            ("mtp-num-layers", "0"),
            ("moe-token-dispatcher-type", "alltoall"),
            ("overlap-grad-reduce", ""),
        ],
    },
];

/// FSDP form of a framework; `None` if its arguments say that Megatron trains.
pub(super) fn sharded(title: &str, arguments: &[Argument]) -> Option<&'static Sharded> {
    let sharded = SHARDED.iter().find(|sharded| sharded.of == title)?;
    (!is_megatron(title, arguments)).then_some(sharded)
}

fn is_megatron(title: &str, arguments: &[Argument]) -> bool {
    let is_true = |argument: &Argument| {
        argument.values.first().is_some_and(|word| word.eq_ignore_ascii_case("true"))
    };
    if title == NEMO_RL {
        let told = |name: &str| arguments.iter().rev().find(|it| it.name.ends_with(name));
        let has = |section: &str| arguments.iter().any(|it| it.name.contains(section));
        // What a recipe extends may say it; then the only section is that of what runs.
        return match (told("megatron-cfg.enabled"), told("dtensor-cfg.enabled")) {
            (Some(megatron), _) => is_true(megatron),
            (None, Some(other)) => !is_true(other),
            (None, None) => has("megatron-cfg.") && !has("dtensor-cfg."),
        };
    }
    if title == VERL_SFT {
        // Only one engine cuts layers and stages.
        let cuts = ["engine.tensor-model", "engine.pipeline-model", "engine.expert-model"];
        let is_engine = |it: &Argument| {
            it.name == "engine" && it.values.first().is_some_and(|word| word == "megatron")
        };
        let has = |it: &Argument| cuts.iter().any(|name| it.name.starts_with(name));
        return arguments.iter().any(|it| is_engine(it) || has(it));
    }
    arguments.iter().any(|argument| {
        let name = argument.name.as_str();
        let chooses =
            matches!(name, "model-engine" | "config-name") || name.ends_with("actor.strategy");
        let names_it = || argument.values.first().is_some_and(|word| word.contains("megatron"));
        name.contains("actor.megatron.") || (chooses && names_it())
    })
}

/// Source: verl, `update_actor` of `workers/megatron_workers.py` and `fsdp_workers.py`: weights and
/// states are loaded before it and offloaded behind it.
const BETWEEN_PHASES: &str = "between phases: it is on the device while the actor trains";

/// Every dialect.
#[rustfmt::skip]
pub(super) static DIALECTS: &[Dialect] = &[
    // verl. Source: verl/trainer/config/actor of volcengine/verl.
    Dialect {
        title: VERL,
        markers: &[&["actor_rollout_ref"]],
        strict: true,
        rows: &[
            ("actor-rollout-ref.model.path", Is("model")),
            ("trainer.experiment-name", Is("run-name")),
            ("trainer.nnodes", Is("nnodes")), ("trainer.n-gpus-per-node", Is("nproc-per-node")),
            ("actor.ppo-micro-batch-size-per-gpu", Is("micro-batch-size")),
            ("actor.ppo-mini-batch-size", Is("global-batch-size")),
            ("actor.use-torch-compile", Nothing("a fused kernel that isn't told apart")),
            ("actor.megatron.tensor-model-parallel-size", Is("tensor-model-parallel-size")),
            ("actor.megatron.pipeline-model-parallel-size", Is("pipeline-model-parallel-size")),
            ("actor.megatron.virtual-pipeline-model-parallel-size",
                Is("virtual-pipeline-model-parallel-size")),
            ("actor.megatron.context-parallel-size", Is("context-parallel-size")),
            ("actor.megatron.expert-model-parallel-size", Is("expert-model-parallel-size")),
            ("actor.megatron.expert-tensor-parallel-size", Is("expert-tensor-parallel-size")),
            ("actor.megatron.sequence-parallel", Is("sequence-parallel")),
            ("actor.megatron.optimizer-offload", Nothing(BETWEEN_PHASES)),
            ("actor.megatron.param-offload", Nothing(BETWEEN_PHASES)),
            ("actor.megatron.grad-offload", Nothing(BETWEEN_PHASES)),
            ("actor.fsdp-config.optimizer-offload", Nothing(BETWEEN_PHASES)),
            ("actor.fsdp-config.param-offload", Nothing(BETWEEN_PHASES)),
            ("override-optimizer-config.optimizer-cpu-offload", Is("optimizer-cpu-offload")),
            ("override-optimizer-config.optimizer-offload-fraction",
                Is("optimizer-offload-fraction")),
            ("actor.fsdp-config.fsdp-size", Nothing("read with the number of devices")),
            ("actor.fsdp-config.reshard-after-forward", Choice(RESHARD)),
            ("actor.fsdp-config.offload-policy", Is("optimizer-cpu-offload")),
            ("actor.fsdp-config.forward-prefetch", Is("overlap-param-gather")),
            ("actor.fsdp-config.ulysses-sequence-parallel-size", Is("context-parallel-size")),
            ("actor.fsdp-config.model-dtype", Nothing("what weights are loaded as")),
            ("actor.strategy", Nothing("read: it says what shards the actor")),
            ("model-engine", Nothing("read: it says what shards the actor")),
            ("config-name", Nothing("read: it says what shards the actor")),
            ("config-path", Nothing("where the configuration is")),
            ("actor.ulysses-sequence-parallel-size", Is("context-parallel-size")),
            ("actor-rollout-ref.model.enable-gradient-checkpointing", Choice(&[
                ("true", "recompute-granularity", "full"), ("false", "", "nothing is recomputed"),
            ])),
            ("seq-length", Is("seq-length")), ("bf16", Is("bf16")),
            ("use-distributed-optimizer", Is("use-distributed-optimizer")),
        ],
        defaults: &[
            ("use-distributed-optimizer", ""), ("bf16", ""), ("moe-grouped-gemm", ""),
            ("moe-token-dispatcher-type", "alltoall"), ("micro-batch-size", "1"),
        ],
    },
    // verl's fine-tuning. Source: verl/trainer/config/sft_trainer.yaml, sft_trainer_engine.yaml and
    // engine/*.yaml of volcengine/verl.
    Dialect {
        title: VERL_SFT,
        markers: &[&["verl.trainer.fsdp_sft_trainer"], &["verl.trainer.sft_trainer"],
            &["model.partial_pretrain"]],
        strict: true,
        rows: &[
            ("model.partial-pretrain", Is("model")), ("model.path", Is("model")),
            ("trainer.experiment-name", Is("run-name")),
            ("trainer.nnodes", Is("nnodes")), ("trainer.n-gpus-per-node", Is("nproc-per-node")),
            ("data.train-batch-size", Is("global-batch-size")),
            ("data.micro-batch-size", Is("micro-batch-size")),
            ("data.micro-batch-size-per-gpu", Is("micro-batch-size")),
            ("data.max-length", Is("seq-length")),
            ("data.max-token-len-per-gpu", Nothing("micro-batches are packed up to it")),
            ("engine", Nothing("read: it says what shards the model")),
            ("optim", Nothing("how the model learns, not how long a step takes")),
            ("use-remove-padding", Nothing("sequences are taken as packed")),
            ("ulysses-sequence-parallel-size", Is("context-parallel-size")),
            ("engine.ulysses-sequence-parallel-size", Is("context-parallel-size")),
            ("engine.tensor-model-parallel-size", Is("tensor-model-parallel-size")),
            ("engine.pipeline-model-parallel-size", Is("pipeline-model-parallel-size")),
            ("engine.virtual-pipeline-model-parallel-size",
                Is("virtual-pipeline-model-parallel-size")),
            ("engine.context-parallel-size", Is("context-parallel-size")),
            ("engine.expert-model-parallel-size", Is("expert-model-parallel-size")),
            ("model.lora-rank", Is("lora-rank")),
            ("model.target-modules", Is("lora-target-modules")),
            ("model.fsdp-config.model-dtype", Nothing("weights that are kept in 32 bits")),
            ("model.enable-gradient-checkpointing", Choice(&[
                ("true", "recompute-granularity", "full"), ("false", "", "nothing is recomputed"),
            ])),
        ],
        defaults: &[
            ("use-distributed-optimizer", ""), ("bf16", ""), ("moe-grouped-gemm", ""),
            ("moe-token-dispatcher-type", "alltoall"), ("global-batch-size", "256"),
            ("micro-batch-size", "4"), ("seq-length", "1024"),
        ],
    },
    // NeMo-RL. Source: examples/configs and nemo_rl/models/policy of NVIDIA-NeMo/RL.
    Dialect {
        title: NEMO_RL,
        markers: &[&["megatron_cfg"], &["dtensor_cfg"]],
        strict: true,
        rows: &[
            ("policy.model-name", Is("model")),
            ("defaults", Nothing("the file that it extends: read, where it is given, too")),
            ("policy.tokenizer.name", Nothing("the model's own")),
            ("policy.train-global-batch-size", Is("global-batch-size")),
            ("policy.train-micro-batch-size", Is("micro-batch-size")),
            ("policy.max-total-sequence-length", Is("seq-length")),
            ("policy.precision", Choice(PRECISION)),
            ("cluster.num-nodes", Is("nnodes")), ("cluster.gpus-per-node", Is("nproc-per-node")),
            ("megatron-cfg.enabled", Nothing("read: it says what trains")),
            ("dtensor-cfg.enabled", Nothing("read: it says what trains")),
            ("megatron-cfg.activation-checkpointing", Choice(RECOMPUTE)),
            ("dtensor-cfg.activation-checkpointing", Choice(RECOMPUTE)),
            ("dtensor-cfg.tensor-parallel-size", Is("tensor-model-parallel-size")),
            ("dtensor-cfg.context-parallel-size", Is("context-parallel-size")),
            ("dtensor-cfg.expert-parallel-size", Is("expert-model-parallel-size")),
            ("dtensor-cfg.sequence-parallel", Is("sequence-parallel")),
            ("dtensor-cfg.cpu-offload", Is("optimizer-cpu-offload")),
            ("megatron-cfg.optimizer.optimizer", Is("optimizer")),
            ("megatron-cfg.optimizer.use-distributed-optimizer", Is("use-distributed-optimizer")),
            ("megatron-cfg.optimizer.optimizer-cpu-offload", Is("optimizer-cpu-offload")),
            ("megatron-cfg.optimizer.optimizer-offload-fraction",
                Is("optimizer-offload-fraction")),
            ("distributed-data-parallel-config.overlap-grad-reduce", Is("overlap-grad-reduce")),
            ("distributed-data-parallel-config.overlap-param-gather", Is("overlap-param-gather")),
        ],
        defaults: &[
            ("use-distributed-optimizer", ""), ("bf16", ""), ("moe-grouped-gemm", ""),
            ("moe-token-dispatcher-type", "alltoall"), ("expert-tensor-parallel-size", "1"),
            ("micro-batch-size", "1"),
        ],
    },
    // slime. Source: slime/utils/arguments.py of THUDM/slime.
    Dialect {
        title: "slime",
        markers: &[&["--hf-checkpoint"], &["--rollout-batch-size"]],
        strict: false,
        rows: &[
            ("hf-checkpoint", Is("model")), ("ref-load", Is("load")),
            ("actor-num-nodes", Is("nnodes")),
            ("actor-num-gpus-per-node", Is("nproc-per-node")),
            ("use-gated-attention", Is("attention-output-gate")),
            ("rollout-max-response-len", Nothing("answers, which the micro-batches are cut of")),
        ],
        defaults: &[("bf16", ""), ("use-distributed-optimizer", ""), ("micro-batch-size", "1")],
    },
];

/// Arguments that make another one together: a batch of prompts, each answered several times, and a
/// sequence of prompt and answer.
pub(super) fn together(
    dialect: Option<&Dialect>,
    mut arguments: Vec<Argument>,
    draft: &mut Draft,
) -> Vec<Argument> {
    match dialect.map(|dialect| dialect.title) {
        Some(VERL) => verl(&mut arguments, draft),
        Some(NEMO_RL) => nemo_rl(&mut arguments, draft),
        Some("slime") => slime(&mut arguments, draft),
        _ => {}
    }
    arguments
}

fn number(arguments: &[Argument], name: &str) -> Option<u64> {
    let found = arguments.iter().rev().find(|argument| argument.name == name)?;
    found.values.first()?.parse().ok()
}

fn add(arguments: &mut Vec<Argument>, name: &str, value: u64, of: &str) {
    let line = arguments.iter().find(|own| own.name == of).map_or(0, |own| own.line);
    let values = vec![value.to_string()];
    arguments.push(Argument { name: name.to_owned(), values, line });
}

fn verl(arguments: &mut Vec<Argument>, draft: &mut Draft) {
    let (prompt, answer) = ("data.max-prompt-length", "data.max-response-length");
    if let (Some(asked), Some(answered)) = (number(arguments, prompt), number(arguments, answer)) {
        let tokens = asked.saturating_add(answered);
        add(arguments, "seq-length", tokens, prompt);
        draft.assume(None, format!("each sequence is as long as may be: {tokens} tokens"));
    }
    let batch = "actor-rollout-ref.actor.ppo-mini-batch-size";
    let each = number(arguments, "actor-rollout-ref.rollout.n").unwrap_or(1).max(1);
    if let Some(prompts) = number(arguments, batch) {
        let detail = format!("a step is {prompts} prompts with {each} answers each");
        arguments.iter_mut().filter(|argument| argument.name == batch).for_each(|argument| {
            argument.values = vec![prompts.saturating_mul(each).to_string()];
        });
        draft.assume(None, detail);
    }
    if is_megatron(VERL, arguments) {
        verl_with_megatron(arguments);
    } else {
        verl_with_fsdp(arguments);
    }
}

/// TP splits experts, too, by default.
///
/// Sources: verl, `trainer/config/engine/megatron.yaml`, where the size is null; Megatron-Core,
/// `parallel_state.py:initialize_model_parallel`.
fn verl_with_megatron(arguments: &mut Vec<Argument>) {
    let all = "actor-rollout-ref.actor.megatron.tensor-model-parallel-size";
    let own = "actor.megatron.expert-tensor-parallel-size";
    let is_told = |it: &Argument| {
        it.name.ends_with(own) && it.values.first().is_none_or(|word| word != "null")
    };
    if let Some(ranks) = number(arguments, all).filter(|_| !arguments.iter().any(is_told)) {
        arguments.retain(|it| !it.name.ends_with(own));
        add(arguments, "expert-tensor-parallel-size", ranks, all);
    }
}

/// One of two trainers runs; the sections of the other say nothing.
fn nemo_rl(arguments: &mut Vec<Argument>, draft: &mut Draft) {
    let off = if is_megatron(NEMO_RL, arguments) { "dtensor-cfg." } else { "megatron-cfg." };
    arguments.retain(|argument| {
        let is_off = argument.name.contains(off);
        if is_off {
            draft.ignore(&argument.name, argument.line, "of the trainer that doesn't run");
        }
        !is_off
    });
}

/// FSDP over a part of the devices copies the model; Ulysses' all-to-all splits sequences.
fn verl_with_fsdp(arguments: &mut Vec<Argument>) {
    let part = number(arguments, "actor-rollout-ref.actor.fsdp-config.fsdp-size");
    let nodes = number(arguments, "trainer.nnodes").unwrap_or(1);
    let each = number(arguments, "trainer.n-gpus-per-node");
    let devices = each.map(|each| each.saturating_mul(nodes));
    if let (Some(part), Some(devices)) = (part.filter(|part| *part > 0), devices)
        && part < devices
        && devices.is_multiple_of(part)
    {
        let of = "actor-rollout-ref.actor.fsdp-config.fsdp-size";
        add(arguments, "num-distributed-optimizer-instances", devices / part, of);
    }
    let is_ulysses = |it: &&Argument| it.name.ends_with("ulysses-sequence-parallel-size");
    if let Some(line) = arguments.iter().find(is_ulysses).map(|it| it.line) {
        let values = vec!["ulysses_cp_algo".to_owned()];
        arguments.push(Argument { name: "context-parallel-algo".to_owned(), values, line });
    }
}

fn slime(arguments: &mut Vec<Argument>, draft: &mut Draft) {
    if let Some(most) = number(arguments, "max-tokens-per-gpu") {
        // A micro-batch is packed with that many tokens for each rank of CP.
        let ranks = number(arguments, "context-parallel-size").unwrap_or(1).max(1);
        let tokens = most.saturating_mul(ranks);
        if number(arguments, "seq-length").is_none() {
            add(arguments, "seq-length", tokens, "max-tokens-per-gpu");
            draft.assume(None, format!("a micro-batch is packed to {tokens} tokens"));
        }
    }
    if number(arguments, "global-batch-size").is_none() {
        let prompts = number(arguments, "rollout-batch-size");
        let each = number(arguments, "n-samples-per-prompt").unwrap_or(1);
        let steps = number(arguments, "num-steps-per-rollout").unwrap_or(1).max(1);
        if let Some(prompts) = prompts {
            let batch = (prompts.saturating_mul(each) / steps).max(1);
            add(arguments, "global-batch-size", batch, "rollout-batch-size");
            draft.assume(
                None,
                format!("a step is {prompts} prompts with {each} answers each, in {steps} parts"),
            );
        }
    }
}
