//! A table of numbers as Parquet, with its provenance in the footer.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use present::words::provenance::Provenance;

use super::table::{COLUMNS, Row};

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

/// The table as Parquet.
pub(super) fn bytes(rows: &[Row], from: &Provenance) -> Result<Vec<u8>, ParquetError> {
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
    use parquet::record::RowAccessor;
    use present::insight::numbers::Numbers;

    use super::*;
    use crate::export::table;

    #[test]
    fn both_formats_hold_the_same_table() {
        let from = Provenance::of_link("v=1", "2026-01-31");
        let design = model::design::link::decode("preset=deepseek-v3-2k-h800").unwrap();
        let numbers = Numbers::of(&design).unwrap();
        let csv = table::csv(&numbers, &from);
        let bytes = bytes(&table::rows(&numbers), &from).unwrap();
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
            let row = row.unwrap();
            assert_eq!(row.get_string(2).unwrap(), cells[2]);
            let value: f64 = cells[3].parse().unwrap();
            assert_eq!(row.get_double(3).unwrap().to_bits(), value.to_bits(), "{line}");
        }
    }
}
