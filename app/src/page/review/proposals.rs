//! Suggestions: changes of knobs that wait for somebody's yes.

use leptos::prelude::*;
use model::design::link;
use present::format;
use present::page::review::{labels, settings};
use review::{Change, Proposal, ProposalState, Role, Seq, Setting};

use super::compose::{Composer, button, byline, composer};
use super::prose::prose;
use super::session::Session;
use super::{deltas, sync};
use crate::reaction::{handler, memo};
use crate::widget::part::{self, IntoPart, Key, Part, flag, live, text, while_so};

/// Section of the suggestions, and the way to suggest something.
pub(super) fn proposals(session: Session) -> Part {
    let ids = move |open: bool| {
        memo(move || {
            session.with_room(|room| {
                let found = room.proposals.iter().rev();
                let found = found.filter(|it| (it.state == ProposalState::Open) == open);
                found.map(|it| (it.seq, 0)).collect::<Vec<Key>>()
            })
        })
    };
    let (open, closed) = (ids(true), ids(false));
    let one = move |seq: Seq| {
        let found = untrack(|| {
            session.with_room(|room| room.proposals.iter().find(|it| it.seq == seq).cloned())
        });
        found.map_or_else(|| ().part(), |found| proposal(session, &found))
    };
    view! {
        <section aria-labelledby="proposals-title">
            <h3 id="proposals-title">"Suggestions"</h3>
            {while_so(session.can(Role::Comment), move || draft(session))}
            <ul class="threads">{part::list(move || open.get(), one)}</ul>
            <p class="muted" hidden=flag(move || !open.with(Vec::is_empty))>"No open \
                suggestions."</p>
            <details class="reply" hidden=flag(move || closed.with(Vec::is_empty))>
                <summary>{text(move || format!("Settled ({})", closed.with(Vec::len)))}</summary>
                <ul class="threads">{part::list(move || closed.get(), one)}</ul>
            </details>
        </section>
    }
    .part()
}

/// The suggestion that the visitor makes: knobs that they turn for themselves alone.
fn draft(session: Session) -> Part {
    let reason = RwSignal::new(String::new());
    let settings = memo(move || {
        session
            .explorer
            .with_design(|shown| session.base.with(|base| settings::between(base, shown)))
    });
    let begin = move || {
        session.suggesting.set(true);
        session.panel_open.set(false);
        session.explorer.sheet_open.set(true);
        session.say("Change knobs: only you see it until you suggest it.");
    };
    let propose = move |reason: String| {
        let settings = settings.get_untracked();
        if settings.is_empty() {
            return session.say("Turn a knob first; then there is something to suggest.");
        }
        sync::drop_draft(session);
        session.ask(Change::Propose { settings, reason, link: None });
    };
    let suggesting = memo(move || session.suggesting.get());
    live(move || {
        if !suggesting.get() {
            return Some(
                view! {
                    <button type="button" class="button" on:click=handler(move |_| begin())>
                        "Suggest a change"
                    </button>
                }
                .part(),
            );
        }
        let list = live(move || Some(list(&settings.get())));
        let numbers = live(move || {
            settings.with(|settings| !settings.is_empty()).then(|| {
                let base = session.base.with(link::encode);
                deltas::table(&session.explorer.link(), Some(&base))
            })
        });
        let box_of = composer(
            session,
            Composer {
                id: "suggest-reason".to_owned(),
                label: "Why",
                button: "Suggest it",
                text: reason,
                on_send: Callback::new(propose),
            },
        );
        Some(
            view! {
                <div class="thread card draft">
                    <p><strong>"Your suggestion"</strong>" Only you see these changes."</p>
                    {list}
                    <p class="muted" hidden=flag(move || !settings.with(Vec::is_empty))>
                        "Turn knobs now."
                    </p>
                    {numbers}
                    {box_of}
                    {button("Discard", move || sync::drop_draft(session))}
                </div>
            }
            .part(),
        )
    })
    .part()
}

fn list(settings: &[Setting]) -> Part {
    let items: Vec<_> =
        settings.iter().map(|it| view! { <li>{labels::setting(it)}</li> }).collect();
    view! { <ul class="settings">{items}</ul> }.part()
}

fn proposal(session: Session, proposal: &Proposal) -> Part {
    let seq = proposal.seq;
    let outcome = match &proposal.state {
        ProposalState::Open => None,
        ProposalState::Accepted { by, .. } => {
            Some((format!("Accepted by {}", labels::person(by)), None))
        }
        ProposalState::Rejected { by, reason, seq } => Some((
            format!("Rejected by {}", labels::person(by)),
            Some(prose(session, *seq, reason)),
        )),
        ProposalState::Withdrawn => Some(("Withdrawn".to_owned(), None)),
    };
    let is_open = outcome.is_none();
    let settings = proposal.settings.clone();
    let numbers = live(move || {
        is_open.then(|| {
            let now = session.working_link();
            let then = settings::with(&link::salvage(&now).0, &settings);
            deltas::table(&link::encode(&then), Some(&now))
        })
    });
    let author = proposal.by.id.clone();
    let actions = live(move || is_open.then(|| actions(session, seq, &author)));
    let outcome = outcome.map(|(text, reason)| {
        view! { <p><span class="badge">{text}</span></p>{reason} }
    });
    view! {
        <li class="thread card">
            {byline(&proposal.by, proposal.at_millis)}
            {list(&proposal.settings)}
            {prose(session, proposal.seq, &proposal.reason)}
            {outcome}
            {numbers}
            {actions}
        </li>
    }
    .part()
}

fn actions(session: Session, seq: Seq, author: &str) -> Part {
    let is_own = session.you.with(|you| !you.id.is_empty() && you.id == author);
    let back = (is_own && session.may(Role::Comment))
        .then(|| button("Withdraw", move || session.ask(Change::Withdraw { proposal: seq })));
    let answer = session.may(Role::Edit).then(|| {
        let reject = composer(
            session,
            Composer {
                id: format!("reject-{seq}"),
                label: "Why it is rejected",
                button: "Reject",
                text: RwSignal::new(String::new()),
                on_send: Callback::new(move |reason| {
                    session.ask(Change::Reject { proposal: seq, reason });
                }),
            },
        );
        view! {
            <button
                type="button"
                class="button primary"
                on:click=handler(move |_| session.ask(Change::Accept { proposal: seq }))
            >
                "Accept"
            </button>
            <details class="reply"><summary>"Reject"</summary>{reject}</details>
        }
    });
    view! { {answer}{back} }.part()
}

/// Number of open suggestions; empty if there are none.
pub(super) fn count(session: Session) -> String {
    let count = session.with_room(|room| {
        room.proposals.iter().filter(|it| it.state == ProposalState::Open).count()
    });
    if count == 0 { String::new() } else { format::whole(count as u64) }
}
