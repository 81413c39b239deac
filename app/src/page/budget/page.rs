//! The page as a whole.

use leptos::prelude::*;
use present::html::broken::broken_link;
use present::page::budget::{
    BudgetAnswer, BudgetInput, asked, brief, charts, form, labels, quality,
};
use present::site::Page;

use super::browser;
use super::state::State;
use crate::browser::on_server;
use crate::panel::asking::{self, explained, section};

/// The page that a raw query string asks for, or what is wrong with the query.
pub fn page(raw: &str) -> impl IntoView + use<> {
    let main =
        asked(raw).map(live).map_err(|errors| on_server(|| broken_link(&errors, Page::Budget)));
    asking::page(Page::Budget, main)
}

fn live(asked: BudgetInput) -> impl IntoView {
    let state = State::new(asked);
    let outcome = state.outcome;
    let announcement = browser::install(state);
    let shown = move |text: fn(&BudgetAnswer) -> String| move || outcome.with_shown(text);
    view! {
        <main class="schedule-main budget-main" on:click=move |event| {
            browser::follow_link(state, &event);
        }>
            <h1>{Page::Budget.title()}</h1>
            {asking::head(
                outcome,
                ["What is trained", "Numbers of the run"],
                [labels::subject, labels::cards],
                labels::problems,
            )}
            {asking::form(state, Page::Budget, "Design, run and failures", |state| {
                state.outcome.with_asked(|asked| form::html(asked, &state.outcome.violations()))
            })}
            <div class="schedule-results" class:stale=move || outcome.is_stale()>
                {section("surface", "Goodput over failures and storage", shown(charts::surface))}
                {section("spread", "How far equal runs lie apart", shown(labels::spread))}
                {section("gains", "What changes are worth", shown(labels::gains))}
                {section("quality", "Loss beside a baseline", shown(quality::html))}
                {section("brief", "Brief", shown(brief::html))}
                {section("numbers", "All numbers", shown(labels::numbers))}
                {explained(outcome, labels::explained)}
            </div>
            <p class="visually-hidden" role="status" aria-live="polite" node_ref=announcement></p>
        </main>
    }
}
