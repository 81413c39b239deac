//! `GET /embed?…` and `GET /embed/d/{id}`: one panel of a design, to be shown in another page.
//!
//! It has one small script of the site's own, which tells the page around it how high it is, and
//! nothing else. It reads no cookie, changes nothing and leads nowhere but to the explorer, in a
//! page of its own, so that a page around it gains nothing by being one. It never writes its own
//! address. It is the one route that other sites may frame; `--embed-from` says which.

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::design::Design;
use model::{MODEL_VERSION, Plan, design::link};
use present::format;
use present::insight::headline_list;
use present::insight::numbers::Numbers;
use present::study::options::Options;
use present::study::{Study, Width, answer};
use present::timeline::of_plan;
use present::words::name;

use super::designs;
use crate::net::problem::Problem;
use crate::net::work::off_thread;
use crate::state::AppState;

/// The width at which a timeline is drawn, in pixels; the page shrinks it to its own.
const TIMELINE_WIDTH: f64 = 960.0;

/// A panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Panel {
    /// The headline numbers.
    Headline,
    /// The pipeline's timeline.
    Timeline,
    /// A study that is made at once.
    Study(Study),
}

/// Every panel by its name, with words for a choice.
pub(crate) const PANELS: [(&str, &str, Panel); 7] = [
    ("headline", "Headline numbers", Panel::Headline),
    ("memory", "Memory per stage", Panel::Study(Study::Memory)),
    ("step", "Where the step's time goes", Panel::Study(Study::Step)),
    ("communication", "Communication", Panel::Study(Study::Communication)),
    ("bubble", "Bubble", Panel::Study(Study::Bubble)),
    ("balance", "Balance of the stages", Panel::Study(Study::Balance)),
    ("timeline", "Pipeline timeline", Panel::Timeline),
];

/// Request in an address: panel, theme and design.
#[derive(Debug)]
struct Asked<'a> {
    panel: Panel,
    theme: Option<&'static str>,
    /// Rest of the query: the link.
    link: Vec<&'a str>,
}

/// Takes the two names of an embedded panel out of a query string.
fn asked(query: &str) -> Result<Asked<'_>, String> {
    let mut asked = Asked { panel: Panel::Headline, theme: None, link: Vec::new() };
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("panel", name)) => {
                let panel = PANELS.iter().find(|(known, ..)| *known == name);
                let known = PANELS.map(|(known, ..)| known).join(", ");
                let panel = panel.ok_or_else(|| format!("The panel is one of {known}."))?;
                asked.panel = panel.2;
            }
            Some(("theme", "dark")) => asked.theme = Some("dark"),
            Some(("theme", "light")) => asked.theme = Some("light"),
            Some(("theme", "auto")) => asked.theme = None,
            Some(("theme", _)) => return Err("The theme is auto, dark or light.".to_owned()),
            _ => asked.link.push(pair),
        }
    }
    Ok(asked)
}

/// A panel of a link, which nothing is stored of.
pub(super) async fn of_link(
    State(state): State<AppState>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = query.unwrap_or_default();
    let drawn = off_thread({
        let state = state.clone();
        move || {
            drawn(&state, &query, |link| {
                let design = link::decode(link).map_err(|errors| {
                    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                    errors.join("; ")
                })?;
                let address = format!("/?{}", link::encode(&design));
                Ok((design, address))
            })
        }
    });
    Ok(framed(&state, drawn.await?))
}

/// A panel of a stored design.
pub(super) async fn of_stored(
    State(state): State<AppState>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = query.unwrap_or_default();
    let found = designs::find(&state, &id, None, None).await?;
    let drawn = off_thread({
        let state = state.clone();
        move || {
            let design = found.and_then(|(stored, _)| link::decode(&stored.link).ok());
            let Some(design) = design else {
                let why = "There is no design at this link; it may have been deleted.";
                return refused(&state, StatusCode::NOT_FOUND, why);
            };
            drawn(&state, &query, |_| Ok((design, format!("/d/{id}"))))
        }
    });
    Ok(framed(&state, drawn.await?))
}

