//! The table of runs as HTML text, with the links that order it and turn its pages.

use model::units::Bytes;
use validation::report::Row;

use super::filter::{Filter, PAGE_SIZE, Sort};
use super::words::{self, NOTHING};
use crate::present::format;
use crate::present::html::{element, escaped};

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
pub(super) fn html(rows: &[Row], found: &[usize], filter: &Filter) -> String {
    let mut html = String::from(
        "<table role=\"table\"><caption class=\"visually-hidden\">Published runs beside their \
         predictions</caption><thead role=\"rowgroup\"><tr role=\"row\">",
    );
    for (sort, heading) in COLUMNS {
        if heading.is_empty() {
            header(&mut html, sort, filter);
        } else {
            element(&mut html, "th", "scope=\"col\" role=\"columnheader\"", heading);
        }
    }
    html.push_str("</tr></thead><tbody role=\"rowgroup\">");
    let start = first_page(found.len(), filter) * PAGE_SIZE;
    for index in found.iter().skip(start).take(PAGE_SIZE) {
        if let Some(row) = rows.get(*index) {
            line(&mut html, row);
        }
    }
    if found.is_empty() {
        html.push_str(
            "<tr role=\"row\"><td role=\"cell\" colspan=\"7\">No run is like that.</td></tr>",
        );
    }
    html.push_str("</tbody></table>");
    html
}

/// The page that is shown: one past the end is the last.
fn first_page(found: usize, filter: &Filter) -> usize {
    filter.page.min(found.saturating_sub(1) / PAGE_SIZE)
}

/// A heading with the link that orders by its column.
fn header(html: &mut String, sort: Sort, filter: &Filter) {
    let order = match (filter.sort == sort, filter.descending) {
        (false, _) => "none",
        (true, false) => "ascending",
        (true, true) => "descending",
    };
    let arrow = match order {
        "ascending" => " ▲",
        "descending" => " ▼",
        _ => "",
    };
    html.push_str(&format!(
        "<th scope=\"col\" role=\"columnheader\" aria-sort=\"{order}\">\
         <a id=\"sort-{}\" href=\"{}#runs\">{}\
         <span aria-hidden=\"true\">{arrow}</span></a></th>",
        sort.key(),
        escaped(&filter.sorted_by(sort).address()),
        sort.label(),
    ));
}

