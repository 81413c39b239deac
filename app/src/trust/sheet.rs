//! Cards and tables as HTML text.

use super::words::{element, escaped};

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) text: String,
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
            let (open, close) = if column == 0 { ("th scope=\"row\"", "th") } else { ("td", "td") };
            html.push_str(&format!("<{open} class=\"{}\">", cell.class));
            match cell.link {
                Some(link) => {
                    let attributes = format!("href=\"{}\"", escaped(&link));
                    element(&mut html, "a", &attributes, &cell.text);
                }
                None => html.push_str(&escaped(&cell.text)),
            }
            html.push_str(&format!("</{close}>"));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}
