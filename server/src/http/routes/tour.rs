//! `GET /tour?step=N`: the paper's recipe one change at a time, each with why it helps, what the
//! model makes of it, and what is published.

mod words;

use std::sync::OnceLock;

use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, html};
use model::catalogue::preset::Preset;
use model::design::ladder::{PAPER, TO_PAPER};
use model::metric::{Better, MetricId};
use model::{MemoryState, design::link};
use present::format;
use present::page::ladder::numbers::{Step, steps};

use crate::http::static_page::Reading;
use crate::net::problem::Problem;
use crate::net::query;
use crate::net::work::off_thread;
use crate::site::choices;
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
        let body = html! {
            @if status != StatusCode::OK {
                p.refused role="alert" {
                    "There is no such step: the tour has steps 0 to " (last) "."
                }
            }
            @if let Some(step) = steps.get(index) { (written(steps, index, step)) }
        };
        let page = Reading {
            page: Some(present::site::Page::Tour),
            title: &title,
            about: ABOUT,
            tour: Some(""),
            body,
            ..Reading::default()
        };
        page.answer(&state, theme.as_deref(), status)
    })
    .await
}

/// The number of the step in a query; `None` if it isn't one.
fn asked(query: &str) -> Option<usize> {
    let Ok([step]) = query::parameters(query, ["step"]) else { return None };
    step.map_or(Some(0), |step| step.parse().ok())
}

fn heading(steps: &[Step], index: usize) -> String {
    let title = steps.get(index).map_or("", Step::title);
    format!("Step {index} of {}: {title}", steps.len().saturating_sub(1))
}

fn written(steps: &[Step], index: usize, step: &Step) -> Markup {
    html! {
        (list(steps, index))
        article.tour-step {
            h1 #step tabindex="-1" autofocus { (heading(steps, index)) }
            p.tour-headline data-headline="" { (headline(steps, index)) }
            @for paragraph in words::why(index) { p { (paragraph) } }
            @if let Some(rung) = step.rung {
                h2 { "What changes" }
                ul.tour-settings {
                    @for (knob, value) in rung.settings { li { code { (knob) " = " (value) } } }
                }
            }
            (numbers(steps, index))
            (published(steps, step))
            (turns(steps, index))
        }
    }
}

/// Every step, to go to any of them.
fn list(steps: &[Step], index: usize) -> Markup {
    html! {
        nav.tour-list aria-label="Steps of the tour" { ol start="0" {
            @for (at, step) in steps.iter().enumerate() {
                @let current = (at == index).then_some("step");
                li { a data-turn="" href={ "/tour?step=" (at) } aria-current=[current] {
                    (step.title()) " "
                    span.muted { (format::percent(step.predicted.metrics.mfu, 1)) }
                } }
            }
        } }
    }
}

/// Result of the step, in a sentence; it is spoken when the step is gone to.
fn headline(steps: &[Step], index: usize) -> String {
    let metrics = &steps[index].predicted.metrics;
    let mfu = format::percent(metrics.mfu, 1);
    let fits = match metrics.memory_state() {
        MemoryState::Fits => "It fits.",
        MemoryState::Tight => "Memory is tight.",
        MemoryState::Unlikely => "It is unlikely to fit in memory.",
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

/// The step's numbers beside those of the step before.
fn numbers(steps: &[Step], index: usize) -> Markup {
    let columns: &[&str] = if index == 0 { &["Here"] } else { &["Before", "Here", "Change"] };
    html! {
        h2 { "Prediction" }
        div.tour-numbers { table {
            caption.visually-hidden { "Predicted numbers of this step and of the one before" }
            thead { tr {
                th scope="col" { "Metric" }
                @for column in columns { th scope="col" { (column) } }
            } }
            tbody { @for metric in SHOWN {
                @let now = number(&steps[index], metric);
                @let then = index.checked_sub(1).map(|before| number(&steps[before], metric));
                tr {
                    th scope="row" { (metric.metric().label) }
                    @for value in then.into_iter().chain([now]) {
                        td { (format::measured(metric, value)) }
                    }
                    @if let Some(then) = then {
                        td class=(verdict(metric, now, then)) {
                            (format::difference(metric, now, then))
                        }
                    }
                }
            } }
        } }
    }
}

fn number(step: &Step, metric: MetricId) -> f64 {
    format::number(step.predicted.metrics.get(metric))
}

/// Verdict on a change: better, worse or even. A difference that is written as no change is even.
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

/// Published numbers of the step, and how far the model is from them.
fn published(steps: &[Step], step: &Step) -> Markup {
    let known = step.rung.map_or("", |rung| rung.known);
    let metrics = [MetricId::mfu, MetricId::tokens_per_second_per_device];
    let reported: Vec<_> =
        metrics.iter().filter_map(|id| Some((*id, step.published(*id)?))).collect();
    html! {
        h2 { "What is published" }
        ul.tour-published {
            @if !known.is_empty() { li { "Of this change: " (known) "." } }
            @for (metric, reported) in &reported {
                @let shown = |value| format::measured(*metric, value);
                @let ours = number(step, *metric);
                li {
                    (metric.metric().label) ": published is " (shown(*reported))
                    ", the model predicts " (shown(ours)) ", "
                    (format::relative(ours, *reported)) " of it."
                }
            }
            @if known.is_empty() && reported.is_empty() {
                li { "Nothing of this change by itself." }
            }
        }
        @if let (Some(first), Some(paper), Some(last)) =
            (steps.first(), steps.get(TO_PAPER), steps.last())
        {
            @let mfu = |step: &Step| format::percent(step.predicted.metrics.mfu, 1);
            p.muted {
                "Published are 18.9 %, 30.0 % and 41 %; the model says " (mfu(first)) ", "
                (mfu(paper)) " and " (mfu(last)) " for the same three runs. No constant of it is \
                set for them. The steps between aren't published as a table: their order is \
                ours, and so are the gains, which depend on it."
            }
            @if let Ok(preset) = Preset::find(PAPER) {
                p.muted {
                    "Source: "
                    a href=(preset.source.url) rel="noopener" { (preset.source.title) }
                    ". " a href="/ladder" { "All steps in one table" }
                }
            }
        }
    }
}

/// Links to the step before, to the next one, and into the explorer.
fn turns(steps: &[Step], index: usize) -> Markup {
    let turn = |at: Option<usize>, rel: &str, text: &str| {
        html! {
            @if let Some((at, step)) = at.and_then(|at| Some((at, steps.get(at)?))) {
                a.button rel=(rel) data-turn="" href={ "/tour?step=" (at) } title=(step.title()) {
                    (text)
                }
            }
        }
    };
    let design = link::encode(&steps[index].predicted.design);
    html! {
        p.tour-turns {
            (turn(index.checked_sub(1), "prev", "← Previous step"))
            (turn(Some(index + 1), "next", "Next step →"))
            a.button.primary href={ "/?" (design) } { "Open this step in the explorer" }
        }
    }
}
