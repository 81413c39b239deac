//! What holds of every session, however its people edit, lose their connection and come back.

use std::collections::BTreeSet;

use model::design::KnobId;
use model::design::link;
use proptest::prelude::*;
use review::{
    Anchor, Cause, Change, Event, Outcome, Person, Refusal, Replica, Role, Room, Setting, Stale,
    Taken, Undo,
};

fn person(name: &str) -> Person {
    Person { id: name.to_lowercase(), name: name.to_owned(), is_vouched: false }
}

/// A server in a few lines: it numbers what is admitted, and each name once.
#[derive(Default)]
struct Server {
    room: Room,
    log: Vec<Event>,
}

impl Server {
    fn new() -> Self {
        let mut server = Self::default();
        let link = "preset=deepseek-v3-2k-h800".to_owned();
        server.append("Ann", "begin", Change::Create { name: "Friday".into(), link });
        server
    }

    fn append(&mut self, by: &str, op: &str, change: Change) -> Event {
        let seq = self.room.seq + 1;
        let event = Event { seq, at_millis: seq, by: person(by), op: op.to_owned(), change };
        self.room.apply(&event);
        self.log.push(event.clone());
        event
    }

    fn take(&mut self, by: &str, op: &str, change: Change) -> Result<Event, Refusal> {
        if let Some(known) = self.log.iter().find(|event| event.op == op) {
            return Ok(known.clone());
        }
        let change = self.room.admit(Role::Edit, &person(by), change)?;
        Ok(self.append(by, op, change))
    }

    fn after(&self, seq: u64) -> Vec<Event> {
        self.log.iter().filter(|event| event.seq > seq).cloned().collect()
    }
}

fn set(knob: &str, value: &str) -> Change {
    let value = Some(value.to_owned());
    Change::Set { settings: vec![Setting { knob: knob.to_owned(), value }] }
}

fn value(room: &Room, knob: &str) -> String {
    room.design.get(KnobId::find(knob).expect("a knob of the registry")).to_string()
}

/// One thing that a client does, or that happens to it.
#[derive(Clone, Debug)]
enum Act {
    Edit(usize, u32),
    Undo,
    Redo,
    Send,
    Hear,
    Lose,
}

fn acts() -> impl Strategy<Value = Vec<(usize, Act)>> {
    let act = prop_oneof![
        3 => (0..3usize, 0..6u32).prop_map(|(knob, value)| Act::Edit(knob, value)),
        1 => Just(Act::Undo),
        1 => Just(Act::Redo),
        4 => Just(Act::Send),
        4 => Just(Act::Hear),
        1 => Just(Act::Lose),
    ];
    prop::collection::vec((0..3usize, act), 0..120)
}

const KNOBS: [&str; 3] = [
    "training.micro_batch_size",
    "parallel.expert_model_parallel_size",
    "training.global_batch_size",
];

/// A client whose messages wait in line, both ways, and are lost with the connection.
struct Client {
    replica: Replica,
    sent: BTreeSet<String>,
    heard: u64,
}

#[test]
fn an_edit_shows_at_once_and_the_later_one_counts() {
    let mut server = Server::new();
    let mut ann = Replica::new(server.room.clone(), "ann");
    let bob = server.take("Bob", "b-1", set(KNOBS[0], "4")).unwrap();
    let op = ann.ask(set(KNOBS[0], "2"));
    let shown = ann.design();
    assert_eq!(shown.get(KnobId::find(KNOBS[0]).unwrap()).to_string(), "2");
    assert_eq!(ann.take(&bob), Taken::New);
    assert_eq!(ann.design(), shown, "an own edit stays on top until it is confirmed");
    let event = server.take("Ann", &op, set(KNOBS[0], "2")).unwrap();
    assert_eq!(ann.take(&event), Taken::New);
    assert_eq!(ann.unconfirmed(), 0);
    assert_eq!(value(&server.room, KNOBS[0]), "2");
    assert_eq!(ann.room(), &server.room);
    assert_eq!(ann.take(&event), Taken::Known);
}

