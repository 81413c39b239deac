//! Content of a report.

use std::collections::BTreeMap;

use model::design::{Design, KnobId, link};
use model::ground::units::Bytes;
use model::metric::{MetricId, MetricValue};
use model::{MODEL_VERSION, Plan};
use present::format;
use present::insight::numbers::Numbers;
use present::words::{name, range};
use review::{
    Anchor, Change, Decision, Event, Person, Proposal, ProposalState, Room, SaidValue, Setting,
    Stale, Thread,
};

use super::section::{Block, Cell, Section};
use crate::ground::calendar;

/// The numbers that are compared.
const METRICS: [MetricId; 7] = [
    MetricId::step_time_seconds,
    MetricId::mfu,
    MetricId::tokens_per_second,
    MetricId::memory_peak_bytes,
    MetricId::bubble_ratio,
    MetricId::fits,
    MetricId::fit_probability,
];

/// Width of charts, in pixels.
const WIDTH: u32 = 680;

/// A report.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(super) name: String,
    /// State of the session, in a sentence.
    pub(super) state: String,
    pub(super) sections: Vec<Section>,
    /// Origin at which designs are opened.
    pub(super) origin: String,
}

/// The report of a session with these events. Estimates many designs: not for threads that answer
/// requests.
pub(crate) fn content(room: &Room, events: &[Event], origin: String) -> Content {
    let working = Numbers::of(&room.design);
    let sections = vec![
        design(room, working.as_ref()),
        candidates(room, working.as_ref()),
        proposals(room),
        decisions(room, events),
        questions(room),
        threads(room, working.as_ref()),
        people(events),
    ];
    let sections = sections.into_iter().filter(|section| !section.blocks.is_empty()).collect();
    Content { name: room.name.clone(), state: state(room, events), sections, origin }
}

fn state(room: &Room, events: &[Event]) -> String {
    let Some(decision) = room.decision() else {
        return "Nothing is decided yet.".to_owned();
    };
    let said = format!(
        "{} by {} on {}",
        decision.outcome.label(),
        who(&decision.by),
        moment(decision.at_millis)
    );
    match stale(room, decision, events) {
        Some(why) => format!("{said}, but {why}."),
        None => format!("{said}. The working design is still the one that was decided on."),
    }
}

/// Reason why a decision should be asked for again.
fn stale(room: &Room, decision: &Decision, events: &[Event]) -> Option<String> {
    match decision.stale(room)? {
        Stale::Model => Some(format!(
            "its numbers are from model version {}, now {MODEL_VERSION}",
            decision.on.model_version
        )),
        Stale::Design => {
            let since = moved(decision, events);
            Some(since.map_or("the design has changed".to_owned(), |seq| {
                format!("the design changed at event {seq}")
            }))
        }
    }
}

/// The event by which the working design moved away from what was decided on.
fn moved(decision: &Decision, events: &[Event]) -> Option<u64> {
    let (mut room, mut since) = (Room::default(), None);
    for event in events {
        room.apply(event);
        if event.seq <= decision.seq || !touches_design(&event.change) {
            continue;
        }
        let is_same = room.link() == decision.on.link;
        since = if is_same { None } else { since.or(Some(event.seq)) };
    }
    since
}

const fn touches_design(change: &Change) -> bool {
    matches!(change, Change::Set { .. } | Change::Open { .. } | Change::Accept { .. })
}

fn design(room: &Room, working: Option<&Numbers>) -> Section {
    let mut blocks = vec![];
    let opens = Cell::Design { text: name::title(&room.design), link: room.link() };
    let changed = room.design.changed();
    let differs = format::counted(changed.len() as u64, "knob differs", "knobs differ");
    blocks.push(Block::Table(vec![
        vec!["Design".into(), "Based on".into(), "Differs".into()],
        vec![opens, room.design.preset.title.into(), differs.into()],
    ]));
    if !changed.is_empty() {
        blocks.push(Block::Heading("What differs from the preset".to_owned()));
        blocks.push(Block::Table(differences(&room.design, &changed)));
    }
    match working {
        Some(numbers) => {
            blocks.push(Block::Heading("What the model predicts".to_owned()));
            blocks.push(Block::Table(headline(numbers)));
            let svg = present::charts::memory_by_stage(&numbers.estimate, None, WIDTH);
            let says = "Memory per device of each pipeline stage".to_owned();
            blocks.push(Block::Chart { svg, says });
        }
        None => {
            blocks.push(Block::Text("The design breaks rules, so it has no numbers:".to_owned()));
            let broken = Plan::new(&room.design).err().unwrap_or_default();
            blocks.push(Block::List(broken.into_iter().map(|rule| rule.message).collect()));
        }
    }
    Section { title: "The working design", blocks }
}

