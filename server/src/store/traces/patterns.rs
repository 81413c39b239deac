//! Router traces in Parquet: the columns `task` (text), `layer` and `expert` (whole numbers), and
//! `tcess` or `logit` (numbers of 32 or 64 bits); with a column `token` (whole numbers) scores are
//! the logits of tokens.
//!
//! The same bounds hold as for traces of loads, and it is read in batches, twice.

use std::panic::{AssertUnwindSafe, catch_unwind};

use axum::body::Bytes;
use model::routing::pattern::Patterns;
use model::routing::pattern::text::{Row, from_rows};
use model::routing::text::TextError;
use parquet::basic::Type;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;

use super::parquet::{BATCH_ROWS, check_footer, check_pages, check_rows, whole};

/// The columns with their names, and the types that each may have. The last may be missing.
const COLUMNS: [(&[&str], &[Type]); 5] = [
    (&["task"], &[Type::BYTE_ARRAY]),
    (&["layer"], &[Type::INT32, Type::INT64]),
    (&["expert"], &[Type::INT32, Type::INT64]),
    (&["tcess", "logit"], &[Type::FLOAT, Type::DOUBLE]),
    (&["token"], &[Type::INT32, Type::INT64]),
];

/// The largest number of a token: above it a number of 64 bits isn't kept exactly.
const MAX_TOKEN: f64 = 9_007_199_254_740_991.0;

/// Place of a column, with the name that it has there.
type Found = (&'static str, usize);

/// The router trace of a Parquet file.
///
/// # Errors
/// Faults of the file, its columns and their values.
pub(super) fn read(bytes: &Bytes, visited: usize) -> Result<Patterns, Vec<TextError>> {
    check_footer(bytes).map_err(whole)?;
    // The crate checks what it reads, but asserts a few things too.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let file = SerializedFileReader::new(bytes.clone());
        let file = file.map_err(|error| whole(format!("the file is no Parquet: {error}")))?;
        let columns = columns(&file).map_err(whole)?;
        check_rows(&file, Patterns::MAX_SCORES as u64).map_err(whole)?;
        check_pages(bytes, &file, &columns).map_err(whole)?;
        from_rows(visited, |take| rows(&file, &columns, take).map_err(whole)).and_then(|read| read)
    }));
    outcome.unwrap_or_else(|_| Err(whole("the file is no Parquet that can be read".to_owned())))
}

/// The columns that are there.
fn columns(file: &SerializedFileReader<Bytes>) -> Result<Vec<Found>, String> {
    let schema = file.metadata().file_metadata().schema_descr();
    let mut found = Vec::new();
    for (at, (names, kinds)) in COLUMNS.iter().enumerate() {
        let mut same = schema.columns().iter().enumerate().filter_map(|(place, described)| {
            let name = names.iter().find(|name| **name == described.name())?;
            Some((*name, place, described))
        });
        let Some((name, place, described)) = same.next() else {
            if at + 1 == COLUMNS.len() {
                break;
            }
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
        found.push((name, place));
    }
    Ok(found)
}

/// Gives every row of the file, until `take` needs no more.
fn rows(
    file: &SerializedFileReader<Bytes>,
    columns: &[Found],
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

/// Gives the rows of a group, behind `before` others; returns how many there are, or nothing when
/// no more are needed.
fn group_rows(
    group: &dyn RowGroupReader,
    columns: &[Found],
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
    let mut tokens = (columns.len() > 4).then(|| reader(4)).transpose()?;
    let mut read = 0;
    while read < announced {
        let most = BATCH_ROWS.min(announced - read);
        let named = |at: usize, error: String| format!("column `{}`: {error}", columns[at].0);
        let names = batch(&mut tasks, most).map_err(|error| named(0, error))?;
        let layers = numbers(&mut layers, most).map_err(|error| named(1, error))?;
        let experts = numbers(&mut experts, most).map_err(|error| named(2, error))?;
        let scores = numbers(&mut scores, most).map_err(|error| named(3, error))?;
        let tokens = tokens.as_mut().map(|reader| numbers(reader, most)).transpose();
        let tokens = tokens.map_err(|error| named(4, error))?;
        let count = names.len();
        let of_tokens = tokens.as_ref().map_or(count, Vec::len);
        if count == 0 || [layers.len(), experts.len(), scores.len(), of_tokens] != [count; 4] {
            return Err("columns have different numbers of rows".to_owned());
        }
        for (at, task) in names.iter().enumerate() {
            let line = before + read + at + 1;
            let task = std::str::from_utf8(task.data())
                .map_err(|_| format!("column `task`, row {line}: no UTF-8"))?;
            let index = |values: &[f64], of: usize, most: f64| {
                let value = values[at];
                let wrong = || format!("column `{}`, row {line}: {value}", columns[of].0);
                if (0.0..=most).contains(&value) { Ok(value as u64) } else { Err(wrong()) }
            };
            let [layer, expert] = [(&layers, 1), (&experts, 2)]
                .map(|(values, of)| index(values, of, f64::from(u32::MAX)).map(|it| it as u32));
            let token = tokens.as_ref().map(|tokens| index(tokens, 4, MAX_TOKEN)).transpose()?;
            let (layer, expert) = (layer?, expert?);
            if !take(Row { task, token, layer, expert, score: scores[at], line }) {
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

/// Reads up to `most` values, none of which may be missing.
fn batch<T: DataType>(reader: &mut ColumnReaderImpl<T>, most: usize) -> Result<Vec<T::T>, String> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let outcome = reader.read_records(most, Some(&mut levels), None, &mut values);
    let (records, found, _) = outcome.map_err(|error| error.to_string())?;
    if found < records { Err("a value is missing".to_owned()) } else { Ok(values) }
}

#[cfg(test)]
mod tests;