#[test]
fn undo_touches_own_edits_only() {
    let mut server = Server::new();
    let mut ann = Replica::new(server.room.clone(), "ann");
    let before = value(&server.room, KNOBS[0]);
    let op = ann.ask(set(KNOBS[0], "2"));
    ann.take(&server.take("Ann", &op, set(KNOBS[0], "2")).unwrap());
    ann.take(&server.take("Bob", "b-1", set(KNOBS[1], "8")).unwrap());
    let Undo::Change(change) = ann.undo() else { panic!("there is an edit to undo") };
    assert_eq!(change, set(KNOBS[0], &before));
    let Undo::Change(change) = ann.redo() else { panic!("there is an edit to redo") };
    assert_eq!(change, set(KNOBS[0], "2"));
    for (op, change) in
        ann.unsent().map(|it| (it.op.clone(), it.change.clone())).collect::<Vec<_>>()
    {
        ann.take(&server.take("Ann", &op, change).unwrap());
    }
    ann.take(&server.take("Bob", "b-2", set(KNOBS[0], "8")).unwrap());
    let Undo::Overwritten(by) = ann.undo() else { panic!("Bob has set it since") };
    assert_eq!(by.map(|by| by.name).as_deref(), Some("Bob"));
    assert_eq!(ann.undo(), Undo::Nothing);
    assert_eq!(value(ann.room(), KNOBS[0]), "8");
}

#[test]
fn a_refused_edit_is_taken_back() {
    let server = Server::new();
    let mut ann = Replica::new(server.room.clone(), "ann");
    let op = ann.ask(set(KNOBS[0], "4"));
    assert_ne!(ann.design(), server.room.design);
    assert_eq!(ann.refuse(&op), Some(set(KNOBS[0], "4")));
    assert_eq!(ann.design(), server.room.design);
}

#[test]
fn a_link_allows_what_it_says() {
    let server = Server::new();
    let comment = || Change::Comment { anchor: Anchor::Design, text: "Why?".into(), said: None };
    let decide = || Change::Decide { outcome: Outcome::Approve, reason: "Fits".into(), on: None };
    let cases = [
        (Role::View, comment(), false),
        (Role::View, set(KNOBS[0], "2"), false),
        (Role::Comment, comment(), true),
        (Role::Comment, set(KNOBS[0], "2"), false),
        (Role::Comment, decide(), false),
        (Role::Edit, set(KNOBS[0], "2"), true),
        (Role::Edit, decide(), true),
    ];
    for (role, change, is_allowed) in cases {
        let outcome = server.room.admit(role, &person("Ann"), change.clone());
        assert_eq!(outcome.is_ok(), is_allowed, "{role} {change:?}");
        if let Err(refusal) = outcome {
            assert_eq!(refusal.cause, Cause::Role);
        }
    }
}

#[test]
fn what_a_comment_saw_is_written_by_the_server() {
    let mut server = Server::new();
    let anchor = Anchor::parse("metric:memory_peak_bytes@stage=3").unwrap();
    let forged = Some(review::Said {
        link: "preset=none".into(),
        model_version: "9".into(),
        value: Some(review::SaidValue::Number(1.0)),
    });
    let text = "Too much".to_owned();
    let comment = Change::Comment { anchor: anchor.clone(), text, said: forged };
    server.take("Ann", "a-1", comment).unwrap();
    let thread = &server.room.threads[0];
    let numbers = review::Numbers::of(&server.room.design);
    assert_eq!(thread.said.as_ref().unwrap().value, numbers.value(&anchor));
    assert!(
        matches!(numbers.value(&anchor), Some(review::SaidValue::Number(bytes)) if bytes > 1e9)
    );
    assert!(!thread.is_outdated(&numbers));
    server.take("Bob", "b-1", set(KNOBS[0], "2")).unwrap();
    assert!(server.room.threads[0].is_outdated(&review::Numbers::of(&server.room.design)));
}

