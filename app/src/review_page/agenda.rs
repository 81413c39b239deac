//! The agenda: questions, and their answers.

use leptos::prelude::*;
use review::{Change, Question, Role, Seq};

use super::compose::{Composer, button, byline, composer, prose};
use super::session::Session;
use crate::format;

/// The questions; those that are answered are folded.
pub(super) fn agenda(session: Session) -> impl IntoView {
    let ids = move |answered: bool| {
        Memo::new(move |_| {
            session.with_room(|room| {
                let asked = room.questions.iter().filter(|it| it.is_answered == answered);
                asked.map(|it| (it.asked.seq, it.answers.len())).collect::<Vec<_>>()
            })
        })
    };
    let (open, answered) = (ids(false), ids(true));
    let one = move |(seq, _): (Seq, usize)| {
        let found = untrack(|| {
            session.with_room(|room| room.questions.iter().find(|it| it.asked.seq == seq).cloned())
        });
        found.map(|found| question(session, &found))
    };
    let head = move || match open.with(Vec::len) {
        0 => "Agenda".to_owned(),
        count => {
            let questions = format::counted(count as u64, "open question", "open questions");
            format!("Agenda, {questions}")
        }
    };
    let ask = move || {
        session.may(Role::Comment).then(|| {
            let box_of = composer(Composer {
                id: "new-question".to_owned(),
                label: "New question",
                button: "Put on the agenda",
                text: RwSignal::new(String::new()),
                on_send: Callback::new(move |text| session.ask(Change::Ask { text })),
            });
            view! { <details class="reply"><summary>"Ask a question"</summary>{box_of}</details> }
        })
    };
    view! {
        <section aria-labelledby="agenda-title">
            <h3 id="agenda-title">{head}</h3>
            <ul class="threads"><For each=move || open.get() key=|it| *it children=one/></ul>
            {ask}
            <details class="reply" hidden=move || answered.with(Vec::is_empty)>
                <summary>{move || format!("Answered ({})", answered.with(Vec::len))}</summary>
                <ul class="threads">
                    <For each=move || answered.get() key=|it| *it children=one/>
                </ul>
            </details>
        </section>
    }
}

fn question(session: Session, question: &Question) -> AnyView {
    let seq = question.asked.seq;
    let answers: Vec<_> = question
        .answers
        .iter()
        .map(|note| view! { <li>{byline(&note.by, note.at_millis)}{prose(&note.text)}</li> })
        .collect();
    let is_answered = question.is_answered;
    let turn = move || {
        session.may(Role::Comment).then(|| {
            if is_answered {
                return button("Ask again", move || {
                    session.ask(Change::AskAgain { question: seq });
                })
                .into_any();
            }
            let box_of = composer(Composer {
                id: format!("answer-{seq}"),
                label: "Answer",
                button: "Answer",
                text: RwSignal::new(String::new()),
                on_send: Callback::new(move |text| {
                    session.ask(Change::Answer { question: seq, text });
                }),
            });
            view! { <details class="reply"><summary>"Answer"</summary>{box_of}</details> }
                .into_any()
        })
    };
    view! {
        <li class="thread card">
            {byline(&question.asked.by, question.asked.at_millis)}
            {prose(&question.asked.text)}
            <ul class="notes-of">{answers}</ul>
            {turn}
        </li>
    }
    .into_any()
}
