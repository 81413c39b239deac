//! Frameworks that train by reinforcement: what their trainer does, beside what generates.

use crate::arguments::Argument;
use crate::draft::Draft;

use super::Dialect;
use super::To::{Argument as Is, Choice, Nothing};

/// Source: verl, `update_actor` of `workers/megatron_workers.py` and `fsdp_workers.py`: weights and
/// states are loaded before it and offloaded behind it.
const BETWEEN_PHASES: &str = "between phases: it is on the device while the actor trains";

/// Every dialect.
#[rustfmt::skip]
pub(super) static DIALECTS: &[Dialect] = &[
    // verl. Source: verl/trainer/config/actor of volcengine/verl.
    Dialect {
        title: "verl",
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
            ("actor.fsdp-config.fsdp-size", Is("data-parallel-size")),
            ("actor.ulysses-sequence-parallel-size", Is("context-parallel-size")),
            ("actor-rollout-ref.model.enable-gradient-checkpointing", Choice(&[
                ("true", "recompute-granularity", "full"), ("false", "", "nothing is recomputed"),
            ])),
            ("actor.megatron.override-transformer-config.num-layers-in-first-pipeline-stage",
                Is("decoder-first-pipeline-num-layers")),
            ("actor.megatron.override-transformer-config.num-layers-in-last-pipeline-stage",
                Is("decoder-last-pipeline-num-layers")),
            ("actor.megatron.override-transformer-config.recompute-method",
                Is("recompute-method")),
            ("actor.megatron.override-transformer-config.recompute-granularity",
                Is("recompute-granularity")),
            ("actor.megatron.override-transformer-config.recompute-num-layers",
                Is("recompute-num-layers")),
            ("actor.megatron.override-transformer-config.recompute-modules",
                Is("recompute-modules")),
            ("actor.megatron.override-transformer-config.attention-backend",
                Is("attention-backend")),
            ("actor.megatron.override-transformer-config.moe-permute-fusion",
                Is("moe-permute-fusion")),
            ("actor.megatron.override-transformer-config.moe-enable-deepep",
                Is("moe-enable-deepep")),
            ("seq-length", Is("seq-length")), ("bf16", Is("bf16")),
            ("use-distributed-optimizer", Is("use-distributed-optimizer")),
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
        Some("verl") => verl(&mut arguments, draft),
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
}

fn slime(arguments: &mut Vec<Argument>, draft: &mut Draft) {
    if let Some(most) = number(arguments, "max-tokens-per-gpu") {
        // A micro-batch is packed with so many tokens for each rank of CP.
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
