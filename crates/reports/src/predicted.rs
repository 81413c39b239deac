//! Metrics and their ranges as data, with the keys that every answer for programs has.

use model::Plan;
use model::estimate::Metrics;
use model::file::Tree;
use model::metric::{MetricId, MetricValue};

/// Every metric by its public name.
#[must_use]
pub fn metrics(metrics: &Metrics) -> Tree {
    Tree::map(MetricId::ALL.iter().map(|id| {
        let value = match metrics.get(*id) {
            MetricValue::Number(value) => Tree::number(value),
            MetricValue::Flag(flag) => Tree::Flag(flag),
        };
        (id.metric().name, value)
    }))
}

/// The ranges of each metric that published runs tell of, in its own unit.
///
/// A metric that isn't there is an exact count, or no published run has been compared on it.
#[must_use]
pub fn ranges(plan: &Plan, metrics: &Metrics) -> Tree {
    Tree::map(MetricId::ALL.iter().filter_map(|id| {
        let range = model::range(plan, *id)?;
        let MetricValue::Number(value) = metrics.get(*id) else { return None };
        let basis = range.basis;
        let family = if basis.family.is_empty() { "all" } else { basis.family };
        let ends =
            |factors: [f64; 2]| Tree::List(factors.map(|it| Tree::Real(value * it)).to_vec());
        let entry = Tree::map([
            ("range_50", ends(range.half)),
            ("range_90", ends(range.most)),
            ("coverage", Tree::List(basis.coverage.map(Tree::Real).to_vec())),
            ("rows", Tree::Unsigned(basis.rows.into())),
            ("sources", Tree::Unsigned(basis.sources.into())),
            ("family", family.into()),
            ("is_borrowed", Tree::Flag(range.is_borrowed())),
        ]);
        Some((id.metric().name, entry))
    }))
}
