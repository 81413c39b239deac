//! The feasible designs of a sweep, one row each, as text: CSV and JSON lines. Each row says which
//! design it is, by its link, and which model computed it when; the sweep's digest knows no rows.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use model::design::file::{PROVENANCE, Tree};
use model::run::quality::CAVEAT;
use present::words::provenance::{Provenance, csv_line};
use reports::typed::Said;
use sweep::table::{Column, Record, Table};
use sweep::{Outcome, Space};

use crate::designs::exports::provenance;

/// A format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Comma-separated, with a header.
    Csv,
    /// A JSON object in each line.
    JsonLines,
    /// Index and metrics as 64-bit numbers, little-endian: what a Parquet file is made of.
    Binary,
}

impl Format {
    /// The public name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::JsonLines => "jsonl",
            Self::Binary => "binary",
        }
    }

    /// The format of that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Csv, Self::JsonLines, Self::Binary].into_iter().find(|form| form.name() == name)
    }
}

/// Writer of rows in a format.
pub(crate) struct Writer<'a> {
    format: Format,
    table: Table<'a>,
    caveat: Option<&'static str>,
}

impl<'a> Writer<'a> {
    /// Writer of the rows of a sweep.
    pub(crate) fn new(format: Format, space: &'a Space) -> Self {
        let caveat = space.spec().asks_quality().then_some(CAVEAT);
        let table = Table::new(space).with(caveat.map(|_| Column::Caveat));
        Self { format, table, caveat }
    }

    /// Header of a file.
    pub(crate) fn header(&self) -> Vec<u8> {
        if self.format != Format::Csv {
            return vec![];
        }
        let names = self.table.columns().iter().map(|column| column.name());
        (csv_line(names.chain(Provenance::NAMES.map(Cow::Borrowed))) + "\n").into_bytes()
    }

    /// Adds the row of a feasible design; what isn't feasible has none.
    pub(crate) fn add(&self, outcome: &Outcome<'_>, rows: &mut Vec<u8>) {
        if let Some(record) = self.table.record_of(outcome).filter(|it| it.broken.is_none()) {
            self.row(&record, rows);
        }
    }

    /// Adds the row of a design.
    fn row(&self, record: &Record<'_>, rows: &mut Vec<u8>) {
        match self.format {
            Format::Csv => {
                let from = provenance(record.design());
                let cells = csv_line(self.table.cells(record));
                let line = format!("{cells},{}\n", csv_line(from.values()));
                rows.extend_from_slice(line.as_bytes());
            }
            Format::JsonLines => {
                let row = [
                    ("index", Tree::Unsigned(record.index)),
                    ("knobs", self.table.knobs(record).said()),
                    ("metrics", self.table.metrics(record.values).said()),
                    (PROVENANCE, provenance(record.design()).tree()),
                ];
                let caveat = self.caveat.map(|it| ("caveat", it.into()));
                // Every key of a tree is a string, so that nothing can fail.
                let row = serde_json::to_vec(&Tree::map(row.into_iter().chain(caveat)));
                rows.extend(row.unwrap_or_default());
                rows.push(b'\n');
            }
            Format::Binary => binary_row(record.index, record.values, rows),
        }
    }
}

/// Adds the binary form of a row.
pub(crate) fn binary_row(index: u64, values: &[f64], rows: &mut Vec<u8>) {
    rows.extend_from_slice(&index.to_le_bytes());
    values.iter().for_each(|value| rows.extend_from_slice(&value.to_le_bytes()));
}

/// Bytes of a number in the binary form.
const NUMBER: usize = 8;

/// Next rows of the binary form, at most `most`; none at its end.
pub(super) fn next(
    space: &Space,
    rows: &mut impl Read,
    most: usize,
) -> io::Result<Vec<(u64, Vec<f64>)>> {
    let width = NUMBER * (1 + space.spec().columns.len());
    let mut bytes = Vec::new();
    rows.take((width * most) as u64).read_to_end(&mut bytes)?;
    let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).unwrap_or_default();
    let rows = bytes.chunks_exact(width).map(|row| {
        let mut numbers = row.chunks_exact(NUMBER).map(number);
        (numbers.next().unwrap_or_default(), numbers.map(f64::from_bits).collect())
    });
    Ok(rows.collect())
}

/// Writes rows of the binary form as text.
pub(crate) fn write(
    space: &Space,
    format: Format,
    mut rows: impl Read,
    to: &mut impl Write,
) -> io::Result<()> {
    /// Rows that are at hand at once.
    const MAX_ROWS: usize = 1_024;
    let writer = Writer::new(format, space);
    to.write_all(&writer.header())?;
    loop {
        let some = next(space, &mut rows, MAX_ROWS)?;
        if some.is_empty() {
            return Ok(());
        }
        let mut text = Vec::new();
        for (index, values) in &some {
            writer.row(&writer.table.record(*index, values), &mut text);
        }
        to.write_all(&text)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::designs::exports;

    #[test]
    fn every_row_opens_its_design_and_says_by_what_it_was_computed() {
        let spec = r#"{"schema":1,"space":{"tp":[4,8]},"design":{"preset":"pangu-ultra-moe-6k"}}"#;
        let space = Space::new(sweep::Spec::from_json(spec).unwrap()).unwrap();
        let values = vec![0.5; space.spec().columns.len()];
        for index in 0..2 {
            let expected = exports::provenance(&space.design(index));
            let [mut csv, mut json] = [vec![], vec![]];
            let row = |format, to: &mut Vec<u8>| {
                let writer = Writer::new(format, &space);
                writer.row(&writer.table.record(index, &values), to);
            };
            row(Format::Csv, &mut csv);
            let csv = String::from_utf8(csv).unwrap();
            assert!(csv.ends_with(&format!(",{}\n", expected.values().join(","))), "{csv}");
            row(Format::JsonLines, &mut json);
            let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
            assert_eq!(json["provenance"]["design"], expected.design);
            assert_eq!(json["provenance"]["date"], expected.date);
        }
    }
}