#[test]
fn an_approval_goes_stale_and_stays_in_the_record() {
    let mut server = Server::new();
    let decide = || Change::Decide { outcome: Outcome::Approve, reason: "Fits".into(), on: None };
    server.take("Ann", "a-1", decide()).unwrap();
    assert_eq!(server.room.decision().unwrap().stale(&server.room), None);
    server.take("Bob", "b-1", set(KNOBS[0], "2")).unwrap();
    assert_eq!(server.room.decision().unwrap().stale(&server.room), Some(Stale::Design));
    server.take("Ann", "a-2", decide()).unwrap();
    assert_eq!(server.room.decision().unwrap().stale(&server.room), None);
    assert_eq!(server.room.decisions.len(), 2);
}

#[test]
fn a_proposal_is_answered_once() {
    let mut server = Server::new();
    let settings = vec![Setting { knob: KNOBS[0].into(), value: Some("2".into()) }];
    let propose = Change::Propose { settings, reason: "Faster".into(), link: None };
    let proposal = server.take("Ann", "a-1", propose).unwrap().seq;
    let withdraw = server.take("Bob", "b-0", Change::Withdraw { proposal }).unwrap_err();
    assert_eq!(withdraw.cause, Cause::Role);
    server.take("Bob", "b-1", Change::Accept { proposal }).unwrap();
    assert_eq!(value(&server.room, KNOBS[0]), "2");
    let again = server.take("Cyd", "c-1", Change::Accept { proposal }).unwrap_err();
    assert_eq!(
        (again.cause, again.detail.as_str()),
        (Cause::Settled, "the proposal was accepted by Bob")
    );
}

#[test]
fn bad_changes_are_refused_with_what_would_do() {
    let server = Server::new();
    let refused = |change| server.room.admit(Role::Own, &person("Ann"), change).unwrap_err();
    assert_eq!(refused(set("trainin.micro_batch", "2")).cause, Cause::Invalid);
    assert!(!refused(set("expert_model_paralel_size", "2")).nearest.is_empty());
    assert!(!refused(set(KNOBS[0], "many")).detail.is_empty());
    refused(Change::Set { settings: vec![] });
    refused(Change::Open { link: "preset=nothing-like-it".into() });
    refused(Change::Create { name: "x".into(), link: String::new() });
    assert_eq!(refused(Change::Reply { thread: 99, text: "x".into() }).cause, Cause::Missing);
    let anchor = Anchor::Candidate(7);
    refused(Change::Comment { anchor, text: "x".into(), said: None });
    refused(Change::Ask { text: "x".repeat(4_001) });
}

#[test]
fn a_comment_is_about_a_stage_that_the_design_has() {
    let mut server = Server::new();
    let stages: u32 = value(&server.room, "parallel.pipeline_model_parallel_size").parse().unwrap();
    let mut at = |anchor: String| {
        let (op, anchor) = (anchor.clone(), Anchor::parse(&anchor).unwrap());
        server.take("Ann", &op, Change::Comment { anchor, text: "Why?".into(), said: None })
    };
    let last = stages - 1;
    for start in ["stage:", "metric:memory_peak_bytes@stage="] {
        assert!(at(format!("{start}{last}")).is_ok());
        for none in [stages, 999_999] {
            let refusal = at(format!("{start}{none}")).unwrap_err();
            assert_eq!(refusal.cause, Cause::Invalid);
            assert_eq!(refusal.nearest, [format!("{start}{last}")], "{refusal}");
        }
    }
}

