//! Arguments that set something.

use model::design::KnobId::{self, *};

use super::{Arity, Effect, Flag};

const fn value(name: &'static str, knob: KnobId) -> Flag {
    Flag { name, arity: Arity::One, effect: Effect::Value(knob) }
}

const fn on(name: &'static str, knob: KnobId) -> Flag {
    presence(name, knob, "true")
}

const fn off(name: &'static str, knob: KnobId) -> Flag {
    presence(name, knob, "false")
}

const fn presence(name: &'static str, knob: KnobId, value: &'static str) -> Flag {
    Flag { name, arity: Arity::Switch, effect: Effect::Presence(knob, value) }
}

const fn named(
    name: &'static str,
    knob: KnobId,
    names: &'static [(&'static str, &'static str)],
) -> Flag {
    Flag { name, arity: Arity::One, effect: Effect::Name(knob, names) }
}

const fn one(name: &'static str) -> Flag {
    Flag { name, arity: Arity::One, effect: Effect::Together }
}

const fn switch(name: &'static str) -> Flag {
    Flag { name, arity: Arity::Switch, effect: Effect::Together }
}

const fn many(name: &'static str) -> Flag {
    Flag { name, arity: Arity::Many, effect: Effect::Together }
}

const DTYPES: &[(&str, &str)] =
    &[("fp32", "fp32"), ("bf16", "bf16"), ("fp16", "fp16"), ("fp8", "fp8")];

