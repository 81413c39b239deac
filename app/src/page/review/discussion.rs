//! Threads: comments on knobs, numbers and designs.

use leptos::ev;
use leptos::prelude::*;
use model::design::KnobId;
use model::metric::{MetricAddress, MetricId, MetricPart, Regime};
use present::format;
use present::page::review::deltas::knobs_between;
use present::page::review::{labels, mentions};
use review::{Anchor, Change, Numbers, Role, Room, Said, Seq, Thread};

use super::compose::{Composer, button, byline, composer};
use super::places;
use super::prose::prose;
use super::session::{NEW_COMMENT_ID, Session};
use crate::explorer::Topic;
use crate::reaction::{handler, memo};
use crate::widget::part::{Flag, IntoPart, Key, Part, flag, list, live, text, while_so};

/// Threads that are drawn at once: a session may hold thousands.
const MAX_THREADS: usize = 100;

/// Filter of the threads that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filter {
    All,
    Open,
    Outdated,
}

/// State of a thread that changes as the session goes on; its notes don't.
#[derive(Clone, Debug, PartialEq)]
struct State {
    notes: Vec<Seq>,
    resolved: Option<String>,
    is_outdated: bool,
    /// Whether one of its notes mentions the reader.
    is_to_you: bool,
    now: Option<String>,
}

/// The threads, and the box that begins one.
pub(super) fn discussion(session: Session, numbers: Memo<std::sync::Arc<Numbers>>) -> Part {
    let filter = RwSignal::new(Filter::All);
    let names = memo(move || session.participants());
    let you = memo(move || session.you.with(|you| you.name.clone()));
    let state = move |seq| {
        let read = |numbers: &Numbers, names: &[String], you: &str, room: &Room| {
            let thread = find(room, seq)?;
            let is_to_you =
                thread.notes.iter().any(|note| mentions::is_named(&note.text, you, names));
            Some(State { is_to_you, ..state_of(room, thread, numbers) })
        };
        numbers.with(|numbers| {
            names.with(|names| {
                you.with(|you| session.with_room(|room| read(numbers, names, you, room)))
            })
        })
    };
    let is_in = move |seq: Seq, filter: Filter| match filter {
        Filter::All => true,
        Filter::Open => state(seq).is_some_and(|state| state.resolved.is_none()),
        Filter::Outdated => state(seq).is_some_and(|state| state.is_outdated),
    };
    let all = memo(move || {
        session.with_room(|room| {
            room.threads.iter().rev().map(|thread| (thread.seq(), 0)).collect::<Vec<Key>>()
        })
    });
    let found = memo(move || {
        let filter = filter.get();
        all.get().into_iter().filter(|(seq, _)| is_in(*seq, filter)).collect::<Vec<Key>>()
    });
    let most = RwSignal::new(MAX_THREADS);
    let shown =
        move || found.with(|found| found.iter().take(most.get()).copied().collect::<Vec<Key>>());
    let older = live(move || {
        let left = found.with(Vec::len).saturating_sub(most.get());
        let label = format!("Show older threads ({} more)", format::whole(left as u64));
        let more = move |_| most.update(|most| *most += MAX_THREADS);
        (left > 0).then(|| {
            view! { <button type="button" class="button" on:click=more>{label}</button> }.part()
        })
    });
    let hidden = text(move || match all.with(Vec::len) - found.with(Vec::len) {
        0 => String::new(),
        count => format!(
            "{} not shown by this filter",
            format::counted(count as u64, "thread is", "threads are")
        ),
    });
    let nothing = memo(move || all.with(Vec::is_empty));
    let nothing = while_so(nothing.into(), || {
        view! {
            <p class="muted">
                "No comments yet. Comment on the design, a knob, a number or a stage; each comment \
                 records the value at that time."
            </p>
        }
        .part()
    });
    view! {
        <section aria-labelledby="threads-title">
            <div class="section-head">
                <h3 id="threads-title">"Threads"</h3>
                <label class="visually-hidden" for="thread-filter">"Show"</label>
                <select
                    id="thread-filter"
                    class="select small"
                    autocomplete="off"
                    on:change=handler(move |event: ev::Event| {
                        filter.set(match event_target_value(&event).as_str() {
                            "open" => Filter::Open,
                            "outdated" => Filter::Outdated,
                            _ => Filter::All,
                        });
                    })
                >
                    <option value="all">"All"</option>
                    <option value="open">"Open"</option>
                    <option value="outdated">"Outdated"</option>
                </select>
            </div>
            {while_so(session.can(Role::Comment), move || new_thread(session))}
            <p class="muted">{hidden}</p>
            <ul class="threads">
                {list(shown, move |seq| thread(session, seq, memo(move || state(seq))))}
            </ul>
            {older}
            {nothing}
        </section>
    }
    .part()
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
        resolved: thread.resolved.as_ref().map(labels::editor),
        is_outdated: thread.is_outdated(numbers),
        is_to_you: false,
        now: now.map(|now| labels::value(&thread.anchor, &now)).or_else(|| {
            (thread.anchor == Anchor::Design).then(|| {
                let said = thread.said.as_ref().map(|said| said.link.clone()).unwrap_or_default();
                knobs_between(&said, &room.link())
            })
        }),
    }
}

