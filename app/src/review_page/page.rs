//! The page as a whole.

use std::sync::Arc;

use leptos::ev;
use leptos::prelude::*;
use review::{Role, Room};

use super::data::{self, Served};
use super::session::{Line, Session};
use super::{bar, client, discussion, history, name, panel, presence, start, sync};
use crate::browser;
use crate::explorer::{Explorer, Shown};
use crate::panels::studies::{Studies, choose, press};
use crate::panels::{cards, conventions, explanation, header, help, knobs, verdict};
use crate::study::Study;

/// A page under `/r`.
pub fn page() -> impl IntoView {
    let served = data::served();
    let shown = match &*served {
        Served::Start { link, name, problem } => {
            start::start(link, name, problem.as_deref()).into_any()
        }
        Served::Room { id, role, room } => session(id, *role, room).into_any(),
        Served::Missing => start::missing().into_any(),
    };
    view! { {shown}{data::element(&served)} }
}

fn session(id: &str, role: Role, room: &Room) -> impl IntoView + use<> {
    let session = Session::new(id, role, room);
    let explorer = session.explorer;
    explorer.put_beside(Arc::new(move |topic| discussion::beside(session, topic)));
    sync::install(session);
    client::install(session);
    presence::install(session);
    keys(session);
    view! {
        <div
            class="page reviewing"
            class:explaining=move || explorer.explained.get().is_some()
            data-line=move || session.line.with(Line::name)
        >
            <a class="skip" href="#results">"Skip to the results"</a>
            {bar::bar(session)}
            {knobs::panel(explorer, working(session))}
            {results(session)}
            {panel::panel(session)}
            {explanation::explanation(explorer)}
            {bottom_bar(session)}
            {conventions::dialog(explorer, explorer.conventions_open)}
            {help::help(explorer)}
            {name::dialog(session)}
            {bar::note(session)}
        </div>
    }
}

/// What stands above the knobs.
fn working(session: Session) -> impl IntoView {
    let explorer = session.explorer;
    let changes = move || {
        let count = explorer.changed().with(Vec::len);
        let changed = crate::format::counted(count as u64, "knob differs", "knobs differ");
        format!("{}; {changed} from it", explorer.preset().title)
    };
    let mode = move || {
        if session.suggesting.get() {
            "You make a suggestion: only you see these knobs turned."
        } else if session.may(Role::Edit) {
            "What you turn here everyone sees at once."
        } else if session.may(Role::Comment) {
            "You can suggest changes: Designs, Suggest a change."
        } else {
            "You can look at this design; its knobs are turned by others."
        }
    };
    view! {
        <section class="presets working" aria-labelledby="working-title">
            <h2 id="working-title" class="group-title">"Working design"</h2>
            <p class="muted">{changes}</p>
            <p class="mode">{mode}</p>
        </section>
    }
}

fn results(session: Session) -> impl IntoView {
    let explorer = session.explorer;
    let studies = Studies::new(explorer);
    let is_stale = move || explorer.shown() != Shown::Design;
    // A link in a study turns knobs for everyone: who may not is told so, and stays here.
    let pressed = move |event: ev::MouseEvent| {
        press(explorer, &event);
        if event.default_prevented() && explorer.locked.get_untracked() {
            session.say("Your link doesn't let you turn knobs. Share opens the design for you.");
        }
    };
    view! {
        <main
            id="results"
            class="results"
            class:stale=is_stale
            on:click=pressed
            on:change=move |event| choose(&event)
        >
            {bar::banners(session)}
            {history::banner(session)}
            <h1 class="visually-hidden">
                {move || format!("Review: {}", session.with_room(|room| room.name.clone()))}
            </h1>
            {cards::cards(explorer)}
            <div class="verdict-box">
                {verdict::verdict(explorer)}
                <div hidden=is_stale>{studies.place(Study::Advice)}</div>
            </div>
            <section class="figures" aria-label="Charts">
                <div class="column">
                    {studies.place(Study::Memory)}
                    {stages(session)}
                    {studies.place(Study::Communication)}
                    {studies.place(Study::Composition)}
                </div>
                <div class="column">
                    {studies.place(Study::Step)} {studies.place(Study::Bubble)}
                    {cards::facts(explorer)}
                </div>
            </section>
            {studies.place(Study::Balance)}
            {verdict::notes(explorer)}
        </main>
    }
}

/// A way to a comment on each stage, below the chart of stages.
fn stages(session: Session) -> impl IntoView {
    let count =
        Memo::new(move |_| session.explorer.with_numbers(|numbers| numbers.estimate.stages.len()));
    let options = move || {
        let option =
            |stage: usize| view! { <option value=stage>{format!("Stage {stage}")}</option> };
        (0..count.get()).map(option).collect::<Vec<_>>()
    };
    let chosen = RwSignal::new(0_u32);
    move || {
        session.may(Role::Comment).then(|| {
            view! {
                <p class="about-line on-stage">
                    <label for="on-stage">"Comment on"</label>
                    <select
                        id="on-stage"
                        class="select small"
                        autocomplete="off"
                        on:change=move |event| {
                            chosen.set(event_target_value(&event).parse().unwrap_or(0));
                        }
                    >
                        {options}
                    </select>
                    <button
                        type="button"
                        class="button way"
                        on:click=move |_| {
                            let text = format!(
                                "metric:memory_peak_bytes@stage={}",
                                chosen.get_untracked(),
                            );
                            if let Ok(anchor) = review::Anchor::parse(&text) {
                                session.talk_about(anchor);
                            }
                        }
                    >
                        "Comment"
                    </button>
                </p>
            }
        })
    }
}

/// On a phone: the headline, and the buttons that raise the knobs and the panel.
fn bottom_bar(session: Session) -> impl IntoView {
    let explorer = session.explorer;
    let is_open = move || session.panel_open.get();
    view! {
        {header::bottom_bar(explorer)}
        <button
            type="button"
            class="button panel-button"
            aria-controls="panel"
            aria-expanded=move || if is_open() { "true" } else { "false" }
            on:click=move |_| {
                explorer.sheet_open.set(false);
                session.panel_open.update(|open| *open = !*open);
            }
        >
            {move || if is_open() { "Close review" } else { "Review" }}
        </button>
    }
}

/// Keys of the page: those of the explorer that make sense here.
fn keys(session: Session) {
    let explorer = session.explorer;
    Effect::new(move || {
        let handle = window_event_listener(ev::keydown, move |event| {
            if event.key() == "Escape" && !event.default_prevented() {
                close(session);
            } else if browser::press_letter(explorer, &event) {
                event.prevent_default();
            } else if let Some(forward) = browser::history_key(&event) {
                event.prevent_default();
                if forward { sync::redo(session) } else { sync::undo(session) }
            }
        });
        on_cleanup(move || handle.remove());
    });
}

fn close(session: Session) {
    let explorer: Explorer = session.explorer;
    if explorer.help_open.get_untracked() {
        explorer.help_open.set(false);
    } else if explorer.conventions_open.get_untracked() {
        explorer.conventions_open.set(false);
    } else if explorer.explained.with_untracked(Option::is_some) {
        explorer.explained.set(None);
    } else if session.panel_open.get_untracked() {
        session.panel_open.set(false);
    } else {
        explorer.sheet_open.set(false);
    }
}
