//! The state of the page; everything in it is copied freely.
//!
//! [`Replica`] is the session itself. It isn't in a signal, since most of what reads it asks for a
//! small part: `revision` grows with everything that it takes in, and memos ask it then.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::prelude::*;
use model::design::Design;
use model::design::link;
use present::choices::choices;
use present::page::review::labels::person;
use present::page::review::settings;
use present::site::Page;
use review::wire::{At, Cursor, Presence};
use review::{Anchor, Change, Person, Replica, Role, Room, Seq, Setting};

use super::{browser, socket};
use crate::explorer::Explorer;
use crate::reaction::memo;

/// The box for a new comment.
pub(super) const NEW_COMMENT_ID: &str = "new-comment";

/// The line to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// It is being made for the first time.
    Opening,
    /// It is there.
    Open,
    /// It was lost and is being made again.
    Lost,
    /// It won't come again, for this reason.
    Ended {
        /// In words.
        why: String,
        /// Whether the session was deleted.
        is_deleted: bool,
    },
}

impl Line {
    /// For the style sheet.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Open => "open",
            Self::Lost => "lost",
            Self::Ended { .. } => "ended",
        }
    }
}

choices! {
    /// A part of the panel.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) enum Tab {
        /// Its id.
        id: &'static str,
        /// For people.
        label: &'static str;
        /// Threads and the agenda.
        #[default]
        Discuss = "discuss", "Discuss";
        /// Suggestions and candidates.
        Designs = "designs", "Designs";
        /// Decisions and reports.
        Decide = "decide", "Decide";
        /// History of events.
        History = "history", "History";
        /// Links to the session.
        Share = "share", "Share";
    }
}

/// The session as a visitor sees it.
#[derive(Clone, Copy)]
pub(super) struct Session {
    /// Its id.
    pub(super) id: StoredValue<String>,
    /// Knobs and numbers.
    pub(super) explorer: Explorer,
    replica: StoredValue<Replica>,
    revision: RwSignal<u64>,
    /// The session as it was, while someone looks back.
    pub(super) past: RwSignal<Option<Arc<Room>>>,
    /// Role that the visitor's link gives.
    pub(super) role: RwSignal<Role>,
    /// The visitor; known once the line is open.
    pub(super) you: RwSignal<Person>,
    /// This page among those that are there.
    pub(super) connection: RwSignal<u64>,
    /// The line to the server.
    pub(super) line: RwSignal<Line>,
    /// People who are there, this page included.
    pub(super) people: RwSignal<Vec<Presence>>,
    /// Knobs on their way, by who holds them.
    pub(super) previews: RwSignal<BTreeMap<u64, Setting>>,
    /// Place that the visitor is at.
    pub(super) here: RwSignal<At>,
    /// Place of the visitor's pointer on a chart.
    pub(super) pointer: RwSignal<Option<Cursor>>,
    /// Grows when what is on the page may be elsewhere.
    pub(super) laid_out: RwSignal<u64>,
    /// Whether the visitor's place is about to be sent.
    pub(super) tells: StoredValue<bool>,
    /// Connection of the person that the page follows.
    pub(super) following: RwSignal<Option<u64>>,
    /// The part of the panel that is open.
    pub(super) tab: RwSignal<Tab>,
    /// Whether the panel is up, on a phone.
    pub(super) panel_open: RwSignal<bool>,
    /// Whether a suggestion is being made: then knobs turn for the visitor alone.
    pub(super) suggesting: RwSignal<bool>,
    /// The design below what isn't sent yet.
    pub(super) base: RwSignal<Design>,
    /// Subject of a new thread.
    pub(super) about: RwSignal<Anchor>,
    /// Whether the page asks the visitor for a name.
    pub(super) asks_name: RwSignal<bool>,
    /// A note for the visitor, which a screen reader reads out.
    pub(super) note: RwSignal<String>,
    /// The events, once someone has asked for them.
    pub(super) log: RwSignal<Vec<review::Event>>,
}

impl Session {
    /// The session as the server wrote it into the page.
    pub(super) fn new(id: &str, role: Role, room: &Room) -> Self {
        let design = room.design.clone();
        let explorer = Explorer::new(design.clone());
        let session = Self {
            id: StoredValue::new(id.to_owned()),
            explorer,
            replica: StoredValue::new(Replica::new(room.clone(), "")),
            revision: RwSignal::new(0),
            past: RwSignal::new(None),
            role: RwSignal::new(role),
            you: RwSignal::default(),
            connection: RwSignal::new(0),
            line: RwSignal::new(Line::Opening),
            people: RwSignal::default(),
            previews: RwSignal::default(),
            here: RwSignal::default(),
            pointer: RwSignal::new(None),
            laid_out: RwSignal::new(0),
            tells: StoredValue::new(false),
            following: RwSignal::new(None),
            tab: RwSignal::default(),
            panel_open: RwSignal::new(false),
            suggesting: RwSignal::new(false),
            base: RwSignal::new(design),
            about: RwSignal::new(Anchor::Design),
            asks_name: RwSignal::new(false),
            note: RwSignal::default(),
            log: RwSignal::default(),
        };
        explorer.locked.set(role < Role::Edit);
        session
    }

