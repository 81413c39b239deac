//! The feasible designs of a sweep as a Parquet table.
//!
//! Parquet can't be continued behind its end, so that a sweep which may be interrupted writes its
//! rows in a plain binary form first; this turns them into the table, a group of rows at a time.

use std::io::{self, Read, Write};
use std::sync::Arc;

use model::design::{Design, KnobId};
use model::ground::knob::{Kind, Value};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use sweep::Space;

use super::rows;
use crate::designs::exports;

/// Rows of a group.
const GROUP: usize = 65_536;

/// A row of the binary form.
struct Row {
    design: Design,
    index: u64,
    values: Vec<f64>,
}

/// Writes the rows of the binary form as a table. Its footer has the result, and where it comes
/// from: the design that the sweep varies, the model's version and the day.
pub(crate) fn write(
    space: &Space,
    mut rows: impl Read,
    to: impl Write + Send,
    result: String,
) -> io::Result<()> {
    let from = exports::provenance(&space.spec().base);
    let notes = from.entries().map(|(name, value)| (format!("moescape.{name}"), value.to_owned()));
    let notes = notes.into_iter().chain([("moescape.result".to_owned(), result)]);
    let notes = notes.map(|(name, value)| KeyValue::new(name, value)).collect();
    let properties = WriterProperties::builder().set_key_value_metadata(Some(notes)).build();
    let schema = schema(space).map_err(failed)?;
    let mut table = SerializedFileWriter::new(to, schema, Arc::new(properties)).map_err(failed)?;
    loop {
        let group = read_group(space, &mut rows)?;
        if group.is_empty() {
            break;
        }
        write_group(space, &group, &mut table).map_err(failed)?;
    }
    table.close().map(drop).map_err(failed)
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error.to_string())
}

/// The next rows, as many as a group has.
fn read_group(space: &Space, rows: &mut impl Read) -> io::Result<Vec<Row>> {
    let rows = rows::next(space, rows, GROUP)?.into_iter();
    Ok(rows.map(|(index, values)| Row { design: space.design(index), index, values }).collect())
}

/// Type of a knob's column.
#[derive(Clone, Copy)]
enum Column {
    Whole,
    Real,
    Text,
}

fn column(knob: KnobId) -> Column {
    match knob.knob().kind {
        Kind::Integer(..) | Kind::OptionalInteger(..) => Column::Whole,
        Kind::Real(..) | Kind::OptionalReal(..) => Column::Real,
        Kind::Flag
        | Kind::Choice(_)
        | Kind::Subset(_)
        | Kind::LayerFreq
        | Kind::PerStage(_)
        | Kind::PositionList(_)
        | Kind::Layout
        | Kind::LayerPattern(_)
        | Kind::Hash
        | Kind::Name
        | Kind::Arguments => Column::Text,
    }
}

fn schema(space: &Space) -> Result<TypePtr, ParquetError> {
    let field = |name: &str, physical, repetition| {
        let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        let logical = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
        builder.with_logical_type(logical).build().map(Arc::new)
    };
    let mut fields = vec![field("index", Physical::INT64, Repetition::REQUIRED)?];
    for knob in sweep::varying(space) {
        let physical = match column(knob) {
            Column::Whole => Physical::INT64,
            Column::Real => Physical::DOUBLE,
            Column::Text => Physical::BYTE_ARRAY,
        };
        fields.push(field(&knob.id(), physical, Repetition::OPTIONAL)?);
    }
    for id in &space.spec().columns {
        fields.push(field(id.metric().name, Physical::DOUBLE, Repetition::REQUIRED)?);
    }
    Type::group_type_builder("design").with_fields(fields).build().map(Arc::new)
}

fn write_group<W: Write + Send>(
    space: &Space,
    rows: &[Row],
    table: &mut SerializedFileWriter<W>,
) -> Result<(), ParquetError> {
    let mut group = table.next_row_group()?;
    if let Some(mut column) = group.next_column()? {
        let indices: Vec<i64> = rows.iter().map(|row| row.index as i64).collect();
        column.typed::<Int64Type>().write_batch(&indices, None, None)?;
        column.close()?;
    }
    for knob in sweep::varying(space) {
        if let Some(mut column) = group.next_column()? {
            write_knob(knob, rows, &mut column)?;
            column.close()?;
        }
    }
    for place in 0..space.spec().columns.len() {
        if let Some(mut column) = group.next_column()? {
            let values: Vec<f64> = rows.iter().map(|row| row.values[place]).collect();
            column.typed::<DoubleType>().write_batch(&values, None, None)?;
            column.close()?;
        }
    }
    group.close().map(drop)
}

/// A knob's column: what is unset is null.
fn write_knob(
    knob: KnobId,
    rows: &[Row],
    column_of: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let all: Vec<Value> = rows.iter().map(|row| row.design.get(knob)).collect();
    let levels: Vec<i16> = all.iter().map(|value| i16::from(*value != Value::None)).collect();
    let set = || all.iter().filter(|value| **value != Value::None);
    match column(knob) {
        Column::Whole => {
            let whole = |value: &Value| if let Value::Integer(n) = value { *n as i64 } else { 0 };
            let values: Vec<i64> = set().map(whole).collect();
            column_of.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
        }
        Column::Real => {
            let real = |value: &Value| if let Value::Real(n) = value { *n } else { 0.0 };
            let values: Vec<f64> = set().map(real).collect();
            column_of.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
        Column::Text => {
            let texts = set().map(|value| ByteArray::from(value.to_string().into_bytes()));
            let values: Vec<ByteArray> = texts.collect();
            column_of.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
        }
    }
    Ok(())
}
