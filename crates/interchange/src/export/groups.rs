//! Arguments in groups, each an array of the script.

mod memory;

use core::fmt::Display;

use model::choice::{
    AttentionVariant, AuxLoss, Choice, ContextParallelAlgo, Dispatcher, FlexBackend, Method,
    Optimizer, Precision, RankOrder, ShardingStrategy, SoftmaxType,
};
use model::design::{Design, KnobId, LayerFreq};
use model::knob::Kind;

use super::layout;

/// An argument as it is written.
pub(super) struct Word {
    /// Its name without the dashes in front.
    pub(super) name: String,
    /// What follows it; nothing for a switch.
    pub(super) values: Vec<String>,
}

/// One array of the script.
pub(super) struct Group {
    pub(super) title: &'static str,
    pub(super) name: &'static str,
    pub(super) arguments: Vec<Word>,
}

impl Group {
    fn new(title: &'static str, name: &'static str) -> Self {
        Self { title, name, arguments: vec![] }
    }

    fn on(&mut self, name: &str, given: bool) {
        if given {
            self.arguments.push(Word { name: name.to_owned(), values: vec![] });
        }
    }

    fn value(&mut self, name: &str, value: impl Display) {
        self.arguments.push(Word { name: name.to_owned(), values: vec![value.to_string()] });
    }

    fn some(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.value(name, value);
        }
    }
}

/// All groups of a design, in MindSpeed's words or Megatron's.
pub(super) fn for_target(mindspeed: bool, design: &Design) -> Vec<Group> {
    let mut groups = vec![machine(design), shape(mindspeed, design)];
    if design.transformer.num_moe_experts.is_some() {
        groups.push(experts(mindspeed, design));
    }
    groups.extend([
        parallel(mindspeed, design),
        overlap(mindspeed, design),
        training(mindspeed, design),
        memory::memory(mindspeed, design),
        kernels(mindspeed, design),
    ]);
    groups
}

fn machine(d: &Design) -> Group {
    let mut group = Group::new("Cluster", "DISTRIBUTED_ARGS");
    let usual = d.cluster.accelerator.row().devices_per_node;
    let per_node = d.cluster.devices_per_node.unwrap_or(usual).min(d.cluster.num_devices).max(1);
    if d.cluster.num_devices.is_multiple_of(per_node) {
        group.value("nproc_per_node", per_node);
        group.value("nnodes", d.cluster.num_devices / per_node);
    }
    group
}

fn shape(mindspeed: bool, d: &Design) -> Group {
    let mut group = Group::new("Shape of the model", "MODEL_ARGS");
    let t = &d.transformer;
    group.on("use-mcore-models", true);
    if mindspeed {
        let counted = layout::counted(d);
        group.value("num-layers", counted.total);
        if !counted.noops.is_empty() {
            let noops: Vec<String> = counted.noops.iter().map(u64::to_string).collect();
            group.value("noop-layers", noops.join(","));
        }
    } else {
        group.value("num-layers", t.num_layers);
    }
    group.some("mtp-num-layers", (t.mtp_num_layers > 0).then_some(t.mtp_num_layers));
    group.value("hidden-size", t.hidden_size);
    group.value("ffn-hidden-size", t.ffn_hidden_size);
    group.value("num-attention-heads", t.num_attention_heads);
    if let Some(groups) = t.num_query_groups.filter(|_| !t.multi_latent_attention) {
        group.on("group-query-attention", true);
        group.value("num-query-groups", groups);
    }
    group.some("kv-channels", t.kv_channels);
    if t.multi_latent_attention {
        group.on("multi-latent-attention", true);
        group.some("q-lora-rank", t.q_lora_rank);
        group.value("kv-lora-rank", t.kv_lora_rank);
        group.value("qk-head-dim", t.qk_head_dim);
        group.value("qk-pos-emb-head-dim", t.qk_pos_emb_head_dim);
        group.value("v-head-dim", t.v_head_dim);
    }
    group.on("swiglu", t.gated_linear_unit);
    group.on("disable-bias-linear", !t.add_bias_linear);
    group.on("add-qkv-bias", t.add_qkv_bias && !t.add_bias_linear);
    group.on("attention-output-gate", t.attention_output_gate);
    let is_plain = t.softmax_type == SoftmaxType::Vanilla;
    group.some("softmax-type", (!is_plain).then(|| t.softmax_type.name()));
    hybrid(&mut group, d);
    linear_attention(&mut group, d);
    sparse_attention(&mut group, d);
    compressed_attention(&mut group, d);
    group.on("qk-layernorm", t.qk_layernorm);
    group.on("post-norm", t.sandwich_norm && mindspeed);
    group.value("normalization", "RMSNorm");
    group.value("position-embedding-type", t.position_embedding_type.name());
    if mindspeed {
        group.some("sliding-window", t.window_size);
        group.value("padded-vocab-size", t.vocab_size);
    } else {
        group.some("window-size", t.window_size.map(|tokens| format!("{tokens},0")));
        group.some("window-attn-skip-freq", t.window_attn_skip_freq);
        if fits_padded(d) {
            group.value("vocab-size", t.vocab_size);
            group.value("make-vocab-size-divisible-by", 1);
        }
    }
    group.on("untie-embeddings-and-output-weights", t.untie_embeddings_and_output_weights);
    group
}

