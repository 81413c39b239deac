//! Controls of the pictures: which columns, which scale, which ranges.

use std::fmt::Write as _;

use super::table::table_dims;
use crate::page::results::data::{Data, Dim};
use crate::page::results::scale;
use crate::page::results::view::View;
use crate::present::html::{element, escaped};

/// A choice of columns.
fn select_box(html: &mut String, (id, label): (&str, &str), data: &Data, dims: &[Dim], now: Dim) {
    let _ = write!(
        html,
        "<label>{label} <select class=\"select\" id=\"{id}\" data-do=\"{id}\" \
         autocomplete=\"off\">"
    );
    for dim in dims {
        let chosen = if *dim == now { " selected" } else { "" };
        let _ = write!(html, "<option value=\"{}\"{chosen}>", data.dim_id(*dim));
        html.push_str(&escaped(data.label(*dim)));
        html.push_str("</option>");
    }
    html.push_str("</select></label>");
}

fn check(html: &mut String, id: &str, with: &str, on: bool, text: &str) {
    let checked = if on { " checked" } else { "" };
    let act = id.split_once(':').map_or(id, |(act, _)| act);
    let _ = write!(
        html,
        "<label class=\"sweep-check\"><input type=\"checkbox\" id=\"{id}\" data-do=\"{act}\" \
         data-with=\"{}\" autocomplete=\"off\"{checked}>{}</label>",
        escaped(with),
        escaped(text),
    );
}

/// What the scatter shows.
#[must_use]
pub fn scatter_controls(data: &Data, view: &View) -> String {
    let dims: Vec<Dim> = table_dims(data);
    let [x, y] = view.scatter_dims(data);
    let mut html = String::new();
    select_box(&mut html, ("set-x", "Across"), data, &dims, x);
    select_box(&mut html, ("set-y", "Up"), data, &dims, y);
    check(&mut html, "log:x", &data.dim_id(x), view.is_log(&data.dim_id(x)), "Log across");
    check(&mut html, "log:y", &data.dim_id(y), view.is_log(&data.dim_id(y)), "Log up");
    check(&mut html, "clip", "", view.clip, "Without outliers (p5 to p95)");
    check(&mut html, "front-only", "", view.front_only, "Front only");
    html
}

/// What the heatmap shows.
#[must_use]
pub fn heat_controls(data: &Data, view: &View) -> String {
    let varying = data.axes.iter().filter(|axis| axis.values.len() > 1);
    let mut dims: Vec<Dim> = varying.map(|axis| Dim::Knob(axis.knob)).collect();
    dims.sort_by_key(|dim| if let Dim::Knob(knob) = dim { *knob } else { 0 });
    let Some([across, up]) = view.heat_knobs(data) else { return String::new() };
    let mut html = String::new();
    select_box(&mut html, ("set-heat-x", "Across"), data, &dims, Dim::Knob(across));
    select_box(&mut html, ("set-heat-y", "Up"), data, &dims, Dim::Knob(up));
    html
}

/// The axes of the parallel coordinates: order, scale and range, for keys and readers.
#[must_use]
pub fn axes(data: &Data, view: &View) -> String {
    let shown = view.axis_dims(data);
    let rest = data.dims().filter(|dim| !shown.contains(dim));
    let all: Vec<Dim> = shown.iter().copied().chain(rest).collect();
    let mut html = String::from(
        "<table><thead><tr><th scope=\"col\">Axis</th><th scope=\"col\">Shown</th>\
         <th scope=\"col\">Order</th><th scope=\"col\">Log</th><th scope=\"col\">From</th>\
         <th scope=\"col\">To</th></tr></thead><tbody>",
    );
    for dim in all {
        axis_row(&mut html, data, view, dim, shown.iter().position(|known| *known == dim));
    }
    html.push_str("</tbody></table>");
    html
}

fn axis_row(html: &mut String, data: &Data, view: &View, dim: Dim, place: Option<usize>) {
    let (id, label) = (data.dim_id(dim), escaped(data.label(dim)));
    html.push_str("<tr>");
    element(html, "th", "scope=\"row\" class=\"words\"", data.label(dim));
    let checked = if place.is_some() { " checked" } else { "" };
    let _ = write!(
        html,
        "<td><input type=\"checkbox\" id=\"show-{id}\" data-do=\"show\" data-with=\"{id}\" \
         aria-label=\"Show {label}\" autocomplete=\"off\"{checked}></td><td>"
    );
    if place.is_some() {
        for (act, sign, word) in [("left", "←", "left"), ("right", "→", "right")] {
            let _ = write!(
                html,
                "<button type=\"button\" class=\"text-button\" id=\"{act}-{id}\" \
                 data-do=\"{act}\" data-with=\"{id}\" aria-label=\"Move {label} {word}\">{sign}\
                 </button> "
            );
        }
    }
    html.push_str("</td><td>");
    if matches!(dim, Dim::Metric(_)) {
        let checked = if view.is_log(&id) { " checked" } else { "" };
        let _ = write!(
            html,
            "<input type=\"checkbox\" id=\"log-{id}\" data-do=\"log\" data-with=\"{id}\" \
             aria-label=\"Logarithmic {label}\" autocomplete=\"off\"{checked}>"
        );
    }
    html.push_str("</td>");
    let range = view.brushed(data, dim);
    for (side, word) in [("from", "from"), ("to", "to")] {
        let now = range.map(|(from, to)| if side == "from" { from } else { to });
        html.push_str("<td>");
        range_end(html, data, dim, (side, word), now.filter(|end| end.is_finite()));
        html.push_str("</td>");
    }
    html.push_str("</tr>");
}

/// An end of a range: a value of a knob, or a metric's number in the unit that is shown.
fn range_end(
    html: &mut String,
    data: &Data,
    dim: Dim,
    (side, word): (&str, &str),
    now: Option<f64>,
) {
    let (id, label) = (data.dim_id(dim), escaped(data.label(dim)));
    match dim {
        Dim::Knob(knob) => {
            let _ = write!(
                html,
                "<select class=\"select\" id=\"{side}-{id}\" data-do=\"{side}\" \
                 data-with=\"{id}\" aria-label=\"{label} {word}\" autocomplete=\"off\">\
                 <option value=\"\">any</option>"
            );
            let chosen = now.map(|now| if side == "from" { now.ceil() } else { now.floor() });
            for (at, value) in data.knobs[knob].values.iter().enumerate() {
                let same = chosen.is_some_and(|chosen| chosen as usize == at);
                let selected = if same { " selected" } else { "" };
                let _ =
                    write!(html, "<option value=\"{at}\"{selected}>{}</option>", escaped(value));
            }
            html.push_str("</select>");
        }
        Dim::Metric(place) => {
            let (factor, unit) = scale::unit(data.metrics[place]);
            let value = now.map(|now| format!("{}", (now / factor * 1e4).round() / 1e4));
            let _ = write!(
                html,
                "<input type=\"number\" class=\"number-box\" step=\"any\" id=\"{side}-{id}\" \
                 data-do=\"{side}\" data-with=\"{id}\" aria-label=\"{label} {word}{gap}{unit}\" \
                 autocomplete=\"off\" value=\"{}\">",
                value.unwrap_or_default(),
                gap = if unit.is_empty() { "" } else { " in " },
            );
            if !unit.is_empty() {
                let _ = write!(html, " <span class=\"muted\">{unit}</span>");
            }
        }
    }
}
