//! What only a browser has: randomness, a place to keep a name, requests, places on the page.

use leptos::prelude::*;
use leptos::wasm_bindgen::{JsCast, JsValue};
use review::Unsent;
use review::json::{Read, Tree};
use wasm_bindgen_futures::JsFuture;
use web_sys::js_sys::{Array, JSON, Object};
use web_sys::{Headers, RequestInit, Response};

/// Key of the browser's secret, from which the server makes a person's id.
const KEY: &str = "moescape-person-key";
/// Key of the person's name.
const NAME: &str = "moescape-person-name";

/// 128 random bits, as hexadecimal digits.
pub(super) fn random() -> String {
    let mut bytes = [0_u8; 16];
    if let Ok(crypto) = window().crypto() {
        // It fails only for more bytes than it gives at once.
        let _ = crypto.get_random_values_with_u8_array(&mut bytes);
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// This browser's secret, made at the first request.
pub(super) fn key() -> String {
    if let Some(key) = kept(KEY) {
        return key;
    }
    let key = random();
    keep(KEY, &key);
    key
}

/// The name that the visitor has given.
pub(super) fn name() -> Option<String> {
    kept(NAME)
}

/// Keeps the visitor's name.
pub(super) fn keep_name(name: &str) {
    keep(NAME, name);
}

/// Key under which a browser's tab keeps what isn't sent to a session, until it is.
fn unsent_key(session: &str) -> String {
    format!("moescape-review-unsent-{session}")
}

/// Changes that this tab couldn't send to a session before the page was loaded again.
pub(super) fn unsent(session: &str) -> Vec<Unsent> {
    let storage = window().session_storage().ok().flatten();
    let text = storage.and_then(|it| it.get_item(&unsent_key(session)).ok().flatten());
    text.and_then(|text| read(&text)).unwrap_or_default()
}

/// Keeps what isn't sent for the case that the page is loaded again.
pub(super) fn keep_unsent(session: &str, unsent: &[&Unsent]) {
    let Ok(Some(storage)) = window().session_storage() else { return };
    let key = unsent_key(session);
    // A tab that keeps nothing loses it with the page, as before.
    let _ = match serde_json::to_string(unsent) {
        Ok(text) if !unsent.is_empty() => storage.set_item(&key, &text),
        Ok(_) | Err(_) => storage.remove_item(&key),
    };
}

/// A text of JSON, by the browser's own reader, which reads numbers to the last digit.
pub(super) fn read<T: Read>(text: &str) -> Option<T> {
    T::read(tree(&JSON::parse(text).ok()?)).ok()
}

/// Largest number up to which every whole one is exact.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

fn tree(value: &JsValue) -> Tree {
    if let Some(flag) = value.as_bool() {
        Tree::Flag(flag)
    } else if let Some(number) = value.as_f64() {
        let is_whole = number.fract() == 0.0 && (0.0..MAX_WHOLE).contains(&number);
        if is_whole { Tree::Whole(number as u64) } else { Tree::Real(number) }
    } else if let Some(text) = value.as_string() {
        Tree::Text(text)
    } else if let Some(list) = value.dyn_ref::<Array>() {
        Tree::List(list.iter().map(|item| tree(&item)).collect())
    } else if let Some(object) = value.dyn_ref::<Object>() {
        let entry = |it: JsValue| {
            let [name, of] = [0, 1].map(|at| Array::from(&it).get(at));
            Some((name.as_string()?, tree(&of)))
        };
        Tree::Object(Object::entries(object).iter().filter_map(entry).collect())
    } else {
        Tree::Null
    }
}

fn kept(key: &str) -> Option<String> {
    let storage = window().local_storage().ok().flatten()?;
    storage.get_item(key).ok().flatten().filter(|value| !value.is_empty())
}

fn keep(key: &str, value: &str) {
    if let Ok(Some(storage)) = window().local_storage() {
        // A browser that keeps nothing forgets it with the page.
        let _ = storage.set_item(key, value);
    }
}

/// Response to a request: the status and the text; `None` without an answer.
pub(super) async fn fetch(
    method: &str,
    address: &str,
    body: Option<&str>,
) -> Option<(u16, String)> {
    let options = RequestInit::new();
    options.set_method(method);
    if let Some(body) = body {
        let headers = Headers::new().ok()?;
        headers.set("content-type", "application/json").ok()?;
        options.set_headers(&headers);
        options.set_body(&JsValue::from_str(body));
    }
    let sent = JsFuture::from(window().fetch_with_str_and_init(address, &options)).await.ok()?;
    let response: Response = sent.dyn_into().ok()?;
    let text = JsFuture::from(response.text().ok()?).await.ok()?;
    Some((response.status(), text.as_string().unwrap_or_default()))
}

/// Milliseconds since the page was opened.
pub(super) fn now() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

/// The address that begins with this site's.
pub(super) fn absolute(path: &str) -> String {
    let origin = window().location().origin().unwrap_or_default();
    format!("{origin}{path}")
}

/// Goes to the explorer: there is nothing here any more.
pub(super) fn leave() {
    // A navigation that is refused leaves the page as it is.
    let _ = window().location().assign("/");
}

/// Puts the focus on an element, once it is on the page.
pub(super) fn focus(id: &'static str) {
    request_animation_frame(move || {
        let element = document().get_element_by_id(id);
        if let Some(element) = element.and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok()) {
            // Focus fails only on an element that is gone.
            let _ = element.focus();
        }
    });
}