/// Whether the vocabulary still is one that the knob takes once Megatron has padded it to a
/// multiple of TP.
fn fits_padded(d: &Design) -> bool {
    let multiple = d.parallel.tensor_model_parallel_size.max(1);
    let padded = d.transformer.vocab_size.checked_next_multiple_of(multiple);
    let Kind::Integer(_, high) = KnobId::vocab_size.knob().kind else { return true };
    padded.is_some_and(|padded| padded <= high)
}

/// Sub-layers, where a pattern says what they are.
fn hybrid(group: &mut Group, d: &Design) {
    let t = &d.transformer;
    group.on("mtp-use-repeated-layer", t.mtp_use_repeated_layer);
    if !t.is_hybrid() {
        return;
    }
    group.value("hybrid-layer-pattern", d.get(KnobId::hybrid_layer_pattern));
    group.value("mamba-state-dim", t.mamba_state_dim);
    group.value("mamba-head-dim", t.mamba_head_dim);
    group.value("mamba-num-groups", t.mamba_num_groups);
    group.some("mamba-num-heads", t.mamba_num_heads);
}

/// Sparse attention, where the model has it.
fn sparse_attention(group: &mut Group, d: &Design) {
    let t = &d.transformer;
    if !t.experimental_attention_variant.is_sparse() {
        return;
    }
    // What Megatron has no argument for stands in a comment.
    if t.experimental_attention_variant != AttentionVariant::Dsa {
        return indexer(group, d);
    }
    group.value("experimental-attention-variant", t.experimental_attention_variant.name());
    indexer(group, d);
    group.value("dsa-indexer-topk-freq", t.dsa_indexer_topk_freq);
    group.value("dsa-indexer-skip-topk-offset", t.dsa_indexer_skip_topk_offset);
}

fn indexer(group: &mut Group, d: &Design) {
    let t = &d.transformer;
    group.value("dsa-indexer-n-heads", t.dsa_indexer_n_heads);
    group.value("dsa-indexer-head-dim", t.dsa_indexer_head_dim);
    group.value("dsa-indexer-topk", t.dsa_indexer_topk);
}

/// Compressed attention and hyper-connections, where the model has them.
fn compressed_attention(group: &mut Group, d: &Design) {
    let t = &d.transformer;
    if t.attention_compress_ratios.is_some() {
        group.value("experimental-attention-variant", "dsv4_hybrid");
        group.value("csa-compress-ratios", d.get(KnobId::attention_compress_ratios));
        group.some("csa-window-size", t.window_size);
        group.value("o-groups", t.o_groups);
        group.value("o-lora-rank", t.o_lora_rank);
        indexer(group, d);
    }
    if t.enable_mhc_connections {
        group.on("enable-mhc-connections", true);
        group.value("mhc-num-residual-streams", t.mhc_num_residual_streams);
    }
}

