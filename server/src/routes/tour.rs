//! `GET /tour?step=N`: the paper's recipe one change at a time, each with why it helps, what the
//! model makes of it, and what is published.

mod words;

use std::fmt::Write as _;
use std::sync::OnceLock;

use app::page::ladder::numbers::{Step, steps};
use app::present::format;
use app::present::html::{element, escape_into, escaped};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use model::ladder::{PAPER, TO_PAPER};
use model::metric::{Better, MetricId, MetricValue};
use model::preset::Preset;
use model::{MemoryState, link};

use super::page::off_thread;
use crate::choices;
use crate::problem::Problem;
use crate::query;
use crate::reading::Reading;
use crate::state::AppState;

const ABOUT: &str = "Pangu Ultra MoE from 18.9 % over 30.0 % to 41 % MFU, one change at a time: \
                     why each helps, what the model predicts, and what is published of it";

/// The metrics of a step, in the order of the table.
const SHOWN: [MetricId; 6] = [
    MetricId::mfu,
    MetricId::tokens_per_second_per_device,
    MetricId::step_time_seconds,
    MetricId::bubble_ratio,
    MetricId::comm_exposed_seconds,
    MetricId::memory_peak_bytes,
];

/// The ladder's steps with their predictions; the same for everybody.
fn ladder() -> &'static [Step] {
    static STEPS: OnceLock<Vec<Step>> = OnceLock::new();
    STEPS.get_or_init(steps)
}

/// A step of the tour; the first without a number, the nearest to one that there isn't.
pub(super) async fn tour(
    State(state): State<AppState>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = query.unwrap_or_default();
    let asked = asked(&query);
    let theme = choices::theme(&headers);
    off_thread(move || {
        let steps = ladder();
        let last = steps.len().saturating_sub(1);
        let (index, status) = match asked {
            Some(index) if index <= last => (index, StatusCode::OK),
            Some(_) => (last, StatusCode::NOT_FOUND),
            None => (0, StatusCode::BAD_REQUEST),
        };
        let title = format!("{} · Tour", heading(steps, index));
        let mut body = String::new();
        if status != StatusCode::OK {
            let said = format!("There is no such step: the tour has steps 0 to {last}.");
            element(&mut body, "p", "class=\"refused\" role=\"alert\"", &said);
        }
        write_step(&mut body, steps, index);
        let path = app::panel::header::TOUR_PATH;
        let main = "data-tour=\"\"";
        let page =
            Reading { path, title: &title, about: ABOUT, main, body: &body, ..Reading::default() };
        page.answer(&state, theme.as_deref(), status)
    })
    .await
}

/// The number of the step in a query; none where it isn't one.
fn asked(query: &str) -> Option<usize> {
    let Ok([step]) = query::parameters(query, ["step"]) else { return None };
    step.map_or(Some(0), |step| step.parse().ok())
}

fn heading(steps: &[Step], index: usize) -> String {
    let title = steps.get(index).map_or("", Step::title);
    format!("Step {index} of {}: {title}", steps.len().saturating_sub(1))
}

fn write_step(html: &mut String, steps: &[Step], index: usize) {
    let Some(step) = steps.get(index) else { return };
    list(html, steps, index);
    html.push_str("<article class=\"tour-step\">");
    element(html, "h1", "id=\"step\" tabindex=\"-1\" autofocus", &heading(steps, index));
    element(html, "p", "class=\"tour-headline\" data-headline=\"\"", &headline(steps, index));
    for paragraph in words::why(index) {
        element(html, "p", "", paragraph);
    }
    settings(html, step);
    numbers(html, steps, index);
    published(html, steps, index);
    turns(html, steps, index);
    html.push_str("</article>");
}

/// Every step, to go to any of them.
fn list(html: &mut String, steps: &[Step], index: usize) {
    html.push_str("<nav class=\"tour-list\" aria-label=\"Steps of the tour\"><ol start=\"0\">");
    for (at, step) in steps.iter().enumerate() {
        let current = if at == index { " aria-current=\"step\"" } else { "" };
        let mfu = format::percent(step.predicted.metrics.mfu, 1);
        // Writing to a string can't fail.
        let _ = write!(html, "<li><a data-turn=\"\" href=\"/tour?step={at}\"{current}>");
        escape_into(html, step.title());
        let _ = write!(html, " <span class=\"muted\">{mfu}</span></a></li>");
    }
    html.push_str("</ol></nav>");
}

/// What the step comes to, in a sentence; it is spoken when the step is gone to.
fn headline(steps: &[Step], index: usize) -> String {
    let metrics = &steps[index].predicted.metrics;
    let mfu = format::percent(metrics.mfu, 1);
    let fits = match metrics.memory_state() {
        MemoryState::Fits => "It fits.",
        MemoryState::Tight => "Memory is tight.",
        MemoryState::DoesNotFit => "It does not fit in memory.",
    };
    match index.checked_sub(1).map(|before| &steps[before].predicted.metrics) {
        None => format!("The model predicts {mfu} MFU. {fits}"),
        Some(before) => format!(
            "The model predicts {mfu} MFU after {}: {}. {fits}",
            format::percent(before.mfu, 1),
            format::points(metrics.mfu, before.mfu),
        ),
    }
}

