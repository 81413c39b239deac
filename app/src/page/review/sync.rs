//! What is turned in the explorer becomes changes of the session, and the other way round.
//!
//! `base` is the design that the session gave the explorer last. What differs from it is on its
//! way: a slider that is held, or a suggestion. It stays on top of whatever the others do.

use std::mem;
use std::time::Duration;

use leptos::prelude::*;
use model::design::link;
use present::page::review::labels;
use review::wire::Ask;
use review::{Change, Replica, Role, Setting, Undo};

use super::session::Session;
use super::socket;
use crate::browser::Later;
use crate::reaction::effect;

/// Least interval between previews of a knob that is held: 15 a second at most.
const PREVIEW_INTERVAL: Duration = Duration::from_millis(67);

/// A gesture by keys ends when the knobs have been still for this long.
const SETTLE_DELAY: Duration = Duration::from_millis(250);

/// Ties explorer and session to each other.
pub(super) fn install(session: Session) {
    let explorer = session.explorer;
    let still = Later::new(SETTLE_DELAY);
    let preview = Preview::new(session);
    let mut is_first = true;
    effect(move || {
        explorer.with_design(|_| ());
        let goes_on = explorer.in_gesture();
        if mem::take(&mut is_first) || untrack(|| session.past.with(Option::is_some)) {
            return;
        }
        still.run(move || {
            explorer.end_still_gesture();
            explorer.rest();
        });
        if session.suggesting.get_untracked() {
            return;
        }
        if goes_on {
            preview.show(session.on_its_way().into_iter().next());
        } else {
            preview.let_go();
            commit(session);
        }
    });
    // Who only looks on turns nothing; a suggestion is turned by oneself alone.
    effect(move || {
        let may = match session.suggesting.get() {
            true => session.may(Role::Comment),
            false => session.may(Role::Edit),
        };
        explorer.locked.set(!may);
    });
}

/// Asks for what was turned.
fn commit(session: Session) {
    let settings = session.on_its_way();
    if settings.is_empty() {
        return;
    }
    let design = untrack(|| session.explorer.with_design(Clone::clone));
    let same = session.base.with_untracked(|base| base.preset.id == design.preset.id);
    session.ask(if same {
        Change::Set { settings }
    } else {
        Change::Open { link: link::encode(&design) }
    });
}

/// Drops a suggestion in the making.
pub(super) fn drop_draft(session: Session) {
    session.suggesting.set(false);
    session.explorer.follow(session.base.get_untracked());
}

/// Takes the visitor's own last edit back.
pub(super) fn undo(session: Session) {
    step(session, Replica::undo);
}

/// Does the edit that was taken back again.
pub(super) fn redo(session: Session) {
    step(session, Replica::redo);
}

fn step(session: Session, step: impl FnOnce(&mut Replica) -> Undo) {
    match session.update(step) {
        Some(Undo::Change(_)) => {
            session.show();
            session.send();
        }
        Some(Undo::Overwritten(by)) => {
            let by = by.as_ref().map_or_else(|| "Someone else".to_owned(), labels::person);
            session.say(format!("{by} has changed this since; it stays."));
        }
        Some(Undo::Nothing) | None => {}
    }
}

/// Tells the others of a knob that is held.
#[derive(Clone, Copy)]
struct Preview {
    session: Session,
    waiting: StoredValue<Option<Setting>>,
    is_due: StoredValue<bool>,
    is_shown: StoredValue<bool>,
}

impl Preview {
    fn new(session: Session) -> Self {
        let waiting = StoredValue::new(None);
        let (is_due, is_shown) = (StoredValue::new(false), StoredValue::new(false));
        Self { session, waiting, is_due, is_shown }
    }

    fn show(self, setting: Option<Setting>) {
        self.waiting.set_value(setting);
        if self.is_due.get_value() {
            return;
        }
        self.is_due.set_value(true);
        self.is_shown.set_value(true);
        set_timeout(
            move || {
                // The page may be gone by then.
                let _ = self.is_due.try_set_value(false);
                let setting = self.waiting.try_update_value(Option::take).flatten();
                if setting.is_some() && self.session.role.get_untracked() >= Role::Edit {
                    socket::say(&Ask::Preview { setting });
                }
            },
            PREVIEW_INTERVAL,
        );
    }

    fn let_go(self) {
        self.waiting.set_value(None);
        if self.is_shown.get_value() {
            self.is_shown.set_value(false);
            socket::say(&Ask::Preview { setting: None });
        }
    }
}
