//! What a framework can express: which values of a strategy its arguments can say.
//!
//! A search, advice and ways to fit propose nothing else. `ideal` is no framework and takes
//! everything. What its own code refuses although its arguments say it is a rule
//! ([`crate::rules`]).
//!
//! Sources: Megatron-Core `arguments.py`, `transformer_config.py`, `pipeline_parallel/schedules.py`
//! and `pipeline_parallel_layer_layout.py`; MindSpeed-LLM `features_manager` and
//! `docs/features`; DeepSpeed `runtime/config.py`, `runtime/pipe/engine.py`; torchtitan
//! `config/job_config.py`. Exports write these arguments, and a test holds them against this table.

use alloc::string::String;

use crate::catalogue::preset::PresetKind;
use crate::design::{Design, KnobId, KnobSet, PerStage, Positions};
use crate::ground::choice::{
    Dispatcher, Framework, Method, Precision, RecomputeGranularity, RecomputeMethod,
    RecomputeModule, ShardingStrategy, StateDtype, SwapModule, ZeroMemory,
};
use crate::ground::knob::{Role, Value};
use crate::layer::architecture::Pattern;
use crate::layer::layout::{self, Ends};
use crate::schedule::Form;

/// Title of a framework, for people.
#[must_use]
pub const fn title(framework: Framework) -> &'static str {
    match framework {
        Framework::Megatron => "Megatron-Core",
        Framework::Mindspeed => "MindSpeed",
        Framework::Fsdp => "torchtitan",
        Framework::Deepspeed => "DeepSpeed",
        Framework::Ideal => "no framework",
    }
}

/// Where a framework's arguments can put the parts behind the last layer; a search looks for the
/// plainest of them.
///
/// Sources: Megatron-Core `pipeline_parallel_layer_layout.py:validate_layer_layout`, which computes
/// the head of an MTP layer beside the loss wherever the layer is; MindSpeed
/// `pipeline_model_parallel_layout_feature.py` and `noop-layers.md`, torchtitan
/// `pipeline_parallel.py` and DeepSpeed `pipe/module.py`: behind the last layer.
const fn ends(framework: Framework) -> Ends {
    match framework {
        Framework::Ideal => Ends::Anywhere,
        Framework::Megatron => Ends::HeadsLast,
        Framework::Mindspeed | Framework::Fsdp | Framework::Deepspeed => Ends::Last,
    }
}

/// Whether a design's framework ships a schedule, for this model.
///
/// Sources: Megatron-Core `pipeline_parallel/schedules.py` (1F1B and its interleaved form; their
/// pairs are `overlap_moe_expert_parallel_comm`); MindSpeed `--moe-fb-overlap` and
/// `--schedules-method dualpipev`; DeepSpeed `runtime/pipe/schedule.py:TrainSchedule` (1F1B);
/// PyTorch `torch.distributed.pipelining`, which torchtitan runs beside FSDP.
fn has_method(design: &Design, method: Method) -> bool {
    match design.kernel.framework {
        Framework::Ideal => true,
        // Its pairs hide the exchange of experts, and need one.
        Framework::Mindspeed => {
            is_one_forward_one_backward(method)
                || design.transformer.has_experts()
                    && matches!(method, Method::OneForwardOneBackwardOverlap | Method::DualPipeV)
        }
        Framework::Megatron | Framework::Fsdp => is_one_forward_one_backward(method),
        Framework::Deepspeed => matches!(method, Method::OneForwardOneBackward),
    }
}

/// Whether a schedule is 1F1B, or its form with several chunks on a stage.
const fn is_one_forward_one_backward(method: Method) -> bool {
    matches!(method, Method::OneForwardOneBackward | Method::Interleaved)
}

