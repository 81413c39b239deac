//! The cheapest recomputation and swapping with which a plan fits its memory.

pub(crate) mod modules;
pub(crate) mod screening;
pub(crate) mod whole_layers;

use alloc::vec::Vec;

use crate::design::{Design, PerStage};
use crate::device::operator::enclosing;
use crate::ground::choice::{
    RecomputeGranularity, RecomputeMethod, RecomputeModule, Set, SwapModule, ZeroMemory,
};
use crate::ground::sorting::sort_short;
use crate::rules::vocabulary::{Vocabulary, told_layers};
use crate::training::estimate::Estimate;
use crate::training::plan::Plan;
use crate::training::step::estimate;

use modules::{subsets, usable_modules, usable_swaps};
use screening::{MAX_SCREENED_FILL, pressure, screened};

/// The best of the closed form that are simulated.
const MAX_SIMULATED: usize = 24;

/// Result of a search for a design that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Sets of recomputation and swapping that were estimated.
    pub tried: usize,
    /// The fastest that fits; nothing when none does.
    pub best: Option<Fitted>,
}

/// A design that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The design with its new recomputation and swapping.
    pub design: Design,
    /// Predicted estimate.
    pub estimate: Estimate,
}

/// The recomputation and swapping that fits and is fastest.
///
/// Only what the framework's arguments can say is tried. Tried are all sets of modules that differ
/// in what they free, whole layers on all stages, and on each stage the fewest whole layers with
/// which it fits; each with and without each swap. All are estimated with the closed form, the
/// fastest of them again as the plan is timed. So it is the best there is, as far as both agree on
/// the order of the first 24 that fit.
///
/// A zero-memory level is kept beside modules, and taken off where whole layers are recomputed.
#[must_use]
pub fn make_it_fit(plan: &Plan) -> Fit {
    let mut found: Vec<(f64, Design)> = Vec::new();
    let mut tried = 0;
    for candidate in candidates(plan) {
        let Some((quick, estimate)) = screened(plan, &candidate) else { continue };
        tried += 1;
        if pressure(&quick.deployment.machine, &estimate) <= MAX_SCREENED_FILL {
            found.push((estimate.metrics.tokens_per_second, candidate));
        }
    }
    sort_short(&mut found, |one, other| other.0.total_cmp(&one.0));
    Fit { tried, best: fastest(plan, found.into_iter().map(|(_, design)| design)) }
}

/// The fastest of the first designs that fit as they are timed.
fn fastest(plan: &Plan, designs: impl Iterator<Item = Design>) -> Option<Fitted> {
    let fits = |design: Design| {
        let estimate = estimate(&plan.variant(&design).ok()?);
        estimate.metrics.fits.then_some(Fitted { design, estimate })
    };
    let speed = |fitted: &Fitted| fitted.estimate.metrics.tokens_per_second;
    designs
        .filter_map(fits)
        .take(MAX_SIMULATED)
        .reduce(|best, other| if speed(&other) > speed(&best) { other } else { best })
}

/// The plan's design with every recomputation and swapping that this model has.
fn candidates(plan: &Plan) -> Vec<Design> {
    let words = Vocabulary::of(plan.design());
    let modules: Vec<Set<RecomputeModule>> =
        subsets(&usable_modules(plan)).into_iter().filter(|set| !is_redundant(*set)).collect();
    let mut all = Vec::new();
    for swap in subsets::<SwapModule>(&usable_swaps(plan)) {
        let mut design = plan.design().clone();
        design.memory.swap_modules = swap;
        design.memory.recompute_num_layers = None;
        for modules in &modules {
            design.memory.recompute_modules = *modules;
            design.memory.recompute_granularity = if modules.is_empty() {
                RecomputeGranularity::None
            } else {
                RecomputeGranularity::Selective
            };
            all.push(design.clone());
        }
        let whole = whole_layers(&design, None);
        let fewest = whole_layers::fewest(plan, &whole);
        let told = fewest.and_then(|layers| told_layers(&design, layers));
        all.extend(told.map(|layers| whole_layers(&design, Some(layers))));
        all.push(whole);
    }
    all.retain(|design| words.says_change(plan.design(), design));
    all
}

/// The design with whole layers computed again: all of them, or this many of each stage.
pub(crate) fn whole_layers(design: &Design, layers: Option<PerStage>) -> Design {
    let mut whole = design.clone();
    let memory = &mut whole.memory;
    memory.recompute_granularity = RecomputeGranularity::Full;
    memory.recompute_modules = Set::EMPTY;
    memory.moe_zero_memory = ZeroMemory::Disable;
    memory.recompute_method =
        if layers.is_some() { RecomputeMethod::Block } else { RecomputeMethod::Uniform };
    memory.recompute_num_layers = layers;
    whole
}

/// Does the set name a part of another of its modules?
pub(crate) fn is_redundant(modules: Set<RecomputeModule>) -> bool {
    modules.iter().any(|module| modules.meets(enclosing(module)))
}
