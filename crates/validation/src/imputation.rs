//! What is assumed where a row leaves something open: one table, by family of framework.
//!
//! A row of the table is never about one run or model; it looks at what runs themselves say, or
//! their source says of all of them ([`Facts`]). Its answer goes into the run's `assumed`.

use model::ground::choice::Software;

use crate::phrase;
use crate::runs::{Run, is_ascend};

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

/// Setting that a row can leave open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// Sequences of a micro-batch.
    MicroBatchSize,
    /// TP and PP, where all is sharded by data parallelism.
    ModelParallel,
    /// CP.
    ContextParallel,
    /// Algorithm by which attention sees the whole sequence, with CP.
    ContextAlgorithm,
    /// VPP, with a pipeline.
    VirtualPipeline,
    /// SP, with TP.
    SequenceParallel,
    /// State that data-parallel ranks shard.
    Sharding,
    /// Number format.
    Precision,
    /// FP8's scaling.
    Fp8Scaling,
    /// Activations that are recomputed.
    Recompute,
    /// Gradients reduced and parameters gathered beside compute.
    DataParallelOverlap,
    /// TP collectives in pieces beside their matrix product, with SP.
    TensorParallelOverlap,
    /// Sends between stages beside compute, with VPP.
    PipelineOverlap,
    /// A TP-th of what passes between stages from each TP rank, without SP.
    PipelineScatter,
    /// Dispatcher of tokens to their experts.
    Dispatcher,
    /// The experts' exchange beside another micro-batch's compute.
    ExpertOverlap,
    /// Fused attention.
    FlashAttention,
    /// Generation of flash attention.
    AttentionVersion,
    /// A host that waits for each kernel.
    LaunchBlocking,
    /// Number format of accumulated and reduced gradients.
    GradientDtype,
    /// Dropout behind attention and MLP, and of the scores.
    Dropout,
    /// The loss as one kernel.
    LossFusion,
    /// Weight gradients of experts added into the accumulated ones by the grouped product.
    GroupedAccumulation,
    /// Permutation of tokens as one kernel.
    PermuteFusion,
    /// Load of the experts: the distribution of tokens over them.
    ExpertLoad,
    /// Linear layers that have adapters.
    LoraTargets,
    /// Lengths of documents that are packed into a sequence.
    DocumentLengths,
    /// The state of the software.
    Software,
}

/// Facts of a run that the table looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// The family of frameworks.
    pub(crate) family: Family,
    /// The container's release as year and month, 2608 for 26.08.
    pub(crate) release: Option<u32>,
    /// NVLink reaches beyond a node: GB200 and GB300.
    pub(crate) is_rack_scale: bool,
    /// A part of NVIDIA's of 2024 or later: B200 and its kin.
    pub(crate) is_blackwell: bool,
    /// The row names DeepEP or HybridEP.
    pub(crate) names_flex: bool,
    /// One of Megatron's collections of recipes for MoE models.
    pub(crate) is_moe_recipe: bool,
    /// A recipe of NeMo or Megatron-Bridge, or a submission to MLPerf made with them.
    pub(crate) is_recipe: bool,
    /// Activations and gradients are in FP16.
    pub(crate) is_fp16: bool,
    /// It trained with llm-foundry.
    pub(crate) is_foundry: bool,
    /// It trained with MaxText.
    pub(crate) is_maxtext: bool,
    /// It trained with NeMo Automodel.
    pub(crate) is_automodel: bool,
    /// Adapters of low rank alone are trained.
    pub(crate) is_lora: bool,
    /// It trained with torchtitan on NPUs.
    pub(crate) is_titan_npu: bool,
    /// DeepSpeed's engine around Megatron-LM.
    pub(crate) is_deepspeed: bool,
    /// A framework beside Megatron that has neither its interleaved schedule nor the overlap of its
    /// tensor parallelism: DeepSpeed, GPT-NeoX, Colossal-AI, nanotron's pipelines.
    pub(crate) is_plain: bool,
    /// MindFormers on MindSpore.
    pub(crate) is_mindformers: bool,
    /// It ran only with launches that block.
    pub(crate) blocks_launches: bool,
    /// The row says that no token is dropped.
    pub(crate) drops_nothing: bool,
    /// The row says that tokens went where the router sent them, not evenly by force.
    pub(crate) routes_naturally: bool,
    /// The state of the software that its source is of.
    pub(crate) software: Software,
}

