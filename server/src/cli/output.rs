//! Stdout and stderr, and text laid out in columns.

use std::io::{self, Write};

use model::Answer;
use model::design::violation::Violation;
use model::metric::{Basis, MetricId, Regime};
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

/// Every metric of an answer with where half of the runs lie, or that it is exact.
pub(super) fn metrics(answer: &Answer<'_>, exact: &str) -> String {
    let row = |id: MetricId| {
        let metric = id.metric();
        let likely = match (answer.range(id), answer.number(id), metric.basis) {
            (Some(range), Some(value), _) => {
                let ends = range.half.map(|by| format::measured(id, value * by).to_string());
                format!("half of runs: {}", format::span(ends))
            }
            (None, Some(_), Basis::Exact) => exact.to_owned(),
            _ => String::new(),
        };
        let value = format::metric(id, answer.get(id)).to_string();
        vec![metric.label.into(), value, likely, id.words().definition.into()]
    };
    table("lrll", &MetricId::of(answer.regime()).map(row).collect::<Vec<_>>())
}

/// The metric of some regimes that a text names, or which there are.
pub(super) fn metric_of(regimes: &[Regime], of: &str, text: &str) -> Result<MetricId, String> {
    let known = || regimes.iter().copied().flat_map(MetricId::of);
    known().find(|id| id.metric().name == text).ok_or_else(|| {
        let names: Vec<&str> = known().map(|id| id.metric().name).collect();
        format!("there is no such metric of {of}; there are {}", names.join(", "))
    })
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
