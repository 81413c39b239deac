//! The page as a whole: header, knobs, numbers, charts, explanation.

pub mod broken_link;

use leptos::prelude::*;
use model::design::Design;

use crate::explorer::stored;
use crate::explorer::{Explorer, Shown};
use crate::panel::find_bar::{Start, bar};
use crate::panel::keys;
use crate::panel::studies::{Studies, choose, press};
use crate::panel::tray::Tray;
use crate::panel::{
    cards, conventions, explanation, header, help, knobs, steps, timeline, trace, verdict,
};
use crate::study::Study;

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
    let tray = Tray::new(explorer);
    let announcement = keys::install(explorer, tray);
    let is_stale = move || explorer.shown() != Shown::Design;
    let studies = Studies::new(explorer);
    view! {
        <div class="page" class:explaining=move || explorer.explained.get().is_some()>
            <a class="skip" href="#results">"Skip to the results"</a>
            <a class="skip" href="#knobs">"Skip to the knobs"</a>
            {header::header(explorer, tray)}
            {knobs::knobs(explorer)}
            <main
                id="results"
                class="results"
                class:stale=is_stale
                on:click=move |event| press(explorer, &event)
                on:change=move |event| choose(&event)
            >
                <h1 class="visually-hidden">
                    {move || format!("Estimate of {}", explorer.title())}
                </h1>
                {bar(Start::at_hand(explorer))}
                {stored::place()}
                {cards::cards(explorer)}
                <div class="verdict-box">
                    {verdict::verdict(explorer)}
                    <div hidden=is_stale>{studies.place(Study::Nearest)}</div>
                    <div hidden=is_stale>{studies.place(Study::Advice)}</div>
                </div>
                <section class="figures" aria-label="Charts">
                    <div class="column">
                        {studies.place(Study::Memory)} {studies.place(Study::Communication)}
                        {studies.place(Study::Composition)}
                    </div>
                    <div class="column">
                        {studies.place(Study::Step)} {studies.place(Study::Bubble)}
                        {cards::facts(explorer)} {studies.place(Study::Tradeoff)}
                    </div>
                </section>
                {timeline::timeline(explorer)}
                {studies.place(Study::Balance)}
                {studies.place(Study::Schedules)}
                {studies.place(Study::Sensitivity)}
                {studies.place(Study::Solve)}
                {studies.place(Study::Map)}
                {studies.place(Study::Roofline)}
                {studies.place(Study::Transfer)}
                {studies.place(Study::Loads)}
                {trace::trace(explorer)}
                {verdict::notes(explorer)}
                {tray.bar()}
            </main>
            {explanation::explanation(explorer)}
            {header::bottom_bar(explorer)}
            {help::help(explorer)}
            {steps::steps(explorer)}
            {conventions::dialog(explorer, explorer.conventions_open)}
            {stopped()}
            <p class="visually-hidden" role="status" aria-live="polite" node_ref=announcement></p>
        </div>
    }
}