impl Facts {
    /// A recipe of September 2025 or before, when those that drop no tokens were DeepEP's with the
    /// overlap of two micro-batches.
    ///
    /// Source: Megatron-Bridge, `scripts/performance/configs/deepseek/deepseek_v3_llm_pretrain.py`.
    fn is_early_dropless_recipe(&self) -> bool {
        let early = self.release.is_some_and(|found| found <= 2_509);
        self.is_recipe && self.drops_nothing && early
    }

    /// A recipe that overlaps the experts' exchange unless it says otherwise: DeepEP's and
    /// HybridEP's on Blackwell, and those of Megatron's MoE collections on racks.
    ///
    /// Source: Megatron-MoE-ModelZoo, `best_practice`.
    fn is_overlapped_recipe(&self) -> bool {
        self.is_blackwell && self.names_flex || self.is_moe_recipe && self.is_rack_scale
    }

    /// A rack-scale machine with a container of this release or a later one.
    fn is_rack_since(&self, release: u32) -> bool {
        self.is_rack_scale && self.release.is_some_and(|found| found >= release)
    }
}

/// Item left open, condition of the entry, assumed value, and the words that say so.
type Entry = (Item, fn(&Facts) -> bool, &'static str, &'static str);

fn always(_: &Facts) -> bool {
    true
}

fn early(facts: &Facts) -> bool {
    facts.family == Family::EarlyMegatron
}

fn megatron(facts: &Facts) -> bool {
    facts.family == Family::Megatron
}

fn fsdp(facts: &Facts) -> bool {
    facts.family == Family::Fsdp
}

