//! Cost of a sweep, from a small part of it.

use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use reports::typed::Real;
use schemars::JsonSchema;
use sweep::{Outcome, Space};

/// Parts of a sweep that are tried, spread over it.
const SAMPLED_PARTS: u64 = 32;

/// Places of a part that are tried first.
const FIRST_PART_POINTS: u64 = 256;

/// Places that are tried before the clock is looked at: a design may take its time.
const CLOCK_CHECK_POINTS: u64 = 16;

/// Time after which no further place is tried.
const TIME_BUDGET: Duration = Duration::from_millis(100);

/// Places of a sweep that are all counted, whatever that takes up to [`MAX_COUNT_SECONDS`].
const MAX_COUNTED_POINTS: u64 = 20_000;

/// A sweep of more places is counted in full where that is expected to take less.
const MAX_SECONDS: f64 = 1.0;

/// Longest expected time to count a sweep of few places in full: a slow machine counts them, too.
const MAX_COUNT_SECONDS: f64 = 5.0;

/// Computing time of a chunk: short, so that others get their turn and a stop is quick.
const CHUNK_SECONDS: f64 = 0.04;

/// Places of a chunk of a sweep that refines, at most: their designs fit into a message of NATS.
const MAX_PICKED: u64 = 8_192;

reports::said! {
    /// Cost of a sweep, by a timed part of it.
    #[derive(Clone, Debug, JsonSchema)]
    pub(crate) struct Cost {
        /// Designs of the space.
        designs: u64,
        /// Designs that would be taken.
        asked: u64,
        /// Designs that the model has an estimate for, about.
        about_legal: Real,
        /// Designs that keep all constraints, about.
        about_feasible: Real,
        /// Seconds on all of the server's threads, about.
        about_seconds: Real,
        /// Designs that this was found out with.
        tried: u64,
        /// Whether these were all, so that the counts are exact.
        counted: bool,
    }
}

/// Speed at which designs of a sweep are evaluated, and how many are legal, by a part of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpeedSample {
    places: u64,
    legal: u64,
    feasible: u64,
    seconds: f64,
}

impl SpeedSample {
    /// Evaluates a few designs and looks at the clock.
    pub(crate) fn measure(space: &Space) -> Self {
        Self::measure_parts(space).0
    }

    /// Counts every design of a sweep that is small enough; of others it tries a few.
    pub(crate) fn measure_or_count(space: &Space) -> Self {
        let (mut sample, open) = Self::measure_parts(space);
        let places = space.num_points();
        let most = if places <= MAX_COUNTED_POINTS { MAX_COUNT_SECONDS } else { MAX_SECONDS };
        // Which designs a sweep that refines takes follows from what it finds.
        let refines = space.spec().sampling.is_refined();
        if !refines && sample.seconds(places as f64) <= most {
            open.into_iter().for_each(|part| sample.look_at(space, part));
        }
        sample
    }

    /// Sample of a few designs, and the places that they leave.
    fn measure_parts(space: &Space) -> (Self, Vec<Range<u64>>) {
        let mut sample = Self { places: 0, legal: 0, feasible: 0, seconds: 0.0 };
        sweep::prepare(space);
        let all = space.num_points();
        let edge =
            |part: u64| (u128::from(all) * u128::from(part) / u128::from(SAMPLED_PARTS)) as u64;
        let mut open = Vec::new();
        for run in 0..SAMPLED_PARTS {
            // Parts from both ends towards the middle: a sweep's beginning may be like no other.
            let part = run * 13 % SAMPLED_PARTS;
            let (start, end) = (edge(part), edge(part + 1));
            let last = (start + FIRST_PART_POINTS).min(end);
            let mut tried = start;
            while tried < last && sample.seconds <= TIME_BUDGET.as_secs_f64() {
                let step = if space.spec().find.is_some() { 1 } else { CLOCK_CHECK_POINTS };
                let next = (tried + step).min(last);
                sample.look_at(space, tried..next);
                tried = next;
            }
            if tried < end {
                open.push(tried..end);
            }
        }
        (sample, open)
    }

