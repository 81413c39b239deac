//! What a search may change of a design: the knobs of its strategy, and what a framework ships.

use alloc::vec::Vec;

use crate::choice::{Choice, Framework, Method, ShardingStrategy, SwapModule};
use crate::design::{Design, KnobId, KnobSet};
use crate::knob::{Role, Value};

/// The knobs of a strategy: they leave the trained model, its batch in tokens and its machine as
/// they are.
pub const STRATEGY: KnobSet = KnobSet::with_role(Role::Strategy);

/// Knobs that say together what is computed again.
pub(super) const RECOMPUTATION: KnobSet = KnobSet::with_role(Role::Recomputation);

/// Knobs of a strategy that hide one thing behind another: what they promise must hold.
pub(super) const OVERLAPS: KnobSet = KnobSet::with_role(Role::Overlap);

/// Overlaps of a design that must hold for its number.
pub(super) fn overlaps(design: &Design) -> usize {
    OVERLAPS.iter().filter(|knob| design.get(*knob) == Value::Flag(true)).count()
}

/// Knobs of a design's strategy that differ from their neutral values.
pub(super) fn complexity(design: &Design) -> usize {
    let neutral = Design::neutral(design.preset);
    STRATEGY.iter().filter(|knob| design.get(*knob) != neutral.get(*knob)).count()
}

/// Whether a framework ships a schedule.
///
/// Sources: Megatron-Core `pipeline_parallel/schedules.py` (1F1B and its interleaved form; their
/// pairs are `overlap_moe_expert_parallel_comm`); MindSpeed `--moe-fb-overlap` and
/// `--schedules-method dualpipev`; DeepSpeed `runtime/pipe/schedule.py:TrainSchedule` (1F1B);
/// PyTorch `torch.distributed.pipelining`, which torchtitan runs beside FSDP.
/// `ideal` is no framework and has every one.
pub(super) const fn has_method(framework: Framework, method: Method) -> bool {
    match framework {
        Framework::Ideal => true,
        Framework::Mindspeed => matches!(
            method,
            Method::OneForwardOneBackward
                | Method::Interleaved
                | Method::OneForwardOneBackwardOverlap
                | Method::DualPipeV
        ),
        Framework::Megatron | Framework::Fsdp => {
            matches!(method, Method::OneForwardOneBackward | Method::Interleaved)
        }
        Framework::Deepspeed => matches!(method, Method::OneForwardOneBackward),
    }
}

/// The schedules that a search goes through: those of the framework, or all, and the design's own.
/// V-half and V-min have no closed form to be found by, and GPipe holds more than 1F1B and is no
/// faster.
pub(super) fn methods(design: &Design, any: bool) -> Vec<Method> {
    let unseen = [Method::Gpipe, Method::VHalf, Method::VMin];
    let is_found = |method: &Method| {
        let shipped = any || has_method(design.kernel.framework, *method);
        (shipped && !unseen.contains(method)) || *method == design.schedule.method
    };
    Method::ALL.iter().copied().filter(is_found).collect()
}

/// Whether a framework ships what a flag of the schedule turns on, for this design.
///
/// Sources: Megatron-Core `arguments.py` and `model_parallel_config.py` (sends overlap in the
/// interleaved schedule only); MindSpeed `docs/features` (`--moe-alltoall-overlap-comm`,
/// `--use-ascend-coc`, `--moe-hierarchical-alltoallv`); DeepSpeed `overlap_comm`; FSDP
/// prefetches, and torchtitan has `enable_async_tensor_parallel`.
pub(super) fn has_overlap(design: &Design, knob: KnobId) -> bool {
    let framework = design.kernel.framework;
    let chunks = design.parallel.virtual_pipeline_model_parallel_size;
    let (megatron, mindspeed) = match framework {
        Framework::Ideal => return true,
        Framework::Megatron => (true, false),
        Framework::Mindspeed => (true, true),
        Framework::Fsdp if knob == KnobId::tp_comm_overlap => return true,
        Framework::Deepspeed | Framework::Fsdp => (false, false),
    };
    if matches!(knob, KnobId::overlap_grad_reduce | KnobId::overlap_param_gather) {
        true
    } else if matches!(knob, KnobId::moe_alltoall_overlap_comm | KnobId::moe_hierarchical_alltoallv)
    {
        mindspeed
    } else {
        megatron && (knob != KnobId::overlap_p2p_comm || chunks > 1)
    }
}

/// Whether a framework parks something in host memory.
///
/// Sources: MindSpeed `docs/features/swap_attention.md`, `swap-optimizer.md`; Pangu Ultra MoE
/// section 4.2 (probabilities, activations); Megatron-Core `--optimizer-cpu-offload` and
/// `--fine-grained-activation-offloading`; DeepSpeed ZeRO-Offload.
pub(super) const fn can_swap(framework: Framework, module: SwapModule) -> bool {
    match framework {
        Framework::Ideal | Framework::Mindspeed => true,
        Framework::Megatron => !matches!(module, SwapModule::Probs),
        Framework::Deepspeed | Framework::Fsdp => matches!(module, SwapModule::Optimizer),
    }
}

/// Whether a framework shares out these states of a design.
///
/// Sources: Megatron-Core `--use-distributed-optimizer` (MindSpeed's is the same) and
/// `--use-megatron-fsdp`, published for dense models on one stage; DeepSpeed
/// `runtime/pipe/engine.py:PipelineEngine`, which takes ZeRO-1 at most beside stages; PyTorch
/// `FullyShardedDataParallel`, which shares out everything.
pub(super) fn can_shard(design: &Design, strategy: ShardingStrategy) -> bool {
    let one_stage = design.parallel.pipeline_model_parallel_size == 1;
    let dense = design.transformer.num_moe_experts.is_none();
    let states = matches!(strategy, ShardingStrategy::NoShard | ShardingStrategy::Optim);
    match design.kernel.framework {
        Framework::Ideal => true,
        Framework::Megatron => {
            states || (strategy == ShardingStrategy::OptimGradsParams && one_stage && dense)
        }
        Framework::Mindspeed => states,
        Framework::Deepspeed => states || one_stage,
        Framework::Fsdp => !states,
    }
}

/// Whether a framework parks whole layers' activations in host memory.
///
/// Source: Megatron-Core `--cpu-offloading-num-layers`, for one stage.
pub(super) const fn can_offload_layers(framework: Framework) -> bool {
    matches!(framework, Framework::Ideal | Framework::Megatron)
}
