//! Metrics and their ranges as data, with the keys that every answer for programs has.

use model::Plan;
use model::metric::{MetricId, MetricValue, Regime};
use model::training::estimate::Metrics;

use crate::typed::{MetricSaid, Named, Real, answers};

answers! {
    /// Where true values lie, and what that rests on.
    struct Range {
        /// With 50 % it is between these, in the metric's unit.
        range_50: [Real; 2],
        /// With 90 % it is between these.
        range_90: [Real; 2],
        /// Shares of held-out runs that were in each.
        coverage: [Real; 2],
        /// Published runs that it rests on.
        rows: u32,
        /// Sources of these.
        sources: u32,
        /// The family of accelerators that they ran on, or `all`.
        family: &'static str,
        /// Whether they are of other families, as there are too few of this one.
        is_borrowed: bool,
    }
}

/// Every metric by its public name.
#[must_use]
pub fn metrics(metrics: &Metrics) -> Named<MetricSaid> {
    Named::of(MetricId::of(Regime::Training).map(|id| {
        let value = match metrics.get(id) {
            Some(MetricValue::Number(value)) => MetricSaid::Number(value),
            Some(MetricValue::Flag(flag)) => MetricSaid::Flag(flag),
            None => MetricSaid::Unknown,
        };
        (id.metric().name, value)
    }))
}

/// The ranges of each metric that published runs tell of, in its own unit.
///
/// A metric that isn't there is an exact count, or no published run has been compared on it.
#[must_use]
pub fn ranges(plan: &Plan, metrics: &Metrics) -> Named<Range> {
    Named::of(MetricId::of(Regime::Training).filter_map(|id| {
        let (range, value) = (model::range(plan, id)?, metrics.number(id)?);
        Some((id.metric().name, self::range(&range, value)))
    }))
}

/// The range of a value.
pub(crate) fn range(range: &model::Range, value: f64) -> Range {
    let basis = range.basis;
    let ends = |factors: [f64; 2]| factors.map(|it| Real(value * it));
    Range {
        range_50: ends(range.half),
        range_90: ends(range.most),
        coverage: basis.coverage.map(Real),
        rows: basis.rows,
        sources: basis.sources,
        family: if basis.family.is_empty() { "all" } else { basis.family },
        is_borrowed: range.is_borrowed(),
    }
}
