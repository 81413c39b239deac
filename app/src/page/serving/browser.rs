//! What only a browser does on this page: it keeps the address in step with the state, and follows
//! the page's own links without loading it again.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use model::design::link;
use model::design::{Design, Serving};
use present::page::serving::front::BEST;
use present::page::serving::measured::Measured;
use present::page::serving::{MEASURED_PATH, address, design, labels};
use present::site::Page;

use super::state::State;
use crate::browser::dom::{focus_again, followed};
use crate::browser::{fetched, follow_state};
use crate::panel::address::follow_address;
use crate::reaction::{effect, memo};

/// Ties the state to the address; gives the node of the live region.
pub(super) fn install(state: State) -> NodeRef<html::P> {
    follow_measured(state);
    let spoken = move || match state.outcome.is_stale() {
        true => "This design can't serve.".to_owned(),
        false => state.outcome.with_shown(labels::headline),
    };
    follow_address(design, move |design| state.ask(design));
    follow_state(move || state.outcome.with_asked(address), spoken)
}

/// Asks for measured loads when something changes, and again with model, accelerator or lengths.
fn follow_measured(state: State) {
    let key = memo(move || state.wants_measured().then(|| state.with_resting(measured_address)));
    effect(move || {
        let Some(address) = key.get() else { return };
        spawn_local(async move {
            let text = fetched(&address).await;
            if key.try_get_untracked().flatten().as_ref() == Some(&address) {
                state.take_measured(Measured::read(&text.unwrap_or_default()));
            }
        });
    });
}

/// Address of the measured loads of a design: whatever else it has doesn't matter.
fn measured_address(design: &Design) -> String {
    let mut asked = design.clone();
    asked.serving = Serving {
        input_length: design.serving.input_length,
        output_length: design.serving.output_length,
        ..Serving::default()
    };
    format!("{MEASURED_PATH}?{}", link::encode(&asked))
}

/// Follows a link to this page by changing its state; all other clicks go their way.
pub(super) fn follow_link(state: State, event: &ev::MouseEvent) {
    state.outcome.follow(event);
    let Some((link, design)) = followed(event, Page::Serving, design) else { return };
    match link.id() {
        // What was chosen meanwhile stays.
        id if id.starts_with("layout-") || id == BEST => state.lay_out(&design),
        _ => state.ask(design),
    }
    // A link that mends is gone with what it mends.
    focus_again(link.id(), "preset".to_owned(), false);
}
