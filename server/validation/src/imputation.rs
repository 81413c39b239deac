//! What is assumed where a row leaves something open: one table, by family of framework.
//!
//! A row of the table is never about one run, model or source. The first entry for an item and a
//! family counts; what it says stands in the run's `assumed`.

use crate::hardware;
use crate::runs::Run;

/// A family of frameworks, by what a row itself says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Megatron-LM with FP16 on A100, before FlashAttention (mid-2022).
    EarlyMegatron,
    /// Megatron-Core and what is built on it: NeMo, Megatron-Bridge, MLPerf submissions.
    Megatron,
    /// PyTorch FSDP and what behaves like it: torchtitan, llm-foundry, MaxText.
    Fsdp,
    /// MindSpeed and MindFormers on Ascend.
    Mindspeed,
}

/// What a row can leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// Sequences of a micro-batch.
    MicroBatchSize,
    /// TP and PP, where all is sharded by data parallelism.
    ModelParallel,
    /// CP.
    ContextParallel,
    /// How attention sees the whole sequence, with CP.
    ContextAlgorithm,
    /// VPP, with a pipeline.
    VirtualPipeline,
    /// SP, with TP.
    SequenceParallel,
    /// What data-parallel ranks share out.
    Sharding,
    /// Number format.
    Precision,
    /// FP8's scaling.
    Fp8Scaling,
    /// What is computed again.
    Recompute,
    /// Gradients reduced and parameters gathered beside compute.
    DataParallelOverlap,
    /// TP collectives in pieces beside their matrix product, with SP.
    TensorParallelOverlap,
    /// Sends between stages beside compute, with VPP.
    PipelineOverlap,
    /// How tokens reach their experts.
    Dispatcher,
    /// Fused attention.
    FlashAttention,
}

struct Entry {
    item: Item,
    families: &'static [Family],
    value: &'static str,
    words: &'static str,
}

const ALL: &[Family] = &[Family::EarlyMegatron, Family::Megatron, Family::Fsdp, Family::Mindspeed];

const fn entry(
    item: Item,
    families: &'static [Family],
    value: &'static str,
    words: &'static str,
) -> Entry {
    Entry { item, families, value, words }
}

/// Values are spelled as the knobs spell them.
static TABLE: &[Entry] = &[
    entry(Item::MicroBatchSize, ALL, "1", "micro-batch of 1"),
    entry(Item::ModelParallel, &[Family::Fsdp], "1", "no TP and PP under full sharding"),
    entry(Item::ContextParallel, ALL, "1", "no context parallelism"),
    entry(Item::ContextAlgorithm, &[Family::Fsdp], "allgather", "CP gathers keys and values"),
    entry(Item::ContextAlgorithm, ALL, "p2p", "CP as a ring"),
    // Submissions and performance recipes interleave; two layers in a chunk is their usual size.
    entry(Item::VirtualPipeline, &[Family::Megatron], "2 layers", "VPP with chunks of 2 layers"),
    entry(Item::VirtualPipeline, ALL, "1", "no virtual stages"),
    // Sequence parallelism came with Korthikanti et al., May 2022.
    entry(Item::SequenceParallel, &[Family::EarlyMegatron], "false", "no sequence parallelism"),
    entry(Item::SequenceParallel, ALL, "true", "sequence parallelism with TP"),
    entry(Item::Sharding, &[Family::EarlyMegatron], "no_shard", "no sharded optimizer"),
    entry(Item::Sharding, &[Family::Fsdp], "optim_grads_params", "full sharding"),
    entry(Item::Sharding, ALL, "optim", "optimizer states sharded (ZeRO-1)"),
    entry(Item::Precision, &[Family::EarlyMegatron], "fp16", "fp16"),
    entry(Item::Precision, ALL, "bf16", "bf16"),
    // Megatron-Bridge's and NeMo's recipes of 2024 and 2025 use delayed scaling unless they say so.
    entry(Item::Fp8Scaling, &[Family::Fsdp], "fp8_tensorwise", "FP8 with a scale per tensor"),
    entry(Item::Fp8Scaling, ALL, "fp8_delayed", "FP8 with delayed scaling"),
    entry(Item::Recompute, ALL, "none", "no recomputation"),
    entry(
        Item::DataParallelOverlap,
        &[Family::EarlyMegatron],
        "false",
        "gradients reduced after the backward",
    ),
    entry(
        Item::DataParallelOverlap,
        ALL,
        "true",
        "gradient reduction and parameter gathering overlapped",
    ),
    entry(Item::TensorParallelOverlap, &[Family::Megatron], "true", "TP overlapped (user buffers)"),
    entry(Item::TensorParallelOverlap, &[Family::Mindspeed], "true", "TP overlapped (MC2)"),
    entry(Item::TensorParallelOverlap, ALL, "false", "TP not overlapped"),
    entry(Item::PipelineOverlap, &[Family::EarlyMegatron], "false", "sends not overlapped"),
    entry(Item::PipelineOverlap, ALL, "true", "sends between stages overlapped"),
    entry(Item::Dispatcher, ALL, "alltoall", "all-to-all dispatcher"),
    entry(
        Item::FlashAttention,
        &[Family::EarlyMegatron],
        "false",
        "attention before FlashAttention",
    ),
    entry(Item::FlashAttention, ALL, "true", "FlashAttention"),
];

