//! A design against a baseline: loss, and time to the same loss.

use alloc::vec::Vec;

use super::metric::BudgetMetric;
use super::run::Budget;
use crate::plan::Plan;
use crate::quality::{
    BatchAdvice, Comparison, Leverage, Refusal, Shape, batch_advice, compare, leverage,
};

/// What laws say of a design beside a baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The comparison, or why there is none.
    pub comparison: Result<Comparison, Vec<Refusal>>,
    /// The band of the design's leverage.
    pub leverage: Leverage,
    /// The batch that is advised.
    pub advice: BatchAdvice,
    /// Days to the baseline's loss over the baseline's own days.
    pub relative_time: Option<f64>,
    /// Days of the run less those of the baseline's.
    pub days_difference: Option<f64>,
}

/// Judges a design with its budget beside a baseline with its own; none where the design's tokens
/// aren't known. A baseline without tokens trains on as many.
#[must_use]
pub fn judge(own: (&Plan, &Budget), baseline: (&Plan, &Budget)) -> Option<Judged> {
    let run = &own.0.design().run;
    let tokens = run.train_tokens?;
    let base_tokens = baseline.0.design().run.train_tokens.unwrap_or(tokens);
    let [shape, base] = [own.0, baseline.0].map(Shape::new);
    let comparison = compare((&shape, tokens), (&base, base_tokens), run.unique_tokens);
    let rate = |budget: &Budget| {
        budget.tokens_per_second * budget.get(BudgetMetric::goodput_ratio).unwrap_or(1.0)
    };
    let relative_time =
        comparison.as_ref().ok().and_then(|it| it.relative_time(rate(own.1), rate(baseline.1)));
    let days = |budget: &Budget| budget.get(BudgetMetric::days_to_train);
    Some(Judged {
        leverage: leverage(&shape, tokens),
        advice: batch_advice(&shape, tokens),
        comparison,
        relative_time,
        days_difference: days(own.1).zip(days(baseline.1)).map(|(own, base)| own - base),
    })
}
