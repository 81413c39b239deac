//! What MindSpeed and MindSpeed-LLM refuse, beside what Megatron-Core 0.12.1 below them does.

use alloc::format;
use alloc::string::String;

use super::{Assertion, framework_rules, recomputes, runs_pairs, swaps};
use crate::design::{Design, KnobId, KnobSet};
use crate::ground::choice::{
    AuxLoss, Dispatcher, Framework, Method, Precision, RecomputeModule, ShardingStrategy,
    SwapModule,
};
use crate::ground::source::{MEGATRON, MINDSPEED, MINDSPEED_LLM};
use crate::rules::facts::{cp, has_experts, micro_batches, pp, tp, vpp};
use crate::rules::rule::{Checks, Rule, Words, say};

pub(super) const PAIRS: &str =
    "features_manager/moe/fb_overlap.py:MoEFwdBwdOverlapFeature.validate_args";
const DUALPIPEV: &str = "features_manager/pipeline_parallel/dualpipev_feature.py:validate_args";
const ARGUMENTS: &str = "arguments.py:validate_args (core 0.12.1)";
const PERMUTE: &str = "features_manager/moe/fused_moe_permute.py:validate_args";

fn is_dualpipev(d: &Design) -> bool {
    d.schedule.method == Method::DualPipeV
}

/// Does the schedule pair forwards with backwards in the order of interleaved chunks?
pub(super) fn is_fb_overlap(d: &Design) -> bool {
    runs_pairs(d) && !is_dualpipev(d)
}

/// Are TP collectives overlapped by mc2 for want of CoC? That takes neither FP8, which needs
/// Transformer Engine's layers, nor LoRA, but grouped experts and an overlapped exchange.
///
/// Sources: MindSpeed `transformer_engine_basic.py:validate_args` and `locl_coc.py`, MindSpeed-LLM
/// `features_manager/tensor_parallel/coc.py`; `pretrain_deepseek3_671b_4k_ptd.sh` has CoC beside
/// grouped experts.
fn is_overlapped_by_mc2(d: &Design) -> bool {
    let is_narrow =
        !matches!(d.training.precision, Precision::Bf16 | Precision::Fp16 | Precision::Fp32);
    d.schedule.tp_comm_overlap && (is_narrow || d.training.lora_rank.is_some())
}