/// Where several arguments set one knob, a later row is a later release's name or MindSpeed's.
#[rustfmt::skip]
pub(super) static FLAGS: &[Flag] = &[
    // Shape of the model.
    one("model"), one("model-name"), one("model-flavor"), one("run-name"),
    one("model-name-or-path"), one("hf-model-path"), one("hf-checkpoint"),
    one("recipe"), one("model-recipe-name"), one("factory"),
    one("expansion-ratio"),
    one("num-layers"), one("encoder-num-layers"), one("noop-layers"), one("mtp-num-layers"),
    many("spec"), one("model-type"), one("run-mode"), one("decoder-seq-length"),
    one("full-attention-interval"), one("mamba-d-conv"),
    value("hidden-size", hidden_size),
    one("ffn-hidden-size"),
    on("swiglu", gated_linear_unit), on("geglu", gated_linear_unit),
    on("gelu-tanh", gated_linear_unit), on("quick-geglu", gated_linear_unit),
    off("squared-relu", gated_linear_unit),
    value("num-attention-heads", num_attention_heads),
    switch("group-query-attention"), one("num-query-groups"),
    value("kv-channels", kv_channels),
    on("multi-latent-attention", multi_latent_attention),
    on("multi-head-latent-attention", multi_latent_attention),
    value("q-lora-rank", q_lora_rank), value("kv-lora-rank", kv_lora_rank),
    value("qk-head-dim", qk_head_dim), value("qk-nope-head-dim", qk_head_dim),
    value("qk-pos-emb-head-dim", qk_pos_emb_head_dim),
    value("qk-rope-head-dim", qk_pos_emb_head_dim),
    value("v-head-dim", v_head_dim),
    on("add-qkv-bias", add_qkv_bias), off("disable-bias-linear", add_bias_linear),
    on("attention-output-gate", attention_output_gate),
    named("softmax-type", softmax_type, &[
        ("vanilla", "vanilla"), ("off-by-one", "off-by-one"), ("learnable", "learnable"),
    ]),
    on("qk-layernorm", qk_layernorm), on("post-norm", sandwich_norm),
    named("position-embedding-type", position_embedding_type, &[
        ("rope", "rope"), ("yarn", "rope"), ("mrope", "rope"), ("none", "none"),
        ("learned_absolute", "learned_absolute"), ("alibi", "none"), ("rotary", "rope"),
        ("learned", "learned_absolute"), ("absolute", "learned_absolute"), ("nope", "none"),
        ("sinusoidal", "none"), ("llama3", "rope"), ("longrope", "rope"), ("dynamic", "rope"),
        ("deepseek4", "rope"),
    ]),
    presence("use-rotary-position-embeddings", position_embedding_type, "rope"),
    switch("no-position-embedding"),
    one("window-size"), value("sliding-window", window_size),
    one("window-attn-skip-freq"), one("interleave-sliding-window"),
    named("experimental-attention-variant", experimental_attention_variant, &[
        ("none", "none"), ("gdn", "gdn"), ("gated_delta_net", "gdn"), ("gdn2", "gdn2"),
        ("dsa", "dsa"), ("dsv4_hybrid", "none"), ("kda", "kda"), ("lightning", "lightning"),
    ]),
    presence("enable-dsa-indexer", experimental_attention_variant, "dsa"),
    value("index-n-heads", dsa_indexer_n_heads), value("index-head-dim", dsa_indexer_head_dim),
    value("index-topk", dsa_indexer_topk), value("index-topk-freq", dsa_indexer_topk_freq),
    value("index-skip-topk-offset", dsa_indexer_skip_topk_offset),
    value("dsa-indexer-n-heads", dsa_indexer_n_heads),
    value("dsa-indexer-head-dim", dsa_indexer_head_dim),
    value("dsa-indexer-topk", dsa_indexer_topk),
    value("dsa-indexer-topk-freq", dsa_indexer_topk_freq),
    value("dsa-indexer-skip-topk-offset", dsa_indexer_skip_topk_offset),
    value("csa-compress-ratios", attention_compress_ratios),
    value("csa-window-size", window_size), value("sliding-window-size", window_size),
    many("compress-ratios"), one("loss-compute-mode"), one("loss-chunk-size"),
    value("o-groups", o_groups), value("o-lora-rank", o_lora_rank),
    on("enable-mhc-connections", enable_mhc_connections),
    on("enable-mhc", enable_mhc_connections), value("hc-mult", mhc_num_residual_streams),
    value("mhc-num-residual-streams", mhc_num_residual_streams),
    on("enable-hyper-connections", enable_mhc_connections),
    value("num-residual-streams", mhc_num_residual_streams),
    value("hybrid-layer-pattern", hybrid_layer_pattern),
    value("hybrid-override-pattern", hybrid_layer_pattern),
    value("mamba-state-dim", mamba_state_dim), value("mamba-head-dim", mamba_head_dim),
    value("mamba-num-groups", mamba_num_groups), value("mamba-num-heads", mamba_num_heads),
    on("mtp-use-repeated-layer", mtp_use_repeated_layer),
    value("attn-res-block-size", attention_residual_block_size),
    value("moe-latent-size", moe_latent_size), value("num-zero-experts", moe_zero_experts),
    value("linear-attention-freq", linear_attention_freq),
    value("linear-conv-kernel-dim", linear_conv_kernel_dim),
    value("linear-key-head-dim", linear_key_head_dim),
    value("linear-value-head-dim", linear_value_head_dim),
    value("linear-num-key-heads", linear_num_key_heads),
    value("linear-num-value-heads", linear_num_value_heads),
    one("vocab-size"), one("padded-vocab-size"), one("make-vocab-size-divisible-by"),
    one("pad-vocab-size-to"),
    on("untie-embeddings-and-output-weights", untie_embeddings_and_output_weights),
    // Experts.
    value("num-experts", num_moe_experts), value("moe-router-topk", moe_router_topk),
    value("moe-ffn-hidden-size", moe_ffn_hidden_size),
    value("moe-intermediate-size", moe_ffn_hidden_size),
    value("moe-shared-expert-intermediate-size", moe_shared_expert_intermediate_size),
    on("moe-shared-expert-gate", moe_shared_expert_gate),
    on("shared-expert-gate", moe_shared_expert_gate),
    one("n-shared-experts"), one("first-k-dense-replace"), one("moe-layer-freq"),
    one("expert-interval"), one("topk"),
    one("moe-router-num-groups"), one("n-group"),
    one("moe-router-group-topk"), one("topk-group"),
    one("moe-router-load-balancing-type"), one("moe-aux-loss-coeff"), switch("seq-aux"),
    switch("use-global-aux-loss"),
    value("moe-expert-capacity-factor", moe_expert_capacity_factor),
    on("moe-pad-expert-input-to-capacity", moe_pad_expert_input_to_capacity),
    // Cluster.
    one("world-size"), one("data-parallel-size"), one("gradient-accumulation-steps"),
    one("least-batch-size"),
    one("nproc-per-node"), one("nnodes"), one("worker-num"), one("local-worker-num"),
    // Parallelism.
    value("tensor-model-parallel-size", tensor_model_parallel_size),
    on("sequence-parallel", sequence_parallel),
    value("pipeline-model-parallel-size", pipeline_model_parallel_size),
    one("num-layers-per-virtual-pipeline-stage"), one("num-virtual-stages-per-pipeline-rank"),
    one("virtual-pipeline-model-parallel-size"),
    value("context-parallel-size", context_parallel_size),
    named("cp-comm-type", context_parallel_algo, &[
        ("p2p", "p2p"), ("a2a", "a2a"), ("allgather", "allgather"), ("all_gather", "allgather"),
        ("a2a+p2p", "hybrid"),
    ]),
    named("context-parallel-algo", context_parallel_algo, &[
        ("megatron_cp_algo", "p2p"), ("ulysses_cp_algo", "a2a"), ("hybrid_cp_algo", "hybrid"),
        ("adaptive_cp_algo", "p2p"), ("hybrid_adaptive_cp_algo", "hybrid"),
        ("kvallgather_cp_algo", "allgather"),
    ]),
    one("expert-model-parallel-size"), one("expert-tensor-parallel-size"),
    switch("moe-tp-extend-ep"),
    switch("use-distributed-optimizer"), one("data-parallel-sharding-strategy"),
    switch("use-torch-fsdp2"),
    value("num-distributed-optimizer-instances", num_distributed_optimizer_instances),
    value("pipeline-model-parallel-layout", pipeline_model_parallel_layout),
    one("decoder-first-pipeline-num-layers"), one("decoder-last-pipeline-num-layers"),
    switch("account-for-embedding-in-pipeline-split"), switch("account-for-loss-in-pipeline-split"),
    one("num-layer-list"), one("pipeline-num-transformer-layers"), one("pp-partition-method"),
    one("first-stage-less-layers"), one("last-stage-less-layers"),
    presence("use-tp-pp-dp-mapping", rank_order, "tp-cp-ep-pp-dp"),
    // Schedule and overlap.
    one("schedules-method"), switch("moe-fb-overlap"),
    value("microbatch-group-size-per-virtual-pipeline-stage", microbatch_group_size_per_vp_stage),
    on("delay-wgrad-compute", delay_wgrad_compute), on("dualpipev-dw-detach", delay_wgrad_compute),
    switch("overlap-p2p-communication"), switch("no-overlap-p2p-communication"),
    switch("no-scatter-gather-tensors-in-pipeline"),
    on("overlap-grad-reduce", overlap_grad_reduce),
    on("overlap-param-gather", overlap_param_gather),
    on("tp-comm-overlap", tp_comm_overlap), on("use-ascend-mc2", tp_comm_overlap),
    on("use-mc2", tp_comm_overlap), on("use-ascend-coc", tp_comm_overlap),
    on("overlap-moe-expert-parallel-comm", overlap_moe_expert_parallel_comm),
    on("moe-shared-expert-overlap", moe_shared_expert_overlap),
    on("moe-alltoall-overlap-comm", moe_alltoall_overlap_comm),
    named("moe-token-dispatcher-type", moe_token_dispatcher_type, &[
        ("allgather", "allgather"), ("alltoall", "alltoall"), ("alltoall_seq", "alltoall"),
        ("flex", "flex"),
    ]),
    presence("moe-enable-deepep", moe_token_dispatcher_type, "flex"),
    value("moe-flex-dispatcher-backend", moe_flex_dispatcher_backend),
    on("moe-hierarchical-alltoallv", moe_hierarchical_alltoallv),
    // Batch and precision.
    value("seq-length", seq_length), value("encoder-seq-length", seq_length),
    // What a dialect says of its own step.
    value("kernel-framework", framework),
    value("micro-batch-size", micro_batch_size), one("global-batch-size"),
    switch("bf16"), switch("fp16"), one("fp8-format"), one("fp8"), one("fp8-recipe"),
    one("fp4-format"), one("fp4"), one("fp4-recipe"), one("mixed-precision-recipe"),
    named("optimizer", optimizer, &[
        ("adam", "adam"), ("sgd", "sgd"), ("muon", "muon"), ("dist_muon", "muon"),
        ("adamw", "adam"), ("Adam", "adam"), ("AdamW", "adam"), ("fused_adam", "adam"),
        ("FusedAdam", "adam"), ("adamw_torch", "adam"), ("adamw_torch_fused", "adam"),
        ("decoupled_adamw", "adam"), ("FP32StateAdamWeightDecay", "adam"),
        ("PmaAdamW", "adam"), ("FusedAdamW", "adam"), ("CPUAdam", "adam"), ("SGD", "sgd"),
        ("Muon", "muon"), ("dist-muon", "muon"), ("fused_adamw", "adam"),
        ("fused_torch_adamw", "adam"), ("fused_ema_adamw", "adam"), ("adam_pax", "adam"),
    ]),
    value("attention-dropout", attention_dropout), value("hidden-dropout", hidden_dropout),
    value("muon-tp-mode", muon_tp_mode),
    // What is trained.
    one("lora-r"), one("lora-rank"), many("lora-target-modules"), many("target-modules"),
    one("tuner-type"), one("train-type"), one("peft-scheme"), many("freeze-parameters"),
    // Memory.
    one("recompute-granularity"), switch("recompute-activations"), many("recompute-modules"),
    // As Megatron called it until 2022.
    presence("checkpoint-activations", recompute_granularity, "full"),
    named("activations-checkpoint-method", recompute_method, &[
        ("uniform", "uniform"), ("block", "block"),
    ]),
    named("recompute-method", recompute_method, &[("uniform", "uniform"), ("block", "block")]),
    one("recompute-num-layers"), one("selective-ac-option"),
    switch("recompute-activation-function"), switch("recompute-norm"),
    switch("recompute-mla-up-proj"), switch("mla-zero-memory"),
    value("moe-zero-memory", moe_zero_memory),
    switch("swap-attention"), switch("swap-optimizer"), switch("optimizer-cpu-offload"),
    one("optimizer-offload-fraction"),
    switch("offload-optimizer-states"), switch("mla-swap-core-attn-out"),
    switch("fine-grained-activation-offloading"), many("offload-modules"),
    value("cpu-offloading-num-layers", cpu_offloading_num_layers),
    named("main-grads-dtype", gradient_dtype, DTYPES),
    named("main-params-dtype", main_params_dtype, DTYPES),
    named("exp-avg-dtype", exp_avg_dtype, DTYPES),
    named("exp-avg-sq-dtype", exp_avg_sq_dtype, DTYPES),
    presence("accumulate-allreduce-grads-in-fp32", gradient_dtype, "fp32"),
    presence("grad-reduce-in-bf16", gradient_dtype, "bf16"),
    presence("o2-gradient", gradient_dtype, "bf16"),
    on("reuse-fp32-param", reuse_fp32_param),
    on("cross-entropy-loss-fusion", cross_entropy_loss_fusion),
    value("cross-entropy-fusion-impl", cross_entropy_fusion_impl),
    // Kernels.
    on("use-flash-attn", flash_attention),
    named("attention-backend", flash_attention, &[
        ("flash", "true"), ("fused", "true"), ("auto", "true"), ("unfused", "false"),
        ("local", "false"),
    ]),
    value("flash-attention-version", flash_attention_version),
    switch("mla-fa-without-pad"), one("padded-base-length"), one("shape-order"),
    on("use-fused-rmsnorm", fused_rms_norm), on("moe-grouped-gemm", moe_grouped_gemm),
    on("gemm-gradient-accumulation-fusion", gmm_add),
    on("moe-permute-fusion", moe_permute_fusion),
    on("use-fused-moe-token-permute-and-unpermute", moe_permute_fusion),
    value("cuda-graph-impl", cuda_graph_impl),
    presence("enable-cuda-graph", cuda_graph_impl, "local"),
    presence("external-cuda-graph", cuda_graph_impl, "transformer_engine"),
    // Moving experts.
    switch("enable-expert-placement"), switch("enable-fine-grained-expert-placement"),
    value("expert-placement-freq", planner_interval),
    value("fine-grained-expert-placement-thre", planner_threshold),
];
