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

use super::fitting::Fitting;
use super::reach::Reach;
use super::screening::Screened;
use super::space::{Place, Space};
use super::unmendable;
use super::walk::{LESS_PROMISING, Stage, Walk};
use crate::design::Design;
use crate::design::violation::Violation;
use crate::search::find::pool::Pool;
use crate::search::find::query::Query;
use crate::search::find::rank;
use crate::training::estimate::Metrics;

/// Places of each model that don't fit and are looked at for others, at most.
const MAX_UNFIT_POINTS: usize = 8;

/// Factor on the promise of a place whose designs didn't fit.
const UNFIT_SHARE: f64 = 0.97;

/// Factor on the promise of a place that promised too little to be looked at closer.
const REST_SHARE: f64 = 0.5;

/// Strategies of each model that are taken over, at most.
const MAX_TRANSFERS: usize = 4;

/// Strategies that a search begins with, at most.
const MAX_STARTS: usize = 24;

/// Places that a search looks at, at most.
const MAX_PLACES: usize = 2_000;

/// Number of places that it looks at before it looks closer at any.
const FIRST_POINTS: usize = 480;

/// Places that are bounded at once behind these.
const BOUNDED_AT_ONCE: usize = 16;

/// Limits of a search that a guide leads.
const REACH: Reach = Reach {
    at_once: 2,
    expanded: 16,
    enough: 10_000,
    thrifty: true,
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
    /// Guide from a whole search of one model; empty for a model that no layout trains.
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
        let unfit = walk.screened.iter().filter(|it| it.least > 1.0).take(MAX_UNFIT_POINTS);
        let unfit = unfit.map(|it| (it.place, (it.promise / most).min(1.0) * UNFIT_SHARE));
        // What wasn't worth a closer look here mostly needs but its bound elsewhere.
        let is_reached = |place: Place| walk.reached.iter().any(|(reached, _)| *reached == place);
        let rest = walk.screened.iter().filter(|it| it.least <= 1.0 && !is_reached(it.place));
        let rest = rest.map(|it| (it.place, (it.promise / most).min(1.0) * REST_SHARE));
        let places = reached.chain(unfit).chain(rest).collect();
        let closed = walk.closed.iter().take(MAX_TRANSFERS);
        let starts = closed
            .map(|closed| (closed.metrics.tokens_per_second / most, closed.design.clone()))
            .collect();
        Self { places, starts }
    }

    /// Guide that merges those of several searches.
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
        let mut walk = Walk::guided(query, self, pool);
        let fixed = unmendable(query, &walk);
        if !fixed.is_empty() {
            return Err(fixed);
        }
        while walk.stage != Stage::Done {
            walk.step(pool);
        }
        let best = walk.found.first().map(|it| (it.design.clone(), it.metrics));
        let cut = walk.discarded();
        Ok(Near { best, evaluated: walk.evaluated, simulated: walk.simulated, cut })
    }
}

impl Walk {
    /// A walk through the first of these places in place of the whole grid, the others
    /// where these aren't enough; it begins with strategies that were found for models alike.
    fn guided(query: &Query, guide: &Guide, pool: &impl Pool) -> Self {
        let mut space = Space::new(query);
        let mut places: Vec<Place> = guide
            .places
            .iter()
            .map(|(place, _)| *place)
            .filter(|place| space.has(*place))
            .collect();
        // One plan knows how long the parts are; even layouts serve until there is one.
        let plan = places.iter().find_map(|place| {
            space.lay_out_stages(None, &[*place]);
            space.any_plan(&[*place])
        });
        if let Some(plan) = plan {
            space.lay_out_stages(Some(&plan), &places);
        }
        let mut walk = Self::through(space, query, REACH);
        let (space, savers, room) = (&walk.space, &walk.savers, walk.room);
        let begun = pool.map(&guide.starts, |estimator, (_, start)| {
            let mut fitting = Fitting::new(space, savers);
            let closed = fitting.closed(estimator, space.transplanted(start));
            let closed = closed.map(|closed| {
                if room.holds(&closed.metrics) {
                    return closed;
                }
                let mut light = closed.design.clone();
                space.save_nothing(&mut light);
                match fitting.closed(estimator, light) {
                    Some(light) => fitting.fit(estimator, &light, room),
                    None => closed,
                }
            });
            (closed.filter(|it| room.holds(&it.metrics)), fitting.evaluated)
        });
        for (closed, evaluated) in begun {
            walk.evaluated += evaluated;
            walk.closed.extend(closed);
        }
        walk.settle_closed();
        walk.later = places.split_off(FIRST_POINTS.min(places.len()));
        walk.bound(&places, pool);
        // The guide's order stays: it knows what came of places, not only what they promised.
        put_unfit_last(&mut walk.screened);
        walk.stage = Stage::Expand;
        walk
    }

    /// Bounds more places until enough was looked at, and says whether it was.
    pub(super) fn look_further(&mut self, pool: &impl Pool) -> bool {
        let enough = self.reach.enough;
        let left = self.left().into_iter().filter(|(reason, _)| *reason != LESS_PROMISING);
        let mut left: u64 = left.map(|(_, designs)| designs).sum();
        while self.evaluated + self.discarded() + left < enough && !self.later.is_empty() {
            let batch = BOUNDED_AT_ONCE.min(self.later.len());
            let (places, known) =
                (self.later.drain(..batch).collect::<Vec<_>>(), self.screened.len());
            self.bound(&places, pool);
            let unfit = self.screened[known..].iter().filter(|one| one.least > 1.0);
            left += unfit.map(|one| one.variants).sum::<u64>();
        }
        let mut behind = self.screened.split_off(self.next.min(self.screened.len()));
        put_unfit_last(&mut behind);
        self.screened.extend(behind);
        self.evaluated + self.discarded() + left >= enough
    }
}

/// Puts places that can't fit behind those that may; else their order stays.
fn put_unfit_last(places: &mut Vec<Screened>) {
    rank::sort(places, |it| [f64::from(u8::from(it.least > 1.0)), 0.0]);
}

/// Result of a search for one strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// The fastest design that fits with [`super::MIN_SPARE`] and reaches the targets, simulated.
    pub best: Option<(Design, Metrics)>,
    /// Estimates by closed forms.
    pub evaluated: u64,
    /// Designs that were simulated as well.
    pub simulated: u64,
    /// Combinations that a bound or a rule discarded without an estimate.
    pub cut: u64,
}
