//! The page as a whole.

use std::sync::Arc;

use leptos::ev;
use leptos::prelude::*;
use model::metric::{MetricAddress, MetricId, MetricPart};
use present::study::Study;
use review::{Anchor, Role, Room};

use super::data::{self, Served};
use super::session::{Line, Session};
use super::{bar, client, cursors, discussion, history, name, panel, presence, start, sync};
use crate::browser::download::closest;
use crate::explorer::{Explorer, NumbersOf};
use crate::panel::keys;
use crate::panel::studies::{Studies, choose, press};
use crate::panel::{cards, conventions, explanation, header, help, knobs, verdict};
use crate::reaction::{effect, handler, memo};
use crate::widget::part::{IntoPart, Part, flag, live, text, while_so};

/// A page under `/r`.
pub fn page() -> impl IntoView {
    let served = data::served();
    let shown = match &*served {
        Served::Start { link, name, problem } => start::start(link, name, problem.as_deref()),
        Served::Room { id, role, room } => session(id, *role, room),
        Served::Missing => start::missing(),
    };
    view! { {shown}{data::element(&served)} }
}

fn session(id: &str, role: Role, room: &Room) -> Part {
    let session = Session::new(id, role, room);
    let explorer = session.explorer;
    explorer.put_beside(Arc::new(move |topic| discussion::beside(session, topic)));
    sync::install(session);
    client::install(session);
    presence::install(session);
    cursors::install(session);
    keys(session);
    view! {
        <div
            class="page reviewing"
            class:explaining=flag(move || explorer.explained.get().is_some())
            data-line=text(move || session.line.with(Line::name).to_owned())
        >
            <a class="skip" href="#results">"Skip to the results"</a>
            {bar::bar(session)}
            {knobs::panel(explorer, working(session)).part()}
            {results(session)}
            {panel::panel(session)}
            {explanation::explanation(explorer).part()}
            {bottom_bar(session)}
            {conventions::dialog(explorer.conventions_open).part()}
            {help::help(explorer).part()}
            {name::dialog(session)}
            {bar::note(session)}
            {bar::ended(session)}
        </div>
    }
    .part()
}

/// Summary of the working design, above the knobs.
fn working(session: Session) -> Part {
    let explorer = session.explorer;
    let changes = text(move || {
        let title = explorer.title();
        match explorer.changed().with(Vec::len) {
            0 => format!("{title}, unchanged"),
            count => {
                let changed =
                    present::format::counted(count as u64, "knob differs", "knobs differ");
                format!("{title}; {changed} from the preset")
            }
        }
    });
    let mode = text(move || {
        (if session.suggesting.get() {
            "Drafting a suggestion: only you see these changes."
        } else if session.may(Role::Edit) {
            "Everyone sees your changes immediately."
        } else if session.may(Role::Comment) {
            "You can suggest changes: Designs, Suggest a change."
        } else {
            "View only: others change the knobs of this design."
        })
        .to_owned()
    });
    view! {
        <section class="presets working" aria-labelledby="working-title">
            <h2 id="working-title" class="group-title">"Working design"</h2>
            <p class="muted">{changes}</p>
            <p class="mode">{mode}</p>
        </section>
    }
    .part()
}

