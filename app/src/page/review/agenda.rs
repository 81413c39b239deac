//! The agenda: questions, and their answers.

use leptos::prelude::*;
use present::format;
use review::{Change, Question, Role, Seq};

use super::compose::{Composer, button, byline, composer};
use super::prose::prose;
use super::session::Session;
use crate::reaction::memo;
use crate::widget::part::{IntoPart, Key, Part, flag, list, text, while_so};

/// The questions; those that are answered are folded.
pub(super) fn agenda(session: Session) -> Part {
    let ids = move |answered: bool| {
        memo(move || {
            session.with_room(|room| {
                let asked = room.questions.iter().filter(|it| it.is_answered == answered);
                asked.map(|it| (it.asked.seq, it.answers.len())).collect::<Vec<Key>>()
            })
        })
    };
    let (open, answered) = (ids(false), ids(true));
    let one = move |seq: Seq| {
        let found = untrack(|| {
            session.with_room(|room| room.questions.iter().find(|it| it.asked.seq == seq).cloned())
        });
        found.map_or_else(|| ().part(), |found| question(session, &found))
    };
    let head = text(move || match open.with(Vec::len) {
        0 => "Agenda".to_owned(),
        count => {
            let questions = format::counted(count as u64, "open question", "open questions");
            format!("Agenda, {questions}")
        }
    });
    let ask = while_so(session.can(Role::Comment), move || {
        let box_of = composer(
            session,
            Composer {
                id: "new-question".to_owned(),
                label: "New question",
                button: "Put on the agenda",
                text: RwSignal::new(String::new()),
                on_send: Callback::new(move |text| session.ask(Change::Ask { text })),
            },
        );
        view! { <details class="reply"><summary>"Ask a question"</summary>{box_of}</details> }
            .part()
    });
    let count = text(move || format!("Answered ({})", answered.with(Vec::len)));
    view! {
        <section aria-labelledby="agenda-title">
            <h3 id="agenda-title">{head}</h3>
            <ul class="threads">{list(move || open.get(), one)}</ul>
            {ask}
            <details class="reply" hidden=flag(move || answered.with(Vec::is_empty))>
                <summary>{count}</summary>
                <ul class="threads">{list(move || answered.get(), one)}</ul>
            </details>
        </section>
    }
    .part()
}

fn question(session: Session, question: &Question) -> Part {
    let seq = question.asked.seq;
    let answers: Vec<_> = question
        .answers
        .iter()
        .map(|note| {
            let (by, said) =
                (byline(&note.by, note.at_millis), prose(session, note.seq, &note.text));
            view! { <li>{by}{said}</li> }
        })
        .collect();
    let is_answered = question.is_answered;
    let turn = while_so(session.can(Role::Comment), move || {
        if is_answered {
            return button("Ask again", move || {
                session.ask(Change::AskAgain { question: seq });
            });
        }
        let box_of = composer(
            session,
            Composer {
                id: format!("answer-{seq}"),
                label: "Answer",
                button: "Answer",
                text: RwSignal::new(String::new()),
                on_send: Callback::new(move |text| {
                    session.ask(Change::Answer { question: seq, text });
                }),
            },
        );
        view! { <details class="reply"><summary>"Answer"</summary>{box_of}</details> }.part()
    });
    view! {
        <li class="thread card">
            {byline(&question.asked.by, question.asked.at_millis)}
            {prose(session, question.asked.seq, &question.asked.text)}
            <ul class="notes-of">{answers}</ul>
            {turn}
        </li>
    }
    .part()
}
