//! What Megatron-Core refuses.

use alloc::format;
use alloc::string::String;

use super::{Assertion, framework_rules, recomputes, recomputes_layers, shards_gradients, swaps};
use crate::design::{Design, KnobId, KnobSet, PerStage};
use crate::ground::choice::{
    ContextParallelAlgo, CudaGraph, Dispatcher, FlexBackend, Framework, Method, Optimizer,
    PositionEmbedding, Precision, RecomputeMethod, RecomputeModule, ShardingStrategy, SoftmaxType,
    StateDtype, SwapModule,
};
use crate::ground::source::MEGATRON;
use crate::layer::layout::{self, Ends};
use crate::rules::facts::{cp, has_experts, pp, vpp};
use crate::rules::rule::{Checks, Rule, Words, say};
use crate::schedule::Form;

pub(super) const CONFIG: &str = "transformer_config.py:TransformerConfig.__post_init__";
const ARGUMENTS: &str = "arguments.py:validate_args";
const OPTIMIZER: &str = "optimizer/__init__.py:get_megatron_optimizer";
const TRANSFORMER_ENGINE: &str = "transformer_engine context_parallel.py:attn_forward_func_with_cp";

/// Whether an optimizer state is narrower than fp32, or parked in host memory.
fn is_precision_aware(d: &Design) -> bool {
    let memory = &d.memory;
    [memory.main_params_dtype, memory.exp_avg_dtype, memory.exp_avg_sq_dtype]
        .iter()
        .any(|dtype| *dtype != StateDtype::Fp32)
        || swaps(d, SwapModule::Optimizer)
}

/// Does an exchange of experts run beside another micro-batch? The order that does so by itself is
/// told by the same argument.
fn overlaps_experts(d: &Design) -> bool {
    d.schedule.overlap_moe_expert_parallel_comm
        || d.schedule.method == Method::OneForwardOneBackwardOverlap
}

fn replays(d: &Design) -> bool {
    d.kernel.cuda_graph_impl != CudaGraph::None
}

fn is_flex(d: &Design, backend: FlexBackend) -> bool {
    d.schedule.moe_token_dispatcher_type == Dispatcher::Flex
        && d.schedule.moe_flex_dispatcher_backend == backend
}

