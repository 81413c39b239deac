//! HTML as text, for tables and figures of many parts: as views they would make up most of a
//! module. Everything that isn't markup goes through [`escape_into`].

pub mod broken;

use maud::{Markup, html};
use model::design::Design;
use model::design::link;
use model::ground::source::Source;

/// Appends text so that it is only text, inside an element or an attribute.
pub fn escape_into(html: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            _ => html.push(character),
        }
    }
}

/// A source: a link where it can be read somewhere.
pub fn source(source: Source) -> Markup {
    html! {
        @if source.url.is_empty() { (source.title) }
        @else { a href=(source.url) target="_blank" rel="noopener" { (source.title) } }
    }
}

/// A text as HTML shows it.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    escape_into(&mut html, text);
    html
}

/// A table; its first row is the header, its first column names each row.
#[must_use]
pub fn table(caption: &str, rows: &[Vec<String>]) -> String {
    let markup = html! {
        table {
            caption.visually-hidden { (caption) }
            @if let Some((header, body)) = rows.split_first() {
                thead { tr { @for cell in header { th scope="col" { (cell) } } } }
                tbody {
                    @for row in body {
                        tr {
                            @for cell in row.iter().take(1) { th scope="row" { (cell) } }
                            @for cell in row.iter().skip(1) { td { (cell) } }
                        }
                    }
                }
            }
        }
    };
    markup.into_string()
}

/// The head of a table. A column without a title has no header.
#[must_use]
pub fn table_head<T: AsRef<str>>(titles: &[T]) -> Markup {
    html! {
        thead {
            tr {
                @for title in titles.iter().map(AsRef::as_ref) {
                    @if title.is_empty() { td {} } @else { th scope="col" { (title) } }
                }
            }
        }
    }
}

/// A table with a name, which screen readers say, and titles of its columns.
#[must_use]
pub fn named_table(caption: &str, titles: &[&str], rows: &Markup) -> Markup {
    html! {
        table { caption.visually-hidden { (caption) } (table_head(titles)) tbody { (rows) } }
    }
}

/// A table whose roles stay when a narrow screen lays its rows out as blocks.
#[must_use]
pub fn table_of_blocks<'a>(
    (class, caption): (&str, &str),
    titles: impl IntoIterator<Item = &'a str>,
    rows: &Markup,
) -> Markup {
    html! {
        table class=(class) role="table" {
            caption.visually-hidden { (caption) }
            thead role="rowgroup" {
                tr role="row" {
                    @for title in titles { th scope="col" role="columnheader" { (title) } }
                }
            }
            tbody role="rowgroup" { (rows) }
        }
    }
}

/// The buttons that save the chart in the element of this id, whose title is this. A script of its
/// own knows them, so that they only show where one runs.
#[must_use]
pub fn save_buttons(id: &str, title: &str) -> Markup {
    let label = |kind: &str| format!("{kind} of {title}");
    html! {
        button type="button" class="text-button" data-save-picture=(id) title="Save as SVG"
            aria-label=(label("SVG")) { "SVG" }
        button type="button" class="text-button" data-save-png=(id) title="Save as PNG"
            aria-label=(label("PNG")) { "PNG" }
    }
}

/// A bar in a cell of a table, as long as a share of its width.
#[must_use]
pub fn cell_bar(share: f64) -> Markup {
    let width = (share.clamp(0.0, 1.0) * 100.0).round();
    html! {
        svg.cell-bar viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" {
            rect width=(width) height="4" {}
        }
    }
}

/// The address that opens a design. Where the explorer runs, a link to it that has `data-step` is
/// a step of its history, which undo calls by the attribute's value.
#[must_use]
pub fn design_address(design: &Design) -> String {
    format!("/?{}", link::encode(design))
}

/// A link to a design: what it changes, and in grey what that brings. `step` is what undo calls it.
#[must_use]
pub fn way(design: &Design, step: &str, class: &str, words: &str, effect: &str) -> Markup {
    html! {
        a href=(design_address(design)) data-step=(step) class=(class) {
            (words) " " span.muted { (effect) }
        }
    }
}

#[cfg(test)]
mod tests {
    use testing::page::Page as Html;

    use super::*;

    #[test]
    fn a_table_has_a_header_row_and_row_names_and_escapes_its_cells() {
        let rows = [["Stage", "GiB"], ["0", "<1 & 2>"]].map(|row| row.map(String::from).to_vec());
        let html = table("Memory", &rows);
        let html = Html::new(&html);
        assert_eq!(html.texts("thead th[scope=col]"), ["Stage", "GiB"]);
        assert_eq!(html.texts("tbody th[scope=row]"), ["0"]);
        assert_eq!(html.row("0"), ["<1 & 2>"]);
    }
}
