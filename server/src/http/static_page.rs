//! Pages that only the server writes and no module takes over: the gallery, the tour, the guide,
//! settings, the sheets to share, export and import, and what isn't there. They read well without
//! a script; with one they have the keys and the palette of every page.

use app::document;
use app::panel::header;
use axum::http::{HeaderValue, StatusCode, header as names};
use axum::response::{Html, IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::MODEL_VERSION;
use present::site::Page;

use crate::state::AppState;

/// Content security policy of such a page: it may load the site's own files.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; \
                      img-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// A page to read.
#[derive(Default)]
pub(crate) struct Reading<'a> {
    /// Page of the site that it is, if it is one.
    pub(crate) page: Option<Page>,
    /// The current design, as a query: links of the header take it along.
    pub(crate) design: &'a str,
    /// The title of the document.
    pub(crate) title: &'a str,
    /// Description for search engines and previews. Empty for a page that is of its visitor alone:
    /// search engines leave it out then, and nothing on the way keeps it.
    pub(crate) about: &'a str,
    /// A script of its own.
    pub(crate) script: Option<&'a str>,
    /// Rest of the document's head.
    pub(crate) head: Markup,
    /// The class of `<main>`, which says how it is laid out; a text to read where it is empty.
    pub(crate) class: &'a str,
    /// The language of `<main>`, where it is the same in every language of the site.
    pub(crate) lang: Option<&'a str>,
    /// Mark of `<main>` as a step of the tour.
    pub(crate) tour: Option<&'a str>,
    /// Markup beside `<main>`, in front of it.
    pub(crate) beside: Markup,
    /// Content of `<main>`.
    pub(crate) body: Markup,
}

impl Reading<'_> {
    /// The page for a visitor who chose this theme, if any.
    pub(crate) fn answer(
        &self,
        state: &AppState,
        theme: Option<&str>,
        status: StatusCode,
    ) -> Response {
        let cache = if self.about.is_empty() { "private, no-store" } else { "private, no-cache" };
        let fields = [
            (names::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
            (names::CACHE_CONTROL, HeaderValue::from_static(cache)),
        ];
        (status, fields, Html(self.document(state, theme).into_string())).into_response()
    }

    fn document(&self, state: &AppState, theme: Option<&str>) -> Markup {
        let title = format!("{} · Moescape", self.title);
        let class = if self.class.is_empty() { "reading" } else { self.class };
        html! {
            (DOCTYPE)
            // Only the two themes that there are come out of a cookie.
            html lang="en" data-theme=[theme] {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="model-version" content=(MODEL_VERSION);
                    @if self.about.is_empty() {
                        meta name="robots" content="noindex";
                    } @else {
                        meta name="description" content=(self.about);
                        meta property="og:title" content=(title);
                        meta property="og:description" content=(self.about);
                    }
                    link rel="icon" type="image/svg+xml" href="/favicon.svg";
                    title { (title) }
                    @if let Some(names) = state.site.names() {
                        link rel="manifest" href="/manifest.webmanifest";
                        link rel="preload" href=(names.font) as="font" type="font/woff2"
                            crossorigin;
                        // Half a text isn't shown: the columns of its tables would move.
                        link rel="expect" href={ "#" (document::END) } blocking="render";
                        link rel="stylesheet" href=(names.css);
                        script type="module" src=(names.habits) {}
                    }
                    @if let Some(script) = self.script { script type="module" src=(script) {} }
                    (self.head)
                }
                body { div.reading-page {
                    a.skip href="#reading" { "Skip to the content" }
                    header.header { (PreEscaped(header::still(self.page, self.design))) }
                    div class=[(!self.beside.0.is_empty()).then_some("guide")] {
                        (self.beside)
                        main #reading class=(class) data-tour=[self.tour] lang=[self.lang]
                            translate=[self.lang.map(|_| "no")] { (self.body) }
                    }
                } i #(document::END) hidden {} }
            }
        }
    }
}
