//! A search for one strategy, led by what searches of alike models found: for sweeps of
//! architectures, each of which gets a strategy of its own.
//!
//! A [`Guide`] is made once from whole searches of a few models, and says which places of the grid
//! promised most for any of them. A [`Near`] looks at these places anew for one model, discards
//! what a bound says can't be as fast as what is found, and refines the rest as [`super::Search`]
//! does, with less of everything. What it answers depends on the model and the guide alone, never
//! on which models were searched before it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::pool::Pool;
use super::query::Query;
use super::rank;
use super::reach::Reach;
use super::search::{Stage, Walk};
use super::space::Place;
use super::unmendable;
use crate::design::Design;
use crate::estimate::Metrics;
use crate::violation::Violation;

/// Places of each model that don't fit and are looked at for others, at most.
const UNFIT: usize = 8;

/// How much of its promise a place counts that didn't fit.
const UNFIT_SHARE: f64 = 0.97;

/// The same of a place that promised too little to be looked at closer.
const REST_SHARE: f64 = 0.5;

/// Strategies of each model that are taken over, at most.
const STARTS: usize = 4;

/// Strategies that a search begins with, at most.
const MAX_STARTS: usize = 24;

/// Places that a search looks at, at most.
const MAX_PLACES: usize = 960;

/// How much of everything a search looks at.
const REACH: Reach = Reach {
    at_once: 2,
    expanded: 16,
    refined: 8,
    balanced: 1,
    rounds: 4,
    simulated: 4,
    polished: 2,
    polish_rounds: 2,
};

/// Strategies that were found for models alike, and places where they were.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guide {
    /// Places with the best share of a model's most that each reached, the largest first.
    places: Vec<(Place, f64)>,
    /// Strategies with theirs.
    starts: Vec<(f64, Design)>,
}

impl Guide {
    /// What a whole search of one model tells; nothing of one that no layout trains.
    #[must_use]
    pub fn of(query: &Query, pool: &impl Pool) -> Self {
        let mut walk = Walk::new(query);
        if !unmendable(query, &walk).is_empty() {
            return Self::default();
        }
        while walk.stage != Stage::Done {
            walk.step(pool);
        }
        let most = walk.reached.iter().map(|(_, speed)| *speed).fold(0.0, f64::max);
        let reached = walk.reached.iter().map(|(place, speed)| (*place, speed / most));
        // What doesn't fit one model may fit a smaller one.
        let unfit = walk.screened.iter().filter(|it| it.least > 1.0).take(UNFIT);
        let unfit = unfit.map(|it| (it.place, (it.promise / most).min(1.0) * UNFIT_SHARE));
        // What wasn't worth a closer look here mostly needs but its bound elsewhere.
        let is_reached = |place: Place| walk.reached.iter().any(|(reached, _)| *reached == place);
        let rest = walk.screened.iter().filter(|it| it.least <= 1.0 && !is_reached(it.place));
        let rest = rest.map(|it| (it.place, (it.promise / most).min(1.0) * REST_SHARE));
        let places = reached.chain(unfit).chain(rest).collect();
        let closed = walk.closed.iter().take(STARTS);
        let starts = closed
            .map(|closed| (closed.metrics.tokens_per_second / most, closed.design.clone()))
            .collect();
        Self { places, starts }
    }

    /// What some searches tell together.
    #[must_use]
    pub fn merged(all: impl Iterator<Item = Self>) -> Self {
        let mut shares: BTreeMap<Place, f64> = BTreeMap::new();
        let mut starts: Vec<(f64, Design)> = Vec::new();
        for one in all {
            for (place, share) in one.places {
                let known = shares.entry(place).or_default();
                *known = known.max(share);
            }
            starts.extend(one.starts);
        }
        let mut places: Vec<(Place, f64)> = shares.into_iter().collect();
        rank::sort(&mut places, |(_, share)| [-share, 0.0]);
        places.truncate(MAX_PLACES);
        rank::sort(&mut starts, |(share, _)| [-share, 0.0]);
        starts.truncate(MAX_STARTS);
        Self { places, starts }
    }

    /// Searches the strategy of one model.
    ///
    /// # Errors
    /// What no layout can mend: rules that read no knob that is freed.
    pub fn near(&self, query: &Query, pool: &impl Pool) -> Result<Near, Vec<Violation>> {
        let mut walk = Walk::guided(query, &self.places, &self.starts, REACH, pool);
        let fixed = unmendable(query, &walk);
        if !fixed.is_empty() {
            return Err(fixed);
        }
        while walk.stage != Stage::Done {
            walk.step(pool);
        }
        let best = walk.found.first().map(|it| (it.design.clone(), it.metrics));
        let cut = walk.ruled_out.iter().filter(|(reason, _)| **reason != "less_promising");
        let cut = cut.map(|(_, designs)| designs).sum();
        Ok(Near { best, evaluated: walk.evaluated, simulated: walk.simulated, cut })
    }
}

/// What came of a search for one strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// The fastest design that fits with [`super::MIN_SPARE`] and reaches the targets, simulated.
    pub best: Option<(Design, Metrics)>,
    /// Estimates by closed forms.
    pub evaluated: u64,
    /// Of these the ones that were simulated as well.
    pub simulated: u64,
    /// Combinations that a bound or a rule discarded without an estimate.
    pub cut: u64,
}
