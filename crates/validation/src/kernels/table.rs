//! A table of kernels: rows of named cells.

use model::catalogue::accelerator::AcceleratorId;
use model::ground::choice::Precision;

use super::PRECISIONS;

/// A row of an embedded table.
pub(super) struct Row<'a> {
    header: &'a [&'a str],
    cells: Vec<&'a str>,
}

/// The rows of an embedded table, which a test reads: no cell is quoted.
pub(super) fn rows<T>(text: &'static str, of: impl Fn(&Row<'_>) -> Option<T>) -> Vec<T> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    lines
        .filter_map(|line| of(&Row { header: &header, cells: line.split(',').collect() }))
        .collect()
}

impl<'a> Row<'a> {
    /// A cell's text; empty where the column is absent.
    pub(super) fn text(&self, column: &str) -> &'a str {
        let index = self.header.iter().position(|name| *name == column);
        index.and_then(|index| self.cells.get(index)).copied().unwrap_or_default()
    }

    /// A positive number.
    pub(super) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok().filter(|number| *number > 0.0)
    }

    /// A positive whole number.
    pub(super) fn whole(&self, column: &str) -> Option<u64> {
        self.text(column).parse().ok().filter(|number| *number > 0)
    }

    /// The part.
    pub(super) fn part(&self) -> Option<AcceleratorId> {
        AcceleratorId::named_in(self.text("system"))
    }

    /// The number format.
    pub(super) fn precision(&self) -> Option<Precision> {
        let dtype = match self.text("dtype") {
            "bfloat16" => "bf16",
            other => other,
        };
        PRECISIONS.iter().find(|(name, _)| *name == dtype).map(|(_, precision)| *precision)
    }
}
