//! A design against a baseline: loss, and time to the same loss.

use alloc::vec::Vec;

use super::metric::BudgetMetric;
use super::run::Budget;
use crate::run::quality::{
    BatchAdvice, Comparison, Leverage, QualityMetric, Refusal, Shape, batch_advice, compare,
    leverage,
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
    let days = |budget: &Budget| budget.get(BudgetMetric::days_to_train);
    Some(Judged {
        leverage: leverage(&shape, tokens),
        advice: batch_advice(&shape, tokens),
        comparison,
        relative_time,
        days_difference: days(own.1).zip(days(baseline.1)).map(|(own, base)| own - base),
    })
}

/// A design with its budget against a baseline with its own: the numbers of sweeps.
#[derive(Clone, Copy, Debug)]
pub struct Contest<'a> {
    own: (&'a Plan, &'a Budget),
    baseline: (&'a Plan, &'a Budget),
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
    pub fn number(&self, metric: QualityMetric) -> Result<f64, &'static str> {
        let tokens = self.own.0.design().run.train_tokens.ok_or("unknown_tokens")?;
        let base_tokens = self.baseline.0.design().run.train_tokens.unwrap_or(tokens);
        match metric {
            QualityMetric::loss_difference_at_equal_time => {
                self.difference(base_tokens * self.speed(), base_tokens)
            }
            QualityMetric::loss_difference_at_equal_cost => {
                self.difference(base_tokens * self.speed() / self.price(), base_tokens)
            }
            QualityMetric::time_to_equal_loss => {
                Ok(self.tokens_to_equal(tokens, base_tokens)?[0] / self.speed())
            }
            QualityMetric::cost_to_equal_loss => {
                let time = self.tokens_to_equal(tokens, base_tokens)?[0] / self.speed();
                Ok(time * self.price())
            }
            QualityMetric::tokens_to_equal_loss => {
                Ok(self.tokens_to_equal(tokens, base_tokens)?[0])
            }
            QualityMetric::tokens_to_equal_loss_min => {
                Ok(self.tokens_to_equal(tokens, base_tokens)?[1])
            }
            QualityMetric::tokens_to_equal_loss_max => {
                Ok(self.tokens_to_equal(tokens, base_tokens)?[2])
            }
            QualityMetric::loss_difference => self.difference(tokens, base_tokens),
            QualityMetric::loss_difference_min => {
                let found = self.compare(tokens, base_tokens)?;
                Ok(found.map_or(0.0, |it| it.loss_difference.min))
            }
            QualityMetric::loss_difference_max => {
                let found = self.compare(tokens, base_tokens)?;
                Ok(found.map_or(0.0, |it| it.loss_difference.max))
            }
            QualityMetric::loss_difference_is_tie => {
                let found = self.compare(tokens, base_tokens)?;
                Ok(found.map_or(1.0, |it| f64::from(u8::from(!it.is_ranked()))))
            }
        }
    }

    /// Comparison after these tokens of each; `None` where the laws see no difference.
    fn compare(&self, tokens: f64, base_tokens: f64) -> Result<Option<Comparison>, &'static str> {
        let [shape, base] = [self.own.0, self.baseline.0].map(Shape::new);
        let unique = self.own.0.design().run.unique_tokens;
        match compare((&shape, tokens), (&base, base_tokens), unique) {
            Ok(found) => Ok(Some(found)),
            Err(refusals) if refusals == [Refusal::NothingSeen] => Ok(None),
            Err(refusals) => Err(refusals.first().map_or("unknown", |it| it.name())),
        }
    }

    fn difference(&self, tokens: f64, base_tokens: f64) -> Result<f64, &'static str> {
        Ok(self.compare(tokens, base_tokens)?.map_or(0.0, |it| it.loss_difference.median))
    }

    /// Tokens to equal loss: the median, the least and the largest.
    fn tokens_to_equal(&self, tokens: f64, base_tokens: f64) -> Result<[f64; 3], &'static str> {
        let Some(found) = self.compare(tokens, base_tokens)? else { return Ok([1.0; 3]) };
        let factors = found.tokens_to_equal_loss.ok_or("loss_out_of_reach")?;
        Ok([factors.median, factors.min, factors.max])
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
    budget.tokens_per_second * budget.get(BudgetMetric::goodput_ratio).unwrap_or(1.0)
}
