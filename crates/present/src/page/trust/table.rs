//! The table of runs as HTML text, with the links that order it and turn its pages.

use maud::{Markup, html};
use model::ground::units::Bytes;
use validation::report::Row;

use super::filter::{Filter, PAGE_SIZE, Sort};
use super::words::{self, NOTHING};
use crate::format;

/// The columns: what orders by them, or the heading of one that doesn't order.
const COLUMNS: [(Sort, &str); 7] = [
    (Sort::Run, ""),
    (Sort::Hardware, ""),
    (Sort::Tier, ""),
    (Sort::Measured, ""),
    (Sort::Predicted, ""),
    (Sort::Error, ""),
    (Sort::File, "Assumed or refused"),
];

/// The table: one page of the runs that the filter takes.
pub fn html(rows: &[Row], found: &[usize], filter: &Filter) -> String {
    let start = first_page(found.len(), filter) * PAGE_SIZE;
    let shown = found.iter().skip(start).take(PAGE_SIZE);
    let markup = html! {
        table role="table" {
            caption.visually-hidden { "Published runs beside their predictions" }
            thead role="rowgroup" {
                tr role="row" {
                    @for (sort, heading) in COLUMNS {
                        @if heading.is_empty() {
                            (header(sort, filter))
                        } @else {
                            th scope="col" role="columnheader" { (heading) }
                        }
                    }
                }
            }
            tbody role="rowgroup" {
                @for row in shown.filter_map(|index| rows.get(*index)) { (line(row)) }
                @if found.is_empty() {
                    tr role="row" { td role="cell" colspan="7" { "No run matches." } }
                }
            }
        }
    };
    markup.into_string()
}

/// The page that is shown: one past the end is the last.
fn first_page(found: usize, filter: &Filter) -> usize {
    filter.page.min(found.saturating_sub(1) / PAGE_SIZE)
}

/// A heading with the link that orders by its column.
fn header(sort: Sort, filter: &Filter) -> Markup {
    let (order, arrow) = match (filter.sort == sort, filter.descending) {
        (false, _) => ("none", ""),
        (true, false) => ("ascending", " ▲"),
        (true, true) => ("descending", " ▼"),
    };
    html! {
        th scope="col" role="columnheader" aria-sort=(order) {
            a id={ "sort-" (sort.key()) } href={ (filter.sorted_by(sort).address()) "#runs" } {
                (sort.label()) span aria-hidden="true" { (arrow) }
            }
        }
    }
}

/// A run. The style sheet turns rows into blocks on a phone, so each part names its role, and its
/// label where the heading isn't in view.
fn line(row: &Row) -> Markup {
    let query = row.design.as_ref().map(|design| design.strip_prefix('?').unwrap_or(design));
    let accelerator = row.accelerator.as_deref();
    let devices = row.num_devices.map(words::devices).unwrap_or_default();
    let joint = if devices.is_empty() || row.precision.is_empty() { "" } else { ", " };
    let class = match row.error {
        Some(error) if error.abs() > 0.2 => "far",
        Some(error) if error.abs() <= 0.1 => "near",
        _ => "",
    };
    html! {
        tr role="row" {
            th scope="row" role="rowheader" {
                @if let Some(query) = query {
                    a.open href={ "/?" (query) }
                        aria-label={ "Open " (row.id) " in the explorer" } { "Open" }
                }
                span.run-id { (row.id) }
                span.muted { (row.model) }
            }
            td.hardware-cell role="cell" {
                span { (accelerator.map_or(row.hardware.as_str(), words::accelerator_label)) }
                span.muted { (devices) (joint) (row.precision) }
            }
            td role="cell" data-label="Tier" { (row.tier) }
            td role="cell" data-label="Measured" {
                span { (words::value(row, row.measured)) }
                span.muted { (row.metric.as_deref().map_or("", words::metric_label)) }
            }
            td role="cell" data-label="Predicted" { (words::value(row, row.predicted)) }
            td role="cell" data-label="Error" class=(class) {
                (row.error.map_or_else(|| NOTHING.to_owned(), words::error))
            }
            td.notes-cell role="cell" { (notes(row)) }
        }
    }
}

