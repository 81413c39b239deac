//! Pages that only the server writes and no module takes over: the gallery, the tour and the guide.
//! They read well without a script; with one they have the keys and the palette of every page.

use std::fmt::Write as _;

use app::html::{element, escaped};
use app::panels::header;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header as names};
use axum::response::{Html, IntoResponse, Response};
use model::MODEL_VERSION;

use crate::{AppState, choices};

/// What such a page may load: the site's own files.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; manifest-src 'self'; worker-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// A page to read.
pub(super) struct Reading<'a> {
    /// Its address, without a query.
    pub(super) path: &'a str,
    /// The title of the document.
    pub(super) title: &'a str,
    /// What it is about, for search engines and previews.
    pub(super) about: &'a str,
    /// Attributes of `<main>`, our own.
    pub(super) main: &'a str,
    /// What stands beside `<main>`, in front of it.
    pub(super) beside: &'a str,
    /// What stands in `<main>`.
    pub(super) body: &'a str,
}

impl Reading<'_> {
    /// The page for a visitor.
    pub(super) fn answer(
        &self,
        state: &AppState,
        headers: &HeaderMap,
        status: StatusCode,
    ) -> Response {
        let theme = choices::theme(headers);
        let fields = [
            (names::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
            (names::CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        ];
        (status, fields, Html(self.document(state, theme.as_deref()))).into_response()
    }

    fn document(&self, state: &AppState, theme: Option<&str>) -> String {
        let Self { path, title, about, main, beside, body } = self;
        // Only the two that there are come out of a cookie.
        let theme = theme.map_or_else(String::new, |theme| format!(" data-theme=\"{theme}\""));
        let (title, about) = (format!("{title} · Moescape"), escaped(about));
        let columns = if beside.is_empty() { "" } else { " class=\"guide\"" };
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"{theme}>\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"model-version\" content=\"{MODEL_VERSION}\">\n\
             <meta name=\"description\" content=\"{about}\">\n\
             <meta property=\"og:title\" content=\"{}\">\n\
             <meta property=\"og:description\" content=\"{about}\">\n\
             <link rel=\"icon\" type=\"image/svg+xml\" href=\"/favicon.svg\">\n",
            escaped(&title)
        );
        element(&mut html, "title", "", &title);
        if let Some(names) = state.site.names() {
            // Writing to a string can't fail.
            let _ = write!(
                html,
                "\n<link rel=\"manifest\" href=\"/manifest.webmanifest\">\n\
                 <link rel=\"stylesheet\" href=\"{}\">\n\
                 <script type=\"module\" src=\"{}\"></script>",
                names.css, names.habits
            );
        }
        let _ = write!(
            html,
            "\n</head>\n<body>\n<div class=\"reading-page\">\
             <a class=\"skip\" href=\"#reading\">Skip to the content</a>\
             <header class=\"header\">{}</header>\n\
             <div{columns}>{beside}\
             <main id=\"reading\" class=\"reading\" {main}>{body}</main></div></div>\n\
             </body>\n</html>\n",
            header::still(path)
        );
        html
    }
}
