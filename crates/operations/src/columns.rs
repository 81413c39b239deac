//! Text laid out in columns, for terminals.

use model::Answer;
use model::metric::{Basis, MetricId, Regime};
use present::format;

/// Rows below a line of heads; see [`table`].
pub fn table_below<const N: usize>(
    heads: [&str; N],
    columns: &str,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let heads = std::iter::once(heads.map(str::to_owned).to_vec());
    table(columns, &heads.chain(rows).collect::<Vec<_>>())
}

/// Rows of text with every column as wide as its widest cell, indented by two. `columns` has a
/// letter for each: `l` for text to the left, `r` to the right.
#[must_use]
pub fn table(columns: &str, rows: &[Vec<String>]) -> String {
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

/// A number to nine digits, without zeros at its end.
#[must_use]
pub fn plain(number: f64) -> String {
    let text = format::significant(number, 9);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Every metric of an answer with where half of the runs lie, or that it is exact.
pub fn metrics(answer: &Answer<'_>, exact: &str) -> String {
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
pub fn metric_of(regimes: &[Regime], of: &str, text: &str) -> Result<MetricId, String> {
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
