//! The page as a whole.

use std::sync::Arc;

use leptos::prelude::*;
use present::format;
use present::page::schedule::input::Input;
use present::page::schedule::run::ScheduleRun;
use present::page::schedule::{broken, form, labels, query, server_html};
use present::site::Page;
use present::timeline::Scene;

use super::browser;
use super::state::State;
use crate::browser::on_server;
use crate::panel::asking;
use crate::reaction::memo;
use crate::timeline::{TimelineFigure, timeline};

/// The page that a raw query string asks for, or what is wrong with the query.
pub fn page(raw: &str) -> impl IntoView + use<> {
    let main =
        query::decode(raw).map(live).map_err(|errors| on_server(|| broken::html(raw, &errors)));
    asking::page(Page::Schedule, main)
}

fn live(input: Input) -> impl IntoView {
    let state = State::new(input);
    let announcement = browser::install(state);
    let part = move |text: fn(&ScheduleRun) -> String| memo(move || state.with_shown(text));
    let (cards, formula, stages) =
        (part(labels::cards), part(labels::formula), part(labels::stages));
    let problems = move || match (state.refusal(), state.shown()) {
        (Some(refusal), Some(ran)) => labels::problems(&refusal, &state.input(), &ran.input),
        _ => String::new(),
    };
    let rows = move || state.with_rows(|rows| labels::comparison(rows, &state.input()));
    view! {
        <main class="schedule-main" on:click=move |event| browser::follow_link(state, &event)>
            <h1>{Page::Schedule.title()}</h1>
            {asking::form(state, Page::Schedule, "Schedule and task times", |state| {
                form::html(&state.input(), state.refusal().as_ref())
            })}
            <div id="results" class="schedule-results" class:stale=move || state.is_stale()>
                {asking::verdict(move || state.is_stale(), problems)}
                <section
                    class="cards"
                    aria-label="Numbers of a step"
                    inner_html=move || cards.get()
                ></section>
                <section class="card schedule-card" aria-label="Closed form">
                    <h2>{move || state.with_shown(|ran| labels::name(&ran.input))}</h2>
                    <div inner_html=move || formula.get()></div>
                </section>
                {figure(state)}
                <section class="card schedule-card" aria-labelledby="compared-title">
                    <h2 id="compared-title">"All schedules on these task times"</h2>
                    <p class="muted">
                        "Each with the chunks that it needs; a click shows it. Peak in flight is \
                         the most that any stage holds, in micro-batches of a whole stage."
                    </p>
                    <div
                        class="scroll-x schedule-compare"
                        role="region"
                        tabindex="0"
                        aria-label="Schedules compared, table"
                        inner_html=rows
                    ></div>
                </section>
                <section class="card schedule-card" aria-labelledby="stages-title">
                    <h2 id="stages-title">"Stages"</h2>
                    <div
                        class="scroll-x schedule-stages"
                        role="region"
                        tabindex="0"
                        aria-label="Stages, table"
                        inner_html=move || stages.get()
                    ></div>
                </section>
                {command(state)}
                <div class="schedule-still" inner_html=on_server(server_html::html)></div>
            </div>
            <p class="visually-hidden" role="status" aria-live="polite" node_ref=announcement></p>
        </main>
    }
}

fn figure(state: State) -> impl IntoView {
    let show = move || match untrack(|| state.shown()) {
        Some(ran) => Ok(ran.timeline.clone() as Scene),
        None => Err("There is nothing to show.".to_owned()),
    };
    let caption = move || {
        state.with_shown(|ran| {
            let stages = format::counted(ran.input.stages, "stage", "stages");
            let count = ran.input.micro_batches;
            let micro_batches = format::counted(count, "micro-batch", "micro-batches");
            format!("What {stages} do when, over {micro_batches}; hatching is bubble")
        })
    };
    timeline(TimelineFigure {
        id: "schedule",
        title: "Timeline",
        caption: Signal::derive(caption),
        show: Arc::new(show),
        changes: Signal::derive(move || drop(state.shown())),
    })
}

/// Command that runs the schedule in a terminal.
fn command(state: State) -> impl IntoView {
    let line = move || labels::command(&state.input());
    let slow = move || state.input().uneven_stage().is_some();
    view! {
        <section class="card schedule-card" aria-labelledby="command-title">
            <h2 id="command-title">"The same in a terminal"</h2>
            <div class="schedule-command">
                <code>{line}</code>
                {asking::copy_button(line)}
            </div>
            <p class="muted" hidden=move || !slow()>
                "The command has equal stages: the slow one isn't in it."
            </p>
        </section>
    }
}
