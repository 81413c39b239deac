//! What to check before a run: what a file leaves to whoever starts it, and what tells in its first
//! steps that it is the run that was meant.

use model::design::Design;
use model::ground::choice::{CudaGraph, Optimizer, Precision, ShardingStrategy};
use model::rules::cautions;

use super::reading::{self, Reading};
use super::{Target, groups, start};
use crate::flags;

/// The checks for a file, a sentence each.
pub(super) fn sentences(target: Target, design: &Design, reading: &Reading) -> Vec<String> {
    let mut checks = vec![];
    let extra = groups::extra(design);
    let has = |name: &str| extra.iter().any(|word| word.name == name);
    if matches!(target, Target::Megatron | Target::Mindspeed) {
        let paths = extra.iter().filter(|word| word.values.iter().any(|value| value.contains('/')));
        let names: Vec<String> = paths.map(|word| format!("--{}", word.name)).collect();
        if !names.is_empty() {
            checks.push(format!("The paths of {} are as they were imported.", names.join(", ")));
        }
        checks.push(vocabulary(target, design));
        let is_odd = |word: &&groups::Word| flags::find(&word.name).is_none();
        let odd: Vec<String> =
            extra.iter().filter(is_odd).map(|word| format!("--{}", word.name)).collect();
        if !odd.is_empty() {
            let odd = odd.join(", ");
            checks.push(format!("Handed on as imported, and not known here: {odd}."));
        }
        if !has("lr-warmup-iters") && !has("lr-warmup-samples") && !has("lr-warmup-fraction") {
            checks.push("The learning rate has no warm-up unless you add one.".to_owned());
        }
        checks.extend(router(design, &has));
    } else {
        let what = "Data, tokenizer, learning rate and checkpoints are yours to add.";
        checks.push(what.to_owned());
    }
    checks.extend(versions(target, design));
    checks.extend(cautions(design).map(|(rule, why)| {
        let quote = rule.assertion().map_or("", |assertion| assertion.quote);
        format!("As released, the framework refuses this: {why} (\"{quote}\").")
    }));
    let other: Vec<String> =
        reading.file.iter().filter(|_| reading.differs()).map(margin).collect();
    match reading.design.filter(|_| other.is_empty()) {
        Some(figures) => checks.push(margin(&figures)),
        None => checks.extend(other),
    }
    if let Some(figures) = reading.file.or(reading.design) {
        let each = figures.tokens_per_second / design.cluster.num_devices.max(1) as f64;
        checks.push(format!(
            "From the tenth step on expect {} a step, {each:.0} tokens a second on each device; \
             another time means another run than this one.",
            reading::seconds(figures.step_seconds)
        ));
    }
    checks
}

fn margin(figures: &reading::Figures) -> String {
    let left = figures.limit_bytes - figures.peak_bytes;
    let peak = reading::gib(figures.peak_bytes);
    if left < 0.0 {
        format!("The fullest device lacks {} beside {peak}.", reading::gib(-left))
    } else {
        format!("The fullest device takes {peak} and has {} to spare.", reading::gib(left))
    }
}

/// Check of the tokenizer's size: with one at hand frameworks count its entries and pad them.
fn vocabulary(target: Target, design: &Design) -> String {
    let size = design.transformer.vocab_size;
    if target == Target::Mindspeed {
        return format!("The tokenizer has at most {size} entries, the padded vocabulary.");
    }
    let tp = design.parallel.tensor_model_parallel_size;
    format!(
        "The log's padded vocabulary is {size}: the tokenizer's entries, up to a multiple of TP \
         ({tp}) times make-vocab-size-divisible-by."
    )
}

/// Check of the router, whose scores and balancing a config.json or script gives and a design may
/// not.
fn router(design: &Design, has: &dyn Fn(&str) -> bool) -> Option<String> {
    let is_silent = design.transformer.has_experts()
        && !has("moe-router-score-function")
        && !has("moe-aux-loss-coeff");
    is_silent.then(|| {
        "How the router scores and what balances it isn't part of the design: see the model's \
         config.json (score function, bias, scaling, auxiliary coefficient)."
            .to_owned()
    })
}

/// Releases that the arguments need.
fn versions(target: Target, d: &Design) -> Vec<String> {
    let mut needs: Vec<(&str, bool)> = vec![];
    let t = &d.transformer;
    let p = &d.parallel;
    match target {
        Target::Megatron => {
            let narrow = groups::is_narrow(d.training.precision);
            let is_fsdp = matches!(
                p.data_parallel_sharding_strategy,
                ShardingStrategy::OptimGrads | ShardingStrategy::OptimGradsParams
            );
            needs.extend([
                (
                    "Megatron-Core 0.14 for overlap-moe-expert-parallel-comm",
                    d.schedule.overlap_moe_expert_parallel_comm,
                ),
                (
                    "Megatron-Core 0.13 for pipeline-model-parallel-layout",
                    p.pipeline_model_parallel_layout.is_some() || t.mtp_num_layers > 0,
                ),
                ("Megatron-Core 0.16 for offloading", d.memory.cpu_offloading_num_layers > 0),
                ("Megatron-Core 0.16 for fine-grained offloading", start::offloads(d)),
                (
                    "Megatron-Core 0.16 for TP above the key-value heads",
                    t.num_query_groups.is_some_and(|heads| heads < p.tensor_model_parallel_size),
                ),
                ("Transformer Engine for this precision", narrow),
                ("Transformer Engine 2.7 for NVFP4", d.training.precision == Precision::Nvfp4),
                ("Megatron-FSDP's checkpoints (fsdp_dtensor)", is_fsdp),
                (
                    "the package emerging-optimizers for Muon",
                    d.training.optimizer == Optimizer::Muon,
                ),
                (
                    "Transformer Engine 2.1 for permutation as one kernel",
                    d.kernel.moe_permute_fusion && t.has_experts(),
                ),
                (
                    "cuda-graph-modules for what a graph replays",
                    d.kernel.cuda_graph_impl != CudaGraph::None,
                ),
            ]);
        }
        Target::Mindspeed => {
            needs.extend([
                ("MindSpeed-LLM with Megatron-Core 0.12.1 beside it", true),
                ("CANN's set_env.sh sourced in this shell", true),
                (
                    "CANN 8.3 for permutation as one kernel",
                    d.kernel.moe_permute_fusion && t.has_experts(),
                ),
            ]);
        }
        Target::Torchtitan => needs.push(("torchtitan 0.2.2: later ones have no TOML", true)),
        Target::Bridge | Target::Mindformers | Target::Deepspeed | Target::Accelerate => {}
    }
    let needs: Vec<&str> = needs.into_iter().filter(|need| need.1).map(|need| need.0).collect();
    if needs.is_empty() { vec![] } else { vec![format!("It needs {}.", needs.join("; "))] }
}
