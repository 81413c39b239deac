//! Figures that a preset's own source reports, to be read beside ours.

use model::metric::MetricId;
use model::training::estimate::Metrics;

use crate::format::{self, Quantity};

/// A published figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The preset that describes the run.
    preset: &'static str,
    /// The metric, by our definition as close as the source allows.
    pub metric: MetricId,
    /// The figure, in the metric's unit.
    pub value: f64,
}

/// Pangu Ultra MoE, arXiv 2505.04519: throughput and MFU of the final run and of the baseline,
/// whose 0.61 million tokens/s are those of 4,096 NPUs; and the MFU of its follow-up of June 2025.
static PUBLISHED: &[Published] = &[
    row("pangu-ultra-moe-6k@2", MetricId::tokens_per_second_per_device, 237.6),
    row("pangu-ultra-moe-6k@2", MetricId::mfu, 0.300),
    row("pangu-ultra-moe-6k-followup", MetricId::mfu, 0.41),
    row("pangu-ultra-moe-4k-baseline@2", MetricId::tokens_per_second_per_device, 148.9),
    row("pangu-ultra-moe-4k-baseline@2", MetricId::mfu, 0.189),
];

const fn row(preset: &'static str, metric: MetricId, value: f64) -> Published {
    Published { preset, metric, value }
}

/// Published figures of a preset's run.
pub fn published(preset: &str) -> impl Iterator<Item = &'static Published> {
    PUBLISHED.iter().filter(move |row| row.preset == preset)
}

impl Published {
    /// The figure and how far our estimate is from it: `MFU 30.0 % (estimate +0.2 pt)`.
    #[must_use]
    pub fn beside(&self, metrics: &Metrics) -> String {
        let ours = format::number(metrics.get(self.metric));
        let error = format::change(self.metric, ours, self.value);
        format!("{} {} (estimate {error})", self.metric.metric().label, self.shown())
    }

    /// The figure with its unit.
    #[must_use]
    pub fn shown(&self) -> Quantity {
        format::measured(self.metric, self.value)
    }
}

#[cfg(test)]
mod tests {
    use model::catalogue::preset::Preset;

    use super::*;

    #[test]
    fn every_figure_belongs_to_a_preset_that_opens() {
        for row in PUBLISHED {
            assert!(Preset::find(row.preset).is_ok(), "{}", row.preset);
        }
    }
}
