//! `/guide` and `/guide/CHAPTER`: the user guide, as text that needs no script.

use std::fmt::Write as _;

use app::present::html::{element, escaped};
use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::choices;
use crate::guide::{self, CHAPTERS, Chapter, Heading, PATH, Rendered};
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
    let body = format!("<div class=\"guide-text\">{}{}</div>", article(text), neighbours(place));
    let page = Reading {
        path: PATH,
        title: &title,
        about: &text.about,
        // The guide is in English whatever the page around it is in.
        main: "lang=\"en\" translate=\"no\"",
        beside: &chapters(chapter),
        body: &body,
        ..Reading::default()
    };
    page.answer(state, choices::theme(request.headers()).as_deref(), StatusCode::OK)
}

/// Every chapter, this one marked.
fn chapters(current: &Chapter) -> String {
    let mut html = String::from("<nav class=\"guide-chapters\" aria-label=\"Chapters\"><ul>");
    for (place, chapter) in CHAPTERS.iter().enumerate() {
        let Some(text) = guide::rendered(place) else { continue };
        let mark = if chapter == current { "aria-current=\"page\" " } else { "" };
        let attributes = format!("{mark}href=\"{}\"", chapter.address());
        html.push_str("<li>");
        element(&mut html, "a", &attributes, &text.title);
        html.push_str("</li>");
    }
    html.push_str("</ul></nav>\n");
    html
}

/// Title, what is on the page, text.
fn article(text: &Rendered) -> String {
    let parts: Vec<&Heading> =
        text.headings.iter().filter(|heading| matches!(heading.level, 2 | 3)).collect();
    if parts.len() < 3 {
        return text.html.clone();
    }
    let mut list = String::from(
        "<nav class=\"guide-parts\" aria-label=\"On this page\"><details>\
         <summary>On this page</summary><ul>",
    );
    for heading in parts {
        let _ = write!(list, "<li class=\"guide-level-{}\">", heading.level);
        element(&mut list, "a", &format!("href=\"#{}\"", escaped(&heading.id)), &heading.text);
        list.push_str("</li>");
    }
    list.push_str("</ul></details></nav>\n");
    // Behind the title, which is the first element.
    let split = text.html.find("</h1>").map_or(0, |start| start + "</h1>".len());
    let (title, rest) = text.html.split_at(split);
    format!("{title}\n{list}{rest}")
}

/// What comes before and after.
fn neighbours(place: usize) -> String {
    let mut html = String::from("<nav class=\"guide-neighbours\" aria-label=\"Neighbours\">");
    let near = [
        ("prev", "Previous: ", place.checked_sub(1)),
        ("next", "Next: ", Some(place + 1).filter(|next| *next < CHAPTERS.len())),
    ];
    for (relation, word, place) in near {
        let Some((place, text)) = place.and_then(|at| Some((at, guide::rendered(at)?))) else {
            continue;
        };
        let attributes =
            format!("class=\"button\" rel=\"{relation}\" href=\"{}\"", CHAPTERS[place].address());
        element(&mut html, "a", &attributes, &format!("{word}{}", text.title));
    }
    html.push_str("</nav>\n");
    html
}
