//! The cheapest recomputation and swapping with which a plan fits its memory.

use alloc::vec::Vec;

use crate::choice::{
    Choice, RecomputeGranularity, RecomputeMethod, RecomputeModule, Set, SwapModule, Timing,
};
use crate::design::Design;
use crate::estimate::Estimate;
use crate::layer::wider;
use crate::plan::Plan;
use crate::step::estimate;

/// The best of the closed form that are simulated.
const SIMULATED: usize = 24;

/// A design that fits, and how it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The design with its new recomputation and swapping.
    pub design: Design,
    /// What it is predicted to do.
    pub estimate: Estimate,
    /// Sets of recomputation and swapping that were estimated.
    pub tried: usize,
}

/// The recomputation and swapping that fits and is fastest; nothing when none fits.
///
/// All sets of modules that differ in what they free, with and without each swap, and
/// recomputation of whole layers, are estimated with the closed form; the fastest are estimated
/// again as the plan is timed. So it is the best there is, as far as both agree on the order of
/// the first 24 that fit.
#[must_use]
pub fn make_it_fit(plan: &Plan) -> Option<Fit> {
    let mut found: Vec<(f64, Design)> = Vec::new();
    let mut tried = 0;
    for candidate in candidates(plan) {
        let mut quick = candidate.clone();
        quick.schedule.timing = Timing::ClosedForm;
        // A schedule without a closed form is simulated at once.
        let Ok(checked) = Plan::new(&quick).or_else(|_| Plan::new(&candidate)) else { continue };
        tried += 1;
        let metrics = estimate(&checked).metrics;
        // What a simulated step holds may differ a little from the formula.
        if metrics.memory_peak.get() <= metrics.memory_limit.get() * 1.05 {
            found.push((metrics.tokens_per_second, candidate));
        }
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut best: Option<Fit> = None;
    let mut simulated = 0;
    for (_, design) in found {
        let Ok(checked) = Plan::new(&design) else { continue };
        let estimate = estimate(&checked);
        if !estimate.metrics.fits {
            continue;
        }
        let faster = best.as_ref().is_none_or(|best| {
            estimate.metrics.tokens_per_second > best.estimate.metrics.tokens_per_second
        });
        if faster {
            best = Some(Fit { design, estimate, tried });
        }
        simulated += 1;
        if simulated == SIMULATED {
            break;
        }
    }
    best
}

/// The plan's design with every recomputation and swapping that this model has.
fn candidates(plan: &Plan) -> Vec<Design> {
    let base = plan.design();
    let mut all = Vec::new();
    for swap in subsets::<SwapModule>(&usable_swaps(plan)) {
        let mut design = base.clone();
        design.memory.swap_modules = swap;
        for modules in subsets::<RecomputeModule>(&usable_modules(plan)) {
            let redundant =
                modules.iter().any(|module| wider(module).iter().any(|wide| modules.has(*wide)));
            if redundant {
                continue;
            }
            design.memory.recompute_modules = modules;
            design.memory.recompute_granularity = if modules.iter().next().is_some() {
                RecomputeGranularity::Selective
            } else {
                RecomputeGranularity::None
            };
            all.push(design.clone());
        }
        design.memory.recompute_modules = Set::EMPTY;
        design.memory.recompute_granularity = RecomputeGranularity::Full;
        design.memory.recompute_method = RecomputeMethod::Uniform;
        design.memory.recompute_num_layers = None;
        all.push(design);
    }
    all
}

/// Modules that free something of this model's layers.
fn usable_modules(plan: &Plan) -> Vec<RecomputeModule> {
    let frees = |module: RecomputeModule| {
        [(false, plan.shape.dense_layers), (true, plan.shape.moe_layers)].into_iter().any(
            |(is_moe, layers)| {
                let saved = if is_moe { plan.moe_layer_saves() } else { plan.dense_layer_saves() };
                layers > 0
                    && saved.tensors().iter().any(|(tensor, bytes)| {
                        *bytes > 0.0 && tensor.recomputed_by(is_moe).contains(&module)
                    })
            },
        )
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

fn usable_swaps(plan: &Plan) -> Vec<SwapModule> {
    let usable = |module: &SwapModule| {
        legal(plan, |design| design.memory.swap_modules = Set::EMPTY.with(*module))
    };
    SwapModule::ALL.iter().copied().filter(usable).collect()
}

/// Is the plan's design still legal without other recomputation and with this change?
fn legal(plan: &Plan, change: impl Fn(&mut Design)) -> bool {
    let mut design = plan.design().clone();
    design.memory.recompute_granularity = RecomputeGranularity::None;
    design.memory.recompute_modules = Set::EMPTY;
    design.memory.swap_modules = Set::EMPTY;
    change(&mut design);
    Plan::new(&design).is_ok()
}

fn subsets<C: Choice>(values: &[C]) -> Vec<Set<C>> {
    let mut sets = alloc::vec![Set::EMPTY];
    for value in values {
        let with: Vec<Set<C>> = sets.iter().map(|set| set.with(*value)).collect();
        sets.extend(with);
    }
    sets
}
