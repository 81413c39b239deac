//! What only a browser has: the clipboard, cookies, what is kept and downloaded.
//!
//! Everything here runs in effects and handlers, never while the page is drawn first: server and
//! browser must draw the same.

pub(crate) mod folder;
pub(crate) mod download;
pub(crate) mod canvas;
pub(crate) mod dom;
pub mod pins;

use std::mem;
use std::time::Duration;

use leptos::html;
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use leptos::wasm_bindgen::{JsCast, JsValue};
use present::format::MemoryUnit;
use wasm_bindgen_futures::JsFuture;
use web_sys::js_sys::{JSON, Reflect};
use web_sys::{RequestInit, Response};

use crate::reaction::effect;
use folder::{at, in_folder};

/// Cookies last a year.
const COOKIE_SECONDS: u32 = 31_536_000;

/// Something done once, when a while has passed without another call.
#[derive(Clone, Copy)]
pub(crate) struct Later {
    delay: Duration,
    waiting: StoredValue<Option<TimeoutHandle>>,
}

impl Later {
    pub(crate) fn new(delay: Duration) -> Self {
        Self { delay, waiting: StoredValue::new(None) }
    }

    pub(crate) fn run(self, act: impl FnOnce() + 'static) {
        if let Some(Some(handle)) = self.waiting.try_get_value() {
            handle.clear();
        }
        let handle = set_timeout_with_handle(act, self.delay).ok();
        let _ = self.waiting.try_set_value(handle);
    }
}

/// HTML that only the server writes: taking a page over leaves it as it is, and no module carries
/// what makes it.
pub(crate) fn on_server<T: Default>(write: impl FnOnce() -> T) -> T {
    if cfg!(feature = "ssr") { write() } else { T::default() }
}

/// Time for which the state has to be still before the address follows it.
const ADDRESS_DELAY: Duration = Duration::from_millis(250);
/// Time for which the page has to be still before its result is spoken.
const SPEECH_DELAY: Duration = Duration::from_millis(600);

/// Keeps the address in step with the state, and speaks what it comes to; gives the node of the
/// live region.
pub(crate) fn follow_state(
    address: impl Fn() -> String + 'static,
    spoken: impl Fn() -> String + Copy + 'static,
) -> NodeRef<html::P> {
    let announcement = NodeRef::<html::P>::new();
    let (later, speech) = (Later::new(ADDRESS_DELAY), Later::new(SPEECH_DELAY));
    let mut is_first = true;
    effect(move || {
        let shown = address();
        if mem::take(&mut is_first) {
            return;
        }
        later.run(move || replace_address(&shown));
        speech.run(move || {
            if let Some(Some(node)) = announcement.try_get_untracked() {
                node.set_text_content(Some(&untrack(spoken)));
            }
        });
    });
    announcement
}

/// Whether a page is being taken over, so that what is made now is in it as the server wrote it.
pub(crate) fn takes_over() -> bool {
    Owner::current_shared_context().is_some_and(|context| context.during_hydration())
}

/// Does something when what has been written is on the screen: for what needn't be there with it.
pub(crate) fn after_paint(act: Box<dyn FnOnce()>) {
    // A frame's own tasks come before it is painted.
    request_animation_frame(move || set_timeout(act, Duration::ZERO));
}

/// The text at an address; `None` if it can't be fetched.
pub(crate) async fn fetched(address: &str) -> Option<String> {
    if in_folder() {
        return None;
    }
    let response = JsFuture::from(window().fetch_with_str(address)).await.ok()?;
    let response: Response = response.dyn_into().ok()?;
    let text = response.text().ok().filter(|_| response.ok())?;
    JsFuture::from(text).await.ok()?.as_string()
}

/// Status and text of the answer to a POST request; `None` without an answer.
pub(crate) async fn posted(address: &str, body: &JsValue) -> Option<(u16, String)> {
    sent("POST", address, body).await
}

/// Status and text of the answer to a request of any method, as by [`posted`]; a body of
/// `undefined` sends nothing.
pub(crate) async fn sent(method: &str, address: &str, body: &JsValue) -> Option<(u16, String)> {
    if in_folder() {
        return None;
    }
    let options = RequestInit::new();
    options.set_method(method);
    options.set_body(body);
    let sent = JsFuture::from(window().fetch_with_str_and_init(address, &options)).await.ok()?;
    let response: Response = sent.dyn_into().ok()?;
    let text = JsFuture::from(response.text().ok()?).await.ok()?.as_string()?;
    Some((response.status(), text))
}

/// Reason that a server gave for a refusal; `otherwise` if it gave none.
pub(crate) fn refusal(answer: Option<(u16, String)>, otherwise: &str) -> String {
    let said = answer.filter(|(status, _)| (400..500).contains(status));
    let problem = said.and_then(|(_, text)| JSON::parse(&text).ok());
    let detail = problem.and_then(|problem| Reflect::get(&problem, &"detail".into()).ok());
    let detail = detail.and_then(|detail| detail.as_string());
    detail.map_or_else(|| otherwise.to_owned(), |detail| format!("The server says: {detail}"))
}

/// The whole address of a design.
#[must_use]
pub fn address(query: &str) -> String {
    let address = at(&format!("/?{query}"));
    let origin = window().location().origin().unwrap_or_default();
    if in_folder() { address } else { origin + &address }
}

/// Writes the page's address in place of the one that it has, without a step of the history.
pub(crate) fn replace_address(to: &str) {
    if let Ok(history) = window().history() {
        // A browser refuses only when the address changes too often; the next change writes it.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&at(to)));
    }
}

/// Sets a signal back to its first value when what it says has been read.
pub(crate) fn reset_soon<T: Default + Send + Sync + 'static>(said: RwSignal<T>) {
    // The page may be gone by then.
    set_timeout(move || drop(said.try_set(T::default())), Duration::from_secs(2));
}

/// Puts a text on the clipboard and tells whether that worked.
pub(crate) fn copy(text: String, done: impl FnOnce(bool) + 'static) {
    // Pages that aren't served securely have no clipboard.
    let clipboard = window().is_secure_context().then(|| window().navigator().clipboard());
    leptos::task::spawn_local(async move {
        let copied = match clipboard {
            Some(clipboard) => {
                wasm_bindgen_futures::JsFuture::from(clipboard.write_text(&text)).await.is_ok()
            }
            None => false,
        };
        done(copied);
    });
}

/// Whether single letters act as keys.
#[must_use]
pub fn letter_keys() -> bool {
    cookies().is_none_or(|cookies| !cookies.split("; ").any(|cookie| cookie == "keys=off"))
}

/// Turns single letters on or off as keys, and remembers it.
pub fn set_letter_keys(on: bool) {
    write_cookie("keys", if on { "on" } else { "off" });
}

/// The unit of memory in which the server wrote the page.
#[must_use]
pub fn memory_unit() -> MemoryUnit {
    let root = document().document_element();
    let id = root.and_then(|root| root.get_attribute("data-units"));
    id.map_or(MemoryUnit::default(), |id| MemoryUnit::of_id(&id))
}

fn cookies() -> Option<String> {
    document().dyn_into::<web_sys::HtmlDocument>().ok()?.cookie().ok()
}

fn write_cookie(name: &str, value: &str) {
    if let Ok(document) = document().dyn_into::<web_sys::HtmlDocument>() {
        let cookie = format!("{name}={value}; Path=/; Max-Age={COOKIE_SECONDS}; SameSite=Lax");
        // A browser that keeps no cookies forgets the choice with the page.
        let _ = document.set_cookie(&cookie);
    }
}
