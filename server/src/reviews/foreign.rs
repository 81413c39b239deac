//! Those who are in a session through other servers, as far as these say so.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use review::wire::{Presence, Tell};

use super::keeper::Cast;
use super::seat::{is_small, is_small_setting};

/// How often each server says who is there.
const SHOW: Duration = Duration::from_secs(20);

/// How long someone counts as there of whom nothing is heard: their server may be gone.
const SILENCE: Duration = Duration::from_secs(60);

/// People through other servers, at most.
const MAX_PEOPLE: usize = 2_000;

/// Those who are there through other servers.
#[derive(Debug)]
pub(super) struct Foreign {
    people: BTreeMap<u64, (Presence, Instant)>,
    shown: Instant,
}

impl Default for Foreign {
    fn default() -> Self {
        Self { people: BTreeMap::new(), shown: Instant::now() }
    }
}

impl Foreign {
    pub(super) fn people(&self) -> impl Iterator<Item = &Presence> {
        self.people.values().map(|(presence, _)| presence)
    }

    /// Takes what another server says of someone there, to be told here; none where it is nothing
    /// that may be told.
    pub(super) fn take(&mut self, connection: u64, text: &str) -> Option<Cast> {
        let said: Tell = serde_json::from_str(text).ok()?;
        if let Tell::Gone { connection: of } = said
            && of == connection
        {
            self.people.remove(&connection);
            return Some(Cast::Gone(connection, text.into()));
        }
        let (of, is_fine) = if let Tell::Present { presence } = &said {
            (presence.connection, is_small(&presence.at) && self.people.len() < MAX_PEOPLE)
        } else if let Tell::Preview { connection, setting } = &said {
            (*connection, setting.as_ref().is_none_or(is_small_setting))
        } else if let Tell::Bring { connection, at } = &said {
            (*connection, is_small(at))
        } else {
            return None;
        };
        if of != connection || !is_fine {
            return None;
        }
        if let Tell::Present { presence } = said {
            self.people.insert(connection, (presence, Instant::now()));
        }
        Some(Cast::Tell(connection, text.into()))
    }

    /// Is it time to say who is here?
    pub(super) fn is_time(&mut self) -> bool {
        let is_time = self.shown.elapsed() >= SHOW;
        if is_time {
            self.shown = Instant::now();
        }
        is_time
    }

    /// Forgets those of whom nothing was heard for long, and says who they were.
    pub(super) fn silent(&mut self) -> Vec<u64> {
        let silent = |(_, heard): &(Presence, Instant)| heard.elapsed() >= SILENCE;
        let gone: Vec<u64> =
            self.people.iter().filter(|(_, it)| silent(it)).map(|(id, _)| *id).collect();
        gone.iter().for_each(|connection| drop(self.people.remove(connection)));
        gone
    }
}
