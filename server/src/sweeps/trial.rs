//! What a sweep will cost, from a small part of it.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use model::file::Tree;
use sweep::{Outcome, Space};

/// Parts of a sweep that are tried, spread over it.
const RUNS: u64 = 32;

/// Places of a part.
const PLACES: u64 = 256;

/// Time after which no further part is tried.
const ENOUGH: Duration = Duration::from_millis(100);

/// Computing time of a chunk: short, so that others get their turn and a stop is quick.
const CHUNK_SECONDS: f64 = 0.04;

/// Places of a chunk of a sweep that refines, at most: their designs fit into a message of NATS.
const MOST_PICKED: u64 = 8_192;

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    places: u64,
    legal: u64,
    feasible: u64,
    seconds: f64,
}

impl Trial {
    /// Evaluates a few designs and looks at the clock.
    pub(crate) fn of(space: &Space) -> Self {
        let mut trial = Self { places: 0, legal: 0, feasible: 0, seconds: 0.0 };
        let (all, stop) = (space.places(), AtomicBool::new(false));
        let start = Instant::now();
        for run in 0..RUNS {
            // Parts from both ends towards the middle: a sweep's beginning may be like no other.
            let spread = (u128::from(all) * u128::from(run * 13 % RUNS) / u128::from(RUNS)) as u64;
            let end = (spread + PLACES).min(all);
            sweep::outcomes(space, spread..end, &stop, |outcome| {
                if let Outcome::Legal { broken, .. } = outcome {
                    trial.legal += 1;
                    trial.feasible += u64::from(broken.is_none());
                }
            });
            trial.places += end - spread;
            trial.seconds = start.elapsed().as_secs_f64();
            if start.elapsed() > ENOUGH {
                break;
            }
        }
        trial
    }

    /// Of so many places at random. What rules a design out takes next to no time.
    fn seconds(&self, places: f64) -> f64 {
        self.seconds / self.places.max(1) as f64 * places
    }

    /// Of so many legal designs.
    fn seconds_of_legal(&self, designs: f64) -> f64 {
        self.seconds / self.legal.max(1) as f64 * designs
    }

    /// Places of a chunk.
    pub(crate) fn chunk(&self, space: &Space) -> u64 {
        let refines = space.spec().sampling.is_refined();
        let each = if refines { self.seconds_of_legal(1.0) } else { self.seconds(1.0) };
        let most = if refines { MOST_PICKED } else { 1 << 20 };
        ((CHUNK_SECONDS / each.max(1e-9)) as u64).clamp(16, most)
    }

    /// What can be said before a sweep starts: counts, and about how long so many threads take.
    pub(crate) fn report(&self, space: &Space, threads: usize) -> Tree {
        let share = |count: u64, of: u64| count as f64 / of.max(1) as f64;
        // Behind the first round of a sweep that refines all designs are legal.
        let near = (space.places() - space.random_places()) as f64;
        let random = space.random_places() as f64;
        let legal = share(self.legal, self.places) * random + near;
        let feasible = share(self.feasible, self.legal) * legal;
        let seconds = (self.seconds(random) + self.seconds_of_legal(near)) / threads as f64;
        Tree::map([
            ("designs", Tree::Unsigned(space.size())),
            ("asked", Tree::Unsigned(space.places())),
            ("about_legal", Tree::Real(legal.round())),
            ("about_feasible", Tree::Real(feasible.round())),
            ("about_seconds", Tree::Real(seconds)),
            ("tried", Tree::Unsigned(self.places)),
        ])
    }
}
