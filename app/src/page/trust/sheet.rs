//! Cards and tables as HTML text.

use crate::present::html::{element, escaped};

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

/// A card with a heading, a sentence, and HTML.
pub(super) fn card(title: &str, intro: &str, content: &str) -> String {
    let mut html = String::from("<section class=\"card trust-card\">");
    element(&mut html, "h2", "", title);
    if !intro.is_empty() {
        element(&mut html, "p", "class=\"muted\"", intro);
    }
    html.push_str(content);
    html.push_str("</section>");
    html
}

/// A table that scrolls by itself; its first column names each row.
pub(super) fn table(caption: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> String {
    let mut html = format!(
        "<div class=\"scroll-x\" role=\"region\" tabindex=\"0\" aria-label=\"{}, table\"><table>",
        escaped(caption),
    );
    element(&mut html, "caption", "class=\"visually-hidden\"", caption);
    html.push_str("<thead><tr>");
    for column in columns {
        let tag = if column.is_empty() { "td" } else { "th" };
        let attributes = if column.is_empty() { "" } else { "scope=\"col\"" };
        element(&mut html, tag, attributes, column);
    }
    html.push_str("</tr></thead><tbody>");
    for row in rows {
        html.push_str("<tr>");
        for (column, cell) in row.into_iter().enumerate() {
            let tag = if column == 0 { "th scope=\"row\"" } else { "td" };
            html.push_str(&format!("<{tag} class=\"{}\">", cell.class));
            if column == 0 {
                name(&mut html, &cell);
            } else {
                value(&mut html, &cell);
            }
            html.push_str(if column == 0 { "</th>" } else { "</td>" });
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}

/// What names a row.
fn name(html: &mut String, cell: &Cell) {
    if cell.note.is_empty() {
        return html.push_str(&linked(cell, &breakable(&cell.text)));
    }
    html.push_str(&format!("<span class=\"named\"><span>{}</span>", breakable(&cell.text)));
    element(html, "span", "class=\"muted\"", &cell.note);
    html.push_str("</span>");
}

fn value(html: &mut String, cell: &Cell) {
    if !cell.note.is_empty() {
        element(html, "span", "class=\"mark\"", &cell.note);
        html.push(' ');
    }
    html.push_str(&linked(cell, &escaped(&cell.text)));
}

/// A cell's text, as HTML, inside its link.
fn linked(cell: &Cell, html: &str) -> String {
    match &cell.link {
        Some(link) => format!("<a href=\"{}\">{html}</a>", escaped(link)),
        None => html.to_owned(),
    }
}

/// Text as HTML whose ids may be broken between their parts only.
fn breakable(text: &str) -> String {
    escaped(text).split_inclusive(['/', '_']).collect::<Vec<_>>().join("<wbr/>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_breaks_between_its_parts_and_a_mark_stands_before_a_value() {
        let name = Cell { link: Some("/?a&b".to_owned()), ..Cell::text("runs/a_b <i>") };
        let value = Cell { note: "set".to_owned(), ..Cell::text("30 %") };
        let html = table("Table", &["", "Share"], vec![vec![name, value]]);
        roxmltree::Document::parse(&html).expect("well-formed");
        let text = "<a href=\"/?a&amp;b\">runs/<wbr/>a_<wbr/>b &lt;i&gt;</a>";
        assert!(html.contains(text), "{html}");
        assert!(html.contains("<span class=\"mark\">set</span> 30 %</td>"), "{html}");
    }
}
