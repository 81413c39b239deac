//! A report as one page that needs nothing else: to be kept, sent and printed.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::content::Content;
use super::section::{Block, Cell};

/// Style of the charts: the site's own sheet for them.
const CHARTS: &str = include_str!("../../../../../style/charts.css");

/// Style of the rest, on a screen and on paper.
const STYLE: &str = include_str!("report.css");

/// The report as a page.
pub(crate) fn html(content: &Content) -> String {
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action \
                  'none'";
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta http-equiv="Content-Security-Policy" content=(policy);
                title { (content.name) " – Moescape" }
                style { (PreEscaped(CHARTS)) (PreEscaped(STYLE)) }
            }
            body { main {
                h1 { (content.name) }
                p.state { (content.state) }
                @for section in &content.sections {
                    section {
                        h2 { (section.title) }
                        @for block in &section.blocks { (written(block, &content.origin)) }
                    }
                }
            } }
        }
    };
    page.into_string()
}

fn written(block: &Block, origin: &str) -> Markup {
    html! {
        @match block {
            Block::Heading(title) => h3 { (title) },
            Block::Text(words) => p { (words) },
            Block::List(items) => ul { @for item in items { li { (item) } } },
            Block::Table(rows) => (table(rows, origin)),
            Block::Said { who, text } => figure.said {
                figcaption { (who) }
                blockquote { (PreEscaped(review::to_html(text))) }
            },
            Block::Chart { svg, says } => figure.chart {
                (PreEscaped(svg))
                figcaption { (says) }
            },
        }
    }
}

/// A table; its first row is the header, its first column names each row.
fn table(rows: &[Vec<Cell>], origin: &str) -> Markup {
    let (header, rows) = rows.split_first().map_or((&[][..], rows), |(one, rest)| (one, rest));
    let text = |cell: &Cell| {
        html! {
            @match cell {
                Cell::Text(words) => (words),
                Cell::Design { text, link } => a href={ (origin) "/?" (link) } { (text) },
            }
        }
    };
    html! {
        div.table { table {
            thead { tr { @for cell in header { th scope="col" { (text(cell)) } } } }
            tbody { @for row in rows { tr { @for (column, cell) in row.iter().enumerate() {
                @if column == 0 { th scope="row" { (text(cell)) } } @else { td { (text(cell)) } }
            } } } }
        } }
    }
}
