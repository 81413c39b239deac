//! What only a browser does on this page: it keeps the address in step with the state, and follows
//! the page's own links without loading it again.

use std::time::Duration;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use super::state::State;
use super::{Asked, asked, labels};
use crate::browser::dom::{clicked_link, focus_again};
use crate::browser::{Later, replace_address};
use crate::site::Page;

/// The address follows when the numbers have been still for this long.
const ADDRESS_DELAY: Duration = Duration::from_millis(250);
/// The headline is spoken when they have been still for this long.
const SPEECH_DELAY: Duration = Duration::from_millis(600);

/// Ties the state to the address; gives the node of the live region.
pub(super) fn install(state: State) -> NodeRef<html::P> {
    let announcement = NodeRef::<html::P>::new();
    let (later, speech) = (Later::new(ADDRESS_DELAY), Later::new(SPEECH_DELAY));
    Effect::new(move |is_first: Option<()>| {
        let shown = state.with(Asked::address);
        if is_first.is_none() {
            return;
        }
        later.run(move || replace_address(&shown));
        speech.run(move || {
            if let Some(Some(node)) = announcement.try_get_untracked() {
                let text = match untrack(|| state.is_stale()) {
                    true => "This design can't train.".to_owned(),
                    false => untrack(|| state.with_shown(labels::headline)),
                };
                node.set_text_content(Some(&text));
            }
        });
    });
    announcement
}

/// Follows a link to this page by changing its state; all other clicks go their way.
pub(super) fn follow_link(state: State, event: &ev::MouseEvent) {
    let Some((link, address)) = clicked_link(event) else { return };
    let query = address.strip_prefix(Page::Budget.path());
    let query = query.filter(|rest| rest.is_empty() || rest.starts_with('?'));
    let Some(Ok(other)) = query.map(asked) else { return };
    event.prevent_default();
    state.ask(other);
    // A link that is gone with what it changed leaves the focus to the form.
    focus_again(link.id(), "preset".to_owned(), false);
}
