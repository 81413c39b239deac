//! A first look at places of the grid, and a closer one at those that promise most.

use alloc::vec::Vec;

use super::fitting::{Closed, Fitting, Room, Saver, pressure};
use super::space::{Degrees, Place, Space, Variant};
use crate::ground::units::Seconds;
use crate::search::find::rank;
use crate::training::estimate::Metrics;
use crate::training::estimator::Estimator;

/// Variants of a place that are made to fit, at most.
const MAX_FITTED: usize = 16;

/// Largest lag behind the best of the closed forms at which a design is looked at closer: what the
/// simulation may add to the one and not to the other.
pub(super) const MAX_LAG: f64 = 0.04;

/// Maximum number of such designs with the same degrees.
pub(super) const MAX_ALIKE: usize = 2;

/// A place with the least time that any of its designs takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screened {
    pub(super) place: Place,
    /// Tokens per second that no design at this place exceeds.
    pub(super) bound: f64,
    /// Tokens per second that the best of its designs is likely to reach.
    pub(super) promise: f64,
    /// Fill of its memory with everything saved, over the allowed share of the limit.
    pub(super) least: f64,
    /// Combinations of chunks, schedule and pairs there.
    pub(super) variants: u64,
}

/// Screening result of some degrees.
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
        let kernels = estimator.kernels();
        let saved =
            if room.holds(&light.metrics) { None } else { fitting.least(estimator, &light) };
        let saved = saved.map(|it| it.metrics);
        let one = Screened::new(space, place, room, kernels, &light.metrics, saved);
        is_full = one.least > 1.0;
        seen.places.push(one);
    }
    seen.evaluated = fitting.evaluated;
    seen
}

/// Screening result of one place, against the speed of the best design known.
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
        let kernels = estimator.kernels();
        let mut one = Screened::new(space, place, room, kernels, &light.metrics, None);
        if one.bound <= threshold {
            seen.ruled_out.push(("slower_than_found", each));
        } else {
            if !room.holds(&light.metrics) {
                let saved = fitting.least(estimator, &light).map(|it| it.metrics);
                one = Screened::new(space, place, room, kernels, &light.metrics, saved);
            }
            seen.places.push(one);
        }
    }
    seen.evaluated = fitting.evaluated;
    seen
}

/// Memory that the plainest schedule may need, with everything saved, over that of the schedule
/// that needs least.
const MIN_SLACK: f64 = 1.1;

/// The share of exposed communication that pairs and hierarchy usually hide.
const HIDDEN_SHARE: f64 = 0.7;

/// The share of what whole layers cost that single modules cost for the same memory.
const MODULE_COST_SHARE: f64 = 0.6;

impl Screened {
    /// A place by its plainest design with the time of its kernels alone, and by what that is with
    /// everything saved where it doesn't fit.
    fn new(
        space: &Space,
        place: Place,
        room: Room,
        kernels: Seconds,
        light: &Metrics,
        saved: Option<Metrics>,
    ) -> Self {
        let step = light.step_time.get();
        let (bubble, exposed) = (light.bubble_ratio * step, light.comm_exposed.get());
        let most = space.most_chunks(place.degrees.pp) as f64;
        let mut likely = step - bubble * (1.0 - 1.0 / most) - HIDDEN_SHARE * exposed;
        let full = pressure(light);
        let mut least = full;
        if let Some(saved) = saved {
            least = pressure(&saved);
            let needed = ((full - room.0) / (full - least).max(1e-9)).clamp(0.0, 1.0);
            likely += MODULE_COST_SHARE * needed * (saved.step_time.get() - step).max(0.0);
        }
        let speed = |time: f64| light.tokens_per_second * step / time;
        Self {
            place,
            bound: speed(kernels.get()),
            promise: speed(likely.max(kernels.get())),
            least: least / (room.0 * MIN_SLACK),
            variants: space.variants(place.degrees.pp).len() as u64,
        }
    }
}

/// Results for the variants of a place.
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
    thrifty: bool,
    estimator: &mut Estimator,
    place: Place,
) -> Expanded {
    let variants = space.variants(place.degrees.pp);
    let mut fitting =
        if thrifty { Fitting::alike(space, savers) } else { Fitting::new(space, savers) };
    let mut all =
        Expanded { closed: Vec::new(), unfitting: Vec::new(), ruled_out: Vec::new(), evaluated: 0 };
    let (legal, broken) = space.legal_variants(place, &variants, usize::MAX);
    all.ruled_out.extend(broken);
    let light = |variant: &Variant| fitting.closed(estimator, space.design(place, *variant));
    let mut lights: Vec<Closed> = legal.iter().filter_map(light).collect();
    let speed = |closed: &Closed| closed.worth(space);
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
        fitting.worth = if thrifty { least } else { 0.0 };
        let fitted = fitting.fit(estimator, light, room);
        if room.holds(&fitted.metrics) {
            least = least.max(speed(&fitted) * (1.0 - MAX_LAG));
            all.closed.push(fitted);
        } else if speed(&fitted) <= fitting.worth {
            slower += 1;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Design;
    use crate::search::find::query::Query;
    use crate::search::find::training::fitting::savers;
    use crate::search::find::training::tuning::neighbours;
    use crate::search::find::training::walk::Simulated;

    /// The bound of a place holds for every variant there, for each neighbour of those, and for
    /// both when they are simulated.
    fn holds(preset: &str, every: usize) -> usize {
        let query = Query::new(Design::from_preset(preset).expect("a preset"));
        let space = Space::laid_out(&query);
        let savers = savers(&space);
        let (mut estimator, mut seen) = (Estimator::new(), 0);
        let (degrees, _) = space.degrees(1);
        for (at, degrees) in degrees.into_iter().step_by(every).enumerate() {
            let sizes = space.micro_batches();
            let place = Place { degrees, micro_batch: sizes[at % sizes.len().min(3)] };
            let room = Room(0.97);
            let one = screened_place(&space, &savers, room, 0.0, &mut estimator, place);
            let Some(one) = one.places.first() else { continue };
            let variants = space.variants(degrees.pp);
            let (legal, _) = space.legal_variants(place, &variants, usize::MAX);
            for (at, variant) in legal.iter().enumerate() {
                let design = space.design(place, *variant);
                let mut all = Vec::from([design.clone()]);
                if at % 5 == 0 {
                    all.extend(neighbours(&space, &savers, &design));
                }
                for (at, design) in all.iter().enumerate() {
                    let closed = estimator.metrics(design).ok();
                    let simulated = (at % 7 == 0).then(|| Simulated::new(&mut estimator, design));
                    let simulated = simulated.flatten().map(|it| it.metrics);
                    for metrics in [closed, simulated].into_iter().flatten() {
                        let speed = metrics.tokens_per_second;
                        let link = || crate::design::link::encode(design);
                        assert!(speed <= one.bound * (1.0 + 1e-9), "{speed} {one:?} {}", link());
                        seen += 1;
                    }
                }
            }
        }
        seen
    }

    #[test]
    fn no_design_of_a_place_is_faster_than_its_bound() {
        let mut seen = 0;
        for (preset, every) in [
            ("pangu-ultra-moe-6k", 97),
            ("deepseek-v3-2k-h800", 61),
            ("qwen3-30b-a3b", 31),
            ("llama-3-70b", 31),
        ] {
            seen += holds(preset, every);
        }
        assert!(seen > 2_000, "{seen}");
    }
}
