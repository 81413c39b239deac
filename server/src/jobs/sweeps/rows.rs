//! The feasible designs of a sweep, one row each, as text: CSV and JSON lines. Each row says which
//! design it is, by its link, and which model computed it when; the sweep's digest knows no rows.

use std::io::{self, Read, Write};

use model::design::Design;
use model::design::file::{PROVENANCE, Tree};
use model::run::quality::CAVEAT;
use present::words::provenance::{Provenance, quoted};
use reports::typed::Said;
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

    /// Header of a file of this format.
    pub(crate) fn header(self, space: &Space) -> Vec<u8> {
        match self {
            Self::Csv => {
                let mut names = vec!["index".to_owned()];
                names.extend(sweep::varying(space).map(model::design::KnobId::id));
                let columns = space.spec().columns.iter();
                names.extend(columns.map(|id| id.metric().name.to_owned()));
                names.extend(space.spec().asks_quality().then(|| "caveat".to_owned()));
                names.extend(Provenance::NAMES.map(str::to_owned));
                format!("{}\n", names.join(",")).into_bytes()
            }
            Self::JsonLines | Self::Binary => vec![],
        }
    }

    /// Adds the row of a feasible design; what isn't feasible has none.
    pub(crate) fn add(self, space: &Space, outcome: &Outcome<'_>, rows: &mut Vec<u8>) {
        if let Outcome::Legal { index, values, broken: None, found, .. } = *outcome {
            match found {
                Some(design) => self.row_of(space, design, index, values, rows),
                None => self.row(space, index, values, rows),
            }
        }
    }

    /// Adds the row of a design.
    pub(crate) fn row(self, space: &Space, index: u64, values: &[f64], rows: &mut Vec<u8>) {
        self.row_of(space, &space.design(index), index, values, rows);
    }

    fn row_of(
        self,
        space: &Space,
        design: &Design,
        index: u64,
        values: &[f64],
        rows: &mut Vec<u8>,
    ) {
        let caveat = space.spec().asks_quality().then_some(CAVEAT);
        match self {
            Self::Csv => {
                let mut cells = vec![index.to_string()];
                let knobs = sweep::varying(space).map(|knob| design.get(knob).to_string());
                cells.extend(knobs.map(|text| quoted(&text)));
                cells.extend(values.iter().map(f64::to_string));
                cells.extend(caveat.map(quoted));
                cells.extend(provenance(design).values().map(quoted));
                rows.extend_from_slice(cells.join(",").as_bytes());
                rows.push(b'\n');
            }
            Self::JsonLines => {
                let row = [
                    ("index", Tree::Unsigned(index)),
                    ("knobs", sweep::knobs(space, index).said()),
                    ("metrics", metrics(space, values)),
                    (PROVENANCE, provenance(design).tree()),
                ];
                let row = Tree::map(row.into_iter().chain(caveat.map(|it| ("caveat", it.into()))));
                // Every key of a tree is a string, so that nothing can fail.
                rows.extend(serde_json::to_vec(&row).unwrap_or_default());
                rows.push(b'\n');
            }
            Self::Binary => {
                rows.extend_from_slice(&index.to_le_bytes());
                values.iter().for_each(|value| rows.extend_from_slice(&value.to_le_bytes()));
            }
        }
    }
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
    to.write_all(&format.header(space))?;
    loop {
        let some = next(space, &mut rows, MAX_ROWS)?;
        if some.is_empty() {
            return Ok(());
        }
        let mut text = Vec::new();
        some.iter().for_each(|(index, values)| format.row(space, *index, values, &mut text));
        to.write_all(&text)?;
    }
}

fn metrics(space: &Space, values: &[f64]) -> Tree {
    let columns = space.spec().columns.iter().zip(values);
    Tree::map(columns.map(|(id, value)| (id.metric().name, Tree::Real(*value))))
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
            Format::Csv.row(&space, index, &values, &mut csv);
            let csv = String::from_utf8(csv).unwrap();
            assert!(csv.ends_with(&format!(",{}\n", expected.values().join(","))), "{csv}");
            Format::JsonLines.row(&space, index, &values, &mut json);
            let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
            assert_eq!(json["provenance"]["design"], expected.design);
            assert_eq!(json["provenance"]["date"], expected.date);
        }
    }
}
