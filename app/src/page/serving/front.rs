//! Layouts beside each other, as HTML text.

use std::collections::BTreeMap;

use maud::{PreEscaped, html};
use model::design::Design;
use model::serving::front::{Front, Served, laid_out};

use super::address;
use super::labels::layout;
use crate::charts::{Line, Lines, for_any_page, lines};
use crate::present::format;
use crate::present::html::table_head;

/// Layouts of the front that the table shows, at most.
const ROWS: usize = 24;

/// The id of the link to the layout of most tokens.
pub(super) const BEST: &str = "serving-best";

/// The columns of the table of layouts.
const TITLES: [&str; 8] = [
    "Layout",
    "Instances",
    "Requests",
    "tokens/s per device",
    "tokens/s per user",
    "TPOT",
    "TTFT",
    "Limits",
];

/// Reasons for skipped layouts that are shown, at most.
const REASONS: usize = 8;

/// The design of a layout at its load.
fn of(design: &Design, served: &Served) -> Design {
    let mut design = laid_out(design, served.layout);
    design.serving.concurrency = Some(served.concurrency.max(1));
    design
}

/// The chart, the layout of most tokens within the limits, the table and what was skipped.
pub(super) fn html(front: &Front, design: &Design) -> String {
    let markup = html! {
        p.muted {
            (format::counted(front.tried as u64, "layout and load", "layouts and loads"))
            " tried, prefill and decode together. A press on a row shows it."
        }
        @match &front.chosen {
            Some(chosen) => p.serving-chosen {
                "Most tokens within the limits: "
                a.button.primary id=(BEST) href=(address(&of(design, chosen))) {
                    (layout(chosen.layout)) ", "
                    (format::counted(chosen.concurrency, "request", "requests"))
                }
                " " (format::in_unit(chosen.per_device, "tokens/s")) " per device, TPOT "
                (format::in_unit(chosen.tpot, "s")) ", TTFT " (format::in_unit(chosen.ttft, "s"))
            },
            None => p { "No layout is within the limits." },
        }
        (PreEscaped(for_any_page(|width| lines(&chart(front, design), width))))
        div.scroll-x role="region" tabindex="0" aria-label="Layouts, table" {
            (table(front, design))
        }
        (skipped(front))
    };
    markup.into_string()
}

fn chart(front: &Front, design: &Design) -> Lines {
    let points = front.best.iter().map(|it| (it.per_user, it.per_device)).collect();
    let limit = design.serving.tpot_limit_milliseconds.map(|millis| 1e3 / millis);
    Lines {
        label: "Output tokens a second and device over those that one request gets, of the best \
                layouts."
            .to_owned(),
        x_title: "tokens/s per user".to_owned(),
        y_title: "tokens/s per device".to_owned(),
        lines: vec![Line { name: "Best layouts".to_owned(), points }],
        ticks: None,
        places: limit.map(|at| (at, "limit of TPOT".to_owned())).into_iter().collect(),
        from: 0.0,
        decimals: 0,
    }
}

fn table(front: &Front, design: &Design) -> maud::Markup {
    let step = front.best.len().div_ceil(ROWS).max(1);
    html! {
        table {
            caption.visually-hidden { "Layouts" }
            (table_head(&TITLES))
            tbody {
                @for (place, served) in front.best.iter().rev().step_by(step).enumerate() {
                    tr {
                        th scope="row" {
                            a #{ "layout-" (place) } href=(address(&of(design, served))) {
                                (layout(served.layout))
                            }
                        }
                        td { (served.replicas) }
                        td { (format::whole(served.concurrency)) }
                        td { (format::significant(served.per_device, 4)) }
                        td { (format::significant(served.per_user, 3)) }
                        td { (format::in_unit(served.tpot, "s")) }
                        td { (format::in_unit(served.ttft, "s")) }
                        td { (if served.is_good { "within" } else { "above" }) }
                    }
                }
            }
        }
    }
}

fn skipped(front: &Front) -> maud::Markup {
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
                    @for (reason, layouts) in reasons.iter().take(REASONS) {
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
