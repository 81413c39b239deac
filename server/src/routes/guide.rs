//! `/guide` and `/guide/CHAPTER`: the user guide, as text that needs no script.

use app::site::Page;
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, PreEscaped, html};

use crate::choices;
use crate::guide::{self, CHAPTERS, Chapter, Heading, Rendered};
use crate::not_found;
use crate::reading::Reading;
use crate::sending::Shared;
use crate::state::AppState;

/// The table of contents.
pub(super) async fn contents(State(state): State<AppState>, request: Request) -> Response {
    answer(&state, &request, "")
}

/// A chapter.
pub(super) async fn chapter(
    State(state): State<AppState>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    answer(&state, &request, &name)
}

/// A picture of the guide.
pub(super) async fn image(
    State(state): State<AppState>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    match guide::image(&name) {
        Some(bytes) => {
            let kind = HeaderValue::from_static("image/png");
            let cache = HeaderValue::from_static("public, max-age=86400");
            let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, cache)];
            (headers, Extension(Shared), bytes).into_response()
        }
        None => not_found::not_found(&state, &request),
    }
}

fn answer(state: &AppState, request: &Request, name: &str) -> Response {
    let found = Chapter::find(name).filter(|_| !request.uri().path().ends_with('/'));
    let Some((place, chapter, text)) =
        found.and_then(|(place, chapter)| Some((place, chapter, guide::rendered(place)?)))
    else {
        return not_found::not_found(state, request);
    };
    let title = if place == 0 { text.title.clone() } else { format!("{} · Guide", text.title) };
    let page = Reading {
        page: Some(Page::Guide),
        title: &title,
        about: &text.about,
        // The guide is in English whatever the page around it is in.
        lang: Some("en"),
        beside: chapters(chapter),
        body: html! { div.guide-text { (article(text)) (neighbours(place)) } },
        ..Reading::default()
    };
    page.answer(state, choices::theme(request.headers()).as_deref(), StatusCode::OK)
}

/// Every chapter, this one marked.
fn chapters(current: &Chapter) -> Markup {
    html! {
        nav.guide-chapters aria-label="Chapters" { ul {
            @for (place, chapter) in CHAPTERS.iter().enumerate() {
                @if let Some(text) = guide::rendered(place) {
                    @let mark = (chapter == current).then_some("page");
                    li { a aria-current=[mark] href=(chapter.address()) { (text.title) } }
                }
            }
        } }
    }
}

/// Title, what is on the page, text.
fn article(text: &Rendered) -> Markup {
    let parts: Vec<&Heading> =
        text.headings.iter().filter(|heading| matches!(heading.level, 2 | 3)).collect();
    // Behind the title, which is the first element.
    let split = text.html.find("</h1>").map_or(0, |start| start + "</h1>".len());
    let (title, rest) = text.html.split_at(split);
    html! {
        (PreEscaped(title))
        @if parts.len() > 2 {
            nav.guide-parts aria-label="On this page" { details {
                summary { "On this page" }
                ul { @for heading in parts {
                    li class={ "guide-level-" (heading.level) } {
                        a href={ "#" (heading.id) } { (heading.text) }
                    }
                } }
            } }
        }
        (PreEscaped(rest))
    }
}

/// What comes before and after.
fn neighbours(place: usize) -> Markup {
    let near = [
        ("prev", "Previous: ", place.checked_sub(1)),
        ("next", "Next: ", Some(place + 1).filter(|next| *next < CHAPTERS.len())),
    ];
    html! {
        nav.guide-neighbours aria-label="Neighbours" {
            @for (relation, word, place) in near {
                @if let Some((at, text)) = place.and_then(|at| Some((at, guide::rendered(at)?))) {
                    a.button rel=(relation) href=(CHAPTERS[at].address()) { (word) (text.title) }
                }
            }
        }
    }
}
