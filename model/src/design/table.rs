//! The registry: every knob in one table, in the order that links and files write them.
//!
//! A row gives name, Rust type, neutral value, then label, kind with bounds, and meaning.
//! Bounds are chosen so that no count overflows 128 bits and no product of sizes an `f64`.

use alloc::string::String;

use super::hybrid::HybridPattern;
use super::lengths::LengthHistogram;
use super::overrides::LayerOverrides;
use super::ratios::CompressRatios;
use super::registry::registry;
use super::setting::{self, Field, LayerFreq, Layout, PerStage, Positions};
use super::{
    kernel_rows as kernel, run_rows as run_of, serving_rows as rows, training_rows as training,
};
use crate::catalogue::accelerator::AcceleratorId;
use crate::catalogue::preset::Preset;
use crate::ground::choice::*;
use crate::ground::knob::Kind::*;
use crate::ground::knob::{Knob, KnobError, LayerText, Reach, Row, Section, Value, Words};
use crate::ground::source::*;

const fn knob(label: &'static str, kind: crate::ground::knob::Kind, meaning: &'static str) -> Row {
    Row::new(label, kind, meaning)
}

registry! {
/// The shape of the model.
Transformer transformer {
    num_layers: u64 = 32,
        knob("Layers", Integer(1, 1_000), "Transformer layers, without MTP and no-op layers")
            .primary().aliases(&["num_hidden_layers"]);
    hidden_size: u64 = 4_096,
        knob("Hidden size", Integer(16, 131_072), "Width of the residual stream").primary()
            .by_multiples_of(256);
    ffn_hidden_size: u64 = 14_336,
        knob("Dense FFN width", Integer(1, 1_048_576), "Inner width of a dense layer's MLP")
            .by_multiples_of(256).aliases(&["intermediate_size"]);
    gated_linear_unit: bool = true,
        knob("Gated linear unit", Flag, "SwiGLU-style MLPs with a gate beside the up-projection");
    num_attention_heads: u64 = 32,
        knob("Attention heads", Integer(1, 4_096), "Query heads").by_factor();
    num_query_groups: Option<u64> = None,
        knob("Query groups", OptionalInteger(1, 4_096),
            "Key and value heads of grouped-query attention; none gives every query head its own")
            .by_factor().aliases(&["num_key_value_heads"]);
    kv_channels: Option<u64> = None,
        knob("Head dimension", OptionalInteger(1, 4_096),
            "Width of one head; none is hidden size / attention heads").by_multiples_of(64)
            .aliases(&["head_dim"]);
    multi_latent_attention: bool = false,
        knob("Multi-latent attention", Flag, "MLA: query, key and value through low-rank latents")
            .source(DEEPSEEK_V3);
    q_lora_rank: Option<u64> = None,
        knob("Query latent", OptionalInteger(1, 65_536),
            "Rank of MLA's query latent; none projects queries directly").source(DEEPSEEK_V3)
            .by_multiples_of(128);
    kv_lora_rank: u64 = 512,
        knob("Key-value latent", Integer(1, 65_536), "Rank of MLA's key-value latent")
            .source(DEEPSEEK_V3).by_multiples_of(128);
    qk_head_dim: u64 = 128,
        knob("MLA query-key dimension", Integer(1, 4_096),
            "Width of a head's part without rotary embedding").source(DEEPSEEK_V3)
            .by_multiples_of(64).aliases(&["qk_nope_head_dim"]);
    qk_pos_emb_head_dim: u64 = 64,
        knob("MLA rotary dimension", Integer(0, 4_096),
            "Width of a head's part with rotary embedding").source(DEEPSEEK_V3).by_multiples_of(32)
            .aliases(&["qk_rope_head_dim"]);
    v_head_dim: u64 = 128,
        knob("MLA value dimension", Integer(1, 4_096), "Width of a head's value")
            .source(DEEPSEEK_V3).by_multiples_of(64);
    add_qkv_bias: bool = false,
        knob("QKV bias", Flag, "A bias on the query, key and value projections")
            .aliases(&["attention_bias"]);
    add_bias_linear: bool = false,
        knob("Linear bias", Flag, "A bias on every linear layer");
    qk_layernorm: bool = false,
        knob("Query-key norm", Flag, "A norm on query and key, or on MLA's latents")
            .aliases(&["use_qk_norm"]);
    attention_output_gate: bool = false,
        knob("Output gate", Flag, "A gate of each head's output, projected beside the query");
    softmax_type: SoftmaxType = SoftmaxType::Vanilla,
        knob("Softmax", Choice(SoftmaxType::NAMES),
            "What stands below the line beside the scores: nothing, one, or a sink that each head \
             learns").source(GPT_OSS);
    sandwich_norm: bool = false,
        knob("Sandwich norm", Flag, "A further norm behind attention and behind the MLP")
            .source(PANGU_ULTRA);
    position_embedding_type: PositionEmbedding = PositionEmbedding::Rope,
        knob("Position embedding", Choice(PositionEmbedding::NAMES), "What marks positions");
    window_size: Option<u64> = None,
        knob("Attention window", OptionalInteger(1, 16_777_216),
            "Tokens that a query looks back; none is all").unit("tokens").by_factor()
            .aliases(&["sliding_window"]);
    window_attn_skip_freq: Option<u64> = None,
        knob("Full attention every", OptionalInteger(1, 1_000),
            "Every n-th layer has no window; none leaves the window to all layers").unit("layers");
    experimental_attention_variant: AttentionVariant = AttentionVariant::None,
        knob("Attention variant", Choice(AttentionVariant::NAMES),
            "What some layers have in place of attention").source(GDN);
    linear_attention_freq: LayerFreq = LayerFreq::Every(4),
        knob("Linear attention", LayerFreq,
            "All but each n-th layer have linear attention, or a pattern of 1 (linear) and 0");
    linear_conv_kernel_dim: u64 = 4,
        knob("Convolution", Integer(1, 64), "Tokens that linear attention's convolution looks at");
    linear_key_head_dim: u64 = 128,
        knob("Linear key dimension", Integer(1, 4_096),
            "Width of a head's query and key in linear attention").by_multiples_of(64);
    linear_value_head_dim: u64 = 128,
        knob("Linear value dimension", Integer(1, 4_096),
            "Width of a head's value in linear attention").by_multiples_of(64);
    linear_num_key_heads: u64 = 16,
        knob("Linear key heads", Integer(1, 4_096), "Heads of queries and keys in linear attention")
            .by_factor();
    linear_num_value_heads: u64 = 32,
        knob("Linear value heads", Integer(1, 4_096), "Heads of values in linear attention")
            .by_factor();
    dsa_indexer_n_heads: u64 = 64,
        knob("Indexer heads", Integer(1, 4_096), "Heads that choose keys for sparse attention")
            .source(DEEPSEEK_V3_2).by_factor();
    dsa_indexer_head_dim: u64 = 128,
        knob("Indexer dimension", Integer(1, 4_096), "Width of an indexer's head")
            .source(DEEPSEEK_V3_2).by_multiples_of(64);
    dsa_indexer_topk: u64 = 2_048,
        knob("Keys chosen", Integer(1, 16_777_216), "Keys that a query looks at").unit("tokens")
            .source(DEEPSEEK_V3_2).by_factor();
    dsa_indexer_topk_freq: u64 = 1,
        knob("Indexer every", Integer(1, 1_000), "Layers that share one choice of keys")
            .unit("layers").source(GLM);
    dsa_indexer_skip_topk_offset: u64 = 1,
        knob("Indexers in front", Integer(1, 1_000), "First layers that all choose keys themselves")
            .unit("layers").source(GLM);
    sparse_attention_freq: LayerFreq = LayerFreq::Every(1),
        knob("Sparse attention", LayerFreq,
            "Every n-th layer chooses its keys, or a pattern of 1 (sparse) and 0 (full)")
            .source(MSA);
    sparse_block_size: u64 = 128,
        knob("Block of keys", Integer(1, 65_536),
            "Keys that MSA chooses together").unit("tokens").source(MSA).by_factor();
    attention_compress_ratios: Option<CompressRatios> = None,
        knob("Compression of keys", LayerPattern(LayerText::Ratios),
            "Tokens that one key stands for, layer by layer: 0 is a window alone, 4 an indexer \
             chooses from, 128 are all looked at").source(DEEPSEEK_V4)
            .aliases(&["compress_ratios", "csa_compress_ratios"]);
    o_groups: u64 = 8,
        knob("Output groups", Integer(1, 4_096),
            "Groups of heads whose outputs compressed attention takes down to latents")
            .source(DEEPSEEK_V4).by_factor();
    o_lora_rank: u64 = 1_024,
        knob("Output latent", Integer(1, 65_536), "Rank of the latent of one such group")
            .source(DEEPSEEK_V4).by_multiples_of(128);
    enable_mhc_connections: bool = false,
        knob("Hyper-connections", Flag,
            "Several residual streams, mixed in front of attention and MLP and behind them")
            .source(MHC);
    mhc_num_residual_streams: u64 = 4,
        knob("Residual streams", Integer(1, 16), "Streams of hyper-connections").source(MHC);
    attention_residual_block_size: Option<u64> = None,
        knob("Attention residuals every", OptionalInteger(1, 1_000),
            "Layers whose outputs are added up to one state, of which attention and MLP of all \
             layers behind mix their inputs; none has a residual stream alone")
            .unit("layers").source(ATTENTION_RESIDUALS).aliases(&["attn_res_block_size"]);
    hybrid_layer_pattern: Option<HybridPattern> = None,
        knob("Pattern of sub-layers", LayerPattern(LayerText::SubLayers),
            "One symbol each: M Mamba-2, G linear attention, * attention, + MLA, - MLP, E experts; \
             | between chunks, / in front of MTP; none has layers of attention and MLP");
    mamba_state_dim: u64 = 128,
        knob("Mamba state", Integer(1, 4_096), "Width of a Mamba-2 head's state").source(MAMBA_2)
            .by_multiples_of(64);
    mamba_head_dim: u64 = 64,
        knob("Mamba head dimension", Integer(1, 4_096), "Width of a Mamba-2 head").source(MAMBA_2)
            .by_multiples_of(64);
    mamba_num_groups: u64 = 8,
        knob("Mamba groups", Integer(1, 4_096), "Groups of Mamba-2 heads that share what they \
             write and read").source(MAMBA_2).by_factor();
    mamba_num_heads: Option<u64> = None,
        knob("Mamba heads", OptionalInteger(1, 65_536),
            "Mamba-2 heads; none is twice the hidden size / their width").source(MAMBA_2)
            .by_factor();
    layer_overrides: Option<LayerOverrides> = None,
        knob("Sizes by layer", LayerPattern(LayerText::Overrides),
            "Sizes of single layers in place of those of all; no heads are no attention, no FFN \
             width is no MLP");
    vocab_size: u64 = 128_256,
        knob("Vocabulary", Integer(1, 4_194_304), "Padded vocabulary").unit("tokens")
            .by_multiples_of(128);
    untie_embeddings_and_output_weights: bool = true,
        knob("Untied embeddings", Flag, "Input embedding and output head are two tables");
    num_moe_experts: Option<u64> = None,
        knob("Experts", OptionalInteger(1, 65_536), "Routed experts per MoE layer; none is dense")
            .primary().by_factor()
            .aliases(&["num_experts", "n_routed_experts", "num_local_experts"]);
    moe_router_topk: u64 = 2,
        knob("Top-k", Integer(1, 1_024), "Experts that a token visits").primary()
            .aliases(&["num_experts_per_tok"]);
    moe_ffn_hidden_size: Option<u64> = None,
        knob("Expert width", OptionalInteger(1, 1_048_576),
            "Inner width of a routed expert; none is the dense FFN width").by_multiples_of(256)
            .aliases(&["moe_intermediate_size"]);
    moe_shared_expert_intermediate_size: Option<u64> = None,
        knob("Shared expert width", OptionalInteger(1, 1_048_576),
            "Inner width of all shared experts together; none has none").by_multiples_of(256)
            .aliases(&["shared_expert_intermediate_size"]);
    moe_shared_expert_gate: bool = false,
        knob("Shared expert gate", Flag, "The shared experts' output is weighed by a gate");
    moe_latent_size: Option<u64> = None,
        knob("Expert latent", OptionalInteger(1, 131_072),
            "Width at which tokens reach routed experts; none is the hidden size")
            .source(NEMOTRON_3).by_multiples_of(128);
    moe_zero_experts: Option<u64> = None,
        knob("Zero experts", OptionalInteger(1, 65_536),
            "Choices beside the experts that give a token back as it is; a token visits top-k x \
             experts / all choices in the mean, and up to top-k").source(LONGCAT_FLASH)
            .by_factor().aliases(&["zero_expert_num"]);
    moe_layer_freq: LayerFreq = LayerFreq::Every(1),
        knob("MoE layers", LayerFreq,
            "Every n-th layer is MoE, or a pattern of 0 (dense) and 1 (MoE)");
    moe_router_num_groups: Option<u64> = None,
        knob("Router groups", OptionalInteger(1, 4_096),
            "Groups of experts of which a token visits only some").source(DEEPSEEK_V3).by_factor()
            .aliases(&["n_group"]);
    moe_router_group_topk: Option<u64> = None,
        knob("Groups kept", OptionalInteger(1, 4_096), "Groups that a token visits")
            .source(DEEPSEEK_V3).aliases(&["topk_group"]);
    moe_router_group_balanced: bool = false,
        knob("Balanced groups", Flag,
            "MoGE: a token visits top-k / groups experts in every group").source(PANGU_PRO_MOE);
    mtp_num_layers: u64 = 0,
        knob("MTP layers", Integer(0, 16), "Multi-token prediction layers").source(DEEPSEEK_V3)
            .aliases(&["num_nextn_predict_layers"]);
    mtp_use_repeated_layer: bool = false,
        knob("Repeated MTP layer", Flag, "All MTP depths have the weights of one layer");
}
/// The machine.
Cluster cluster {
    accelerator: AcceleratorId = AcceleratorId::H100Sxm80gb,
        knob("Accelerator", Choice(AcceleratorId::NAMES), "The device; one device is one rank")
            .source(MSMODELING).primary().no_lever();
    num_devices: u64 = 8,
        knob("Devices", Integer(1, 1_048_576), "Devices of the cluster, the world size").primary()
            .by_factor().aliases(&["world_size"]);
    devices_per_node: Option<u64> = None,
        knob("Devices per node", OptionalInteger(1, 1_024), "none is the accelerator's usual")
            .by_factor().of_machine();
    scale_up_domain_size: Option<u64> = None,
        knob("Scale-up domain", OptionalInteger(1, 65_536),
            "Devices that reach each other at node speed; none is the accelerator's usual")
            .by_factor().of_machine();
    nics_per_node: Option<u64> = None,
        knob("NICs per node", OptionalInteger(1, 1_024), "Network ports; none is one per device")
            .by_factor().of_machine();
    hbm_usable_gib: Option<f64> = None,
        knob("Usable memory", OptionalReal(1.0, 4_096.0),
            "Device memory that a program gets; none is the accelerator's").unit("GiB")
            .of_machine();
    peak_bf16_tflops: Option<f64> = None,
        knob("Peak BF16", OptionalReal(1.0, 100_000.0),
            "Dense peak; other precisions scale with it; none is the accelerator's").unit("TFLOPS")
            .of_machine();
    intra_node_gb_per_sec: Option<f64> = None,
        knob("Intra-node bandwidth", OptionalReal(0.1, 100_000.0),
            "Per device, one direction, all links; none is the accelerator's").unit("GB/s")
            .of_machine();
    inter_node_gb_per_sec: Option<f64> = None,
        knob("Inter-node bandwidth", OptionalReal(0.1, 100_000.0),
            "Per NIC, one direction; none is the accelerator's").unit("GB/s").of_machine();
    host_gb_per_sec: Option<f64> = None,
        knob("Host link", OptionalReal(0.1, 100_000.0),
            "Device to host memory, one direction; none is the accelerator's").unit("GB/s")
            .of_machine();
    host_memory_gib: Option<f64> = None,
        knob("Host memory", OptionalReal(1.0, 1_048_576.0),
            "Memory of a node's host; none is the accelerator's usual").unit("GiB").of_machine();
}
/// Parallelism: how the model is cut.
Parallel parallel {
    tensor_model_parallel_size: u64 = 1,
        knob("Tensor parallel (TP)", Integer(1, 1_024), "Ranks that split each layer's matrices")
            .primary().by_factor().aliases(&["tp"]).strategy().reaching(Reach::Sizes);
    sequence_parallel: bool = false,
        knob("Sequence parallel (SP)", Flag,
            "Norms and residuals split by sequence over the TP ranks").source(KORTHIKANTI_2022)
            .aliases(&["sp"]).strategy().reaching(Reach::Sizes);
    pipeline_model_parallel_size: u64 = 1,
        knob("Pipeline parallel (PP)", Integer(1, 1_024), "Stages that split the layers").primary()
            .by_factor().aliases(&["pp"]).strategy().reaching(Reach::Sizes);
    virtual_pipeline_model_parallel_size: u64 = 1,
        knob("Virtual stages (VPP)", Integer(1, 256), "Chunks of layers on each stage")
            .source(NARAYANAN_2021).primary().by_factor().aliases(&["vpp"]).strategy()
            .reaching(Reach::Sizes);
    context_parallel_size: u64 = 1,
        knob("Context parallel (CP)", Integer(1, 4_096), "Ranks that split each sequence")
            .primary().by_factor().aliases(&["cp"]).strategy().reaching(Reach::Sizes);
    context_parallel_algo: ContextParallelAlgo = ContextParallelAlgo::P2p,
        knob("CP algorithm", Choice(ContextParallelAlgo::NAMES),
            "How attention sees the whole sequence").source(RING_ATTENTION);
    dynamic_context_parallel: bool = false,
        knob("Dynamic CP", Flag,
            "Each document goes to as many of the DP x CP ranks as its length needs, until all \
             have about as much to do").source(DYNAMIC_CP).aliases(&["hybrid_context_parallel"]);
    expert_model_parallel_size: u64 = 1,
        knob("Expert parallel (EP)", Integer(1, 65_536),
            "Ranks that a layer's experts are spread over; MindSpeed's TP-extend-EP is TP x its EP")
            .primary().by_factor().aliases(&["ep"]).strategy().reaching(Reach::Sizes);
    expert_tensor_parallel_size: u64 = 1,
        knob("Expert tensor parallel (ETP)", Integer(1, 1_024), "Ranks that split one expert")
            .by_factor().aliases(&["etp"]).strategy();
    data_parallel_sharding_strategy: ShardingStrategy = ShardingStrategy::Optim,
        knob("Data-parallel sharding", Choice(ShardingStrategy::NAMES),
            "What data-parallel ranks share out (ZeRO)").source(ZERO).strategy();
    num_distributed_optimizer_instances: u64 = 1,
        knob("Optimizer instances", Integer(1, 4_096),
            "Copies of the sharded optimizer states over the data-parallel ranks").by_factor();
    pipeline_model_parallel_layout: Option<Layout> = None,
        knob("Pipeline layout", Layout,
            "What each chunk holds, split by |: E embedding, t layer, m MTP layer (n without head, \
             h the head alone), L head; none spreads layers evenly").strategy();
    noop_layers: Positions = Positions::default(),
        knob("No-op layers", PositionList(4_096), "Positions of empty layer slots, counted from 0")
            .source(MINDSPEED).strategy().reaching(Reach::Sizes);
    rank_order: RankOrder = RankOrder::TpCpEpDpPp,
        knob("Rank order", Choice(RankOrder::NAMES), "Which axis has the closest neighbours");
}
/// In which order things run and what overlaps.
Schedule schedule {
    method: Method = Method::OneForwardOneBackward,
        knob("Schedule", Choice(Method::NAMES), "The order of forwards and backwards")
            .source(NARAYANAN_2021).primary().strategy().reaching(Reach::Sizes);
    timing: Timing = Timing::Simulated,
        knob("Schedule timing", Choice(Timing::NAMES),
            "Whether the pipeline is simulated task by task or taken from its closed formula")
            .source(DERIVED).no_lever();
    microbatch_group_size_per_vp_stage: Option<u64> = None,
        knob("Micro-batch group", OptionalInteger(1, 65_536),
            "Micro-batches that a chunk runs in a row; none is PP").by_factor().strategy();
    delay_wgrad_compute: bool = false,
        knob("Delay weight gradients", Flag,
            "Weight gradients apart from the backward, so that they hide its communication")
            .overlap().reaching(Reach::Spans);
    overlap_p2p_comm: bool = false,
        knob("Overlap P2P", Flag, "Sends between stages run beside compute").overlap()
            .reaching(Reach::Spans);
    scatter_gather_tensors_in_pipeline: bool = false,
        knob("Scatter and gather P2P", Flag,
            "Without SP, each TP rank sends its share between stages and the next stage gathers it")
            .source(NARAYANAN_2021);
    overlap_grad_reduce: bool = false,
        knob("Overlap gradient reduce", Flag, "Gradients are reduced during the backward")
            .overlap().reaching(Reach::Spans);
    overlap_param_gather: bool = false,
        knob("Overlap parameter gather", Flag, "Parameters are gathered during the forward")
            .overlap().reaching(Reach::Spans);
    tp_comm_overlap: bool = false,
        knob("Overlap TP", Flag, "TP collectives run in pieces beside their matrix product")
            .source(MINDSPEED).overlap().reaching(Reach::Spans);
    overlap_moe_expert_parallel_comm: bool = false,
        knob("Overlap EP", Flag, "All-to-all runs beside another micro-batch's compute").overlap();
    moe_shared_expert_overlap: bool = false,
        knob("Overlap shared expert", Flag, "The shared expert runs beside the dispatch").overlap()
            .reaching(Reach::Spans);
    moe_alltoall_overlap_comm: bool = false,
        knob("Overlap all-to-all in the layer", Flag,
            "Dispatch and combine run in pieces beside the experts").source(MINDSPEED).overlap()
            .reaching(Reach::Spans);
    moe_token_dispatcher_type: Dispatcher = Dispatcher::Alltoall,
        knob("Token dispatcher", Choice(Dispatcher::NAMES), "How tokens reach their experts")
            .strategy();
    moe_flex_dispatcher_backend: FlexBackend = FlexBackend::Deepep,
        knob("Flex backend", Choice(FlexBackend::NAMES), "The library behind the flex dispatcher");
    moe_hierarchical_alltoallv: bool = false,
        knob("Hierarchical all-to-all", Flag,
            "All-gather between nodes among equal TP ranks, then all-to-all inside the node")
            .source(PANGU_ULTRA_MOE).strategy().reaching(Reach::Spans);
}
/// The batch and the number format.
Training training {
    seq_length: u64 = 4_096,
        knob("Sequence length", Integer(1, 16_777_216), "Tokens of a sequence").unit("tokens")
            .primary().by_factor().aliases(&["seq"]);
    micro_batch_size: u64 = 1,
        knob("Micro-batch (MBS)", Integer(1, 4_096), "Sequences that run through at once")
            .unit("sequences").primary().by_factor().aliases(&["mbs"]).strategy()
            .reaching(Reach::Sizes);
    global_batch_size: u64 = 256,
        knob("Global batch (GBS)", Integer(1, 16_777_216), "Sequences of one optimizer step")
            .unit("sequences").primary().by_factor().aliases(&["gbs"]).reaching(Reach::Sizes);
    precision: Precision = Precision::Bf16,
        knob("Precision", Choice(Precision::NAMES), "Number format of matrix products");
    optimizer: Optimizer = Optimizer::Adam,
        knob("Optimizer", Choice(Optimizer::NAMES), "By the states it keeps per parameter");
    muon_tp_mode: MuonTpMode = MuonTpMode::Blockwise,
        knob("Muon under TP", Choice(MuonTpMode::NAMES),
            "How Newton-Schulz steps take matrices that TP cuts").source(MUON);
    hidden_dropout: f64 = 0.0,
        knob("Hidden dropout", Real(0.0, 1.0),
            "Above zero, the masks behind attention and MLP are kept; the time doesn't change")
            .source(KORTHIKANTI_2022);
    attention_dropout: f64 = 0.0,
        knob("Attention dropout", Real(0.0, 1.0),
            "Above zero, attention without flash keeps the mask of its scores; the time doesn't \
             change")
            .source(KORTHIKANTI_2022);
    moe_expert_capacity_factor: Option<f64> = None,
        knob("Capacity factor", OptionalReal(0.1, 64.0),
            "Tokens that an expert takes, over its even share; none drops no token");
    moe_pad_expert_input_to_capacity: bool = false,
        knob("Pad to capacity", Flag, "Every expert computes its whole capacity");
    attention_flops: AttentionFlops = AttentionFlops::Causal,
        knob("Attention counted", Choice(AttentionFlops::NAMES),
            "How much of the score matrix model FLOPs count; the time doesn't change").no_lever();
    count_mtp_flops: bool = true,
        knob("Count MTP", Flag, "Model FLOPs count MTP layers and their heads").no_lever();
    peak_for_mfu: Option<f64> = None,
        knob("Peak for MFU", OptionalReal(1.0, 100_000.0),
            "MFU's denominator; none is the accelerator's peak at this precision").unit("TFLOPS")
            .of_machine().no_lever();
    data_imbalance: f64 = 1.0, training::DATA_IMBALANCE;
    length_distribution: LengthDistribution = LengthDistribution::None,
        training::LENGTH_DISTRIBUTION;
    length_mean: f64 = 1_024.0, training::LENGTH_MEAN;
    length_sigma: f64 = 1.0, training::LENGTH_SIGMA;
    length_histogram: Option<LengthHistogram> = None, training::LENGTH_HISTOGRAM;
    lora_rank: Option<u64> = None, training::LORA_RANK;
    lora_target_modules: Set<LoraModule> = Set::all_but(LoraModule::Router),
        training::LORA_TARGET_MODULES;
    freeze_parameters: Set<ModelPart> = Set::EMPTY, training::FREEZE_PARAMETERS;
}
/// Memory: what is kept, recomputed or offloaded.
Memory memory {
    recompute_granularity: RecomputeGranularity = RecomputeGranularity::None,
        knob("Recompute", Choice(RecomputeGranularity::NAMES), "What is computed again")
            .source(KORTHIKANTI_2022).recomputation().reaching(Reach::Spans);
    recompute_method: RecomputeMethod = RecomputeMethod::Uniform,
        knob("Recompute method", Choice(RecomputeMethod::NAMES),
            "Which layers full recomputation takes").recomputation().reaching(Reach::Spans);
    recompute_num_layers: Option<PerStage> = None,
        knob("Recompute layers", PerStage(1_000),
            "Layers of a group (uniform) or layers of each stage (block); none is 1 or all")
            .recomputation().reaching(Reach::Spans);
    recompute_modules: Set<RecomputeModule> = Set::EMPTY,
        knob("Recompute modules", Subset(RecomputeModule::NAMES),
            "Parts that selective recomputation computes again").recomputation()
            .reaching(Reach::Spans);
    moe_zero_memory: ZeroMemory = ZeroMemory::Disable,
        knob("MoE zero memory", Choice(ZeroMemory::NAMES),
            "What the backward makes again of the experts' tensors, beside their exchanges")
            .source(MINDSPEED).strategy();
    swap_modules: Set<SwapModule> = Set::EMPTY,
        knob("Swap to host", Subset(SwapModule::NAMES), "What is parked in host memory")
            .source(PANGU_ULTRA_MOE).strategy().reaching(Reach::Spans);
    swap_prefetch: bool = true,
        knob("Swap prefetch", Flag, "Swapped tensors travel while others compute")
            .source(PANGU_ULTRA_MOE).reaching(Reach::Spans);
    cpu_offloading_num_layers: u64 = 0,
        knob("Offloaded layers", Integer(0, 1_000),
            "Layers per stage whose activations are parked in host memory").strategy();
    gradient_dtype: StateDtype = StateDtype::Fp32,
        knob("Gradients", Choice(StateDtype::NAMES), "Number format of accumulated gradients");
    main_params_dtype: StateDtype = StateDtype::Fp32,
        knob("Main parameters", Choice(StateDtype::NAMES), "The optimizer's own copy of weights");
    exp_avg_dtype: StateDtype = StateDtype::Fp32,
        knob("First moment", Choice(StateDtype::NAMES), "Adam's mean of gradients");
    exp_avg_sq_dtype: StateDtype = StateDtype::Fp32,
        knob("Second moment", Choice(StateDtype::NAMES), "Adam's mean of squared gradients");
    reuse_fp32_param: bool = false,
        knob("Reuse fp32 parameters", Flag, "Weights live inside their fp32 copies")
            .source(MINDSPEED);
    cross_entropy_loss_fusion: bool = false,
        knob("Fused cross-entropy", Flag, "The loss keeps no fp32 copy of the logits");
    cross_entropy_fusion_impl: CrossEntropyFusion = CrossEntropyFusion::Native,
        training::CROSS_ENTROPY_FUSION_IMPL;
    loss_chunks: u64 = 1, training::LOSS_CHUNKS;
    reserved_gib: f64 = 2.0,
        knob("Reserve", Real(0.0, 1_024.0),
            "Runtime, communication library and fragmentation").unit("GiB").source(ASSUMED);
}
/// Where tokens go.
Routing routing {
    balance: Balance = Balance::Uniform,
        knob("Expert load", Choice(Balance::NAMES), "Where expert loads come from").no_lever();
    skew: f64 = TRAINED_SKEW,
        knob("Skew", Real(0.0, 10.0),
            "Standard deviation of the logarithm of an expert's generated load, mean over layers; \
             0.21 is of models trained with an auxiliary loss").source(LOSS_FREE_BALANCING);
    trace: Option<String> = None,
        knob("Trace", Hash, "The hash of the trace of loads; none takes any");
    aux_loss: AuxLoss = AuxLoss::None,
        knob("Auxiliary loss", Choice(AuxLoss::NAMES),
            "Over which tokens load is balanced: the fewer, the less micro-batches vary")
            .source(PANGU_ULTRA_MOE);
    planner: Planner = Planner::None,
        knob("Planner", Choice(Planner::NAMES), "Who moves experts between devices")
            .source(PANGU_ULTRA_MOE);
    planner_window: u64 = 16,
        knob("Planner window", Integer(1, 100_000), "Steps that the planner averages")
            .unit("steps").source(PANGU_ULTRA_MOE).by_factor();
    planner_interval: u64 = 50,
        knob("Planner interval", Integer(1, 1_000_000), "Steps between two plans")
            .unit("steps").source(MINDSPEED).by_factor();
    planner_threshold: f64 = 0.08,
        knob("Planner threshold", Real(0.0, 10.0), "Drop in load variation that triggers moves")
            .source(MINDSPEED);
    planner_trigger: PlannerTrigger = PlannerTrigger::Threshold,
        knob("Planner trigger", Choice(PlannerTrigger::NAMES), "When experts move")
            .source(PANGU_ULTRA_MOE);
    redundant_experts: u64 = 0,
        knob("Redundant experts", Integer(0, 65_536),
            "Copies of busy experts in each layer, on all devices together").source(DEEPSEEK_V3);
}
/// Kernels: how operators run.
Kernel kernel {
    framework: Framework = Framework::Megatron, kernel::FRAMEWORK;
    software: Software = Software::Calibrated, kernel::SOFTWARE;
    gemm_efficiency: Option<f64> = None, kernel::GEMM_EFFICIENCY;
    grouped_gemm_relative_efficiency: Option<f64> = None, kernel::GROUPED_GEMM_RELATIVE_EFFICIENCY;
    attention_forward_efficiency: Option<f64> = None, kernel::ATTENTION_FORWARD_EFFICIENCY;
    attention_backward_efficiency: Option<f64> = None, kernel::ATTENTION_BACKWARD_EFFICIENCY;
    vector_bandwidth_share: Option<f64> = None, kernel::VECTOR_BANDWIDTH_SHARE;
    sync_microseconds: Option<f64> = None, kernel::SYNC_MICROSECONDS;
    syncs_per_layer: Option<f64> = None, kernel::SYNCS_PER_LAYER;
    in_run_rate: Option<f64> = None, kernel::IN_RUN_RATE;
    profile: Option<String> = None, kernel::PROFILE;
    sustained_clock: f64 = 1.0, kernel::SUSTAINED_CLOCK;
    flash_attention: bool = true, kernel::FLASH_ATTENTION;
    flash_attention_version: Option<u64> = None, kernel::FLASH_ATTENTION_VERSION;
    mla_fa_without_pad: bool = true, kernel::MLA_FA_WITHOUT_PAD;
    padded_base_length: u64 = 128, kernel::PADDED_BASE_LENGTH;
    fused_rms_norm: bool = true, kernel::FUSED_RMS_NORM;
    moe_grouped_gemm: bool = true, kernel::MOE_GROUPED_GEMM;
    gmm_add: bool = false, kernel::GMM_ADD;
    moe_permute_fusion: bool = true, kernel::MOE_PERMUTE_FUSION;
    cuda_graph_impl: CudaGraph = CudaGraph::None, kernel::CUDA_GRAPH_IMPL;
    host_binding: bool = false, kernel::HOST_BINDING;
    data_loader_offload: bool = false, kernel::DATA_LOADER_OFFLOAD;
    dispatch_microseconds: Option<f64> = None, kernel::DISPATCH_MICROSECONDS;
    launch_blocking: bool = false, kernel::LAUNCH_BLOCKING;
    straggler_sigma: Option<f64> = None, kernel::STRAGGLER_SIGMA;
    extra_arguments: Option<String> = None, kernel::EXTRA_ARGUMENTS;
}
/// Serving: how the model answers requests.
Serving serving {
    engine: Engine = Engine::Vllm, rows::ENGINE;
    tensor_parallel_size: u64 = 1, rows::TENSOR_PARALLEL_SIZE;
    pipeline_parallel_size: u64 = 1, rows::PIPELINE_PARALLEL_SIZE;
    data_parallel_size: u64 = 1, rows::DATA_PARALLEL_SIZE;
    moe_expert_parallel_size: u64 = 1, rows::MOE_EXPERT_PARALLEL_SIZE;
    moe_tensor_parallel_size: Option<u64> = None, rows::MOE_TENSOR_PARALLEL_SIZE;
    disaggregation: Disaggregation = Disaggregation::None, rows::DISAGGREGATION;
    prefill_devices: Option<u64> = None, rows::PREFILL_DEVICES;
    decode_devices: Option<u64> = None, rows::DECODE_DEVICES;
    prefill_tensor_parallel_size: Option<u64> = None, rows::PREFILL_TENSOR_PARALLEL_SIZE;
    prefill_data_parallel_size: Option<u64> = None, rows::PREFILL_DATA_PARALLEL_SIZE;
    prefill_pipeline_parallel_size: Option<u64> = None, rows::PREFILL_PIPELINE_PARALLEL_SIZE;
    prefill_moe_expert_parallel_size: Option<u64> = None, rows::PREFILL_MOE_EXPERT_PARALLEL_SIZE;
    prefill_moe_tensor_parallel_size: Option<u64> = None, rows::PREFILL_MOE_TENSOR_PARALLEL_SIZE;
    max_num_seqs: u64 = 1_024, rows::MAX_NUM_SEQS;
    max_num_batched_tokens: u64 = 8_192, rows::MAX_NUM_BATCHED_TOKENS;
    enable_chunked_prefill: bool = true, rows::ENABLE_CHUNKED_PREFILL;
    gpu_memory_utilization: f64 = 0.9, rows::GPU_MEMORY_UTILIZATION;
    prefix_cache_hit_rate: f64 = 0.0, rows::PREFIX_CACHE_HIT_RATE;
    two_batch_overlap: bool = false, rows::TWO_BATCH_OVERLAP;
    graph_mode: GraphMode = GraphMode::Full, rows::GRAPH_MODE;
    num_speculative_tokens: u64 = 0, rows::NUM_SPECULATIVE_TOKENS;
    acceptance_length: Option<f64> = None, rows::ACCEPTANCE_LENGTH;
    weight_dtype: WeightDtype = WeightDtype::Bf16, rows::WEIGHT_DTYPE;
    kv_cache_dtype: KvDtype = KvDtype::Bf16, rows::KV_CACHE_DTYPE;
    experts_kept: Option<u64> = None, rows::EXPERTS_KEPT;
    experts_kept_topk: Option<u64> = None, rows::EXPERTS_KEPT_TOPK;
    experts_on_host: u64 = 0, rows::EXPERTS_ON_HOST;
    expert_cache_hit_rate: Option<f64> = None, rows::EXPERT_CACHE_HIT_RATE;
    host_memory_gb_per_sec: Option<f64> = None, rows::HOST_MEMORY_GB_PER_SEC;
    host_tflops: Option<f64> = None, rows::HOST_TFLOPS;
    input_length: u64 = 1_024, rows::INPUT_LENGTH;
    output_length: u64 = 1_024, rows::OUTPUT_LENGTH;
    concurrency: Option<u64> = None, rows::CONCURRENCY;
    request_rate: Option<f64> = None, rows::REQUEST_RATE;
    ttft_limit_milliseconds: Option<f64> = None, rows::TTFT_LIMIT;
    tpot_limit_milliseconds: Option<f64> = None, rows::TPOT_LIMIT;
}
/// Training run: its length, its price, and its failures.
Run run {
    train_tokens: Option<f64> = None, run_of::TRAIN_TOKENS;
    unique_tokens: Option<f64> = None, run_of::UNIQUE_TOKENS;
    price_per_device_hour: Option<f64> = None, run_of::PRICE_PER_DEVICE_HOUR;
    device_watts: Option<f64> = None, run_of::DEVICE_WATTS;
    pue: Option<f64> = None, run_of::PUE;
    mtbf_device_hours: Option<f64> = None, run_of::MTBF_DEVICE_HOURS;
    checkpoint_gb_per_sec: Option<f64> = None, run_of::CHECKPOINT_GB_PER_SEC;
    checkpoint_interval_seconds: Option<f64> = None, run_of::CHECKPOINT_INTERVAL_SECONDS;
    checkpoint_async: bool = false, run_of::CHECKPOINT_ASYNC;
    restart_seconds: f64 = 900.0, run_of::RESTART_SECONDS;
    spare_devices: u64 = 0, run_of::SPARE_DEVICES;
    ramp: Option<f64> = None, run_of::RAMP;
    deadline_days: Option<f64> = None, run_of::DEADLINE_DAYS;
}
}
