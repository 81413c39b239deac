//! A design against a baseline: loss, and time to the same loss.

use alloc::vec::Vec;

use super::run::Budget;
use crate::metric::{MetricId, QualityMetrics};
use crate::run::quality::{
    BatchAdvice, Comparison, Leverage, Refusal, Shape, Spread, batch_advice, compare, leverage,
};
use crate::training::plan::Plan;

/// Results of the scaling laws for a design beside a baseline.
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

/// Judges a design with its budget beside a baseline with its own; `None` if the design's tokens
/// aren't known. A baseline without tokens trains on as many.
#[must_use]
pub fn judge(own: (&Plan, &Budget), baseline: (&Plan, &Budget)) -> Option<Judged> {
    let run = &own.0.design().run;
    let tokens = run.train_tokens?;
    let base_tokens = baseline.0.design().run.train_tokens.unwrap_or(tokens);
    let [shape, base] = [own.0, baseline.0].map(Shape::new);
    let comparison = compare((&shape, tokens), (&base, base_tokens), run.unique_tokens);
    let relative_time =
        comparison.as_ref().ok().and_then(|it| it.relative_time(rate(own.1), rate(baseline.1)));
    let days = |budget: &Budget| budget.get(MetricId::days_to_train);
    Some(Judged {
        leverage: leverage(&shape, tokens),
        advice: batch_advice(&shape, tokens),
        comparison,
        relative_time,
        days_difference: days(own.1).zip(days(baseline.1)).map(|(own, base)| own - base),
    })
}

/// The tokens that a design and its baseline train on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tokens {
    pub(super) own: f64,
    pub(super) baseline: f64,
}

/// A metric of a design beside its baseline, or the name of what keeps it from being known.
type Value = fn(&Contest<'_>, Tokens) -> Result<f64, &'static str>;

/// Formula of each metric.
const VALUES: QualityMetrics<Value> = QualityMetrics {
    loss_difference: |of, tokens| of.difference(tokens),
    loss_difference_min: |of, tokens| Ok(of.losses(tokens)?.min),
    loss_difference_max: |of, tokens| Ok(of.losses(tokens)?.max),
    loss_difference_is_tie: |of, tokens| {
        let found = of.compare(tokens)?;
        Ok(found.map_or(1.0, |found| f64::from(u8::from(!found.is_ranked()))))
    },
    tokens_to_equal_loss: |of, tokens| Ok(of.tokens_to_equal(tokens)?.median),
    tokens_to_equal_loss_min: |of, tokens| Ok(of.tokens_to_equal(tokens)?.min),
    tokens_to_equal_loss_max: |of, tokens| Ok(of.tokens_to_equal(tokens)?.max),
    time_to_equal_loss: |of, tokens| of.time_to_equal(tokens),
    cost_to_equal_loss: |of, tokens| Ok(of.time_to_equal(tokens)? * of.price()),
    loss_difference_at_equal_time: |of, tokens| of.difference(of.in_equal_time(tokens)),
    loss_difference_at_equal_cost: |of, tokens| of.difference(of.at_equal_cost(tokens)),
};

/// A design with its budget against a baseline with its own: the numbers of sweeps.
#[derive(Clone, Copy, Debug)]
pub struct Contest<'a> {
    pub(super) own: (&'a Plan, &'a Budget),
    pub(super) baseline: (&'a Plan, &'a Budget),
}

impl<'a> Contest<'a> {
    /// A design against a baseline.
    #[must_use]
    pub const fn new(own: (&'a Plan, &'a Budget), baseline: (&'a Plan, &'a Budget)) -> Self {
        Self { own, baseline }
    }

    /// The value of a metric. A baseline without tokens trains on as many as the design; two models
    /// that the laws see alike are a tie of no difference.
    ///
    /// # Errors
    /// The name of what keeps it from being known.
    pub fn number(&self, metric: MetricId) -> Result<f64, &'static str> {
        let value = VALUES.get(metric).ok_or("not_a_metric_of_quality")?;
        value(self, self.tokens()?)
    }

    /// The tokens that both train on.
    pub(super) fn tokens(&self) -> Result<Tokens, &'static str> {
        let own = self.own.0.design().run.train_tokens.ok_or("unknown_tokens")?;
        let baseline = self.baseline.0.design().run.train_tokens.unwrap_or(own);
        Ok(Tokens { own, baseline })
    }

    /// Comparison by the laws after this many tokens of each; `None` if they see no difference.
    pub(super) fn compare(&self, tokens: Tokens) -> Result<Option<Comparison>, &'static str> {
        let [shape, base] = [self.own.0, self.baseline.0].map(Shape::new);
        let unique = self.own.0.design().run.unique_tokens;
        match compare((&shape, tokens.own), (&base, tokens.baseline), unique) {
            Ok(found) => Ok(Some(found)),
            Err(refusals) if refusals == [Refusal::NothingSeen] => Ok(None),
            Err(refusals) => Err(refusals.first().map_or("unknown", |it| it.name())),
        }
    }

    fn difference(&self, tokens: Tokens) -> Result<f64, &'static str> {
        Ok(self.losses(tokens)?.median)
    }

    /// Loss less that of the baseline by the laws.
    fn losses(&self, tokens: Tokens) -> Result<Spread, &'static str> {
        Ok(self.compare(tokens)?.map_or(Spread::of_one(0.0), |found| found.loss_difference))
    }

    /// Tokens to equal loss by the laws.
    fn tokens_to_equal(&self, tokens: Tokens) -> Result<Spread, &'static str> {
        let Some(found) = self.compare(tokens)? else { return Ok(Spread::of_one(1.0)) };
        found.tokens_to_equal_loss.ok_or("loss_out_of_reach")
    }

    fn time_to_equal(&self, tokens: Tokens) -> Result<f64, &'static str> {
        Ok(self.tokens_to_equal(tokens)?.median / self.speed())
    }

    /// Tokens where the design trains as long as the baseline.
    pub(super) fn in_equal_time(&self, tokens: Tokens) -> Tokens {
        Tokens { own: tokens.baseline * self.speed(), ..tokens }
    }

    /// Tokens where the design trains for the baseline's money.
    pub(super) fn at_equal_cost(&self, tokens: Tokens) -> Tokens {
        Tokens { own: tokens.baseline * self.speed() / self.price(), ..tokens }
    }

    /// Tokens a second over those of the baseline, goodput among them.
    fn speed(&self) -> f64 {
        rate(self.own.1) / rate(self.baseline.1)
    }

    /// Price of a second over that of the baseline; of the devices where one isn't known.
    fn price(&self) -> f64 {
        let [own, base] = [self.own.0, self.baseline.0].map(|plan| {
            let (run, devices) = (&plan.design().run, plan.design().cluster.num_devices);
            ((devices + run.spare_devices) as f64, run.price_per_device_hour)
        });
        let each = own.1.zip(base.1).map_or(1.0, |(own, base)| own / base);
        own.0 / base.0 * each
    }
}

/// Tokens a second as they count: goodput among them where it is known.
fn rate(budget: &Budget) -> f64 {
    budget.tokens_per_second * budget.get(MetricId::goodput_ratio).unwrap_or(1.0)
}
