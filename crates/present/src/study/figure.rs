//! A chart with a caption sentence and its table, as HTML.

use maud::{Markup, PreEscaped, html};

use crate::html::{save_buttons, table};

/// A figure.
pub struct Figure<'a> {
    /// The id of its heading and of itself.
    pub id: &'a str,
    /// The heading.
    pub title: &'a str,
    /// One sentence that says what the chart shows.
    pub caption: &'a str,
    /// The chart, as SVG.
    pub chart: &'a str,
    /// The chart's data as a table; its first row is the header.
    pub rows: &'a [Vec<String>],
}

impl Figure<'_> {
    /// The figure, with something of its own below the chart.
    pub fn html(&self, below: &Markup) -> Markup {
        let Self { id, title, caption, chart, rows } = self;
        html! {
            figure.figure.card id=(id) aria-labelledby={ (id) "-title" } {
                figcaption { h2 id={ (id) "-title" } { (title) } p { (caption) } }
                div.chart { (PreEscaped(chart)) }
                (below)
                p.figure-save { (save_buttons(id, title)) }
                details.figure-table {
                    summary { "Table" }
                    div.scroll-x role="region" tabindex="0" aria-label={ (title) ", table" } {
                        (PreEscaped(table(title, rows)))
                    }
                    button type="button" class="text-button" data-save=(id) { "Save as CSV" }
                }
            }
        }
    }
}