/// Values are spelled as the knobs spell them; the first entry for an item counts whose condition
/// holds.
#[rustfmt::skip]
static TABLE: &[Entry] = &[
    // Whoever tunes a run fills the memory with it; the value is where the search begins.
    (Item::MicroBatchSize, always, "1",
        "the largest micro-batch that fits, of those that the batch allows"),
    (Item::ModelParallel, fsdp, "1", "no TP and PP under full sharding"),
    (Item::ContextParallel, always, "1", "no context parallelism"),
    (Item::ContextAlgorithm, fsdp, "allgather", "CP gathers keys and values"),
    (Item::ContextAlgorithm, always, "p2p", "CP as a ring"),
    // Submissions and performance recipes interleave; two layers in a chunk is their usual size.
    (Item::VirtualPipeline, |facts| megatron(facts) && !facts.is_plain, "2 layers",
        "VPP with chunks of 2 layers"),
    (Item::VirtualPipeline, always, "1", "no virtual stages"),
    // Sequence parallelism came with Korthikanti et al., May 2022.
    (Item::SequenceParallel, early, "false", "no sequence parallelism"),
    (Item::SequenceParallel, always, "true", "sequence parallelism with TP"),
    (Item::Sharding, early, "no_shard", "no sharded optimizer"),
    (Item::Sharding, fsdp, "optim_grads_params", "full sharding"),
    (Item::Sharding, always, "optim", "optimizer states sharded (ZeRO-1)"),
    (Item::Precision, early, "fp16", "fp16"),
    (Item::Precision, always, "bf16", "bf16"),
    // Recipes of Transformer Engine use delayed scaling unless they say otherwise.
    (Item::Fp8Scaling, fsdp, "fp8_tensorwise", "FP8 with a scale per tensor"),
    (Item::Fp8Scaling, always, "fp8_delayed", "FP8 with delayed scaling"),
    // `activation_checkpointing: true` in `llm_finetune/*_peft_benchmark*.yaml`.
    (Item::Recompute, |facts| facts.is_automodel && facts.is_lora, "full",
        "activation checkpointing, as in Automodel's benchmarks of LoRA"),
    (Item::Recompute, always, "none", "no recomputation"),
    (Item::DataParallelOverlap, early, "false", "gradients reduced after the backward"),
    (Item::DataParallelOverlap, always, "true",
        "gradient reduction and parameter gathering overlapped"),
    (Item::TensorParallelOverlap, |facts| megatron(facts) && !facts.is_plain, "true",
        "TP overlapped (user buffers)"),
    // MindSpeed's scripts turn MC2 on one by one; their tables name it where it is.
    (Item::TensorParallelOverlap, always, "false", "TP not overlapped"),
    (Item::PipelineOverlap, early, "false", "sends not overlapped"),
    (Item::PipelineOverlap, always, "true", "sends between stages overlapped"),
    // Megatron-LM's default of 2021 to 2023, DeepSpeed's `PartitionedTensor`; Megatron-Core has it
    // no more.
    (Item::PipelineScatter, early, "true", "each TP rank sends its share between stages"),
    (Item::PipelineScatter, always, "false", "each TP rank sends all between stages"),
    // Megatron-Bridge's recipes for GB200 and GB300: HybridEP from 26.02 on, overlap from 26.06 on.
    (Item::Dispatcher, |facts| facts.is_rack_since(2_602), "flex", "HybridEP dispatcher"),
    (Item::Dispatcher, Facts::is_early_dropless_recipe, "flex", "DeepEP dispatcher"),
    (Item::Dispatcher, |facts| facts.is_moe_recipe && facts.is_rack_scale, "flex",
        "HybridEP dispatcher"),
    (Item::Dispatcher, always, "alltoall", "all-to-all dispatcher"),
    (Item::ExpertOverlap, |facts| facts.is_rack_since(2_606), "true",
        "EP overlapped, with delayed weight gradients"),
    (Item::ExpertOverlap, Facts::is_early_dropless_recipe, "true",
        "EP overlapped, with delayed weight gradients"),
    (Item::ExpertOverlap, Facts::is_overlapped_recipe, "true",
        "EP overlapped, with delayed weight gradients"),
    (Item::ExpertOverlap, always, "false", "EP not overlapped"),
    // Their performance recipes set `grad_reduce_in_fp32` to false.
    (Item::GradientDtype, |facts| facts.family == Family::Megatron && facts.is_recipe, "bf16",
        "gradients accumulated and reduced in bf16, as NeMo's performance recipes do"),
    // Megatron-LM's `accumulate_allreduce_grads_in_fp32` comes with bf16 alone; DeepSpeed likewise:
    // "fp16 which grad accumulates in fp16" (BigScience, `chronicles-prequel.md`).
    (Item::GradientDtype, |facts| early(facts) && facts.is_fp16, "fp16",
        "gradients accumulated in fp16"),
    (Item::GradientDtype, always, "fp32", "gradients in fp32"),
    // Megatron-LM's `--hidden-dropout` and `--attention-dropout`; BLOOM's scripts have them too.
    (Item::Dropout, early, "0.1", "dropout of 0.1, Megatron-LM's default"),
    (Item::Dropout, always, "0", "no dropout"),
    // They set `cross_entropy_loss_fusion` too.
    (Item::LossFusion, |facts| facts.family == Family::Megatron && facts.is_recipe, "true",
        "fused loss, as NeMo's performance recipes have it"),
    // PyTorch's `scaled_dot_product_attention` and llm-foundry's `attn_impl: flash`: torchtitan
    // asks for cuDNN's first since 2025 (`attention.py`). MaxText's `cudnn_flash_te` is cuDNN's.
    (Item::AttentionVersion, |facts| fsdp(facts) && !facts.is_maxtext, "2",
        "attention by FlashAttention-2, as PyTorch ran it until 2025"),
    (Item::AttentionVersion, always, "none", "attention by the kernel written for the family"),
    // llm-foundry's `loss_fn` is `fused_crossentropy` by default.
    (Item::LossFusion, |facts| facts.is_foundry, "true", "fused loss, llm-foundry's default"),
    (Item::LossFusion, always, "false", "loss in several kernels"),
    // MindSpeed-LLM's scripts of DeepSeek-V3 and Qwen3-30B-A3B (`examples/mcore`) have
    // `--gemm-gradient-accumulation-fusion` and no `--moe-permute-fusion`.
    (Item::GroupedAccumulation, always, "true",
        "grouped products add into the gradients, as in MindSpeed's scripts"),
    // Its kernels for NPUs have `npu_moe_token_permute`.
    (Item::PermuteFusion, |facts| facts.is_titan_npu, "true",
        "permutation in one kernel, as in torchtitan-npu"),
    (Item::PermuteFusion, always, "false",
        "permutation in several kernels, as in MindSpeed's scripts"),
    // Tables are of routing balanced by force unless they say otherwise.
    (Item::ExpertLoad, |facts| facts.routes_naturally, "skewed",
        "natural routing as generated loads of the default skew"),
    (Item::ExpertLoad, always, "uniform", "every expert gets the same"),
    // Megatron-Bridge's `perf_recipes/llama` and NeMo's launcher (`conf/peft`, `attention_qkv`) for
    // rows of performance; PEFT, ms-swift and Automodel (`match_all_linear`) take all.
    (Item::LoraTargets, |facts| facts.is_recipe && facts.family == Family::Megatron, "linear_qkv",
        "adapters beside queries, keys and values alone, as NeMo's performance recipes have them"),
    // They pack SQuAD. Their own FLOPs of LoRA leave 117 tokens (Llama 3) to 172 (Llama 2) that a
    // token sees: 26.7 GFLOP at 25,206 tokens/s and 278.9 at 6,206, less 2/3 of the matrices.
    (Item::DocumentLengths, |facts| {
        facts.is_recipe && facts.is_lora && facts.family == Family::Megatron
    }, "150:1", "SQuAD's sequences, packed, 150 tokens each, by the source's own FLOPs"),
    (Item::DocumentLengths, always, "none", "every sequence one document"),
    (Item::LoraTargets, always, "all", "adapters beside every linear layer"),
    (Item::LaunchBlocking, |facts| facts.blocks_launches, "true",
        "CUDA_LAUNCH_BLOCKING=1: without it this cluster hung"),
    (Item::LaunchBlocking, always, "false", "launches run ahead"),
    // A source is of a release or a year; what doesn't say which is taken to be of today.
    (Item::Software, |facts| facts.software == Software::Ascend202411, "ascend-2024-11",
        "software of November 2024"),
    (Item::Software, |facts| facts.software == Software::Ascend202505, "ascend-2025-05",
        "software of May 2025"),
    (Item::Software, |facts| facts.software == Software::Ascend202506, "ascend-2025-06",
        "software of June 2025"),
    (Item::Software, |facts| facts.family == Family::Mindspeed, "ascend-2026",
        "software of 2026"),
    (Item::Software, always, "calibrated", "software as calibrated"),
    (Item::FlashAttention, early, "false", "attention before FlashAttention"),
    (Item::FlashAttention, always, "true", "FlashAttention"),
];

