//! The table of designs, the pinned ones beside each other, and the table as a file.

use std::fmt::Write as _;

use model::metric::MetricValue;

use super::button;
use crate::page::results::data::{Data, Dim, Standing};
use crate::page::results::select::{self, Selection};
use crate::page::results::view::{MAX_PINS, View};
use crate::present::format;
use crate::present::html::{element, escaped};

/// Rows of a page of the table.
const PAGE_ROWS: usize = 25;

/// The table of designs.
#[must_use]
pub fn table(data: &Data, view: &View, selection: &Selection) -> String {
    let of_page = |page: usize| {
        let places = page * PAGE_ROWS..(page + 1).saturating_mul(PAGE_ROWS);
        select::some_rows(data, view, selection, places)
    };
    // A page that was left behind by a range is the last one that there is.
    let most = selection.brushed.div_ceil(PAGE_ROWS).max(1);
    let mut page = view.page.min(most - 1);
    let (mut rows, mut count) = of_page(page);
    let pages = count.div_ceil(PAGE_ROWS).max(1);
    if page >= pages {
        page = pages - 1;
        (rows, count) = of_page(page);
    }
    let dims: Vec<Dim> = table_dims(data);
    let mut html = String::from(
        "<div class=\"scroll-x sweep-table\" role=\"region\" tabindex=\"0\" \
         aria-label=\"Designs, table\"><table><caption class=\"visually-hidden\">Designs with \
         their metrics and knobs</caption><thead><tr><th scope=\"col\">Design</th>",
    );
    let (sorted, descending) = select::order(data, view);
    for dim in &dims {
        let state = match (*dim == sorted, descending) {
            (false, _) => "none",
            (true, true) => "descending",
            (true, false) => "ascending",
        };
        let mark = match state {
            "descending" => " ↓",
            "ascending" => " ↑",
            _ => "",
        };
        let id = data.dim_id(*dim);
        let _ = write!(
            html,
            "<th scope=\"col\" aria-sort=\"{state}\"><button type=\"button\" \
             class=\"text-button only-live\" id=\"sort-{id}\" data-do=\"sort\" \
             data-with=\"{id}\">{label}{mark}</button><span class=\"only-plain\">{label}</span>\
             </th>",
            label = escaped(data.label(*dim)),
        );
    }
    html.push_str("<th scope=\"col\" class=\"only-live\">Compare</th></tr></thead><tbody>");
    for row in &rows {
        table_row(&mut html, data, view, &dims, *row);
    }
    if rows.is_empty() {
        let text = if data.rows.is_empty() {
            if data.is_over() {
                "No design keeps everything; below is what rules them out."
            } else {
                "No design keeps everything so far; below is what rules them out."
            }
        } else {
            "No design is left: widen a range, or bring all back."
        };
        let _ =
            write!(html, "<tr><td class=\"words\" colspan=\"{}\">{text}</td></tr>", dims.len() + 2);
    }
    html.push_str("</tbody></table></div><div class=\"sweep-pages only-live\">");
    let from = if rows.is_empty() { 0 } else { page * PAGE_ROWS + 1 };
    let to = page * PAGE_ROWS + rows.len();
    let text = format!(
        "{} to {} of {}",
        format::whole(from as u64),
        format::whole(to as u64),
        format::whole(count as u64)
    );
    element(&mut html, "span", "class=\"muted\"", &text);
    if page > 0 {
        button(&mut html, "page-before", "page", &(page - 1).to_string(), "", "Before");
    }
    if page + 1 < pages {
        button(&mut html, "page-next", "page", &(page + 1).to_string(), "", "Next");
    }
    html.push_str("</div>");
    html
}

/// Columns of the table: metrics, knobs that vary, knobs that follow.
pub(super) fn table_dims(data: &Data) -> Vec<Dim> {
    let metrics = (0..data.metrics.len()).map(Dim::Metric);
    metrics.chain((0..data.knobs.len()).map(Dim::Knob)).collect()
}

fn table_row(html: &mut String, data: &Data, view: &View, dims: &[Dim], row: usize) {
    let index = data.rows.index[row];
    let class = match (view.at == Some(index), data.rows.front[row]) {
        (true, _) => "current",
        (false, true) => "front",
        (false, false) => "",
    };
    let _ = write!(html, "<tr class=\"{class}\" data-row=\"{row}\"><th scope=\"row\">");
    let attributes = format!(
        "id=\"open-{index}\" href=\"{}\" title=\"Open in the explorer\"",
        escaped(&data.design_address(index)),
    );
    element(html, "a", &attributes, &format::whole(index));
    if data.rows.front[row] {
        html.push_str(" <span class=\"mark\">front</span>");
    }
    let standing = data.standing(row);
    if !standing.label().is_empty() {
        let class = if standing == Standing::Simulated { "mark" } else { "mark doubt" };
        html.push(' ');
        element(html, "span", &format!("class=\"{class}\""), standing.label());
    }
    html.push_str("</th>");
    for dim in dims {
        html.push_str("<td>");
        html.push_str(&escaped(&data.text(*dim, row)));
        if let Some(closed) = data.closed_text(*dim, row) {
            let title = "title=\"By the closed form\" class=\"muted\"";
            html.push(' ');
            element(html, "span", title, &format!("({closed})"));
        }
        html.push_str("</td>");
    }
    let pinned = view.pins.contains(&index);
    let full = !pinned && view.pins.len() >= MAX_PINS;
    let _ = write!(
        html,
        "<td class=\"only-live\"><button type=\"button\" class=\"text-button\" \
         id=\"pin-{index}\" data-do=\"pin\" data-with=\"{index}\" aria-pressed=\"{pinned}\" \
         aria-label=\"Pin design {index}\"{}>{}</button></td></tr>",
        if full { " disabled" } else { "" },
        if pinned { "Unpin" } else { "Pin" },
    );
}

