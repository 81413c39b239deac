//! A first look at places of the grid, and a closer one at those that promise most.

use alloc::vec::Vec;

use super::fitting::{Closed, Fitting, Room, Saver, pressure};
use super::rank;
use super::space::{Degrees, Place, Space, Variant};
use crate::estimate::Metrics;
use crate::estimator::Estimator;

/// Variants of a place that are made to fit, at most.
const MAX_FITTED: usize = 16;

/// How much slower than the best of the closed forms a design may be to be looked at closer: what
/// the simulation may add to the one and not to the other.
pub(super) const SLACK: f64 = 0.04;

/// Of these with the same degrees, at most.
pub(super) const MAX_ALIKE: usize = 2;

/// A place with the least time that any of its designs takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screened {
    pub(super) place: Place,
    /// Tokens per second that no design at this place exceeds.
    pub(super) bound: f64,
    /// Tokens per second that the best of its designs is likely to reach.
    pub(super) promise: f64,
    /// How full its memory is with everything saved, over what it may be.
    pub(super) least: f64,
}

/// What was seen of some degrees.
pub(super) struct Seen {
    pub(super) places: Vec<Screened>,
    pub(super) ruled_out: Vec<(&'static str, u64)>,
    pub(super) combinations: u64,
    pub(super) evaluated: u64,
}

pub(super) fn screened(
    space: &Space,
    savers: &[Saver],
    room: Room,
    sizes: &[u64],
    estimator: &mut Estimator,
    degrees: Degrees,
) -> Seen {
    let variants = space.variants(degrees.pp);
    let each = variants.len() as u64;
    let mut seen = Seen {
        places: Vec::new(),
        ruled_out: Vec::new(),
        combinations: each * sizes.len() as u64,
        evaluated: 0,
    };
    let mut fitting = Fitting::new(space, savers);
    let mut is_full = false;
    for micro_batch in sizes {
        if is_full {
            // More sequences at once need more memory.
            seen.ruled_out.push(("memory", each));
            continue;
        }
        let place = Place { degrees, micro_batch: *micro_batch };
        let (legal, broken) = space.legal_variants(place, &variants, 1);
        let Some(plainest) = legal.first().copied() else {
            seen.ruled_out.extend(broken);
            continue;
        };
        let light = fitting.closed(estimator, space.design(place, plainest));
        let Some(light) = light else { continue };
        let saved =
            if room.holds(&light.metrics) { None } else { fitting.least(estimator, &light) };
        let one = Screened::new(space, place, room, &light.metrics, saved.map(|it| it.metrics));
        is_full = one.least > 1.0;
        seen.places.push(one);
    }
    seen.evaluated = fitting.evaluated;
    seen
}

/// What is seen of one place, where something as fast as this is known.
pub(super) fn screened_place(
    space: &Space,
    savers: &[Saver],
    room: Room,
    threshold: f64,
    estimator: &mut Estimator,
    place: Place,
) -> Seen {
    let variants = space.variants(place.degrees.pp);
    let each = variants.len() as u64;
    let mut seen =
        Seen { places: Vec::new(), ruled_out: Vec::new(), combinations: each, evaluated: 0 };
    let mut fitting = Fitting::new(space, savers);
    let (legal, broken) = space.legal_variants(place, &variants, 1);
    let Some(plainest) = legal.first().copied() else {
        seen.ruled_out.extend(broken);
        return seen;
    };
    if let Some(light) = fitting.closed(estimator, space.design(place, plainest)) {
        let mut one = Screened::new(space, place, room, &light.metrics, None);
        if one.bound <= threshold {
            seen.ruled_out.push(("slower_than_found", each));
        } else {
            if !room.holds(&light.metrics) {
                let saved = fitting.least(estimator, &light).map(|it| it.metrics);
                one = Screened::new(space, place, room, &light.metrics, saved);
            }
            seen.places.push(one);
        }
    }
    seen.evaluated = fitting.evaluated;
    seen
}

/// How much more memory the plainest schedule may need, with everything saved, than the one that
/// needs least.
const MIN_SLACK: f64 = 1.1;

/// The share of exposed communication that pairs and hierarchy usually hide.
const HIDDEN: f64 = 0.7;

/// The share of what whole layers cost that single modules cost for the same memory.
const MODULES: f64 = 0.6;

impl Screened {
    /// A place by its plainest design, and by what that is with everything saved where it doesn't
    /// fit.
    fn new(
        space: &Space,
        place: Place,
        room: Room,
        light: &Metrics,
        saved: Option<Metrics>,
    ) -> Self {
        let step = light.step_time.get();
        let (bubble, exposed) = (light.bubble_ratio * step, light.comm_exposed.get());
        let shortest = (step - bubble - exposed).max(0.1 * step);
        let most = space.most_chunks(place.degrees.pp) as f64;
        let mut likely = step - bubble * (1.0 - 1.0 / most) - HIDDEN * exposed;
        let full = pressure(light);
        let mut least = full;
        if let Some(saved) = saved {
            least = pressure(&saved);
            let needed = ((full - room.0) / (full - least).max(1e-9)).clamp(0.0, 1.0);
            likely += MODULES * needed * (saved.step_time.get() - step).max(0.0);
        }
        let speed = |time: f64| light.tokens_per_second * step / time.max(shortest);
        Self {
            place,
            bound: speed(shortest),
            promise: speed(likely),
            least: least / (room.0 * MIN_SLACK),
        }
    }
}

/// What became of the variants of a place.
pub(super) struct Expanded {
    pub(super) closed: Vec<Closed>,
    pub(super) unfitting: Vec<(f64, f64)>,
    pub(super) ruled_out: Vec<(&'static str, u64)>,
    pub(super) evaluated: u64,
}

pub(super) fn expanded(
    space: &Space,
    savers: &[Saver],
    room: Room,
    threshold: f64,
    estimator: &mut Estimator,
    place: Place,
) -> Expanded {
    let variants = space.variants(place.degrees.pp);
    let mut fitting = Fitting::new(space, savers);
    let mut all =
        Expanded { closed: Vec::new(), unfitting: Vec::new(), ruled_out: Vec::new(), evaluated: 0 };
    let (legal, broken) = space.legal_variants(place, &variants, usize::MAX);
    all.ruled_out.extend(broken);
    let light = |variant: &Variant| fitting.closed(estimator, space.design(place, *variant));
    let mut lights: Vec<Closed> = legal.iter().filter_map(light).collect();
    let speed = |closed: &Closed| closed.metrics.tokens_per_second;
    rank::sort(&mut lights, |it| [-speed(it), 0.0]);
    let mut least = threshold;
    let (mut slower, mut unfit, mut left) = (0, 0, 0);
    for light in &lights {
        if speed(light) <= least {
            slower += 1;
            continue;
        }
        if all.closed.len() >= MAX_FITTED {
            left += 1;
            continue;
        }
        let fitted = fitting.fit(estimator, light, room);
        if room.holds(&fitted.metrics) {
            least = least.max(speed(&fitted) * (1.0 - SLACK));
            all.closed.push(fitted);
        } else {
            unfit += 1;
        }
        if !room.holds(&light.metrics) {
            all.unfitting.push((pressure(&light.metrics), speed(light)));
        }
    }
    all.ruled_out.push(("slower_than_found", slower));
    all.ruled_out.push(("memory", unfit));
    all.ruled_out.push(("less_promising", left));
    rank::sort(&mut all.closed, |it| [-speed(it), 0.0]);
    all.closed.truncate(MAX_ALIKE);
    all.evaluated = fitting.evaluated;
    all
}
