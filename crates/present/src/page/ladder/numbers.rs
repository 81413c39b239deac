//! The ladder's predictions, and those of the layouts that its baseline may have had.

use model::design::Design;
use model::design::ladder::{self, RUNGS, Rung, baseline};
use model::metric::MetricId;
use model::metric::published::of_preset;
use model::training::estimate::Metrics;
use model::{Plan, estimate};

/// A design with its prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// The design.
    pub design: Design,
    /// Its numbers.
    pub metrics: Metrics,
}

impl Predicted {
    /// The prediction of a legal design.
    #[must_use]
    pub fn new(design: Design) -> Option<Self> {
        let metrics = estimate(&Plan::new(&design).ok()?).metrics;
        Some(Self { design, metrics })
    }
}

/// The baseline, or what one change on top of those before it leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Change of this step; `None` for the baseline.
    pub rung: Option<&'static Rung>,
    /// Prediction after the change.
    pub predicted: Predicted,
    /// The preset of the published run that this is, at both ends.
    pub preset: Option<&'static str>,
}

impl Step {
    /// Published value of a metric of this design.
    #[must_use]
    pub fn published(&self, metric: MetricId) -> Option<f64> {
        let mut rows = self.preset.into_iter().flat_map(of_preset);
        rows.find(|row| row.metric == metric).map(|row| row.figure.value)
    }

    /// Title of the change.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.rung.map_or("Baseline on 4,096 NPUs", |rung| rung.title)
    }
}

/// The ladder from the baseline over the final run to the follow-up.
#[must_use]
pub fn steps() -> Vec<Step> {
    // A test of the model proves that every rung is legal.
    let designs = ladder::designs().unwrap_or_default();
    let last = designs.len().saturating_sub(1);
    let rungs = std::iter::once(None).chain(RUNGS.iter().map(Some));
    let steps = designs.into_iter().zip(rungs).enumerate().filter_map(|(index, (design, rung))| {
        let preset = match index {
            0 => Some(ladder::START),
            ladder::TO_PAPER => Some(ladder::PAPER),
            index if index == last => Some(ladder::END),
            _ => None,
        };
        Some(Step { rung, predicted: Predicted::new(design)?, preset })
    });
    steps.collect()
}

/// The layouts that the baseline may have had.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layouts {
    /// Combinations tried.
    pub tried: usize,
    /// Combinations of these that break no rule.
    pub legal: usize,
    /// Legal combinations that fit in memory, the slowest first.
    pub fitting: Vec<Predicted>,
}

impl Layouts {
    /// The lowest and the highest MFU.
    #[must_use]
    pub fn mfu_range(&self) -> Option<(f64, f64)> {
        Some((self.fitting.first()?.metrics.mfu, self.fitting.last()?.metrics.mfu))
    }
}

/// Predicts all of them.
#[must_use]
pub fn layouts() -> Layouts {
    let designs = baseline::layouts().unwrap_or_default();
    let tried = designs.len();
    let mut fitting: Vec<Predicted> = designs.into_iter().filter_map(Predicted::new).collect();
    let legal = fitting.len();
    fitting.retain(|predicted| predicted.metrics.fits);
    fitting.sort_by(|one, other| one.metrics.mfu.total_cmp(&other.metrics.mfu));
    Layouts { tried, legal, fitting }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_has_a_step_for_each_change_and_three_published_runs() {
        let steps = steps();
        assert_eq!(steps.len(), RUNGS.len() + 1);
        let published = |metric| -> Vec<(usize, f64)> {
            let of_step = |(index, step): (usize, &Step)| Some((index, step.published(metric)?));
            steps.iter().enumerate().filter_map(of_step).collect()
        };
        let mfu = [(0, 0.189), (ladder::TO_PAPER, 0.300), (RUNGS.len(), 0.41)];
        assert_eq!(published(MetricId::mfu), mfu);
        let rate = [(0, 148.9), (ladder::TO_PAPER, 237.6)];
        assert_eq!(published(MetricId::tokens_per_second_per_device), rate);
    }

    #[test]
    fn layouts_that_fit_are_legal_and_in_order() {
        let layouts = layouts();
        assert!(layouts.fitting.len() <= layouts.legal && layouts.legal <= layouts.tried);
        let (low, high) = layouts.mfu_range().expect("some fit");
        assert!(0.0 < low && low <= high && high < 1.0);
        assert!(layouts.fitting.iter().all(|layout| layout.metrics.fits));
    }
}