framework_rules! {
    pairs_in_a_pipeline_have_chunks [Mindspeed]
        [virtual_pipeline_model_parallel_size, method, pipeline_model_parallel_size]
        MINDSPEED, PAIRS, "The fb overlap needs no pipeline, virtual pipeline or dualpipeV \
            schedules",
        |d| (is_fb_overlap(d) && pp(d) > 1 && vpp(d) == 1)
            .then(|| say!("pairs on {} stages need several chunks on each, VPP is 1", pp(d)));
    pairs_exchange_whole_experts [Mindspeed]
        [method, moe_token_dispatcher_type, expert_tensor_parallel_size,
         expert_model_parallel_size]
        + [num_moe_experts]
        MINDSPEED, PAIRS, "fb overlap only support expert-tensor-parallel-size=1 and \
            expert-model-parallel-size > 1",
        |d| (runs_pairs(d)
            && has_experts(d)
            && (d.schedule.moe_token_dispatcher_type != Dispatcher::Alltoall
                || d.parallel.expert_tensor_parallel_size > 1
                || d.parallel.expert_model_parallel_size == 1))
            .then(|| say!("pairs need the alltoall dispatcher, EP above 1 and ETP 1"));
    pairs_have_grouped_experts [Mindspeed] [moe_grouped_gemm, method] + [num_moe_experts]
        MINDSPEED, PAIRS, "moe_fb_overlap requires moe_grouped_gemm",
        |d| (runs_pairs(d) && has_experts(d) && !d.kernel.moe_grouped_gemm)
            .then(|| say!("pairs need grouped matrix products"));
    pairs_park_no_attention [Mindspeed] [swap_modules, method]
        MINDSPEED, PAIRS, "moe_fb_overlap and swap_attention are incompatible",
        |d| (runs_pairs(d) && swaps(d, SwapModule::AttentionOutput))
            .then(|| say!("pairs can't swap attention's output"));
    pairs_overlap_their_exchange_once [Mindspeed]
        [moe_alltoall_overlap_comm, method]
        MINDSPEED, PAIRS, "moe_fb_overlap and moe_alltoall_overlap_comm are incompatible",
        |d| (runs_pairs(d) && d.schedule.moe_alltoall_overlap_comm)
            .then(|| say!("pairs overlap their exchange already, the layer can't, too"));
    pairs_of_chunks_have_two_rounds [Mindspeed]
        [global_batch_size, micro_batch_size, pipeline_model_parallel_size, method]
        + [num_devices, tensor_model_parallel_size, context_parallel_size,
           virtual_pipeline_model_parallel_size]
        MINDSPEED, PAIRS, "In VPP schedule, fb_overlap needs global_batch_size // \
            (micro_batch_size * pipeline_model_parallel_size * data_parallel_size) > 1",
        |d| {
            let batches = micro_batches(d)?;
            (is_fb_overlap(d) && vpp(d) > 1 && batches < 2 * pp(d)).then(|| say!(
                "pairs of chunks need 2 PP = {} micro-batches, there are {batches}", 2 * pp(d)))
        };
    dualpipev_unties_embeddings [Mindspeed] [method, untie_embeddings_and_output_weights]
        MINDSPEED, DUALPIPEV, "The dualpipev requires untie_embeddings_and_output_weights",
        |d| (is_dualpipev(d) && !d.transformer.untie_embeddings_and_output_weights)
            .then(|| say!("DualPipeV needs an output layer of its own"));
    dualpipev_keeps_sequences_whole [Mindspeed] [context_parallel_size, method]
        MINDSPEED, DUALPIPEV, "The dualpipev and context_parallel are incompatible",
        |d| (is_dualpipev(d) && cp(d) > 1)
            .then(|| say!("DualPipeV takes no context parallelism, CP is {}", cp(d)));
    dualpipev_has_a_pipeline [Mindspeed] [pipeline_model_parallel_size, method]
        MINDSPEED, DUALPIPEV, "pipeline_model_parallel_size should be larger than 1",
        |d| (is_dualpipev(d) && pp(d) == 1).then(|| say!("DualPipeV needs a pipeline, PP is 1"));
    overlapped_tp_has_no_grouped_experts [Mindspeed]
        [tp_comm_overlap, moe_grouped_gemm, precision, lora_rank] + [num_moe_experts]
        MINDSPEED_LLM, "features_manager/transformer/transformer_block.py:validate_args",
        "Moe Grouped Gemm is not supported with mc2 in MOE model",
        |d| (is_overlapped_by_mc2(d) && has_experts(d) && d.kernel.moe_grouped_gemm).then(|| say!(
            "overlapped TP collectives in FP8 or beside LoRA (mc2) exclude grouped experts"));
    overlapped_tp_excludes_overlapped_exchange [Mindspeed]
        [tp_comm_overlap, moe_alltoall_overlap_comm, precision, lora_rank]
        MINDSPEED, "features_manager/moe/moe_alltoall_overlap.py:validate_args",
        "moe_alltoall_overlap_comm and use_ascend_mc2 are incompatible",
        |d| (is_overlapped_by_mc2(d) && d.schedule.moe_alltoall_overlap_comm).then(|| say!(
            "overlapped TP collectives in FP8 or beside LoRA (mc2) exclude the overlap of the \
             exchange"));
    overlapped_tp_in_fp8_is_mxfp8 [Mindspeed] [tp_comm_overlap, precision]
        MINDSPEED, "features_manager/transformer_engine/transformer_engine_basic.py:validate_args",
        "MC2 is supported only by the mxfp8 recipe in fp8",
        |d| (d.schedule.tp_comm_overlap
            && matches!(d.training.precision,
                Precision::Fp8Delayed | Precision::Fp8Tensorwise | Precision::Fp8Blockwise))
            .then(|| say!("overlapped TP collectives in FP8 need mxfp8"));
    overlapped_exchange_spreads_grouped_experts [Mindspeed]
        [moe_alltoall_overlap_comm, expert_model_parallel_size, moe_grouped_gemm]
        + [num_moe_experts]
        MINDSPEED, "features_manager/moe/moe_alltoall_overlap.py:validate_args",
        "only support with --expert-model-parallel-size > 1 and --moe-grouped-gemm",
        |d| (d.schedule.moe_alltoall_overlap_comm
            && has_experts(d)
            && (d.parallel.expert_model_parallel_size == 1 || !d.kernel.moe_grouped_gemm))
            .then(|| say!("the overlap in the layer needs EP above 1 and grouped products"));
    capacity_is_exchanged_one_by_one [Mindspeed]
        [moe_expert_capacity_factor, moe_token_dispatcher_type]
        MINDSPEED_LLM, "features_manager/moe/moe_router.py:validate_args",
        "moe_expert_capacity_factor not works with allgather token dispatcher",
        |d| (d.training.moe_expert_capacity_factor.is_some()
            && d.schedule.moe_token_dispatcher_type == Dispatcher::Allgather)
            .then(|| say!("a capacity factor needs the alltoall dispatcher"));
    capacity_is_balanced_near_by [Mindspeed] [aux_loss, moe_expert_capacity_factor]
        MINDSPEED_LLM, "features_manager/moe/moe_router.py:validate_args",
        "moe_expert_capacity_factor only works with aux_loss or none load balancing",
        |d| (d.training.moe_expert_capacity_factor.is_some()
            && d.routing.aux_loss == AuxLoss::DpGroup)
            .then(|| say!("a capacity factor excludes the auxiliary loss over data parallelism"));
    fused_permutation_pads_to_capacity [Mindspeed]
        [moe_permute_fusion, moe_expert_capacity_factor, moe_pad_expert_input_to_capacity]
        MINDSPEED, PERMUTE, "The --moe-permute-fusion can only be enabled if \
            --moe-expert-capacity-factor and --moe-pad-expert-input-to-capacity are enabled at \
            the same time",
        |d| (d.kernel.moe_permute_fusion
            && d.training.moe_expert_capacity_factor.is_some()
            && !d.training.moe_pad_expert_input_to_capacity)
            .then(|| say!("the fused permutation pads experts to their capacity, or has none"));
    fused_permutation_is_of_an_all_to_all [Mindspeed]
        [moe_permute_fusion, moe_token_dispatcher_type] + [num_moe_experts]
        MINDSPEED, PERMUTE, "Only alltoall and alltoall_seq dispatcher supports \
            --moe-permute-fusion",
        |d| (has_experts(d)
            && d.kernel.moe_permute_fusion
            && d.schedule.moe_token_dispatcher_type == Dispatcher::Allgather)
            .then(|| say!("the fused permutation needs the alltoall dispatcher"));
    shared_experts_overlap_an_all_to_all [Mindspeed]
        [moe_shared_expert_overlap, moe_token_dispatcher_type]
        MEGATRON, "transformer_config.py:TransformerConfig.__post_init__ (core 0.12.1)",
        "moe_shared_expert_overlap only works with alltoall token dispatcher",
        |d| (d.schedule.moe_shared_expert_overlap
            && d.schedule.moe_token_dispatcher_type != Dispatcher::Alltoall)
            .then(|| say!("shared-expert overlap needs the alltoall dispatcher"));
    grouped_experts_are_in_bf16 [Mindspeed] [precision, moe_grouped_gemm]
        + [num_moe_experts]
        MEGATRON, ARGUMENTS, "Currently GroupedGEMM for MoE only supports bf16 dtype",
        |d| (has_experts(d)
            && d.kernel.moe_grouped_gemm
            && matches!(d.training.precision, Precision::Fp16 | Precision::Fp32))
            .then(|| say!("grouped experts are in bf16, not {}",
                super::name(d.training.precision)));
    experts_are_not_spread_in_fp16 [Mindspeed] [precision, expert_model_parallel_size]
        MEGATRON, ARGUMENTS, "Expert parallelism is not supported with fp16 training",
        |d| (d.parallel.expert_model_parallel_size > 1
            && d.training.precision == Precision::Fp16)
            .then(|| say!("EP {} can't train in fp16", d.parallel.expert_model_parallel_size));
    fused_gradients_are_of_grouped_experts [Mindspeed] [gmm_add, moe_grouped_gemm]
        + [num_moe_experts]
        MINDSPEED, "features_manager/moe/gmm.py:validate_args",
        "--gemm-gradient-accumulation-fusion only support with --moe-grouped-gemm",
        |d| (has_experts(d) && d.kernel.gmm_add && !d.kernel.moe_grouped_gemm)
            .then(|| say!("GMMAdd needs grouped matrix products"));
    swapped_states_are_sharded [Mindspeed] [data_parallel_sharding_strategy, swap_modules]
        MINDSPEED, "features_manager/optimizer/swap_optimizer_feature.py:validate_args",
        "Swap-optimizer only support use_distributed_optimizer",
        |d| (swaps(d, SwapModule::Optimizer)
            && d.parallel.data_parallel_sharding_strategy == ShardingStrategy::NoShard)
            .then(|| say!("swapped optimizer states need the distributed optimizer"));
    swapped_states_are_not_reused [Mindspeed] [reuse_fp32_param, swap_modules]
        MINDSPEED, "features_manager/optimizer/swap_optimizer_feature.py:validate_args",
        "swap_optimizer and reuse_fp32_param are incompatible",
        |d| (swaps(d, SwapModule::Optimizer) && d.memory.reuse_fp32_param)
            .then(|| say!("swapped optimizer states exclude the reuse of fp32 parameters"));
    adapters_park_no_attention [Mindspeed] [swap_modules, lora_rank]
        MINDSPEED_LLM, "features_manager/memory/swap_attention.py:validate_args",
        "swap attention is not compatible with LoRA",
        |d| (swaps(d, SwapModule::AttentionOutput) && d.training.lora_rank.is_some())
            .then(|| say!("LoRA can't swap attention's output"));
    windows_are_not_cut [Mindspeed] [context_parallel_size, window_size] + [seq_length]
        MINDSPEED_LLM, "features_manager/context_parallel/context_parallel_feature.py",
        "Context parallel does not support sliding_windows",
        |d| {
            let window = d.transformer.window_size?;
            (cp(d) > 1 && d.training.seq_length > window)
                .then(|| say!("windows of {window} tokens need whole sequences, CP is {}", cp(d)))
        };
    recomputed_up_projections_are_whole [Mindspeed]
        [recompute_modules, tensor_model_parallel_size, sequence_parallel]
        + [recompute_granularity]
        MINDSPEED_LLM, "features_manager/transformer/mla_feature.py:validate_args",
        "--recompute-mla-up-proj can only be used without --mla-up-proj-tp-overlap when tensor \
         model parallel size is 1",
        |d| (recomputes(d, RecomputeModule::MlaUpProj)
            && tp(d) > 1
            && !d.parallel.sequence_parallel)
            .then(|| say!(
                "recomputing MLA's up-projections at TP {} needs sequence parallelism", tp(d)));
}