/// Linear attention, where some layers have it.
fn linear_attention(group: &mut Group, d: &Design) {
    let t = &d.transformer;
    if !t.experimental_attention_variant.is_linear() {
        return;
    }
    group.value("experimental-attention-variant", t.experimental_attention_variant.name());
    group.value("linear-attention-freq", d.get(KnobId::linear_attention_freq));
    group.value("linear-conv-kernel-dim", t.linear_conv_kernel_dim);
    group.value("linear-key-head-dim", t.linear_key_head_dim);
    group.value("linear-value-head-dim", t.linear_value_head_dim);
    group.value("linear-num-key-heads", t.linear_num_key_heads);
    group.value("linear-num-value-heads", t.linear_num_value_heads);
}

fn experts(mindspeed: bool, d: &Design) -> Group {
    let mut group = Group::new("Experts", "MOE_ARGS");
    let t = &d.transformer;
    group.some("num-experts", t.num_moe_experts);
    group.value("moe-router-topk", t.moe_router_topk);
    group.some("moe-ffn-hidden-size", t.moe_ffn_hidden_size);
    group.some("moe-latent-size", t.moe_latent_size);
    group.some("num-zero-experts", t.moe_zero_experts.filter(|_| mindspeed));
    let width = t.moe_ffn_hidden_size.unwrap_or(t.ffn_hidden_size);
    match t.moe_shared_expert_intermediate_size {
        Some(shared) if mindspeed && shared.is_multiple_of(width) => {
            group.value("n-shared-experts", shared / width);
        }
        shared => group.some("moe-shared-expert-intermediate-size", shared),
    }
    group.on("moe-shared-expert-gate", t.moe_shared_expert_gate);
    match (&t.moe_layer_freq, layout::dense_first(d)) {
        (LayerFreq::Every(every), _) => group.value("moe-layer-freq", every),
        (LayerFreq::Runs(_), Some(dense)) if mindspeed && dense > 0 => {
            group.value("first-k-dense-replace", dense);
            group.value("moe-layer-freq", 1);
        }
        // MindSpeed takes a number only.
        (LayerFreq::Runs(_), _) if mindspeed => {}
        (LayerFreq::Runs(_), _) => {
            group.value("moe-layer-freq", d.get(model::design::KnobId::moe_layer_freq));
        }
    }
    group.some("moe-router-num-groups", t.moe_router_num_groups.filter(|groups| *groups > 1));
    group.some("moe-router-group-topk", t.moe_router_group_topk);
    let (kind, by_sequence) = match d.routing.aux_loss {
        AuxLoss::Sequence if mindspeed => ("aux_loss", true),
        AuxLoss::Sequence => ("seq_aux_loss", false),
        AuxLoss::MicroBatch | AuxLoss::EpGroup => ("aux_loss", false),
        AuxLoss::DpGroup => ("global_aux_loss", false),
        AuxLoss::None => ("none", false),
    };
    group.value("moe-router-load-balancing-type", kind);
    group.some("moe-aux-loss-coeff", (kind != "none").then_some("0.001"));
    group.on("seq-aux", by_sequence);
    group.some("moe-expert-capacity-factor", d.training.moe_expert_capacity_factor);
    group.on("moe-pad-expert-input-to-capacity", d.training.moe_pad_expert_input_to_capacity);
    let dispatcher = d.schedule.moe_token_dispatcher_type;
    group.value("moe-token-dispatcher-type", dispatcher.name());
    let hybrid = d.schedule.moe_flex_dispatcher_backend == FlexBackend::Hybridep;
    if dispatcher == Dispatcher::Flex && hybrid {
        group.value("moe-flex-dispatcher-backend", FlexBackend::Hybridep.name());
    }
    group.on("moe-grouped-gemm", d.kernel.moe_grouped_gemm);
    group.on("moe-permute-fusion", d.kernel.moe_permute_fusion);
    group
}

