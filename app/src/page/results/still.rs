//! What never changes on the page: its frame, which only the server writes.
#![cfg_attr(not(feature = "ssr"), allow(dead_code, reason = "only the server writes the frame"))]

use std::fmt::Write as _;

use super::data::Data;
use super::parts;
use super::select::select;
use super::view::View;
use crate::present::html::{element, escaped};
use crate::site::Page;

/// The main part of the page.
pub(super) fn main(data: &Data, view: &View) -> String {
    let selection = select(data, view);
    let mut html = head(data);
    html.push_str("<div class=\"card sweep-card\">");
    part(&mut html, "status", "", &parts::status(data));
    let actions = parts::actions(data, false);
    part(&mut html, "actions", "class=\"sweep-actions only-live\"", &actions);
    html.push_str("</div>");
    html.push_str("<h2 class=\"visually-hidden\">Best designs</h2>");
    part(&mut html, "best", "class=\"sweep-bests\"", &parts::best(data));
    html.push_str(
        "<div class=\"card sweep-bar only-live\" role=\"region\" \
        aria-label=\"Selection\">",
    );
    part(&mut html, "bar", "class=\"sweep-selection\"", &parts::bar(data, view, &selection));
    part(&mut html, "current", "class=\"sweep-current\"", &parts::current(data, view, None));
    html.push_str("</div>");
    part(&mut html, "pins", "class=\"card sweep-card sweep-pins\"", &parts::pins(data, view));
    pictures(&mut html, data, view);
    let _ = write!(
        html,
        "<section class=\"card sweep-card\" aria-labelledby=\"designs-title\">\
         <div class=\"sweep-card-head\"><h2 id=\"designs-title\">Designs</h2>\
         <label class=\"only-live\">Find <input type=\"search\" class=\"sweep-words\" \
         id=\"words\" data-do=\"words\" autocomplete=\"off\" \
         placeholder=\"such as tp=8 front\" value=\"{}\"></label>\
         <button type=\"button\" class=\"button only-live\" id=\"pin-first\" \
         data-do=\"pin-first\">Pin the first three of the front</button>\
         <button type=\"button\" class=\"button only-live\" id=\"csv\" data-do=\"csv\">\
         These as CSV</button></div>",
        escaped(&view.words)
    );
    html.push_str("<p id=\"pinned-said\" class=\"muted sweep-pinned-said only-live\"></p>");
    part(&mut html, "table", "", &parts::table(data, view, &selection));
    html.push_str("</section><div class=\"sweep-grid\">");
    let rest = "What ruled out the rest";
    let about = "Each design counts once, under the first rule or constraint that it breaks.";
    card(&mut html, "reasons", rest, about, &parts::reasons(data));
    let knobs = "Which knobs matter";
    let about = "How far the mean of the first objective moves between a knob's values, over all \
                 designs that keep everything: from the least to the largest mean, as a part of \
                 the largest. Each knob for itself: these are no shares of one whole.";
    card(&mut html, "importance", knobs, about, &parts::importance(data));
    html.push_str("</div>");
    html
}

/// Name and ways out.
fn head(data: &Data) -> String {
    let mut html = String::from("<div class=\"sweep-head\">");
    let name = if data.name.is_empty() { "Sweep" } else { &data.name };
    element(&mut html, "h1", "", name);
    html.push_str("<p class=\"sweep-links\">");
    let id = escaped(&data.id);
    if !data.base.is_empty() {
        let base = escaped(&data.base);
        let _ = write!(html, "<a data-design href=\"/?{base}\">Design that it varies</a> ");
    }
    let _ = write!(
        html,
        "<a href=\"{}?sweep={id}\">Change it and run again</a> <span>Download \
         <a download href=\"/api/v1/sweeps/{id}/rows?format=csv\">CSV</a>, \
         <a download href=\"/api/v1/sweeps/{id}/rows?format=jsonl\">JSON lines</a>, \
         <a download href=\"/api/v1/sweeps/{id}/rows?format=parquet\">Parquet</a>, \
         <a download=\"moescape-sweep.json\" href=\"/api/v1/sweeps/{id}\">result as JSON</a>\
         </span></p></div>",
        Page::Sweep.path(),
    );
    html
}

/// A part that the browser writes anew when it changes.
fn part(html: &mut String, name: &str, attributes: &str, inner: &str) {
    let _ = write!(html, "<div id=\"part-{name}\" {attributes}>{inner}</div>");
}

