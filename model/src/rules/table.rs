//! The table of rules.

use alloc::format;
use alloc::string::String;

use super::facts::{
    absent_modules, attention_generation, cp, dp, grid, has_documents, has_experts, idle_adapters,
    loss_chunks, loss_kernels, message, not_offered, overlaps_pairs, pp, query_groups,
    sequence_parts, shared_heads, sizes, tp, ulysses_heads, vpp, wrong_group,
};
use super::layers;
use super::letters::layout_problem;
use super::rule::{Checks, Rule, Words, indivisible, rules, say};
use crate::design::{Design, KnobId, KnobSet, PerStage};
use crate::ground::choice::{
    AuxLoss, Balance, Choice, Dispatcher, LengthDistribution, Method, Optimizer, Planner,
    Precision, RankOrder, RecomputeGranularity, RecomputeMethod, ShardingStrategy, SwapModule,
    Timing, ZeroMemory,
};
use crate::ground::knob::LayerText;
use crate::ground::source::{
    ATTENTION_RESIDUALS, BIGSCIENCE, DEEPSEEK_V3, DEEPSEEK_V4, DUALPIPE, DYNAMIC_CP,
    HUAWEI_OPERATORS, KORTHIKANTI_2022, LONGCAT_FLASH, LORA, MEGATRON, MEGATRON_BRIDGE, MINDSPEED,
    MSA, MUON, NARAYANAN_2021, PANGU_PRO_MOE, Source, TORCHTITAN, ULYSSES, ZERO_BUBBLE,
};
use crate::layer::layout;
use crate::schedule::Form;

