//! Arguments about memory.

use model::choice::{
    Choice, CrossEntropyFusion, RecomputeGranularity, RecomputeMethod, RecomputeModule, StateDtype,
    SwapModule, ZeroMemory,
};
use model::design::{Design, PerStage};

use super::{Group, Word};

pub(super) fn memory(mindspeed: bool, d: &Design) -> Group {
    let mut group = Group::new("Memory", "MEMORY_ARGS");
    recomputation(mindspeed, d, &mut group);
    let m = &d.memory;
    if mindspeed {
        let level = Some(m.moe_zero_memory).filter(|level| *level != ZeroMemory::Disable);
        group.some("moe-zero-memory", level.map(Choice::name));
        group.on("swap-optimizer", m.swap_modules.has(SwapModule::Optimizer));
        group.on("swap-attention", m.swap_modules.has(SwapModule::AttentionOutput));
        group.on("reuse-fp32-param", m.reuse_fp32_param);
        group.on("o2-gradient", m.gradient_dtype == StateDtype::Bf16);
    } else {
        let dtypes = [
            ("main-grads-dtype", m.gradient_dtype),
            ("main-params-dtype", m.main_params_dtype),
            ("exp-avg-dtype", m.exp_avg_dtype),
            ("exp-avg-sq-dtype", m.exp_avg_sq_dtype),
        ];
        let other = dtypes.iter().any(|(_, dtype)| *dtype != StateDtype::Fp32);
        group.on("use-precision-aware-optimizer", other);
        for (name, dtype) in dtypes {
            group.some(name, (dtype != StateDtype::Fp32).then(|| dtype.name()));
        }
        let layers = m.cpu_offloading_num_layers;
        group.some("cpu-offloading-num-layers", (layers > 0).then_some(layers));
    }
    group.on("cross-entropy-loss-fusion", m.cross_entropy_loss_fusion);
    let by = Some(m.cross_entropy_fusion_impl).filter(|by| *by != CrossEntropyFusion::Native);
    group.some("cross-entropy-fusion-impl", by.map(Choice::name));
    group
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
        group.some(
            "recompute-granularity",
            modules.has(RecomputeModule::CoreAttn).then_some("selective"),
        );
        group.on("recompute-activation-function", modules.has(RecomputeModule::MoeAct));
        group.on("recompute-norm", modules.has(RecomputeModule::Layernorm));
        group.on("recompute-mla-up-proj", modules.has(RecomputeModule::MlaUpProj));
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