    /// Reads the session as it is shown: as it is, or as it was.
    pub(super) fn with_room<T>(self, read: impl FnOnce(&Room) -> T) -> T {
        self.past.with(|past| match past {
            Some(room) => read(room),
            None => {
                self.revision.track();
                self.replica.with_value(|replica| read(replica.room()))
            }
        })
    }

    /// Reads the copy of the session.
    pub(super) fn with_replica<T>(self, read: impl FnOnce(&Replica) -> T) -> T {
        self.revision.track();
        self.replica.with_value(read)
    }

    /// Changes the copy of the session, and tells all that read it.
    pub(super) fn update<T>(self, change: impl FnOnce(&mut Replica) -> T) -> Option<T> {
        let done = self.replica.try_update_value(change);
        // For the case that the page is loaded again.
        untrack(|| {
            self.with_replica(|replica| {
                browser::keep_unsent(&self.id(), &replica.unsent().collect::<Vec<_>>());
            });
        });
        let _ = self.revision.try_update(|revision| *revision += 1);
        done
    }

    /// The id of the session.
    pub(super) fn id(self) -> String {
        self.id.get_value()
    }

    /// An address below the session's own.
    pub(super) fn address(self, path: &str) -> String {
        format!("{}/{}/{path}", Page::Review.path(), self.id())
    }

    /// Whether the visitor may do what takes that role, now.
    pub(super) fn may(self, role: Role) -> bool {
        self.role.get() >= role
            && self.past.with(Option::is_none)
            && !matches!(self.line.get(), Line::Ended { .. })
    }

    /// As [`Self::may`], read once.
    pub(super) fn may_untracked(self, role: Role) -> bool {
        untrack(|| self.may(role))
    }

    /// As [`Self::may`], but changing only when it does: what it shows stays, with what is typed in
    /// it.
    pub(super) fn can(self, role: Role) -> Signal<bool> {
        memo(move || self.may(role)).into()
    }

    /// Asks for a change: it counts here at once. Whoever has no name yet is asked for one.
    pub(super) fn ask(self, change: Change) {
        self.update(|replica| replica.ask(change));
        self.show();
        self.send();
    }

    /// Sends what isn't sent, once its author has a name.
    pub(super) fn send(self) {
        let waits = untrack(|| self.with_replica(Replica::unconfirmed)) > 0;
        if waits && self.you.with_untracked(|you| you.name.is_empty()) {
            self.asks_name.set(true);
        } else {
            self.pump();
        }
    }

    /// Sends what isn't sent.
    pub(super) fn pump(self) {
        untrack(|| self.with_replica(socket::pump));
    }

    /// The knobs in which the explorer differs from the session.
    pub(super) fn on_its_way(self) -> Vec<Setting> {
        let shown = untrack(|| self.explorer.with_design(Clone::clone));
        self.base.with_untracked(|base| settings::between(base, &shown))
    }

    /// Shows what has become of the session, with what is on its way on top.
    pub(super) fn show(self) {
        let now = untrack(|| self.with_replica(Replica::design));
        let settings = self.on_its_way();
        let keeps = self.suggesting.get_untracked() || untrack(|| self.explorer.in_gesture());
        let shown = if keeps { settings::with(&now, &settings) } else { now.clone() };
        self.base.set(now);
        if self.past.with_untracked(Option::is_none) {
            self.explorer.follow(shown);
        }
    }

    /// Says something to the visitor.
    pub(super) fn say(self, text: impl Into<String>) {
        self.note.set(text.into());
    }

    /// Begins to talk about something.
    pub(super) fn talk_about(self, anchor: Anchor) {
        self.about.set(anchor);
        self.tab.set(Tab::Discuss);
        self.panel_open.set(true);
        browser::focus(NEW_COMMENT_ID);
    }

    /// The name of whoever has that connection.
    pub(super) fn name_of(self, connection: u64) -> Option<String> {
        self.people.with(|people| {
            let found = people.iter().find(|there| there.connection == connection)?;
            Some(person(&found.person))
        })
    }

    /// The names of all who are or were here, to be spoken to.
    pub(super) fn participants(self) -> Vec<String> {
        let mut names = self.with_room(review::Room::names);
        self.people.with(|people| {
            names.extend(people.iter().map(|there| there.person.name.clone()));
        });
        // Whoever reads may be spoken to before doing anything.
        names.insert(self.you.with(|you| you.name.clone()));
        names.remove("");
        names.into_iter().collect()
    }

    /// The link of the design that is worked on.
    pub(super) fn working_link(self) -> String {
        self.with_room(|room| link::encode(&room.design))
    }

    /// The last event that is here.
    pub(super) fn seq(self) -> Seq {
        self.with_replica(Replica::seq)
    }
}