/// Notes on a run: why it is refused, or what was assumed, and where it was published.
fn notes(row: &Row) -> Markup {
    let gib = |gib: f64| format::memory(Bytes::gib(gib));
    let memory = row.memory_measured_gib.zip(row.memory_predicted_gib);
    let memory = memory.map(|(measured, predicted)| {
        format!("{} measured, {} predicted", gib(measured), gib(predicted))
    });
    let joint = if row.locator.is_empty() { "" } else { ", " };
    let source = format!("{}{joint}{}", row.source, row.locator);
    let facts = [
        ("Hardware as published", row.hardware.as_str()),
        ("Framework", row.framework.as_deref().unwrap_or_default()),
        ("Kind of run", &row.kind),
        ("Peak memory of a device", memory.as_deref().unwrap_or_default()),
        ("Source", &source),
    ];
    html! {
        @if let Some(refused) = &row.refused { p { "Not modelled: " (refused) } }
        details {
            summary {
                @match row.assumed.len() {
                    0 => "Source",
                    count => {
                        (format::counted(count as u64, "assumption", "assumptions")) ", source"
                    }
                }
            }
            ul {
                @for assumed in &row.assumed { li { "Assumed: " (assumed) } }
                @for (name, text) in facts {
                    @if !text.is_empty() { li { (name) ": " (text) } }
                }
            }
        }
    }
}

/// Links to the pages before and after, and where one is.
pub fn pager(found: usize, filter: &Filter) -> String {
    let page = first_page(found, filter);
    let (first, last) = (page * PAGE_SIZE, ((page + 1) * PAGE_SIZE).min(found));
    let whole = |number: usize| format::whole(number as u64);
    let place = match found {
        0 => "0 runs".to_owned(),
        _ => format!("Runs {} to {} of {}", whole(first + 1), whole(last), whole(found)),
    };
    let link = |to: Option<usize>, id: &str, label: &str| {
        let address = to.map(|page| Filter { page, ..filter.clone() }.address() + "#runs");
        let is_dead = address.is_none();
        html! {
            a.button id=(id) href=[address] role=[is_dead.then_some("link")]
                aria-disabled=[is_dead.then_some("true")] { (label) }
        }
    };
    let markup = html! {
        (link(page.checked_sub(1), "page-before", "Previous"))
        (link((last < found).then_some(page + 1), "page-after", "Next"))
        span.muted { (place) }
    };
    markup.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize) -> Vec<Row> {
        let row = |index: usize| Row {
            id: format!("run-{index:03}"),
            hardware: "<rack> & \"node\"".to_owned(),
            design: Some("?v=1&preset=deepseek-v3".to_owned()),
            ..Row::default()
        };
        (0..count).map(row).collect()
    }

    fn table(query: &str) -> String {
        let rows = rows(120);
        let filter = Filter::from_query(query);
        html(&rows, &filter.select(&rows), &filter)
    }

    #[test]
    fn the_table_is_well_formed_and_its_cells_are_text() {
        let html = table("q=%22%3Cb%3E");
        roxmltree::Document::parse(&html).expect("well-formed");
        let html = table("");
        roxmltree::Document::parse(&html).expect("well-formed");
        assert!(html.contains("&lt;rack&gt; &amp; &quot;node&quot;"), "{html}");
        assert!(html.contains("href=\"/?v=1&amp;preset=deepseek-v3\""), "{html}");
    }

    #[test]
    fn a_page_has_25_runs_and_one_past_the_end_is_the_last() {
        let count = |query: &str| table(query).matches("<th scope=\"row\"").count();
        assert_eq!((count(""), count("page=5"), count("page=99")), (25, 20, 20));
        assert!(table("page=99").contains("run-119"));
        let pager = pager(120, &Filter::from_query("page=99"));
        assert!(pager.contains("Runs 101 to 120 of 120"), "{pager}");
        assert!(pager.contains("href=\"/trust?page=4#runs\""), "{pager}");
    }

    #[test]
    fn the_column_that_orders_says_so() {
        let html = table("sort=-error");
        assert_eq!(html.matches("aria-sort=\"descending\"").count(), 1);
        assert!(html.contains("href=\"/trust?sort=error#runs\""), "{html}");
    }
}