fn differences(design: &Design, changed: &[KnobId]) -> Vec<Vec<Cell>> {
    let mut neutral = design.clone();
    changed.iter().for_each(|id| neutral.reset(*id));
    let head: Vec<Cell> = vec!["Knob".into(), "Preset".into(), "Here".into()];
    let rows = changed.iter().map(|id| {
        let value = |design: &Design| Cell::Text(format::spelled(&design.get(*id)));
        vec![id.knob().label.into(), value(&neutral), value(design)]
    });
    std::iter::once(head).chain(rows).collect()
}

/// The headline numbers with their ranges.
fn headline(numbers: &Numbers) -> Vec<Vec<Cell>> {
    let head: Vec<Cell> = vec!["Metric".into(), "Value".into(), "Range".into()];
    let rows = METRICS.iter().map(|id| {
        let value = format::metric(*id, numbers.estimate.metrics.get(*id)).to_string();
        let band = range::expected(&numbers.plan, *id).short(*id, &numbers.estimate.metrics);
        vec![id.metric().label.into(), value.into(), band.into()]
    });
    std::iter::once(head).chain(rows).collect()
}

/// A metric of a design, and how it differs from that of another one.
fn compared(id: MetricId, numbers: Option<&Numbers>, to: Option<&Numbers>) -> Cell {
    let Some(numbers) = numbers else { return "breaks rules".into() };
    let value = numbers.estimate.metrics.get(id);
    let text = format::metric(id, value).to_string();
    let then = to.map(|to| to.estimate.metrics.get(id));
    let (Some(MetricValue::Number(now)), Some(Some(MetricValue::Number(then)))) = (value, then)
    else {
        return text.into();
    };
    let difference = if now.to_bits() == then.to_bits() {
        "same".to_owned()
    } else {
        format::change(id, now, then)
    };
    format!("{text} ({difference})").into()
}

fn metric_heads(first: &[&str]) -> Vec<Cell> {
    let labels = METRICS.iter().map(|id| id.metric().label);
    first.iter().copied().chain(labels).map(Cell::from).collect()
}

fn candidates(room: &Room, working: Option<&Numbers>) -> Section {
    let row = |candidate: &review::Candidate| {
        let numbers = Numbers::of(&link::salvage(&candidate.link).0);
        let mut row = vec![
            Cell::Design { text: candidate.name.clone(), link: candidate.link.clone() },
            who(&candidate.by).into(),
            match &candidate.out {
                Some(out) => format!("removed by {}", who(&out.by)).into(),
                None => "active".into(),
            },
        ];
        row.extend(METRICS.iter().map(|id| compared(*id, numbers.as_ref(), working)));
        row
    };
    let head = metric_heads(&["Candidate", "Saved by", "State"]);
    let rows: Vec<_> = room.candidates.iter().map(row).collect();
    let blocks = if rows.is_empty() {
        vec![]
    } else {
        let says = "In brackets: against the working design.".to_owned();
        vec![Block::Table(std::iter::once(head).chain(rows).collect()), Block::Text(says)]
    };
    Section { title: "Candidates", blocks }
}

