//! Arguments about memory.

use model::design::{Design, PerStage};
use model::ground::choice::{
    Choice, CrossEntropyFusion, Method, Optimizer, RecomputeGranularity, RecomputeMethod,
    RecomputeModule, ShardingStrategy, StateDtype, SwapModule, ZeroMemory,
};

use super::{Group, Word};

pub(super) fn memory(mindspeed: bool, d: &Design) -> Group {
    let mut group = Group::new("Memory", "MEMORY_ARGS");
    recomputation(mindspeed, d, &mut group);
    let m = &d.memory;
    if mindspeed {
        let level = Some(m.moe_zero_memory).filter(|level| *level != ZeroMemory::Disable);
        group.some("moe-zero-memory", level.map(Choice::name));
        group.on("swap-optimizer", m.swap_modules.has(SwapModule::Optimizer));
        let latent = d.transformer.multi_latent_attention;
        let by_latent = latent && d.schedule.method == Method::DualPipeV;
        let swap = if by_latent { "mla-swap-core-attn-out" } else { "swap-attention" };
        group.on(swap, m.swap_modules.has(SwapModule::AttentionOutput));
        group.on("reuse-fp32-param", m.reuse_fp32_param);
        let half = m.gradient_dtype == StateDtype::Bf16;
        group.on("o2-gradient", half);
        let whole =
            d.parallel.data_parallel_sharding_strategy == ShardingStrategy::OptimGradsParams;
        group.on("no-gradient-accumulation-fusion", half || whole);
    } else {
        states(d, &mut group);
        offloading(d, &mut group);
    }
    group.on("cross-entropy-loss-fusion", m.cross_entropy_loss_fusion);
    let by = Some(m.cross_entropy_fusion_impl).filter(|by| *by != CrossEntropyFusion::Native);
    group.some("cross-entropy-fusion-impl", by.map(Choice::name));
    group
}

/// The optimizer's states and gradients. Megatron keeps them narrow with Adam alone, and sharded;
/// gradients in 16 bits have a word of their own elsewhere.
fn states(d: &Design, group: &mut Group) {
    let m = &d.memory;
    let is_sharded = d.parallel.data_parallel_sharding_strategy != ShardingStrategy::NoShard;
    let is_aware = is_sharded && d.training.optimizer == Optimizer::Adam;
    let swaps = m.swap_modules.has(SwapModule::Optimizer) && is_aware;
    let is_word = |dtype: StateDtype, words: &[StateDtype]| {
        is_aware && dtype != StateDtype::Fp32 && words.contains(&dtype)
    };
    let moments = [StateDtype::Fp16, StateDtype::Bf16, StateDtype::Fp8];
    let dtypes = [
        ("main-grads-dtype", m.gradient_dtype, &moments[1..2]),
        ("main-params-dtype", m.main_params_dtype, &moments[..1]),
        ("exp-avg-dtype", m.exp_avg_dtype, &moments[..]),
        ("exp-avg-sq-dtype", m.exp_avg_sq_dtype, &moments[..]),
    ];
    let other = dtypes.iter().any(|(_, dtype, words)| is_word(*dtype, words));
    group.on("use-precision-aware-optimizer", other || swaps);
    for (name, dtype, words) in dtypes {
        group.some(name, is_word(dtype, words).then(|| dtype.name()));
    }
    group.on("grad-reduce-in-bf16", !is_aware && m.gradient_dtype == StateDtype::Bf16);
    group.on("optimizer-cpu-offload", swaps);
}

/// Adds offloading to the host: whole layers, or modules' activations. Attention's output is
/// offloaded with its input, as Megatron asks for both.
fn offloading(d: &Design, group: &mut Group) {
    let m = &d.memory;
    let layers = m.cpu_offloading_num_layers;
    group.some("cpu-offloading-num-layers", (layers > 0).then_some(layers));
    let sparse = d.transformer.has_experts();
    let mut modules: Vec<&str> = vec![];
    if m.swap_modules.has(SwapModule::Activations) && sparse {
        modules.extend(["expert_fc1", "moe_act"]);
    }
    if m.swap_modules.has(SwapModule::AttentionOutput) {
        modules.extend(["core_attn", "attn_proj"]);
    }
    if !modules.is_empty() {
        group.on("fine-grained-activation-offloading", true);
        group.values("offload-modules", &modules);
    }
}

fn recomputation(mindspeed: bool, d: &Design, group: &mut Group) {
    match d.memory.recompute_granularity {
        RecomputeGranularity::None => {}
        RecomputeGranularity::Full => {
            group.value("recompute-granularity", "full");
            group.value("recompute-method", d.memory.recompute_method.name());
            group.value("recompute-num-layers", layers(d));
        }
        RecomputeGranularity::Selective => modules(mindspeed, d, group),
    }
}

/// Layers of a group, or of each chunk, as both count them.
fn layers(d: &Design) -> u64 {
    let stages = d.parallel.pipeline_model_parallel_size;
    let chunks = d.parallel.virtual_pipeline_model_parallel_size;
    let slots = d.transformer.num_layers + d.parallel.noop_layers.0.len() as u64;
    let uniform = d.memory.recompute_method == RecomputeMethod::Uniform;
    let of_stage = match &d.memory.recompute_num_layers {
        None if uniform => 1,
        None => slots.div_ceil(stages),
        Some(PerStage::Same(count)) => *count,
        Some(PerStage::Each(counts)) => counts.iter().copied().max().unwrap_or(1),
    };
    if uniform { of_stage } else { of_stage.div_ceil(chunks) }.max(1)
}

fn modules(mindspeed: bool, d: &Design, group: &mut Group) {
    let modules = d.memory.recompute_modules;
    if mindspeed {
        let by_name = [RecomputeModule::Mlp, RecomputeModule::Moe];
        let named: Vec<&str> = [RecomputeModule::CoreAttn]
            .iter()
            .chain(&by_name)
            .filter(|module| modules.has(**module))
            .map(|module| module.name())
            .collect();
        if !named.is_empty() {
            group.value("recompute-granularity", "selective");
            if by_name.iter().any(|module| modules.has(*module)) {
                group.values("recompute-modules", &named);
            }
        }
        group.on("recompute-activation-function", modules.has(RecomputeModule::MoeAct));
        group.on("recompute-norm", modules.has(RecomputeModule::Layernorm));
        let projects = modules.has(RecomputeModule::MlaUpProj);
        group.on("recompute-mla-up-proj", projects);
        // Where heads are cut, it needs both of these.
        let is_cut = projects && d.parallel.tensor_model_parallel_size > 1;
        group.on("mla-up-proj-tp-overlap", is_cut);
        group.on("mla-mm-split", is_cut);
        return;
    }
    // MLA's other parts and the permutation have no name in Megatron.
    let known = modules.iter().filter(|module| {
        !matches!(
            module,
            RecomputeModule::MlaQkv | RecomputeModule::MlaKv | RecomputeModule::MoePermute
        )
    });
    let names: Vec<&str> = known.map(Choice::name).collect();
    if !names.is_empty() {
        group.value("recompute-granularity", "selective");
        let values = names.into_iter().map(str::to_owned).collect();
        group.arguments.push(Word { name: "recompute-modules".to_owned(), values });
    }
}
