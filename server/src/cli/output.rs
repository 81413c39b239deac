//! Stdout and stderr, and text laid out in columns.

use std::io::{self, Write};

use model::design::violation::Violation;
use present::format;

use super::Failure;

/// Prints a result to stdout.
pub(super) fn result(text: &str) -> Result<(), Failure> {
    bytes(text.as_bytes())
}

/// Prints a result that is no text to stdout.
pub(super) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    written.map_err(|error| Failure::writing(&error))
}

/// Prints a message to stderr.
pub(super) fn message(line: &str) {
    // With stderr gone there is nowhere left to say so.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Rows below a line of heads; see [`table`].
pub(super) fn table_below<const N: usize>(
    heads: [&str; N],
    columns: &str,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let heads = std::iter::once(heads.map(str::to_owned).to_vec());
    table(columns, &heads.chain(rows).collect::<Vec<_>>())
}

/// Rows of text with every column as wide as its widest cell, indented by two. `columns` has a
/// letter for each: `l` where its text stands to the left, `r` to the right.
pub(super) fn table(columns: &str, rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let columns: Vec<_> = columns.chars().zip((0..columns.len()).map(width)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&columns).map(|(cell, (side, width))| match side {
            'l' => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let line: Vec<String> = cells.collect();
        text.push_str(format!("  {}", line.join("  ")).trim_end());
        text.push('\n');
    }
    text
}

/// A broken rule in a line, with its way out.
pub(super) fn broken_rule(violation: &Violation) -> String {
    let nearest: Vec<String> = violation
        .nearest
        .iter()
        .map(|nearest| format!("--set {}={}", nearest.knob.id(), nearest.value))
        .collect();
    let way_out = if nearest.is_empty() {
        String::new()
    } else {
        format!("; nearest: {}", nearest.join(", "))
    };
    format!("{} ({}){way_out}", violation.message, violation.rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["µs", "1"], ["stage", "10"]].map(|row| row.map(String::from).to_vec());
        assert_eq!(table("lr", &rows), "  µs      1\n  stage  10\n");
    }
}
