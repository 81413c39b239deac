//! A metric of either regime: what training gives, and what serving gives.

use crate::metric::{Metric, MetricId, Words};
use crate::run::budget::BudgetMetric;
use crate::run::quality::QualityMetric;
use crate::serving::{Inference, ServingMetric, ServingPlan};

/// Use of a model's devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// They train it.
    Training,
    /// They answer with it.
    Serving,
    /// Either: it is of the model alone.
    Both,
}

impl Regime {
    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Training => "training",
            Self::Serving => "serving",
            Self::Both => "both",
        }
    }
}

/// A metric of training or of serving, by a name that no other has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Metric of a training step.
    Training(MetricId),
    /// Metric of serving.
    Serving(ServingMetric),
    /// Metric of a training run's budget.
    Run(BudgetMetric),
    /// Metric of a trained model's quality beside a baseline.
    Quality(QualityMetric),
}

impl Measure {
    /// Every metric, those of training first.
    pub fn all() -> impl Iterator<Item = Self> {
        let training = MetricId::ALL.iter().copied().map(Self::Training);
        let serving = ServingMetric::ALL.iter().copied().map(Self::Serving);
        let run = BudgetMetric::ALL.iter().copied().map(Self::Run);
        let quality = QualityMetric::ALL.iter().copied().map(Self::Quality);
        training.chain(serving).chain(run).chain(quality)
    }

    /// The metric of that id.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        let serving = || ServingMetric::find(name).map(Self::Serving);
        let run = || BudgetMetric::find(name).map(Self::Run);
        let quality = || QualityMetric::find(name).map(Self::Quality);
        let training = MetricId::find(name).map(Self::Training);
        training.or_else(serving).or_else(run).or_else(quality)
    }

    /// The regime that it is of.
    #[must_use]
    pub const fn regime(self) -> Regime {
        match self {
            Self::Training(
                MetricId::params_total
                | MetricId::params_active
                | MetricId::params_total_no_input_embedding
                | MetricId::params_active_no_input_embedding,
            ) => Regime::Both,
            Self::Training(_) | Self::Run(_) | Self::Quality(_) => Regime::Training,
            Self::Serving(_) => Regime::Serving,
        }
    }

    /// The public name of its kind: the regime, or `budget` and `quality`, which are of training.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Run(_) => "budget",
            Self::Quality(_) => "quality",
            Self::Training(_) | Self::Serving(_) => self.regime().name(),
        }
    }

    /// Whether designs of a regime have it.
    #[must_use]
    pub fn is_of(self, regime: Regime) -> bool {
        self.regime() == regime || self.regime() == Regime::Both
    }

    /// The value of a plan that serves, with what it gives; none of a metric that it doesn't have.
    #[must_use]
    pub fn served(self, plan: &ServingPlan, inference: &Inference) -> Option<f64> {
        Some(match self {
            Self::Serving(id) => inference.get(id),
            Self::Training(id) => plan.params(id)? as f64,
            Self::Run(_) | Self::Quality(_) => return None,
        })
    }

    /// The registry's row.
    #[must_use]
    pub fn metric(self) -> &'static Metric {
        match self {
            Self::Training(id) => id.metric(),
            Self::Serving(id) => id.metric(),
            Self::Run(id) => id.metric(),
            Self::Quality(id) => id.metric(),
        }
    }

    /// Definition, formula and source of the metric.
    #[must_use]
    pub fn words(self) -> &'static Words {
        match self {
            Self::Training(id) => id.words(),
            Self::Serving(id) => id.words(),
            Self::Run(id) => id.words(),
            Self::Quality(id) => id.words(),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn no_two_metrics_of_either_regime_have_the_same_name() {
        let mut names: Vec<&str> = Measure::all().map(|it| it.metric().name).collect();
        assert!(Measure::all().all(|it| Measure::find(it.metric().name) == Some(it)));
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
