//! Threads: what is said about knobs, numbers and designs.

use leptos::either::Either;
use leptos::prelude::*;
use model::design::KnobId;
use model::metric::{MetricAddress, MetricId, MetricPart};
use review::{Anchor, Change, Numbers, Role, Room, Said, Seq, Thread};

use super::compose::{Composer, button, byline, composer, prose};
use super::session::Session;
use super::{places, words};
use crate::explorer::Topic;
use crate::format;

/// The id of the box that begins a thread.
pub(super) const NEW_ID: &str = "new-comment";

/// Which threads are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filter {
    All,
    Open,
    Outdated,
}

/// What of a thread changes as the session goes on; its notes stand for themselves.
#[derive(Clone, Debug, PartialEq)]
struct State {
    notes: Vec<Seq>,
    resolved: Option<String>,
    is_outdated: bool,
    now: Option<String>,
}

/// The threads, and the box that begins one.
pub(super) fn discussion(
    session: Session,
    numbers: Memo<std::sync::Arc<Numbers>>,
) -> impl IntoView {
    let filter = RwSignal::new(Filter::All);
    let state = move |seq| {
        numbers.with(|numbers| {
            session.with_room(|room| find(room, seq).map(|thread| state_of(room, thread, numbers)))
        })
    };
    let is_in = move |seq: &Seq, filter: Filter| match (filter, state(*seq)) {
        (_, None) => false,
        (Filter::All, Some(_)) => true,
        (Filter::Open, Some(state)) => state.resolved.is_none(),
        (Filter::Outdated, Some(state)) => state.is_outdated,
    };
    let all = Memo::new(move |_| {
        session.with_room(|room| room.threads.iter().rev().map(Thread::seq).collect::<Vec<_>>())
    });
    let shown = Memo::new(move |_| {
        let filter = filter.get();
        all.get().into_iter().filter(|seq| is_in(seq, filter)).collect::<Vec<_>>()
    });
    let hidden = move || match all.with(Vec::len) - shown.with(Vec::len) {
        0 => String::new(),
        count => format!(
            "{} not shown by this filter",
            format::counted(count as u64, "thread is", "threads are")
        ),
    };
    view! {
        <section aria-labelledby="threads-title">
            <div class="section-head">
                <h3 id="threads-title">"Threads"</h3>
                <label class="visually-hidden" for="thread-filter">"Show"</label>
                <select
                    id="thread-filter"
                    class="select small"
                    autocomplete="off"
                    on:change=move |event| filter.set(match event_target_value(&event).as_str() {
                        "open" => Filter::Open,
                        "outdated" => Filter::Outdated,
                        _ => Filter::All,
                    })
                >
                    <option value="all">"All"</option>
                    <option value="open">"Open"</option>
                    <option value="outdated">"Outdated"</option>
                </select>
            </div>
            {move || session.may(Role::Comment).then(|| new_thread(session))}
            <p class="muted">{hidden}</p>
            <ul class="threads">
                <For
                    each=move || shown.get()
                    key=|seq| *seq
                    children=move |seq| thread(session, seq, Memo::new(move |_| state(seq)))
                />
            </ul>
            {move || all.with(Vec::is_empty).then(|| view! {
                <p class="muted">
                    "Nothing has been said yet. Comments can be about the design, a knob, a number "
                    "or a stage, and keep the value that they were made at."
                </p>
            })}
        </section>
    }
}

fn find(room: &Room, seq: Seq) -> Option<&Thread> {
    // They are in the order of their numbers.
    let at = room.threads.partition_point(|thread| thread.seq() < seq);
    room.threads.get(at).filter(|thread| thread.seq() == seq)
}

fn state_of(room: &Room, thread: &Thread, numbers: &Numbers) -> State {
    let now = numbers.value(&thread.anchor);
    State {
        notes: thread.notes.iter().map(|note| note.seq).collect(),
        resolved: thread.resolved.as_ref().map(words::editor),
        is_outdated: thread.is_outdated(numbers),
        now: now.map(|now| words::value(&thread.anchor, &now)).or_else(|| {
            (thread.anchor == Anchor::Design).then(|| {
                let said = thread.said.as_ref().map(|said| said.link.clone()).unwrap_or_default();
                super::deltas::knobs_between(&said, &room.link())
            })
        }),
    }
}