/// Whether a framework has what a flag of the schedule turns on, for this design.
///
/// Sources: Megatron-Core `arguments.py` and `model_parallel_config.py` (sends overlap in the
/// interleaved schedule only); MindSpeed `docs/features` (`--moe-alltoall-overlap-comm`,
/// `--use-ascend-mc2`, `--dualpipev-dw-detach`; its pairs are schedules of their own); DeepSpeed
/// `overlap_comm`, without stages, and the prefetches of ZeRO-3; FSDP prefetches, and torchtitan
/// has
/// `enable_async_tensor_parallel`.
pub(crate) fn has_overlap(design: &Design, knob: KnobId) -> bool {
    let sends = design.parallel.virtual_pipeline_model_parallel_size > 1
        && design.schedule.method != Method::DualPipeV;
    match (design.kernel.framework, knob) {
        // Its pairs reduce gradients at the end.
        (Framework::Mindspeed, KnobId::overlap_grad_reduce | KnobId::overlap_param_gather) => {
            !Form::of(design.schedule.method).runs_pairs
        }
        (Framework::Ideal, _)
        | (
            Framework::Megatron | Framework::Fsdp,
            KnobId::overlap_grad_reduce | KnobId::overlap_param_gather,
        )
        | (Framework::Fsdp, KnobId::tp_comm_overlap) => true,
        (Framework::Deepspeed, KnobId::overlap_grad_reduce) => {
            design.parallel.pipeline_model_parallel_size == 1
        }
        (Framework::Deepspeed, KnobId::overlap_param_gather) => {
            design.parallel.data_parallel_sharding_strategy == ShardingStrategy::OptimGradsParams
        }
        (Framework::Deepspeed | Framework::Fsdp, _) => false,
        (Framework::Megatron | Framework::Mindspeed, KnobId::overlap_p2p_comm) => sends,
        (Framework::Mindspeed, KnobId::overlap_moe_expert_parallel_comm) => false,
        (Framework::Mindspeed, KnobId::delay_wgrad_compute) => {
            design.schedule.method == Method::DualPipeV
        }
        (framework, KnobId::moe_alltoall_overlap_comm) => framework == Framework::Mindspeed,
        // The paper's hierarchical form was not released.
        (_, KnobId::moe_hierarchical_alltoallv) => false,
        (Framework::Megatron | Framework::Mindspeed, _) => true,
    }
}

/// Whether a framework parks something in host memory.
///
/// Sources: MindSpeed `docs/features/swap_attention.md`, `swap-optimizer.md`; Megatron-Core
/// `--optimizer-cpu-offload` and `--fine-grained-activation-offloading`; DeepSpeed ZeRO-Offload.
/// Pangu Ultra MoE (section 4.2) swaps probabilities and activations, too, by code that wasn't
/// released.
pub(crate) const fn can_swap(framework: Framework, module: SwapModule) -> bool {
    match framework {
        Framework::Ideal => true,
        Framework::Megatron => !matches!(module, SwapModule::Probs),
        Framework::Mindspeed => {
            matches!(module, SwapModule::AttentionOutput | SwapModule::Optimizer)
        }
        Framework::Deepspeed | Framework::Fsdp => matches!(module, SwapModule::Optimizer),
    }
}

/// Whether a framework computes a module of layers again, by its name.
///
/// Sources: Megatron-Core `--recompute-modules`; MindSpeed-LLM `--recompute-activation-function`,
/// `--recompute-norm`, `--recompute-mla-up-proj`, and core 0.12.1's `mlp` and `moe`;
/// Megatron-DeepSpeed
/// `--recompute-granularity selective`; torchtitan's selective modes name operators.
pub(crate) const fn can_recompute(framework: Framework, module: RecomputeModule) -> bool {
    use RecomputeModule as M;
    match framework {
        Framework::Ideal => true,
        Framework::Megatron => !matches!(module, M::MlaQkv | M::MlaKv | M::MoePermute),
        Framework::Mindspeed => {
            !matches!(module, M::MlaQkv | M::MlaKv | M::MoePermute | M::SharedExperts)
        }
        Framework::Deepspeed => matches!(module, M::CoreAttn),
        Framework::Fsdp => false,
    }
}

