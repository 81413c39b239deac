//! Where what is exported comes from: a link to its design, the model's version, and the day.
//!
//! Every file that leaves the program says so inside: a file is mailed and copied, and its numbers
//! are of one design and of one version of the model.

use std::fmt::{Display, Write as _};

use maud::html;
use model::MODEL_VERSION;
use model::design::file::{PROVENANCE, Tree};
use reports::typed::Said;

/// Provenance of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The address, without the server's name, that shows what is exported: of a design its link.
    pub design: String,
    /// The day in UTC, as `2026-01-31`. The model has no clock: whoever exports knows it.
    pub date: String,
}

impl Provenance {
    /// The names of its entries, in every file; of a table they are the last columns.
    pub const NAMES: [&'static str; 3] = ["design", "model_version", "date"];

    /// Provenance of an export of the design in a query string.
    #[must_use]
    pub fn of_link(link: &str, date: impl Into<String>) -> Self {
        Self { design: format!("/?{link}"), date: date.into() }
    }

    /// The values, in the order of the names.
    #[must_use]
    pub fn values(&self) -> [&str; 3] {
        [&self.design, MODEL_VERSION, &self.date]
    }

    /// Names with their values.
    #[must_use]
    pub fn entries(&self) -> [(&'static str, &str); 3] {
        let [design, version, date] = self.values();
        let [of_design, of_version, of_date] = Self::NAMES;
        [(of_design, design), (of_version, version), (of_date, date)]
    }

    /// Value under [`PROVENANCE`] in JSON.
    #[must_use]
    pub fn answer(&self) -> reports::provenance::Provenance {
        reports::provenance::Provenance {
            design: self.design.clone(),
            model_version: MODEL_VERSION,
            date: self.date.clone(),
        }
    }

    /// The value under [`PROVENANCE`] as a tree.
    #[must_use]
    pub fn tree(&self) -> Tree {
        self.answer().said()
    }

    /// A tree that says where it comes from, behind what it has.
    #[must_use]
    pub fn in_tree(&self, mut tree: Tree) -> Tree {
        if let Tree::Map(entries) = &mut tree {
            entries.push((PROVENANCE.to_owned(), self.tree()));
        }
        tree
    }

    /// Lines of a comment, for scripts and TOML.
    #[must_use]
    pub fn comment(&self) -> String {
        let entries = self.entries().into_iter();
        // Names as people read them.
        entries.fold(String::new(), |mut text, (name, value)| {
            // Writing to a string can't fail.
            let _ = writeln!(text, "# {}: {value}", name.replace('_', " "));
            text
        })
    }

    /// The metadata of an SVG file.
    #[must_use]
    pub fn svg(&self) -> String {
        let markup = html! {
            metadata { @for (name, value) in self.entries() { (name) ": " (value) "\n" } } "\n"
        };
        markup.into_string()
    }

    /// CSV with the provenance as its last columns; no cell may hold a line's end.
    #[must_use]
    pub fn in_csv(&self, csv: &str) -> String {
        let mut text = String::new();
        for (place, line) in csv.lines().enumerate() {
            let more = if place == 0 { Self::NAMES } else { self.values() };
            text.extend([line, ",", &csv_line(more), "\r\n"]);
        }
        text
    }

    /// A table with the entries as its last columns, in every row: so they stay with the numbers
    /// when rows are sorted, filtered or copied, and no reader has to skip lines. The first row is
    /// the header.
    #[must_use]
    pub fn in_rows(&self, rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
        let more = |place: usize| if place == 0 { Self::NAMES } else { self.values() };
        let rows = rows.into_iter().enumerate();
        rows.map(|(place, row)| row.into_iter().chain(more(place).map(str::to_owned)).collect())
            .collect()
    }
}

/// Rows as CSV (RFC 4180).
#[must_use]
pub fn csv(rows: &[Vec<String>]) -> String {
    rows.iter().fold(String::new(), |text, row| text + &csv_line(row) + "\r\n")
}

/// Line of a CSV file without its end: a cell is in quotes where it needs them.
pub fn csv_line<T: Display>(cells: impl IntoIterator<Item = T>) -> String {
    let mut line = String::new();
    for (place, cell) in cells.into_iter().enumerate() {
        if place > 0 {
            line.push(',');
        }
        let start = line.len();
        // Writing to a string can't fail.
        let _ = write!(line, "{cell}");
        if line.as_bytes()[start..].iter().any(|byte| b",\"\n\r".contains(byte)) {
            let quoted = format!("\"{}\"", line[start..].replace('"', "\"\""));
            line.replace_range(start.., &quoted);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use model::design::file::json;

    use super::*;

    fn provenance() -> Provenance {
        Provenance::of_link("v=1&preset=deepseek-v3", "2026-01-31")
    }

    #[test]
    fn every_form_has_link_version_and_day() {
        let (it, rows) = (provenance(), vec![vec!["a".to_owned()], vec!["1".to_owned()]]);
        let rows = csv(&it.in_rows(rows));
        let row = format!("1,/?v=1&preset=deepseek-v3,{MODEL_VERSION},2026-01-31");
        assert_eq!(rows, format!("a,design,model_version,date\r\n{row}\r\n"));
        assert_eq!(it.in_csv("a\r\n1\r\n"), rows);
        let tree = json::print(&it.in_tree(Tree::map([("a", Tree::from(1_u64))])));
        for form in [it.comment(), it.svg().replace("&amp;", "&"), tree] {
            for value in it.values() {
                assert!(form.contains(value), "{form}");
            }
        }
        assert!(it.comment().lines().all(|line| line.starts_with("# ")), "{}", it.comment());
    }

    #[test]
    fn a_cell_with_commas_or_quotes_stays_one_cell() {
        let line = csv_line(["plain text", "a, \"b\"\nc", ""]);
        assert_eq!(line, "plain text,\"a, \"\"b\"\"\nc\",");
    }
}