/// The box that begins a thread, and what it will be about.
fn new_thread(session: Session) -> impl IntoView {
    let options = move || {
        let stages = session.explorer.with_numbers(|numbers| numbers.estimate.stages.len());
        let chosen = session.about.get();
        let mut anchors = vec![Anchor::Design];
        let metric = |metric: &MetricId| Anchor::Metric(MetricAddress::whole(*metric));
        anchors.extend(MetricId::ALL.iter().map(metric));
        anchors.extend((0..stages).map(|stage| {
            let part = MetricPart::Stage(stage as u32);
            Anchor::Metric(MetricAddress { metric: MetricId::memory_peak_bytes, part })
        }));
        if !anchors.contains(&chosen) {
            anchors.push(chosen.clone());
        }
        session.with_room(|room| {
            let option = |anchor: &Anchor| {
                view! {
                    <option value=anchor.to_string() selected=*anchor == chosen>
                        {words::anchor(anchor, room)}
                    </option>
                }
            };
            anchors.iter().map(option).collect::<Vec<_>>()
        })
    };
    let on_send = move |text| {
        let anchor = session.about.get_untracked();
        session.ask(Change::Comment { anchor, text, said: None });
    };
    view! {
        <div class="new-thread">
            <p class="about-line">
                <label for="about">"About"</label>
                <select
                    id="about"
                    class="select small"
                    autocomplete="off"
                    on:change=move |event| {
                        if let Ok(anchor) = Anchor::parse(&event_target_value(&event)) {
                            session.about.set(anchor);
                        }
                    }
                >
                    {options}
                </select>
            </p>
            {composer(Composer {
                id: NEW_ID.to_owned(),
                label: "New comment (Markdown)",
                button: "Comment",
                text: RwSignal::new(String::new()),
                on_send: Callback::new(on_send),
            })}
        </div>
    }
}

fn thread(session: Session, seq: Seq, state: Memo<Option<State>>) -> AnyView {
    let Some((anchor, said, title)) = untrack(|| {
        session.with_room(|room| {
            let thread = find(room, seq)?;
            let title = words::anchor(&thread.anchor, room);
            Some((thread.anchor.clone(), thread.said.clone(), title))
        })
    }) else {
        return ().into_any();
    };
    let resolved =
        Memo::new(move |_| state.with(|it| it.as_ref().and_then(|it| it.resolved.clone())));
    let notes = Memo::new(move |_| {
        state.with(|it| it.as_ref().map(|it| it.notes.clone()).unwrap_or_default())
    });
    let is_outdated =
        Memo::new(move |_| state.with(|it| it.as_ref().is_some_and(|it| it.is_outdated)));
    let go_to = go_link(&anchor);
    let body = move || {
        view! {
            {then_and_now(&anchor, said.as_ref(), state)}
            <ul class="notes-of">
                <For each=move || notes.get() key=|note| *note children=move |note| {
                    one_note(session, seq, note)
                }/>
            </ul>
            {move || session.may(Role::Comment).then(|| answers(session, seq, resolved))}
        }
    };
    view! {
        <li class="thread card" class:resolved=move || resolved.with(Option::is_some)>
            <details open=untrack(|| resolved.with(Option::is_none))>
                <summary>
                    <span class="thread-title">{title}</span>
                    {move || is_outdated.get().then(|| view! {
                        <span class="badge outdated">"Outdated"</span>
                    })}
                    {move || resolved.get().map(|by| view! {
                        <span class="badge">{format!("Resolved by {by}")}</span>
                    })}
                    <span class="muted">{move || {
                        format::counted(notes.with(Vec::len) as u64, "comment", "comments")
                    }}</span>
                </summary>
                {go_to}
                {body()}
            </details>
        </li>
    }
    .into_any()
}

/// Leads to what a thread is about, where that is on the page.
fn go_link(anchor: &Anchor) -> Option<impl IntoView + use<>> {
    let selector = match anchor {
        Anchor::Knob(knob) => format!("[data-knob=\"{}\"]", knob.id()),
        Anchor::Stage(_) => "#results [data-study=\"memory\"]".to_owned(),
        Anchor::Metric(MetricAddress { part: MetricPart::Stage(_), .. }) => {
            "#results [data-study=\"memory\"]".to_owned()
        }
        Anchor::Metric(address) => {
            format!("article[data-metric=\"{}\"]", address.metric.metric().name)
        }
        Anchor::Design | Anchor::Candidate(_) | Anchor::Proposal(_) | Anchor::SweepRow { .. } => {
            return None;
        }
    };
    Some(button("Show it", move || places::scroll_to(&selector)))
}

