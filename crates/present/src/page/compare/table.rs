//! The table: a column for each design, a row for each metric and knob.

use maud::{Markup, html};
use model::design::{Design, KnobId};
use model::ground::knob::{Section, Value};
use model::metric::{MetricId, MetricValue};

use super::numbers::{Column, Delta, Sure, Verdict, delta, knobs, likely, metrics};
use super::server_html::{letter_mark, own};
use super::serving::{self, served};
use crate::format;
use crate::site::chosen::Chosen;
use crate::words::knob_note::unset;
use crate::words::name;
use crate::words::range::expected;

/// Placeholder of an empty cell.
const NOTHING: &str = "–";

/// The names of the sections, as the explorer has them.
const SECTIONS: [(Section, &str); Section::ALL.len()] = [
    (Section::Parallel, "Parallelism"),
    (Section::Schedule, "Schedule and overlap"),
    (Section::Training, "Batch, precision, counting"),
    (Section::Memory, "Recompute, swap and states"),
    (Section::Routing, "Routing"),
    (Section::Kernel, "Kernels"),
    (Section::Transformer, "Model"),
    (Section::Cluster, "Cluster"),
    (Section::Serving, "Serving"),
    (Section::Run, "Run"),
];

/// The table.
pub(super) fn html(columns: &[Column], chosen: &Chosen) -> Markup {
    let shown = metrics(columns, chosen.all);
    let served = served(columns);
    let has_numbers = columns.iter().any(|column| column.numbers().is_some());
    html! {
        div.scroll-x role="region" tabindex="0" aria-label="Comparison, table" {
            table.compare-table {
                caption.visually-hidden { "Metrics and knobs of the designs" }
                thead { tr { td {} (heads(columns, chosen)) } }
                @if !shown.is_empty() && has_numbers {
                    tbody {
                        (heading("Metrics", columns.len()))
                        @for id in shown { (metric_row(id, columns, chosen.baseline)) }
                    }
                }
                @if let Some(served) = &served {
                    tbody {
                        (heading("When it serves", columns.len()))
                        (serving::rows(served, chosen.baseline))
                    }
                }
                @for (section, title) in SECTIONS {
                    @let shown = knobs(columns, section, chosen.all);
                    @if !shown.is_empty() {
                        tbody {
                            (heading(title, columns.len()))
                            @for id in shown { (knob_row(id, columns, chosen.baseline)) }
                        }
                    }
                }
            }
        }
    }
}

fn heads(columns: &[Column], chosen: &Chosen) -> Markup {
    html! {
        @for (place, column) in columns.iter().enumerate() {
            th scope="col" {
                (letter_mark(column.letter))
                span.compare-name translate=[own(chosen, place)] { (column.name) }
                @if place == chosen.baseline && columns.len() > 1 {
                    " " span.compare-note { "baseline" }
                }
            }
        }
    }
}

/// The heading of a group of rows.
fn heading(title: &str, columns: usize) -> Markup {
    html! {
        tr.compare-group { th scope="rowgroup" { (title) } td colspan=(columns) {} }
    }
}

fn metric_row(id: MetricId, columns: &[Column], baseline: usize) -> Markup {
    let metric = id.metric();
    let base = columns.get(baseline).and_then(Column::numbers);
    html! {
        tr data-metric=(metric.name) {
            th scope="row" {
                a href={ "#metric-" (metric.name) } title=(id.words().definition) { (metric.label) }
            }
            @for (place, column) in columns.iter().enumerate() {
                td {
                    @if let Some(numbers) = column.numbers() {
                        @let value = numbers.estimate.metrics.get(id);
                        span.compare-value { (format::metric(id, value)) }
                        span.compare-note {
                            (expected(&numbers.plan, id).short(id, &numbers.estimate.metrics))
                        }
                        @if let Some(base) = base.filter(|_| place != baseline) {
                            @let then = base.estimate.metrics.get(id);
                            (delta_html(id, [value, then], delta(id, numbers, base)))
                        }
                    } @else { (NOTHING) }
                }
            }
        }
    }
}

