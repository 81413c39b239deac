//! Goodput where failures or storage aren't known.

use alloc::vec::Vec;

use super::checkpoint::{Checkpoint, Writing};
use super::recovery::Recovery;
use crate::design::Run;
use crate::ground::units::Seconds;
use crate::training::plan::Plan;

/// Device-hours between failures: a decade to either side of what is published.
const MTBF: [f64; 7] = [5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5];

/// Rates of checkpoints, GB/s: from one file server to the largest storage that is published.
const RATES: [f64; 8] = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0, 3_000.0];

/// One point of the surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Device-hours between failures.
    pub mtbf_device_hours: f64,
    /// GB/s of all devices together.
    pub checkpoint_gb_per_sec: f64,
    /// Share of the wall clock that trains.
    pub goodput: f64,
    /// Training between two checkpoints.
    pub interval: Seconds,
}

/// Goodput over failures and the rate of checkpoints.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Device-hours between failures, ascending.
    pub mtbf: &'static [f64],
    /// Rates, ascending.
    pub rates: &'static [f64],
    /// A row of rates for each of the first.
    pub cells: Vec<Cell>,
}

/// The surface of a plan whose step takes so long, each point at its best interval or at the
/// design's own.
#[must_use]
pub fn surface(plan: &Plan, step: Seconds) -> Surface {
    let run = &plan.design().run;
    let checkpoint = Checkpoint::new(plan);
    let devices = plan.design().cluster.num_devices as f64;
    let cell = |hours: f64, rate: f64| {
        let own = Run { checkpoint_gb_per_sec: Some(rate), ..run.clone() };
        let Writing { stall, behind } = checkpoint.writing(&own).unwrap_or_default();
        let recovery = Recovery {
            between_failures: Seconds::new(hours * 3_600.0 / devices),
            stall,
            behind,
            restart: Seconds::new(run.restart_seconds),
            least_interval: step,
        };
        let asked = run.checkpoint_interval_seconds.map(Seconds::new);
        let asked = asked.unwrap_or_else(|| recovery.best_interval());
        let interval = asked.max(recovery.shortest_interval());
        let goodput = recovery.ratios(interval).goodput;
        Cell { mtbf_device_hours: hours, checkpoint_gb_per_sec: rate, goodput, interval }
    };
    let cells = MTBF.iter().flat_map(|hours| RATES.iter().map(move |rate| (*hours, *rate)));
    let cells = cells.map(|(hours, rate)| cell(hours, rate)).collect();
    Surface { mtbf: &MTBF, rates: &RATES, cells }
}
