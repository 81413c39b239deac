//! Axes: from numbers to pixels, and the numbers that stand beside them.

use model::metric::MetricId;
use model::units::Bytes;

use super::data::{Data, Dim};
use crate::present::format;

/// The unit that an axis is in: how much one of it is, and its name.
#[must_use]
pub fn unit(id: MetricId) -> (f64, &'static str) {
    match id {
        MetricId::mfu
        | MetricId::hfu
        | MetricId::bubble_ratio
        | MetricId::bubble_ratio_closed_form
        | MetricId::overlap_ratio
        | MetricId::fit_probability
        | MetricId::token_drop_ratio => (0.01, "%"),
        MetricId::memory_peak_bytes | MetricId::memory_limit_bytes => {
            let unit = format::MemoryUnit::chosen();
            (1.0 / unit.count(Bytes::new(1.0)), unit.name())
        }
        MetricId::comm_volume_bytes => (1e9, "GB"),
        MetricId::params_total
        | MetricId::params_active
        | MetricId::params_total_no_input_embedding
        | MetricId::params_active_no_input_embedding => (1e9, "B"),
        MetricId::flops_per_token => (1e9, "GFLOP"),
        MetricId::fits
        | MetricId::tokens_per_second
        | MetricId::tokens_per_second_per_device
        | MetricId::step_time_seconds
        | MetricId::model_tflops_per_device
        | MetricId::comm_exposed_seconds
        | MetricId::imbalance_ratio => (1.0, id.metric().unit),
    }
}

/// An axis of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The number at its start.
    pub from: f64,
    /// The number at its end.
    pub to: f64,
    /// Is it logarithmic?
    pub log: bool,
    /// Values of a knob, not numbers.
    pub steps: bool,
}

impl Scale {
    /// An axis for a column with these ends. A logarithm takes only numbers above zero.
    #[must_use]
    pub fn new(dim: Dim, (from, to): (f64, f64), log: bool) -> Self {
        let steps = matches!(dim, Dim::Knob(_));
        let log = log && !steps && from > 0.0;
        let (from, to) = match (steps, log) {
            (true, _) => (from - 0.5, to + 0.5),
            (false, true) => {
                let gap = (to / from).powf(0.04).max(1.005);
                (from / gap, to * gap)
            }
            (false, false) => {
                let gap = ((to - from) * 0.04).max(to.abs().max(from.abs()) * 1e-3).max(1e-9);
                (from - gap, to + gap)
            }
        };
        Self { from, to, log, steps }
    }

    /// Where a number is, from 0 to 1; beyond when it is outside.
    #[must_use]
    pub fn place(&self, number: f64) -> f64 {
        if self.log {
            let low = self.from.ln();
            (number.max(1e-300).ln() - low) / (self.to.ln() - low)
        } else {
            (number - self.from) / (self.to - self.from)
        }
    }

    /// The number at a place.
    #[must_use]
    pub fn number(&self, place: f64) -> f64 {
        if self.log {
            let low = self.from.ln();
            (low + place * (self.to.ln() - low)).exp()
        } else {
            self.from + place * (self.to - self.from)
        }
    }

    /// The numbers that are written beside it, with their words, at most about so many.
    #[must_use]
    pub fn ticks(&self, data: &Data, dim: Dim, most: usize) -> Vec<(f64, String)> {
        match dim {
            Dim::Knob(_) => {
                let count = (self.to - self.from).round().max(1.0) as usize;
                let stride = count.div_ceil(most.max(1)).max(1);
                let all = (0..count).step_by(stride);
                all.map(|at| (at as f64, data.spelled(dim, at as f64))).collect()
            }
            Dim::Metric(place) => {
                let (factor, _) = data.metrics.get(place).map_or((1.0, ""), |id| unit(*id));
                self.numbers(factor, most)
            }
        }
    }

    fn numbers(&self, factor: f64, most: usize) -> Vec<(f64, String)> {
        let (from, to) = (self.from / factor, self.to / factor);
        let wide = self.log && to / from > 8.0;
        if wide {
            let mut ticks = Vec::new();
            let decades = to.log10().floor() as i32 - from.log10().floor() as i32 + 1;
            let steps: &[f64] =
                if decades as usize * 3 <= most { &[1.0, 2.0, 5.0] } else { &[1.0] };
            for decade in from.log10().floor() as i32..=to.log10().floor() as i32 {
                for step in steps {
                    let number = step * 10_f64.powi(decade);
                    if (from..=to).contains(&number) {
                        let places = usize::try_from(-decade).unwrap_or(0);
                        ticks.push((number * factor, format::decimals(number, places)));
                    }
                }
            }
            return ticks;
        }
        let rough = (to - from) / most.max(1) as f64;
        if !rough.is_finite() || rough <= 0.0 {
            return vec![];
        }
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
        let step = step.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(10.0 * power);
        let places = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
        let first = (from / step).ceil() as i64;
        let last = (to / step).floor() as i64;
        (first..=last.min(first + 50))
            .map(|at| (at as f64 * step * factor, format::decimals(at as f64 * step, places)))
            .collect()
    }
}

/// What stands beside an axis: its column, with the unit.
#[must_use]
pub fn title(data: &Data, dim: Dim) -> String {
    match dim {
        Dim::Knob(_) => data.label(dim).to_owned(),
        Dim::Metric(place) => {
            let unit = data.metrics.get(place).map_or("", |id| unit(*id).1);
            let label = data.label(dim);
            if unit.is_empty() { label.to_owned() } else { format!("{label}, {unit}") }
        }
    }
}