    /// Evaluates these places.
    fn look_at(&mut self, space: &Space, places: Range<u64>) {
        let (start, stop) = (Instant::now(), AtomicBool::new(false));
        sweep::outcomes(space, places.clone(), &stop, |outcome| {
            if let Outcome::Legal { broken, .. } = outcome {
                self.legal += 1;
                self.feasible += u64::from(broken.is_none());
            }
        });
        self.places += places.end - places.start;
        self.seconds += start.elapsed().as_secs_f64();
    }

    /// Seconds for that many places at random. What rules a design out takes next to no time.
    fn seconds(&self, places: f64) -> f64 {
        self.seconds / self.places.max(1) as f64 * places
    }

    /// Seconds for that many legal designs.
    fn seconds_of_legal(&self, designs: f64) -> f64 {
        self.seconds / self.legal.max(1) as f64 * designs
    }

    /// Places of a chunk.
    pub(crate) fn chunk(&self, space: &Space) -> u64 {
        let refines = space.spec().sampling.is_refined();
        let each = if refines { self.seconds_of_legal(1.0) } else { self.seconds(1.0) };
        let most = if refines { MAX_PICKED } else { 1 << 20 };
        // A search for each design is long by itself.
        let least = if space.spec().find.is_some() { 1 } else { 16 };
        ((CHUNK_SECONDS / each.max(1e-9)) as u64).clamp(least, most)
    }

    /// Cost before a sweep starts: counts, and about how long that many threads take.
    pub(crate) fn report(&self, space: &Space, threads: usize) -> Cost {
        let share = |count: u64, of: u64| count as f64 / of.max(1) as f64;
        // Behind the first round of a sweep that refines all designs are legal.
        let near = (space.num_points() - space.random_places()) as f64;
        let random = space.random_places() as f64;
        let counted = self.places == space.num_points() && near <= 0.0;
        let legal = share(self.legal, self.places) * random + near;
        let feasible = share(self.feasible, self.legal) * legal;
        let [legal, feasible] = match counted {
            true => [self.legal as f64, self.feasible as f64],
            false => [legal, feasible],
        };
        let seconds = (self.seconds(random) + self.seconds_of_legal(near)) / threads as f64;
        Cost {
            designs: space.size(),
            asked: space.num_points(),
            about_legal: Real(legal.round()),
            about_feasible: Real(feasible.round()),
            about_seconds: Real(seconds),
            tried: self.places,
            counted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_sweep_is_counted_to_the_design_and_always_the_same() {
        let text = r#"{"schema":1,"design":{"schedule":{"timing":"closed_form"}},
            "space":{"tp":[1,2,4,8],"pp":[4,8,16],"vpp":[1,2,4],"ep":[8,16,32],"mbs":[1,2],
            "noop_layers":{"fill":"chunks"}}}"#;
        let space = Space::new(sweep::Spec::from_json(text).unwrap()).unwrap();
        let whole =
            sweep::evaluate(&space, 0..space.num_points(), &AtomicBool::new(false)).unwrap();
        for _ in 0..3 {
            let report = SpeedSample::measure_or_count(&space).report(&space, 1);
            assert!(report.counted);
            assert_eq!(report.tried, space.num_points());
            assert_eq!(report.about_legal, Real(whole.legal as f64));
            assert_eq!(report.about_feasible, Real(whole.feasible as f64));
        }
    }

    #[test]
    fn no_design_is_tried_twice() {
        let text = r#"{"schema":1,"space":{"tp":[1,2,4,8],"mbs":{"from":1,"to":77}},
            "design":{"schedule":{"timing":"closed_form"}}}"#;
        let space = Space::new(sweep::Spec::from_json(text).unwrap()).unwrap();
        let (sample, open) = SpeedSample::measure_parts(&space);
        let left: u64 = open.iter().map(|part| part.end - part.start).sum();
        assert_eq!(sample.places + left, space.num_points());
    }
}
