//! Choices of a visitor for all pages: theme, language, unit of memory, single keys. Each is a
//! cookie, so that links say nothing of it and the server keeps nothing of it.

use std::future::poll_fn;
use std::pin::pin;

use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;
use present::format::MemoryUnit;

use crate::site::language::Language;

/// The cookies' names.
pub(crate) const THEME: &str = "theme";
pub(crate) const LANGUAGE: &str = "language";
pub(crate) const UNITS: &str = "units";
pub(crate) const KEYS: &str = "keys";

/// A cookie's value.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).map(str::trim);
    pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

/// The theme that the visitor chose; only the two that there are.
pub(crate) fn theme(headers: &HeaderMap) -> Option<String> {
    let theme = cookie(headers, THEME)?;
    matches!(theme, "dark" | "light").then(|| theme.to_owned())
}

/// The unit of memory that the visitor chose.
pub(crate) fn memory_unit(headers: &HeaderMap) -> MemoryUnit {
    cookie(headers, UNITS).map_or(MemoryUnit::default(), MemoryUnit::of_id)
}

/// The language that the visitor chose.
pub(crate) fn chosen_language(headers: &HeaderMap) -> Option<Language> {
    Language::of_id(cookie(headers, LANGUAGE)?)
}

/// The language to answer in: the chosen one, else what the browser prefers.
pub(crate) fn language(headers: &HeaderMap) -> Language {
    let accepted = || headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    chosen_language(headers).unwrap_or_else(|| Language::preferred(accepted().unwrap_or_default()))
}

/// Answers with pages in the visitor's unit of memory, whichever threads that takes. Files,
/// pictures and what programs read go on to others, and are the same for everybody.
pub(crate) async fn memory_units(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_page = !["/api/", "/export/"].iter().any(|start| path.starts_with(start))
        && !path.rsplit('/').next().unwrap_or_default().contains('.');
    let unit = if is_page { memory_unit(request.headers()) } else { MemoryUnit::default() };
    let mut answer = pin!(next.run(request));
    poll_fn(|context| unit.during(|| answer.as_mut().poll(context))).await
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn sent(cookie: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, HeaderValue::from_static(cookie));
        headers
    }

    #[test]
    fn only_known_themes_reach_the_page() {
        let chosen = |cookie| theme(&sent(cookie));
        assert_eq!(chosen("a=b; theme=dark").as_deref(), Some("dark"));
        assert_eq!(chosen("theme=light;x").as_deref(), Some("light"));
        assert_eq!(chosen("theme=\"><script>"), None);
        assert_eq!(chosen("mytheme=dark"), None);
        assert_eq!(chosen("themes=dark"), None);
    }

    #[test]
    fn a_chosen_language_goes_before_the_browsers() {
        let mut headers = sent("language=en");
        headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_static("zh-CN,zh;q=0.9"));
        assert_eq!(language(&headers), Language::English);
        headers.remove(header::COOKIE);
        assert_eq!(language(&headers), Language::Chinese);
        headers.insert(header::ACCEPT_LANGUAGE, HeaderValue::from_static("de, zh;q=0.5"));
        assert_eq!(language(&headers), Language::English);
        assert_eq!(language(&HeaderMap::new()), Language::English);
    }
}