/// Assumed value of this item, and the words that say so.
pub(crate) fn impute(item: Item, facts: &Facts) -> (&'static str, &'static str) {
    let entry = TABLE.iter().find(|(of, when, ..)| *of == item && when(facts));
    entry.map_or(("", "nothing"), |(_, _, value, words)| (value, words))
}

/// Whether a row's assumptions contain an answer for this item.
pub(crate) fn is_among(item: Item, assumed: &[String]) -> bool {
    let mut answers = TABLE.iter().filter(|entry| entry.0 == item).map(|entry| entry.3);
    answers.any(|words| assumed.iter().any(|known| known == words))
}

/// Facts of a run for the table.
pub(crate) fn facts(run: &Run) -> Facts {
    let hardware = run.hardware.to_lowercase();
    let source = run.source.to_lowercase();
    let engine = format!("{source} {}", run.sharding.to_lowercase());
    let names = |words: &[&str]| words.iter().any(|word| source.contains(word));
    Facts {
        family: family(run),
        release: release(&run.locator),
        is_rack_scale: ["gb200", "gb300"].iter().any(|part| hardware.contains(part)),
        is_blackwell: ["b200", "b300"].iter().any(|part| hardware.contains(part)),
        names_flex: phrase::affirms(&run.overlap.to_lowercase(), &["hybridep", "deepep"]),
        is_moe_recipe: names(&["moe-modelzoo", "moe recipe", "moe_recipe", "moe/recipe"]),
        is_recipe: names(&["nemo", "bridge", "dgxc", "mlcommons"]),
        is_fp16: run.precision.to_lowercase().contains("fp16"),
        is_foundry: source.contains("llm-foundry"),
        is_maxtext: engine.contains("maxtext"),
        is_automodel: source.contains("automodel"),
        is_lora: run.model.to_lowercase().contains("lora"),
        is_titan_npu: source.contains("torchtitan-npu"),
        is_deepspeed: ["bigscience", "deepspeed"].iter().any(|word| engine.contains(word)),
        is_plain: !source.contains("megatron-deepspeed")
            && names(&["deepspeed", "neox", "colossal", "nanotron", "picotron", "internevo"]),
        is_mindformers: source.contains("mindformers"),
        // BigScience, `chronicles-prequel.md`, dealing with JZ hanging: from 320 GPUs on runs
        // always hung unless launches blocked.
        blocks_launches: source.contains("bigscience")
            && run.num_devices.is_some_and(|devices| devices >= 320),
        drops_nothing: phrase::affirms(&run.notes.to_lowercase(), &["dropless"]),
        routes_naturally: phrase::affirms(&run.notes.to_lowercase(), &["natural routing"]),
        software: software(run),
    }
}