fn parallel(mindspeed: bool, d: &Design) -> Group {
    let mut group = Group::new("Parallelism", "PARALLEL_ARGS");
    let p = &d.parallel;
    let tp = p.tensor_model_parallel_size;
    group.value("tensor-model-parallel-size", tp);
    group.on("sequence-parallel", p.sequence_parallel);
    group.value("pipeline-model-parallel-size", p.pipeline_model_parallel_size);
    pipeline(mindspeed, d, &mut group);
    group.value("context-parallel-size", p.context_parallel_size);
    if p.context_parallel_size == 1 {
        // No algorithm splits attention then.
    } else if mindspeed {
        let algo = match p.context_parallel_algo {
            ContextParallelAlgo::P2p => "megatron_cp_algo",
            ContextParallelAlgo::A2a => "ulysses_cp_algo",
            ContextParallelAlgo::Allgather => "kvallgather_cp_algo",
            ContextParallelAlgo::Hybrid => "hybrid_cp_algo",
        };
        group.value("context-parallel-algo", algo);
    } else if p.context_parallel_algo != ContextParallelAlgo::P2p {
        let algo = match p.context_parallel_algo {
            ContextParallelAlgo::Hybrid => "a2a+p2p",
            algo @ (ContextParallelAlgo::P2p
            | ContextParallelAlgo::A2a
            | ContextParallelAlgo::Allgather) => algo.name(),
        };
        group.value("cp-comm-type", algo);
    }
    if d.transformer.num_moe_experts.is_some() {
        let (ep, etp) = (p.expert_model_parallel_size, p.expert_tensor_parallel_size);
        if mindspeed && etp == 1 && tp > 1 && ep.is_multiple_of(tp) {
            group.value("expert-model-parallel-size", ep / tp);
            group.on("moe-tp-extend-ep", true);
        } else {
            group.value("expert-model-parallel-size", ep);
            group.value("expert-tensor-parallel-size", etp);
        }
    }
    match p.data_parallel_sharding_strategy {
        ShardingStrategy::NoShard => {}
        ShardingStrategy::Optim => group.on("use-distributed-optimizer", true),
        ShardingStrategy::OptimGradsParams if mindspeed => group.on("use-torch-fsdp2", true),
        strategy @ (ShardingStrategy::OptimGrads | ShardingStrategy::OptimGradsParams) => {
            group.on("use-distributed-optimizer", true);
            group.on("use-megatron-fsdp", !mindspeed);
            if !mindspeed {
                group.value("data-parallel-sharding-strategy", strategy.name());
            }
        }
    }
    let instances = p.num_distributed_optimizer_instances;
    group.some("num-distributed-optimizer-instances", (instances > 1).then_some(instances));
    group.on("use-tp-pp-dp-mapping", p.rank_order == RankOrder::TpCpEpPpDp);
    group
}

/// Virtual stages and what each holds.
fn pipeline(mindspeed: bool, d: &Design, group: &mut Group) {
    let chunks = d.parallel.virtual_pipeline_model_parallel_size;
    if mindspeed {
        let total = layout::counted(d).total;
        let all = d.parallel.pipeline_model_parallel_size * chunks;
        // DualPipeV has its two chunks without being told.
        let told = chunks > 1 && d.schedule.method != Method::DualPipeV;
        if told && total.is_multiple_of(all) {
            group.value("num-layers-per-virtual-pipeline-stage", total / all);
        }
        return;
    }
    match layout::letters(d) {
        Some(letters) => group.value("pipeline-model-parallel-layout", letters),
        None if chunks > 1 => group.value("num-virtual-stages-per-pipeline-rank", chunks),
        None => {}
    }
}

