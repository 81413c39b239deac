//! Traces in Parquet: the columns `step`, `layer`, `expert` and `tokens`, as whole numbers.
//!
//! A file is read in batches of rows, twice: for the trace's size, and for its counts. Nothing is
//! reserved before the headers that ask for it are checked, as a small file can announce anything.

use std::panic::{AssertUnwindSafe, catch_unwind};

use axum::body::Bytes;
use model::routing::Trace;
use model::routing::text::{MAX_ERRORS, Row, TextError, from_rows};
use parquet::basic::{Compression, SortOrder, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;

use super::thrift::{self, Found};

/// First and last bytes of a Parquet file.
pub(super) const MAGIC: &[u8; 4] = b"PAR1";

/// The columns, in the order of [`Row`]'s fields.
const COLUMNS: [&str; 4] = ["step", "layer", "expert", "tokens"];
/// Columns of a file, at most.
const MAX_COLUMNS: u64 = 1_024;
/// Bytes of a file's footer, at most.
const MAX_FOOTER: usize = 16 << 20;
/// Bytes of a page, at most, and of all pages that are read.
const MAX_PAGE: i64 = 64 << 20;
const MAX_PAGES: i64 = 4 << 30;
/// Rows that are held at once.
pub(super) const BATCH_ROWS: usize = 8_192;

/// The trace of a Parquet file.
///
/// # Errors
/// Faults of the file, its columns and their values, up to [`MAX_ERRORS`].
pub(super) fn read(bytes: &Bytes) -> Result<Trace, Vec<TextError>> {
    check_footer(bytes).map_err(whole)?;
    // The crate checks what it reads, but asserts a few things too.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let file = SerializedFileReader::new(bytes.clone());
        let file = file.map_err(|error| whole(format!("the file is no Parquet: {error}")))?;
        let columns = columns(&file).map_err(whole)?;
        check_rows(&file, Trace::MAX_COUNTS).map_err(whole)?;
        check_pages(bytes, &file, &places(&columns)).map_err(whole)?;
        from_rows(|take| rows(&file, &columns, take)).and_then(|trace| trace)
    }));
    outcome.unwrap_or_else(|_| Err(whole("the file is no Parquet that can be read".to_owned())))
}

/// An error about the file as a whole.
pub(super) fn whole(message: String) -> Vec<TextError> {
    vec![TextError { line: 0, column: 0, message }]
}

/// Checks that the footer is one, and its columns are flat and few.
pub(super) fn check_footer(bytes: &[u8]) -> Result<(), String> {
    let cut = || "the file is cut: a Parquet file ends with its footer".to_owned();
    let body = bytes.strip_suffix(MAGIC).ok_or_else(cut)?;
    let (body, length) = body.split_last_chunk::<4>().ok_or_else(cut)?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > MAX_FOOTER {
        return Err(format!("the footer has {length} bytes, {MAX_FOOTER} are read"));
    }
    let start = body.len().checked_sub(length).ok_or_else(cut)?;
    let (mut columns, mut nested) = (0, false);
    let outcome = thrift::visit(&body[start..], &mut |path, found| match (path, found) {
        // The list of the schema's elements: the root, which has all others as children.
        ([2], Found::List(elements)) => columns = elements.saturating_sub(1),
        ([2, 0, 5], Found::Number(children)) => nested |= children as u64 != columns,
        ([2, _, 5], Found::Number(children)) => nested |= children != 0,
        _ => {}
    });
    outcome.map_err(|_| "the footer is malformed".to_owned())?;
    if columns > MAX_COLUMNS {
        return Err(format!("the file has {columns} columns, {MAX_COLUMNS} are read"));
    }
    if nested { Err("the file has columns inside of columns".to_owned()) } else { Ok(()) }
}

/// One of the four columns.
#[derive(Clone, Copy, Debug)]
struct Column {
    place: usize,
    is_unsigned: bool,
}

