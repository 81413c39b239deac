//! A report as one page that needs nothing else: to be kept, sent and printed.

use std::fmt::Write as _;

use app::present::html::escaped;

use super::content::Content;
use super::section::{Block, Cell};

/// What the charts look like: the site's own sheet for them.
const CHARTS: &str = include_str!("../../../../style/charts.css");

/// What the rest looks like, on a screen and on paper.
const STYLE: &str = include_str!("report.css");

/// The report as a page.
pub(crate) fn html(content: &Content) -> String {
    let name = escaped(&content.name);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <title>{name} – Moescape</title>\n<style>\n{CHARTS}\n{STYLE}</style>\n</head>\n<body>\n\
         <main>\n<h1>{name}</h1>\n<p class=\"state\">{}</p>\n",
        escaped(&content.state)
    );
    for section in &content.sections {
        let _ = writeln!(html, "<section>\n<h2>{}</h2>", section.title);
        section.blocks.iter().for_each(|block| write(&mut html, block, &content.origin));
        html.push_str("</section>\n");
    }
    html.push_str("</main>\n</body>\n</html>\n");
    html
}

fn write(html: &mut String, block: &Block, origin: &str) {
    let _ = match block {
        Block::Heading(title) => writeln!(html, "<h3>{}</h3>", escaped(title)),
        Block::Text(words) => writeln!(html, "<p>{}</p>", escaped(words)),
        Block::List(items) => {
            let items: String =
                items.iter().map(|item| format!("<li>{}</li>", escaped(item))).collect();
            writeln!(html, "<ul>{items}</ul>")
        }
        Block::Table(rows) => {
            table(html, rows, origin);
            Ok(())
        }
        Block::Said { who, text } => writeln!(
            html,
            "<figure class=\"said\"><figcaption>{}</figcaption>\n<blockquote>{}</blockquote>\
             </figure>",
            escaped(who),
            review::to_html(text)
        ),
        Block::Chart { svg, says } => writeln!(
            html,
            "<figure class=\"chart\">{svg}<figcaption>{}</figcaption></figure>",
            escaped(says)
        ),
    };
}

fn table(html: &mut String, rows: &[Vec<Cell>], origin: &str) {
    html.push_str("<div class=\"table\"><table>\n");
    for (place, row) in rows.iter().enumerate() {
        html.push_str(if place == 0 { "<thead><tr>" } else { "<tr>" });
        for (column, cell) in row.iter().enumerate() {
            let (open, close) = match (place, column) {
                (0, _) => ("<th scope=\"col\">", "</th>"),
                (_, 0) => ("<th scope=\"row\">", "</th>"),
                _ => ("<td>", "</td>"),
            };
            let _ = match cell {
                Cell::Text(words) => write!(html, "{open}{}{close}", escaped(words)),
                Cell::Design { text, link } => write!(
                    html,
                    "{open}<a href=\"{origin}/?{}\">{}</a>{close}",
                    escaped(link),
                    escaped(text)
                ),
            };
        }
        html.push_str(if place == 0 { "</tr></thead><tbody>\n" } else { "</tr>\n" });
    }
    html.push_str("</tbody></table></div>\n");
}