#[test]
fn a_room_is_stored_and_read_again() {
    let mut server = Server::new();
    server.take("Ann", "a-1", set(KNOBS[0], "2")).unwrap();
    server.take("Ann", "a-2", Change::Pin { name: "Two".into(), link: None }).unwrap();
    let ask = Change::Ask { text: "Who **pays**?".into() };
    let question = server.take("Ann", "a-3", ask).unwrap().seq;
    server.take("Bob", "b-1", Change::Answer { question, text: "We".into() }).unwrap();
    let text = serde_json::to_string(&server.room).unwrap();
    assert_eq!(serde_json::from_str::<Room>(&text).unwrap(), server.room);
    for event in &server.log {
        let text = serde_json::to_string(event).unwrap();
        assert_eq!(&serde_json::from_str::<Event>(&text).unwrap(), event);
    }
    assert_eq!(Room::of(&server.log), server.room);
    assert!(link::decode(&server.room.candidates[0].link).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is lost on the way, in the end all have the same room, and each change that was
    /// asked for is in the log once.
    #[test]
    fn clients_converge_and_nothing_is_lost_or_doubled(acts in acts()) {
        let mut server = Server::new();
        let client = |name: &str| Client {
            replica: Replica::new(server.room.clone(), name),
            sent: BTreeSet::new(),
            heard: server.room.seq,
        };
        let mut clients = [client("ann"), client("bob"), client("cyd")];
        for (who, act) in acts {
            step(&mut server, &mut clients[who], who, &act);
        }
        for (who, client) in clients.iter_mut().enumerate() {
            client.sent.clear();
            while client.replica.unconfirmed() > 0 {
                step(&mut server, client, who, &Act::Send);
                step(&mut server, client, who, &Act::Hear);
            }
        }
        let ops: BTreeSet<&str> = server.log.iter().map(|event| event.op.as_str()).collect();
        prop_assert_eq!(ops.len(), server.log.len());
        let last = server.room.seq;
        prop_assert!(server.log.iter().map(|event| event.seq).eq(1..=last));
        for client in &mut clients {
            for event in server.after(client.replica.seq()) {
                prop_assert_eq!(client.replica.take(&event), Taken::New);
            }
            prop_assert_eq!(client.replica.room(), &server.room);
            prop_assert_eq!(&client.replica.design(), &server.room.design);
        }
    }
}

fn step(server: &mut Server, client: &mut Client, who: usize, act: &Act) {
    match act {
        Act::Edit(knob, value) => {
            let change = set(KNOBS[*knob], &(1_u32 << value).to_string());
            client.replica.ask(change);
        }
        Act::Undo => drop(client.replica.undo()),
        Act::Redo => drop(client.replica.redo()),
        Act::Send => {
            let waiting = client.replica.unsent().find(|it| !client.sent.contains(&it.op));
            let waiting = waiting.map(|it| (it.op.clone(), it.change.clone()));
            let Some((op, change)) = waiting else { return };
            client.sent.insert(op.clone());
            let name = ["Ann", "Bob", "Cyd"][who];
            if server.take(name, &op, change).is_err() {
                client.replica.refuse(&op);
            }
        }
        Act::Hear => {
            for event in server.after(client.heard).into_iter().take(2) {
                client.replica.take(&event);
                client.heard = event.seq;
            }
        }
        Act::Lose => {
            // What was sent may or may not have arrived; what was told may be told again.
            client.sent.clear();
            client.heard = client.heard.saturating_sub(3).max(1);
        }
    }
}

#[test]
fn a_hundred_thousand_comments_fill_a_session_and_no_more() {
    let mut server = Server::new();
    let comment = |number: usize| {
        let text = format!("Comment {number}");
        Change::Comment { anchor: Anchor::Design, text, said: None }
    };
    let by = person("Eve");
    let (mut taken, mut refused) = (0, 0);
    for number in 0..100_000 {
        match server.room.admit(Role::Comment, &by, comment(number)) {
            Ok(change) => {
                server.append("Eve", &format!("e-{number}"), change);
                taken += 1;
            }
            Err(Refusal { cause: Cause::Full, .. }) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((taken, refused), (10_000, 90_000));
    // The rest of the session goes on.
    assert!(server.take("Ann", "a-1", set("parallel.tensor_model_parallel_size", "4")).is_ok());
    let bytes = serde_json::to_string(&server.room).expect("a room is text").len();
    assert!(bytes < 10_000 * 1_000, "{bytes} bytes for all who come in");
}

#[test]
fn answers_to_all_questions_and_texts_have_a_bound() {
    let mut server = Server::new();
    let by = person("Eve");
    let mut ask = |change: Change| match server.room.admit(Role::Comment, &by, change) {
        Ok(change) => Some(server.append("Eve", &format!("e-{}", server.room.seq), change).seq),
        Err(Refusal { cause: Cause::Full, .. }) => None,
        Err(other) => panic!("{other}"),
    };
    let questions: Vec<u64> =
        (0..3).filter_map(|_| ask(Change::Ask { text: "Which PP?".into() })).collect();
    let answers = questions.iter().flat_map(|question| {
        (0..600).map(|_| Change::Answer { question: *question, text: "16".into() })
    });
    assert_eq!(answers.filter_map(&mut ask).count(), 1_000);
    // 16 kB each, 16 MiB in all.
    let comment =
        || Change::Comment { anchor: Anchor::Design, text: "😀".repeat(4_000), said: None };
    let comments = (0..1_200).filter_map(|_| ask(comment())).count();
    assert!((1_040..=1_050).contains(&comments), "{comments}");
}

#[test]
fn what_was_not_sent_before_a_reload_happens_once() {
    let mut server = Server::new();
    let mut before = Replica::new(server.room.clone(), "first");
    before.ask(set("parallel.tensor_model_parallel_size", "4"));
    before.ask(set("parallel.expert_model_parallel_size", "16"));
    let kept: Vec<_> = before.unsent().cloned().collect();
    // The server has taken the first one; its answer was lost with the page.
    let first = &kept[0];
    server.take("Ann", &first.op, first.change.clone()).expect("it is admitted");
    let text = serde_json::to_string(&kept).expect("changes are text");

    let mut after = Replica::new(server.room.clone(), "second");
    after.resume(serde_json::from_str(&text).expect("changes are read back"));
    after.resume(kept.clone());
    assert_eq!(after.unconfirmed(), 2, "each once");
    after.ask(set("parallel.tensor_model_parallel_size", "8"));
    let sent: Vec<_> = after.unsent().cloned().collect();
    for unsent in sent {
        let event = server.take("Ann", &unsent.op, unsent.change).expect("it is admitted");
        after.take(&event);
    }
    assert_eq!(after.unconfirmed(), 0);
    assert_eq!(server.log.len(), 4, "the first one happened once");
    assert_eq!(value(&server.room, "parallel.tensor_model_parallel_size"), "8");
    assert_eq!(*after.room(), server.room);
}

#[test]
fn a_store_that_was_brought_back_has_the_last_word() {
    let mut server = Server::new();
    let old = server.room.clone();
    let mut client = Replica::new(old.clone(), "a");
    client.ask(set("parallel.tensor_model_parallel_size", "4"));
    let op = client.unsent().next().expect("it waits").op.clone();
    let change = client.unsent().next().expect("it waits").change.clone();
    let event = server.take("Ann", &op, change).expect("it is admitted");
    assert_eq!(client.take(&event), Taken::New);
    assert_eq!(client.last_op(), Some(op.as_str()));
    client.ask(set("parallel.expert_model_parallel_size", "16"));
    client.restart(old.clone());
    assert_eq!(client.seq(), 2, "a late snapshot undoes nothing");
    client.begin_anew(old);
    assert_eq!((client.seq(), client.last_op(), client.can_undo()), (1, None, false));
    assert_eq!(client.unconfirmed(), 1, "what isn't sent yet goes on");
}
