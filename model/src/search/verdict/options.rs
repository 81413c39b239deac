//! The values of a knob that could change what a design holds.

use alloc::vec::Vec;

use crate::design::{Design, KnobId, PerStage};
use crate::ground::choice::{Choice, RecomputeGranularity, RecomputeMethod, Set, ZeroMemory};
use crate::ground::knob::Value;
use crate::layer::layout;
use crate::rules::legal_values;
use crate::rules::vocabulary::{self, Vocabulary, told_layers};
use crate::search::fit::modules::{subsets, usable_modules, usable_swaps};
use crate::search::fit::{is_redundant, whole_layers};
use crate::search::proposal;
use crate::training::plan::Plan;

/// Designs in which a knob has another value.
type Options = fn(&Plan, KnobId) -> Vec<Candidate>;

/// A design with other settings of a knob, and how far they are from the present ones.
pub(super) struct Candidate {
    pub(super) design: Design,
    pub(super) distance: f64,
}

/// A knob that a verdict tries.
pub(super) struct Tried {
    pub(super) id: KnobId,
    /// Designs in which it may free memory.
    pub(super) freeing: Options,
    /// Designs in which it may give freed memory back.
    pub(super) giving_back: Options,
}

/// A knob that is more than a way to free memory: all of its values.
const fn all(id: KnobId, options: Options) -> Tried {
    Tried { id, freeing: options, giving_back: options }
}

const fn legal(id: KnobId) -> Tried {
    all(id, |plan, id| values(plan.design(), plan.design(), id, |_| {}))
}

/// The knobs that a verdict tries.
pub(super) const KNOBS: &[Tried] = &[
    Tried {
        id: KnobId::recompute_modules,
        freeing: |plan, _| module_sets(plan, true),
        giving_back: |plan, _| module_sets(plan, false),
    },
    Tried {
        id: KnobId::recompute_granularity,
        freeing: |plan, _| all_layers(plan.design()),
        giving_back: |plan, _| no_recomputation(plan.design()),
    },
    Tried {
        id: KnobId::recompute_num_layers,
        freeing: |plan, _| more_layers(plan),
        giving_back: |plan, _| fewer_layers(plan),
    },
    legal(KnobId::moe_zero_memory),
    Tried {
        id: KnobId::swap_modules,
        // Where the host is too small, fewer of them.
        freeing: |plan, _| {
            [swap_sets(plan, true), swap_sets(plan, false)].into_iter().flatten().collect()
        },
        giving_back: |plan, _| swap_sets(plan, false),
    },
    legal(KnobId::cpu_offloading_num_layers),
    legal(KnobId::gradient_dtype),
    legal(KnobId::main_params_dtype),
    legal(KnobId::exp_avg_dtype),
    legal(KnobId::exp_avg_sq_dtype),
    legal(KnobId::reuse_fp32_param),
    legal(KnobId::cross_entropy_loss_fusion),
    legal(KnobId::flash_attention),
    legal(KnobId::mla_fa_without_pad),
    legal(KnobId::micro_batch_size),
    all(KnobId::tensor_model_parallel_size, |plan, _| tensor_parallel(plan.design())),
    legal(KnobId::sequence_parallel),
    all(KnobId::pipeline_model_parallel_size, |plan, id| stages(plan.design(), id)),
    all(KnobId::virtual_pipeline_model_parallel_size, |plan, id| stages(plan.design(), id)),
    legal(KnobId::context_parallel_size),
    legal(KnobId::context_parallel_algo),
    legal(KnobId::expert_model_parallel_size),
    legal(KnobId::expert_tensor_parallel_size),
    legal(KnobId::data_parallel_sharding_strategy),
    legal(KnobId::num_distributed_optimizer_instances),
    all(KnobId::pipeline_model_parallel_layout, |plan, _| layouts(plan)),
    legal(KnobId::method),
    legal(KnobId::moe_token_dispatcher_type),
    legal(KnobId::overlap_moe_expert_parallel_comm),
];

/// Most layers that share a checkpoint.
const MAX_GROUP: u64 = 8;

