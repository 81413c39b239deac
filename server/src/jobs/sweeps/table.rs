//! The feasible designs of a sweep as a Parquet table.
//!
//! Parquet can't be continued behind its end, so that a sweep which may be interrupted writes its
//! rows in a plain binary form first; this turns them into the table, a group of rows at a time.

use std::io::{self, Read, Write};
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use sweep::Space;
use sweep::table::{Cell, CellType, Column, Record, Table};

use super::rows;
use crate::designs::exports;

/// Rows of a group.
const GROUP: usize = 65_536;

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
    let table = Table::new(space);
    let schema = schema(&table).map_err(failed)?;
    let mut file = SerializedFileWriter::new(to, schema, Arc::new(properties)).map_err(failed)?;
    loop {
        let group = rows::next(space, &mut rows, GROUP)?;
        if group.is_empty() {
            break;
        }
        let records = group.iter().map(|(index, values)| table.record(*index, values));
        write_group(&table, &records.collect::<Vec<_>>(), &mut file).map_err(failed)?;
    }
    file.close().map(drop).map_err(failed)
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error.to_string())
}

fn schema(table: &Table<'_>) -> Result<TypePtr, ParquetError> {
    let field = |column: &Column| {
        let physical = match column.cells {
            CellType::Index | CellType::Integer => Physical::INT64,
            CellType::Real => Physical::DOUBLE,
            CellType::Flag | CellType::Text => Physical::BYTE_ARRAY,
        };
        let is_optional = column.is_optional();
        let repetition = if is_optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let logical = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
        let builder = Type::primitive_type_builder(&column.name, physical);
        builder.with_repetition(repetition).with_logical_type(logical).build().map(Arc::new)
    };
    let fields = table.columns().iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder("design").with_fields(fields).build().map(Arc::new)
}

fn write_group<W: Write + Send>(
    table: &Table<'_>,
    records: &[Record<'_>],
    file: &mut SerializedFileWriter<W>,
) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    for column in table.columns() {
        let Some(mut to) = group.next_column()? else { break };
        let cells = records.iter().map(|record| record.cell(column));
        match column.cells {
            CellType::Index | CellType::Integer => {
                let whole = |cell: Cell<'_>| cell.integer().map(|number| number as i64);
                write_cells::<Int64Type>(column, cells.map(whole), &mut to)?;
            }
            CellType::Real => {
                write_cells::<DoubleType>(column, cells.map(|cell| cell.real()), &mut to)?;
            }
            CellType::Flag | CellType::Text => {
                let text = |cell: Cell<'_>| cell.text().map(|text| ByteArray::from(&*text));
                write_cells::<ByteArrayType>(column, cells.map(text), &mut to)?;
            }
        }
        to.close()?;
    }
    group.close().map(drop)
}

/// Writes the cells of a column: what is unset is null.
fn write_cells<T: DataType>(
    column: &Column,
    cells: impl Iterator<Item = Option<T::T>>,
    to: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for cell in cells {
        levels.push(i16::from(cell.is_some()));
        values.extend(cell);
    }
    let levels = column.is_optional().then_some(levels.as_slice());
    to.typed::<T>().write_batch(&values, levels, None).map(drop)
}
