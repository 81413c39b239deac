//! How far the memory of a plan is from its limits.

use crate::catalogue::calibration::FRAGMENTATION;
use crate::catalogue::memory_state::{MIN_FITS_PROBABILITY, MIN_UNLIKELY_PROBABILITY, error_of};
use crate::ground::choice::Timing;
use crate::ground::units::Bytes;
use crate::training::estimate::Estimate;
use crate::training::plan::Plan;

impl Plan {
    /// Whether these peaks of device and host memory are within their limits.
    pub(crate) fn fits(&self, device: Bytes, host: Bytes) -> bool {
        device <= self.memory_limit && host <= self.deployment.machine.host_memory
    }

    /// Ratio of the limits of device and host memory to their peaks: the smaller of both; infinite
    /// where nothing is held.
    pub(crate) fn room(&self, [device, host]: [Bytes; 2]) -> f64 {
        (self.memory_limit / device).min(self.deployment.machine.host_memory / host)
    }

    /// Memory that the allocator holds at a peak of this size: the tensors and the reserve, and the
    /// blocks that it keeps beyond them ([`FRAGMENTATION`]).
    ///
    /// A run whose peak is within its memory while this isn't lives on blocks that are given back
    /// and asked for again, which waits for the device, and dies where none is large enough: both
    /// recipes of DeepSeek-V3-16B that need 176 of 178 GiB on eight B200 ran out of memory. How
    /// much such a run loses is published nowhere, so that no time is added.
    #[must_use]
    pub fn held_for(&self, peak: Bytes) -> Bytes {
        peak + peak.beyond(self.reserved) * FRAGMENTATION
    }
}

/// The device memory that the true peak stays below with [`MIN_UNLIKELY_PROBABILITY`] and with
/// [`MIN_FITS_PROBABILITY`]: with a limit below the first a design doesn't fit, with one above the
/// second it does.
#[must_use]
pub fn likely_peaks(plan: &Plan, estimate: &Estimate) -> [Bytes; 2] {
    let shortfall = match estimate.timing {
        Timing::Simulated => 0.0,
        Timing::ClosedForm => plan.schedule.closed_form_shortfall(),
    };
    let peak = estimate.metrics.memory_peak;
    [MIN_UNLIKELY_PROBABILITY, MIN_FITS_PROBABILITY]
        .map(|share| peak * libm::exp(error_of(share) + shortfall))
}