/// The pinned designs beside each other.
#[must_use]
pub fn pins(data: &Data, view: &View) -> String {
    let rows: Vec<usize> = view.pins.iter().filter_map(|pin| data.row_of(*pin)).collect();
    if view.pins.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<h2 id=\"pins-title\">Pinned designs</h2><div class=\"scroll-x\" role=\"region\" \
         tabindex=\"0\" aria-labelledby=\"pins-title\"><table><thead><tr><td></td>",
    );
    for (place, row) in rows.iter().enumerate() {
        let index = data.rows.index[*row];
        html.push_str("<th scope=\"col\">");
        let attributes = format!("href=\"{}\"", escaped(&data.design_address(index)));
        element(&mut html, "a", &attributes, &format!("Design {}", format::whole(index)));
        let standing = data.standing(*row).label();
        if !standing.is_empty() {
            html.push(' ');
            element(&mut html, "span", "class=\"muted\"", standing);
        }
        html.push_str(" <span class=\"only-live\">");
        let id = format!("unpin-{index}");
        button(&mut html, &id, "pin", &index.to_string(), "way", "Unpin");
        html.push_str("</span></th>");
        if place > 0 {
            html.push_str("<th scope=\"col\">against the first</th>");
        }
    }
    html.push_str("</tr></thead><tbody>");
    for dim in table_dims(data) {
        let first = rows.first().map(|row| data.number(dim, *row));
        let differs = rows.iter().any(|row| Some(data.number(dim, *row)) != first);
        if matches!(dim, Dim::Knob(_)) && !differs && rows.len() > 1 {
            continue;
        }
        html.push_str("<tr>");
        element(&mut html, "th", "scope=\"row\"", data.label(dim));
        for (place, row) in rows.iter().enumerate() {
            let text = match data.closed_text(dim, *row) {
                Some(closed) => format!("{} ({closed})", data.text(dim, *row)),
                None => data.text(dim, *row),
            };
            element(&mut html, "td", "", &text);
            if place > 0 {
                let change = change(data, dim, first.unwrap_or(0.0), data.number(dim, *row));
                element(&mut html, "td", "class=\"muted\"", &change);
            }
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    if rows.len() < view.pins.len() {
        let lost = (view.pins.len() - rows.len()) as u64;
        let text = format!(
            "{} not among the designs that are kept any more.",
            format::counted(lost, "pinned design is", "pinned designs are"),
        );
        element(&mut html, "p", "class=\"muted\"", &text);
    }
    if rows.len() > 1 {
        html.push_str("<p class=\"muted\">Knobs on which all agree are left out.</p>");
    }
    let address = data.comparison_address(&view.pins);
    let attributes = format!("class=\"button way\" href=\"{}\"", escaped(&address));
    element(&mut html, "a", &attributes, "Compare every knob and metric");
    html
}

/// How a design differs from the first one.
fn change(data: &Data, dim: Dim, then: f64, now: f64) -> String {
    match dim {
        Dim::Knob(_) if (now - then).abs() < 0.5 => "same".to_owned(),
        Dim::Knob(_) => "differs".to_owned(),
        Dim::Metric(place) => {
            let id = data.metrics[place];
            if format::metric(id, MetricValue::Number(now)).unit == "%" {
                format::points(now, then)
            } else {
                format::relative(now, then)
            }
        }
    }
}

/// Rows as a table for other programs, all of the selection in its order.
#[must_use]
pub fn csv(data: &Data, view: &View, selection: &Selection) -> String {
    let dims = table_dims(data);
    let quoted = |text: &str| {
        if text.contains([',', '"', '\n']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    let mut csv = String::from("index,front,standing");
    for dim in &dims {
        csv.push(',');
        csv.push_str(&data.dim_id(*dim));
    }
    csv.push_str("\r\n");
    for row in select::rows(data, view, selection) {
        let (index, front) = (data.rows.index[row], data.rows.front[row]);
        let _ = write!(csv, "{index},{front},{}", data.standing(row).label());
        for dim in &dims {
            let text = match dim {
                Dim::Knob(_) => quoted(&data.text(*dim, row)),
                Dim::Metric(_) => data.number(*dim, row).to_string(),
            };
            csv.push(',');
            csv.push_str(&text);
        }
        csv.push_str("\r\n");
    }
    csv
}