/// Places of the columns.
fn columns(file: &SerializedFileReader<Bytes>) -> Result<[Column; 4], String> {
    let schema = file.metadata().file_metadata().schema_descr();
    let mut found = [Column { place: 0, is_unsigned: false }; 4];
    for (name, column) in COLUMNS.iter().zip(&mut found) {
        let mut same =
            schema.columns().iter().enumerate().filter(|(_, column)| column.name() == *name);
        let Some((place, described)) = same.next() else {
            let named: Vec<&str> = schema.columns().iter().take(8).map(|c| c.name()).collect();
            let named = named.join(", ");
            return Err(format!("column `{name}` is missing; the file has: {named}"));
        };
        if same.next().is_some() {
            return Err(format!("column `{name}` is there twice"));
        }
        let kind = described.physical_type();
        if !matches!(kind, Type::INT32 | Type::INT64) {
            return Err(format!("column `{name}` is of type {kind}, whole numbers are asked for"));
        }
        if described.max_rep_level() > 0 {
            return Err(format!("column `{name}` holds lists"));
        }
        let is_unsigned = described.sort_order() == SortOrder::UNSIGNED;
        *column = Column { place, is_unsigned };
    }
    Ok(found)
}

/// The columns' names and places.
fn places(columns: &[Column; 4]) -> [(&'static str, usize); 4] {
    [0, 1, 2, 3].map(|at| (COLUMNS[at], columns[at].place))
}

/// Checks how many rows the file announces.
pub(super) fn check_rows(file: &SerializedFileReader<Bytes>, most: u64) -> Result<(), String> {
    let rows = file.metadata().row_groups().iter().map(|group| group.num_rows());
    let rows = rows.fold(0_i128, |sum, rows| sum + i128::from(rows.max(0)));
    if rows > i128::from(most) {
        return Err(format!("the file has {rows} rows, a trace has at most {most} counts"));
    }
    Ok(())
}

/// Checks the header of every page that will be read.
pub(super) fn check_pages(
    bytes: &[u8],
    file: &SerializedFileReader<Bytes>,
    columns: &[(&'static str, usize)],
) -> Result<(), String> {
    let mut all = 0;
    for group in file.metadata().row_groups() {
        for (name, place) in columns {
            let chunk = group.column(*place);
            let outcome = check_codec(chunk).and_then(|()| check_chunk(bytes, chunk, &mut all));
            outcome.map_err(|detail| format!("column `{name}`: {detail}"))?;
        }
    }
    Ok(())
}

/// Only codecs are read whose decoders stop at the announced size.
fn check_codec(chunk: &ColumnChunkMetaData) -> Result<(), String> {
    let codec = chunk.compression();
    if matches!(codec, Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_)) {
        return Ok(());
    }
    let name = codec.to_string();
    let name = name.split('(').next().unwrap_or_default().to_lowercase();
    Err(format!("compression {name} isn't read; snappy, zstd and none are"))
}

/// Checks the sizes in the headers of a chunk's pages; adds what they unpack to.
fn check_chunk(bytes: &[u8], chunk: &ColumnChunkMetaData, all: &mut i64) -> Result<(), String> {
    let outside = || "its pages lie outside of the file".to_owned();
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let start = usize::try_from(start).map_err(|_| outside())?;
    let length = usize::try_from(chunk.compressed_size()).map_err(|_| outside())?;
    let end = start.checked_add(length).ok_or_else(outside)?;
    let mut rest = bytes.get(start..end).ok_or_else(outside)?;
    while !rest.is_empty() {
        let (mut unpacked, mut packed, mut words) = (0, 0, 0);
        let head = thrift::visit(rest, &mut |path, found| match (path, found) {
            ([2], Found::Number(size)) => unpacked = size,
            ([3], Found::Number(size)) => packed = size,
            // Entries of a dictionary, for which memory is reserved.
            ([7, 1], Found::Number(count)) => words = count,
            _ => {}
        });
        let head = head.map_err(|_| "the header of a page is malformed".to_owned())?;
        if !(0..=MAX_PAGE).contains(&unpacked) {
            return Err(format!("a page unpacks to {unpacked} bytes, {MAX_PAGE} are read"));
        }
        if !(0..=MAX_PAGE).contains(&words) || words > unpacked {
            return Err(format!("a dictionary of {words} entries in {unpacked} bytes"));
        }
        *all += unpacked;
        if *all > MAX_PAGES {
            return Err(format!("the file unpacks to more than {MAX_PAGES} bytes"));
        }
        let next = usize::try_from(packed).ok().and_then(|packed| head.checked_add(packed));
        rest = next.and_then(|next| rest.get(next..)).ok_or_else(outside)?;
    }
    Ok(())
}

/// Gives every row of the file, until there are enough errors or `take` needs no more.
fn rows(
    file: &SerializedFileReader<Bytes>,
    columns: &[Column; 4],
    take: &mut dyn FnMut(Row) -> bool,
) -> Result<(), Vec<TextError>> {
    let mut errors = Vec::new();
    let mut before = 0;
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group).map_err(|error| whole(error.to_string()))?;
        let read = group_rows(group.as_ref(), columns, before, &mut errors, take);
        match read.map_err(whole)? {
            Some(rows) if errors.len() < MAX_ERRORS => before += rows,
            Some(_) | None => break,
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Gives the rows of a group, behind `before` others; returns how many there are, or nothing when
/// no more are needed.
fn group_rows(
    group: &dyn RowGroupReader,
    columns: &[Column; 4],
    before: u64,
    errors: &mut Vec<TextError>,
    take: &mut dyn FnMut(Row) -> bool,
) -> Result<Option<u64>, String> {
    let announced = u64::try_from(group.metadata().num_rows()).unwrap_or(0);
    let mut readers = Vec::with_capacity(columns.len());
    for (name, column) in COLUMNS.iter().zip(columns) {
        let reader = group.get_column_reader(column.place);
        let reader = reader.map_err(|error| format!("column `{name}`: {error}"))?;
        let is_unsigned = column.is_unsigned;
        readers.push(Reader { name, is_unsigned, numbers: reader, values: Vec::new() });
    }
    let mut read = 0;
    while read < announced && errors.len() < MAX_ERRORS {
        let most = BATCH_ROWS.min((announced - read) as usize);
        let mut count = None;
        for reader in &mut readers {
            let found = reader.next(most, before + read, errors)?;
            if *count.get_or_insert(found) != found {
                return Err(format!("column `{}` has fewer rows than others", reader.name));
            }
        }
        let count = count.unwrap_or(0);
        if count == 0 {
            return Err(format!("a group of {announced} rows has only {read}"));
        }
        let [step, layer, expert, tokens] = [0, 1, 2, 3].map(|at: usize| &readers[at].values);
        for at in 0..count {
            let (step, layer) = (step[at], layer[at]);
            if !take(Row { step, layer, expert: expert[at], tokens: tokens[at] }) {
                return Ok(None);
            }
        }
        read += count as u64;
    }
    Ok(Some(read))
}

/// A column of a group while it is read.
struct Reader {
    name: &'static str,
    is_unsigned: bool,
    numbers: ColumnReader,
    /// The batch.
    values: Vec<u32>,
}

impl Reader {
    /// Reads a batch behind `before` rows; returns its length.
    fn next(
        &mut self,
        most: usize,
        before: u64,
        errors: &mut Vec<TextError>,
    ) -> Result<usize, String> {
        let (name, is_unsigned, bound) = (self.name, self.is_unsigned, bound(self.name));
        let unsigned =
            |signed: i128, unsigned: u64| if is_unsigned { unsigned.into() } else { signed };
        let numbers = if let ColumnReader::Int32ColumnReader(reader) = &mut self.numbers {
            batch(reader, most, |number| unsigned(number.into(), (number as u32).into()))
        } else if let ColumnReader::Int64ColumnReader(reader) = &mut self.numbers {
            batch(reader, most, |number| unsigned(number.into(), number as u64))
        } else {
            return Err(format!("column `{name}` holds no whole numbers"));
        };
        self.values.clear();
        let numbers = numbers.map_err(|why| format!("column `{name}`: {why}"))?;
        for (at, number) in numbers.into_iter().enumerate() {
            if !(0..=i128::from(bound)).contains(&number) && errors.len() < MAX_ERRORS {
                let row = before + at as u64 + 1;
                let message =
                    format!("column `{name}`, row {row}: {number} isn't between 0 and {bound}");
                errors.push(TextError { line: 0, column: 0, message });
            }
            self.values.push(number.clamp(0, i128::from(bound)) as u32);
        }
        Ok(self.values.len())
    }
}

/// The most that a column may say.
fn bound(name: &str) -> u32 {
    if name == "expert" { (Trace::MAX_EXPERTS - 1) as u32 } else { u32::MAX }
}

/// Reads up to `most` numbers, none of which may be missing.
fn batch<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    most: usize,
    number: impl Fn(T::T) -> i128,
) -> Result<Vec<i128>, String> {
    let (mut numbers, mut levels) = (Vec::new(), Vec::new());
    let outcome = reader.read_records(most, Some(&mut levels), None, &mut numbers);
    let (records, values, _) = outcome.map_err(|error| error.to_string())?;
    if values < records {
        return Err("a value is missing".to_owned());
    }
    Ok(numbers.into_iter().map(number).collect())
}

#[cfg(test)]
mod tests;