/// Whether a framework shares out these states of a design.
///
/// Sources: Megatron-Core `--use-distributed-optimizer` (MindSpeed's is the same) and
/// `--use-megatron-fsdp`, published for dense models on one stage; DeepSpeed
/// `runtime/pipe/engine.py:PipelineEngine`, which takes ZeRO-1 at most beside stages; PyTorch
/// `FullyShardedDataParallel`, which shares out everything.
pub(crate) fn can_shard(design: &Design, strategy: ShardingStrategy) -> bool {
    let one_stage = design.parallel.pipeline_model_parallel_size == 1;
    let dense = !design.transformer.has_experts();
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
pub(crate) const fn can_offload_layers(framework: Framework) -> bool {
    matches!(framework, Framework::Ideal | Framework::Megatron)
}

/// Whether a framework has a dispatcher.
///
/// DeepEP and HybridEP are libraries for NVIDIA's GPUs; DeepSpeed `moe/sharded_moe.py` has the
/// all-to-all alone.
pub(crate) const fn has_dispatcher(framework: Framework, dispatcher: Dispatcher) -> bool {
    match framework {
        Framework::Ideal | Framework::Megatron => true,
        Framework::Mindspeed => !matches!(dispatcher, Dispatcher::Flex),
        Framework::Deepspeed | Framework::Fsdp => matches!(dispatcher, Dispatcher::Alltoall),
    }
}

/// Whole layers of a stage by which a number of them can be told apart: Megatron-Core counts those
/// of a chunk, the same on all stages (`transformer_block.py:_checkpointed_forward`).
pub(crate) fn layers_told_by(design: &Design) -> u64 {
    match design.kernel.framework {
        Framework::Megatron | Framework::Mindspeed => {
            design.parallel.virtual_pipeline_model_parallel_size.max(1)
        }
        Framework::Fsdp | Framework::Deepspeed | Framework::Ideal => 1,
    }
}

/// The fewest layers, recomputed on each stage, that a design's framework can express and that are
/// as many as these; none stands for all layers.
pub(crate) fn told_layers(design: &Design, layers: PerStage) -> Option<PerStage> {
    if design.kernel.framework == Framework::Ideal {
        return Some(layers);
    }
    let most = match layers {
        PerStage::Same(count) => count,
        PerStage::Each(counts) => counts.into_iter().max().unwrap_or(0),
    };
    let told = most.next_multiple_of(layers_told_by(design));
    let stages = design.parallel.pipeline_model_parallel_size.max(1);
    (told < layout::slots(design).div_ceil(stages)).then_some(PerStage::Same(told))
}

/// Strategy values that the arguments of a design's framework can express.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// Whether everything counts as expressible.
    any: bool,
    /// The published run that the design starts from, in the framework that it ran in: what it had
    /// there was told somehow.
    published: Option<Design>,
    ends: Ends,
}

impl Vocabulary {
    /// Vocabulary of the design's framework.
    #[must_use]
    pub fn of(design: &Design) -> Self {
        let published = (design.preset.kind == PresetKind::Recipe)
            .then(|| design.preset.design())
            .filter(|run| run.kernel.framework == design.kernel.framework);
        let apart = |run: &Design| {
            let chunks = layout::chunks_of(run, &Pattern::new(run));
            chunks.split_last().is_some_and(|(_, others)| others.iter().any(|it| it.heads() > 0.0))
        };
        let ends = if published.as_ref().is_some_and(apart) {
            Ends::Anywhere
        } else {
            ends(design.kernel.framework)
        };
        Self { any: design.kernel.framework == Framework::Ideal, published, ends }
    }

    /// Allowed places of the parts behind the last layer.
    pub(crate) const fn ends(&self) -> Ends {
        self.ends
    }

    /// Everything, whatever the framework.
    #[must_use]
    pub const fn any() -> Self {
        Self { any: true, published: None, ends: Ends::Anywhere }
    }

    /// Whether everything counts as expressible.
    pub(crate) const fn is_any(&self) -> bool {
        self.any
    }

    /// The knobs of a design that no argument says, in registry order.
    pub fn unsaid(&self, design: &Design) -> impl Iterator<Item = KnobId> {
        TOLD.iter().filter(|knob| !self.says(design, *knob))
    }

