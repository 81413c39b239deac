//! What rules ask of a design: its sizes, and parts that it hasn't.

use alloc::format;

use super::rule::{Words, indivisible, say};
use crate::catalogue::calibration::{AMPERE, BLACKWELL, HOPPER};
use crate::design::{Design, KnobId};
use crate::ground::choice::{
    AttentionVariant, Choice, ContextParallelAlgo, CrossEntropyFusion, Framework,
    LengthDistribution, LoraModule, RecomputeModule,
};
use crate::schedule::{Fault, Form, Grid, Sizes};

pub(super) fn has_experts(d: &Design) -> bool {
    d.transformer.has_experts()
}

pub(super) fn has_documents(d: &Design) -> bool {
    d.training.length_distribution != LengthDistribution::None
}

pub(super) fn tp(d: &Design) -> u64 {
    d.parallel.tensor_model_parallel_size
}

pub(super) fn pp(d: &Design) -> u64 {
    d.parallel.pipeline_model_parallel_size
}

pub(super) fn vpp(d: &Design) -> u64 {
    d.parallel.virtual_pipeline_model_parallel_size
}

pub(super) fn cp(d: &Design) -> u64 {
    d.parallel.context_parallel_size
}

/// DP, where the world size divides; `None` where that rule is broken already.
pub(super) fn dp(d: &Design) -> Option<u64> {
    let model = tp(d) * pp(d) * cp(d);
    d.cluster.num_devices.is_multiple_of(model).then(|| d.cluster.num_devices / model)
}

/// m, where the batch divides.
pub(super) fn micro_batches(d: &Design) -> Option<u64> {
    let per_step = dp(d)? * d.training.micro_batch_size;
    let batch = d.training.global_batch_size;
    batch.is_multiple_of(per_step).then(|| batch / per_step)
}

pub(super) fn query_groups(d: &Design) -> u64 {
    let transformer = &d.transformer;
    transformer.num_query_groups.unwrap_or(transformer.num_attention_heads)
}

pub(super) fn overlaps_pairs(d: &Design) -> bool {
    d.schedule.overlap_moe_expert_parallel_comm || Form::of(d.schedule.method).runs_pairs
}

/// The knobs that aren't offered yet.
const NOT_OFFERED: [KnobId; 2] = [KnobId::host_binding, KnobId::data_loader_offload];

/// The first of them that isn't at its neutral value.
pub(super) fn not_offered<W: Words>(d: &Design) -> Option<W> {
    let neutral = Design::neutral(d.preset);
    NOT_OFFERED.iter().find_map(|id| {
        let reason = id.knob().not_offered?;
        let value = neutral.get(*id);
        (d.get(*id) != value).then(|| say!("{} can only be {value} so far: {reason}", id.id()))
    })
}

/// The modules that this architecture doesn't have.
pub(super) fn absent_modules<W: Words>(d: &Design) -> Option<W> {
    let mla = d.transformer.multi_latent_attention;
    let shared = d.transformer.moe_shared_expert_intermediate_size.is_some();
    let absent = d.memory.recompute_modules.iter().find(|module| match module {
        RecomputeModule::MlaQkv | RecomputeModule::MlaKv | RecomputeModule::MlaUpProj => !mla,
        RecomputeModule::MoePermute | RecomputeModule::MoeAct | RecomputeModule::Moe => {
            !has_experts(d)
        }
        RecomputeModule::SharedExperts => !shared,
        RecomputeModule::CoreAttn | RecomputeModule::Layernorm | RecomputeModule::Mlp => false,
    })?;
    Some(say!("the model has no `{}` to recompute", absent.name()))
}

/// Adapters that would be beside nothing.
pub(super) fn idle_adapters<W: Words>(d: &Design) -> Option<W> {
    use LoraModule as M;
    d.training.lora_rank?;
    let transformer = &d.transformer;
    let mla = transformer.multi_latent_attention;
    let is_linear = transformer.experimental_attention_variant.is_linear()
        || transformer.hybrid_layer_pattern.is_some();
    let exists = |module: M| match module {
        M::LinearQkv => !mla,
        M::LinearQDownProj => mla && transformer.q_lora_rank.is_some(),
        M::LinearQUpProj | M::LinearKvDownProj | M::LinearKvUpProj => mla,
        M::InProj | M::OutProj => is_linear,
        M::ExpertsFc1 | M::ExpertsFc2 | M::Router => has_experts(d),
        M::LinearProj | M::LinearFc1 | M::LinearFc2 => true,
    };
    let targets = d.training.lora_target_modules;
    (!targets.iter().any(exists))
        .then(|| say!("the model has no layer of `{}` to adapt", targets.text()))
}

pub(super) fn grid(d: &Design) -> Grid {
    Grid { method: d.schedule.method, stages: pp(d), chunks: vpp(d) }
}