/// The knobs that the step turns.
fn settings(html: &mut String, step: &Step) {
    let Some(rung) = step.rung else { return };
    html.push_str("<h2>What is turned</h2><ul class=\"tour-settings\">");
    for (knob, value) in rung.settings {
        html.push_str("<li>");
        element(html, "code", "", &format!("{knob} = {value}"));
        html.push_str("</li>");
    }
    html.push_str("</ul>");
}

/// The step's numbers beside those of the step before.
fn numbers(html: &mut String, steps: &[Step], index: usize) {
    html.push_str("<h2>What the model says</h2><div class=\"tour-numbers\"><table>");
    let caption = "Predicted numbers of this step and of the one before";
    element(html, "caption", "class=\"visually-hidden\"", caption);
    html.push_str("<thead><tr><th scope=\"col\">Metric</th>");
    let columns: &[&str] = if index == 0 { &["Here"] } else { &["Before", "Here", "Change"] };
    for column in columns {
        element(html, "th", "scope=\"col\"", column);
    }
    html.push_str("</tr></thead><tbody>");
    for metric in SHOWN {
        html.push_str("<tr>");
        element(html, "th", "scope=\"row\"", metric.metric().label);
        let now = number(&steps[index], metric);
        let shown = |value| format::metric(metric, MetricValue::Number(value)).to_string();
        if let Some(then) = index.checked_sub(1).map(|before| number(&steps[before], metric)) {
            element(html, "td", "", &shown(then));
            element(html, "td", "", &shown(now));
            let class = format!("class=\"{}\"", verdict(metric, now, then));
            element(html, "td", &class, &format::difference(metric, now, then));
        } else {
            element(html, "td", "", &shown(now));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
}

fn number(step: &Step, metric: MetricId) -> f64 {
    match step.predicted.metrics.get(metric) {
        MetricValue::Number(number) => number,
        MetricValue::Flag(flag) => f64::from(u8::from(flag)),
    }
}

/// Is a change for the better? What is written as no change is neither.
fn verdict(metric: MetricId, now: f64, then: f64) -> &'static str {
    let by = format::difference(metric, now, then);
    let is_more = match by.chars().next() {
        Some('+') => true,
        Some('−') => false,
        _ => return "even",
    };
    match metric.metric().better {
        None => "even",
        Some(better) if is_more == (better == Better::Higher) => "better",
        Some(_) => "worse",
    }
}

/// What is published of the step, and how far the model is from it.
fn published(html: &mut String, steps: &[Step], index: usize) {
    let step = &steps[index];
    html.push_str("<h2>What is published</h2><ul class=\"tour-published\">");
    let known = step.rung.map_or("", |rung| rung.known);
    if !known.is_empty() {
        element(html, "li", "", &format!("Of this change: {known}."));
    }
    let mut has_numbers = false;
    for metric in [MetricId::mfu, MetricId::tokens_per_second_per_device] {
        let Some(reported) = step.published(metric) else { continue };
        has_numbers = true;
        let shown = |value| format::metric(metric, MetricValue::Number(value));
        let ours = number(step, metric);
        let text = format!(
            "{}: published is {}, the model predicts {}, {} of it.",
            metric.metric().label,
            shown(reported),
            shown(ours),
            format::relative(ours, reported),
        );
        element(html, "li", "", &text);
    }
    if known.is_empty() && !has_numbers {
        element(html, "li", "", "Nothing of this change by itself.");
    }
    html.push_str("</ul>");
    let (Some(first), Some(paper), Some(last)) = (steps.first(), steps.get(TO_PAPER), steps.last())
    else {
        return;
    };
    let [from, over, to] =
        [first, paper, last].map(|step| format::percent(step.predicted.metrics.mfu, 1).to_string());
    let text = format!(
        "Published are 18.9 %, 30.0 % and 41 %; the model says {from}, {over} and {to} for the \
         same three runs. No constant of it is set for them. The steps between aren't published as \
         a table: their order is ours, and so are the gains, which depend on it."
    );
    element(html, "p", "class=\"muted\"", &text);
    if let Ok(preset) = Preset::find(PAPER) {
        let attributes = format!("href=\"{}\" rel=\"noopener\"", escaped(preset.source.url));
        html.push_str("<p class=\"muted\">Source: ");
        element(html, "a", &attributes, preset.source.title);
        html.push_str(". <a href=\"/ladder\">All steps in one table</a></p>");
    }
}

/// To the step before, to the next one, and into the explorer.
fn turns(html: &mut String, steps: &[Step], index: usize) {
    html.push_str("<p class=\"tour-turns\">");
    let mut turn = |at: Option<usize>, rel: &str, text: &str| {
        let Some(step) = at.and_then(|at| steps.get(at)) else { return };
        let attributes = format!(
            "class=\"button\" rel=\"{rel}\" data-turn=\"\" href=\"/tour?step={}\" title=\"{}\"",
            at.unwrap_or_default(),
            escaped(step.title()),
        );
        element(html, "a", &attributes, text);
    };
    turn(index.checked_sub(1), "prev", "← Previous step");
    turn(Some(index + 1), "next", "Next step →");
    let design = link::encode(&steps[index].predicted.design);
    let attributes = format!("class=\"button primary\" href=\"/?{}\"", escaped(&design));
    element(html, "a", &attributes, "Open this step in the explorer");
    html.push_str("</p>");
}
