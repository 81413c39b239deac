//! The axes of columns, and what stands beside them.

use super::data::{Data, Dim};
use crate::draw::scale::Scale;
use crate::format;

/// The axis of a column with these ends.
pub(super) fn scale(dim: Dim, ends: (f64, f64), log: bool) -> Scale {
    Scale::new(ends, matches!(dim, Dim::Knob(_)), log)
}

/// The numbers that are written beside a column's axis, with their words, about `most` of them.
pub(super) fn ticks(scale: &Scale, data: &Data, dim: Dim, most: usize) -> Vec<(f64, String)> {
    match dim {
        Dim::Knob(_) => {
            let count = (scale.to - scale.from).round().max(1.0) as usize;
            let stride = count.div_ceil(most.max(1)).max(1);
            let all = (0..count).step_by(stride);
            all.map(|at| (at as f64, data.spelled(dim, at as f64))).collect()
        }
        Dim::Metric(place) => {
            let (factor, _) = data.metrics.get(place).map_or((1.0, ""), |id| format::axis(*id));
            let largest = scale.from.abs().max(scale.to.abs()) / factor;
            if largest < MIN_MILLIONS {
                return scale.numbers(factor, most);
            }
            // Seven digits are wider than the room beside an axis.
            let ticks = scale.numbers(factor * MIN_MILLIONS, most);
            ticks.into_iter().map(|(at, text)| (at, format!("{text} M"))).collect()
        }
    }
}

/// From this number on those beside an axis are in millions.
const MIN_MILLIONS: f64 = 1e6;

/// Title of an axis: its column, with the unit.
#[must_use]
pub fn title(data: &Data, dim: Dim) -> String {
    match dim {
        Dim::Knob(_) => data.label(dim).to_owned(),
        Dim::Metric(place) => {
            let unit = data.metrics.get(place).map_or("", |id| format::axis(*id).1);
            let label = data.label(dim);
            if unit.is_empty() { label.to_owned() } else { format!("{label}, {unit}") }
        }
    }
}
