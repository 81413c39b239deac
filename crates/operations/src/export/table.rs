//! A design's numbers as one table, a number in each row: headline metrics, what each stage holds
//! and does, what each axis sends.

use model::metric::{MetricId, Regime};
use model::training::estimate::{Communication, StageEstimate, StageMemory};
use present::format;
use present::insight::numbers::Numbers;
use present::words::provenance::{self, Provenance};

/// The columns; provenance follows in CSV, and stands in the footer in Parquet.
pub(super) const COLUMNS: [&str; 5] = ["scope", "place", "metric", "value", "unit"];

/// A number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// `step`, `stage` or `axis`.
    pub(super) scope: &'static str,
    /// Which stage, or which axis, link and collective.
    pub(super) place: String,
    pub(super) metric: String,
    /// A verdict is 1 or 0.
    pub(super) value: f64,
    pub(super) unit: &'static str,
}

/// The table as CSV.
pub(super) fn csv(numbers: &Numbers, from: &Provenance) -> String {
    let header = COLUMNS.map(str::to_owned).to_vec();
    let cells = rows(numbers).into_iter().map(|row| {
        let Row { scope, place, metric, value, unit } = row;
        vec![scope.to_owned(), place, metric, value.to_string(), unit.to_owned()]
    });
    provenance::csv(&from.in_rows(std::iter::once(header).chain(cells).collect()))
}

/// The numbers, headline metrics first.
pub(super) fn rows(numbers: &Numbers) -> Vec<Row> {
    let estimate = &numbers.estimate;
    let headline = MetricId::of(Regime::Training).map(|id| Row {
        scope: "step",
        place: String::new(),
        metric: id.metric().name.to_owned(),
        value: format::number(estimate.metrics.get(id)),
        unit: id.metric().unit.name(),
    });
    let stages = estimate.stages.iter().flat_map(stage);
    headline.chain(stages).chain(estimate.communication.iter().flat_map(axis)).collect()
}

fn stage(of: &StageEstimate) -> Vec<Row> {
    let memory = StageMemory::LABELS.into_iter().zip(of.memory.parts());
    let memory =
        memory.map(|(label, bytes)| (format!("memory_{label}_bytes"), bytes.get(), "bytes"));
    let seconds = [
        ("forward_seconds", of.forward),
        ("backward_seconds", of.backward),
        ("compute_seconds", of.compute),
        ("exposed_seconds", of.exposed),
        ("idle_seconds", of.idle),
    ];
    let named = |(name, value, unit): (&str, f64, _)| (name.to_owned(), value, unit);
    let sizes = [
        ("num_layers", of.num_layers as f64, ""),
        ("params", of.params as f64, ""),
        ("memory_peak_bytes", of.memory.peak().get(), "bytes"),
        ("host_memory_bytes", of.host_memory.get(), "bytes"),
        ("peak_in_flight", of.peak_in_flight, ""),
    ];
    let times = seconds.map(|(name, time)| (name, time.get(), "s"));
    let all = sizes.map(named).into_iter().chain(memory).chain(times.map(named));
    let row = |(metric, value, unit)| {
        let place = of.stage.to_string();
        Row { scope: "stage", place, metric, value, unit }
    };
    all.map(row).collect()
}

fn axis(of: &Communication) -> Vec<Row> {
    let place = format!("{}/{}/{}", of.axis.name(), of.link.name(), of.collective.name());
    let all = [
        ("bytes_per_call", of.bytes_per_call.get(), "bytes"),
        ("bytes", of.bytes.get(), "bytes"),
        ("seconds", of.time.get(), "s"),
        ("exposed_seconds", of.exposed.get(), "s"),
    ];
    let row = |(metric, value, unit): (&str, f64, _)| Row {
        scope: "axis",
        place: place.clone(),
        metric: metric.to_owned(),
        value,
        unit,
    };
    all.map(row).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> Numbers {
        Numbers::of(&model::design::link::decode("preset=deepseek-v3-2k-h800").unwrap()).unwrap()
    }

    #[test]
    fn every_metric_stage_and_axis_has_its_rows() {
        let (numbers, all) = (numbers(), rows(&numbers()));
        let estimate = &numbers.estimate;
        let of = |scope| all.iter().filter(move |row| row.scope == scope);
        assert_eq!(of("step").count(), MetricId::of(Regime::Training).count());
        let peaks: Vec<f64> = of("stage")
            .filter(|row| row.metric == "memory_peak_bytes")
            .map(|row| row.value)
            .collect();
        let expected: Vec<f64> =
            estimate.stages.iter().map(|stage| stage.memory.peak().get()).collect();
        assert_eq!(peaks, expected);
        assert_eq!(of("axis").count(), 4 * estimate.communication.len());
        let sent: f64 = of("axis").filter(|row| row.metric == "bytes").map(|row| row.value).sum();
        let volume = estimate.metrics.comm_volume.get();
        assert!((sent - volume).abs() <= 1e-9 * volume, "{sent} {volume}");
    }
}
