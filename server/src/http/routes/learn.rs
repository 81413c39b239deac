//! `GET /learn`: what the site teaches, on one page to scroll through: from the paper's baseline to
//! its final run, how far predictions are off, the schedules, and the guide.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, PreEscaped, html};
use model::ground::choice::{Choice, Method};
use present::format::unbroken;
use present::page::schedule::methods::{About, about};
use present::page::{ladder, schedule};
use present::site::Page;

use super::validation;
use crate::http::static_page::Reading;
use crate::net::problem::Problem;
use crate::site::choices;
use crate::site::guide::{self, CHAPTERS};
use crate::site::language::Language;
use crate::state::AppState;

/// The page.
pub(super) async fn page(
    State(state): State<AppState>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let report = validation::report().await?;
    let still = &report.served.still;
    let body = html! {
        h1 { "Learn" }
        p {
            "Moescape rebuilds the simulator behind Pangu Ultra MoE, which was never released. "
            "Four parts: what made that run fast, how far the predictions are off, how pipeline "
            "schedules differ, and how to work with it."
        }
        (contents())
        section #ladder {
            h2 { "From 18.9 % over 30.0 % to 41 % MFU" }
            (PreEscaped(ladder::brief()))
            (ways(&[
                (Page::Tour.path(), "Take the tour, one change at a time"),
                (Page::Ladder.path(), "Every change with its numbers"),
            ]))
        }
        section #trust {
            h2 { "How far to trust the numbers" }
            p { (unbroken(&still.sentence)) }
            (PreEscaped(&still.left_out))
            (ways(&[
                (Page::Trust.path(), "Every published run beside its prediction"),
                (Page::Calibrate.path(), "Calibrate to your own runs"),
                (Page::About.path(), "Which model computes the numbers, and its sources"),
            ]))
        }
        (schedules())
        section #guide {
            h2 { "Guide" }
            (chapters(choices::language(&headers)))
        }
    };
    let page = Reading {
        page: Some(Page::Learn),
        title: Page::Learn.title(),
        about: Page::Learn.about(),
        class: "reading learn",
        body,
        ..Reading::default()
    };
    Ok(page.answer(&state, choices::theme(&headers).as_deref(), StatusCode::OK))
}

/// The parts of the page.
fn contents() -> Markup {
    let parts =
        [("ladder", "The run"), ("trust", "Trust"), ("schedules", "Schedules"), ("guide", "Guide")];
    html! {
        nav.learn-contents aria-label="Parts of this page" {
            ul { @for (id, label) in parts { li { a href={ "#" (id) } { (label) } } } }
        }
    }
}

/// Links to where a part goes on.
fn ways(links: &[(&str, &str)]) -> Markup {
    html! {
        ul.learn-ways { @for (address, label) in links { li { a href=(address) { (label) } } } }
    }
}

/// Each schedule with its step time, and the way to the laboratory with it.
fn schedules() -> Markup {
    let row = |method: Method| {
        let About { name, formula, source } = about(method);
        let input = schedule::Input { method, ..schedule::Input::default() };
        html! {
            tr {
                th scope="row" { a href=(schedule::query::address(&input)) { (name) } }
                td.formula { (formula.map_or("by simulation alone", |it| it.text)) }
                td { (formula.map_or("", |it| it.holds)) }
                td { a href=(source.address) rel="external" { (source.title) } }
            }
        }
    };
    html! {
        section #schedules {
            h2 { "Pipeline schedules" }
            p {
                "p stages, m micro-batches, v chunks a stage; F a forward, B a backward, of which "
                "dX and dW are the gradients of inputs and of weights, FB both at once. Open one "
                "to change sizes and task times and see it run."
            }
            div.card.scroll-x role="region" tabindex="0" aria-label="Pipeline schedules, table" {
                table {
                    thead { tr {
                        @for title in ["Schedule", "Step time", "Holds for", "Source"] {
                            th scope="col" { (title) }
                        }
                    } }
                    tbody { @for method in Method::ALL { (row(*method)) } }
                }
            }
            (ways(&[(Page::Schedule.path(), "Open the schedules lab")]))
        }
    }
}

/// The chapters of the guide, each in the language of its text.
fn chapters(reader: Language) -> Markup {
    html! {
        ul.learn-chapters translate="no" {
            @for (place, chapter) in CHAPTERS.iter().enumerate().skip(1) {
                @if let Some(text) = guide::rendered(place, reader) {
                    li lang=(text.language.tag()) {
                        a href=(chapter.address()) { (text.title) }
                        p.muted { (text.about) }
                    }
                }
            }
        }
    }
}
