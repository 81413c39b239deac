//! The modules that a plan's model could compute again or swap.

use alloc::vec::Vec;

use crate::design::Design;
use crate::ground::choice::{Choice, RecomputeGranularity, RecomputeModule, Set, SwapModule};
use crate::training::plan::Plan;

/// Modules that free something of this model's layers.
pub(crate) fn usable_modules(plan: &Plan) -> Vec<RecomputeModule> {
    let saves = plan.layer_saves();
    let frees = |module: RecomputeModule| {
        saves
            .tensors()
            .flatten()
            .any(|tensor| tensor.bytes > 0.0 && tensor.recomputed_by.contains(&module))
    };
    RecomputeModule::ALL
        .iter()
        .copied()
        .filter(|module| {
            frees(*module)
                && legal(plan, |design| {
                    design.memory.recompute_granularity = RecomputeGranularity::Selective;
                    design.memory.recompute_modules = Set::EMPTY.with(*module);
                })
        })
        .collect()
}

/// Modules that this model could swap.
pub(crate) fn usable_swaps(plan: &Plan) -> Vec<SwapModule> {
    let usable = |module: &SwapModule| {
        legal(plan, |design| design.memory.swap_modules = Set::EMPTY.with(*module))
    };
    SwapModule::ALL.iter().copied().filter(usable).collect()
}

/// Whether the plan's design is still legal without other recomputation and with this change.
fn legal(plan: &Plan, change: impl Fn(&mut Design)) -> bool {
    let mut design = plan.design().clone();
    design.memory.recompute_granularity = RecomputeGranularity::None;
    design.memory.recompute_num_layers = None;
    design.memory.recompute_modules = Set::EMPTY;
    design.memory.swap_modules = Set::EMPTY;
    change(&mut design);
    plan.variant(&design).is_ok()
}

/// Every set of these values, the empty one first.
pub(crate) fn subsets<C: Choice>(values: &[C]) -> Vec<Set<C>> {
    let mut sets = alloc::vec![Set::EMPTY];
    for value in values {
        let with: Vec<Set<C>> = sets.iter().map(|set| set.with(*value)).collect();
        sets.extend(with);
    }
    sets
}
