//! Decisions: the verdict on a design, and whether it still holds.

use leptos::prelude::*;
use present::page::review::deltas::knobs_between;
use present::page::review::labels;
use review::{Change, Decision, Outcome, Role, Stale};

use super::compose::{Composer, byline, composer};
use super::prose::prose;
use super::session::Session;
use crate::reaction::{handler, memo};
use crate::widget::part::{IntoPart, Key, Part, flag, list, live, text, while_so};

/// Way of deciding that is chosen.
type Chosen = RwSignal<Outcome>;

/// Section of the decisions, the box that decides, and reports.
pub(super) fn decisions(session: Session) -> Part {
    let ids = memo(move || {
        session.with_room(|room| {
            room.decisions.iter().rev().map(|it| (it.seq, 0)).collect::<Vec<Key>>()
        })
    });
    let one = move |seq| {
        let found = untrack(|| {
            session.with_room(|room| room.decisions.iter().find(|it| it.seq == seq).cloned())
        });
        found.map_or_else(|| ().part(), |found| decision(session, &found))
    };
    view! {
        <section aria-labelledby="decisions-title">
            <h3 id="decisions-title">"Decision"</h3>
            {live(move || Some(state(session)))}
            {while_so(session.can(Role::Edit), move || decide(session))}
            <ul class="threads">{list(move || ids.get(), one)}</ul>
        </section>
        <section aria-labelledby="report-title">
            <h3 id="report-title">"Report"</h3>
            <p class="muted">
                "Designs, suggestions, decisions and threads, as they are now."
            </p>
            <p class="acts">
                <a class="button" href=session.address("report.html") target="_blank">
                    "Open as a page"
                </a>
                <a class="button" href=session.address("report.md") download="">
                    "Save as Markdown"
                </a>
            </p>
        </section>
    }
    .part()
}

/// Sentence on the decision that holds now: `Approved by Ann for another design: 3 knobs changed
/// since`.
pub(super) fn sentence(session: Session) -> Option<(String, bool)> {
    session.with_room(|room| {
        let decision = room.decision()?;
        let by = format!("{} by {}", decision.outcome.label(), labels::person(&decision.by));
        Some(match decision.stale(room) {
            None => (by, false),
            Some(Stale::Design) => {
                let knobs = knobs_between(&decision.on.link, &room.link());
                (format!("{by} for another design: {knobs}"), true)
            }
            Some(Stale::Model) => {
                let version = &decision.on.model_version;
                (format!("{by} with the numbers of model version {version}"), true)
            }
        })
    })
}

fn state(session: Session) -> Part {
    let Some((text, is_stale)) = sentence(session) else {
        return view! { <p class="muted">"Nothing has been decided yet."</p> }.part();
    };
    let again = (is_stale && session.may(Role::Edit)).then(|| {
        view! { <p>"It is no longer valid. Decide again, or go back to the design it was made \
        on."</p> }
    });
    view! { <div class="standing" class:stale=is_stale><p>{text}</p>{again}</div> }.part()
}

fn decide(session: Session) -> Part {
    let chosen: Chosen = RwSignal::new(Outcome::Approve);
    let ways: Vec<_> = Outcome::ALL
        .into_iter()
        .map(|outcome| {
            let label = match outcome {
                Outcome::Approve => "Approve",
                Outcome::Reject => "Reject",
                Outcome::NeedsWork => "Needs work",
            };
            view! {
                <label class="chip">
                    <input
                        type="radio"
                        name="outcome"
                        autocomplete="off"
                        value=outcome.name()
                        prop:checked=flag(move || chosen.get() == outcome)
                        on:change=handler(move |_| chosen.set(outcome))
                    />
                    {label}
                </label>
            }
        })
        .collect();
    let on_send = move |reason| {
        session.ask(Change::Decide { outcome: chosen.get_untracked(), reason, on: None });
    };
    view! {
        <fieldset class="outcomes">
            <legend>"Decide on the working design"</legend>
            <div class="chips">{ways}</div>
            {composer(session, Composer {
                id: "decide-reason".to_owned(),
                label: "Why",
                button: "Decide",
                text: RwSignal::new(String::new()),
                on_send: Callback::new(on_send),
            })}
        </fieldset>
    }
    .part()
}

fn decision(session: Session, decision: &Decision) -> Part {
    let found = decision.clone();
    let stale = text(move || {
        session.with_room(|room| match found.stale(room) {
            None => "Of the working design as it is".to_owned(),
            Some(Stale::Design) => {
                format!("Stale: {}", knobs_between(&found.on.link, &room.link()))
            }
            Some(Stale::Model) => {
                format!("Stale: made with model version {}", found.on.model_version)
            }
        })
    });
    let link = &decision.on.link;
    view! {
        <li class="thread card">
            <p><span class="badge strong">{decision.outcome.label()}</span></p>
            {byline(&decision.by, decision.at_millis)}
            {prose(session, decision.seq, &decision.reason)}
            <p class="muted">{stale}</p>
            <p class="acts">
                <a href=format!("/?{link}") target="_blank" rel="noopener">
                    "The design it was about"
                </a>
            </p>
        </li>
    }
    .part()
}
