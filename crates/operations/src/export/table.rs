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

#[cfg(feature = "parquet")]
use sweep::table::CellType;

#[cfg(feature = "parquet")]
use super::parquet::{Field, ParquetTable};

/// The columns; provenance follows in CSV, and stands in the footer in Parquet.
const COLUMNS: [&str; 5] = ["scope", "place", "metric", "value", "unit"];

/// Cells of a number: `step`, `stage` or `axis`; which stage, or which axis, link and collective;
/// the metric; its value, of a verdict 1 or 0; its unit.
type Row = [Value; 5];

fn row(scope: &str, place: &str, metric: &str, value: f64, unit: &str) -> Row {
    let text = |text: &str| Value::Text(text.to_owned());
    [text(scope), text(place), text(metric), Value::Real(value), text(unit)]
}

/// The table as CSV.
pub(super) fn csv(numbers: &Numbers, from: &Provenance) -> String {
    let header = COLUMNS.map(str::to_owned).to_vec();
    let cells = rows(numbers).into_iter().map(|row| row.map(|cell| cell.to_string()).to_vec());
    provenance::csv(&from.in_rows(std::iter::once(header).chain(cells).collect()))
}

/// The table as Parquet.
#[cfg(feature = "parquet")]
pub(super) fn parquet(numbers: &Numbers, from: &Provenance) -> Result<Vec<u8>, String> {
    let rows = rows(numbers);
    let field = |name| {
        let cells = if name == "value" { CellType::Real } else { CellType::Text };
        Field { name: Cow::Borrowed(name), cells, is_optional: false }
    };
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
    let headline = MetricId::of(Regime::Training).map(|id| {
        let value = format::number(estimate.metrics.get(id));
        row("step", "", id.metric().name, value, id.metric().unit.name())
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
    let place = of.stage.to_string();
    all.map(|(metric, value, unit)| row("stage", &place, &metric, value, unit)).collect()
}

fn axis(of: &Communication) -> Vec<Row> {
    let place = format!("{}/{}/{}", of.axis.name(), of.link.name(), of.collective.name());
    let all = [
        ("bytes_per_call", of.bytes_per_call.get(), "bytes"),
        ("bytes", of.bytes.get(), "bytes"),
        ("seconds", of.time.get(), "s"),
        ("exposed_seconds", of.exposed.get(), "s"),
    ];
    all.map(|(metric, value, unit)| row("axis", &place, metric, value, unit)).into()
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
        let is = |row: &Row, place: usize, text: &str| row[place].text().as_deref() == Some(text);
        let of = |scope| all.iter().filter(move |row| is(row, 0, scope));
        assert_eq!(of("step").count(), MetricId::of(Regime::Training).count());
        let values = |scope, metric| -> Vec<f64> {
            of(scope).filter(|row| is(row, 2, metric)).filter_map(|row| row[3].as_real()).collect()
        };
        let expected: Vec<f64> =
            estimate.stages.iter().map(|stage| stage.memory.peak().get()).collect();
        assert_eq!(values("stage", "memory_peak_bytes"), expected);
        assert_eq!(of("axis").count(), 4 * estimate.communication.len());
        let sent: f64 = values("axis", "bytes").iter().sum();
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
