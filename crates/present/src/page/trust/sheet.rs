//! Cards and tables as HTML text.

use maud::{Markup, PreEscaped, html};

use crate::html::named_table;

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    /// Small words: under the name of a row, before any other text.
    pub(super) note: String,
    pub(super) link: Option<String>,
    pub(super) class: &'static str,
}

impl Cell {
    pub(super) fn text(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Text that takes several lines only where there is no room.
    pub(super) fn narrow(text: &str) -> Self {
        Self { class: "narrow", ..Self::text(text) }
    }

    /// Text of several words, which may take several lines.
    pub(super) fn words(text: &str) -> Self {
        Self { class: "words", ..Self::text(text) }
    }
}

/// A card with a heading, a sentence, and what it holds.
pub(super) fn card(title: &str, intro: &str, content: &Markup) -> Markup {
    html! {
        section.card.trust-card {
            h2 { (title) }
            @if !intro.is_empty() { p.muted { (intro) } }
            (content)
        }
    }
}

/// A card that is opened to be read.
pub(super) fn folded(title: &str, intro: &str, content: &Markup) -> Markup {
    html! {
        section.card.trust-card {
            details {
                summary { h2.compare-summary { (title) } }
                @if !intro.is_empty() { p.muted { (intro) } }
                (content)
            }
        }
    }
}

/// A table that scrolls by itself; its first column names each row.
pub(super) fn table(
    caption: &str,
    columns: &[&str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
) -> Markup {
    let rows = html! {
        @for row in rows {
            tr {
                @for cell in row.iter().take(1) {
                    th scope="row" class=(cell.class) { (name(cell)) }
                }
                @for cell in row.iter().skip(1) {
                    td class=(cell.class) {
                        @if !cell.note.is_empty() { span.mark { (cell.note) } " " }
                        (linked(cell, &html! { (cell.text) }))
                    }
                }
            }
        }
    };
    html! {
        div.scroll-x role="region" tabindex="0" aria-label={ (caption) ", table" } {
            (named_table(caption, columns, &rows))
        }
    }
}

/// Name of a row, with its note.
fn name(cell: &Cell) -> Markup {
    let name = breakable(&cell.text);
    html! {
        @if cell.note.is_empty() {
            (linked(cell, &name))
        } @else {
            span.named { span { (name) } span.muted { (cell.note) } }
        }
    }
}

/// A cell's text inside its link.
fn linked(cell: &Cell, text: &Markup) -> Markup {
    html! { @if let Some(link) = &cell.link { a href=(link) { (text) } } @else { (text) } }
}

/// Text whose ids may be broken between their parts only.
fn breakable(text: &str) -> Markup {
    let escaped = html! { (text) }.into_string();
    PreEscaped(escaped.split_inclusive(['/', '_']).collect::<Vec<_>>().join("<wbr/>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_breaks_between_its_parts_and_a_mark_stands_before_a_value() {
        let name = Cell { link: Some("/?a&b".to_owned()), ..Cell::text("runs/a_b <i>") };
        let value = Cell { note: "set".to_owned(), ..Cell::text("30 %") };
        let html = table("Table", &["", "Share"], [vec![name, value]]).into_string();
        roxmltree::Document::parse(&html).expect("well-formed");
        let text = "<a href=\"/?a&amp;b\">runs/<wbr/>a_<wbr/>b &lt;i&gt;</a>";
        assert!(html.contains(text), "{html}");
        assert!(html.contains("<span class=\"mark\">set</span> 30 %</td>"), "{html}");
    }
}