/// The box that begins a thread, and what it will be about.
fn new_thread(session: Session) -> Part {
    let options = move || {
        let stages = session.explorer.with_numbers(|numbers| numbers.estimate.stages.len());
        let chosen = session.about.get();
        let mut anchors = vec![Anchor::Design];
        let metric = |metric: MetricId| Anchor::Metric(MetricAddress::whole(metric));
        anchors.extend(MetricId::of(Regime::Training).map(metric));
        anchors.extend(MetricId::of(Regime::Serving).map(Anchor::Served));
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
                        {labels::anchor(anchor, room)}
                    </option>
                }
            };
            Some(anchors.iter().map(option).collect::<Vec<_>>().part())
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
                    on:change=handler(move |event: ev::Event| {
                        if let Ok(anchor) = Anchor::parse(&event_target_value(&event)) {
                            session.about.set(anchor);
                        }
                    })
                >
                    {live(options)}
                </select>
            </p>
            {composer(session, Composer {
                id: NEW_COMMENT_ID.to_owned(),
                label: "New comment (Markdown)",
                button: "Comment",
                text: RwSignal::new(String::new()),
                on_send: Callback::new(on_send),
            })}
        </div>
    }
    .part()
}

fn thread(session: Session, seq: Seq, state: Memo<Option<State>>) -> Part {
    let Some((anchor, said, title)) = untrack(|| {
        session.with_room(|room| {
            let thread = find(room, seq)?;
            let title = labels::anchor(&thread.anchor, room);
            Some((thread.anchor.clone(), thread.said.clone(), title))
        })
    }) else {
        return ().part();
    };
    let resolved = memo(move || state.with(|it| it.as_ref().and_then(|it| it.resolved.clone())));
    let notes = memo(move || {
        let keys = |it: &State| it.notes.iter().map(|note| (*note, 0)).collect::<Vec<Key>>();
        state.with(|it| it.as_ref().map(keys).unwrap_or_default())
    });
    let is_outdated = memo(move || state.with(|it| it.as_ref().is_some_and(|it| it.is_outdated)));
    let is_to_you = memo(move || state.with(|it| it.as_ref().is_some_and(|it| it.is_to_you)));
    let go_to = go_link(&anchor);
    let is_resolved: Flag = flag(move || resolved.with(Option::is_some));
    let outdated = while_so(is_outdated.into(), || {
        view! { <span class="badge outdated">"Outdated"</span> }.part()
    });
    let to_you = while_so(is_to_you.into(), || {
        view! { <span class="badge to-you">"Mentions you"</span> }.part()
    });
    let settled = live(move || {
        let by = resolved.get()?;
        Some(view! { <span class="badge">{format!("Resolved by {by}")}</span> }.part())
    });
    let count = text(move || format::counted(notes.with(Vec::len) as u64, "comment", "comments"));
    view! {
        <li
            class="thread card"
            class:resolved=is_resolved
            class:to-you=flag(move || is_to_you.get())
        >
            <details open=untrack(|| resolved.with(Option::is_none))>
                <summary>
                    <span class="thread-title">{title}</span>
                    {outdated}
                    {to_you}
                    {settled}
                    <span class="muted">{count}</span>
                </summary>
                {go_to}
                {then_and_now(&anchor, said.as_ref(), state)}
                <ul class="notes-of">
                    {list(move || notes.get(), move |note| one_note(session, seq, note))}
                </ul>
                {while_so(session.can(Role::Comment), move || answers(session, seq, resolved))}
            </details>
        </li>
    }
    .part()
}

/// Leads to what a thread is about, where that is on the page.
fn go_link(anchor: &Anchor) -> Option<Part> {
    let selector = match anchor {
        Anchor::Knob(knob) => format!("[data-knob=\"{}\"]", knob.id()),
        Anchor::Stage(_) => "#results [data-study=\"memory\"]".to_owned(),
        Anchor::Metric(MetricAddress { part: MetricPart::Stage(_), .. }) => {
            "#results [data-study=\"memory\"]".to_owned()
        }
        Anchor::Metric(address) => {
            format!("article[data-metric=\"{}\"]", address.metric.metric().name)
        }
        // Its numbers are on a page of their own.
        Anchor::Served(_)
        | Anchor::Design
        | Anchor::Candidate(_)
        | Anchor::Proposal(_)
        | Anchor::SweepRow { .. } => return None,
    };
    Some(button("Show it", move || places::scroll_to(&selector)))
}