fn results(session: Session) -> Part {
    let explorer = session.explorer;
    let studies = Studies::new(explorer);
    let is_stale = move || explorer.shown() != NumbersOf::Design;
    // A link in a study turns knobs for everyone: who may not reads so, and stays here.
    let pressed = move |event: ev::MouseEvent| {
        if let Some(anchor) = pressed_stage(&event)
            && session.may_untracked(Role::Comment)
        {
            return session.talk_about(anchor);
        }
        press(explorer, &event);
        if event.default_prevented() && explorer.locked.get_untracked() {
            session.say("Your link is view-only. Share gives you the design to open yourself.");
        }
    };
    view! {
        <main
            id="results"
            class="results"
            class:stale=flag(is_stale)
            on:click=pressed
            on:change=handler(move |event: ev::Event| choose(&event))
        >
            {bar::banners(session)}
            {history::banner(session)}
            <h1 class="visually-hidden">
                {text(move || format!("Review: {}", session.with_room(|room| room.name.clone())))}
            </h1>
            {cards::cards(explorer).part()}
            <div class="verdict-box">
                {verdict::verdict(explorer).part()}
                <div hidden=flag(is_stale)>{studies.place(Study::Advice).part()}</div>
            </div>
            <section class="figures" aria-label="Charts">
                <div class="column">
                    {studies.place(Study::Memory).part()}
                    {stages(session)}
                    {studies.place(Study::Communication).part()}
                    {studies.place(Study::Composition).part()}
                </div>
                <div class="column">
                    {studies.place(Study::Step).part()} {studies.place(Study::Bubble).part()}
                    {cards::facts(explorer).part()}
                </div>
            </section>
            {studies.place(Study::Balance).part()}
            {verdict::notes(explorer).part()}
            {cursors::cursors(session)}
        </main>
    }
    .part()
}

/// Subject of a press on a stage's bar: the memory of that stage.
fn pressed_stage(event: &ev::MouseEvent) -> Option<Anchor> {
    let mark = closest(event, "[data-study=\"memory\"] [data-opens^=\"stage-\"]")?;
    let stage = mark.get_attribute("data-opens")?.strip_prefix("stage-")?.parse().ok()?;
    Some(of_stage(stage))
}

/// A comment on the memory of a stage is about this.
fn of_stage(stage: u32) -> Anchor {
    let part = MetricPart::Stage(stage);
    Anchor::Metric(MetricAddress { metric: MetricId::memory_peak_bytes, part })
}

/// A way to a comment on each stage by keyboard, below the chart of stages.
fn stages(session: Session) -> Part {
    let count =
        memo(move || session.explorer.with_numbers(|numbers| numbers.estimate.stages.len()));
    let options = move || {
        let option =
            |stage: usize| view! { <option value=stage>{format!("Stage {stage}")}</option> };
        Some((0..count.get()).map(option).collect::<Vec<_>>().part())
    };
    let chosen = RwSignal::new(0_u32);
    while_so(session.can(Role::Comment), move || {
        view! {
            <p class="about-line on-stage">
                <label for="on-stage">"Comment on a stage, or press its bar"</label>
                <select
                    id="on-stage"
                    class="select small"
                    autocomplete="off"
                    on:change=handler(move |event: ev::Event| {
                        chosen.set(event_target_value(&event).parse().unwrap_or(0));
                    })
                >
                    {live(options)}
                </select>
                <button
                    type="button"
                    class="button way"
                    on:click=handler(move |_| session.talk_about(of_stage(chosen.get_untracked())))
                >
                    "Comment"
                </button>
            </p>
        }
        .part()
    })
    .part()
}

/// On a phone: the headline, and the buttons that raise the knobs and the panel.
fn bottom_bar(session: Session) -> Part {
    let explorer = session.explorer;
    let is_open = move || session.panel_open.get();
    view! {
        {header::bottom_bar(explorer).part()}
        <button
            type="button"
            class="button panel-button"
            aria-controls="panel"
            aria-expanded=text(move || is_open().to_string())
            on:click=handler(move |_| {
                explorer.sheet_open.set(false);
                session.panel_open.update(|open| *open = !*open);
            })
        >
            {text(move || (if is_open() { "Close review" } else { "Review" }).to_owned())}
        </button>
    }
    .part()
}

/// Keys of the page: those of the explorer that make sense here.
fn keys(session: Session) {
    let explorer = session.explorer;
    effect(move || {
        let handle = window_event_listener(ev::keydown, move |event| {
            if event.key() == "Escape" && !event.default_prevented() {
                close(session);
            } else if keys::press_letter(explorer, &event) {
                event.prevent_default();
            } else if let Some(forward) = keys::history_key(&event) {
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