/// `Said at 61.2 GiB, now 58.9 GiB`.
fn then_and_now(
    anchor: &Anchor,
    said: Option<&Said>,
    state: Memo<Option<State>>,
) -> impl IntoView + use<> {
    let then = said.and_then(|said| said.value.as_ref()).map(|then| words::value(anchor, then));
    let text = move || {
        let now = state.with(|state| state.as_ref().and_then(|state| state.now.clone()));
        match (&then, now) {
            (Some(then), Some(now)) if *then == now => format!("Said at {then}, as it is now"),
            (Some(then), Some(now)) => format!("Said at {then}, now {now}"),
            (Some(then), None) => format!("Said at {then}; it has no value now"),
            (None, Some(now)) => now,
            (None, None) => String::new(),
        }
    };
    view! { <p class="then-now">{text}</p> }
}

fn one_note(session: Session, thread: Seq, note: Seq) -> impl IntoView {
    let found = untrack(|| {
        session.with_room(|room| {
            find(room, thread)?.notes.iter().find(|found| found.seq == note).cloned()
        })
    });
    found.map(|note| {
        view! { <li>{byline(&note.by, note.at_millis)}{prose(&note.text)}</li> }
    })
}

fn answers(session: Session, seq: Seq, resolved: Memo<Option<String>>) -> impl IntoView {
    let turn = move || {
        if resolved.with(Option::is_some) {
            Either::Left(button("Reopen", move || session.ask(Change::Reopen { thread: seq })))
        } else {
            Either::Right(button("Resolve", move || session.ask(Change::Resolve { thread: seq })))
        }
    };
    let reply = composer(Composer {
        id: format!("reply-{seq}"),
        label: "Reply",
        button: "Reply",
        text: RwSignal::new(String::new()),
        on_send: Callback::new(move |text| session.ask(Change::Reply { thread: seq, text })),
    });
    view! { <details class="reply"><summary>"Reply"</summary>{reply}</details>{turn} }
}

/// What stands beside a knob or a number: the way to a comment on it, and who is at it.
pub(super) fn beside(session: Session, topic: Topic) -> AnyView {
    let (anchor, label) = match topic {
        Topic::Knob(knob) => (Anchor::Knob(knob), knob.knob().label),
        Topic::Metric(metric) => {
            (Anchor::Metric(MetricAddress::whole(metric)), metric.metric().label)
        }
    };
    let of = anchor.clone();
    let count = Memo::new(move |_| {
        session.with_room(|room| {
            room.threads.iter().filter(|it| it.anchor == of && it.resolved.is_none()).count()
        })
    });
    let may = Memo::new(move |_| session.may(Role::Comment));
    let title = move || match count.get() {
        0 => format!("Comment on {label}"),
        count => {
            let threads = format::counted(count as u64, "open thread", "open threads");
            format!("Comment on {label}, {threads}")
        }
    };
    let there = match topic {
        Topic::Knob(knob) => Some(at_knob(session, knob)),
        Topic::Metric(_) => None,
    };
    view! {
        <button
            type="button"
            class="comment-on"
            class:has=move || count.get() != 0
            disabled=move || !may.get() && count.get() == 0
            title=title
            aria-label=title
            on:click=move |_| session.talk_about(anchor.clone())
        >
            <svg class="icon" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
                <path d="M2.5 3h11v7.5H8L4.5 13.5v-3h-2z"></path>
            </svg>
            {move || (count.get() != 0).then(|| count.get())}
        </button>
        {there}
    }
    .into_any()
}

/// Who edits a knob, and where it is while they hold it.
fn at_knob(session: Session, knob: KnobId) -> impl IntoView {
    let id = knob.id();
    let there = Memo::new(move |_| {
        let own = session.connection.get();
        session.people.with(|people| {
            let at = |at: &review::wire::At| at.knob.as_deref() == Some(id.as_str());
            let found = people.iter().find(|there| there.connection != own && at(&there.at))?;
            let person = &found.person;
            Some((found.connection, words::person(person), words::colour(&person.id)))
        })
    });
    let id = knob.id();
    let ghost = move |connection: u64| {
        session.previews.with(|all| {
            let setting = all.get(&connection).filter(|setting| setting.knob == id)?;
            setting.value.clone()
        })
    };
    move || {
        there.get().map(|(connection, name, colour)| {
            let ghost = ghost.clone();
            let text = move || match ghost(connection) {
                Some(value) => format!("{name} is at {value}"),
                None => format!("{name} is here"),
            };
            view! { <p class=format!("at-knob {colour}")>{text}</p> }
        })
    }
}
