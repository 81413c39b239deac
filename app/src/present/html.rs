//! HTML as text, for tables and figures of many parts: as views they would make up most of a
//! module. Everything that isn't markup goes through [`escape_into`].

use std::fmt::Write as _;

use model::design::Design;
use model::link;

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

/// A text as HTML shows it.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    escape_into(&mut html, text);
    html
}

/// Appends an element with text in it. Tag and attributes are our own; the text may be anything.
pub fn element(html: &mut String, tag: &str, attributes: &str, text: &str) {
    let gap = if attributes.is_empty() { "" } else { " " };
    let _ = write!(html, "<{tag}{gap}{attributes}>");
    escape_into(html, text);
    let _ = write!(html, "</{tag}>");
}

/// A table; its first row is the header, its first column names each row.
#[must_use]
pub fn table(caption: &str, rows: &[Vec<String>]) -> String {
    let mut html = String::from("<table><caption class=\"visually-hidden\">");
    escape_into(&mut html, caption);
    html.push_str("</caption>");
    for (index, row) in rows.iter().enumerate() {
        html.push_str(if index == 0 { "<thead><tr>" } else { "<tr>" });
        for (column, cell) in row.iter().enumerate() {
            let (open, close) = match (index, column) {
                (0, _) => ("<th scope=\"col\">", "</th>"),
                (_, 0) => ("<th scope=\"row\">", "</th>"),
                _ => ("<td>", "</td>"),
            };
            html.push_str(open);
            escape_into(&mut html, cell);
            html.push_str(close);
        }
        html.push_str(if index == 0 { "</tr></thead><tbody>" } else { "</tr>" });
    }
    html.push_str(if rows.is_empty() { "</table>" } else { "</tbody></table>" });
    html
}

/// The buttons that save the chart in the element of this id, whose title is this. A script of its
/// own knows them, so that they only show where one runs.
#[must_use]
pub fn save_buttons(id: &str, title: &str) -> String {
    let mut html = String::new();
    for (act, kind) in [("data-save-picture", "SVG"), ("data-save-png", "PNG")] {
        let attributes = format!(
            "type=\"button\" class=\"text-button\" {act}=\"{id}\" title=\"Save as {kind}\" \
             aria-label=\"{kind} of {}\"",
            escaped(title)
        );
        element(&mut html, "button", &attributes, kind);
    }
    html
}

/// The start of a link that opens a design: where the explorer runs, as a step of its history.
///
/// `label` is what undo calls the step. The caller adds `class`, content and `</a>`.
pub fn design_link(html: &mut String, design: &Design, label: &str) {
    html.push_str("<a href=\"/?");
    escape_into(html, &link::encode(design));
    let _ = write!(html, "\" data-step=\"{}\"", escaped(label));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_header_row_and_row_names_and_escapes_its_cells() {
        let rows = [["Stage", "GiB"], ["0", "<1 & 2>"]].map(|row| row.map(String::from).to_vec());
        let html = table("Memory", &rows);
        assert!(html.contains("<th scope=\"col\">Stage</th>"), "{html}");
        assert!(html.contains("<th scope=\"row\">0</th><td>&lt;1 &amp; 2&gt;</td>"), "{html}");
        assert!(html.ends_with("</tbody></table>"), "{html}");
    }

    #[test]
    fn a_link_to_a_design_is_escaped_and_opens_it() {
        let design = link::decode("?training.micro_batch_size=4").expect("a link that decodes");
        let mut html = String::new();
        design_link(&mut html, &design, "\"MBS\"");
        assert!(html.contains("&amp;") && html.contains("data-step=\"&quot;MBS&quot;\""), "{html}");
    }

    #[test]
    fn text_in_an_element_is_never_markup() {
        let mut html = String::new();
        element(&mut html, "td", "class=\"x\"", "<b> & \"c\"");
        assert_eq!(html, "<td class=\"x\">&lt;b&gt; &amp; &quot;c&quot;</td>");
    }
}
