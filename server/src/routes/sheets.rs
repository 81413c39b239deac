//! The document around a sheet: a page without the explorer's module, which `share.js` shows as a
//! dialog over the explorer.

use axum::http::{HeaderName, HeaderValue, header};

use crate::AppState;

/// What a page with our own scripts may load.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; form-action 'self'; frame-ancestors 'none'; \
                      base-uri 'none'";

/// The headers of such a page, which is the visitor's own.
pub(super) fn headers() -> [(HeaderName, HeaderValue); 2] {
    [
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, no-store")),
    ]
}

/// A sheet as a page; the title is our own.
pub(super) fn document(state: &AppState, theme: Option<&str>, title: &str, body: &str) -> String {
    let script = state.site.names().map(|names| names.share.as_str());
    let main = format!("<main class=\"share\">{body}</main>");
    page(state, theme, title, script, &main)
}

/// A page with the site's style and one of its scripts.
pub(super) fn page(
    state: &AppState,
    theme: Option<&str>,
    title: &str,
    script: Option<&str>,
    body: &str,
) -> String {
    let style = state.site.names().map_or_else(String::new, |names| {
        format!("<link rel=\"stylesheet\" href=\"{}\">\n", names.css)
    });
    let script = script.map_or_else(String::new, |script| {
        format!("<script type=\"module\" src=\"{script}\"></script>\n")
    });
    // Only the two that there are come out of a cookie.
    let theme = theme.map_or_else(String::new, |theme| format!(" data-theme=\"{theme}\""));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"{theme}>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"robots\" content=\"noindex\">\n\
         <link rel=\"icon\" type=\"image/svg+xml\" href=\"/favicon.svg\">\n\
         <title>{title} · Moescape</title>\n{style}{script}</head>\n<body>\n{body}\n</body>\n\
         </html>\n"
    )
}
