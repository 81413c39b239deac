//! Layouts beside each other, as HTML text.

use std::collections::BTreeMap;

use maud::{PreEscaped, html};
use model::design::Design;
use model::search::find::{LayoutFront, LayoutPoint};
use model::serving::Instances;

use super::address;
use super::labels::layout;
use super::measured::Measured;
use crate::charts::{Line, Lines, for_any_page, lines};
use crate::format;
use crate::html::table_head;
use crate::site::Page;

/// Layouts of the front that the table shows, at most.
const MAX_ROWS: usize = 24;

/// The id of the link to the layout of most tokens.
pub const BEST: &str = "serving-best";

/// The columns of the table of layouts.
const TITLES: [&str; 7] =
    ["Layout", "Concurrency", "tokens/s per device", "tokens/s per user", "TPOT", "TTFT", "Limits"];

/// The last column, where limits are set.
const LIMITS: usize = 6;

/// Reasons for skipped layouts that are shown, at most.
const MAX_REASONS: usize = 8;

/// A layout with its pools in the trade's letters.
#[must_use]
pub fn pools(point: &LayoutPoint) -> String {
    let one = |it: Instances| match it.count {
        1 => layout(it.layout),
        count => format!("{count} × ({})", layout(it.layout)),
    };
    match point.prefill {
        None => one(point.decode),
        Some(prefill) => format!("prefill {}, decode {}", one(prefill), one(point.decode)),
    }
}

/// The chart, the layout of most tokens within the limits, the table and what was skipped.
pub fn html(front: &LayoutFront, design: &Design, measured: &Measured) -> String {
    let markup = html! {
        p.muted {
            (format::counted(front.tried as u64, "layout and load", "layouts and loads"))
            " tried, prefill and decode together and on pools of their own. A press on a row \
             shows it."
        }
        @match &front.chosen {
            Some(chosen) => p.serving-chosen {
                @if is_limited(design) { "Most tokens within the limits: " }
                @else { "Most tokens: " }
                a.button.primary id=(BEST) href=(address(&chosen.design(design))) {
                    (pools(chosen)) ", "
                    (format::counted(chosen.concurrency, "request", "requests"))
                }
                " " (format::token_rate(chosen.per_device)) " per device, TPOT "
                (format::duration(chosen.tpot)) ", TTFT " (format::duration(chosen.ttft))
            },
            None => p { "No layout is within the limits." },
        }
        (PreEscaped(for_any_page(|width| lines(&chart(front, design, measured), width))))
        (of_measured(measured))
        div.scroll-x role="region" tabindex="0" aria-label="Layouts, table" {
            (table(front, design))
        }
        (skipped(front))
    };
    markup.into_string()
}

/// Table of the measured loads, each with its design; empty if there are none.
fn of_measured(measured: &Measured) -> maud::Markup {
    let (near, others) = (measured.points.len() as u64, measured.others as u64);
    html! {
        @if near > 0 {
            details.serving-skipped {
                summary {
                    (format::counted(near, "measured load", "measured loads"))
                    " of about these lengths"
                    @if others > 0 { ", " (format::whole(others)) " of others" }
                }
                ul {
                    @for point in &measured.points {
                        li {
                            a href={ (Page::Serving.path()) "?" (point.link) } { (point.name) }
                            ": " (format::significant(point.per_device, 4))
                            " tokens/s per device, " (format::significant(point.per_user, 3))
                            " per user"
                        }
                    }
                }
            }
        } @else if others > 0 {
            p.muted {
                (format::counted(others, "measured load", "measured loads"))
                " of this model and accelerator, of other lengths"
            }
        }
    }
}

fn chart(front: &LayoutFront, design: &Design, measured: &Measured) -> Lines {
    let points = front.best.iter().map(|it| (it.per_user, it.per_device)).collect();
    let best = Line { name: "Best layouts".to_owned(), points, is_apart: false };
    let mut points: Vec<_> =
        measured.points.iter().map(|it| (it.per_user, it.per_device)).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    let loads = (!points.is_empty()).then(|| Line {
        name: "Measured, all layouts and engines".to_owned(),
        points,
        is_apart: true,
    });
    let limit = design.serving.tpot_limit_milliseconds.map(|millis| 1e3 / millis);
    Lines {
        label: "Output tokens a second and device over those that one request gets, of the best \
                layouts."
            .to_owned(),
        x_title: "tokens/s per user".to_owned(),
        y_title: "tokens/s per device".to_owned(),
        lines: std::iter::once(best).chain(loads).collect(),
        ticks: None,
        places: limit.map(|at| (at, "limit of TPOT".to_owned())).into_iter().collect(),
        from: 0.0,
        decimals: 0,
    }
}

fn table(front: &LayoutFront, design: &Design) -> maud::Markup {
    let step = front.best.len().div_ceil(MAX_ROWS).max(1);
    let is_limited = is_limited(design);
    html! {
        table {
            caption.visually-hidden { "Layouts" }
            (table_head(if is_limited { &TITLES } else { &TITLES[..LIMITS] }))
            tbody {
                @for (place, point) in front.best.iter().rev().step_by(step).enumerate() {
                    tr {
                        th scope="row" {
                            a #{ "layout-" (place) } href=(address(&point.design(design))) {
                                (pools(point))
                            }
                        }
                        td { (format::whole(point.concurrency)) }
                        td { (format::significant(point.per_device, 4)) }
                        td { (format::significant(point.per_user, 3)) }
                        td { (format::duration(point.tpot)) }
                        td { (format::duration(point.ttft)) }
                        @if is_limited { td { (if point.is_good { "within" } else { "above" }) } }
                    }
                }
            }
        }
    }
}

/// Whether the load has limits.
fn is_limited(design: &Design) -> bool {
    let serving = &design.serving;
    serving.ttft_limit_milliseconds.is_some() || serving.tpot_limit_milliseconds.is_some()
}

fn skipped(front: &LayoutFront) -> maud::Markup {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for skipped in &front.skipped {
        reasons.entry(&skipped.reason).or_default().push(layout(skipped.layout));
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, layouts)| std::cmp::Reverse(layouts.len()));
    html! {
        @if !reasons.is_empty() {
            details.serving-skipped {
                summary {
                    (format::counted(front.skipped.len() as u64, "layout", "layouts"))
                    " skipped, and why"
                }
                ul {
                    @for (reason, layouts) in reasons.iter().take(MAX_REASONS) {
                        li { (layouts[0])
                            @if layouts.len() > 1 { " and " (layouts.len() - 1) " more" }
                            ": " (reason)
                        }
                    }
                }
            }
        }
    }
}