fn proposals(room: &Room) -> Section {
    let blocks = room.proposals.iter().flat_map(|proposal| {
        let Proposal { seq, at_millis, by, settings, reason, link, state } = proposal;
        let before = link::salvage(link).0;
        let mut after = before.clone();
        for setting in settings {
            let Ok(id) = KnobId::find(&setting.knob) else { continue };
            match &setting.value {
                // What a later version of the model no longer knows stays as it is.
                Some(value) => drop(after.set_text(id, value)),
                None => after.reset(id),
            }
        }
        let (was, would) = (Numbers::of(&before), Numbers::of(&after));
        let mut row = vec![Cell::Design { text: "With it".to_owned(), link: link::encode(&after) }];
        row.extend(METRICS.iter().map(|id| compared(*id, would.as_ref(), was.as_ref())));
        [
            Block::Heading(format!("Proposal {seq}: {}", outcome(state))),
            Block::List(settings.iter().map(setting_in_words).collect()),
            comment(by, *at_millis, reason),
            Block::Table(vec![metric_heads(&["Against the design then"]), row]),
        ]
    });
    Section { title: "Proposals", blocks: blocks.collect() }
}

fn setting_in_words(setting: &Setting) -> String {
    let label = KnobId::find(&setting.knob).map_or(setting.knob.as_str(), |id| id.knob().label);
    match &setting.value {
        Some(value) => format!("{label}: {value}"),
        None => format!("{label}: as in the preset"),
    }
}

fn outcome(state: &ProposalState) -> String {
    match state {
        ProposalState::Open => "open".to_owned(),
        ProposalState::Accepted { by, .. } => format!("accepted by {}", who(by)),
        ProposalState::Rejected { by, reason, .. } => {
            format!("rejected by {}: {reason}", who(by))
        }
        ProposalState::Withdrawn => "withdrawn".to_owned(),
    }
}

fn decisions(room: &Room, events: &[Event]) -> Section {
    let blocks = room.decisions.iter().rev().flat_map(|decision| {
        let Decision { seq, at_millis, by, outcome, reason, on } = decision;
        let is_last = room.decision().is_some_and(|last| last.seq == *seq);
        let standing = match stale(room, decision, events) {
            _ if !is_last => "Superseded by a later decision.".to_owned(),
            Some(why) => format!("Needs re-approval: {why}."),
            None => "It is valid.".to_owned(),
        };
        let opens = Cell::Design { text: "Decided on".to_owned(), link: on.link.clone() };
        [
            Block::Heading(format!("Decision {seq}: {}", outcome.label())),
            comment(by, *at_millis, reason),
            Block::Table(vec![
                vec!["Design".into(), "Model".into(), "Standing".into()],
                vec![opens, on.model_version.as_str().into(), standing.into()],
            ]),
        ]
    });
    Section { title: "Decisions", blocks: blocks.collect() }
}

fn questions(room: &Room) -> Section {
    let (mut open, mut answered) = (vec![], vec![]);
    for question in &room.questions {
        let blocks = if question.is_answered { &mut answered } else { &mut open };
        let notes = std::iter::once(&question.asked).chain(&question.answers);
        blocks.push(Block::Heading(format!(
            "Question {}: {}",
            question.asked.seq,
            if question.is_answered { "answered" } else { "open" }
        )));
        blocks.extend(notes.map(|note| comment(&note.by, note.at_millis, &note.text)));
    }
    open.append(&mut answered);
    Section { title: "Questions", blocks: open }
}

fn threads(room: &Room, working: Option<&Numbers>) -> Section {
    let now = review::Numbers::of(&room.design);
    let blocks = room.threads.iter().flat_map(|thread| {
        let state = match (&thread.resolved, thread.is_outdated(&now)) {
            (Some(by), _) => format!("settled by {}", who(&by.by)),
            (None, true) => "open, outdated".to_owned(),
            (None, false) => "open".to_owned(),
        };
        let about = about(room, &thread.anchor);
        let mut blocks = vec![Block::Heading(format!("About {about} ({state})"))];
        blocks.extend(then_and_now(thread, &now, working).map(Block::Text));
        let notes = thread.notes.iter();
        blocks.extend(notes.map(|note| comment(&note.by, note.at_millis, &note.text)));
        blocks
    });
    Section { title: "Comments", blocks: blocks.collect() }
}

