//! Participants through other servers, as far as these announce them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use review::wire::{Presence, Tell};

use super::message::Cast;
use super::participant::{is_small, is_small_setting};

/// Interval at which each server announces who is there.
const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(20);

/// Silence after which someone counts as gone: their server may be.
const MAX_SILENCE: Duration = Duration::from_secs(60);

/// People through other servers, at most.
const MAX_PEOPLE: usize = 2_000;

/// Participants who are there through other servers.
#[derive(Debug)]
pub(super) struct Foreign {
    people: BTreeMap<u64, (Presence, Instant)>,
    announced: Instant,
}

impl Default for Foreign {
    fn default() -> Self {
        Self { people: BTreeMap::new(), announced: Instant::now() }
    }
}

impl Foreign {
    pub(super) fn people(&self) -> impl Iterator<Item = &Presence> {
        self.people.values().map(|(presence, _)| presence)
    }

    /// Takes what another server shows of someone there, to be shown here; `None` if that may not
    /// be shown.
    pub(super) fn take(&mut self, connection: u64, text: &str) -> Option<Cast> {
        let tell: Tell = serde_json::from_str(text).ok()?;
        if let Tell::Gone { connection: of } = tell
            && of == connection
        {
            self.people.remove(&connection);
            return Some(Cast::Gone(connection, text.into()));
        }
        let (of, is_fine) = if let Tell::Present { presence } = &tell {
            (presence.connection, is_small(&presence.at) && self.people.len() < MAX_PEOPLE)
        } else if let Tell::Preview { connection, setting } = &tell {
            (*connection, setting.as_ref().is_none_or(is_small_setting))
        } else if let Tell::Bring { connection, at } = &tell {
            (*connection, is_small(at))
        } else {
            return None;
        };
        if of != connection || !is_fine {
            return None;
        }
        if let Tell::Present { presence } = tell {
            self.people.insert(connection, (presence, Instant::now()));
        }
        Some(Cast::Tell(connection, text.into()))
    }

    /// Whether it is time to announce who is here.
    pub(super) fn is_due(&mut self) -> bool {
        let is_due = self.announced.elapsed() >= ANNOUNCE_INTERVAL;
        if is_due {
            self.announced = Instant::now();
        }
        is_due
    }

    /// Forgets those of whom nothing came for long, and returns their connections.
    pub(super) fn silent(&mut self) -> Vec<u64> {
        let silent = |(_, last): &(Presence, Instant)| last.elapsed() >= MAX_SILENCE;
        let gone: Vec<u64> =
            self.people.iter().filter(|(_, it)| silent(it)).map(|(id, _)| *id).collect();
        gone.iter().for_each(|connection| drop(self.people.remove(connection)));
        gone
    }
}
