//! Text of published metrics, beside our estimates.

use model::metric::MetricId;
use model::metric::published::{RunFigure, of_preset};
use model::training::estimate::Metrics;

use crate::format::{self, Quantity};

/// A published metric with the distance of our estimate: `MFU 30.0 % (estimate +0.2 pt)`.
#[must_use]
pub fn comparison(row: &RunFigure, metrics: &Metrics) -> String {
    let ours = format::number(metrics.get(row.metric));
    let error = format::change(row.metric, ours, row.figure.value);
    format!("{} {} (estimate {error})", row.metric.metric().label, value(row))
}

/// A published metric in its unit.
#[must_use]
pub fn value(row: &RunFigure) -> Quantity {
    format::measured(row.metric, row.figure.value)
}

/// MFU of a preset's run as its source prints it: `41 %`; empty if it isn't published.
#[must_use]
pub fn printed_mfu(preset: &str) -> String {
    let row = of_preset(preset).find(|row| row.metric == MetricId::mfu);
    let printed = row.map(|row| format::in_unit(row.figure.value, row.figure.unit));
    printed.map_or_else(String::new, |it| it.to_string())
}

#[cfg(test)]
mod tests {
    use model::design::ladder::{END, PAPER, START};

    use super::*;
    use crate::site::Page;

    #[test]
    fn the_ladders_title_has_the_published_figures() {
        let [start, paper, end] = [START, PAPER, END].map(printed_mfu);
        assert_eq!(Page::Ladder.title(), format!("From {start} over {paper} to {end} MFU"));
    }
}