    /// Whether arguments can say the value that a design has of a knob.
    #[must_use]
    pub fn says(&self, design: &Design, knob: KnobId) -> bool {
        self.any || says(design, knob) || self.had(design, knob)
    }

    /// Whether arguments say what of these knobs a design has.
    pub(crate) fn says_all(&self, design: &Design, knobs: &KnobSet) -> bool {
        self.any || knobs.iter().all(|knob| self.says(design, knob))
    }

    /// Whether only the released code counts: not where everything does, nor beside a published
    /// run.
    pub(crate) const fn is_released(&self) -> bool {
        !self.any && self.published.is_none()
    }

    /// Whether arguments say what a design has otherwise than another one.
    pub(crate) fn says_change(&self, from: &Design, to: &Design) -> bool {
        self.any || from.differences(to).iter().all(|knob| self.says(to, knob))
    }

    /// Whether the framework has a schedule, for a design's model.
    #[must_use]
    pub fn has_method(&self, design: &Design, method: Method) -> bool {
        self.any
            || has_method(design, method)
            || self.published.as_ref().is_some_and(|run| run.schedule.method == method)
    }

    /// Whether the framework has what a flag of the schedule turns on, for a design.
    pub(crate) fn has_overlap(&self, design: &Design, knob: KnobId) -> bool {
        let had = |run: &Design| run.get(knob) == Value::Flag(true);
        self.any || has_overlap(design, knob) || self.published.as_ref().is_some_and(had)
    }

    /// Whether the framework shares out these states of a design.
    pub(crate) fn can_shard(&self, design: &Design, strategy: ShardingStrategy) -> bool {
        self.any || can_shard(design, strategy)
    }

    /// Whether the published run had the value of a knob.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only sets go by what is in them")]
    fn had(&self, design: &Design, knob: KnobId) -> bool {
        let Some(run) = &self.published else { return false };
        let framework = design.kernel.framework;
        match knob {
            KnobId::recompute_modules => {
                let own = run.memory.recompute_modules;
                let mut modules = design.memory.recompute_modules.iter();
                modules.all(|it| own.has(it) || can_recompute(framework, it))
            }
            KnobId::swap_modules => {
                let own = run.memory.swap_modules;
                let mut modules = design.memory.swap_modules.iter();
                modules.all(|it| own.has(it) || can_swap(framework, it))
            }
            KnobId::pipeline_model_parallel_layout if self.ends == Ends::Anywhere => true,
            _ => !run.differs(design, knob),
        }
    }
}

/// The knobs that a framework is told of, or isn't: those of a strategy, and what else decides
/// how a run is laid out in memory.
pub const TOLD: KnobSet = STRATEGY.and(&[
    KnobId::gradient_dtype,
    KnobId::main_params_dtype,
    KnobId::exp_avg_dtype,
    KnobId::exp_avg_sq_dtype,
    KnobId::reuse_fp32_param,
]);

/// The knobs of a strategy: they leave the trained model, its batch in tokens and its machine as
/// they are.
pub const STRATEGY: KnobSet = KnobSet::with_role(Role::Strategy);