/// Whole-layer recomputation in place of none or of modules.
fn all_layers(design: &Design) -> Vec<Candidate> {
    if design.memory.recompute_granularity == RecomputeGranularity::Full {
        return Vec::new();
    }
    one(design, |changed| {
        changed.memory.recompute_granularity = RecomputeGranularity::Full;
        changed.memory.moe_zero_memory = ZeroMemory::Disable;
    })
}

fn no_recomputation(design: &Design) -> Vec<Candidate> {
    if design.memory.recompute_granularity == RecomputeGranularity::None {
        return Vec::new();
    }
    one(design, |changed| {
        changed.memory.recompute_granularity = RecomputeGranularity::None;
        changed.memory.recompute_num_layers = None;
    })
}

fn one(design: &Design, change: impl Fn(&mut Design)) -> Vec<Candidate> {
    let mut changed = design.clone();
    change(&mut changed);
    Vec::from([Candidate { design: changed, distance: 1.0 }])
}

/// The values of a knob that are legal in `base`, set in `design`, with what moves with them.
fn values(
    design: &Design,
    base: &Design,
    id: KnobId,
    along: impl Fn(&mut Design),
) -> Vec<Candidate> {
    let present = design.get(id);
    let values = legal_values(base, id);
    let other = values.into_iter().filter(|value| *value != present);
    other
        .filter_map(|value| {
            let mut changed = design.clone();
            changed.set(id, &value).ok()?;
            along(&mut changed);
            Some(Candidate { distance: distance(id, &present, &value), design: changed })
        })
        .collect()
}

/// Distance of a value from the present one: by ratio for numbers, by position for formats and
/// shares, which have an order; other names are all alike.
fn distance(id: KnobId, present: &Value, value: &Value) -> f64 {
    match (present, value) {
        (Value::Integer(from), Value::Integer(to)) => {
            // Zero layers are below one.
            libm::fabs(libm::log((*to as f64 + 0.5) / (*from as f64 + 0.5)))
        }
        (Value::Text(from), Value::Text(to)) => {
            let position = |names: &[&str], name: &str| {
                names.iter().position(|known| *known == name).unwrap_or(0) as f64
            };
            match (id, id.knob().kind) {
                (KnobId::method | KnobId::moe_token_dispatcher_type, _) => 1.0,
                (_, crate::ground::knob::Kind::Choice(names)) => {
                    libm::fabs(position(names, to) - position(names, from))
                }
                _ => 1.0,
            }
        }
        _ => 1.0,
    }
}

/// TP with sequence parallelism on, as experts need it; none of it without TP.
fn tensor_parallel(design: &Design) -> Vec<Candidate> {
    let mut split = design.clone();
    let splits_sequences =
        design.parallel.sequence_parallel || design.parallel.tensor_model_parallel_size == 1;
    split.parallel.sequence_parallel = splits_sequences;
    values(design, &split, KnobId::tensor_model_parallel_size, |changed| {
        changed.parallel.sequence_parallel =
            splits_sequences && changed.parallel.tensor_model_parallel_size > 1;
    })
}

/// Numbers of stages or chunks; where the layers can't be spread evenly, with an even layout.
fn stages(design: &Design, id: KnobId) -> Vec<Candidate> {
    let Value::Integer(present) = design.get(id) else { return Vec::new() };
    let most = (4 * present).clamp(8, 64);
    let others = (1..=most).filter(|count| *count != present);
    others
        .filter_map(|count| {
            let value = Value::Integer(count);
            let mut changed = design.clone();
            changed.set(id, &value).ok()?;
            let (stages, chunks) =
                (changed.parallel.pipeline_model_parallel_size, layout::chunks(&changed));
            let divides = changed.cluster.num_devices.is_multiple_of(stages);
            if !divides || chunks > layout::slots(&changed) {
                return None;
            }
            let even = changed.parallel.pipeline_model_parallel_layout.is_none()
                && layout::slots(&changed).is_multiple_of(chunks);
            if !even {
                let ends = Vocabulary::of(design).ends();
                let text = layout::text::even_layout(&changed, ends)?;
                vocabulary::cut(&mut changed, text)?;
            }
            let distance = distance(id, &Value::Integer(present), &value);
            Some(Candidate { design: changed, distance })
        })
        .collect()
}

