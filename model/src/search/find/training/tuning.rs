//! Small steps from a design to its neighbours: one thing computed again, parked, hidden or laid
//! out otherwise, at the same degrees.

use alloc::vec::Vec;

use super::fitting::{Room, Saver, grouped_layers, set_modules};
use super::space::Space;
use super::strategy::OVERLAPS;
use crate::design::{Design, KnobId, PerStage};
use crate::ground::choice::{
    Choice, Dispatcher, RecomputeGranularity, RecomputeMethod, Set, ShardingStrategy, ZeroMemory,
};
use crate::ground::knob::Value;
use crate::ground::units::Bytes;
use crate::layer::layout;
use crate::rules::vocabulary::{self, told_layers};
use crate::search::fit::whole_layers::fewest;
use crate::search::fit::{is_redundant, whole_layers};
use crate::search::proposal;
use crate::training::plan::Plan;

/// Layers that share a checkpoint, at most.
const MAX_GROUP: u64 = 4;

/// The neighbours of a design, legal or not; each differs in one thing.
pub(super) fn neighbours(space: &Space, savers: &[Saver], design: &Design) -> Vec<Design> {
    let mut found = Vec::new();
    flags(space, design, &mut found);
    recomputed(space, savers, design, &mut found);
    parked(savers, design, &mut found);
    shared_out(space, design, &mut found);
    dispatched(space, design, &mut found);
    // What has to move along may be kept.
    found.retain(|changed| space.keeps(changed));
    found
}

fn with(found: &mut Vec<Design>, design: &Design, change: impl FnOnce(&mut Design)) {
    let mut changed = design.clone();
    change(&mut changed);
    found.push(changed);
}

/// Every freed flag the other way round; two that exclude each other change places.
fn flags(space: &Space, design: &Design, found: &mut Vec<Design>) {
    let others = [KnobId::moe_hierarchical_alltoallv, KnobId::sequence_parallel];
    for knob in OVERLAPS.iter().chain(others) {
        let Value::Flag(on) = design.get(knob) else { continue };
        if !space.is_free(knob) || (!on && !space.ships_in(design, knob)) {
            continue;
        }
        with(found, design, |changed| {
            let _ = changed.set(knob, &Value::Flag(!on));
            let schedule = &mut changed.schedule;
            let pairs = knob == KnobId::overlap_moe_expert_parallel_comm;
            // What an overlap excludes goes off with it, and what needs it goes off without it.
            schedule.moe_shared_expert_overlap &=
                on || !(pairs || knob == KnobId::moe_alltoall_overlap_comm);
            schedule.moe_alltoall_overlap_comm &= on || knob != KnobId::moe_shared_expert_overlap;
            schedule.delay_wgrad_compute &= !(on && pairs);
            schedule.overlap_param_gather &= !(on && knob == KnobId::overlap_grad_reduce);
            schedule.tp_comm_overlap &= !(on && knob == KnobId::sequence_parallel);
        });
    }
}

/// A module more or less; whole layers in place of modules and the other way round; layers of a
/// stage more or less; layers under one checkpoint.
fn recomputed(space: &Space, savers: &[Saver], design: &Design, found: &mut Vec<Design>) {
    if !space.is_free(KnobId::recompute_granularity) {
        return;
    }
    let memory = &design.memory;
    if memory.recompute_granularity == RecomputeGranularity::Full {
        whole(space, design, found);
        with(found, design, |changed| {
            changed.memory.recompute_num_layers = None;
            changed.memory.recompute_method = RecomputeMethod::Uniform;
            set_modules(changed, Set::EMPTY);
        });
        return;
    }
    let own = memory.recompute_modules;
    for saver in savers {
        let Saver::Recompute(module) = *saver else { continue };
        let set = if own.has(module) {
            own.iter().filter(|other| *other != module).fold(Set::EMPTY, Set::with)
        } else {
            // A wider module takes the place of its parts.
            let set = own.with(module);
            let narrow = |other: &_| !is_redundant(Set::EMPTY.with(module).with(*other));
            if is_redundant(set) {
                own.iter().filter(narrow).fold(Set::EMPTY.with(module), Set::with)
            } else {
                set
            }
        };
        with(found, design, |changed| set_modules(changed, set));
    }
    // One module in place of another.
    for off in own.iter() {
        for saver in savers {
            let Saver::Recompute(on) = *saver else { continue };
            if own.has(on) {
                continue;
            }
            let rest = own.iter().filter(|it| *it != off).fold(Set::EMPTY.with(on), Set::with);
            if !is_redundant(rest) {
                with(found, design, |changed| set_modules(changed, rest));
            }
        }
    }
    let fewest = PerStage::Same(space.step_of_layers(design));
    found.push(whole_layers(design, Some(fewest)));
}

