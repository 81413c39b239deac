//! Answer: a plan with what it gives, of any regime: its values, their ranges and where each comes
//! from.
//!
//! From ground to roof: a module imports only those above it.

pub mod microbench;
pub mod explain;
pub mod in_effect;
pub mod ledger;
pub mod loads;
pub mod roofline;
pub mod constants;

use crate::metric::breakdown::Breakdown;
use crate::metric::{MetricId, MetricValue, Regime};
use crate::run::budget::{Budget, Contest, Costed, budget_range};
use crate::serving::{self, Inference, ServingPlan};
use crate::training::estimate::Estimate;
use crate::training::plan::Plan;
use crate::training::range::{Range, range};

/// A plan with what it gives.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'a> {
    /// A step of training.
    Training {
        /// The plan.
        plan: &'a Plan,
        /// Its estimate.
        estimate: &'a Estimate,
    },
    /// Requests that are answered.
    Serving {
        /// The plan.
        plan: &'a ServingPlan,
        /// Its inference.
        inference: &'a Inference,
    },
    /// A training run.
    Budget {
        /// The plan of its step.
        plan: &'a Plan,
        /// Budget of the run.
        budget: &'a Budget,
    },
    /// A trained model beside a baseline.
    Quality(Contest<'a>),
}

impl Costed {
    /// Answer of the run's budget.
    #[must_use]
    pub const fn answer(&self) -> Answer<'_> {
        Answer::Budget { plan: &self.plan, budget: &self.budget }
    }
}

impl Answer<'_> {
    /// The regime whose metrics it has.
    #[must_use]
    pub const fn regime(&self) -> Regime {
        match self {
            Self::Training { .. } => Regime::Training,
            Self::Serving { .. } => Regime::Serving,
            Self::Budget { .. } => Regime::Budget,
            Self::Quality(_) => Regime::Quality,
        }
    }

    /// The value of a metric; none where something isn't known, or of another regime's metric.
    #[must_use]
    pub fn get(&self, id: MetricId) -> Option<MetricValue> {
        self.number(id).map(|number| MetricValue::of(id, number))
    }

    /// Value of a metric as a number: a verdict is one where it holds, else zero.
    #[must_use]
    pub fn number(&self, id: MetricId) -> Option<f64> {
        match self {
            Self::Training { estimate, .. } => estimate.metrics.number(id),
            Self::Serving { plan, inference } => {
                let params = || plan.params(id).map(|params| params as f64);
                inference.metrics.get(id).copied().or_else(params)
            }
            Self::Budget { budget, .. } => budget.get(id),
            Self::Quality(contest) => contest.number(id).ok(),
        }
    }

    /// Where the true value lies, as factors on the predicted one; none where it is a count, or
    /// nothing published tells.
    #[must_use]
    pub fn range(&self, id: MetricId) -> Option<Range> {
        if id.regime().table() != self.regime() {
            return None;
        }
        match self {
            Self::Training { plan, .. } => range(plan, id),
            Self::Serving { plan, .. } => serving::serving_range(plan, id),
            Self::Budget { plan, .. } => budget_range(plan, id),
            Self::Quality(_) => None,
        }
    }

    /// A metric opened down to its terms; none where it has no value.
    #[must_use]
    pub fn explain(&self, id: MetricId) -> Option<Breakdown> {
        match self {
            Self::Training { plan, estimate } => explain::explain(plan, estimate, id),
            Self::Serving { plan, inference } => serving::explain(plan, inference, id),
            Self::Budget { plan, budget } => budget.explain(plan, id),
            Self::Quality(contest) => contest.explain(id),
        }
    }
}
