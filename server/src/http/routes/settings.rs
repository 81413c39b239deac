//! `/settings`: theme, language, unit of memory and single keys, for every page at once. What is
//! chosen stands in cookies alone; the form works without a script and leads back to where one was.

use std::collections::HashMap;

use axum::Form;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use present::form::{group, hidden, input};
use present::format::MemoryUnit;
use present::site::Page;

use crate::http::static_page::Reading;
use crate::net::problem::Problem;
use crate::net::query;
use crate::site::choices;
use crate::site::language::Language;
use crate::state::AppState;

/// Cookies last a year.
const AGE_SECONDS: u32 = 31_536_000;

/// Something to choose.
struct Setting {
    /// The name of its cookie and of its field.
    name: &'static str,
    title: &'static str,
    about: &'static str,
    /// Values with what they are called; an empty one keeps no cookie.
    values: &'static [(&'static str, &'static str)],
}

const SETTINGS: [Setting; 4] = [
    Setting {
        name: choices::LANGUAGE,
        title: "Language",
        about: "Of pages and guide. The command line, files and the API are in English.",
        values: &[
            ("", "As the browser prefers"),
            (Language::English.id(), "English"),
            (Language::Chinese.id(), "中文 (Chinese)"),
        ],
    },
    Setting {
        name: choices::UNITS,
        title: "Sizes of memory",
        about: "1 GiB is 2^30 bytes, as profilers count; 1 GB is 10^9 bytes, as data sheets count. \
                Traffic is in GB either way, and a knob's name says its unit.",
        values: &[("", "GiB"), (MemoryUnit::Decimal.id(), "GB")],
    },
    Setting {
        name: choices::THEME,
        title: "Theme",
        about: "The key t switches it on every page.",
        values: &[("", "As the system"), ("light", "Light"), ("dark", "Dark")],
    },
    Setting {
        name: choices::KEYS,
        title: "Keyboard shortcuts",
        about: "Single keys such as / and p, outside text boxes. Turn them off if you use speech \
                or switch input.",
        values: &[("", "On"), ("off", "Off")],
    },
];

/// The form.
pub(super) async fn form(
    State(state): State<AppState>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Response {
    let query = query.unwrap_or_default();
    let asked = query::parameters(&query, ["back"]).ok().and_then(|[back]| back);
    let asked = asked.as_deref().or_else(|| before(&headers)).filter(|back| is_own(back));
    let body = body(&headers, asked.unwrap_or("/"));
    let about = "Language, units, theme and keys of every page";
    let (page, title) = (Some(Page::Settings), "Settings");
    let page = Reading { page, title, about, body, ..Reading::default() };
    page.answer(&state, choices::theme(&headers).as_deref(), StatusCode::OK)
}

/// Keeps what was chosen as cookies, and leads back.
pub(super) async fn choose(Form(form): Form<HashMap<String, String>>) -> Result<Response, Problem> {
    let field = |name: &str| form.get(name).map_or("", String::as_str);
    let back = Some(field("back")).filter(|back| is_own(back)).unwrap_or("/");
    let location = HeaderValue::try_from(back);
    let location = location.map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "no such page"))?;
    let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response();
    for setting in &SETTINGS {
        let chosen = field(setting.name);
        let known = setting.values.iter().find(|(value, _)| *value == chosen);
        let Some((value, _)) = known else {
            let detail = format!("{} has no choice {chosen:?}", setting.title);
            return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
        };
        let age = if value.is_empty() { 0 } else { AGE_SECONDS };
        let cookie = format!("{}={value}; Path=/; Max-Age={age}; SameSite=Lax", setting.name);
        let cookie = HeaderValue::try_from(cookie).expect("names and values are our own");
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// The page from which a link led here; browsers say it to the site that it is of.
fn before(headers: &HeaderMap) -> Option<&str> {
    let (_, address) = headers.get(header::REFERER)?.to_str().ok()?.split_once("://")?;
    address.find('/').map(|path| &address[path..])
}

/// A page of ours, and not an address that a browser reads as another site's.
fn is_own(path: &str) -> bool {
    let mut bytes = path.bytes();
    bytes.next() == Some(b'/')
        && !matches!(bytes.next(), Some(b'/' | b'\\'))
        && path.bytes().all(|byte| byte.is_ascii_graphic())
}

fn body(headers: &HeaderMap, back: &str) -> Markup {
    html! {
        h1 { "Settings" }
        form method="post" class="settings" {
            (hidden("back", back))
            @for Setting { name, title, about, values } in &SETTINGS {
                // What isn't known counts as not chosen.
                @let chosen = choices::cookie(headers, name)
                    .filter(|chosen| values.iter().any(|(value, _)| value == chosen))
                    .unwrap_or_default();
                (group("", title, &html! {
                    @for (value, label) in *values {
                        (input("radio").name(name).value(value).flag("checked", *value == chosen)
                            .before("", label))
                    }
                    p.muted { (about) }
                }))
            }
            p {
                button.button.primary { "Save" } " "
                a href=(back) class="button" { "Back" }
            }
        }
        p.muted {
            "Stored in this browser as cookies; not part of links or stored designs."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_before_is_what_the_browser_says() {
        let mut headers = HeaderMap::new();
        assert_eq!(before(&headers), None);
        let said = HeaderValue::from_static("http://a.example:3000/?x=y");
        headers.insert(header::REFERER, said);
        assert_eq!(before(&headers), Some("/?x=y"));
        headers.insert(header::REFERER, HeaderValue::from_static("http://a.example"));
        assert_eq!(before(&headers), None);
    }

    #[test]
    fn only_our_own_pages_are_led_back_to() {
        assert!(is_own("/"));
        assert!(is_own("/?preset=x&a=b"));
        for other in ["", "//a.example", "/\\a.example", "https://a.example", "/a b", "/\r\nx"] {
            assert!(!is_own(other), "{other:?}");
        }
    }
}
