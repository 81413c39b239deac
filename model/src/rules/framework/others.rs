//! What DeepSpeed and torchtitan refuse.

use alloc::format;
use alloc::string::String;

use super::{Assertion, framework_rules, shards_gradients};
use crate::design::{Design, KnobId, KnobSet};
use crate::ground::choice::{
    ContextParallelAlgo, CudaGraph, Framework, Precision, ShardingStrategy, StateDtype,
};
use crate::ground::source::{DEEPSPEED, TORCHTITAN_CODE};
use crate::rules::facts::{cp, has_experts, pp, tp};
use crate::rules::rule::{Checks, Rule, Words, say};

framework_rules! {
    stages_share_out_states_alone [Deepspeed]
        [data_parallel_sharding_strategy, pipeline_model_parallel_size]
        DEEPSPEED, "runtime/pipe/engine.py:PipelineEngine.__init__",
        "ZeRO-2 and ZeRO-3 are incompatible with pipeline parallelism",
        |d| (pp(d) > 1 && shards_gradients(d))
            .then(|| say!("{} stages take ZeRO-1 at most", pp(d)));
    experts_keep_their_weights [Deepspeed] [data_parallel_sharding_strategy, num_moe_experts]
        DEEPSPEED, "runtime/engine.py:_validate_zero3_moe_compatibility",
        "Native DeepSpeed MoE is not supported with ZeRO Stage 3",
        |d| (has_experts(d)
            && d.parallel.data_parallel_sharding_strategy == ShardingStrategy::OptimGradsParams)
            .then(|| say!("experts take ZeRO-2 at most"));
    experts_are_whole [Deepspeed] [expert_tensor_parallel_size]
        DEEPSPEED, "module_inject/auto_ep_folding.py:validate_folding_global",
        "expert_tensor_parallel_size is not supported yet",
        |d| (d.parallel.expert_tensor_parallel_size > 1).then(|| say!(
            "experts aren't cut, ETP is {}", d.parallel.expert_tensor_parallel_size));
    whole_gradients_have_the_weights_format [Deepspeed]
        [gradient_dtype, data_parallel_sharding_strategy, precision]
        DEEPSPEED, "runtime/engine.py:_configure_optimizer",
        "unsupported mix of model_dtype and grad_accum_dtype",
        |d| {
            let own = if d.training.precision == Precision::Bf16 {
                StateDtype::Bf16
            } else if d.training.precision == Precision::Fp16 {
                StateDtype::Fp16
            } else {
                return None;
            };
            (d.parallel.data_parallel_sharding_strategy == ShardingStrategy::NoShard
                && d.memory.gradient_dtype != own)
                .then(|| say!("without ZeRO gradients are kept in {}", super::name(own)))
        };
    experts_are_cut_or_spread [Fsdp]
        [expert_tensor_parallel_size, expert_model_parallel_size, tensor_model_parallel_size]
        + [num_moe_experts]
        TORCHTITAN_CODE, "models/common/moe_sharding.py:set_moe_sharding_config",
        "expert-weight state_shardings -- sparse {EP} / dense {TP} / none",
        |d| {
            let (ep, etp) =
                (d.parallel.expert_model_parallel_size, d.parallel.expert_tensor_parallel_size);
            let own = if ep > 1 { 1 } else { tp(d) };
            (has_experts(d) && etp != own).then(|| say!(
                "at EP {ep} and TP {} experts are cut in {own}, ETP is {etp}", tp(d)))
        };
    tied_embeddings_have_one_stage [Fsdp]
        [untie_embeddings_and_output_weights, pipeline_model_parallel_size]
        TORCHTITAN_CODE, "models/common/decoder.py:update_from_config",
        "Weight tying is not supported with Pipeline Parallel",
        |d| (!d.transformer.untie_embeddings_and_output_weights && pp(d) > 1)
            .then(|| say!("tied embeddings have one stage, PP is {}", pp(d)));
    mtp_has_one_stage_and_whole_sequences [Fsdp]
        [mtp_num_layers, pipeline_model_parallel_size, context_parallel_size]
        TORCHTITAN_CODE, "models/deepseek_v3/mtp.py",
        "MTP does not support pipeline parallelism or context parallelism yet",
        |d| (d.transformer.mtp_num_layers > 0 && (pp(d) > 1 || cp(d) > 1))
            .then(|| say!("MTP has one stage and whole sequences, PP and CP are 1"));
    graphs_have_one_stage [Fsdp] [cuda_graph_impl, pipeline_model_parallel_size]
        TORCHTITAN_CODE, "trainer.py:_validate_cuda_graphs",
        "CUDA graphs do not support pipeline parallelism yet",
        |d| (d.kernel.cuda_graph_impl != CudaGraph::None && pp(d) > 1)
            .then(|| say!("CUDA graphs have one stage, PP is {}", pp(d)));
    sequences_are_cut_by_heads [Deepspeed] [context_parallel_algo, context_parallel_size]
        DEEPSPEED, "runtime/sequence_parallel/ulysses_sp.py",
        "DeepSpeed's sequence parallelism is Ulysses",
        |d| (cp(d) > 1 && d.parallel.context_parallel_algo != ContextParallelAlgo::A2a)
            .then(|| say!("sequences are cut by Ulysses alone: `a2a`"));
}