/// Neighbours with other numbers of fully recomputed layers.
fn whole(space: &Space, design: &Design, found: &mut Vec<Design>) {
    let memory = &design.memory;
    let stages = design.parallel.pipeline_model_parallel_size;
    let most = layout::slots(design).div_ceil(stages);
    match (&memory.recompute_num_layers, memory.recompute_method) {
        (Some(PerStage::Same(count)), RecomputeMethod::Block) => {
            let step = space.step_of_layers(design);
            for other in [count.checked_sub(step), Some(count + step)].into_iter().flatten() {
                if other == 0 {
                    continue;
                }
                let layers = (other < most).then_some(PerStage::Same(other));
                found.push(whole_layers(design, layers));
            }
        }
        (Some(PerStage::Each(counts)), _) => {
            for stage in 0..counts.len() {
                for up in [true, false] {
                    let mut other = counts.clone();
                    let count = other[stage];
                    other[stage] = if up { count + 1 } else { count.saturating_sub(1) };
                    if other[stage] != count && other[stage] <= most {
                        found.push(whole_layers(design, Some(PerStage::Each(other))));
                    }
                }
            }
        }
        (layers, _) => {
            let group = if let Some(PerStage::Same(group)) = layers { *group } else { 1 };
            let step = space.step_of_layers(design);
            let fewer = most.saturating_sub(1) / step * step;
            found.push(whole_layers(design, Some(PerStage::Same(fewer.max(step)))));
            for other in [group - 1, group + 1] {
                if (1..=MAX_GROUP).contains(&other) {
                    found.push(grouped_layers(design, other));
                }
            }
        }
    }
}

/// Swaps on and off, and MoE zero memory at another level.
fn parked(savers: &[Saver], design: &Design, found: &mut Vec<Design>) {
    let own = design.memory.swap_modules;
    for saver in savers {
        match *saver {
            Saver::Swap(module) => {
                let set = if own.has(module) {
                    own.iter().filter(|other| *other != module).fold(Set::EMPTY, Set::with)
                } else {
                    own.with(module)
                };
                with(found, design, |changed| changed.memory.swap_modules = set);
            }
            Saver::ZeroMemory(level) => {
                let other = if design.memory.moe_zero_memory == level {
                    ZeroMemory::Disable
                } else {
                    level
                };
                with(found, design, |changed| changed.memory.moe_zero_memory = other);
            }
            Saver::Offload(quarters) => {
                let (own, all) =
                    (design.memory.cpu_offloading_num_layers, design.transformer.num_layers);
                // The first of them stands for all: some layers more or less.
                let others = [1, 4].map(|by| [own.checked_sub(by), Some(own + by)]);
                for other in others.into_iter().flatten().flatten() {
                    if quarters == 1 && other <= all {
                        with(found, design, |changed| {
                            changed.memory.cpu_offloading_num_layers = other;
                        });
                    }
                }
            }
            Saver::Recompute(_) | Saver::Shard(_) => {}
        }
    }
}

/// Other shares of the states.
fn shared_out(space: &Space, design: &Design, found: &mut Vec<Design>) {
    if !space.is_free(KnobId::data_parallel_sharding_strategy) {
        return;
    }
    let own = design.parallel.data_parallel_sharding_strategy;
    for other in ShardingStrategy::ALL.iter().filter(|other| **other != own) {
        if !space.shards(design, *other) {
            continue;
        }
        with(found, design, |changed| {
            changed.parallel.data_parallel_sharding_strategy = *other;
            if *other == ShardingStrategy::NoShard {
                changed.schedule.overlap_param_gather = false;
            }
        });
    }
}

/// Other dispatchers that the framework has.
fn dispatched(space: &Space, design: &Design, found: &mut Vec<Design>) {
    let experts = design.transformer.has_experts();
    if !experts || !space.is_free(KnobId::moe_token_dispatcher_type) {
        return;
    }
    let own = design.schedule.moe_token_dispatcher_type;
    for other in Dispatcher::ALL.iter().filter(|other| **other != own) {
        with(found, design, |changed| {
            changed.schedule.moe_token_dispatcher_type = *other;
            if *other != Dispatcher::Alltoall {
                changed.schedule.moe_hierarchical_alltoallv = false;
                changed.schedule.moe_alltoall_overlap_comm = false;
                changed.memory.moe_zero_memory = ZeroMemory::Disable;
            }
        });
    }
}

/// The layouts that balance a design's stages best.
pub(super) fn balanced(space: &Space, design: &Design) -> Vec<Design> {
    if !space.is_free(KnobId::pipeline_model_parallel_layout) {
        return Vec::new();
    }
    let Ok(plan) = Plan::new(design) else { return Vec::new() };
    let proposals = proposal::layout_proposals(&plan).into_iter();
    let laid_out = proposals.filter_map(|proposal| {
        let mut changed = design.clone();
        vocabulary::cut(&mut changed, proposal.layout)?;
        space.keeps(&changed).then_some(changed)
    });
    laid_out.collect()
}

/// On each stage the fewest whole layers with which it fits.
pub(super) fn fewest_layers(space: &Space, design: &Design, room: Room) -> Option<Design> {
    let whole = design.memory.recompute_granularity == RecomputeGranularity::Full;
    if !whole || !space.is_free(KnobId::recompute_num_layers) {
        return None;
    }
    let plan = Plan::new(design).ok()?;
    // The same with as much less memory as is to be spared.
    let mut tighter = design.clone();
    tighter.cluster.hbm_usable_gib = Some(plan.memory_limit / Bytes::gib(1.0) * room.0);
    let plan = Plan::new(&tighter).ok()?;
    let layers = fewest(&plan, &tighter)?;
    let told = whole_layers(design, told_layers(design, layers));
    space.keeps(&told).then_some(told)
}
