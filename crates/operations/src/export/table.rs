//! A design's numbers as one table, a number in each row: headline metrics, what each stage holds
//! and does, what each axis sends.

#[cfg(feature = "parquet")]
use std::borrow::Cow;

use model::ground::knob::Value;
use model::metric::{MetricId, Regime};
use model::training::estimate::{Communication, StageEstimate, StageMemory};
use present::format;
use present::insight::numbers::Numbers;
use present::words::provenance::{self, Provenance};
use sweep::table::CellType;

#[cfg(feature = "parquet")]
use super::parquet::{Field, ParquetTable};

/// The columns; provenance follows in CSV, and stands in the footer in Parquet.
const COLUMNS: [(&str, CellType); 5] = [
    ("scope", CellType::Text),
    ("place", CellType::Text),
    ("metric", CellType::Text),
    ("value", CellType::Real),
    ("unit", CellType::Text),
];

/// A number.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    /// `step`, `stage` or `axis`.
    scope: &'static str,
    /// Which stage, or which axis, link and collective.
    place: String,
    metric: String,
    /// A verdict is 1 or 0.
    value: f64,
    unit: &'static str,
}

impl Row {
    /// Cells of the columns.
    fn cells(self) -> [Value; 5] {
        let Self { scope, place, metric, value, unit } = self;
        let [scope, unit] = [scope, unit].map(|text| Value::Text(text.to_owned()));
        [scope, Value::Text(place), Value::Text(metric), Value::Real(value), unit]
    }
}

/// The table as CSV.
pub(super) fn csv(numbers: &Numbers, from: &Provenance) -> String {
    let header = COLUMNS.map(|(name, _)| name.to_owned()).to_vec();
    let cells = rows(numbers).into_iter().map(|row| row.cells().map(|it| it.to_string()).to_vec());
    provenance::csv(&from.in_rows(std::iter::once(header).chain(cells).collect()))
}

/// The table as Parquet.
#[cfg(feature = "parquet")]
pub(super) fn parquet(numbers: &Numbers, from: &Provenance) -> Result<Vec<u8>, String> {
    let rows: Vec<_> = rows(numbers).into_iter().map(Row::cells).collect();
    let field = |(name, cells)| Field { name: Cow::Borrowed(name), cells, is_optional: false };
    let fields = COLUMNS.map(field).into();
    let mut bytes = Vec::new();
    let written =
        ParquetTable::new(&mut bytes, "metrics", fields, from, None).and_then(|mut it| {
            it.write_group(|place| rows.iter().map(move |row| Cow::Borrowed(&row[place])))?;
            it.close()
        });
    written.map_err(|error| format!("can't write Parquet: {error}"))?;
    Ok(bytes)
}

fn rows(numbers: &Numbers) -> Vec<Row> {
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
    #[cfg(feature = "parquet")]
    use ::parquet::file::reader::{FileReader, SerializedFileReader};

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

    #[cfg(feature = "parquet")]
    #[test]
    fn both_formats_hold_the_same_table() {
        let from = Provenance::of_link("v=1", "2026-01-31");
        let csv = csv(&numbers(), &from);
        let bytes = parquet(&numbers(), &from).unwrap();
        let table = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let metadata = table.metadata().file_metadata();
        let notes = metadata.key_value_metadata().unwrap();
        for (name, value) in from.entries() {
            let key = format!("moescape.{name}");
            assert!(notes.iter().any(|it| it.key == key && it.value.as_deref() == Some(value)));
        }
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[0], "scope,place,metric,value,unit,design,model_version,date");
        assert_eq!(metadata.num_rows() as usize, lines.len() - 1);
        for (row, line) in table.get_row_iter(None).unwrap().zip(&lines[1..]) {
            let cells: Vec<&str> = line.split(',').collect();
            use ::parquet::record::RowAccessor;
            let row = row.unwrap();
            assert_eq!(row.get_string(2).unwrap(), cells[2]);
            let value: f64 = cells[3].parse().unwrap();
            assert_eq!(row.get_double(3).unwrap().to_bits(), value.to_bits(), "{line}");
        }
    }
}
