//! The table of designs, the pinned ones beside each other, and the table as a file.

use maud::{Markup, html};
use model::run::quality::CAVEAT;

use super::button;
use crate::format;
use crate::page::results::data::{Data, Dim, Standing};
use crate::page::results::select::{self, Selection};
use crate::page::results::view::{MAX_PINS, View};
use crate::words::provenance;

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
    let (sorted, descending) = select::order(data, view);
    let from = if rows.is_empty() { 0 } else { page * PAGE_ROWS + 1 };
    let [from, to, all] =
        [from, page * PAGE_ROWS + rows.len(), count].map(|number| format::whole(number as u64));
    let nothing = match (data.rows.is_empty(), data.is_over()) {
        (true, true) => "No feasible design: see below what rules them out.",
        (true, false) => "No feasible design so far: see below what rules them out.",
        (false, _) => "No design is left: widen a range, or show all.",
    };
    let markup = html! {
        div.scroll-x.sweep-table role="region" tabindex="0" aria-label="Designs, table" {
            table {
                caption.visually-hidden { "Designs with their metrics and knobs" }
                thead {
                    tr {
                        th scope="col" { "Design" }
                        @for dim in &dims {
                            (column_title(data, *dim, (*dim == sorted).then_some(descending)))
                        }
                        th.only-live scope="col" { "Compare" }
                    }
                }
                tbody {
                    @for row in &rows { (table_row(data, view, &dims, *row)) }
                    @if rows.is_empty() {
                        tr { td.words colspan=(dims.len() + 2) { (nothing) } }
                    }
                }
            }
        }
        div.sweep-pages.only-live {
            span.muted { (from) " to " (to) " of " (all) }
            @if page > 0 {
                (button("page-before", "page", &(page - 1).to_string(), "", "Before"))
            }
            @if page + 1 < pages {
                (button("page-next", "page", &(page + 1).to_string(), "", "Next"))
            }
        }
    };
    markup.into_string()
}

/// The head of a column, which sorts by it; `descending` where the rows are sorted by it.
fn column_title(data: &Data, dim: Dim, descending: Option<bool>) -> Markup {
    let (state, mark) = match descending {
        None => ("none", ""),
        Some(true) => ("descending", " ↓"),
        Some(false) => ("ascending", " ↑"),
    };
    let (id, label) = (data.dim_id(dim), data.label(dim));
    html! {
        th scope="col" aria-sort=(state) {
            button type="button" class="text-button only-live" id={ "sort-" (id) } data-do="sort"
                data-with=(id) { (label) (mark) }
            span.only-plain { (label) }
        }
    }
}

/// Columns of the table: metrics, knobs that vary, knobs that follow.
pub(super) fn table_dims(data: &Data) -> Vec<Dim> {
    let metrics = (0..data.metrics.len()).map(Dim::Metric);
    metrics.chain((0..data.knobs.len()).map(Dim::Knob)).collect()
}

fn table_row(data: &Data, view: &View, dims: &[Dim], row: usize) -> Markup {
    let (index, is_front) = (data.rows.index[row], data.rows.front[row]);
    let class = match (view.at == Some(index), is_front) {
        (true, _) => "current",
        (false, true) => "front",
        (false, false) => "",
    };
    let standing = data.standing(row);
    let mark = if standing == Standing::Simulated { "mark" } else { "mark doubt" };
    let pinned = view.pins.contains(&index);
    let full = !pinned && view.pins.len() >= MAX_PINS;
    html! {
        tr class=(class) data-row=(row) {
            th scope="row" {
                a id={ "open-" (index) } href=(data.design_address(index))
                    title="Open in the explorer" { (format::whole(index)) }
                @if is_front { " " span.mark { "front" } }
                @if !standing.label().is_empty() { " " span class=(mark) { (standing.label()) } }
            }
            @for dim in dims {
                td {
                    (data.text(*dim, row))
                    @if let Some(closed) = data.closed_text(*dim, row) {
                        " " span.muted title="By the closed form" { "(" (closed) ")" }
                    }
                }
            }
            td.only-live {
                button type="button" class="text-button" id={ "pin-" (index) } data-do="pin"
                    data-with=(index) aria-pressed=(pinned)
                    aria-label={ "Pin design " (index) } disabled[full] {
                    @if pinned { "Unpin" } @else { "Pin" }
                }
            }
        }
    }
}

