//! A chart with a caption sentence and its table, as HTML.

use std::fmt::Write as _;

use crate::present::html;

/// A figure.
pub(crate) struct Figure<'a> {
    /// The id of its heading and of itself.
    pub(crate) id: &'a str,
    /// The heading.
    pub(crate) title: &'a str,
    /// One sentence that says what the chart shows.
    pub(crate) caption: &'a str,
    /// The chart, as SVG.
    pub(crate) chart: &'a str,
    /// The same as a table; its first row is the header.
    pub(crate) rows: &'a [Vec<String>],
}

impl Figure<'_> {
    /// The figure, with something of its own below the chart.
    pub(crate) fn html(&self, below: &str) -> String {
        let Self { id, title, caption, chart, rows } = self;
        let mut text = format!(
            "<figure class=\"figure card\" id=\"{id}\" aria-labelledby=\"{id}-title\">\
             <figcaption><h2 id=\"{id}-title\">{title}</h2>"
        );
        html::element(&mut text, "p", "", caption);
        let table = html::table(title, rows);
        let save = html::save_buttons(id, title);
        // Writing to a string can't fail.
        let _ = write!(
            text,
            "</figcaption><div class=\"chart\">{chart}</div>{below}\
             <p class=\"figure-save\">{save}</p>\
             <details class=\"figure-table\"><summary>Table</summary>\
             <div class=\"scroll-x\" role=\"region\" tabindex=\"0\" aria-label=\"{title}, table\">\
             {table}</div><button type=\"button\" class=\"text-button\" data-save=\"{id}\">\
             Save as CSV</button></details></figure>"
        );
        text
    }
}
