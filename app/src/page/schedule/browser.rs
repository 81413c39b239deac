//! What only a browser does on this page: it keeps the address in step with the state, follows the
//! page's own links without loading it again, and copies the command.

use crate::site::Page;
use std::time::Duration;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::{JsCast, JsValue};

use super::state::State;
use super::{query, words};
use crate::browser::Later;

/// The address follows when the numbers have been still for this long.
const ADDRESS_DELAY: Duration = Duration::from_millis(250);
/// The headline is spoken when they have been still for this long.
const SPEECH_DELAY: Duration = Duration::from_millis(600);

/// Ties the state to the address; gives the node of the live region.
pub(super) fn install(state: State) -> NodeRef<html::P> {
    let announcement = NodeRef::<html::P>::new();
    let (address, speech) = (Later::new(ADDRESS_DELAY), Later::new(SPEECH_DELAY));
    Effect::new(move |is_first: Option<()>| {
        let input = state.input();
        if is_first.is_none() {
            return;
        }
        address.run(move || {
            if let Ok(history) = window().history() {
                let to = query::address(&input);
                // A browser refuses only when the address changes too often; the next change
                // writes it.
                let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&to));
            }
        });
        speech.run(move || {
            if let Some(Some(node)) = announcement.try_get_untracked() {
                let text = match untrack(|| state.refusal()) {
                    Some(_) => "This schedule can't run.".to_owned(),
                    None => untrack(|| state.with_shown(words::headline)),
                };
                node.set_text_content(Some(&text));
            }
        });
    });
    announcement
}

/// Follows a link to this page by changing its state; all other clicks go their way.
pub(super) fn follow_link(state: State, event: &ev::MouseEvent) {
    let is_plain = !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key());
    let target = event.target().and_then(|it| it.dyn_into::<web_sys::Element>().ok());
    let link = target.and_then(|target| target.closest("a[href]").ok().flatten());
    let Some(link) = link.filter(|_| is_plain) else { return };
    let address = link.get_attribute("href").unwrap_or_default();
    let Some(query) =
        address.strip_prefix(Page::Schedule.path()).filter(|rest| !rest.starts_with('/'))
    else {
        return;
    };
    let Ok(input) = query::decode(query) else { return };
    event.prevent_default();
    state.ask(input);
    let id = link.id();
    // The link was written anew, so it loses the focus; one that mends is gone with what it mends.
    request_animation_frame(move || {
        let element = |id: &str| document().get_element_by_id(id);
        let again = (!id.is_empty()).then(|| element(&id)).flatten();
        let focus = again.or_else(|| element("method"));
        if let Some(focus) = focus.and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok()) {
            // Focus fails only on an element that is gone.
            let _ = focus.focus();
        }
    });
}

/// Puts a text on the clipboard and tells whether that worked.
pub(super) fn copy(text: String, done: impl FnOnce(bool) + 'static) {
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
