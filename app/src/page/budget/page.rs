//! The page as a whole.

use leptos::either::Either;
use leptos::prelude::*;
use maud::html;
use model::knob::KnobError;

use super::state::{Shown, State};
use super::{Asked, asked, brief, browser, charts, form, labels, quality};
use crate::panel::header;
use crate::present::html::on_server;
use crate::site::Page;

/// The page that a raw query string asks for, or what is wrong with the query.
pub fn page(raw: &str) -> impl IntoView + use<> {
    let main = match asked(raw) {
        Ok(asked) => Either::Left(live(asked)),
        Err(errors) => {
            let html = on_server(|| broken(&errors));
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

fn broken(errors: &[KnobError]) -> String {
    let markup = html! {
        h1 { "This link can't be opened as it is" }
        p { "These parts couldn't be read, and nothing was substituted." }
        ul.link-errors {
            @for error in errors { li { strong { (error.knob) } p { (error.detail) } } }
        }
        p { a.button href=(Page::Budget.path()) { "Open the example" } }
    };
    markup.into_string()
}

/// A section with a heading and text that follows the state.
fn section(
    state: State,
    id: &'static str,
    title: &'static str,
    text: fn(&Shown) -> String,
) -> impl IntoView {
    let heading = format!("{id}-title");
    let text = Memo::new(move |_| state.with_shown(text));
    view! {
        <section id=id class="card schedule-card" aria-labelledby=heading.clone()>
            <h2 id=heading.clone()>{title}</h2>
            <div class="scroll-x" role="region" tabindex="0" aria-label=format!("{title}, table")
                inner_html=move || text.get()
            ></div>
        </section>
    }
}

fn live(asked: Asked) -> impl IntoView {
    let state = State::new(asked);
    let announcement = browser::install(state);
    let (subject, cards) = (
        Memo::new(move |_| state.with_shown(labels::subject)),
        Memo::new(move |_| state.with_shown(labels::cards)),
    );
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
                {section(state, "surface", "Goodput over failures and storage", charts::surface)}
                {section(state, "spread", "How far equal runs lie apart", labels::spread)}
                {section(state, "gains", "What changes are worth", labels::gains)}
                {section(state, "quality", "Loss beside a baseline", quality::html)}
                {section(state, "brief", "Brief", brief::html)}
                {section(state, "numbers", "All numbers", labels::numbers)}
            </div>
            <p class="visually-hidden" role="status" aria-live="polite" node_ref=announcement></p>
        </main>
    }
}
