//! How far an estimate may be off, from published runs of sources that no constant was fitted on:
//! whoever asks the model is a new source.

use crate::catalogue::calibration::{MEMORY_SPREAD, ModelKind, PAIR_SPREAD, SPREADS, Spread};
use crate::ground::choice::Timing;
use crate::metric::{Basis, MetricId};
use crate::training::pipeline_schedule::PipelineSchedule;
use crate::training::plan::Plan;

/// Sources below which a family's own errors say too little of the next source.
pub const MIN_SOURCES: u32 = 4;

/// Where the true value lies, as factors on the predicted one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Ends of the range that holds it with 50 %.
    pub half: [f64; 2],
    /// Ends of the range that holds it with 90 %.
    pub most: [f64; 2],
    /// The errors behind it.
    pub basis: &'static Spread,
    /// The plan's family of accelerators.
    pub family: &'static str,
}

impl Range {
    /// Whether the basis is another one than runs of this family and kind, as too few sources have
    /// those.
    #[must_use]
    pub const fn is_borrowed(&self) -> bool {
        self.basis.family.is_empty() && self.basis.is_of_time
    }
}

/// The range of a metric, or `None` if it is a count, or nothing published tells.
///
/// A step takes e^x times as long as predicted, x the error ln(measured / predicted) of left-out
/// sources; what is a rate is e^-x times as high. The errors are those of the plan's family of
/// accelerators and kind of model; with fewer than [`MIN_SOURCES`] sources there, those of all
/// families.
#[must_use]
pub fn range(plan: &Plan, metric: MetricId) -> Option<Range> {
    let family = plan.deployment.accelerator.kernels.family;
    match metric.metric().basis {
        Basis::Memory => Some(memory_range(&plan.schedule, family)),
        basis => followed(time_spread(family, plan.model_kind()), basis, family),
    }
}

impl Plan {
    /// The kind of its model, as far as errors are known by it.
    #[must_use]
    pub fn model_kind(&self) -> ModelKind {
        match (self.architecture.is_mixed, self.has_experts()) {
            (true, _) => ModelKind::Mixed,
            (false, true) => ModelKind::Experts,
            (false, false) => ModelKind::Dense,
        }
    }
}

/// The range that errors ln(measured / predicted) of times give a metric that follows them.
pub(crate) fn followed(
    spread: &'static Spread,
    basis: Basis,
    family: &'static str,
) -> Option<Range> {
    let logarithms: fn([f64; 2]) -> [f64; 2] = match basis {
        Basis::Time => |ends| ends,
        Basis::Rate => |[low, high]| [-high, -low],
        Basis::Memory | Basis::Verdict | Basis::Exact | Basis::Derived => return None,
    };
    let [half, most] = [spread.half, spread.most].map(|ends| logarithms(ends).map(libm::exp));
    Some(Range { half, most, basis: spread, family })
}

/// Errors of the step time of models of this kind on this family of accelerators.
fn time_spread(family: &str, kind: ModelKind) -> &'static Spread {
    let of =
        |family: &str| SPREADS.iter().find(|spread| spread.family == family && spread.kind == kind);
    let own = of(family).filter(|own| own.sources >= MIN_SOURCES);
    own.or_else(|| of("")).unwrap_or(&SPREADS[0])
}

/// The peak's range: its quantiles, and above them what a closed form may miss of the simulation.
fn memory_range(schedule: &PipelineSchedule, family: &'static str) -> Range {
    let shortfall = match schedule.timing {
        Timing::Simulated => 0.0,
        Timing::ClosedForm => schedule.closed_form_shortfall(),
    };
    let [half, most] = [MEMORY_SPREAD.half, MEMORY_SPREAD.most]
        .map(|[low, high]| [libm::exp(low), libm::exp(high + shortfall)]);
    Range { half, most, basis: &MEMORY_SPREAD, family }
}

/// The probability that of two designs the one that is predicted to be faster is.
///
/// `log_ratio` is the logarithm of the ratio of the predicted speeds. Errors of alike designs
/// ([`are_alike`]) are mostly shared: how far ratios were off is known from pairs of runs of one
/// source. Others have errors that have
/// nothing to do with one another, which add up as the legs of a right triangle.
///
/// With F the share of errors below |`log_ratio`|, it is 1/2 + F/2: an error of either sign is as
/// likely. F is linear up to the median and 1 - e^-x/2 beyond it, through the 90th percentile.
#[must_use]
pub fn probability_of_order(one: &Plan, other: &Plan, log_ratio: f64) -> f64 {
    let [half, most] = if are_alike(one, other) {
        [PAIR_SPREAD.half[1], PAIR_SPREAD.most[1]]
    } else {
        let spreads = [one, other]
            .map(|plan| time_spread(plan.deployment.accelerator.kernels.family, plan.model_kind()));
        let legs = |width: fn(&Spread) -> f64| {
            let [one, other] = spreads.map(width);
            libm::sqrt(one * one + other * other)
        };
        [
            legs(|spread| (spread.half[1] - spread.half[0]) / 2.0),
            legs(|spread| (spread.most[1] - spread.most[0]) / 2.0),
        ]
    };
    0.5 + share_within(libm::fabs(log_ratio), half, most) / 2.0
}

/// The share of errors within `size`, of which half are within `half` and nine of ten in `most`.
fn share_within(size: f64, half: f64, most: f64) -> f64 {
    if size <= half {
        return 0.5 * size / half;
    }
    let slope = libm::log(5.0) / (most - half);
    1.0 - 0.5 * libm::exp(-slope * (size - half))
}

/// Do two designs share most of their error: one model on as many of one accelerator, in one number
/// format, by one framework with one state of its software?
#[must_use]
pub fn are_alike(one: &Plan, other: &Plan) -> bool {
    let [one, other] = [one.design(), other.design()];
    one.transformer == other.transformer
        && one.cluster.accelerator == other.cluster.accelerator
        && one.cluster.num_devices == other.cluster.num_devices
        && one.training.precision == other.training.precision
        && one.kernel.framework == other.kernel.framework
        && one.kernel.software == other.kernel.software
}
