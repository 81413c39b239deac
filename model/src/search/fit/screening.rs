//! A quick look at a design: does it come near to fitting, and how fast would it be?

use crate::design::Design;
use crate::device::topology::Machine;
use crate::ground::choice::Timing;
use crate::ground::units::Bytes;
use crate::training::estimate::Estimate;
use crate::training::plan::Plan;
use crate::training::step::estimate;

/// Fill of a memory, by the closed form, up to which a design is looked at closer: the peak of a
/// simulated step may differ a little from the formula.
pub(crate) const MAX_SCREENED_FILL: f64 = 1.05;

/// A variant of the plan's design by the closed form; one whose schedule has none as it is timed.
/// Nothing when it is illegal.
pub(crate) fn screened(plan: &Plan, design: &Design) -> Option<(Plan, Estimate)> {
    let mut quick = design.clone();
    quick.schedule.timing = Timing::ClosedForm;
    let plan = plan.variant(&quick).or_else(|_| plan.variant(design)).ok()?;
    let estimate = estimate(&plan);
    Some((plan, estimate))
}

/// Fill of the fuller of device and host memory on the fullest stage: a design fits up to one.
pub(crate) fn pressure(machine: &Machine, estimate: &Estimate) -> f64 {
    let metrics = &estimate.metrics;
    let host = estimate.stages.iter().map(|stage| stage.host_memory).fold(Bytes::ZERO, Bytes::max);
    let device = metrics.memory_peak / metrics.memory_limit;
    device.max(host / machine.host_memory)
}
