//! The words of the trade: what people call a view, a knob, a value, a number, a preset, a page, an
//! action or a part of the guide, beside the name that it has here. The palette finds all of them.
//!
//! A target is `view:` and a study's name, `knob:` or `metric:` and an id, `value:` with a knob and
//! one of its values, `preset:` and an id, `page:` and an address, `action:` and the name that the
//! palette's script has for it, or `guide:` and an address of the guide.

/// A table with a row for each target.
macro_rules! words {
    ($($target:literal: $words:literal;)+) => { &[$(($target, $words),)+] };
}

/// Targets with the words that find them, between commas.
pub(super) static WORDS: &[(&str, &str)] = words! {
    // Views
    "view:step": "waterfall, where the time goes, time breakdown, step breakdown, loss breakdown, \
        profile, losses, lost time, why is it slow, critical path";
    "view:memory": "memory per stage, oom, out of memory, hbm, vram, footprint, stage memory";
    "view:composition": "treemap, tree map, breakdown, memory breakdown, tensors, model states, \
        what fills memory";
    "view:communication": "traffic, bytes sent, collectives, network, volume per axis";
    "view:bubble": "pipeline bubble, bubble curve, idle, micro-batches";
    "view:tradeoff": "recompute trade-off, activation checkpointing trade-off, memory for time, \
        pareto front, pareto";
    "view:timeline": "gantt, gantt chart, trace, perfetto, chrome trace, tracing, swimlane, \
        profiler, nsight, who waits for whom";
    "view:balance": "stage balance, load balance of stages, layer split, partitioning, \
        pipeline layout";
    "view:schedules": "compare schedules, zero bubble, all schedules, schedule zoo";
    "view:loads": "load balancing, expert load, imbalance, hot experts, aux loss, eplb, skew";
    "view:sensitivity": "tornado, tornado chart, which knobs matter, one at a time, importance, \
        ablation";
    "view:map": "heat map, heatmap, grid, two knobs, contour, response surface";
    "view:roofline": "roofline, arithmetic intensity, operational intensity, compute bound, \
        memory bound, flop per byte, operators, kernels";
    "view:solve": "goal seek, solve, target, inverse, what would it take, break-even";
    "view:transfer": "other accelerators, other hardware, gpu against npu, portability, \
        h100 against 910b, compare hardware";
    "view:nearest": "measured run, nearest run, anchor, ground truth, published run";
    "view:advice": "what next, next move, suggestions, recommend, bottleneck, tuning, try next";
    // Knobs
    "knob:transformer.num_layers": "depth, n_layers, num_layers";
    "knob:transformer.hidden_size": "width, d_model, embedding size";
    "knob:transformer.ffn_hidden_size": "mlp size, d_ff, feed-forward";
    "knob:transformer.gated_linear_unit": "swiglu, glu, geglu";
    "knob:transformer.num_attention_heads": "heads, n_heads";
    "knob:transformer.num_query_groups": "gqa, mqa, kv heads, grouped-query attention";
    "knob:transformer.multi_latent_attention": "mla, latent attention";
    "knob:transformer.window_size": "sliding window, swa, local attention";
    "knob:transformer.vocab_size": "vocab, tokenizer";
    "knob:transformer.untie_embeddings_and_output_weights": "tied embeddings, weight tying";
    "knob:transformer.num_moe_experts": "number of experts, routed experts";
    "knob:transformer.moe_router_topk": "topk, experts per token, router";
    "knob:transformer.moe_router_num_groups": "group-limited routing, device-limited routing, \
        node-limited routing";
    "knob:transformer.mtp_num_layers": "mtp, multi-token prediction";
    "knob:transformer.position_embedding_type": "rope, rotary";
    "knob:cluster.accelerator": "gpu, npu, chip, device type, hardware, card";
    "knob:cluster.num_devices": "gpus, npus, world size, number of gpus, cluster size, dies";
    "knob:cluster.devices_per_node": "gpus per node, node size, server";
    "knob:cluster.scale_up_domain_size": "nvlink domain, nvl72, supernode, superpod, cloudmatrix, \
        hbd";
    "knob:cluster.nics_per_node": "nic, hca, rails";
    "knob:cluster.hbm_usable_gib": "hbm, vram, device memory, memory limit, capacity";
    "knob:cluster.peak_bf16_tflops": "peak flops, tflops, datasheet peak";
    "knob:cluster.intra_node_gb_per_sec": "nvlink, nvswitch, hccs, intra-node, scale-up, \
        infinity fabric, ub";
    "knob:cluster.inter_node_gb_per_sec": "infiniband, roce, ib, rdma, ethernet, \
        network bandwidth, inter-node, scale-out";
    "knob:cluster.host_gb_per_sec": "pcie, h2d, d2h, host bandwidth";
    "knob:cluster.host_memory_gib": "dram, cpu memory, host ram";
    "knob:parallel.tensor_model_parallel_size": "tensor parallelism, model parallel, tmp";
    "knob:parallel.sequence_parallel": "sequence parallelism";
    "knob:parallel.pipeline_model_parallel_size": "pipeline parallelism, stages";
    "knob:parallel.virtual_pipeline_model_parallel_size": "virtual pipeline, model chunks, \
        interleaving, chunks per stage";
    "knob:parallel.context_parallel_size": "context parallelism, ring attention, ulysses, \
        long context";
    "knob:parallel.context_parallel_algo": "ring attention, ulysses";
    "knob:parallel.expert_model_parallel_size": "expert parallelism";
    "knob:parallel.data_parallel_sharding_strategy": "zero, zero optimizer, distributed optimizer, \
        fsdp, sharded data parallel, optimizer sharding, deepspeed zero";
    "knob:parallel.num_distributed_optimizer_instances": "hsdp, hybrid sharding";
    "knob:parallel.pipeline_model_parallel_layout": "layer assignment, uneven stages";
    "knob:schedule.method": "pipeline schedule";
    "knob:schedule.delay_wgrad_compute": "delayed weight gradients, dw split, wgrad";
    "knob:schedule.overlap_grad_reduce": "allreduce, all-reduce, reduce-scatter, gradient bucket, \
        ddp overlap, bucketing";
    "knob:schedule.overlap_param_gather": "allgather, all-gather, parameter prefetch";
    "knob:schedule.overlap_moe_expert_parallel_comm": "dual batch overlap, dbo, \
        batch-level overlap, forward-backward overlap, comm hiding";
    "knob:schedule.moe_alltoall_overlap_comm": "a2a, all-to-all";
    "knob:schedule.moe_token_dispatcher_type": "all-to-all, a2a, dispatch, combine, \
        token dispatch, permute";
    "knob:schedule.moe_hierarchical_alltoallv": "hierarchical a2a, two-level all-to-all, alltoallv";
    "knob:schedule.tp_comm_overlap": "coc, mc2, userbuffers, tp overlap, \
        asynchronous tensor parallel";
    "knob:schedule.overlap_p2p_comm": "send recv, p2p overlap, batched p2p";
    "knob:training.seq_length": "context length, seqlen, sequence, tokens per sample";
    "knob:training.micro_batch_size": "batch size per gpu, micro batch";
    "knob:training.global_batch_size": "batch size, tokens per step, global batch";
    "knob:training.precision": "dtype, number format, mixed precision, quantization, amp";
    "knob:training.optimizer": "adamw";
    "knob:training.moe_expert_capacity_factor": "token dropping, capacity, drop tokens";
    "knob:memory.recompute_granularity": "activation checkpointing, gradient checkpointing, \
        activation recomputation, rematerialization, remat, recomputation";
    "knob:memory.recompute_modules": "selective recompute, selective checkpointing";
    "knob:memory.swap_modules": "offload, activation offload, offloading, swap, cpu offload, \
        optimizer offload";
    "knob:memory.cpu_offloading_num_layers": "cpu offload layers, zero-offload";
    "knob:memory.main_params_dtype": "master weights, fp32 weights";
    "knob:memory.exp_avg_dtype": "momentum, adam state";
    "knob:memory.reserved_gib": "fragmentation, reserved memory, cuda context, workspace";
    "knob:routing.balance": "expert imbalance, load imbalance, routing";
    "knob:routing.redundant_experts": "eplb, expert replication, replicas";
    "knob:routing.aux_loss": "load balancing loss, auxiliary loss";
    "knob:kernel.framework": "megatron, deepspeed, mindspeed, nemo, stack";
    "knob:kernel.software": "cann, cuda version, driver, release";
    "knob:kernel.gemm_efficiency": "gemm, matmul efficiency, mm efficiency, cublas";
    "knob:kernel.grouped_gemm_relative_efficiency": "grouped gemm efficiency, gmm";
    "knob:kernel.in_run_rate": "throttling, derating, clocks, in-run factor";
    "knob:kernel.flash_attention": "fa, fa2, fa3, sdpa, flashattention";
    "knob:kernel.moe_grouped_gemm": "grouped gemm, gmm, megablocks";
    "knob:kernel.cuda_graph_impl": "cuda graph, cudagraph, aclgraph, graph capture";
    "knob:kernel.dispatch_microseconds": "launch overhead, cpu bound, host bound, kernel launch";
    "knob:kernel.straggler_sigma": "straggler, jitter, slow node";
    // Values
    "value:cluster.accelerator=h100-sxm-80gb": "h100, h100 sxm, hopper, gh100";
    "value:cluster.accelerator=h200-sxm-141gb": "h200, hopper";
    "value:cluster.accelerator=b200": "b200, blackwell";
    "value:cluster.accelerator=b300": "blackwell ultra";
    "value:cluster.accelerator=gb200": "blackwell, nvl72, grace blackwell";
    "value:cluster.accelerator=gb300": "blackwell ultra, nvl72";
    "value:cluster.accelerator=a100-sxm-80gb": "a100, ampere";
    "value:cluster.accelerator=a800-sxm-80gb": "a800, ampere";
    "value:cluster.accelerator=h800-sxm-80gb": "h800, hopper";
    "value:cluster.accelerator=ascend-910b3": "910b, ascend 910b, atlas 800t a2";
    "value:cluster.accelerator=ascend-910c": "910c, atlas a3, cloudmatrix 384";
    "value:schedule.method=gpipe": "gpipe, all forward all backward, afab";
    "value:schedule.method=1f1b": "1f1b, one forward one backward, pipedream flush";
    "value:schedule.method=interleaved": "interleaved, interleaved 1f1b, virtual pipeline schedule";
    "value:schedule.method=1f1b_overlap": "1f1b overlap, forward-backward pairs";
    "value:schedule.method=zb_h1": "zero bubble, zb1p, zb-h1";
    "value:schedule.method=zb_2p": "zero bubble, zb2p, zb-h2";
    "value:schedule.method=zb_v": "zero bubble, zbv";
    "value:schedule.method=dualpipe": "dualpipe, dual pipe, bidirectional pipeline, chimera";
    "value:schedule.method=dualpipev": "dualpipev, cut in half";
    "value:schedule.timing=simulated": "simulation, discrete event";
    "value:schedule.timing=closed_form": "analytic, analytical, formula";
    "value:parallel.data_parallel_sharding_strategy=no_shard": "zero-0, ddp, replicated";
    "value:parallel.data_parallel_sharding_strategy=optim": "zero-1, zero1, distributed optimizer, \
        sharded optimizer";
    "value:parallel.data_parallel_sharding_strategy=optim_grads": "zero-2, zero2, shard grad op";
    "value:parallel.data_parallel_sharding_strategy=optim_grads_params": "zero-3, zero3, fsdp, \
        fully sharded data parallel, full shard";
    "value:kernel.framework=fsdp": "torchtitan, torch fsdp, fsdp2";
    "value:memory.recompute_granularity=full": "full recompute, full activation checkpointing";
    "value:memory.recompute_granularity=selective": "selective recompute, selective checkpointing";
    "value:training.precision=fp8_blockwise": "deepseek fp8, fp8";
    "value:training.precision=bf16": "bf16, bfloat16, mixed precision";
    "value:training.precision=nvfp4": "fp4";
    "value:parallel.context_parallel_algo=p2p": "ring attention, ring";
    "value:parallel.context_parallel_algo=a2a": "ulysses";
    "value:routing.planner=ema": "moving average";
    // Numbers
    "metric:mfu": "model flops utilisation, model flops utilization, efficiency, utilisation, \
        utilization";
    "metric:hfu": "hardware flops utilisation, hardware flops utilization";
    "metric:tokens_per_second": "tps, tokens per second, samples per second, speed";
    "metric:tokens_per_second_per_device": "tokens per gpu, tgs, tokens per npu";
    "metric:step_time_seconds": "iteration time, latency, seconds per step, elapsed";
    "metric:model_tflops_per_device": "tflops per gpu, achieved flops";
    "metric:params_total": "parameter count, model size, number of parameters";
    "metric:params_active": "activated parameters";
    "metric:flops_per_token": "6nd, compute per token";
    "metric:memory_peak_bytes": "peak memory, hbm use, max memory allocated";
    "metric:fits": "oom, out of memory";
    "metric:bubble_ratio": "bubble fraction, pipeline bubble, idle time";
    "metric:comm_exposed_seconds": "unoverlapped communication, exposed comm, stall";
    "metric:overlap_ratio": "overlap, comm overlap";
    "metric:imbalance_ratio": "expert imbalance, max over mean";
    "metric:token_drop_ratio": "drop rate";
    // Presets
    "preset:pangu-ultra-moe-6k@2": "pangu, 718b, ascend, huawei";
    "preset:deepseek-v3": "dsv3, r1, deepseek r1";
    "preset:deepseek-v3-2k-h800": "dsv3, deepseek run";
    "preset:qwen3-235b-a22b": "qwen, alibaba";
    "preset:mixtral-8x7b": "mistral";
    "preset:llama-3.1-405b": "meta";
    "preset:gpt3-175b": "gpt-3, openai";
    "preset:kimi-k2": "moonshot";
    "preset:glm-4.5": "zhipu, z.ai";
    // Pages
    "page:/": "explorer, home, calculator";
    "page:/find": "solver, optimizer, optimize, optimise, auto parallel, autotune, auto tune, \
        best layout, find best layout, search layouts, search, planner, plan, fastest, safest, \
        simplest, parallelism, strategy, fewest devices, largest batch, longest sequence, \
        galvatron, alpa";
    "page:/sweep": "sweep, grid search, pareto front, pareto, design space, dse, batch of designs, \
        hyperparameter search";
    "page:/compare": "compare, diff, side by side, a/b";
    "page:/tour": "walkthrough, story, case study, paper";
    "page:/ladder": "ablation, step by step, 18.9 to 41";
    "page:/trust": "validation, accuracy, error, calibration, benchmark, measured, ground truth";
    "page:/calibrate": "own runs, logs, profiler, trace, kernel_details, fit, my cluster, measured \
        run";
    "page:/schedule": "schedule lab, zero bubble, simulator, pipeline simulator";
    "page:/presets": "gallery, models, model zoo";
    "page:/guide": "documentation, docs, manual, help, handbook";
    "page:/about": "sources, references, citations, version, licence";
    // Actions
    "action:undo": "back, revert";
    "action:redo": "again";
    "action:steps": "steps, history, log";
    "action:pin": "compare, tray, bookmark";
    "action:compare": "pins, diff";
    "action:copy-link": "address, url, permalink";
    "action:share": "qr, embed, api, iframe, short link";
    "action:export": "megatron, mindspeed, torchtitan, deepspeed, yaml, json, csv, download";
    "action:import": "config.json, hugging face, huggingface, hf, upload, launch script";
    "action:review": "session, team, collaborate, meeting, comments";
    "action:reset": "default, defaults, start over";
    "action:keys": "help, shortcuts, keyboard, hotkeys";
    "action:sweep": "sweep, grid search, explore space";
    "action:theme": "theme, colours, colors, night";
    "action:settings": "preferences, chinese, 中文, gb, gib";
    "action:print": "pdf, paper";
    "action:letters": "shortcuts, accessibility";
    "action:designs": "recent, named, save, name, open";
    // The guide
    "guide:/guide/trust": "error bars, confidence, uncertainty, accuracy";
    "guide:/guide/modelled": "assumptions, limitations, scope, goodput, failures, \
        checkpoint overhead";
    "guide:/guide/calibrate": "calibration, fit, own measurements, benchmark";
    "guide:/guide/conventions": "definitions, units, 6nd, flops counting";
    "guide:/guide/api": "rest, openapi, http, json, endpoint";
    "guide:/guide/cli": "command line, terminal, shell";
};