fn layouts(plan: &Plan) -> Vec<Candidate> {
    let design = plan.design();
    let proposals = proposal::layout_proposals(plan).into_iter();
    proposals
        .filter_map(|proposal| {
            let mut changed = design.clone();
            vocabulary::cut(&mut changed, proposal.layout)?;
            Some(Candidate { design: changed, distance: 1.0 })
        })
        .collect()
}

/// On each stage the fewest whole layers with which it fits; where all are recomputed already,
/// more layers to a checkpoint.
fn more_layers(plan: &Plan) -> Vec<Candidate> {
    let design = plan.design();
    let memory = &design.memory;
    let all = memory.recompute_granularity == RecomputeGranularity::Full
        && (memory.recompute_method == RecomputeMethod::Uniform
            || memory.recompute_num_layers.is_none());
    if !all {
        return fewest_layers(plan);
    }
    let present = match memory.recompute_num_layers {
        Some(PerStage::Same(count)) => count,
        Some(PerStage::Each(_)) | None => 1,
    };
    (present + 1..=MAX_GROUP)
        .map(|count| {
            let mut changed = design.clone();
            changed.memory.recompute_method = RecomputeMethod::Uniform;
            changed.memory.recompute_num_layers = Some(PerStage::Same(count));
            Candidate { design: changed, distance: (count - present) as f64 }
        })
        .collect()
}

fn fewer_layers(plan: &Plan) -> Vec<Candidate> {
    let design = plan.design();
    let whole = design.memory.recompute_granularity == RecomputeGranularity::Full;
    if whole { fewest_layers(plan) } else { Vec::new() }
}

fn fewest_layers(plan: &Plan) -> Vec<Candidate> {
    let design = plan.design();
    let Some(layers) = whole_layers::fewest(plan, design) else { return Vec::new() };
    let Some(layers) = told_layers(design, layers) else { return all_layers(design) };
    one(design, |changed| {
        let memory = &mut changed.memory;
        memory.recompute_granularity = RecomputeGranularity::Full;
        memory.recompute_method = RecomputeMethod::Block;
        memory.recompute_num_layers = Some(layers.clone());
        memory.moe_zero_memory = ZeroMemory::Disable;
    })
}

/// Sets of modules with more of them than now, or with fewer; whole layers need none.
fn module_sets(plan: &Plan, more: bool) -> Vec<Candidate> {
    let design = plan.design();
    let present = match design.memory.recompute_granularity {
        RecomputeGranularity::Full => return Vec::new(),
        RecomputeGranularity::None => Set::EMPTY,
        RecomputeGranularity::Selective => design.memory.recompute_modules,
    };
    let sets = other_sets(present, &usable_modules(plan), more).into_iter();
    sets.filter(|(_, set)| !more || !is_redundant(*set))
        .map(|(distance, set)| {
            let mut changed = design.clone();
            changed.memory.recompute_modules = set;
            changed.memory.recompute_granularity = if set.is_empty() {
                RecomputeGranularity::None
            } else {
                RecomputeGranularity::Selective
            };
            Candidate { design: changed, distance }
        })
        .collect()
}

fn swap_sets(plan: &Plan, more: bool) -> Vec<Candidate> {
    let present = plan.design().memory.swap_modules;
    other_sets(present, &usable_swaps(plan), more)
        .into_iter()
        .map(|(distance, set)| {
            let mut changed = plan.design().clone();
            changed.memory.swap_modules = set;
            Candidate { design: changed, distance }
        })
        .collect()
}

/// The sets that hold all of the present one and more of these values, or less than it; each with
/// the number of values by which it differs.
fn other_sets<C: Choice>(present: Set<C>, usable: &[C], more: bool) -> Vec<(f64, Set<C>)> {
    let movable: Vec<C> = if more {
        usable.iter().copied().filter(|value| !present.has(*value)).collect()
    } else {
        present.iter().collect()
    };
    let kept = if more { present } else { Set::EMPTY };
    let sets = subsets(&movable).into_iter().filter_map(|chosen| {
        let set = chosen.iter().fold(kept, Set::with);
        let differs = set.iter().count().abs_diff(present.iter().count());
        (differs > 0).then_some((differs as f64, set))
    });
    sets.collect()
}
