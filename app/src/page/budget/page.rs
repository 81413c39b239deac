//! The page as a whole.

use leptos::either::Either;
use leptos::prelude::*;
use model::metric::MetricId;
use present::html::broken::broken_link;
use present::page::budget::{BudgetAnswer, BudgetInput, asked, brief, charts, labels, quality};
use present::site::Page;

use super::state::{EXPLAINED, State};
use super::{browser, form};
use crate::browser::on_server;
use crate::panel::asking::{Explained, explained, section};
use crate::panel::header;

/// The page that a raw query string asks for, or what is wrong with the query.
pub fn page(raw: &str) -> impl IntoView + use<> {
    let main = match asked(raw) {
        Ok(asked) => Either::Left(live(asked)),
        Err(errors) => {
            let html = on_server(|| broken_link(&errors, Page::Budget));
            Either::Right(view! { <main id="results" class="broken-link" inner_html=html></main> })
        }
    };
    view! {
        <div class="schedule-page">
            {header::beside(Page::Budget, "results", "Skip to the results")}
            {main}
        </div>
    }
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
                <div
                    class="verdict broken"
                    role="region"
                    aria-label="Broken rules"
                    hidden=move || !state.is_stale()
                    inner_html=problems
                ></div>
                <section class="card schedule-card" aria-label="What is trained"
                    inner_html=move || subject.get()
                ></section>
                <section class="cards" aria-label="Numbers of the run"
                    inner_html=move || cards.get()
                ></section>
            </div>
            {form::form(state)}
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