/// Whether the arguments of a design's framework can say a knob of its strategy.
#[expect(clippy::wildcard_enum_match_arm, reason = "what isn't named every framework can be told")]
fn says(design: &Design, knob: KnobId) -> bool {
    let framework = design.kernel.framework;
    let (parallel, schedule, memory) = (&design.parallel, &design.schedule, &design.memory);
    match knob {
        _ if framework == Framework::Ideal => true,
        KnobId::method => has_method(design, schedule.method),
        KnobId::data_parallel_sharding_strategy => {
            can_shard(design, parallel.data_parallel_sharding_strategy)
        }
        KnobId::pipeline_model_parallel_layout => says_layout(design),
        KnobId::noop_layers => {
            parallel.noop_layers.0.is_empty()
                || matches!(framework, Framework::Megatron | Framework::Mindspeed)
        }
        KnobId::moe_token_dispatcher_type => {
            !design.transformer.has_experts()
                || has_dispatcher(framework, schedule.moe_token_dispatcher_type)
        }
        KnobId::recompute_modules => {
            memory.recompute_granularity != RecomputeGranularity::Selective
                || memory.recompute_modules.iter().all(|it| can_recompute(framework, it))
        }
        KnobId::recompute_num_layers => {
            memory.recompute_granularity != RecomputeGranularity::Full || says_layers(design)
        }
        KnobId::moe_zero_memory => {
            memory.moe_zero_memory == ZeroMemory::Disable || framework == Framework::Mindspeed
        }
        KnobId::swap_modules => memory.swap_modules.iter().all(|it| can_swap(framework, it)),
        KnobId::cpu_offloading_num_layers => {
            memory.cpu_offloading_num_layers == 0 || can_offload_layers(framework)
        }
        KnobId::gradient_dtype => match memory.gradient_dtype {
            StateDtype::Fp32 => true,
            StateDtype::Bf16 => framework != Framework::Fsdp,
            StateDtype::Fp16 => {
                framework != Framework::Fsdp && design.training.precision == Precision::Fp16
            }
            StateDtype::Fp8 => false,
        },
        KnobId::main_params_dtype => {
            says_dtype(framework, memory.main_params_dtype)
                && memory.main_params_dtype != StateDtype::Bf16
        }
        KnobId::exp_avg_dtype => says_dtype(framework, memory.exp_avg_dtype),
        KnobId::exp_avg_sq_dtype => says_dtype(framework, memory.exp_avg_sq_dtype),
        KnobId::reuse_fp32_param => !memory.reuse_fp32_param || framework == Framework::Mindspeed,
        _ if knob == KnobId::moe_hierarchical_alltoallv || knob.knob().has(Role::Overlap) => {
            design.get(knob) != Value::Flag(true) || has_overlap(design, knob)
        }
        _ => true,
    }
}

/// Whether an optimizer state can have another format than 32 bits: Megatron-Core's
/// `--use-precision-aware-optimizer`.
const fn says_dtype(framework: Framework, dtype: StateDtype) -> bool {
    matches!(dtype, StateDtype::Fp32) || matches!(framework, Framework::Ideal | Framework::Megatron)
}

/// Whether a layout is one that the framework has words for.
///
/// Megatron-Core and MindSpeed have letters, DualPipeV no-op layers in place of them; DeepSpeed and
/// torchtitan cut by rules of their own.
fn says_layout(design: &Design) -> bool {
    let parallel = &design.parallel;
    let Some(layout) = &parallel.pipeline_model_parallel_layout else { return true };
    let has_letters = match design.kernel.framework {
        Framework::Ideal | Framework::Megatron => true,
        Framework::Mindspeed => design.schedule.method != Method::DualPipeV,
        Framework::Fsdp | Framework::Deepspeed => false,
    };
    has_letters
        && layout::keeps(&layout.chunks, parallel.pipeline_model_parallel_size, Ends::HeadsLast)
}

/// Cuts a design's layers as a layout does, in the words of its framework: letters, or no-op
/// layers. `None` if it has neither.
pub(crate) fn cut(design: &mut Design, text: String) -> Option<()> {
    design.parallel.noop_layers = Positions::default();
    design.set(KnobId::pipeline_model_parallel_layout, &Value::Text(text)).ok()?;
    match design.kernel.framework {
        Framework::Ideal | Framework::Megatron => Some(()),
        Framework::Mindspeed if design.schedule.method != Method::DualPipeV => Some(()),
        Framework::Mindspeed => {
            let layout = design.parallel.pipeline_model_parallel_layout.take()?;
            design.parallel.noop_layers = layout::noops_of(&layout.chunks)?;
            Some(())
        }
        Framework::Fsdp | Framework::Deepspeed => None,
    }
}

/// Whether one number says how many whole layers each stage computes again.
fn says_layers(design: &Design) -> bool {
    let memory = &design.memory;
    match &memory.recompute_num_layers {
        None => true,
        Some(PerStage::Each(_)) => false,
        Some(PerStage::Same(count)) => {
            memory.recompute_method == RecomputeMethod::Uniform
                || count.is_multiple_of(layers_told_by(design))
        }
    }
}