rules! {
    world_size_is_a_multiple_of_tp_pp_cp
        [num_devices, tensor_model_parallel_size, pipeline_model_parallel_size,
         context_parallel_size] MEGATRON,
        |d| indivisible(d.cluster.num_devices, tp(d) * pp(d) * cp(d), || say!(
            "{} devices are not a multiple of TP {} x PP {} x CP {} = {}",
            d.cluster.num_devices, tp(d), pp(d), cp(d), tp(d) * pp(d) * cp(d)));
    software_is_of_the_accelerator [software, accelerator] HUAWEI_OPERATORS,
        |d| {
            let kernels = &d.cluster.accelerator.row().kernels;
            (!d.kernel.software.is_of(kernels)).then(|| say!(
                "{} is a state of Ascend's software, the accelerator is of {}",
                d.kernel.software.name(), kernels.family))
        };
    nodes_are_full [num_devices, devices_per_node] + [accelerator] MEGATRON,
        |d| {
            let node = crate::device::topology::devices_per_node(d);
            (d.cluster.num_devices > node).then(|| indivisible(d.cluster.num_devices, node, || {
                say!("{} devices don't fill nodes of {node}", d.cluster.num_devices)
            }))?
        };
    expert_grid_divides_the_world
        [expert_model_parallel_size, expert_tensor_parallel_size, num_devices,
         pipeline_model_parallel_size] MEGATRON,
        |d| {
            let (ep, etp) =
                (d.parallel.expert_model_parallel_size, d.parallel.expert_tensor_parallel_size);
            indivisible(d.cluster.num_devices, ep * etp * pp(d), || say!(
                "EP {ep} x ETP {etp} doesn't divide the {} ranks of a stage",
                d.cluster.num_devices / pp(d)))
        };
    flash_attention_is_written_for_the_accelerator
        [flash_attention_version, accelerator] MEGATRON,
        |d| attention_generation(d);
    documents_need_flash_attention [length_distribution, flash_attention] MEGATRON_BRIDGE,
        |d| (has_documents(d) && !d.kernel.flash_attention).then(|| say!(
            "attention inside of documents needs flash attention"));
    a_histogram_has_lengths [length_histogram, length_distribution] MEGATRON_BRIDGE,
        |d| (d.training.length_distribution == LengthDistribution::Histogram
            && d.training.length_histogram.is_none())
            .then(|| say!(
                "there is no histogram of lengths, such as {}", LayerText::Lengths.example()));
    data_imbalance_follows_from_lengths [data_imbalance, length_distribution] MEGATRON_BRIDGE,
        |d| (has_documents(d) && d.training.data_imbalance > 1.0).then(|| say!(
            "data imbalance {} is given, and follows from the lengths of documents",
            d.training.data_imbalance));
    dynamic_groups_need_documents [dynamic_context_parallel, length_distribution] DYNAMIC_CP,
        |d| (d.parallel.dynamic_context_parallel && !has_documents(d)).then(|| say!(
            "every sequence is one document: dynamic context parallelism has nothing to balance"));
    adapters_stand_beside_layers
        [lora_target_modules, lora_rank]
        + [multi_latent_attention, q_lora_rank, num_moe_experts, hybrid_layer_pattern,
           experimental_attention_variant] LORA,
        |d| idle_adapters(d);
    muon_trains_the_whole_model [optimizer, lora_rank, freeze_parameters] MUON,
        |d| {
            let training = &d.training;
            let is_full = training.lora_rank.is_none() && training.freeze_parameters.is_empty();
            (training.optimizer == Optimizer::Muon && !is_full).then(|| say!(
                "Muon's share of matrices isn't known where not all of them are trained"))
        };
    experts_are_a_multiple_of_ep [expert_model_parallel_size, num_moe_experts] MEGATRON,
        |d| {
            let (experts, ep) =
                (d.transformer.num_moe_experts?, d.parallel.expert_model_parallel_size);
            indivisible(experts, ep, || say!("EP {ep} doesn't divide {experts} experts"))
        };
    pipeline_is_outermost_unless_edp_is_dp
        [rank_order, expert_model_parallel_size]
        + [tensor_model_parallel_size, pipeline_model_parallel_size, context_parallel_size,
               expert_tensor_parallel_size, num_moe_experts] MEGATRON,
        |d| {
            let dense = tp(d) * cp(d);
            let grid =
                d.parallel.expert_model_parallel_size * d.parallel.expert_tensor_parallel_size;
            (d.parallel.rank_order == RankOrder::TpCpEpPpDp && pp(d) > 1 && grid != dense
                && has_experts(d))
            .then(|| say!(
                "stages next to each other need EP x ETP = TP x CP, {grid} is not {dense}"))
        };
    expert_parallelism_needs_experts
        [expert_model_parallel_size, expert_tensor_parallel_size, num_moe_experts] MEGATRON,
        |d| (!has_experts(d)
            && (d.parallel.expert_model_parallel_size > 1
                || d.parallel.expert_tensor_parallel_size > 1))
            .then(|| say!("a dense model has no experts to spread: EP and ETP are 1"));
    heads_are_a_multiple_of_tp [tensor_model_parallel_size, num_attention_heads] MEGATRON,
        |d| indivisible(d.transformer.num_attention_heads, tp(d), || say!(
            "TP {} doesn't divide {} attention heads", tp(d), d.transformer.num_attention_heads));
    query_groups_are_a_multiple_of_tp [tensor_model_parallel_size, num_query_groups]
        + [num_attention_heads, multi_latent_attention, framework,
               experimental_attention_variant] MEGATRON,
        |d| shared_heads(d);
    heads_are_a_multiple_of_query_groups [num_query_groups, num_attention_heads] MEGATRON,
        |d| indivisible(d.transformer.num_attention_heads, query_groups(d), || say!(
            "{} query groups don't divide {} heads",
            query_groups(d), d.transformer.num_attention_heads));
    latent_attention_has_no_query_groups [num_query_groups, multi_latent_attention] MEGATRON,
        |d| (d.transformer.multi_latent_attention && d.transformer.num_query_groups.is_some())
            .then(|| say!("MLA shares one latent among all heads: query groups are none"));
    hidden_size_is_a_multiple_of_heads [kv_channels, hidden_size, num_attention_heads]
        + [multi_latent_attention] MEGATRON,
        |d| (!d.transformer.multi_latent_attention && d.transformer.kv_channels.is_none())
            .then(|| indivisible(d.transformer.hidden_size, d.transformer.num_attention_heads, || {
                say!("hidden size {} is not a multiple of {} heads",
                    d.transformer.hidden_size, d.transformer.num_attention_heads)
            }))?;
    ffn_is_a_multiple_of_tp [tensor_model_parallel_size, ffn_hidden_size] MEGATRON,
        |d| indivisible(d.transformer.ffn_hidden_size, tp(d), || say!(
            "TP {} doesn't divide the dense FFN width {}", tp(d), d.transformer.ffn_hidden_size));
    shared_expert_is_a_multiple_of_tp
        [tensor_model_parallel_size, moe_shared_expert_intermediate_size] MEGATRON,
        |d| {
            let width = d.transformer.moe_shared_expert_intermediate_size?;
            indivisible(width, tp(d), || {
                say!("TP {} doesn't divide the shared expert width {width}", tp(d))
            })
        };
    expert_width_is_a_multiple_of_etp
        [expert_tensor_parallel_size, moe_ffn_hidden_size]
        + [ffn_hidden_size, num_moe_experts] MEGATRON,
        |d| {
            let transformer = &d.transformer;
            let width = transformer.moe_ffn_hidden_size.unwrap_or(transformer.ffn_hidden_size);
            let etp = d.parallel.expert_tensor_parallel_size;
            has_experts(d).then(|| indivisible(width, etp, || {
                say!("ETP {etp} doesn't divide the expert width {width}")
            }))?
        };
    vocabulary_is_a_multiple_of_tp [tensor_model_parallel_size, vocab_size] MEGATRON,
        |d| indivisible(d.transformer.vocab_size, tp(d), || say!(
            "TP {} doesn't divide the padded vocabulary {}", tp(d), d.transformer.vocab_size));
    sequence_parallelism_needs_tp [sequence_parallel, tensor_model_parallel_size]
        KORTHIKANTI_2022,
        |d| (d.parallel.sequence_parallel && tp(d) == 1)
            .then(|| say!("sequence parallelism splits over TP ranks, and TP is 1"));
    experts_with_tp_need_sequence_parallelism
        [sequence_parallel, tensor_model_parallel_size] + [num_moe_experts] MEGATRON,
        |d| (has_experts(d) && tp(d) > 1 && !d.parallel.sequence_parallel).then(|| say!(
            "MoE with TP {} needs sequence parallelism, or each token is sent {} times",
            tp(d), tp(d)));
    sequence_is_a_multiple_of_cp_tp
        [seq_length, context_parallel_size, tensor_model_parallel_size]
        + [sequence_parallel] MEGATRON,
        |d| indivisible(d.training.seq_length, sequence_parts(d), || say!(
            "a sequence of {} can't be split into {} equal parts (2 CP with context parallelism, \
             times TP with sequence parallelism)",
            d.training.seq_length, sequence_parts(d)));
    heads_are_a_multiple_of_ulysses_ranks
        [context_parallel_algo, context_parallel_size, num_query_groups]
        + [tensor_model_parallel_size, num_attention_heads, multi_latent_attention, framework,
               num_devices, devices_per_node, scale_up_domain_size, accelerator] ULYSSES,
        |d| ulysses_heads(d);
    batch_is_a_multiple_of_dp_mbs
        [global_batch_size, micro_batch_size, num_devices]
        + [tensor_model_parallel_size, pipeline_model_parallel_size, context_parallel_size]
        MEGATRON,
        |d| {
            let (dp, mbs) = (dp(d)?, d.training.micro_batch_size);
            indivisible(d.training.global_batch_size, dp * mbs, || say!(
                "a global batch of {} is not a multiple of DP {dp} x micro-batch {mbs}",
                d.training.global_batch_size))
        };
    virtual_stages_need_a_pipeline
        [virtual_pipeline_model_parallel_size, pipeline_model_parallel_size] NARAYANAN_2021,
        |d| (vpp(d) > 1 && pp(d) == 1)
            .then(|| say!("VPP {} needs a pipeline, and PP is 1", vpp(d)));
    schedule_runs_these_virtual_stages
        [virtual_pipeline_model_parallel_size, method] NARAYANAN_2021,
        |d| grid(d).wrong_chunks().map(message);
    layer_slots_are_a_multiple_of_pp_vpp
        [pipeline_model_parallel_size, virtual_pipeline_model_parallel_size, noop_layers,
         num_layers]
        + [mtp_num_layers, pipeline_model_parallel_layout, hybrid_layer_pattern] MINDSPEED,
        |d| {
            let is_even = d.parallel.pipeline_model_parallel_layout.is_none();
            (is_even && !layout::has_bars(d)).then(|| indivisible(
                layout::slots(d), layout::chunks(d), || say!(
                    "{} layers + {} MTP + {} no-op = {} slots can't be split evenly over PP {} x \
                     VPP {} = {} chunks; a Megatron that doesn't check it trains {} layers",
                    d.transformer.num_layers, d.transformer.mtp_num_layers,
                    d.parallel.noop_layers.0.len(), layout::slots(d), pp(d), vpp(d),
                    layout::chunks(d), layout::kept_layers(d))))?
        };
    noop_positions_are_slots [noop_layers] + [num_layers, mtp_num_layers] MINDSPEED,
        |d| {
            let (last, slots) = (*d.parallel.noop_layers.0.last()?, layout::slots(d));
            (last >= slots).then(|| say!(
                "no-op position {last} is behind the last of {slots} slots (0 to {})", slots - 1))
        };
    layout_has_no_noop_layers [noop_layers, pipeline_model_parallel_layout] MEGATRON,
        |d| (d.parallel.pipeline_model_parallel_layout.is_some()
            && !d.parallel.noop_layers.0.is_empty())
            .then(|| say!("a pipeline layout needs no no-op layers"));
    layout_fits_the_model [pipeline_model_parallel_layout]
        + [pipeline_model_parallel_size, virtual_pipeline_model_parallel_size, num_layers,
               mtp_num_layers] MEGATRON,
        |d| layout_problem(d).map(|words| W::say(|| words));
    schedule_has_enough_micro_batches
        [global_batch_size, pipeline_model_parallel_size, method]
        + [micro_batch_size, num_devices, tensor_model_parallel_size, context_parallel_size,
               virtual_pipeline_model_parallel_size, microbatch_group_size_per_vp_stage]
        NARAYANAN_2021,
        |d| sizes(d)?.wrong_micro_batches().map(message);
    micro_batch_groups_fill_the_pipeline
        [microbatch_group_size_per_vp_stage, virtual_pipeline_model_parallel_size, method]
        + [pipeline_model_parallel_size, global_batch_size, micro_batch_size, num_devices,
               tensor_model_parallel_size, context_parallel_size] MEGATRON,
        |d| wrong_group(d).map(message);
    dualpipe_stages_are_even [pipeline_model_parallel_size, method] DUALPIPE,
        |d| grid(d).odd_stages().map(message);
    schedule_has_a_formula [method, timing] ZERO_BUBBLE,
        |d| (d.schedule.timing == Timing::ClosedForm
            && matches!(d.schedule.method, Method::VHalf | Method::VMin)).then(|| say!(
            "V-half and V-min have no closed formula: their times are simulated"));
    overlap_of_experts_has_pairs [overlap_moe_expert_parallel_comm, method] MEGATRON,
        |d| (d.schedule.overlap_moe_expert_parallel_comm
            && !matches!(d.schedule.method, Method::OneForwardOneBackward | Method::Interleaved)
            && !Form::of(d.schedule.method).runs_pairs).then(|| say!(
            "EP overlap runs forwards beside backwards, which this schedule keeps apart"));
    output_gate_is_not_of_chosen_latents
        [attention_output_gate, experimental_attention_variant, attention_compress_ratios]
        MEGATRON,
        |d| layers::output_gate(d);
    attention_residuals_are_of_whole_layers
        [attention_residual_block_size, enable_mhc_connections, hybrid_layer_pattern]
        ATTENTION_RESIDUALS,
        |d| layers::attention_residuals(d);
    sub_layers_are_those_of_the_pattern [num_layers, hybrid_layer_pattern] MEGATRON,
        |d| layers::sub_layers(d);
    sub_layers_have_no_frequencies
        [hybrid_layer_pattern, moe_layer_freq, window_attn_skip_freq, linear_attention_freq]
        MEGATRON,
        |d| layers::frequencies(d);
    sub_layers_have_their_sizes
        [hybrid_layer_pattern, num_moe_experts, experimental_attention_variant] MEGATRON,
        |d| layers::sizes(d);
    mtp_is_that_of_the_pattern [mtp_num_layers, hybrid_layer_pattern] MEGATRON,
        |d| layers::depths(d);
    bars_of_the_pattern_are_between_chunks
        [hybrid_layer_pattern, pipeline_model_parallel_size,
         virtual_pipeline_model_parallel_size, pipeline_model_parallel_layout, noop_layers]
        MEGATRON,
        |d| layers::bars(d);
    mamba_heads_are_a_multiple_of_groups_and_ranks
        [tensor_model_parallel_size, context_parallel_size, mamba_num_heads, mamba_num_groups]
        + [hybrid_layer_pattern, hidden_size, mamba_head_dim] MEGATRON,
        |d| layers::mamba_heads(d);
    repeated_mtp_layers_are_layers [mtp_use_repeated_layer, mtp_num_layers] MEGATRON,
        |d| layers::repeated_mtp(d);
    latent_experts_need_experts [moe_latent_size, num_moe_experts] MEGATRON,
        |d| layers::latent_experts(d);
    zero_experts_stand_beside_experts [moe_zero_experts, num_moe_experts] LONGCAT_FLASH,
        |d| layers::zero_experts(d);
    sparse_attention_is_of_latents
        [experimental_attention_variant, multi_latent_attention, window_size,
         context_parallel_algo, context_parallel_size] MEGATRON,
        |d| layers::sparse(d);
    chosen_blocks_are_whole_and_of_each_group
        [dsa_indexer_n_heads, num_query_groups, dsa_indexer_topk, sparse_block_size]
        + [experimental_attention_variant, num_attention_heads] MSA,
        |d| layers::blocks(d);
    sparse_pattern_has_every_layer [sparse_attention_freq, num_layers]
        + [experimental_attention_variant, hybrid_layer_pattern] MSA,
        |d| layers::sparse_pattern(d);
    compressed_attention_is_of_latents
        [attention_compress_ratios, multi_latent_attention, q_lora_rank, window_size,
         window_attn_skip_freq, experimental_attention_variant, hybrid_layer_pattern,
         context_parallel_algo, context_parallel_size] DEEPSEEK_V4,
        |d| layers::compressed(d);
    compression_is_given_for_every_layer
        [attention_compress_ratios, num_layers] DEEPSEEK_V4,
        |d| layers::ratios(d);
    output_groups_are_of_whole_heads
        [o_groups, num_attention_heads, tensor_model_parallel_size]
        + [attention_compress_ratios] DEEPSEEK_V4,
        |d| layers::output_groups(d);
    sizes_by_layer_are_of_the_layers
        [layer_overrides, num_layers, hybrid_layer_pattern]
        + [linear_attention_freq, moe_layer_freq, window_attn_skip_freq, num_attention_heads,
           num_query_groups, kv_channels, hidden_size, v_head_dim, window_size, ffn_hidden_size,
           moe_ffn_hidden_size, moe_shared_expert_intermediate_size, num_moe_experts,
           multi_latent_attention, experimental_attention_variant, attention_compress_ratios,
           dsa_indexer_topk_freq, dsa_indexer_skip_topk_offset] MEGATRON,
        |d| layers::own_sizes(d);
    sizes_by_layer_keep_the_rules
        [layer_overrides, tensor_model_parallel_size]
        + [num_layers, num_attention_heads, num_query_groups, kv_channels, hidden_size,
           multi_latent_attention, ffn_hidden_size, moe_ffn_hidden_size, num_moe_experts,
           moe_shared_expert_intermediate_size, expert_tensor_parallel_size,
           context_parallel_size, context_parallel_algo, num_devices, devices_per_node,
           scale_up_domain_size, accelerator, framework, experimental_attention_variant] MEGATRON,
        |d| layers::overridden_sizes(d);
    linear_pattern_has_every_layer [linear_attention_freq, num_layers]
        + [experimental_attention_variant, hybrid_layer_pattern] MEGATRON,
        |d| layers::linear_pattern(d);
    linear_heads_are_a_multiple_of_tp_cp
        [tensor_model_parallel_size, context_parallel_size, linear_num_key_heads,
         linear_num_value_heads] + [experimental_attention_variant, hybrid_layer_pattern]
        MEGATRON,
        |d| layers::linear_heads(d);
    linear_value_heads_are_a_multiple_of_key_heads
        [linear_num_value_heads, linear_num_key_heads, experimental_attention_variant] MEGATRON,
        |d| layers::linear_groups(d);
    shared_expert_gate_needs_a_shared_expert
        [moe_shared_expert_gate, moe_shared_expert_intermediate_size] MEGATRON,
        |d| layers::shared_gate(d);
    layer_pattern_has_every_layer [moe_layer_freq, num_layers]
        + [num_moe_experts, hybrid_layer_pattern] MEGATRON,
        |d| {
            d.transformer.num_moe_experts.filter(|_| !layers::are_sub_layers(d))?;
            let length = d.transformer.moe_layer_freq.len()?;
            (length != d.transformer.num_layers).then(|| say!(
                "the MoE pattern speaks of {length} layers, the model has {}",
                d.transformer.num_layers))
        };
    topk_is_at_most_the_experts [moe_router_topk, num_moe_experts] MEGATRON,
        |d| {
            let (experts, topk) = (d.transformer.num_moe_experts?, d.transformer.moe_router_topk);
            (topk > experts).then(|| say!("top-{topk} of {experts} experts"))
        };
    router_groups_divide_the_experts [moe_router_num_groups, num_moe_experts] MEGATRON,
        |d| {
            let experts = d.transformer.num_moe_experts?;
            let groups = d.transformer.moe_router_num_groups?;
            indivisible(experts, groups, || {
                say!("{groups} router groups don't divide {experts} experts")
            })
        };
    groups_kept_are_some_of_the_groups
        [moe_router_group_topk, moe_router_num_groups] MEGATRON,
        |d| {
            let kept = d.transformer.moe_router_group_topk?;
            let groups = d.transformer.moe_router_num_groups.unwrap_or(0);
            (kept > groups).then(|| say!("{kept} groups kept of {groups} router groups"))
        };
    groups_kept_hold_topk_experts
        [moe_router_group_topk, moe_router_topk, moe_router_num_groups] + [num_moe_experts]
        DEEPSEEK_V3,
        |d| {
            let experts = d.transformer.num_moe_experts?;
            let kept = d.transformer.moe_router_group_topk?;
            let groups = d.transformer.moe_router_num_groups?;
            let held = kept * (experts / groups);
            (d.transformer.moe_router_topk > held).then(|| say!(
                "{kept} of {groups} router groups hold {held} experts, top-k is {}",
                d.transformer.moe_router_topk))
        };
    router_groups_have_a_use
        [moe_router_group_topk, moe_router_group_balanced, moe_router_num_groups] MEGATRON,
        |d| (d.transformer.moe_router_num_groups.is_some()
            && d.transformer.moe_router_group_topk.is_none()
            && !d.transformer.moe_router_group_balanced)
            .then(|| say!("router groups need a number of groups kept, or balance"));
    balanced_groups_share_topk
        [moe_router_group_balanced, moe_router_num_groups, moe_router_topk] PANGU_PRO_MOE,
        |d| {
            if !d.transformer.moe_router_group_balanced {
                return None;
            }
            let Some(groups) = d.transformer.moe_router_num_groups else {
                return Some(say!("balanced groups need router groups"));
            };
            indivisible(d.transformer.moe_router_topk, groups, || say!(
                "top-{} can't be shared evenly by {groups} groups", d.transformer.moe_router_topk))
        };
    accelerator_has_the_precision [precision, accelerator] MEGATRON,
        |d| d.cluster.accelerator.row().peak_tflops(d.training.precision).is_none().then(|| say!(
            "{} has no {}", d.cluster.accelerator.row().title,
            crate::ground::choice::Choice::name(d.training.precision)));
    optimizer_instances_divide_dp
        [num_distributed_optimizer_instances]
        + [num_devices, tensor_model_parallel_size, pipeline_model_parallel_size,
               context_parallel_size, expert_model_parallel_size, expert_tensor_parallel_size,
               num_moe_experts] MEGATRON,
        |d| {
            let (instances, dp) =
                (d.parallel.num_distributed_optimizer_instances, dp(d)? * cp(d));
            let experts =
                d.parallel.expert_model_parallel_size * d.parallel.expert_tensor_parallel_size;
            let edp = d.cluster.num_devices / (pp(d) * experts);
            indivisible(dp, instances, || {
                say!("{instances} optimizer instances don't divide DP x CP {dp}")
            })
            .or_else(|| has_experts(d).then(|| indivisible(edp, instances, || {
                say!("{instances} optimizer instances don't divide EDP {edp}")
            }))?)
        };
    hierarchical_all_to_all_is_a_form_of_all_to_all
        [moe_hierarchical_alltoallv, moe_token_dispatcher_type, expert_tensor_parallel_size]
        + [num_moe_experts] MINDSPEED,
        |d| (d.schedule.moe_hierarchical_alltoallv
            && (!has_experts(d)
                || d.schedule.moe_token_dispatcher_type != Dispatcher::Alltoall
                || d.parallel.expert_tensor_parallel_size > 1))
            .then(|| say!(
                "the hierarchical all-to-all needs experts, the alltoall dispatcher and ETP 1"));
    overlap_of_experts_needs_expert_parallelism
        [overlap_moe_expert_parallel_comm, expert_model_parallel_size] MEGATRON,
        |d| (d.schedule.overlap_moe_expert_parallel_comm
            && d.parallel.expert_model_parallel_size == 1)
            .then(|| say!("there is no expert-parallel exchange to overlap, EP is 1"));
    shared_expert_overlap_needs_a_shared_expert
        [moe_shared_expert_overlap, moe_shared_expert_intermediate_size] MEGATRON,
        |d| (d.schedule.moe_shared_expert_overlap
            && d.transformer.moe_shared_expert_intermediate_size.is_none())
            .then(|| say!("there is no shared expert to run beside the dispatch"));
    all_to_all_is_overlapped_once
        [moe_alltoall_overlap_comm, moe_shared_expert_overlap, moe_token_dispatcher_type]
        MINDSPEED,
        |d| (d.schedule.moe_alltoall_overlap_comm
            && (d.schedule.moe_shared_expert_overlap
                || d.schedule.moe_token_dispatcher_type != Dispatcher::Alltoall))
            .then(|| say!(
                "the overlap in the layer needs the alltoall dispatcher, without shared-expert \
                 overlap"));
    delayed_weight_gradients_have_a_partner
        [delay_wgrad_compute, overlap_moe_expert_parallel_comm, method] MEGATRON,
        |d| (d.schedule.delay_wgrad_compute && !overlaps_pairs(d)).then(|| say!(
            "delayed weight gradients need EP overlap or a schedule that runs pairs"));
    parameter_gather_overlap_needs_gradient_overlap
        [overlap_param_gather, overlap_grad_reduce, data_parallel_sharding_strategy] MEGATRON,
        |d| (d.schedule.overlap_param_gather
            && (!d.schedule.overlap_grad_reduce
                || d.parallel.data_parallel_sharding_strategy == ShardingStrategy::NoShard))
            .then(|| say!(
                "overlapping the parameter gather needs gradient overlap and sharded states"));
    tp_overlap_needs_sequence_parallelism [tp_comm_overlap, sequence_parallel] MEGATRON,
        |d| (d.schedule.tp_comm_overlap && !d.parallel.sequence_parallel)
            .then(|| say!("overlapping TP needs sequence parallelism"));
    blocking_launches_overlap_nothing
        [launch_blocking, overlap_p2p_comm, overlap_grad_reduce, overlap_param_gather,
         tp_comm_overlap, overlap_moe_expert_parallel_comm, moe_shared_expert_overlap,
         moe_alltoall_overlap_comm, method] BIGSCIENCE,
        |d| {
            let schedule = &d.schedule;
            let overlaps = schedule.overlap_p2p_comm
                || schedule.overlap_grad_reduce
                || schedule.overlap_param_gather
                || schedule.tp_comm_overlap
                || schedule.moe_shared_expert_overlap
                || schedule.moe_alltoall_overlap_comm
                || overlaps_pairs(d);
            (d.kernel.launch_blocking && overlaps).then(|| say!(
                "where the host waits for each kernel, nothing runs beside another"))
        };
    padding_needs_a_capacity
        [moe_pad_expert_input_to_capacity, moe_expert_capacity_factor] MEGATRON,
        |d| (d.training.moe_pad_expert_input_to_capacity
            && d.training.moe_expert_capacity_factor.is_none())
            .then(|| say!("padding to capacity needs a capacity factor"));
    capacity_needs_experts [moe_expert_capacity_factor, num_moe_experts] MEGATRON,
        |d| (d.training.moe_expert_capacity_factor.is_some() && !has_experts(d))
            .then(|| say!("a dense model has no expert capacity"));
    selective_recomputation_names_modules [recompute_modules, recompute_granularity] MEGATRON,
        |d| (d.memory.recompute_modules.is_empty()
            && d.memory.recompute_granularity == RecomputeGranularity::Selective)
            .then(|| say!("selective recomputation needs modules"));
    uniform_recomputation_groups_layers [recompute_num_layers, recompute_method] MEGATRON,
        |d| (d.memory.recompute_method == RecomputeMethod::Uniform
            && d.memory.recompute_num_layers.as_ref().is_some_and(|layers| {
                !matches!(layers, PerStage::Same(count) if *count > 0)
            }))
            .then(|| say!(
                "uniform recomputation takes one number of layers per group, from 1 on"));
    recompute_layers_are_full [recompute_granularity, recompute_num_layers] MEGATRON,
        |d| (d.memory.recompute_num_layers.is_some()
            && d.memory.recompute_granularity != RecomputeGranularity::Full)
            .then(|| say!("a number of recompute layers needs full recomputation"));
    recompute_layers_are_given_for_every_stage
        [recompute_num_layers, pipeline_model_parallel_size] MEGATRON,
        |d| match &d.memory.recompute_num_layers {
            Some(PerStage::Each(counts)) => (counts.len() as u64 != pp(d)).then(|| say!(
                "recompute layers are given for {} stages, PP is {}", counts.len(), pp(d))),
            Some(PerStage::Same(_)) | None => None,
        };
    recompute_modules_exist [recompute_modules]
        + [multi_latent_attention, moe_shared_expert_intermediate_size, num_moe_experts]
        MEGATRON,
        |d| absent_modules(d);
    zero_memory_has_an_overlapped_all_to_all
        [moe_zero_memory, moe_alltoall_overlap_comm, moe_token_dispatcher_type]
        + [num_moe_experts, overlap_moe_expert_parallel_comm, method] MINDSPEED,
        |d| (d.memory.moe_zero_memory != ZeroMemory::Disable
            && (!has_experts(d)
                || d.schedule.moe_token_dispatcher_type != Dispatcher::Alltoall
                || !(d.schedule.moe_alltoall_overlap_comm || overlaps_pairs(d))))
            .then(|| say!(
                "zero memory needs experts, the alltoall dispatcher and an overlap of their \
                 exchange: in the layer or in pairs"));
    zero_memory_of_pairs_is_level0 [moe_zero_memory, method, overlap_moe_expert_parallel_comm]
        MINDSPEED,
        |d| (d.memory.moe_zero_memory == ZeroMemory::Level1 && overlaps_pairs(d)).then(|| {
            say!("where forwards run beside backwards, zero memory has level0 only")
        });
    zero_memory_is_finer_than_whole_layers [moe_zero_memory, recompute_granularity] MINDSPEED,
        |d| (d.memory.moe_zero_memory != ZeroMemory::Disable
            && d.memory.recompute_granularity == RecomputeGranularity::Full)
            .then(|| say!(
                "whole layers are computed again already: zero memory takes parts of them"));
    swapped_modules_exist [swap_modules] + [num_moe_experts] MINDSPEED,
        |d| (!has_experts(d)
            && (d.memory.swap_modules.has(SwapModule::Probs)
                || d.memory.swap_modules.has(SwapModule::Activations)))
            .then(|| say!("a dense model has no expert activations to swap"));
    loss_kernels_are_of_a_fused_loss
        [cross_entropy_fusion_impl, cross_entropy_loss_fusion] MEGATRON,
        |d| loss_kernels(d);
    loss_chunks_are_of_logits_and_tokens
        [loss_chunks, cross_entropy_fusion_impl, seq_length, micro_batch_size]
        + [context_parallel_size] TORCHTITAN,
        |d| loss_chunks(d);
    offloaded_layers_need_one_stage
        [cpu_offloading_num_layers, pipeline_model_parallel_size] MEGATRON,
        |d| (d.memory.cpu_offloading_num_layers > 0 && pp(d) > 1)
            .then(|| say!("offloading layers needs PP 1, PP is {}", pp(d)));
    offloaded_layers_are_layers [cpu_offloading_num_layers, num_layers] MEGATRON,
        |d| (d.memory.cpu_offloading_num_layers > d.transformer.num_layers).then(|| say!(
            "{} offloaded layers of {}",
            d.memory.cpu_offloading_num_layers, d.transformer.num_layers));
    reused_parameters_are_bf16 [reuse_fp32_param, precision] + [main_params_dtype] MINDSPEED,
        |d| (d.memory.reuse_fp32_param
            && (d.training.precision != Precision::Bf16
                || d.memory.main_params_dtype != crate::ground::choice::StateDtype::Fp32))
            .then(|| say!("reusing fp32 parameters needs bf16 weights with fp32 copies"));
    routing_has_experts [balance, aux_loss, planner, redundant_experts, num_moe_experts] MEGATRON,
        |d| {
            let routing = &d.routing;
            (!has_experts(d)
                && (routing.balance != Balance::Uniform
                    || routing.aux_loss != AuxLoss::None
                    || routing.planner != Planner::None
                    || routing.redundant_experts > 0))
                .then(|| say!("a dense model has no experts to balance, move or copy"))
        };
    trace_is_at_hand [balance, trace] crate::ground::source::DERIVED,
        |d| (d.routing.balance == Balance::Trace).then(|| say!(
            "the trace of loads isn't part of the design: it has to be given beside it"));
    redundant_experts_are_placed_by_a_planner [redundant_experts, planner] DEEPSEEK_V3,
        |d| (d.routing.redundant_experts > 0 && d.routing.planner == Planner::None)
            .then(|| say!("copies of busy experts need a planner that places them"));
    redundant_experts_are_a_multiple_of_ep
        [redundant_experts, expert_model_parallel_size] DEEPSEEK_V3,
        |d| {
            let (copies, ep) =
                (d.routing.redundant_experts, d.parallel.expert_model_parallel_size);
            indivisible(copies, ep, || say!("EP {ep} doesn't divide {copies} redundant experts"))
        };
    design_uses_what_is_modelled
        [host_binding, data_loader_offload] crate::ground::source::DERIVED,
        |d| not_offered(d);
}
