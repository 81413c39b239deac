//! The page as a whole: header, knobs, numbers, charts, explanation.

use leptos::prelude::*;
use model::design::Design;

use super::{
    cards, conventions, explanation, figures, header, help, knobs, layout, schedules, timeline,
    verdict,
};
use crate::browser;
use crate::explorer::{Explorer, Shown};

/// What a visitor reads when the page has failed; the style sheet shows it then.
fn stopped() -> impl IntoView {
    view! {
        <div class="stopped" role="alert">
            <p>
                "The page has stopped because of a mistake in it. "
                "The design is kept in the address."
            </p>
            <a class="button primary" href="">"Reload"</a>
        </div>
    }
}

/// The explorer opened on a design.
pub fn page(design: Design) -> impl IntoView {
    let explorer = Explorer::new(design);
    let announcement = browser::install(explorer);
    let is_stale = move || explorer.shown() != Shown::Design;
    view! {
        <div class="page" class:explaining=move || explorer.explained.get().is_some()>
            <a class="skip" href="#results">"Skip to the results"</a>
            {header::header(explorer)}
            {knobs::knobs(explorer)}
            <main id="results" class="results" class:stale=is_stale>
                <h1 class="visually-hidden">
                    {move || format!("Estimate of {}", explorer.preset().title)}
                </h1>
                {cards::cards(explorer)}
                {verdict::verdict(explorer)}
                {figures::figures(explorer)}
                {timeline::timeline(explorer)}
                {layout::layout(explorer)}
                {schedules::schedules(explorer)}
                {verdict::notes(explorer)}
            </main>
            {explanation::explanation(explorer)}
            {header::bottom_bar(explorer)}
            {help::help(explorer)}
            {conventions::dialog(explorer, explorer.conventions_open)}
            {stopped()}
            <p class="visually-hidden" role="status" aria-live="polite" node_ref=announcement></p>
        </div>
    }
}
