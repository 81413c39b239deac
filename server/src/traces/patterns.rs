//! Router traces in Parquet: the columns `task` (text), `layer` and `expert` (whole numbers), and
//! `tcess` or `logit` (numbers of 32 or 64 bits).
//!
//! The same bounds hold as for traces of loads, and it is read in batches, twice.

use std::panic::{AssertUnwindSafe, catch_unwind};

use axum::body::Bytes;
use model::pattern::Patterns;
use model::pattern::text::{Row, from_rows};
use model::routing::text::TextError;
use parquet::basic::Type;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;

use super::parquet::{BATCH, check_footer, check_pages, check_rows, whole};

/// The columns with their names, and the types that each may have.
const COLUMNS: [(&[&str], &[Type]); 4] = [
    (&["task"], &[Type::BYTE_ARRAY]),
    (&["layer"], &[Type::INT32, Type::INT64]),
    (&["expert"], &[Type::INT32, Type::INT64]),
    (&["tcess", "logit"], &[Type::FLOAT, Type::DOUBLE]),
];

/// The router trace of a Parquet file.
///
/// # Errors
/// What is wrong with the file, its columns and their values.
pub(super) fn read(bytes: &Bytes) -> Result<Patterns, Vec<TextError>> {
    check_footer(bytes).map_err(whole)?;
    // The crate checks what it reads, but asserts a few things too.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let file = SerializedFileReader::new(bytes.clone());
        let file = file.map_err(|error| whole(format!("the file is no Parquet: {error}")))?;
        let columns = columns(&file).map_err(whole)?;
        check_rows(&file, Patterns::MAX_SCORES as u64).map_err(whole)?;
        check_pages(bytes, &file, columns).map_err(whole)?;
        from_rows(|take| rows(&file, columns, take).map_err(whole)).and_then(|read| read)
    }));
    outcome.unwrap_or_else(|_| Err(whole("the file is no Parquet that can be read".to_owned())))
}

/// Where the columns are, with the names that they have there.
fn columns(file: &SerializedFileReader<Bytes>) -> Result<[(&'static str, usize); 4], String> {
    let schema = file.metadata().file_metadata().schema_descr();
    let mut found = [("", 0); 4];
    for ((names, kinds), column) in COLUMNS.iter().zip(&mut found) {
        let mut same = schema.columns().iter().enumerate().filter_map(|(place, described)| {
            let name = names.iter().find(|name| **name == described.name())?;
            Some((*name, place, described))
        });
        let Some((name, place, described)) = same.next() else {
            return Err(format!("column `{}` is missing", names[0]));
        };
        if same.next().is_some() {
            return Err(format!("column `{name}` is there twice"));
        }
        let kind = described.physical_type();
        if !kinds.contains(&kind) {
            return Err(format!("column `{name}` is of type {kind}, which isn't read there"));
        }
        if described.max_rep_level() > 0 {
            return Err(format!("column `{name}` holds lists"));
        }
        *column = (name, place);
    }
    Ok(found)
}

/// Gives every row of the file, until `take` needs no more.
fn rows(
    file: &SerializedFileReader<Bytes>,
    columns: [(&'static str, usize); 4],
    take: &mut dyn FnMut(Row<'_>) -> bool,
) -> Result<(), String> {
    let mut before = 0;
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group).map_err(|error| error.to_string())?;
        match group_rows(group.as_ref(), columns, before, take)? {
            Some(rows) => before += rows,
            None => break,
        }
    }
    Ok(())
}

/// Gives the rows of a group, behind so many others; returns how many there are, or nothing when
/// no more are needed.
fn group_rows(
    group: &dyn RowGroupReader,
    columns: [(&'static str, usize); 4],
    before: usize,
    take: &mut dyn FnMut(Row<'_>) -> bool,
) -> Result<Option<usize>, String> {
    let announced = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    let reader = |at: usize| {
        let (name, place) = columns[at];
        group.get_column_reader(place).map_err(|error| format!("column `{name}`: {error}"))
    };
    let mut tasks = get_typed_column_reader::<ByteArrayType>(reader(0)?);
    let [mut layers, mut experts, mut scores] = [reader(1)?, reader(2)?, reader(3)?];
    let mut read = 0;
    while read < announced {
        let most = BATCH.min(announced - read);
        let named = |at: usize, error: String| format!("column `{}`: {error}", columns[at].0);
        let names = batch(&mut tasks, most).map_err(|error| named(0, error))?;
        let layers = numbers(&mut layers, most).map_err(|error| named(1, error))?;
        let experts = numbers(&mut experts, most).map_err(|error| named(2, error))?;
        let scores = numbers(&mut scores, most).map_err(|error| named(3, error))?;
        let count = names.len();
        if count == 0 || [layers.len(), experts.len(), scores.len()] != [count; 3] {
            return Err("columns have different numbers of rows".to_owned());
        }
        for (at, task) in names.iter().enumerate() {
            let line = before + read + at + 1;
            let task = std::str::from_utf8(task.data())
                .map_err(|_| format!("column `task`, row {line}: no UTF-8"))?;
            let index = |values: &[f64], of: usize| {
                let value = values[at];
                let is_index = (0.0..=f64::from(u32::MAX)).contains(&value);
                let wrong = || format!("column `{}`, row {line}: {value}", columns[of].0);
                if is_index { Ok(value as u32) } else { Err(wrong()) }
            };
            let (layer, expert) = (index(&layers, 1)?, index(&experts, 2)?);
            if !take(Row { task, layer, expert, score: scores[at], line }) {
                return Ok(None);
            }
        }
        read += count;
    }
    Ok(Some(read))
}

/// The next numbers of a column; whole ones of 32 bits are kept exactly.
fn numbers(reader: &mut ColumnReader, most: usize) -> Result<Vec<f64>, String> {
    fn all<T: DataType>(
        reader: &mut ColumnReaderImpl<T>,
        most: usize,
        number: impl Fn(&T::T) -> f64,
    ) -> Result<Vec<f64>, String> {
        Ok(batch(reader, most)?.iter().map(number).collect())
    }
    if let ColumnReader::Int32ColumnReader(reader) = reader {
        all::<Int32Type>(reader, most, |it| f64::from(*it))
    } else if let ColumnReader::Int64ColumnReader(reader) = reader {
        all::<Int64Type>(reader, most, |it| *it as f64)
    } else if let ColumnReader::FloatColumnReader(reader) = reader {
        all::<FloatType>(reader, most, |it| f64::from(*it))
    } else if let ColumnReader::DoubleColumnReader(reader) = reader {
        all::<DoubleType>(reader, most, |it| *it)
    } else {
        Err("no numbers".to_owned())
    }
}

/// Reads up to so many values, none of which may be missing.
fn batch<T: DataType>(reader: &mut ColumnReaderImpl<T>, most: usize) -> Result<Vec<T::T>, String> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let outcome = reader.read_records(most, Some(&mut levels), None, &mut values);
    let (records, found, _) = outcome.map_err(|error| error.to_string())?;
    if found < records { Err("a value is missing".to_owned()) } else { Ok(values) }
}

#[cfg(test)]
mod tests;