framework_rules! {
    offloaded_layers_are_not_recomputed [Megatron]
        [cpu_offloading_num_layers, recompute_granularity]
        MEGATRON, CONFIG, "CPU offloading does not work when activation recomputation is enabled",
        |d| (d.memory.cpu_offloading_num_layers > 0
            && d.memory.recompute_granularity != crate::ground::choice::RecomputeGranularity::None)
            .then(|| say!("layers that are offloaded can't be computed again, too"));
    offloaded_layers_leave_one [Megatron] [cpu_offloading_num_layers, num_layers]
        MEGATRON, CONFIG, "CPU offloading can be done only for layers less than num_layers",
        |d| {
            let (parked, all) = (d.memory.cpu_offloading_num_layers, d.transformer.num_layers);
            (parked > 0 && parked >= all)
                .then(|| say!("{parked} of {all} layers are offloaded: one at least stays"))
        };
    offloaded_layers_stand_alone [Megatron] [cpu_offloading_num_layers, swap_modules]
        MEGATRON, CONFIG, "fine_grained_activation_offloading cannot be enabled with \
            cpu_offloading",
        |d| (d.memory.cpu_offloading_num_layers > 0
            && (swaps(d, SwapModule::Activations) || swaps(d, SwapModule::AttentionOutput)))
            .then(|| say!("whole layers are offloaded or single activations, not both"));
    offloaded_layers_are_not_replayed [Megatron] [cpu_offloading_num_layers, cuda_graph_impl]
        MEGATRON, CONFIG, "CUDA graphs not supported with CPU offloading",
        |d| (d.memory.cpu_offloading_num_layers > 0 && replays(d))
            .then(|| say!("layers in CUDA graphs can't be offloaded"));
    offloaded_activations_are_not_recomputed [Megatron] [swap_modules, recompute_modules]
        + [recompute_granularity]
        MEGATRON, CONFIG, "Cannot offload expert_fc1, moe_act while recomputing the entire MoE \
            layer",
        |d| (swaps(d, SwapModule::Activations) && recomputes(d, RecomputeModule::Moe))
            .then(|| say!("what a recomputed MoE layer holds inside can't be offloaded"));
    offloaded_attention_is_not_replayed [Megatron] [swap_modules, cuda_graph_impl]
        MEGATRON, CONFIG, "fine-grained activation offloading with cuda_graph_impl='local' only \
            supports offload_modules 'expert_fc1', 'moe_act', and 'fused_group_mlp'",
        |d| (swaps(d, SwapModule::AttentionOutput)
            && d.kernel.cuda_graph_impl == CudaGraph::Local)
            .then(|| say!("local CUDA graphs can't offload attention's output"));
    overlap_of_experts_in_a_pipeline_has_chunks [Megatron]
        [overlap_moe_expert_parallel_comm, virtual_pipeline_model_parallel_size,
         pipeline_model_parallel_size, method]
        MEGATRON, CONFIG, "If enabling EP A2A overlap, virtual_pipeline_model_parallel_size must \
            be specified when pipeline_model_parallel_size > 1",
        |d| (overlaps_experts(d)
            && pp(d) > 1
            && vpp(d) == 1
            && !Form::of(d.schedule.method).runs_pairs)
            .then(|| say!("EP overlap on {} stages needs several chunks on each, VPP is 1", pp(d)));
    overlap_of_experts_recomputes_no_layers [Megatron]
        [overlap_moe_expert_parallel_comm, recompute_granularity, recompute_modules] + [method]
        MEGATRON, CONFIG, "disable full recomputation when enabling \
            overlap_moe_expert_parallel_comm",
        |d| (overlaps_experts(d) && (recomputes_layers(d) || recomputes(d, RecomputeModule::Moe)))
            .then(|| say!(
                "EP overlap runs layers part by part: whole layers and whole MoE layers can't be \
                 computed again"));
    overlap_of_experts_excludes_that_of_shared_experts [Megatron]
        [moe_shared_expert_overlap, overlap_moe_expert_parallel_comm] + [method]
        MEGATRON, CONFIG, "disable moe_shared_expert_overlap when enabling \
            overlap_moe_expert_parallel_comm",
        |d| (overlaps_experts(d) && d.schedule.moe_shared_expert_overlap)
            .then(|| say!("EP overlap and shared-expert overlap exclude each other"));
    overlap_of_experts_has_an_all_to_all [Megatron]
        [moe_token_dispatcher_type, overlap_moe_expert_parallel_comm, moe_shared_expert_overlap]
        + [method]
        MEGATRON, CONFIG, "overlap_moe_expert_parallel_comm is supported with alltoall/flex token \
            dispatcher",
        |d| ((overlaps_experts(d) || d.schedule.moe_shared_expert_overlap)
            && d.schedule.moe_token_dispatcher_type == Dispatcher::Allgather)
            .then(|| say!("overlapped experts need the alltoall or the flex dispatcher"));
    overlap_of_experts_has_one_mtp_layer [Megatron]
        [overlap_moe_expert_parallel_comm, mtp_num_layers] + [method]
        MEGATRON, CONFIG, "MTP supports at most one layer when enabling \
            overlap_moe_expert_parallel_comm",
        |d| (overlaps_experts(d) && d.transformer.mtp_num_layers > 1).then(|| say!(
            "EP overlap takes 1 MTP layer at most, not {}", d.transformer.mtp_num_layers));
    overlap_of_experts_is_in_16_bits [Megatron]
        [precision, overlap_moe_expert_parallel_comm] + [method]
        MEGATRON, CONFIG, "overlap_moe_expert_parallel_comm is only supported with bf16 or fp16 \
            model",
        |d| (overlaps_experts(d) && d.training.precision == Precision::Fp32)
            .then(|| say!("EP overlap needs a bf16 or fp16 model"));
    two_stages_of_chunks_overlap_their_sends [Megatron, Mindspeed]
        [overlap_p2p_comm, pipeline_model_parallel_size, virtual_pipeline_model_parallel_size]
        + [pipeline_model_parallel_layout]
        MEGATRON, ARGUMENTS, "When interleaved schedule is used and p2p communication overlap is \
            disabled, pipeline-model-parallel size should be greater than 2",
        |d| {
            // MindSpeed-LLM goes round it where no layout is given.
            let is_checked = d.kernel.framework == Framework::Megatron
                || d.parallel.pipeline_model_parallel_layout.is_some();
            (is_checked && pp(d) == 2 && vpp(d) > 1 && !d.schedule.overlap_p2p_comm)
                .then(|| say!("2 stages of {} chunks need overlapped sends", vpp(d)))
        };
    latent_experts_have_no_shared_expert_overlap [Megatron]
        [moe_shared_expert_overlap, moe_latent_size]
        MEGATRON, "moe_layer.py:MoELayer.preprocess", "Shared expert overlap with MoE latent \
            projections is not supported during training",
        |d| (d.schedule.moe_shared_expert_overlap && d.transformer.moe_latent_size.is_some())
            .then(|| say!("the shared expert of latent experts can't be overlapped"));
    deepep_does_not_pad [Megatron]
        [moe_flex_dispatcher_backend, moe_token_dispatcher_type, moe_pad_expert_input_to_capacity]
        MEGATRON, CONFIG, "Flex token dispatcher with deepep backend does not support \
            moe_pad_expert_input_to_capacity",
        |d| (is_flex(d, FlexBackend::Deepep) && d.training.moe_pad_expert_input_to_capacity)
            .then(|| say!("DeepEP doesn't pad experts to their capacity"));
    deepep_has_ranks [Megatron]
        [moe_token_dispatcher_type, expert_model_parallel_size, moe_flex_dispatcher_backend]
        + [expert_tensor_parallel_size, num_moe_experts]
        MEGATRON, "token_dispatcher.py:MoEFlexTokenDispatcher.__init__",
        "DeepEP dispatcher requires TPxEP > 1",
        |d| (has_experts(d)
            && is_flex(d, FlexBackend::Deepep)
            && d.parallel.expert_model_parallel_size * d.parallel.expert_tensor_parallel_size == 1)
            .then(|| say!("DeepEP needs several expert ranks, EP x ETP is 1"));
    recomputed_activation_is_of_grouped_experts [Megatron, Mindspeed]
        [recompute_modules, moe_grouped_gemm] + [recompute_granularity, num_moe_experts]
        MEGATRON, CONFIG, "moe_act in recompute_modules is only supported with moe_grouped_gemm",
        |d| (has_experts(d)
            && recomputes(d, RecomputeModule::MoeAct)
            && !d.kernel.moe_grouped_gemm)
            .then(|| say!("recomputing the experts' activation needs grouped matrix products"));
    recomputed_shared_experts_are_not_overlapped [Megatron]
        [moe_shared_expert_overlap, recompute_modules] + [recompute_granularity]
        MEGATRON, CONFIG, "shared_experts recompute cannot work with --moe-shared-expert-overlap",
        |d| (recomputes(d, RecomputeModule::SharedExperts)
            && d.schedule.moe_shared_expert_overlap)
            .then(|| say!("shared experts are recomputed or overlapped, not both"));
    delayed_scaling_recomputes_no_casts [Megatron] [recompute_modules, precision]
        + [recompute_granularity]
        MEGATRON, CONFIG, "Delayed scaling does not support moe_act and layernorm recompute for \
            fp8",
        |d| (d.training.precision == Precision::Fp8Delayed
            && (recomputes(d, RecomputeModule::MoeAct)
                || recomputes(d, RecomputeModule::Layernorm)))
            .then(|| say!("FP8 with delayed scaling can't recompute `moe_act` and `layernorm`"));
    recomputed_mtp_layers_are_single [Megatron, Mindspeed]
        [recompute_num_layers, mtp_num_layers] + [recompute_granularity, recompute_method]
        MEGATRON, "multi_token_prediction.py:MultiTokenPredictionLayer._checkpointed_forward",
        "recompute_num_layers must be 1 for MTP recompute",
        |d| {
            let groups = match d.memory.recompute_num_layers {
                Some(PerStage::Same(count)) => count,
                Some(PerStage::Each(_)) | None => 1,
            };
            (recomputes_layers(d)
                && d.memory.recompute_method == RecomputeMethod::Uniform
                && d.transformer.mtp_num_layers > 0
                && groups != 1)
                .then(|| say!("with MTP, layers are recomputed one by one, not {groups} at once"))
        };
    graphs_recompute_no_layers [Megatron] [cuda_graph_impl, recompute_granularity]
        MEGATRON, CONFIG, "full recompute is only supported with full iteration CUDA graph",
        |d| (replays(d) && recomputes_layers(d))
            .then(|| say!("layers in CUDA graphs can't be computed again as a whole"));
    narrow_states_are_of_adam [Megatron]
        [optimizer, main_params_dtype, exp_avg_dtype, exp_avg_sq_dtype, swap_modules]
        MEGATRON, "optimizer_config.py:OptimizerConfig.__post_init__",
        "--use-precision-aware-optimizer only supported with adam",
        |d| (d.training.optimizer != Optimizer::Adam && is_precision_aware(d)).then(|| say!(
            "narrow or parked optimizer states are Adam's, not those of {}",
            super::name(d.training.optimizer)));
    narrow_states_are_sharded [Megatron]
        [data_parallel_sharding_strategy, main_params_dtype, exp_avg_dtype, exp_avg_sq_dtype,
         swap_modules]
        MEGATRON, OPTIMIZER, "--use-precision-aware-optimizer only supported with distributed \
            optimizer",
        |d| (d.parallel.data_parallel_sharding_strategy == ShardingStrategy::NoShard
            && is_precision_aware(d))
            .then(|| say!("narrow or parked optimizer states need the distributed optimizer"));
    main_parameters_have_32_or_16_bits [Megatron] [main_params_dtype]
        MEGATRON, "arguments.py:_add_experimental_args", "--main-params-dtype: invalid choice \
            (choose from fp32, fp16)",
        |d| matches!(d.memory.main_params_dtype, StateDtype::Bf16 | StateDtype::Fp8).then(|| say!(
            "main parameters are fp32 or fp16, not {}", super::name(d.memory.main_params_dtype)));
    main_gradients_have_32_or_16_bits [Megatron] [gradient_dtype, precision]
        MEGATRON, "arguments.py:_add_experimental_args", "--main-grads-dtype: invalid choice \
            (choose from fp32, bf16)",
        |d| {
            // Without `--accumulate-allreduce-grads-in-fp32` they have the weights' format.
            let is_kept = match d.memory.gradient_dtype {
                StateDtype::Fp32 | StateDtype::Bf16 => true,
                StateDtype::Fp16 => d.training.precision == Precision::Fp16,
                StateDtype::Fp8 => false,
            };
            (!is_kept).then(|| say!(
                "gradients are kept in fp32 or bf16, in fp16 training also in fp16, not {}",
                super::name(d.memory.gradient_dtype)))
        };
    optimizer_instances_are_sharded [Megatron]
        [num_distributed_optimizer_instances, data_parallel_sharding_strategy]
        MEGATRON, "distributed_data_parallel.py:DistributedDataParallel.__init__",
        "Partial DistOpt cannot be used without DistOpt",
        |d| (d.parallel.num_distributed_optimizer_instances > 1
            && d.parallel.data_parallel_sharding_strategy == ShardingStrategy::NoShard)
            .then(|| say!("several optimizer instances need the distributed optimizer"));
    muon_has_one_instance [Megatron] [num_distributed_optimizer_instances, optimizer]
        MEGATRON, "layer_wise_optimizer.py:LayerWiseDistributedOptimizer",
        "LayerWiseDistributedOptimizer does not support num_distributed_optimizer_instances > 1",
        |d| (d.training.optimizer == Optimizer::Muon
            && d.parallel.num_distributed_optimizer_instances > 1)
            .then(|| say!("Muon has one optimizer instance"));
    muon_is_not_in_fp16 [Megatron, Mindspeed] [precision, optimizer]
        MEGATRON, OPTIMIZER, "emerging optimizer with fp16 is not supported",
        |d| (d.training.optimizer == Optimizer::Muon && d.training.precision == Precision::Fp16)
            .then(|| say!("Muon doesn't train in fp16"));
    muon_cuts_states_alone [Megatron, Mindspeed] [data_parallel_sharding_strategy, optimizer]
        MEGATRON, ARGUMENTS, "Megatron-FSDP does not support the muon optimizer yet",
        |d| (d.training.optimizer == Optimizer::Muon && shards_gradients(d))
            .then(|| say!("Muon's gradients and parameters can't be sharded, its states can"));
    layout_ends_with_the_loss [Megatron]
        [pipeline_model_parallel_layout]
        + [pipeline_model_parallel_size, virtual_pipeline_model_parallel_size]
        MEGATRON, "pipeline_parallel_layer_layout.py:validate_layer_layout",
        "The last layer must be loss; all of the MTP layers must be in the same one virtual \
         pipeline stage, always in the last virtual pipeline stage of that rank",
        |d| {
            let layout = d.parallel.pipeline_model_parallel_layout.as_ref()?;
            (!layout::keeps(&layout.chunks, pp(d), Ends::HeadsLast)).then(|| say!(
                "the last item of a layout is the loss L; MTP layers stand together before it, in \
                 the last chunk of a stage"))
        };
    dynamic_groups_are_of_one_stage [Megatron]
        [dynamic_context_parallel, pipeline_model_parallel_size, cuda_graph_impl,
         data_parallel_sharding_strategy]
        MEGATRON, ARGUMENTS, "Hybrid context parallelism not supported with pipeline parallelism, \
            CUDA Graph, Megatron FSDP",
        |d| (d.parallel.dynamic_context_parallel
            && (pp(d) > 1 || replays(d) || shards_gradients(d)))
            .then(|| say!(
                "dynamic context parallelism has one stage, no CUDA graphs and no FSDP"));
    dynamic_groups_are_not_of_latents [Megatron]
        [dynamic_context_parallel, multi_latent_attention]
        MEGATRON, "multi_latent_attention.py:get_query_key_value_tensors",
        "hybrid_context_parallel is not supported with MLA yet",
        |d| (d.parallel.dynamic_context_parallel && d.transformer.multi_latent_attention)
            .then(|| say!("dynamic context parallelism doesn't take MLA"));
    context_parallelism_has_flash_attention [Megatron] [flash_attention, context_parallel_size]
        MEGATRON, "dot_product_attention.py:DotProductAttention.__init__",
        "Context parallelism is only supported by TEDotProductAttention",
        |d| (cp(d) > 1 && !d.kernel.flash_attention)
            .then(|| say!("context parallelism needs flash attention"));
    windows_over_ranks_are_gathered [Megatron]
        [context_parallel_algo, context_parallel_size, window_size]
        MEGATRON, TRANSFORMER_ENGINE, "Context parallelism does not support sliding window \
            attention with cp_comm_type=p2p",
        |d| (cp(d) > 1
            && d.transformer.window_size.is_some()
            && matches!(d.parallel.context_parallel_algo,
                ContextParallelAlgo::P2p | ContextParallelAlgo::Hybrid))
            .then(|| say!("windows over CP ranks need `a2a` or `allgather`"));
    sinks_over_ranks_are_exchanged [Megatron]
        [context_parallel_algo, context_parallel_size, softmax_type]
        MEGATRON, TRANSFORMER_ENGINE, "Context parallelism only supports softmax_type with \
            cp_comm_type = 'a2a'",
        |d| (cp(d) > 1
            && d.transformer.softmax_type != SoftmaxType::Vanilla
            && d.parallel.context_parallel_algo != ContextParallelAlgo::A2a)
            .then(|| say!("a softmax with sinks over CP ranks needs `a2a`"));
    fsdp_beside_overlap_of_experts_is_not_replayed [Megatron]
        [cuda_graph_impl, overlap_moe_expert_parallel_comm, data_parallel_sharding_strategy]
        + [method]
        MEGATRON, "mcore_fsdp_adapter.py:FullyShardedDataParallel.__init__",
        "1F1B overlap with FSDP does not support per-layer CUDA graphs",
        |d| (shards_gradients(d) && overlaps_experts(d) && replays(d))
            .then(|| say!("FSDP beside EP overlap has no CUDA graphs"));
    experts_with_bias_are_whole [Megatron]
        [expert_tensor_parallel_size, add_bias_linear, num_moe_experts]
        MEGATRON, CONFIG, "Bias in Moe is only supported when ETP==1",
        |d| (has_experts(d)
            && d.transformer.add_bias_linear
            && d.parallel.expert_tensor_parallel_size > 1)
            .then(|| say!("experts with a bias can't be cut: ETP is 1"));
    shared_experts_have_no_bias [Megatron]
        [add_bias_linear, moe_shared_expert_intermediate_size]
        MEGATRON, "shared_experts.py:SharedExpertMLP.__init__",
        "bias is not supported in the shared experts",
        |d| (d.transformer.add_bias_linear
            && d.transformer.moe_shared_expert_intermediate_size.is_some())
            .then(|| say!("a shared expert has no bias"));
    replayed_modules_drop_nothing [Megatron]
        [cuda_graph_impl, attention_dropout, hidden_dropout, recompute_modules]
        + [recompute_granularity]
        MEGATRON, CONFIG, "attention dropout is not supported with graphed attention recomputation",
        |d| {
            let training = &d.training;
            let attention =
                training.attention_dropout > 0.0 && recomputes(d, RecomputeModule::CoreAttn);
            let hidden = training.hidden_dropout > 0.0
                && (recomputes(d, RecomputeModule::Mlp) || recomputes(d, RecomputeModule::Moe));
            (replays(d) && (attention || hidden)).then(|| say!(
                "what is recomputed inside of CUDA graphs can't drop anything"))
        };
    mtp_has_rotary_positions [Megatron, Mindspeed] [mtp_num_layers, position_embedding_type]
        MEGATRON, ARGUMENTS, "Multi-Token Prediction (MTP) is not supported with \
            learned_absolute position embedding type",
        |d| (d.transformer.mtp_num_layers > 0
            && d.transformer.position_embedding_type == PositionEmbedding::LearnedAbsolute)
            .then(|| say!("MTP doesn't take learned positions"));
}
