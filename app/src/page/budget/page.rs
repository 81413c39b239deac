//! The page as a whole.

use leptos::prelude::*;
use model::metric::MetricId;
use present::html::broken::broken_link;
use present::page::budget::{BudgetInput, BudgetAnswer, asked, brief, charts, form, labels, quality};
use present::site::Page;

use super::browser;
use super::state::{EXPLAINED, State};
use crate::browser::on_server;
use crate::panel::asking::{self, Explained, explained, section};

/// The page that a raw query string asks for, or what is wrong with the query.
pub fn page(raw: &str) -> impl IntoView + use<> {
    let main =
        asked(raw).map(live).map_err(|errors| on_server(|| broken_link(&errors, Page::Budget)));
    asking::page(Page::Budget, main)
}

fn live(asked: BudgetInput) -> impl IntoView {
    let state = State::new(asked);
    let announcement = browser::install(state);
    let (subject, cards) = (
        Memo::new(move |_| state.with_shown(labels::subject)),
        Memo::new(move |_| state.with_shown(labels::cards)),
    );
    let shown = move |text: fn(&BudgetAnswer) -> String| move || state.with_shown(text);
    let problems = move || {
        let violations = state.violations();
        state.with(|asked| labels::problems(&violations, asked))
    };
    view! {
        <main class="schedule-main budget-main" on:click=move |event| {
            browser::follow_link(state, &event);
        }>
            <h1>{Page::Budget.title()}</h1>
            <div id="results" class="schedule-results answer-head"
                class:stale=move || state.is_stale()
            >
                {asking::verdict(move || state.is_stale(), problems)}
                <section class="card schedule-card" aria-label="What is trained"
                    inner_html=move || subject.get()
                ></section>
                <section class="cards" aria-label="Numbers of the run"
                    inner_html=move || cards.get()
                ></section>
            </div>
            {asking::form(state, Page::Budget, "Design, run and failures", |state| {
                state.with(|asked| form::html(asked, &state.violations()))
            })}
            <div class="schedule-results" class:stale=move || state.is_stale()>
                {section("surface", "Goodput over failures and storage", shown(charts::surface))}
                {section("spread", "How far equal runs lie apart", shown(labels::spread))}
                {section("gains", "What changes are worth", shown(labels::gains))}
                {section("quality", "Loss beside a baseline", shown(quality::html))}
                {section("brief", "Brief", shown(brief::html))}
                {section("numbers", "All numbers", shown(labels::numbers))}
                {explained(Explained {
                    metrics: EXPLAINED.into_iter().flat_map(MetricId::of).collect(),
                    now: Signal::derive(move || state.explained()),
                    choose: Callback::new(move |name: String| state.explain(&name)),
                    text: Memo::new(move |_| {
                        let metric = state.explained();
                        state.with_shown(|of| labels::explained(of, metric))
                    }),
                })}
            </div>
            <p class="visually-hidden" role="status" aria-live="polite" node_ref=announcement></p>
        </main>
    }
}
