//! Candidates: designs that the session keeps, beside the working one.

use leptos::prelude::*;
use model::design::link;
use present::site::chosen::Chosen;
use review::{Candidate, Change, MAX_NAME_LEN, Role, Seq};

use super::compose::{button, byline, form, line};
use super::deltas;
use super::session::Session;
use crate::reaction::memo;
use crate::widget::part::{IntoPart, Key, Part, flag, list, live, text, while_so};

/// The designs that were kept, and the way to keep the working one or to open another.
pub(super) fn candidates(session: Session) -> Part {
    let ids = move |out: bool| {
        memo(move || {
            session.with_room(|room| {
                let found = room.candidates.iter().filter(|it| it.out.is_some() == out);
                found.map(|it| (it.seq, 0)).collect::<Vec<Key>>()
            })
        })
    };
    let (running, out) = (ids(false), ids(true));
    let one = move |seq: Seq| {
        let found = untrack(|| {
            session.with_room(|room| room.candidates.iter().find(|it| it.seq == seq).cloned())
        });
        found.map_or_else(|| ().part(), |found| candidate(session, &found))
    };
    let compare = text(move || {
        session.with_room(|room| {
            let kept = room.candidates.iter().filter(|it| it.out.is_none()).rev().take(3);
            let links =
                std::iter::once(link::encode(&room.design)).chain(kept.map(|it| it.link.clone()));
            Chosen::of_links(links).address()
        })
    });
    let count = text(move || format!("Removed ({})", out.with(Vec::len)));
    let edit = session.can(Role::Edit);
    view! {
        <section aria-labelledby="candidates-title">
            <h3 id="candidates-title">"Candidates"</h3>
            {while_so(edit, move || keep(session))}
            <ul class="threads">{list(move || running.get(), one)}</ul>
            <p class="muted" hidden=flag(move || !running.with(Vec::is_empty))>
                "No designs saved yet."
            </p>
            <p hidden=flag(move || running.with(Vec::is_empty))>
                <a href=compare target="_blank" rel="noopener">
                    "Compare with the working design"
                </a>
            </p>
            <details class="reply" hidden=flag(move || out.with(Vec::is_empty))>
                <summary>{count}</summary>
                <ul class="threads">{list(move || out.get(), one)}</ul>
            </details>
            {while_so(edit, move || open_link(session))}
        </section>
    }
    .part()
}

/// Keeps the working design under a name.
fn keep(session: Session) -> Part {
    let name = RwSignal::new(String::new());
    let send = move || {
        let written = name.get_untracked().trim().to_owned();
        if !written.is_empty() {
            name.set(String::new());
            session.ask(Change::Pin { name: written, link: None });
        }
    };
    let fields = view! {
        {line("candidate-name", "Save the working design as", Some(MAX_NAME_LEN), name)}
        <button type="submit" class="button">"Keep"</button>
    };
    form("composer line", send, fields.part())
}

/// Opens the design of a link as the working one.
fn open_link(session: Session) -> Part {
    let written = RwSignal::new(String::new());
    let send = move || {
        let link = written.get_untracked();
        let query = link.split_once('?').map_or(link.trim(), |(_, query)| query.trim());
        match link::decode(query) {
            Ok(design) if !query.is_empty() => {
                written.set(String::new());
                session.ask(Change::Open { link: link::encode(&design) });
            }
            Ok(_) => session.say("Paste the link of a design first."),
            Err(errors) => session.say(format!(
                "That link can't be opened: {}.",
                errors.first().map(ToString::to_string).unwrap_or_default()
            )),
        }
    };
    let label = "Link of a design; it becomes the working design for everyone";
    let fields = view! {
        {line("open-link", label, None, written)}
        <button type="submit" class="button">"Open it for everyone"</button>
    };
    view! {
        <details class="reply">
            <summary>"Open another design here"</summary>
            {form("composer", send, fields.part())}
        </details>
    }
    .part()
}

fn candidate(session: Session, candidate: &Candidate) -> Part {
    let Candidate { seq, name, link, out, .. } = candidate;
    let seq = *seq;
    let is_in = out.is_none();
    let shown = link.clone();
    let numbers = live(move || Some(deltas::table(&shown, Some(&session.working_link()))));
    let asks = RwSignal::new(false);
    let of = link.clone();
    let edit = session.can(Role::Edit);
    let actions = live(move || {
        edit.get().then(|| {
            let of = of.clone();
            let open = move || session.ask(Change::Open { link: of.clone() });
            if asks.get() {
                return view! {
                    <p class="confirm">"It becomes the working design for everyone."</p>
                    {button("Open it", open)}
                    {button("Leave it", move || asks.set(false))}
                }
                .part();
            }
            let out = is_in
                .then(|| button("Remove", move || session.ask(Change::Unpin { candidate: seq })));
            view! { {button("Open as working design", move || asks.set(true))}{out} }.part()
        })
    });
    let compare = {
        let link = link.clone();
        text(move || Chosen::of_links([session.working_link(), link.clone()]).address())
    };
    view! {
        <li class="thread card">
            <p><strong translate="no">{name.clone()}</strong></p>
            {byline(&candidate.by, candidate.at_millis)}
            {numbers}
            <p class="acts">
                <a href=compare target="_blank" rel="noopener">"Compare"</a>
                <a href=format!("/?{link}") target="_blank" rel="noopener">
                    "Open in the explorer"
                </a>
                {actions}
            </p>
        </li>
    }
    .part()
}