/// `Said at 61.2 GiB, now 58.9 GiB`.
fn then_and_now(anchor: &Anchor, said: Option<&Said>, state: Memo<Option<State>>) -> Part {
    let then = said.and_then(|said| said.value.as_ref()).map(|then| labels::value(anchor, then));
    let text = text(move || {
        let now = state.with(|state| state.as_ref().and_then(|state| state.now.clone()));
        match (&then, now) {
            (Some(then), Some(now)) if *then == now => format!("Made at {then}, unchanged"),
            (Some(then), Some(now)) => format!("Made at {then}, now {now}"),
            (Some(then), None) => format!("Made at {then}; no value now"),
            (None, Some(now)) => now,
            (None, None) => String::new(),
        }
    });
    view! { <p class="then-now">{text}</p> }.part()
}

fn one_note(session: Session, thread: Seq, note: Seq) -> Part {
    let found = untrack(|| {
        session.with_room(|room| {
            find(room, thread)?.notes.iter().find(|found| found.seq == note).cloned()
        })
    });
    let Some(note) = found else { return ().part() };
    view! { <li>{byline(&note.by, note.at_millis)}{prose(session, note.seq, &note.text)}</li> }
        .part()
}

fn answers(session: Session, seq: Seq, resolved: Memo<Option<String>>) -> Part {
    let turn = live(move || {
        Some(if resolved.with(Option::is_some) {
            button("Reopen", move || session.ask(Change::Reopen { thread: seq }))
        } else {
            button("Resolve", move || session.ask(Change::Resolve { thread: seq }))
        })
    });
    let reply = composer(
        session,
        Composer {
            id: format!("reply-{seq}"),
            label: "Reply",
            button: "Reply",
            text: RwSignal::new(String::new()),
            on_send: Callback::new(move |text| session.ask(Change::Reply { thread: seq, text })),
        },
    );
    view! { <details class="reply"><summary>"Reply"</summary>{reply}</details>{turn} }.part()
}

/// Controls beside a knob or a number: the way to a comment on it, and who is at it.
pub(super) fn beside(session: Session, topic: Topic) -> Part {
    let (anchor, label) = match topic {
        Topic::Knob(knob) => (Anchor::Knob(knob), knob.knob().label),
        Topic::Metric(metric) => {
            (Anchor::Metric(MetricAddress::whole(metric)), metric.metric().label)
        }
    };
    let of = anchor.clone();
    let count = memo(move || {
        session.with_room(|room| {
            room.threads.iter().filter(|it| it.anchor == of && it.resolved.is_none()).count()
        })
    });
    let may = session.can(Role::Comment);
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
            class:has=flag(move || count.get() != 0)
            disabled=flag(move || !may.get() && count.get() == 0)
            title=text(title)
            aria-label=text(title)
            on:click=handler(move |_| session.talk_about(anchor.clone()))
        >
            <svg class="icon" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
                <path d="M2.5 3h11v7.5H8L4.5 13.5v-3h-2z"></path>
            </svg>
            {text(move || match count.get() {
                0 => String::new(),
                count => count.to_string(),
            })}
        </button>
        {there}
    }
    .part()
}

/// Person who edits a knob, and its value while they hold it.
fn at_knob(session: Session, knob: KnobId) -> Part {
    let id = knob.id();
    let there = memo(move || {
        let own = session.connection.get();
        session.people.with(|people| {
            let at = |at: &review::wire::At| at.knob.as_deref() == Some(id.as_str());
            let found = people.iter().find(|there| there.connection != own && at(&there.at))?;
            let person = &found.person;
            Some((found.connection, labels::person(person), labels::colour(&person.id)))
        })
    });
    let id = knob.id();
    let ghost = move |connection: u64| {
        session.previews.with(|all| {
            let setting = all.get(&connection).filter(|setting| setting.knob == id)?;
            setting.value.clone()
        })
    };
    live(move || {
        let (connection, name, colour) = there.get()?;
        let ghost = ghost.clone();
        let text = text(move || match ghost(connection) {
            Some(value) => format!("{name} is at {value}"),
            None => format!("{name} is here"),
        });
        Some(view! { <p class=format!("at-knob {colour}")>{text}</p> }.part())
    })
    .part()
}