/// The sizes of the schedule, where the batch divides.
pub(super) fn sizes(d: &Design) -> Option<Sizes> {
    let group = d.schedule.microbatch_group_size_per_vp_stage;
    Some(Sizes { grid: grid(d), micro_batches: micro_batches(d)?, group })
}

/// A group that nothing uses is wrong whatever the batch.
pub(super) fn wrong_group(d: &Design) -> Option<Fault> {
    d.schedule.microbatch_group_size_per_vp_stage?;
    grid(d).unused_group().or_else(|| sizes(d)?.wrong_group())
}

pub(super) fn message<W: Words>(fault: Fault) -> W {
    W::say(|| fault.message)
}

pub(super) fn sequence_parts(d: &Design) -> u64 {
    // Causal load balancing gives each CP rank a piece from both ends of the sequence.
    let context = if cp(d) > 1 { 2 * cp(d) } else { 1 };
    context * if d.parallel.sequence_parallel { tp(d) } else { 1 }
}

/// Key and value heads that can't be shared out over the TP ranks.
///
/// Megatron-Core also has fewer of them than ranks, so many to each: one of both numbers is a
/// multiple of the other. An indexer's heads are those of the groups and stay whole, MindSpeed's
/// attention and the others divide the heads.
pub(super) fn shared_heads<W: Words>(d: &Design) -> Option<W> {
    if d.transformer.multi_latent_attention {
        return None;
    }
    let (groups, ranks) = (query_groups(d), tp(d));
    let framework = d.kernel.framework;
    let can_share = matches!(framework, Framework::Megatron | Framework::Ideal)
        && d.transformer.experimental_attention_variant != AttentionVariant::Msa;
    if can_share && ranks.is_multiple_of(groups.max(1)) {
        return None;
    }
    indivisible(groups, ranks, || {
        if can_share || !ranks.is_multiple_of(groups.max(1)) {
            say!("TP {ranks} doesn't divide {groups} query groups")
        } else {
            say!(
                "TP {ranks} is more than {groups} query groups, and {} has no rank share one",
                framework.name()
            )
        }
    })
}

/// Heads that Ulysses can't share out over its ranks.
///
/// MindSpeed repeats key and value heads for all heads of the queries where a TP rank has fewer of
/// them than exchange: then those of the queries are shared out.
pub(super) fn ulysses_heads<W: Words>(d: &Design) -> Option<W> {
    let ulysses = match d.parallel.context_parallel_algo {
        ContextParallelAlgo::A2a => cp(d),
        ContextParallelAlgo::Hybrid => crate::device::topology::ulysses_ranks(d),
        ContextParallelAlgo::P2p | ContextParallelAlgo::Allgather => return None,
    };
    let ranks = tp(d) * ulysses;
    let heads = d.transformer.num_attention_heads;
    let groups = if d.transformer.multi_latent_attention { heads } else { query_groups(d) };
    if d.kernel.framework == Framework::Mindspeed && groups < ranks {
        return indivisible(heads, ranks, || {
            say!("{heads} attention heads can't be split over {ranks} TP x CP ranks")
        });
    }
    indivisible(groups, ranks, || {
        say!("{groups} key and value heads can't be split over {ranks} TP x CP ranks")
    })
}

/// A generation of FlashAttention that isn't written for the accelerator: 2 is from Ampere on, 3
/// for Hopper, 4 for Hopper and Blackwell.
///
/// # Source
/// FlashAttention's README.
pub(super) fn attention_generation<W: Words>(d: &Design) -> Option<W> {
    let (version, row) = (d.kernel.flash_attention_version?, d.cluster.accelerator.row());
    let family = row.kernels.family;
    let is_written = match version {
        2 => [AMPERE.family, HOPPER.family, BLACKWELL.family].contains(&family),
        3 => family == HOPPER.family,
        _ => [HOPPER.family, BLACKWELL.family].contains(&family),
    };
    (!is_written).then(|| say!("there is no FlashAttention-{version} for {}", row.title))
}

/// Kernels of a fused loss where it isn't fused.
pub(super) fn loss_kernels<W: Words>(d: &Design) -> Option<W> {
    let kernels = d.memory.cross_entropy_fusion_impl;
    (kernels != CrossEntropyFusion::Native && !d.memory.cross_entropy_loss_fusion)
        .then(|| say!("the loss isn't fused, so that {} says nothing", kernels.name()))
}

/// Chunks of logits that aren't held, or of fewer tokens than chunks.
pub(super) fn loss_chunks<W: Words>(d: &Design) -> Option<W> {
    let chunks = d.memory.loss_chunks;
    if chunks > 1 && d.memory.cross_entropy_fusion_impl == CrossEntropyFusion::Linear {
        return Some(say!(
            "a loss that is one with the head holds no logits to cut into {chunks} chunks"
        ));
    }
    let tokens = d.training.seq_length * d.training.micro_batch_size / cp(d).max(1);
    (chunks > tokens).then(|| say!("{chunks} chunks of the loss are more than its {tokens} tokens"))
}