/// Releases by the words of a source, with the state of the software that they are of: CANN 8.0
/// came with MindFormers 1.3 and MindSpeed-LLM 1.0, CANN 8.1 and 8.2 with those after them.
#[rustfmt::skip]
const RELEASES: &[(&str, Software)] = &[
    ("2505.04519", Software::Ascend202505),
    ("2504.07866", Software::Ascend202505),
    ("follow-up", Software::Ascend202506),
    ("mindspeed-llm 1.0", Software::Ascend202411),
    ("mindspeed-llm 2.0", Software::Ascend202505),
    ("mindformers r1.3", Software::Ascend202411),
    ("mindformers dev", Software::Ascend202411),
    ("mindformers r1.5", Software::Ascend202505),
    ("mindformers r1.6", Software::Ascend202505),
    ("telechat3", Software::Ascend202505),
    // DeepSpeed's and FlagPerf's measurements on A2 of 2024.
    ("flagperf", Software::Ascend202411),
];

/// The state of the software of a run on Ascend.
fn software(run: &Run) -> Software {
    if !is_ascend(&run.hardware) {
        return Software::Calibrated;
    }
    let source = format!("{} {}", run.source, run.locator).to_lowercase();
    let known = RELEASES.iter().find(|(words, _)| source.contains(words));
    known.map_or(Software::Ascend2026, |(_, state)| *state)
}

/// 2608 of `26.08 container`.
fn release(locator: &str) -> Option<u32> {
    let before = locator.split_once(" container")?.0;
    let (rest, month) = before.rsplit_once('.')?;
    // A third number is a patch: `26.04.01`.
    let (year, month) = rest.rsplit_once('.').map_or((rest, month), |(year, month)| (year, month));
    let year: u32 = year.parse().ok().filter(|year| (20..=99).contains(year))?;
    let month: u32 = month.parse().ok().filter(|month| (1..=12).contains(month))?;
    Some(100 * year + month)
}