fn card(html: &mut String, name: &str, title: &str, about: &str, inner: &str) {
    let _ = write!(
        html,
        "<section class=\"card sweep-card\" aria-labelledby=\"{name}-title\">\
         <h2 id=\"{name}-title\">{title}</h2><p class=\"muted\">{about}</p>\
         <div class=\"scroll-x\" role=\"region\" tabindex=\"0\" \
         aria-label=\"{title}, table\" id=\"part-{name}\">{inner}</div></section>"
    );
}

/// The pictures, which need a script; a table stands beside each.
fn pictures(html: &mut String, data: &Data, view: &View) {
    html.push_str(
        "<div class=\"sweep-grid\"><section class=\"card sweep-card only-live\" \
        aria-labelledby=\"scatter-title\"><h2 id=\"scatter-title\">Trade-off</h2>",
    );
    part(
        html,
        "scatter-controls",
        "class=\"sweep-controls\"",
        &parts::scatter_controls(data, view),
    );
    canvas(
        html,
        "scatter",
        "Designs by two metrics. Arrow keys go from design to design, Enter \
        opens one, P pins it. The table of designs has the same numbers.",
    );
    html.push_str(
        "<p class=\"muted\"><span class=\"sweep-key front\" aria-hidden=\"true\">◆</span> \
        on the Pareto front: none is better in every objective. \
        <span class=\"sweep-key\" aria-hidden=\"true\">●</span> a random sample of the rest; \
        darker where there are more.</p></section>",
    );
    html.push_str(
        "<section class=\"card sweep-card\" aria-labelledby=\"heat-title\">\
        <h2 id=\"heat-title\">Two knobs</h2>",
    );
    part(
        html,
        "heat-controls",
        "class=\"sweep-controls only-live\"",
        &parts::heat_controls(data, view),
    );
    html.push_str("<div class=\"only-live\">");
    canvas(
        html,
        "heat",
        "The best of the first objective for each two values. Arrow keys go from \
        cell to cell, Enter opens its best design. The table below has the same numbers.",
    );
    html.push_str(
        "<p id=\"heat-said\" class=\"muted sweep-said\" aria-live=\"polite\">\
        The best of the first objective in each cell; a click opens that design. What is hatched \
        has none that keeps everything.</p></div>\
        <details class=\"figure-table\"><summary>The same as a table</summary>\
        <div class=\"scroll-x\" role=\"region\" tabindex=\"0\" aria-label=\"Two knobs, table\" \
        id=\"part-heat-table\">",
    );
    html.push_str(&parts::heat_table(data, view));
    html.push_str("</div></details></section></div>");
    html.push_str(
        "<section class=\"card sweep-card only-live\" \
        aria-labelledby=\"parallel-title\"><h2 id=\"parallel-title\">All knobs at once</h2>\
        <p class=\"muted\">Drag along an axis to brush a range, at its ends to widen it, and an \
        axis by its name to move it. What is brushed is brushed in every view.</p>\
        <div class=\"scroll-x\" id=\"parallel-scroll\">",
    );
    canvas(
        html,
        "parallel",
        "Designs as lines over all axes. The table of axes below brushes, \
        hides and orders them by keys.",
    );
    html.push_str(
        "</div><details class=\"figure-table\" id=\"axes-details\">\
        <summary>Axes, ranges and order</summary><div class=\"scroll-x\" role=\"region\" \
        tabindex=\"0\" aria-label=\"Axes, table\" id=\"part-axes\">",
    );
    html.push_str(&parts::axes(data, view));
    html.push_str("</div></details></section>");
}

/// A picture in two layers: what rarely changes, and what a pointer is on.
fn canvas(html: &mut String, name: &str, about: &str) {
    let _ = write!(
        html,
        "<div class=\"sweep-canvas {name}\" id=\"{name}\" role=\"img\" tabindex=\"0\" \
         aria-label=\"{}\"><canvas id=\"{name}-base\"></canvas>\
         <canvas id=\"{name}-over\"></canvas></div>\
         <p class=\"figure-save\"><button type=\"button\" class=\"text-button\" \
         id=\"svg-{name}\" data-do=\"svg\" data-with=\"{name}\">Save as SVG</button>\
         <button type=\"button\" class=\"text-button\" data-save-canvas=\"{name}\">Save as PNG\
         </button></p>",
        escaped(about),
    );
}

/// The page where there is no such sweep.
pub(super) fn missing() -> String {
    format!(
        "<div class=\"card sweep-card\"><h1>There is no such sweep</h1><p>It may have been \
         removed, or the link may be cut off. Sweeps live on the server that ran them.</p>\
         <p><a href=\"{}\">Build a sweep</a></p></div>",
        Page::Sweep.path(),
    )
}
