//! Requested changes on their way into a session: admitted in order, written down together, and
//! published only then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use review::{Cause, Change, Event, Person, Refusal, Role, Room, Seq};
use tokio::sync::mpsc;

use super::ledger::{self, Ended};
use super::participant::Cut;
use crate::ground::calendar::now_millis;
use crate::store::{Store, StoreError};

/// Events of a session, at most: years of work, and a bound on what one session puts on the disk.
const MAX_EVENTS: Seq = 1_000_000;

/// Attempts when other servers add events at the same time, at most.
const MAX_TRIES: usize = 50;

/// A change that somebody requests.
#[derive(Clone, Debug)]
pub(crate) struct ChangeRequest {
    /// The link that they came by.
    pub(crate) link: Arc<str>,
    pub(crate) role: Role,
    pub(crate) by: Person,
    /// The address that they came from, for the audit log; a session's own log has none.
    pub(crate) address: Arc<str>,
    pub(crate) op: String,
    pub(crate) change: Change,
    /// Channel for the answer.
    pub(crate) answer: mpsc::UnboundedSender<Answer>,
}

/// The end of a requested change.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) op: String,
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// Event that happened now; all who are there get it.
    New(Arc<Event>),
    /// Event that had happened before.
    Known(Arc<Event>),
    /// Refusal of the change.
    Refused(Refusal),
    /// The link has ended, or the session.
    Ended(Cut),
    /// The store couldn't be used, and nothing happened.
    Broken,
}

/// The end of a batch of changes.
#[derive(Debug)]
pub(super) struct Committed {
    /// The room after it; it goes back to the keeper.
    pub(super) room: Room,
    /// Events behind the last published one, in order.
    pub(super) events: Vec<Arc<Event>>,
    /// One for each change, in order.
    pub(super) outcomes: Vec<Outcome>,
    /// Links that have ended, of those that are in use.
    pub(super) ended: Ended,
}

/// Requested changes with the room that they meet.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) review: Arc<str>,
    /// The room after the last published event; `None` if it has to be loaded.
    pub(super) room: Option<Room>,
    /// The last event that was published; `None` if nobody was there.
    pub(super) published: Option<Seq>,
    /// Links of those who are there.
    pub(super) links: BTreeSet<String>,
    pub(super) requests: Vec<ChangeRequest>,
}

/// Commits a batch. It waits for the store and may take estimates: not for threads that answer
/// requests. After an error nothing of the batch has happened.
pub(super) fn commit_changes(store: &Store, batch: Batch) -> Result<Committed, StoreError> {
    let Batch { review, mut room, published, links, requests } = batch;
    let mut is_whole = room.is_some();
    let mut links_of_all = links;
    links_of_all.extend(requests.iter().map(|request| request.link.to_string()));
    for _ in 0..MAX_TRIES {
        let mut now_room = match room.take() {
            Some(room) => room,
            None => ledger::load(store, &review)?,
        };
        let now = now_millis();
        let ops = requests.iter().map(|request| request.op.clone()).collect();
        let look = ledger::look(store, &review, now_room.seq, ops, links_of_all.clone(), now)?;
        look.missed.iter().for_each(|event| now_room.apply(event));
        let before = now_room.seq;
        let known = look.known.into_iter().map(|(op, event)| (op, Arc::new(event))).collect();
        let mut admission = Admission { room: now_room, known, ended: look.ended, new: vec![] };
        let outcomes = requests.iter().map(|request| admission.take(request, now)).collect();
        let Admission { room: after, ended, new, .. } = admission;
        let events: Vec<Event> = new.iter().map(|event| Event::clone(event)).collect();
        let writers = requests.iter().map(|request| request.link.to_string());
        let writers = writers.filter(|link| !ended.links.contains(link)).collect();
        if new.is_empty() || ledger::append(store, &review, before, events, writers, now)? {
            let events = match published {
                // Some of what is missing was in the room that was loaded.
                Some(published) if !is_whole => {
                    let events = ledger::events(store, &review, published, u32::MAX)?;
                    let events = events.into_iter().take_while(|event| event.seq <= after.seq);
                    events.map(Arc::new).collect()
                }
                Some(_) | None => look.missed.into_iter().map(Arc::new).chain(new).collect(),
            };
            return Ok(Committed { room: after, events, outcomes, ended });
        }
        // Another server was first, so this room holds what didn't happen.
        is_whole = false;
    }
    Err(StoreError::busy())
}

/// Changes on their way into a room.
struct Admission {
    room: Room,
    known: BTreeMap<String, Arc<Event>>,
    ended: Ended,
    new: Vec<Arc<Event>>,
}