/// The family of a run.
fn family(run: &Run) -> Family {
    if is_ascend(&run.hardware) {
        return Family::Mindspeed;
    }
    let sharding = run.sharding.to_lowercase();
    let source = format!("{} {}", run.source, run.overlap).to_lowercase();
    // Megatron has an FSDP of its own.
    let megatron = ["megatron", "bridge", "parallel folding"].iter().any(|w| source.contains(w));
    if phrase::affirms(&sharding, &["fsdp", "hsdp"]) && !megatron {
        return Family::Fsdp;
    }
    let sharders =
        ["torchtitan", "llm-foundry", "maxtext", "tpu-recipes", "fms-fsdp", "levanter", "axlearn"];
    if sharders.iter().any(|word| source.contains(word)) {
        return Family::Fsdp;
    }
    if is_early(run) { Family::EarlyMegatron } else { Family::Megatron }
}

/// FP16 (or the FLOPs formula of 2021) on A100: whoever trained so did it before FlashAttention,
/// or with a code base of that time; so did whoever published before it, whatever the format.
fn is_early(run: &Run) -> bool {
    let precision = run.precision.to_lowercase();
    let formula = run.flops_convention.to_lowercase().contains("96bslh");
    let of_then =
        run.hardware.to_lowercase().contains("a100") && (precision.contains("fp16") || formula);
    of_then || published(run).is_some_and(|month| month < FLASH_ATTENTION)
}

/// Year and month of FlashAttention, arXiv 2205.14135.
const FLASH_ATTENTION: (u32, u32) = (2022, 5);

/// Year and month in which a run was published, at the latest, by what its row says: a date of its
/// own, the number of a preprint, or a year.
fn published(run: &Run) -> Option<(u32, u32)> {
    let notes = run.notes.to_lowercase();
    let dated = notes.split_once("date ").and_then(|(_, rest)| year_month(rest));
    let source = format!("{} {}", run.source, run.locator).to_lowercase();
    dated.or_else(|| preprint(&source)).or_else(|| year(&source))
}

/// `2021-12` at the start of a text.
fn year_month(text: &str) -> Option<(u32, u32)> {
    let (year, rest) = text.split_at_checked(4)?;
    let month = rest.strip_prefix('-')?.get(..2)?;
    let (year, month) = (year.parse().ok()?, month.parse().ok()?);
    ((2_015..=2_030).contains(&year) && (1..=12).contains(&month)).then_some((year, month))
}

/// 2021 and April of `arXiv 2104.04473`.
fn preprint(text: &str) -> Option<(u32, u32)> {
    let (_, rest) = text.split_once("arxiv")?;
    let digits = rest.trim_start_matches([' ', ':', '.']);
    let (number, rest) = digits.split_at_checked(4)?;
    let number: u32 = number.parse().ok().filter(|_| rest.starts_with('.'))?;
    let (year, month) = (2_000 + number / 100, number % 100);
    (1..=12).contains(&month).then_some((year, month))
}

