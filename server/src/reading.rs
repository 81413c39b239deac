//! Pages that only the server writes and no module takes over: the gallery, the tour, the guide,
//! settings, the sheets to share, export and import, and what isn't there. They read well without
//! a script; with one they have the keys and the palette of every page.

use std::fmt::Write as _;

use app::panel::header;
use app::present::html::{element, escaped};
use axum::http::{HeaderValue, StatusCode, header as names};
use axum::response::{Html, IntoResponse, Response};
use model::MODEL_VERSION;

use crate::state::AppState;

/// What such a page may load: the site's own files.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; manifest-src 'self'; worker-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// A page to read.
pub(crate) struct Reading<'a> {
    /// Its address, without a query.
    pub(crate) path: &'a str,
    /// The title of the document.
    pub(crate) title: &'a str,
    /// What it is about, for search engines and previews. Empty for a page that is of its visitor
    /// alone: search engines leave it out then, and nothing on the way keeps it.
    pub(crate) about: &'a str,
    /// A script of its own.
    pub(crate) script: Option<&'a str>,
    /// More of the document's head, as HTML of our own.
    pub(crate) head: &'a str,
    /// The class of `<main>`, which says how it is laid out.
    pub(crate) class: &'a str,
    /// More attributes of `<main>`, our own.
    pub(crate) main: &'a str,
    /// What stands beside `<main>`, in front of it.
    pub(crate) beside: &'a str,
    /// What stands in `<main>`.
    pub(crate) body: &'a str,
}

impl Default for Reading<'_> {
    fn default() -> Self {
        Self {
            path: "",
            title: "",
            about: "",
            script: None,
            head: "",
            class: "reading",
            main: "",
            beside: "",
            body: "",
        }
    }
}

impl Reading<'_> {
    /// The page for a visitor who chose this theme, or none.
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
        (status, fields, Html(self.document(state, theme))).into_response()
    }

    fn document(&self, state: &AppState, theme: Option<&str>) -> String {
        let Self { path, title, class, main, beside, body, .. } = self;
        // Only the two that there are come out of a cookie.
        let theme = theme.map_or_else(String::new, |theme| format!(" data-theme=\"{theme}\""));
        let title = format!("{title} · Moescape");
        let columns = if beside.is_empty() { "" } else { " class=\"guide\"" };
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\"{theme}>\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"model-version\" content=\"{MODEL_VERSION}\">\n\
             {}\
             <link rel=\"icon\" type=\"image/svg+xml\" href=\"/favicon.svg\">\n",
            self.preview(&title)
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
        if let Some(script) = self.script {
            let _ = write!(html, "\n<script type=\"module\" src=\"{script}\"></script>");
        }
        html.push('\n');
        html.push_str(self.head);
        let _ = write!(
            html,
            "</head>\n<body>\n<div class=\"reading-page\">\
             <a class=\"skip\" href=\"#reading\">Skip to the content</a>\
             <header class=\"header\">{}</header>\n\
             <div{columns}>{beside}\
             <main id=\"reading\" class=\"{class}\" {main}>{body}</main></div></div>\n\
             </body>\n</html>\n",
            header::still(path)
        );
        html
    }

    /// What search engines and previews are told.
    fn preview(&self, title: &str) -> String {
        if self.about.is_empty() {
            return "<meta name=\"robots\" content=\"noindex\">\n".to_owned();
        }
        let (title, about) = (escaped(title), escaped(self.about));
        format!(
            "<meta name=\"description\" content=\"{about}\">\n\
             <meta property=\"og:title\" content=\"{title}\">\n\
             <meta property=\"og:description\" content=\"{about}\">\n"
        )
    }
}
