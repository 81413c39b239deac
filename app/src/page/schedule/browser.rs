//! What only a browser does on this page: it keeps the address in step with the state, follows the
//! page's own links without loading it again.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use present::page::schedule::{labels, query};
use present::site::Page;

use super::state::State;
use crate::browser::dom::{clicked_link, focus_again};
use crate::browser::follow_state;

/// Ties the state to the address; gives the node of the live region.
pub(super) fn install(state: State) -> NodeRef<html::P> {
    let spoken = move || match state.refusal() {
        Some(_) => "This schedule can't run.".to_owned(),
        None => state.with_shown(labels::headline),
    };
    follow_state(move || query::address(&state.input()), spoken)
}

/// Follows a link to this page by changing its state; all other clicks go their way.
pub(super) fn follow_link(state: State, event: &ev::MouseEvent) {
    let Some((link, address)) = clicked_link(event) else { return };
    let query = address.strip_prefix(Page::Schedule.path()).filter(|rest| !rest.starts_with('/'));
    let Some(Ok(input)) = query.map(query::decode) else { return };
    event.prevent_default();
    state.ask(input);
    // A link that mends is gone with what it mends.
    focus_again(link.id(), "method".to_owned(), false);
}