/// What is assumed of this item: its value, and the words that say so.
pub(crate) fn of(item: Item, family: Family) -> (&'static str, &'static str) {
    let entry = TABLE.iter().find(|entry| entry.item == item && entry.families.contains(&family));
    entry.map_or(("", "nothing"), |entry| (entry.value, entry.words))
}

/// The family of a run.
pub(crate) fn family(run: &Run) -> Family {
    if hardware::is_ascend(&run.hardware) {
        return Family::Mindspeed;
    }
    let sharding = run.sharding.to_lowercase();
    let source = format!("{} {}", run.source, run.overlap).to_lowercase();
    // Megatron has an FSDP of its own.
    let megatron = ["megatron", "bridge", "parallel folding"].iter().any(|w| source.contains(w));
    if sharding.contains("fsdp") && !megatron {
        return Family::Fsdp;
    }
    if ["torchtitan", "llm-foundry", "maxtext"].iter().any(|word| source.contains(word)) {
        return Family::Fsdp;
    }
    if is_early(run) { Family::EarlyMegatron } else { Family::Megatron }
}

/// FP16 (or the FLOPs formula of 2021) on A100: whoever trained so did it before FlashAttention,
/// or with a code base of that time.
fn is_early(run: &Run) -> bool {
    let precision = run.precision.to_lowercase();
    let formula = run.flops_convention.to_lowercase().contains("96bslh");
    run.hardware.to_lowercase().contains("a100") && (precision.contains("fp16") || formula)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_has_an_answer_for_every_family_that_can_ask() {
        for item in [
            Item::MicroBatchSize,
            Item::ContextParallel,
            Item::ContextAlgorithm,
            Item::VirtualPipeline,
            Item::SequenceParallel,
            Item::Sharding,
            Item::Precision,
            Item::Fp8Scaling,
            Item::Recompute,
            Item::DataParallelOverlap,
            Item::TensorParallelOverlap,
            Item::PipelineOverlap,
            Item::Dispatcher,
            Item::FlashAttention,
        ] {
            for family in ALL {
                assert_ne!(of(item, *family).0, "", "{item:?} {family:?}");
            }
        }
        assert_eq!(of(Item::ModelParallel, Family::Megatron).0, "");
    }

    #[test]
    fn the_row_itself_says_its_family() {
        let run = |hardware: &str, precision: &str, sharding: &str, source: &str| Run {
            hardware: hardware.to_owned(),
            precision: precision.to_owned(),
            sharding: sharding.to_owned(),
            source: source.to_owned(),
            ..Run::default()
        };
        let of = |run: Run| family(&run);
        assert_eq!(of(run("A100-80G", "FP16 mixed", "none", "")), Family::EarlyMegatron);
        assert_eq!(of(run("A100-80G", "BF16", "none", "")), Family::Megatron);
        assert_eq!(of(run("Atlas 800T A2", "FP16", "", "")), Family::Mindspeed);
        assert_eq!(of(run("H100", "BF16", "FSDP2", "pytorch/torchtitan")), Family::Fsdp);
        let bridge = "NVIDIA-NeMo/Megatron-Bridge";
        assert_eq!(of(run("DGX-H100", "FP8", "FSDP group 64", bridge)), Family::Megatron);
    }
}
