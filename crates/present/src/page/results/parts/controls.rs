//! Controls of the pictures: which columns, which scale, which ranges.

use maud::{Markup, html};

use super::table::table_dims;
use crate::form::{input, option, select, tick_box};
use crate::format;
use crate::html::table_head;
use crate::page::results::data::{Data, Dim};
use crate::page::results::view::View;

/// A choice of columns.
fn select_box(id: &str, label: &str, data: &Data, dims: &[Dim], now: Dim) -> Markup {
    let entries = html! {
        @for dim in dims { (option(&data.dim_id(*dim), data.label(*dim), *dim == now)) }
    };
    select(entries).set("class", "select").act(id, "").within(label)
}

fn check(id: &str, with: &str, on: bool, text: &str) -> Markup {
    let act = id.split_once(':').map_or(id, |(act, _)| act);
    let tick = tick_box(on).id(id).set("data-do", act).set("data-with", with);
    tick.before("sweep-check", text)
}

/// Controls of the scatter.
#[must_use]
pub fn scatter_controls(data: &Data, view: &View) -> String {
    let dims: Vec<Dim> = table_dims(data);
    let [x, y] = view.scatter_dims(data);
    let [x_id, y_id] = [x, y].map(|dim| data.dim_id(dim));
    let markup = html! {
        (select_box("set-x", "Across", data, &dims, x))
        (select_box("set-y", "Up", data, &dims, y))
        (check("log:x", &x_id, view.is_log(&x_id), "Log across"))
        (check("log:y", &y_id, view.is_log(&y_id), "Log up"))
        (check("clip", "", view.clip, "Without outliers (p5 to p95)"))
        (check("front-only", "", view.front_only, "Front only"))
    };
    markup.into_string()
}

/// Controls of the heatmap.
#[must_use]
pub fn heat_controls(data: &Data, view: &View) -> String {
    let varying = data.axes.iter().filter(|axis| axis.values.len() > 1);
    let mut knobs: Vec<usize> = varying.map(|axis| axis.knob).collect();
    knobs.sort_unstable();
    let dims: Vec<Dim> = knobs.into_iter().map(Dim::Knob).collect();
    let Some([across, up]) = view.heat_knobs(data) else { return String::new() };
    let markup = html! {
        (select_box("set-heat-x", "Across", data, &dims, Dim::Knob(across)))
        (select_box("set-heat-y", "Up", data, &dims, Dim::Knob(up)))
        @if data.simulated.is_some() {
            span.muted { "By closed forms; ✗: simulated, not feasible" }
        }
    };
    markup.into_string()
}

/// The axes of the parallel coordinates: order, scale and range, for keys and readers.
#[must_use]
pub fn axes(data: &Data, view: &View) -> String {
    let shown = view.axis_dims(data);
    let rest = data.dims().filter(|dim| !shown.contains(dim));
    let markup = html! {
        table {
            (table_head(&["Axis", "Shown", "Order", "Log", "From", "To"]))
            tbody {
                @for dim in &shown { (axis_row(data, view, *dim, true)) }
                @for dim in rest { (axis_row(data, view, dim, false)) }
            }
        }
    };
    markup.into_string()
}

fn axis_row(data: &Data, view: &View, dim: Dim, is_shown: bool) -> Markup {
    let (id, label) = (data.dim_id(dim), data.label(dim));
    let (from, to) = view.brushed(data, dim).unzip();
    html! {
        tr {
            th.words scope="row" { (label) }
            td {
                (tick_box(is_shown).act("show", &id).named(&["Show ", label].concat()))
            }
            td {
                @if is_shown {
                    @for (act, sign) in [("left", "←"), ("right", "→")] {
                        button type="button" class="text-button" id={ (act) "-" (id) }
                            data-do=(act) data-with=(id)
                            aria-label={ "Move " (label) " " (act) } { (sign) }
                        " "
                    }
                }
            }
            td {
                @if matches!(dim, Dim::Metric(_)) {
                    (tick_box(view.is_log(&id)).act("log", &id)
                        .named(&["Logarithmic ", label].concat()))
                }
            }
            td { (range_end(data, dim, "from", from)) }
            td { (range_end(data, dim, "to", to)) }
        }
    }
}

/// An end of a range: a value of a knob, or a metric's number in the unit that is shown.
fn range_end(data: &Data, dim: Dim, side: &str, now: Option<f64>) -> Markup {
    let (id, label) = (data.dim_id(dim), data.label(dim));
    let now = now.filter(|end| end.is_finite());
    match dim {
        Dim::Knob(knob) => {
            let chosen = now.map(|now| if side == "from" { now.ceil() } else { now.floor() });
            let chosen = chosen.map(|place| place as usize);
            let ends = html! {
                (option("", "any", false))
                @for (at, value) in data.knobs[knob].values.iter().enumerate() {
                    (option(&at.to_string(), value, chosen == Some(at)))
                }
            };
            let ends = select(ends).set("class", "select").act(side, &id);
            html! { (ends.named(&["Range of ", label, ", ", side].concat())) }
        }
        Dim::Metric(place) => {
            let (factor, unit) = format::axis(data.metrics[place]);
            let value = now.map(|now| ((now / factor * 1e4).round() / 1e4).to_string());
            let gap = if unit.is_empty() { "" } else { " in " };
            let end = input("number").set("class", "number-box").set("step", "any").act(side, &id);
            let end = end.named(&[label, " ", side, gap, unit].concat());
            html! {
                (end.value(&value.unwrap_or_default()))
                @if !unit.is_empty() { " " span.muted { (unit) } }
            }
        }
    }
}