/// Subject of a thread, in words.
fn about(room: &Room, anchor: &Anchor) -> String {
    match anchor {
        Anchor::Design => "the design".to_owned(),
        Anchor::Metric(address) => {
            let label = address.metric.metric().label;
            let part = address.to_string();
            match part.split_once('@') {
                Some((_, part)) => format!("{label}, {part}"),
                None => label.to_owned(),
            }
        }
        Anchor::Served(id) => format!("{} when it serves", id.metric().label),
        Anchor::Knob(knob) => knob.knob().label.to_owned(),
        Anchor::Stage(stage) => format!("pipeline stage {stage}"),
        Anchor::Candidate(seq) => {
            let found = room.candidates.iter().find(|found| found.seq == *seq);
            let name = found.map(|found| found.name.as_str()).unwrap_or_default();
            format!("the candidate {name}")
        }
        Anchor::Proposal(seq) => format!("proposal {seq}"),
        Anchor::SweepRow { sweep, index } => format!("design {index} of the sweep {sweep}"),
    }
}

/// The value of what is spoken of, when the thread began and now.
fn then_and_now(
    thread: &Thread,
    now: &review::Numbers,
    working: Option<&Numbers>,
) -> Option<String> {
    let said = thread.said.as_ref()?;
    let then = in_words(&thread.anchor, said.value.as_ref()?);
    let now = match (now.value(&thread.anchor), working) {
        (Some(value), _) => in_words(&thread.anchor, &value),
        (None, None) => "no number, as the design breaks rules".to_owned(),
        (None, Some(_)) => "gone".to_owned(),
    };
    Some(format!("Then {then} (model {}), now {now}.", said.model_version))
}

fn in_words(anchor: &Anchor, value: &SaidValue) -> String {
    match (anchor, value) {
        (Anchor::Metric(address), SaidValue::Number(number)) => {
            format::measured(address.metric, *number).to_string()
        }
        (Anchor::Served(id), SaidValue::Number(number)) => {
            format::measured(*id, *number).to_string()
        }
        (Anchor::Stage(_), SaidValue::Number(number)) => {
            format::memory(Bytes::new(*number)).to_string()
        }
        (_, SaidValue::Number(number)) => number.to_string(),
        (_, SaidValue::Flag(true)) => "yes".to_owned(),
        (_, SaidValue::Flag(false)) => "no".to_owned(),
        (_, SaidValue::Text(text)) => text.clone(),
    }
}

/// Section on how much each person did, and from when to when.
fn people(events: &[Event]) -> Section {
    let mut people: BTreeMap<&str, (String, u64, u64, u64)> = BTreeMap::new();
    for event in events {
        let (name, edits, words, all) = people.entry(&event.by.id).or_default();
        *name = who(&event.by);
        *edits += u64::from(touches_design(&event.change));
        *words += u64::from(matches!(
            event.change,
            Change::Comment { .. }
                | Change::Reply { .. }
                | Change::Ask { .. }
                | Change::Answer { .. }
        ));
        *all += 1;
    }
    let head: Vec<Cell> =
        ["Person", "Changes of the design", "Comments, questions, answers", "Everything"]
            .map(Cell::from)
            .into();
    let rows = people.into_values().map(|(name, edits, words, all)| {
        vec![
            name.into(),
            format::whole(edits).into(),
            format::whole(words).into(),
            format::whole(all).into(),
        ]
    });
    let mut blocks = vec![Block::Table(std::iter::once(head).chain(rows).collect())];
    if let (Some(first), Some(last)) = (events.first(), events.last()) {
        blocks.push(Block::Text(format!(
            "The session began on {}; event {} was on {}. Numbers are of version {MODEL_VERSION} \
             of the model.",
            moment(first.at_millis),
            last.seq,
            moment(last.at_millis),
        )));
    }
    Section { title: "People", blocks }
}

fn comment(by: &Person, at_millis: u64, text: &str) -> Block {
    Block::Said { who: format!("{}, {}", who(by), moment(at_millis)), text: text.to_owned() }
}

fn who(person: &Person) -> String {
    if person.is_vouched { format!("{} (signed in)", person.name) } else { person.name.clone() }
}

/// A moment, as `2026-01-31 14:05 UTC`.
fn moment(millis: u64) -> String {
    let secs = millis / 1_000;
    let minutes = secs / 60 % 1_440;
    format!("{} {:02}:{:02} UTC", calendar::day(secs), minutes / 60, minutes % 60)
}
