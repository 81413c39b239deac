//! A design's numbers as one table, a number in each row: headline metrics, what each stage holds
//! and does, what each axis sends.

use std::sync::Arc;

use model::metric::{MetricId, Regime};
use model::training::estimate::{Communication, StageEstimate, StageMemory};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use present::format;
use present::insight::numbers::Numbers;
use present::words::provenance::{self, Provenance};

/// The columns; provenance follows in CSV, and stands in the footer in Parquet.
const COLUMNS: [&str; 5] = ["scope", "place", "metric", "value", "unit"];

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

/// The table as CSV.
pub(super) fn csv(numbers: &Numbers, from: &Provenance) -> String {
    let header = COLUMNS.map(str::to_owned).to_vec();
    let cells = rows(numbers).into_iter().map(|row| {
        let Row { scope, place, metric, value, unit } = row;
        vec![scope.to_owned(), place, metric, value.to_string(), unit.to_owned()]
    });
    provenance::csv(&from.in_rows(std::iter::once(header).chain(cells).collect()))
}

/// The table as Parquet.
pub(super) fn parquet(numbers: &Numbers, from: &Provenance) -> Result<Vec<u8>, String> {
    write(&rows(numbers), from).map_err(|error| format!("can't write Parquet: {error}"))
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

fn schema() -> Result<TypePtr, ParquetError> {
    let field = |name: &str| {
        let is_value = name == "value";
        let physical = if is_value { Physical::DOUBLE } else { Physical::BYTE_ARRAY };
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type((!is_value).then_some(LogicalType::String))
            .build()
            .map(Arc::new)
    };
    let fields = COLUMNS.into_iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder("metrics").with_fields(fields).build().map(Arc::new)
}

fn write(rows: &[Row], from: &Provenance) -> Result<Vec<u8>, ParquetError> {
    let notes = from
        .entries()
        .map(|(name, value)| KeyValue::new(format!("moescape.{name}"), value.to_owned()));
    let properties = WriterProperties::builder();
    let properties = properties.set_key_value_metadata(Some(notes.to_vec())).build();
    let mut bytes = Vec::new();
    let mut table = SerializedFileWriter::new(&mut bytes, schema()?, Arc::new(properties))?;
    let mut group = table.next_row_group()?;
    let texts: [fn(&Row) -> &str; 3] = [|row| row.scope, |row| &row.place, |row| &row.metric];
    for text in texts {
        write_text(&mut group, rows, text)?;
    }
    if let Some(mut column) = group.next_column()? {
        let values: Vec<f64> = rows.iter().map(|row| row.value).collect();
        column.typed::<DoubleType>().write_batch(&values, None, None)?;
        column.close()?;
    }
    write_text(&mut group, rows, |row| row.unit)?;
    group.close()?;
    table.close()?;
    Ok(bytes)
}

fn write_text<W: std::io::Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[Row],
    text: fn(&Row) -> &str,
) -> Result<(), ParquetError> {
    if let Some(mut column) = group.next_column()? {
        let values: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(text(row))).collect();
        column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        column.close()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

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

    #[test]
    fn both_formats_hold_the_same_table() {
        let from = Provenance::of_link("v=1", "2026-01-31");
        let csv = csv(&numbers(), &from);
        let bytes = parquet(&numbers(), &from).unwrap();
        let table = SerializedFileReader::new(axum::body::Bytes::from(bytes)).unwrap();
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
            use parquet::record::RowAccessor;
            let row = row.unwrap();
            assert_eq!(row.get_string(2).unwrap(), cells[2]);
            let value: f64 = cells[3].parse().unwrap();
            assert_eq!(row.get_double(3).unwrap().to_bits(), value.to_bits(), "{line}");
        }
    }
}