/// The year that a text names, `SC21` or `(2021)`; its end, as the month isn't given.
fn year(text: &str) -> Option<(u32, u32)> {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.find_map(|word| {
        let year = word.strip_prefix("sc").filter(|rest| rest.len() == 2).map_or_else(
            || word.parse::<u32>().ok(),
            |short| short.parse::<u32>().ok().map(|short| 2_000 + short),
        )?;
        (2_015..=2_030).contains(&year).then_some((year, 12))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAMILIES: [Family; 4] =
        [Family::EarlyMegatron, Family::Megatron, Family::Fsdp, Family::Mindspeed];

    #[test]
    fn every_item_has_an_answer_for_every_family() {
        for (item, ..) in TABLE.iter().filter(|entry| entry.0 != Item::ModelParallel) {
            for family in FAMILIES {
                let facts = Facts { family, ..facts(&Run::default()) };
                assert_ne!(impute(*item, &facts).0, "", "{item:?} {family:?}");
            }
        }
    }

    #[test]
    fn early_recipes_that_drop_nothing_are_deep_ep_s_with_overlap() {
        let run = |locator: &str, notes: &str| Run {
            hardware: "DGX-B200".to_owned(),
            source: "NVIDIA-NeMo/Megatron-Bridge".to_owned(),
            locator: locator.to_owned(),
            notes: notes.to_owned(),
            ..Run::default()
        };
        for (locator, notes, dispatcher, overlap) in [
            ("25.09 container", "MoE force-balanced; dropless", "flex", "true"),
            ("25.09 container", "MoE force-balanced; tokendrop", "alltoall", "false"),
            ("25.11 container", "MoE force-balanced; dropless", "alltoall", "false"),
        ] {
            let facts = facts(&run(locator, notes));
            assert_eq!(impute(Item::Dispatcher, &facts).0, dispatcher, "{locator} {notes}");
            assert_eq!(impute(Item::ExpertOverlap, &facts).0, overlap, "{locator} {notes}");
        }
    }

    #[test]
    fn bloom_s_large_runs_block_launches() {
        for (source, devices, blocks) in [
            ("bigscience-workshop/bigscience", 384, "true"),
            ("bigscience-workshop/bigscience", 80, "false"),
            ("NVIDIA/Megatron-LM", 384, "false"),
        ] {
            let run =
                Run { source: source.to_owned(), num_devices: Some(devices), ..Run::default() };
            assert_eq!(impute(Item::LaunchBlocking, &facts(&run)).0, blocks, "{source} {devices}");
        }
    }

    #[test]
    fn recipes_for_experts_overlap_on_blackwell_unless_they_say_otherwise() {
        let run = |hardware: &str, overlap: &str, source: &str| Run {
            hardware: hardware.to_owned(),
            overlap: overlap.to_owned(),
            source: source.to_owned(),
            ..Run::default()
        };
        let zoo = "yanring/Megatron-MoE-ModelZoo";
        for (run, dispatcher, overlap) in [
            (run("GB200", "", zoo), "flex", "true"),
            (run("H100", "", zoo), "alltoall", "false"),
            (run("B200", "DeepEP", ""), "alltoall", "true"),
            (run("H100", "DeepEP", ""), "alltoall", "false"),
            (run("GB200", "all-to-all, no DeepEP", ""), "alltoall", "false"),
        ] {
            let facts = facts(&run);
            assert_eq!(impute(Item::Dispatcher, &facts).0, dispatcher, "{run:?}");
            assert_eq!(impute(Item::ExpertOverlap, &facts).0, overlap, "{run:?}");
        }
    }

    #[test]
    fn what_was_published_before_flash_attention_has_none() {
        for (source, notes, early) in [
            ("Narayanan et al., arXiv 2104.04473 (SC21)", "", true),
            ("SC21 paper, table 2", "", true),
            ("arXiv:2205.05198", "", false),
            ("bigscience", "date 2022-01-12; x", true),
            ("bigscience", "date 2022-07-01; x", false),
            ("arXiv 2401.10241", "", false),
            ("NVIDIA-NeMo/Megatron-Bridge docs, 2048 GPUs", "", false),
        ] {
            let run = Run {
                source: source.to_owned(),
                notes: notes.to_owned(),
                precision: "BF16".to_owned(),
                hardware: "A100-80G".to_owned(),
                ..Run::default()
            };
            let facts = facts(&run);
            assert_eq!(facts.family == Family::EarlyMegatron, early, "{source} {notes}");
            assert_eq!(impute(Item::FlashAttention, &facts).0 == "false", early, "{source}");
        }
    }

    #[test]
    fn a_release_is_a_year_and_a_month() {
        assert_eq!(release("26.08 container, pretrain, line 52"), Some(2_608));
        assert_eq!(release("26.04.01 container, pretrain"), Some(2_604));
        for locator in ["table", "container", "9.99 container", "v26.08 container"] {
            assert_eq!(release(locator), None, "{locator}");
        }
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