impl Admission {
    fn take(&mut self, request: &ChangeRequest, now: u64) -> Outcome {
        if self.ended.is_deleted {
            return Outcome::Ended(Cut::Session);
        }
        if self.ended.links.contains(&*request.link) {
            return Outcome::Ended(Cut::Link(Arc::clone(&request.link)));
        }
        if let Some(event) = self.known.get(&request.op) {
            return Outcome::Known(Arc::clone(event));
        }
        if self.room.seq >= MAX_EVENTS {
            let detail = format!("a session holds at most {MAX_EVENTS} events");
            return Outcome::Refused(Refusal { cause: Cause::Full, detail, nearest: vec![] });
        }
        match self.room.admit(request.role, &request.by, request.change.clone()) {
            Err(why) => Outcome::Refused(why),
            Ok(change) => {
                let (op, by, seq) = (request.op.clone(), request.by.clone(), self.room.seq + 1);
                let event = Arc::new(Event { seq, at_millis: now, by, op, change });
                self.room.apply(&event);
                self.known.insert(request.op.clone(), Arc::clone(&event));
                self.new.push(Arc::clone(&event));
                Outcome::New(event)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use review::Anchor;

    use super::*;
    use crate::jobs::reviews::ledger::Link;
    use crate::store::Lazy;

    fn session(directory: &std::path::Path) -> (Store, Arc<str>) {
        let store = Lazy::of_test(directory).open().unwrap();
        let link = "preset=pangu-ultra-moe-6k".to_owned();
        let change = Change::Create { name: "Review".to_owned(), link };
        let (by, op) = (Person::default(), "create".to_owned());
        let first = Event { seq: 1, at_millis: 1, by, op, change };
        let link = Link {
            id: "link".to_owned(),
            role: Role::Own,
            name: String::new(),
            made_at_millis: 1,
            expires_at_millis: None,
            withdrawn_at_millis: None,
        };
        ledger::create(&store, "a", first, vec![(link, [0; 32])]).unwrap();
        (store, "a".into())
    }

    fn comments(from: u32, count: u32) -> Vec<ChangeRequest> {
        let (answer, _) = mpsc::unbounded_channel();
        let request = |number| ChangeRequest {
            link: "link".into(),
            role: Role::Comment,
            by: Person::default(),
            address: "local".into(),
            op: format!("op-{number}"),
            change: Change::Comment {
                anchor: Anchor::Design,
                text: format!("comment {number}"),
                said: None,
            },
            answer: answer.clone(),
        };
        (from..from + count).map(request).collect()
    }

    fn batch(review: &Arc<str>, room: Option<Room>, requests: Vec<ChangeRequest>) -> Batch {
        let published = room.as_ref().map(|room| room.seq);
        Batch { review: Arc::clone(review), room, published, links: BTreeSet::new(), requests }
    }

    #[test]
    fn after_ten_thousand_comments_a_session_takes_no_more() {
        let directory = tempfile::tempdir().unwrap();
        let (store, review) = session(directory.path());
        let (mut room, mut taken) = (None, 0);
        for from in (0..14_000).step_by(2_000) {
            let committed =
                commit_changes(&store, batch(&review, room, comments(from, 2_000))).unwrap();
            let is_new = |outcome: &&Outcome| matches!(outcome, Outcome::New(_));
            taken += committed.outcomes.iter().filter(is_new).count();
            let is_full = |outcome: &Outcome| {
                let Outcome::Refused(why) = outcome else { return false };
                why.cause == Cause::Full
            };
            assert!(from < 10_000 || committed.outcomes.iter().all(is_full), "{from}");
            room = Some(committed.room);
        }
        assert_eq!((taken, room.unwrap().threads.len()), (10_000, 10_000));
        assert_eq!(ledger::load(&store, &review).unwrap().seq, 10_001);
    }

    #[test]
    fn a_room_that_is_behind_hears_first_what_others_did() {
        let directory = tempfile::tempdir().unwrap();
        let (store, review) = session(directory.path());
        let here = commit_changes(&store, batch(&review, None, vec![])).unwrap().room;
        // Another server adds something, and its change is sent here once more.
        let other = commit_changes(&store, batch(&review, None, comments(0, 1))).unwrap();
        let committed = commit_changes(&store, batch(&review, Some(here), comments(0, 2))).unwrap();
        assert!(matches!(committed.outcomes[..], [Outcome::Known(_), Outcome::New(_)]));
        let events: Vec<Seq> = committed.events.iter().map(|event| event.seq).collect();
        assert_eq!((events, other.room.seq), (vec![2, 3], 2));
    }

    #[test]
    fn a_link_that_was_seen_expired_stays_so_when_the_clock_goes_back() {
        let directory = tempfile::tempdir().unwrap();
        let (store, review) = session(directory.path());
        let link = Link {
            id: "short".to_owned(),
            role: Role::View,
            name: String::new(),
            made_at_millis: 1,
            expires_at_millis: Some(100),
            withdrawn_at_millis: None,
        };
        assert!(ledger::add_link(&store, &review, link, [1; 32], 9).unwrap());
        let enter = |now| ledger::enter(&store, &review, [1; 32], now).unwrap().is_some();
        assert_eq!([99, 100, 99].map(enter), [true, false, false]);
    }

    #[test]
    fn a_link_that_was_withdrawn_adds_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let (store, review) = session(directory.path());
        assert!(ledger::withdraw(&store, &review, "link", 2).unwrap());
        let committed = commit_changes(&store, batch(&review, None, comments(0, 1))).unwrap();
        assert!(matches!(committed.outcomes[..], [Outcome::Ended(Cut::Link(_))]));
        let event = Event {
            seq: 2,
            at_millis: 2,
            by: Person::default(),
            op: "late".to_owned(),
            change: Change::Rename { name: "x".to_owned() },
        };
        let by = BTreeSet::from(["link".to_owned()]);
        assert!(!ledger::append(&store, &review, 1, vec![event], by, 3).unwrap());
        assert_eq!(ledger::load(&store, &review).unwrap().seq, 1);
    }
}