fn overlap(mindspeed: bool, d: &Design) -> Group {
    let mut group = Group::new("Schedule and overlap", "OVERLAP_ARGS");
    let s = &d.schedule;
    let has_experts = d.transformer.num_moe_experts.is_some();
    let chunks = d.parallel.virtual_pipeline_model_parallel_size;
    if mindspeed {
        let pairs = matches!(s.method, Method::OneForwardOneBackwardOverlap | Method::DualPipeV);
        group.on("moe-fb-overlap", pairs);
        if s.method == Method::DualPipeV {
            group.value("schedules-method", "dualpipev");
            group.on("dualpipev-dw-detach", s.delay_wgrad_compute);
        }
        group.on("moe-alltoall-overlap-comm", has_experts && s.moe_alltoall_overlap_comm);
        group.on("moe-hierarchical-alltoallv", has_experts && s.moe_hierarchical_alltoallv);
        group.on("use-ascend-mc2", s.tp_comm_overlap);
    } else {
        group.on("overlap-moe-expert-parallel-comm", s.overlap_moe_expert_parallel_comm);
        group.on("delay-wgrad-compute", s.delay_wgrad_compute);
        group.on("tp-comm-overlap", s.tp_comm_overlap);
    }
    group.on("moe-shared-expert-overlap", has_experts && s.moe_shared_expert_overlap);
    let interleaved =
        matches!(s.method, Method::Interleaved | Method::OneForwardOneBackwardOverlap);
    group.on("no-overlap-p2p-communication", interleaved && chunks > 1 && !s.overlap_p2p_comm);
    group.on("overlap-grad-reduce", s.overlap_grad_reduce);
    group.on("overlap-param-gather", s.overlap_param_gather);
    let name = "microbatch-group-size-per-virtual-pipeline-stage";
    group.some(name, s.microbatch_group_size_per_vp_stage);
    group
}

fn training(mindspeed: bool, d: &Design) -> Group {
    let mut group = Group::new("Batch and precision", "TRAINING_ARGS");
    let t = &d.training;
    group.value("seq-length", t.seq_length);
    group.value("max-position-embeddings", t.seq_length);
    group.value("micro-batch-size", t.micro_batch_size);
    group.value("global-batch-size", t.global_batch_size);
    group.on("fp16", t.precision == Precision::Fp16);
    group.on("bf16", !matches!(t.precision, Precision::Fp16 | Precision::Fp32));
    let recipe = match t.precision {
        Precision::Bf16 | Precision::Fp16 | Precision::Fp32 => None,
        Precision::Nvfp4 => {
            group.value("fp4-format", "e2m1");
            group.value("fp4-recipe", "nvfp4");
            None
        }
        Precision::Mxfp8 => Some("mxfp8"),
        Precision::Fp8Delayed => Some("delayed"),
        Precision::Fp8Tensorwise => Some("tensorwise"),
        Precision::Fp8Blockwise => Some("blockwise"),
    };
    if let Some(recipe) = recipe {
        group.value("fp8-format", "hybrid");
        group.value("fp8-recipe", recipe);
    }
    group.some("optimizer", (t.optimizer != Optimizer::Adam).then(|| t.optimizer.name()));
    if let Some(rank) = t.lora_rank.filter(|_| mindspeed) {
        group.value("lora-r", rank);
        // Of layers by the ends of their names, experts' among them.
        let names = t.lora_target_modules.iter().map(Choice::name);
        let values: Vec<String> =
            names.filter(|name| !name.contains('.')).map(str::to_owned).collect();
        if !values.is_empty() {
            group.arguments.push(Word { name: "lora-target-modules".to_owned(), values });
        }
    }
    group
}

fn kernels(mindspeed: bool, d: &Design) -> Group {
    let mut group = Group::new("Kernels", "KERNEL_ARGS");
    let k = &d.kernel;
    if mindspeed {
        group.on("use-flash-attn", k.flash_attention);
        if d.transformer.multi_latent_attention {
            group.on("mla-fa-without-pad", k.mla_fa_without_pad);
            let is_usual = k.padded_base_length == 128;
            group.some("padded-base-length", (!is_usual).then_some(k.padded_base_length));
        }
        group.on("use-fused-rmsnorm", k.fused_rms_norm);
        group.on("gemm-gradient-accumulation-fusion", k.gmm_add);
        if d.routing.planner == model::choice::Planner::Ema {
            group.on("enable-expert-placement", true);
            group.value("expert-placement-freq", d.routing.planner_interval);
            group.value("fine-grained-expert-placement-thre", d.routing.planner_threshold);
        }
    } else {
        group.some("attention-backend", (!k.flash_attention).then_some("unfused"));
        let graph = k.cuda_graph_impl;
        group.some("cuda-graph-impl", Some(graph.name()).filter(|name| *name != "none"));
    }
    group
}