/// Difference of a value from the baseline's, and what to make of it.
fn delta_html(id: MetricId, ends: [Option<MetricValue>; 2], delta: Delta) -> Markup {
    let class = match delta.verdict {
        Verdict::Better(sure) if sure.is_clear() => "delta better",
        Verdict::Worse(sure) if sure.is_clear() => "delta worse",
        Verdict::Same | Verdict::Neither | Verdict::Better(_) | Verdict::Worse(_) => "delta",
    };
    let text = match (difference(id, ends, delta), word(delta.verdict)) {
        (None, Some(word)) => word.to_owned(),
        (None, None) => return Markup::default(),
        (Some(text), Some(word)) => format!("{text}, {word}"),
        (Some(text), None) => text,
    };
    html! {
        span class=(class) { (text) }
        @if let Some(note) = note(delta.verdict) { span.compare-note { (note) } }
    }
}

/// `−12.3 s (−35.9 %)`; of shares in points, with the relative change.
fn difference(id: MetricId, ends: [Option<MetricValue>; 2], delta: Delta) -> Option<String> {
    let [Some(MetricValue::Number(now)), Some(MetricValue::Number(then))] = ends else {
        return None;
    };
    if delta.verdict == Verdict::Same {
        return None;
    }
    let absolute = format::difference(id, now, then);
    let relative = delta.relative.map(|_| format::relative(now, then));
    Some(match relative {
        Some(relative) => format!("{absolute} ({relative})"),
        None => absolute,
    })
}

const fn word(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Same => Some("same"),
        Verdict::Better(_) => Some("better"),
        Verdict::Worse(_) => Some("worse"),
        Verdict::Neither => None,
    }
}

/// Note on the certainty of a verdict.
fn note(verdict: Verdict) -> Option<String> {
    let (Verdict::Better(sure) | Verdict::Worse(sure)) = verdict else { return None };
    match sure {
        Sure::Exact | Sure::Unknown => None,
        Sure::With(probability) => Some(format!("{} likely", likely(probability))),
    }
}

fn knob_row(id: KnobId, columns: &[Column], baseline: usize) -> Markup {
    let knob = id.knob();
    let base = columns.get(baseline).and_then(Column::design);
    let cell = |place: usize, column: &Column, design: &Design| {
        let value = design.get(id);
        let differs = base.is_some_and(|base| base.get(id) != value);
        let change = base.filter(|_| place != baseline).map(|base| change(id, design, base));
        let numbers = column.numbers().filter(|_| value == Value::None);
        let taken = numbers.map(|numbers| unset(id, &numbers.plan)).filter(|it| it != "none");
        html! {
            td class=[differs.then_some("differs")] {
                span.compare-value { (shown(&value)) }
                @if let Some(change) = change.filter(|change| !change.is_empty()) {
                    span.delta { (change) }
                }
                @if let Some(taken) = taken { span.compare-note { "takes " (taken) } }
            }
        }
    };
    html! {
        tr data-knob=(id.id()) {
            th scope="row" {
                span title=(id.words().meaning) { (knob.label) }
                @if !knob.unit.is_empty() { span.compare-note { (knob.unit) } }
            }
            @for (place, column) in columns.iter().enumerate() {
                @match column.design() {
                    Some(design) => (cell(place, column, design)),
                    None => td { (NOTHING) },
                }
            }
        }
    }
}

/// A knob's value in words, numbers with their thousands grouped.
fn shown(value: &Value) -> String {
    match value {
        Value::Integer(number) => format::whole(*number),
        Value::None | Value::Flag(_) | Value::Real(_) | Value::Text(_) | Value::List(_) => {
            name::spelled(value)
        }
    }
}

/// Text of a knob's difference from the baseline's: the amount for numbers, else whether it is the
/// same.
fn change(id: KnobId, design: &Design, base: &Design) -> String {
    let number = |value: &Value| match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Real(number) => Some(*number),
        Value::None | Value::Flag(_) | Value::Text(_) | Value::List(_) => None,
    };
    let (now, then) = (design.get(id), base.get(id));
    if now == then {
        return "same".to_owned();
    }
    let (Some(now), Some(then)) = (number(&now), number(&then)) else { return String::new() };
    let by = now - then;
    let sign = if by > 0.0 { "+" } else { "−" };
    let size = by.abs();
    let places = if size.fract() == 0.0 { 0 } else { 3 };
    let absolute = format!("{sign}{}", format::decimals(size, places));
    if then == 0.0 { absolute } else { format!("{absolute} ({})", format::relative(now, then)) }
}
