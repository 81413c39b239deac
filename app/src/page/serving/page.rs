//! The page as a whole.

use leptos::prelude::*;
use model::design::Design;
use present::html::broken::broken_link;
use present::page::serving::{ServingAnswer, design, form, front, labels};
use present::site::Page;

use super::state::State;
use super::{browser, experts};
use crate::browser::on_server;
use crate::panel::asking::{self, explained, section};
use crate::reaction::memo;

/// The page that a raw query string asks for, or what is wrong with the query.
pub fn page(raw: &str) -> impl IntoView + use<> {
    let main =
        design(raw).map(live).map_err(|errors| on_server(|| broken_link(&errors, Page::Serving)));
    asking::page(Page::Serving, main)
}

fn live(design: Design) -> impl IntoView {
    let state = State::new(design);
    let outcome = state.outcome;
    let announcement = browser::install(state);
    let shown = move |text: fn(&ServingAnswer) -> String| move || outcome.with_shown(text);
    let layouts = memo(move || state.with_front(front::html));
    view! {
        <main class="schedule-main serving-main" on:click=move |event| {
            browser::follow_link(state, &event);
        }>
            <h1>{Page::Serving.title()}</h1>
            {asking::head(
                outcome,
                ["What is served", "Numbers of serving"],
                [labels::subject, labels::cards],
                labels::problems,
            )}
            {asking::form(state, Page::Serving, "Model, machine and load", |state| {
                state.outcome.with_asked(|design| form::html(design, &state.outcome.violations()))
            })}
            <div class="schedule-results" class:stale=move || outcome.is_stale()>
                <section class="card schedule-card" aria-labelledby="layouts-title">
                    <h2 id="layouts-title">"Which layout?"</h2>
                    <div inner_html=move || layouts.get()></div>
                </section>
                {section("parts", "Where the time goes", shown(labels::parts))}
                {section("memory", "What memory holds", shown(labels::memory))}
                {experts::part(state)}
                {command(state)}
                {section("numbers", "All numbers", shown(labels::numbers))}
                {explained(outcome, labels::explained)}
            </div>
            <p class="visually-hidden" role="status" aria-live="polite" node_ref=announcement></p>
        </main>
    }
}

/// The engine's command.
fn command(state: State) -> impl IntoView {
    let line = move || state.outcome.with_shown(|ran| interchange::command(&ran.plan));
    let command = move || state.plan().as_ref().map(interchange::command).unwrap_or_default();
    view! {
        <section class="card schedule-card" aria-labelledby="command-title">
            <h2 id="command-title">"Start the engine"</h2>
            <pre class="serving-command" tabindex="0"><code>{line}</code></pre>
            {asking::copy_button(command)}
        </section>
    }
}
