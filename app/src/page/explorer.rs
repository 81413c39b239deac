//! The page as a whole: header, knobs, numbers, charts, explanation.

mod broken_link;

use leptos::either::Either;
use leptos::prelude::*;
use model::design::{Design, link};
use present::study::Study;

use crate::explorer::stored;
use crate::explorer::{Explorer, NumbersOf};
use crate::panel::find_bar::{Start, bar};
use crate::panel::keys;
use crate::panel::questions::{self, CurrentQuestion};
use crate::panel::studies::{Studies, choose, press};
use crate::panel::tray::Tray;
use crate::panel::{
    cards, conventions, explanation, header, headline, help, knobs, steps, timeline, trace, verdict,
};
use crate::reaction::handler;
use crate::widget::part::{flag, maybe_text};

/// Message for a visitor when the page has failed; the style sheet shows it then.
fn stopped() -> impl IntoView {
    view! {
        <div class="stopped" role="alert">
            <p>
                "The page stopped because of an internal error. The design is still in the address."
            </p>
            <a class="button primary" href="">"Reload"</a>
        </div>
    }
}

/// The explorer opened on the design in a link, or what is wrong with the link.
pub fn page(raw: &str) -> impl IntoView + use<> {
    match link::decode(raw) {
        Ok(design) => Either::Left(opened(design)),
        Err(errors) => Either::Right(broken_link::broken_link(raw, &errors)),
    }
}

/// The explorer opened on a design.
fn opened(design: Design) -> impl IntoView {
    let explorer = Explorer::new(design);
    let tray = Tray::new(explorer);
    let announcement = keys::install(explorer, tray);
    let is_stale = move || flag(move || explorer.shown() != NumbersOf::Design);
    let studies = Studies::new(explorer);
    let asked = CurrentQuestion::new(explorer);
    view! {
        <div class="page" class:explaining=flag(move || explorer.explained.get().is_some())>
            <a class="skip" href="#results">"Skip to the results"</a>
            <a class="skip" href="#knobs">"Skip to the knobs"</a>
            {header::header(explorer, tray)}
            {knobs::knobs(explorer)}
            <main
                id="results"
                class="results"
                class:stale=is_stale()
                data-question=maybe_text(move || asked.id().map(str::to_owned))
                on:click=handler(move |event| press(explorer, &event))
                on:change=handler(|event| choose(&event))
            >
                {headline::headline(explorer)}
                {bar(Start::at_hand(explorer))}
                {stored::place()}
                {cards::cards(explorer)}
                <div class="anchors">
                    {verdict::rules(explorer)}
                    <div hidden=is_stale()>{studies.place(Study::Nearest)}</div>
                </div>
                {studies.place(Study::Step)}
                {questions::bar(explorer, asked)}
                <div class="question" id="why">
                    {verdict::time(explorer)}
                    {timeline::timeline(explorer)}
                    {studies.place(Study::Roofline)}
                    <div class="pair">
                        {studies.place(Study::Communication)}
                        <div class="column">
                            {studies.place(Study::Bubble)} {studies.place(Study::Balance)}
                        </div>
                    </div>
                </div>
                <div class="question" id="fit">
                    {verdict::memory(explorer)}
                    <div class="pair">
                        {studies.place(Study::Memory)} {studies.place(Study::Composition)}
                    </div>
                    {studies.place(Study::Tradeoff)}
                    {cards::facts(explorer)}
                </div>
                <div class="question" id="change">
                    <div hidden=is_stale()>{studies.place(Study::Advice)}</div>
                    {studies.place(Study::Sensitivity)}
                    {studies.place(Study::Solve)}
                    {studies.place(Study::Map)}
                    {studies.place(Study::Schedules)}
                    <details class="fold card">
                        <summary>"On other accelerators"</summary>
                        {studies.place(Study::Transfer)}
                    </details>
                </div>
                <div class="question" id="load">
                    {studies.place(Study::Loads)}
                    {trace::trace(explorer)}
                </div>
                {verdict::notes(explorer)}
                {tray.bar()}
            </main>
            {explanation::explanation(explorer)}
            {header::bottom_bar(explorer)}
            {help::help(explorer)}
            {steps::steps(explorer)}
            {conventions::dialog(explorer.conventions_open)}
            {stopped()}
            <p class="visually-hidden" role="status" aria-live="polite" node_ref=announcement></p>
        </div>
    }
}
