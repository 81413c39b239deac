//! The table: a column for each design, a row for each metric and knob.

use std::fmt::Write as _;

use model::design::{Design, KnobId};
use model::knob::{Section, Value};
use model::metric::{MetricId, MetricValue};

use super::numbers::{Column, Delta, Sure, Verdict, delta, knobs, likely, metrics};
use super::still::{letter_mark, own};
use crate::panel::knob_note::unset;
use crate::present::format;
use crate::present::html::{element, escaped};
use crate::present::range::expected;
use crate::site::chosen::Chosen;

/// What stands where there is nothing to say.
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
];

/// Appends the table.
pub(super) fn html(html: &mut String, columns: &[Column], chosen: &Chosen) {
    html.push_str(
        "<div class=\"scroll-x\" role=\"region\" tabindex=\"0\" aria-label=\"Comparison, table\">\
         <table class=\"compare-table\"><caption class=\"visually-hidden\">Metrics and knobs of \
         the designs</caption><thead><tr><td></td>",
    );
    for (place, column) in columns.iter().enumerate() {
        html.push_str("<th scope=\"col\">");
        letter_mark(html, column.letter);
        let attributes = format!("class=\"compare-name\" {}", own(chosen, place));
        element(html, "span", &attributes, &column.name);
        if place == chosen.baseline && columns.len() > 1 {
            html.push_str(" <span class=\"compare-note\">baseline</span>");
        }
        html.push_str("</th>");
    }
    html.push_str("</tr></thead>");
    let shown = metrics(columns, chosen.all);
    if !shown.is_empty() && columns.iter().any(|column| column.numbers().is_some()) {
        heading(html, "Metrics", columns.len());
        for id in shown {
            metric_row(html, id, columns, chosen.baseline);
        }
        html.push_str("</tbody>");
    }
    for (section, title) in SECTIONS {
        let shown = knobs(columns, section, chosen.all);
        if shown.is_empty() {
            continue;
        }
        heading(html, title, columns.len());
        for id in shown {
            knob_row(html, id, columns, chosen.baseline);
        }
        html.push_str("</tbody>");
    }
    html.push_str("</table></div>");
}

/// Begins a group of rows.
fn heading(html: &mut String, title: &str, columns: usize) {
    let _ = write!(
        html,
        "<tbody><tr class=\"compare-group\"><th scope=\"rowgroup\">{title}</th>\
         <td colspan=\"{columns}\"></td></tr>"
    );
}

fn metric_row(html: &mut String, id: MetricId, columns: &[Column], baseline: usize) {
    let metric = id.metric();
    let base = columns.get(baseline).and_then(Column::numbers);
    let _ = write!(html, "<tr data-metric=\"{}\"><th scope=\"row\">", metric.name);
    let attributes =
        format!("href=\"#metric-{}\" title=\"{}\"", metric.name, escaped(metric.definition));
    element(html, "a", &attributes, metric.label);
    html.push_str("</th>");
    for (place, column) in columns.iter().enumerate() {
        html.push_str("<td>");
        match (column.numbers(), base) {
            (None, _) => html.push_str(NOTHING),
            (Some(numbers), base) => {
                let value = numbers.estimate.metrics.get(id);
                let text = format::metric(id, value).to_string();
                element(html, "span", "class=\"compare-value\"", &text);
                let range = expected(&numbers.plan, id).short(id, &numbers.estimate.metrics);
                element(html, "span", "class=\"compare-note\"", &range);
                if let Some(base) = base.filter(|_| place != baseline) {
                    let then = base.estimate.metrics.get(id);
                    write_delta(html, id, (value, then), delta(id, numbers, base));
                }
            }
        }
        html.push_str("</td>");
    }
    html.push_str("</tr>");
}

/// How a value differs from the baseline's, and what to make of it.
fn write_delta(
    html: &mut String,
    id: MetricId,
    (now, then): (MetricValue, MetricValue),
    delta: Delta,
) {
    let class = match delta.verdict {
        Verdict::Better(sure) if sure.is_clear() => "delta better",
        Verdict::Worse(sure) if sure.is_clear() => "delta worse",
        Verdict::Same | Verdict::Neither | Verdict::Better(_) | Verdict::Worse(_) => "delta",
    };
    let text = match (difference(id, now, then, delta), word(delta.verdict)) {
        (None, Some(word)) => word.to_owned(),
        (None, None) => return,
        (Some(text), Some(word)) => format!("{text}, {word}"),
        (Some(text), None) => text,
    };
    element(html, "span", &format!("class=\"{class}\""), &text);
    if let Some(note) = note(delta.verdict) {
        element(html, "span", "class=\"compare-note\"", &note);
    }
}

/// `−12.3 s (−35.9 %)`; of shares in points, with the relative change.
fn difference(id: MetricId, now: MetricValue, then: MetricValue, delta: Delta) -> Option<String> {
    let (MetricValue::Number(now), MetricValue::Number(then)) = (now, then) else { return None };
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

/// How sure that is.
fn note(verdict: Verdict) -> Option<String> {
    let (Verdict::Better(sure) | Verdict::Worse(sure)) = verdict else { return None };
    match sure {
        Sure::Exact | Sure::Unknown => None,
        Sure::With(probability) => Some(format!("{} likely", likely(probability))),
    }
}

fn knob_row(html: &mut String, id: KnobId, columns: &[Column], baseline: usize) {
    let knob = id.knob();
    let base = columns.get(baseline).and_then(Column::design);
    let _ = write!(html, "<tr data-knob=\"{}\"><th scope=\"row\">", id.id());
    element(html, "span", &format!("title=\"{}\"", escaped(knob.meaning)), knob.label);
    if !knob.unit.is_empty() {
        element(html, "span", "class=\"compare-note\"", knob.unit);
    }
    html.push_str("</th>");
    for (place, column) in columns.iter().enumerate() {
        let Some(design) = column.design() else {
            let _ = write!(html, "<td>{NOTHING}</td>");
            continue;
        };
        let value = design.get(id);
        let differs = base.is_some_and(|base| base.get(id) != value);
        html.push_str(if differs { "<td class=\"differs\">" } else { "<td>" });
        element(html, "span", "class=\"compare-value\"", &shown(&value));
        let change = base.filter(|_| place != baseline).map(|base| change(id, design, base));
        if let Some(change) = change.filter(|change| !change.is_empty()) {
            element(html, "span", "class=\"delta\"", &change);
        }
        if let (Value::None, Some(numbers)) = (&value, column.numbers()) {
            let taken = unset(id, &numbers.plan);
            if taken != "none" {
                element(html, "span", "class=\"compare-note\"", &format!("takes {taken}"));
            }
        }
        html.push_str("</td>");
    }
    html.push_str("</tr>");
}

/// A knob's value, numbers with their thousands grouped.
fn shown(value: &Value) -> String {
    match value {
        Value::Integer(number) => format::whole(*number),
        Value::None | Value::Flag(_) | Value::Real(_) | Value::Text(_) | Value::List(_) => {
            format::spelled(value)
        }
    }
}

/// How a knob differs from the baseline's: of numbers by how much, else whether it is the same.
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
