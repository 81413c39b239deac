//! What only a browser does on this page: it keeps the address in step with the state, and follows
//! the page's own links without loading it again.

use leptos::prelude::*;
use leptos::{ev, html};
use present::page::budget::{BudgetInput, asked, labels};
use present::site::Page;

use super::state::State;
use crate::browser::dom::{focus_again, followed};
use crate::browser::follow_state;
use crate::panel::address::follow_address;

/// Ties the state to the address; gives the node of the live region.
pub(super) fn install(state: State) -> NodeRef<html::P> {
    let spoken = move || match state.outcome.is_stale() {
        true => "This design can't train.".to_owned(),
        false => state.outcome.with_shown(labels::headline),
    };
    follow_address(asked, move |asked| state.ask(asked));
    follow_state(move || state.outcome.with_asked(BudgetInput::address), spoken)
}

/// Follows a link to this page by changing its state; all other clicks go their way.
pub(super) fn follow_link(state: State, event: &ev::MouseEvent) {
    state.outcome.follow(event);
    let Some((link, other)) = followed(event, Page::Budget, asked) else { return };
    state.ask(other);
    // A link that is gone with what it changed leaves the focus to the form.
    focus_again(link.id(), "preset".to_owned(), false);
}
