//! Arguments in groups, each an array of the script.

mod memory;
mod mixers;

use core::fmt::Display;

use model::design::{Design, ExtraArgument, KnobId, LayerFreq};
use model::ground::choice::{
    AuxLoss, Choice, ContextParallelAlgo, CudaGraph, Dispatcher, FlexBackend, Method, Optimizer,
    Precision, RankOrder, ShardingStrategy, SoftmaxType,
};
use model::ground::knob::Kind;

use super::layout;
use crate::{carried, flags};

/// An argument as it is written.
pub(super) struct Word {
    /// Its name without the dashes in front.
    pub(super) name: String,
    /// Values that follow it; empty for a switch.
    pub(super) values: Vec<String>,
}

/// One array of the script.
pub(super) struct Group {
    pub(super) title: &'static str,
    pub(super) name: &'static str,
    pub(super) arguments: Vec<Word>,
}

impl Group {
    pub(super) fn new(title: &'static str, name: &'static str) -> Self {
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

    fn values(&mut self, name: &str, values: &[impl Display]) {
        let values = values.iter().map(ToString::to_string).collect();
        self.arguments.push(Word { name: name.to_owned(), values });
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
    if design.transformer.has_experts() {
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

/// All groups of a design, as [`for_target`], with the arguments that no knob reads, which win over
/// others of their name.
pub(super) fn with_extra(mindspeed: bool, design: &Design) -> Vec<Group> {
    let mut groups = for_target(mindspeed, design);
    let mut own = Group::new("As imported: read by no knob", "EXTRA_ARGS");
    own.arguments = extra(design);
    own.arguments.iter_mut().for_each(|word| rename(mindspeed, word));
    let is_extra = |word: &Word| own.arguments.iter().any(|extra| extra.name == word.name);
    groups.iter_mut().for_each(|group| group.arguments.retain(|word| !is_extra(word)));
    groups.push(own);
    groups
}

/// Names and values that the two have for the tokenizers of one library: Megatron's, MindSpeed's.
const TOKENIZERS: [(&str, &str); 2] =
    [("tokenizer-model", "tokenizer-name-or-path"), ("HuggingFaceTokenizer", "PretrainedFromHF")];

/// Gives an argument the name that the target has for it.
fn rename(mindspeed: bool, word: &mut Word) {
    let pick = |pair: (&'static str, &'static str)| if mindspeed { pair } else { (pair.1, pair.0) };
    for (theirs, own) in TOKENIZERS.map(pick) {
        if word.name == theirs {
            own.clone_into(&mut word.name);
        }
        for value in &mut word.values {
            if word.name == "tokenizer-type" && value == theirs {
                own.clone_into(value);
            }
        }
    }
}

/// The arguments of a design that no knob reads.
pub(super) fn extra(design: &Design) -> Vec<Word> {
    let text = design.kernel.extra_arguments.as_deref();
    let list = text.and_then(ExtraArgument::list).unwrap_or_default();
    let own = list
        .into_iter()
        .filter(|it| flags::is_extra(&it.name) && !carried::is_secret(&it.name, &it.values));
    own.map(|it| Word { name: it.name, values: it.values }).collect()
}

/// The array of what starts the processes.
pub(super) const LAUNCHER: &str = "DISTRIBUTED_ARGS";

/// Nodes, and the devices of each, where they are as many in all.
pub(super) fn nodes(d: &Design) -> Option<(u64, u64)> {
    let usual = d.cluster.accelerator.row().devices_per_node;
    let per_node = d.cluster.devices_per_node.unwrap_or(usual).min(d.cluster.num_devices).max(1);
    let whole = d.cluster.num_devices.is_multiple_of(per_node);
    whole.then(|| (d.cluster.num_devices / per_node, per_node))
}

fn machine(d: &Design) -> Group {
    let mut group = Group::new("Cluster", LAUNCHER);
    if let Some((nodes, per_node)) = nodes(d) {
        group.value("nproc_per_node", per_node);
        group.value("nnodes", nodes);
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
        // Without being told Megatron stretches MLA's angles by 40; only those does it fuse.
        group.some("rope-type", (!mindspeed).then_some("rope"));
        group.on("no-rope-fusion", !mindspeed);
    }
    group.on("swiglu", t.gated_linear_unit);
    group.on("disable-bias-linear", !t.add_bias_linear);
    group.on("add-qkv-bias", t.add_qkv_bias && !t.add_bias_linear);
    if !mindspeed {
        group.on("attention-output-gate", t.attention_output_gate);
        let is_plain = t.softmax_type == SoftmaxType::Vanilla;
        group.some("softmax-type", (!is_plain).then(|| t.softmax_type.name()));
    }
    if mindspeed {
        specification(&mut group, d);
    }
    mixers::hybrid(mindspeed, &mut group, d);
    mixers::linear_attention(mindspeed, &mut group, d);
    mixers::sparse_attention(mindspeed, &mut group, d);
    mixers::streams(mindspeed, &mut group, d);
    group.on("qk-layernorm", t.qk_layernorm);
    group.on("post-norm", t.sandwich_norm && mindspeed);
    group.value("normalization", "RMSNorm");
    group.value("position-embedding-type", t.position_embedding_type.name());
    if mindspeed {
        group.some("sliding-window", t.window_size);
        group.some("pre-tockens", t.window_size);
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

/// Adds MindSpeed-LLM's layer specification if it isn't Megatron's own, and the kernels: its own,
/// but Transformer Engine's for narrow formats.
///
/// Source: Ascend/MindSpeed-LLM `examples/mcore` and `mindspeed_llm/tasks/models/spec`.
fn specification(group: &mut Group, d: &Design) {
    let t = &d.transformer;
    let of_model = match (t.multi_latent_attention, t.qk_layernorm) {
        _ if t.is_hybrid() => None,
        (true, _) => Some("deepseek_spec"),
        (false, true) => Some("qwen3_spec"),
        (false, false) => None,
    };
    if let Some(name) = of_model {
        let path = format!("mindspeed_llm.tasks.models.spec.{name}");
        group.values("spec", &[path.as_str(), "layer_spec"]);
    }
    let narrow = is_narrow(d.training.precision);
    group.value("transformer-impl", if narrow { "transformer_engine" } else { "local" });
}

/// Whether a precision is one that Transformer Engine computes.
pub(super) fn is_narrow(precision: Precision) -> bool {
    !matches!(precision, Precision::Bf16 | Precision::Fp16 | Precision::Fp32)
}

/// Whether the vocabulary still is one that the knob takes once Megatron has padded it to a
/// multiple of TP.
fn fits_padded(d: &Design) -> bool {
    let multiple = d.parallel.tensor_model_parallel_size.max(1);
    let padded = d.transformer.vocab_size.checked_next_multiple_of(multiple);
    let Kind::Integer(_, high) = KnobId::vocab_size.knob().kind else { return true };
    padded.is_some_and(|padded| padded <= high)
}

fn experts(mindspeed: bool, d: &Design) -> Group {
    let mut group = Group::new("Experts", "MOE_ARGS");
    let t = &d.transformer;
    group.some("num-experts", t.num_moe_experts);
    group.value("moe-router-topk", t.moe_router_topk);
    group.some("moe-ffn-hidden-size", t.moe_ffn_hidden_size);
    group.some("moe-latent-size", t.moe_latent_size.filter(|_| !mindspeed));
    group.some("num-zero-experts", t.moe_zero_experts.filter(|_| mindspeed));
    let width = t.moe_ffn_hidden_size.unwrap_or(t.ffn_hidden_size);
    match t.moe_shared_expert_intermediate_size {
        Some(shared) if mindspeed && shared.is_multiple_of(width) => {
            group.value("n-shared-experts", shared / width);
        }
        shared => group.some("moe-shared-expert-intermediate-size", shared),
    }
    let gate = if mindspeed { "shared-expert-gate" } else { "moe-shared-expert-gate" };
    group.on(gate, t.moe_shared_expert_gate);
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
        AuxLoss::DpGroup if mindspeed => ("aux_loss", false),
        AuxLoss::DpGroup => ("global_aux_loss", false),
        AuxLoss::None => ("none", false),
    };
    group.value("moe-router-load-balancing-type", kind);
    group.some("moe-aux-loss-coeff", (kind != "none").then_some("0.001"));
    group.on("seq-aux", by_sequence);
    group.on("use-global-aux-loss", mindspeed && d.routing.aux_loss == AuxLoss::DpGroup);
    // Megatron refuses one expert for each token else: its weight would be 1.
    group.on("moe-router-pre-softmax", !mindspeed && t.moe_router_topk == 1);
    group.some("moe-expert-capacity-factor", d.training.moe_expert_capacity_factor);
    group.on("moe-pad-expert-input-to-capacity", d.training.moe_pad_expert_input_to_capacity);
    let dispatcher = d.schedule.moe_token_dispatcher_type;
    group.value("moe-token-dispatcher-type", dispatcher.name());
    if dispatcher == Dispatcher::Flex {
        // DeepEP takes probabilities in no other format.
        group.value("moe-router-dtype", "fp32");
    }
    let hybrid = d.schedule.moe_flex_dispatcher_backend == FlexBackend::Hybridep;
    if dispatcher == Dispatcher::Flex && hybrid && !mindspeed {
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
        let is_hybrid = p.context_parallel_algo == ContextParallelAlgo::Hybrid;
        group.some("ulysses-degree-in-cp", is_hybrid.then(|| close_ranks(d)));
    } else if p.context_parallel_algo != ContextParallelAlgo::P2p {
        let algo = match p.context_parallel_algo {
            ContextParallelAlgo::P2p => "p2p",
            ContextParallelAlgo::A2a => "a2a",
            // Transformer Engine knows no other spelling.
            ContextParallelAlgo::Allgather => "all_gather",
            ContextParallelAlgo::Hybrid => "a2a+p2p",
        };
        group.value("cp-comm-type", algo);
        if p.context_parallel_algo == ContextParallelAlgo::Hybrid {
            let close = close_ranks(d);
            let far = p.context_parallel_size / close;
            group.values("hierarchical-context-parallel-sizes", &[close, far]);
        }
    }
    if d.transformer.has_experts() {
        // Without ETP it is TP in both.
        group.value("expert-model-parallel-size", p.expert_model_parallel_size);
        group.value("expert-tensor-parallel-size", p.expert_tensor_parallel_size);
    }
    match p.data_parallel_sharding_strategy {
        ShardingStrategy::NoShard => {}
        ShardingStrategy::Optim => group.on("use-distributed-optimizer", true),
        ShardingStrategy::OptimGradsParams if mindspeed => {
            group.on("use-torch-fsdp2", true);
            group.value("ckpt-format", "torch_dist");
        }
        strategy @ (ShardingStrategy::OptimGrads | ShardingStrategy::OptimGradsParams) => {
            group.on("use-distributed-optimizer", true);
            group.on("use-megatron-fsdp", !mindspeed);
            if !mindspeed {
                group.value("data-parallel-sharding-strategy", strategy.name());
                group.value("ckpt-format", "fsdp_dtensor");
            }
        }
    }
    let instances = p.num_distributed_optimizer_instances;
    group.some("num-distributed-optimizer-instances", (instances > 1).then_some(instances));
    group.on("use-tp-pp-dp-mapping", p.rank_order == RankOrder::TpCpEpPpDp);
    group
}

/// Context-parallel ranks that reach each other fast, which exchange heads where others pass keys
/// and values on: the greatest divisor of CP that fits a node beside TP.
fn close_ranks(d: &Design) -> u64 {
    let row = d.cluster.accelerator.row();
    let usual = d.cluster.devices_per_node.unwrap_or(row.devices_per_node);
    let domain = d.cluster.scale_up_domain_size.unwrap_or(row.scale_up_domain_size.max(usual));
    let domain = domain.min(d.cluster.num_devices);
    let most = (domain / d.parallel.tensor_model_parallel_size.max(1)).max(1);
    let cp = d.parallel.context_parallel_size;
    (1..=most.min(cp)).rev().find(|part| cp.is_multiple_of(*part)).unwrap_or(1)
}

/// Virtual stages and what each holds.
fn pipeline(mindspeed: bool, d: &Design, group: &mut Group) {
    let chunks = d.parallel.virtual_pipeline_model_parallel_size;
    if mindspeed {
        let total = layout::counted(d).total;
        let all = d.parallel.pipeline_model_parallel_size * chunks;
        // DualPipeV has its two chunks by default.
        let told = chunks > 1 && d.schedule.method != Method::DualPipeV;
        if told && layout::is_written(d) {
            return group.some("pipeline-model-parallel-layout", layout::letters(d));
        }
        if told && total.is_multiple_of(all) {
            group.value("num-layers-per-virtual-pipeline-stage", total / all);
        }
        return;
    }
    if d.transformer.is_hybrid() {
        // Its pattern says where stages and chunks end, and Megatron takes nothing beside it.
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
    let has_experts = d.transformer.has_experts();
    let chunks = d.parallel.virtual_pipeline_model_parallel_size;
    if mindspeed {
        let pairs = matches!(s.method, Method::OneForwardOneBackwardOverlap | Method::DualPipeV);
        group.on("moe-fb-overlap", pairs);
        if s.method == Method::DualPipeV {
            group.value("schedules-method", "dualpipev");
            group.on("dualpipev-dw-detach", s.delay_wgrad_compute);
        }
        group.on("moe-alltoall-overlap-comm", has_experts && s.moe_alltoall_overlap_comm);
        // mc2 takes no grouped products of experts.
        let grouped = has_experts && d.kernel.moe_grouped_gemm;
        group.on("use-ascend-mc2", s.tp_comm_overlap && !grouped);
        group.on("use-ascend-coc", s.tp_comm_overlap && grouped);
    } else {
        let pairs = s.method == Method::OneForwardOneBackwardOverlap;
        let overlaps = s.overlap_moe_expert_parallel_comm || (pairs && has_experts);
        group.on("overlap-moe-expert-parallel-comm", overlaps);
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
        // MindSpeed has no FP4.
        Precision::Nvfp4 if mindspeed => None,
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
    // Without being told both are 0.1.
    group.value("attention-dropout", t.attention_dropout);
    group.value("hidden-dropout", t.hidden_dropout);
    group.some("optimizer", (t.optimizer != Optimizer::Adam).then(|| t.optimizer.name()));
    group.some("muon-tp-mode", (t.optimizer == Optimizer::Muon).then(|| t.muon_tp_mode.name()));
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
        if d.routing.planner == model::ground::choice::Planner::Ema {
            group.on("enable-expert-placement", true);
            group.value("expert-placement-freq", d.routing.planner_interval);
            group.on("enable-fine-grained-expert-placement", true);
            group.value("fine-grained-expert-placement-thre", d.routing.planner_threshold);
        }
    } else {
        group.some("attention-backend", (!k.flash_attention).then_some("unfused"));
        let graph = k.cuda_graph_impl;
        if graph != CudaGraph::None {
            group.value("cuda-graph-impl", graph.name());
            // Dropless experts read sizes back, which no graph does.
            let sparse = d.transformer.has_experts();
            let modules = ["attn", "moe_router", "moe_preprocess"];
            group.values(
                "cuda-graph-modules",
                modules.get(..if sparse { 3 } else { 1 }).unwrap_or(&[]),
            );
        }
    }
    group
}