/// The pinned designs beside each other.
#[must_use]
pub fn pins(data: &Data, view: &View) -> String {
    let rows: Vec<usize> = view.pins.iter().filter_map(|pin| data.row_of(*pin)).collect();
    if view.pins.is_empty() {
        return String::new();
    }
    let first = |dim| rows.first().map(|row| data.number(dim, *row));
    let says = |dim: &Dim| {
        let differs = |row: &usize| Some(data.number(*dim, *row)) != first(*dim);
        matches!(dim, Dim::Metric(_)) || rows.len() < 2 || rows.iter().any(differs)
    };
    let text = |dim, row| match data.closed_text(dim, row) {
        Some(closed) => format!("{} ({closed})", data.text(dim, row)),
        None => data.text(dim, row),
    };
    let lost = (view.pins.len() - rows.len()) as u64;
    let markup = html! {
        h2 #pins-title { "Pinned designs" }
        @if !rows.is_empty() {
            div.scroll-x role="region" tabindex="0" aria-labelledby="pins-title" {
                table {
                    thead {
                        tr {
                            td {}
                            @for (place, row) in rows.iter().enumerate() {
                                (pin_title(data, *row))
                                @if place > 0 { th scope="col" { "against the first" } }
                            }
                        }
                    }
                    tbody {
                        @for dim in table_dims(data).into_iter().filter(says) {
                            tr {
                                th scope="row" { (data.label(dim)) }
                                @for (place, row) in rows.iter().enumerate() {
                                    td { (text(dim, *row)) }
                                    @if place > 0 {
                                        @let to = first(dim).unwrap_or(0.0);
                                        td.muted { (change(data, dim, to, data.number(dim, *row))) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        @if lost > 0 {
            p.muted {
                (format::counted(lost, "pinned design is", "pinned designs are"))
                " not among the stored designs any more."
            }
        }
        @if rows.len() > 1 { p.muted { "Knobs on which all agree are left out." } }
        a.button.way href=(data.comparison_address(&view.pins)) { "Compare every knob and metric" }
    };
    markup.into_string()
}

fn pin_title(data: &Data, row: usize) -> Markup {
    let index = data.rows.index[row];
    let standing = data.standing(row).label();
    html! {
        th scope="col" {
            a href=(data.design_address(index)) { "Design " (format::whole(index)) }
            @if !standing.is_empty() { " " span.muted { (standing) } }
            " "
            span.only-live {
                (button(&format!("unpin-{index}"), "pin", &index.to_string(), "way", "Unpin"))
            }
        }
    }
}

/// Difference of a design's value from the first one's.
fn change(data: &Data, dim: Dim, then: f64, now: f64) -> String {
    match dim {
        Dim::Knob(_) if (now - then).abs() < 0.5 => "same".to_owned(),
        Dim::Knob(_) => "differs".to_owned(),
        Dim::Metric(place) => format::change(data.metrics[place], now, then),
    }
}

/// Rows as a table for other programs, all of the selection in its order.
#[must_use]
pub fn csv(data: &Data, view: &View, selection: &Selection) -> String {
    let dims = table_dims(data);
    let caveat = data.has_quality().then_some(CAVEAT);
    let names = ["index", "front", "standing"].map(str::to_owned).into_iter();
    let names = names.chain(dims.iter().map(|dim| data.dim_id(*dim)));
    let header = names.chain(caveat.map(|_| "caveat".to_owned())).collect();
    let cells = |row: usize| {
        let (index, front) = (data.rows.index[row], data.rows.front[row]);
        let standing = data.standing(row).label().to_owned();
        let values = dims.iter().map(|dim| match dim {
            Dim::Knob(_) => data.text(*dim, row),
            Dim::Metric(_) => data.number(*dim, row).to_string(),
        });
        let own = [index.to_string(), front.to_string(), standing].into_iter();
        own.chain(values).chain(caveat.map(str::to_owned)).collect()
    };
    let rows = select::rows(data, view, selection).into_iter().map(cells);
    provenance::csv(&std::iter::once(header).chain(rows).collect::<Vec<_>>())
}
