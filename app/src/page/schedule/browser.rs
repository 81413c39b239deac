//! What only a browser does on this page: it keeps the address in step with the state, follows the
//! page's own links without loading it again.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use present::page::schedule::{labels, query};
use present::site::Page;

use super::state::State;
use crate::browser::dom::{focus_again, followed};
use crate::browser::follow_state;
use crate::panel::address::follow_address;

/// Ties the state to the address; gives the node of the live region.
pub(super) fn install(state: State) -> NodeRef<html::P> {
    let spoken = move || match state.refusal() {
        Some(_) => "This schedule can't run.".to_owned(),
        None => state.with_shown(labels::headline),
    };
    follow_address(query::decode, move |input| state.ask(input));
    follow_state(move || query::address(&state.input()), spoken)
}

/// Follows a link to this page by changing its state; all other clicks go their way.
pub(super) fn follow_link(state: State, event: &ev::MouseEvent) {
    let Some((link, input)) = followed(event, Page::Schedule, query::decode) else { return };
    state.ask(input);
    // A link that mends is gone with what it mends.
    focus_again(link.id(), "method".to_owned(), false);
}
