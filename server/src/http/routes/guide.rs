//! `/guide` and `/guide/CHAPTER`: the user guide, as text that needs no script.

use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, PreEscaped, html};
use present::site::Page;

use crate::http::not_found;
use crate::http::static_page::Reading;
use crate::net::query;
use crate::net::response_buffer::Shared;
use crate::site::choices;
use crate::site::guide::{self, CHAPTERS, Chapter, Heading, Rendered};
use crate::site::language::Language;
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
    let reader = choices::language(request.headers());
    let language = asked(request).unwrap_or(reader);
    let found = Chapter::find(name).filter(|_| !request.uri().path().ends_with('/'));
    let Some((place, chapter, text)) = found
        .and_then(|(place, chapter)| Some((place, chapter, guide::rendered(place, language)?)))
    else {
        return not_found::not_found(state, request);
    };
    let words = Words::of(text.language);
    let guide = words.guide;
    let title = if place == 0 { text.title.clone() } else { format!("{} · {guide}", text.title) };
    let page = Reading {
        page: Some(Page::Guide),
        title: &title,
        about: &text.about,
        // The text is in its own language, whatever the page around it is in.
        lang: Some(text.language.tag()),
        beside: chapters(chapter, reader),
        body: html! { div.guide-text {
            (article(text, words))
            (neighbours(place, language, words))
            (other(chapter, words))
        } },
        ..Reading::default()
    };
    page.answer(state, choices::theme(request.headers()).as_deref(), StatusCode::OK)
}

/// The language of the text that an address asks for, such as `?language=en`.
fn asked(request: &Request) -> Option<Language> {
    let query = request.uri().query().unwrap_or_default();
    let [language] = query::parameters(query, ["language"]).ok()?;
    Language::of_id(&language?)
}

/// Words around a text, in its language.
#[derive(Clone, Copy)]
struct Words {
    guide: &'static str,
    parts: &'static str,
    neighbours: [&'static str; 3],
    /// The other language, and what leads to it there.
    other: (Language, &'static str),
}

impl Words {
    const fn of(language: Language) -> Self {
        match language {
            Language::English => Self {
                guide: "Guide",
                parts: "On this page",
                neighbours: ["Neighbours", "Previous: ", "Next: "],
                other: (Language::Chinese, "本页中文版"),
            },
            Language::Chinese => Self {
                guide: "指南",
                parts: "本页内容",
                neighbours: ["相邻章节", "上一章：", "下一章："],
                other: (Language::English, "This page in English"),
            },
        }
    }
}

/// Every chapter, this one marked.
fn chapters(current: &Chapter, reader: Language) -> Markup {
    html! {
        nav.guide-chapters aria-label="Chapters" { ul {
            @for (place, chapter) in CHAPTERS.iter().enumerate() {
                @if let Some(text) = guide::rendered(place, reader) {
                    @let mark = (chapter == current).then_some("page");
                    li { a aria-current=[mark] href=(chapter.address()) { (text.title) } }
                }
            }
        } }
    }
}

/// Title, what is on the page, text.
fn article(text: &Rendered, words: Words) -> Markup {
    let parts: Vec<&Heading> =
        text.headings.iter().filter(|heading| matches!(heading.level, 2 | 3)).collect();
    // Behind the title, which is the first element.
    let split = text.html.find("</h1>").map_or(0, |start| start + "</h1>".len());
    let (title, rest) = text.html.split_at(split);
    html! {
        (PreEscaped(title))
        @if parts.len() > 2 {
            nav.guide-parts aria-label=(words.parts) { details {
                summary { (words.parts) }
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

/// Links to the chapters before and after.
fn neighbours(place: usize, language: Language, words: Words) -> Markup {
    let [label, previous, next] = words.neighbours;
    let near = [
        ("prev", previous, place.checked_sub(1)),
        ("next", next, Some(place + 1).filter(|next| *next < CHAPTERS.len())),
    ];
    let found = |at: Option<usize>| Some((at?, guide::rendered(at?, language)?));
    html! {
        nav.guide-neighbours aria-label=(label) {
            @for (relation, word, place) in near {
                @if let Some((at, text)) = found(place) {
                    a.button rel=(relation) href=(CHAPTERS[at].address()) { (word) (text.title) }
                }
            }
        }
    }
}

/// The way to the same chapter in the other language, where it has one.
fn other(chapter: &Chapter, words: Words) -> Markup {
    let (language, label) = words.other;
    let address = format!("{}?language={}", chapter.address(), language.id());
    let tag = language.tag();
    html! {
        @if chapter.chinese.is_some() {
            p.guide-other {
                a rel="alternate" hreflang=(tag) lang=(tag) href=(address) { (label) }
            }
        }
    }
}