/// A run. The style sheet turns rows into blocks on a phone, so each part names its role.
fn line(html: &mut String, row: &Row) {
    html.push_str("<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">");
    if let Some(design) = &row.design {
        let label = format!("aria-label=\"Open {} in the explorer\"", escaped(&row.id));
        let query = design.strip_prefix('?').unwrap_or(design);
        let attributes = format!("class=\"open\" href=\"/?{}\" {label}", escaped(query));
        element(html, "a", &attributes, "Open");
    }
    element(html, "span", "class=\"run-id\"", &row.id);
    element(html, "span", "class=\"muted\"", &row.model);
    html.push_str("</th><td role=\"cell\" class=\"hardware-cell\">");
    hardware(html, row);
    html.push_str("</td>");
    cell(html, "Tier", "", &row.tier);
    html.push_str("<td role=\"cell\" data-label=\"Measured\">");
    element(html, "span", "", &words::value(row, row.measured));
    let metric = row.metric.as_deref().map_or("", words::metric_label);
    element(html, "span", "class=\"muted\"", metric);
    html.push_str("</td>");
    cell(html, "Predicted", "", &words::value(row, row.predicted));
    let class = match row.error {
        Some(error) if error.abs() > 0.2 => "far",
        Some(error) if error.abs() <= 0.1 => "near",
        _ => "",
    };
    let error = row.error.map_or_else(|| NOTHING.to_owned(), words::error);
    cell(html, "Error", class, &error);
    html.push_str("<td role=\"cell\" class=\"notes-cell\">");
    notes(html, row);
    html.push_str("</td></tr>");
}

/// A cell with the label that it has where the heading isn't in view.
fn cell(html: &mut String, label: &str, class: &str, text: &str) {
    let attributes = format!("role=\"cell\" data-label=\"{label}\" class=\"{class}\"");
    element(html, "td", &attributes, text);
}

fn hardware(html: &mut String, row: &Row) {
    let name = row.accelerator.as_deref().map_or(row.hardware.as_str(), words::accelerator_label);
    element(html, "span", "", name);
    let devices = row.num_devices.map(words::devices).unwrap_or_default();
    let joint = if devices.is_empty() || row.precision.is_empty() { "" } else { ", " };
    element(html, "span", "class=\"muted\"", &format!("{devices}{joint}{}", row.precision));
}

/// Why it is refused, or what was assumed, and where it was published.
fn notes(html: &mut String, row: &Row) {
    if let Some(refused) = &row.refused {
        element(html, "p", "", &format!("Refused: {refused}"));
    }
    let summary = match row.assumed.len() {
        0 => "Source".to_owned(),
        count => {
            let count = format::counted(count as u64, "assumption", "assumptions");
            format!("{count}, source")
        }
    };
    html.push_str("<details>");
    element(html, "summary", "", &summary);
    html.push_str("<ul>");
    for assumed in &row.assumed {
        element(html, "li", "", &format!("Assumed: {assumed}"));
    }
    let mut fact = |name: &str, text: &str| {
        if !text.is_empty() {
            element(html, "li", "", &format!("{name}: {text}"));
        }
    };
    fact("Hardware as published", &row.hardware);
    fact("Framework", row.framework.as_deref().unwrap_or(""));
    fact("Kind of run", &row.kind);
    let gib = |gib: f64| format::memory(Bytes::gib(gib));
    if let (Some(measured), Some(predicted)) = (row.memory_measured_gib, row.memory_predicted_gib) {
        let text = format!("{} measured, {} predicted", gib(measured), gib(predicted));
        fact("Peak memory of a device", &text);
    }
    let joint = if row.locator.is_empty() { "" } else { ", " };
    fact("Source", &format!("{}{joint}{}", row.source, row.locator));
    html.push_str("</ul></details>");
}

/// Links to the pages before and after, and where one is.
pub(super) fn pager(found: usize, filter: &Filter) -> String {
    let page = first_page(found, filter);
    let (first, last) = (page * PAGE_SIZE, ((page + 1) * PAGE_SIZE).min(found));
    let mut html = String::new();
    let mut link = |to: Option<usize>, id: &str, label: &str| {
        let Some(page) = to else {
            let attributes =
                format!("class=\"button\" id=\"{id}\" role=\"link\" aria-disabled=\"true\"");
            return element(&mut html, "a", &attributes, label);
        };
        let address = Filter { page, ..filter.clone() }.address();
        let attributes =
            format!("class=\"button\" id=\"{id}\" href=\"{}#runs\"", escaped(&address));
        element(&mut html, "a", &attributes, label);
    };
    link(page.checked_sub(1), "page-before", "Previous");
    link((last < found).then_some(page + 1), "page-after", "Next");
    let whole = |number: usize| format::whole(number as u64);
    let place = match found {
        0 => "0 runs".to_owned(),
        _ => format!("Runs {} to {} of {}", whole(first + 1), whole(last), whole(found)),
    };
    element(&mut html, "span", "class=\"muted\"", &place);
    html
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
    fn a_page_has_fifty_runs_and_one_past_the_end_is_the_last() {
        let count = |query: &str| table(query).matches("<th scope=\"row\"").count();
        assert_eq!((count(""), count("page=3"), count("page=99")), (50, 20, 20));
        assert!(table("page=99").contains("run-119"));
        let pager = pager(120, &Filter::from_query("page=99"));
        assert!(pager.contains("Runs 101 to 120 of 120"), "{pager}");
        assert!(pager.contains("href=\"/trust?page=2#runs\""), "{pager}");
    }

    #[test]
    fn the_column_that_orders_says_so() {
        let html = table("sort=-error");
        assert_eq!(html.matches("aria-sort=\"descending\"").count(), 1);
        assert!(html.contains("href=\"/trust?sort=error#runs\""), "{html}");
    }
}