/// The document that a query asks for, of a design and its address by the query's link.
fn drawn(
    state: &AppState,
    query: &str,
    design: impl FnOnce(&str) -> Result<(Design, String), String>,
) -> Response {
    let document = asked(query).and_then(|asked| {
        let (design, address) = design(&asked.link.join("&"))?;
        let body = body(&design, &address, asked.panel);
        Ok(document(state, StatusCode::OK, &name::title(&design), asked.theme, &body))
    });
    document.unwrap_or_else(|why| refused(state, StatusCode::BAD_REQUEST, &why))
}

/// The panel with its title and the way to the explorer.
fn body(design: &Design, address: &str, which: Panel) -> Markup {
    let changed = design.changed().len() as u64;
    html! {
        header.embed-head {
            h1 {
                (name::title(design))
                @if changed > 0 {
                    " " span.muted { (format::counted(changed, "knob changed", "knobs changed")) }
                }
            }
            a.button href=(address) rel="noopener" { "Open in Moescape" }
        }
        main.embed-panel {
            @match Plan::new(design) {
                Ok(plan) => (panel(&Numbers::new(plan), which)),
                Err(violations) => p.card.embed-broken {
                    @if let Some(why) = present::insight::recorded::lacking(design) { (why) }
                    @else {
                        "This design can't run. "
                        (violations.first().map_or("", |violation| violation.message.as_str()))
                    }
                },
            }
        }
        footer.muted.embed-foot { "Model " (MODEL_VERSION) }
    }
}

fn panel(numbers: &Numbers, which: Panel) -> Markup {
    match which {
        Panel::Headline => headline_list::listed(numbers, "embed-numbers card"),
        Panel::Study(study) => {
            PreEscaped(answer::html(study, numbers, Width::Any, Options::default(), &[]))
        }
        Panel::Timeline => of_plan::still(numbers, TIMELINE_WIDTH)
            .map_or_else(|why| html! { p.card { (why) } }, PreEscaped),
    }
}

fn refused(state: &AppState, status: StatusCode, why: &str) -> Response {
    let body = html! {
        main.embed-panel {
            h1 { "Nothing to show" }
            p.card.embed-broken { (why) }
            p { a.button href="/" { "Open Moescape" } }
        }
    };
    document(state, status, "Nothing to show", None, &body)
}

/// A document with the site's style. Its links open in a page of their own.
fn document(
    state: &AppState,
    status: StatusCode,
    title: &str,
    theme: Option<&str>,
    body: &Markup,
) -> Response {
    let html = html! {
        (DOCTYPE)
        html lang="en" data-theme=[theme] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                link rel="icon" type="image/svg+xml" href="/favicon.svg";
                base target="_blank";
                title { (title) " · Moescape" }
                @if let Some(names) = state.site.names() {
                    link rel="stylesheet" href=(names.css);
                    script src="/embed.js" defer {}
                }
            }
            body.embed { (body) }
        }
    };
    (status, Html(html.into_string())).into_response()
}

/// The headers of a page that other sites may frame.
fn framed(state: &AppState, mut response: Response) -> Response {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; \
         img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors {}",
        state.embed_from.policy()
    );
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::try_from(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    let cross = HeaderValue::from_static("cross-origin");
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), cross);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    response
}

#[cfg(test)]
mod tests {
    use testing::page::Page as Html;

    use super::*;

    #[test]
    fn panel_and_theme_are_taken_out_of_the_link() {
        let asked = asked("v=1&panel=memory&preset=deepseek-v3&theme=dark&tp=4").unwrap();
        assert_eq!(asked.link.join("&"), "v=1&preset=deepseek-v3&tp=4");
        assert_eq!((asked.panel, asked.theme), (Panel::Study(Study::Memory), Some("dark")));
    }

    #[test]
    fn other_panels_and_themes_are_refused() {
        assert!(asked("panel=x").unwrap_err().contains("headline, memory"));
        assert!(asked("theme=\"><script>").is_err());
    }

    #[test]
    fn every_panel_can_be_drawn() {
        let numbers = Numbers::of(&link::decode("").unwrap()).unwrap();
        for (name, _, which) in PANELS {
            let html = panel(&numbers, which).0;
            assert!(html.len() > 200 && !Html::new(&html).has("script"), "{name}: {html}");
            // A colour that is written out is wrong in one of the themes.
            assert!(!html.contains("=\"#"), "{name}: {html}");
        }
    }
}
