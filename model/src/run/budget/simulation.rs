//! A run, played failure by failure: how far apart equal runs end.

use alloc::vec::Vec;

use super::recovery::Recovery;
use crate::ground::units::Seconds;
use crate::routing::random::{stream, uniform};

/// Runs that are played.
pub const SIMULATED_RUNS: u64 = 400;

/// Failures of all runs together, at most: with more the run hardly moves.
const MAX_FAILURES: u64 = 2_000_000;

/// Outcomes of equal runs, on the wall clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcomes {
    /// Time before which one run of ten ends.
    pub early: Seconds,
    /// Half of the runs end earlier.
    pub median: Seconds,
    /// Time before which nine runs of ten end.
    pub late: Seconds,
    /// The mean.
    pub mean: Seconds,
    /// The share of runs that end within the limit; one without a limit.
    pub in_time: f64,
    /// Failures of a run, the mean.
    pub failures: f64,
}

/// Plays a run of so much training several times, with so much of it between two checkpoints.
///
/// The gaps between failures are drawn from the exponential distribution by a counter, so that the
/// same seed gives the same bits everywhere. What lies between two failures is counted and not
/// stepped through. `None` if the runs hardly move.
#[must_use]
pub fn outcomes(
    recovery: &Recovery,
    training: Seconds,
    interval: Seconds,
    limit: Option<Seconds>,
    seed: u64,
) -> Option<Outcomes> {
    let mut budget = MAX_FAILURES;
    let mut failures = 0;
    let mut ends = Vec::with_capacity(SIMULATED_RUNS as usize);
    for number in 0..SIMULATED_RUNS {
        let (end, failed) = play(recovery, training, interval, stream(&[seed, number]), budget)?;
        budget -= failed;
        failures += failed;
        ends.push(end);
    }
    ends.sort_by(|one: &Seconds, other| one.get().total_cmp(&other.get()));
    let at = |share: f64| ends[((SIMULATED_RUNS - 1) as f64 * share) as usize];
    let in_time = limit.map_or(1.0, |limit| {
        ends.iter().filter(|end| **end <= limit).count() as f64 / SIMULATED_RUNS as f64
    });
    Some(Outcomes {
        early: at(0.1),
        median: at(0.5),
        late: at(0.9),
        mean: ends.iter().copied().sum::<Seconds>() / SIMULATED_RUNS as f64,
        in_time,
        failures: failures as f64 / SIMULATED_RUNS as f64,
    })
}

/// One run: when it ends, and how often it failed. The exponential has no memory, so that a gap is
/// drawn anew after a restart.
fn play(
    recovery: &Recovery,
    training: Seconds,
    interval: Seconds,
    stream: u64,
    most: u64,
) -> Option<(Seconds, u64)> {
    let cycle = interval + recovery.stall;
    let (mut clock, mut kept, mut failures) = (Seconds::ZERO, Seconds::ZERO, 0);
    let mut draws = 0;
    let mut gap = || {
        draws += 1;
        recovery.between_failures * -libm::log(uniform(stream, draws))
    };
    loop {
        // What is left, with the stalls on the way: the end itself needs no checkpoint.
        let left = training - kept;
        let stalls = libm::ceil(left / interval) - 1.0;
        let needed = left + recovery.stall * stalls;
        let ran = gap();
        if ran >= needed {
            return Some((clock + needed, failures));
        }
        let first = cycle + recovery.behind;
        if ran >= first {
            kept += interval * (1.0 + libm::floor((ran - first) / cycle));
        }
        clock += ran;
        failures += 1;
        // A restart fails, too.
        loop {
            let ran = gap();
            if ran >= recovery.restart {
                clock += recovery.restart;
                break;
            }
            clock += ran;
            failures += 1;
            if failures >= most {
                return None;
            }
        }
        if failures >= most {
            return None;
        }
    }
}
