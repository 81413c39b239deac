//! A CSV file as rows of named cells.

/// An error in a file, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineError {
    /// The line, counted from 1.
    pub line: u64,
    /// The error, in a sentence.
    pub message: String,
}

impl core::fmt::Display for LineError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// A file: its header and its rows.
pub(super) struct Table {
    header: Vec<String>,
    rows: Vec<Record>,
}

struct Record {
    line: u64,
    cells: Vec<String>,
}

/// Fields of one row above this are not read.
const MAX_FIELDS: usize = 1_000;

impl Table {
    /// Reads a file; a byte-order mark, Windows line ends and short rows are fine.
    pub(super) fn read(text: &str) -> Result<Self, Vec<LineError>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .has_headers(false)
            .trim(csv::Trim::All)
            .from_reader(text.as_bytes());
        let mut rows = vec![];
        let mut errors = vec![];
        for record in reader.records() {
            match record {
                Ok(record) => rows.push(Record {
                    line: record.position().map_or(0, csv::Position::line),
                    cells: record.iter().take(MAX_FIELDS).map(str::to_owned).collect(),
                }),
                Err(error) => errors.push(LineError {
                    line: error.position().map_or(0, csv::Position::line),
                    message: error.to_string(),
                }),
            }
        }
        if rows.is_empty() {
            errors.push(LineError { line: 1, message: "the file has no header".to_owned() });
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let header = rows.remove(0).cells;
        Ok(Self { header, rows })
    }

    /// Whether the header names this column.
    pub(super) fn has(&self, column: &str) -> bool {
        self.header.iter().any(|name| name == column)
    }

    /// Checks that the columns exist.
    pub(super) fn need(&self, columns: &[&str]) -> Result<(), Vec<LineError>> {
        let absent: Vec<LineError> = columns
            .iter()
            .filter(|column| !self.has(column))
            .map(|column| LineError { line: 1, message: format!("there is no column `{column}`") })
            .collect();
        if absent.is_empty() { Ok(()) } else { Err(absent) }
    }

    /// The rows, in the file's order; empty lines are none.
    pub(super) fn rows(&self) -> impl Iterator<Item = Cells<'_>> {
        let filled = self.rows.iter().filter(|row| row.cells.iter().any(|cell| !cell.is_empty()));
        filled.map(|row| {
            let extra = row.cells.len() > self.header.len();
            let problems = if extra {
                vec![format!(
                    "line {} has {} fields, the header {}",
                    row.line,
                    row.cells.len(),
                    self.header.len()
                )]
            } else {
                vec![]
            };
            Cells { table: self, row, problems }
        })
    }
}

/// The cells of one row, by column.
pub(super) struct Cells<'a> {
    table: &'a Table,
    row: &'a Record,
    problems: Vec<String>,
}

impl Cells<'_> {
    fn cell(&self, column: &str) -> &str {
        let index = self.table.header.iter().position(|name| name == column);
        index.and_then(|index| self.row.cells.get(index)).map_or("", String::as_str)
    }

    /// A cell's text; empty where the column is absent.
    pub(super) fn text(&self, column: &str) -> String {
        self.cell(column).to_owned()
    }

    /// A positive number.
    pub(super) fn real(&mut self, column: &str) -> Option<f64> {
        let cell = self.cell(column);
        if cell.is_empty() {
            return None;
        }
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() && value > 0.0 && value < 1e30 => Some(value),
            _ => {
                self.refuse(column, "a positive number");
                None
            }
        }
    }

    /// A positive whole number.
    pub(super) fn whole(&mut self, column: &str) -> Option<u64> {
        let cell = self.cell(column);
        if cell.is_empty() {
            return None;
        }
        // Spreadsheets write `8.0`.
        let digits = cell.strip_suffix(".0").unwrap_or(cell);
        match digits.parse::<u64>() {
            Ok(value) if value > 0 && value < 1 << 48 => Some(value),
            _ => {
                self.refuse(column, "a positive whole number");
                None
            }
        }
    }

    fn refuse(&mut self, column: &str, wanted: &str) {
        let cell: String = self.cell(column).chars().take(40).collect();
        self.problems.push(format!("`{column}` is `{cell}`, not {wanted}"));
    }

    /// Problems of the cells read so far.
    pub(super) fn problems(self) -> Vec<String> {
        self.problems
    }
}
