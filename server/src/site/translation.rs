//! Pages in the visitor's language. They are written in English; where Chinese is wanted, a layer
//! around all routes translates a page with the dictionary of `crates/present/src/words/language`,
//! and `app/src/script/translate.js` does the same with what changes in the browser.
//!
//! No other code knows of languages. What the dictionary doesn't have stays English; what is below
//! `translate="no"`, such as names and comments, stays as it was written.

mod parts;
mod dictionary;
mod document;

use std::sync::OnceLock;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::site::choices;
use crate::site::language::Language;
use dictionary::Dictionary;

/// Language tag of documents in Chinese.
const TAG: &str = Language::Chinese.tag();

/// The Chinese dictionary, read once.
fn chinese() -> &'static Dictionary {
    static CHINESE: OnceLock<Dictionary> = OnceLock::new();
    let read = || {
        Dictionary::new(&present::words::language::CHINESE, present::words::language::CHINESE_PARTS)
    };
    CHINESE.get_or_init(read)
}

/// A text in Chinese, with the white space around it; `None` if the dictionary doesn't have it.
pub(crate) fn said_in_chinese(text: &str) -> Option<String> {
    chinese().translate_spaced(text)
}

/// Answers with pages in the visitor's language.
pub(crate) async fn translate(request: Request, next: Next) -> Response {
    let language = choices::language(request.headers());
    // A report is a file that others get, too: it is the same for everybody.
    let is_file = request.uri().path().ends_with(".html");
    let mut response = next.run(request).await;
    if !is_page(response.headers()) || is_file {
        return response;
    }
    // Who keeps a page for others keeps it for those alone who would get the same.
    let vary = HeaderValue::from_static("accept-language, cookie");
    response.headers_mut().append(header::VARY, vary);
    if language == Language::Chinese { in_chinese(response).await } else { response }
}

fn is_page(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
        && !headers.contains_key(header::CONTENT_DISPOSITION)
}

async fn in_chinese(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    // Pages are made whole before they are sent.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        tracing::error!("a page broke off before it was translated");
        return Response::from_parts(parts, Body::empty());
    };
    let html = match document::translated(&String::from_utf8_lossy(&bytes), chinese(), TAG) {
        Ok(html) => html,
        Err(error) => {
            tracing::error!(%error, "a page could not be translated");
            return Response::from_parts(parts, Body::from(bytes));
        }
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(TAG));
    Response::from_parts(parts, Body::from(html))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dictionary_reads_and_says_words() {
        assert_eq!(chinese().translate("Undo").as_deref(), Some("撤销"));
        assert!(chinese().len() > 1_000);
    }

    #[test]
    fn every_rule_of_a_framework_has_a_name_in_chinese() {
        let rules = model::rules::rules().iter().chain(model::rules::caution_rules());
        let names = rules.filter(|rule| rule.assertion().is_some());
        let names = names.map(|rule| present::format::reason(rule.name));
        let missing: Vec<String> = names.filter(|name| said_in_chinese(name).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
