//! Queue of sweeps, which take turns by client.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use sweep::Batch;

use super::job::Job;

/// Sweeps that are over and kept at hand for those who watch them.
const MAX_OVER: usize = 64;

/// The sweeps at hand.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) jobs: BTreeMap<String, Arc<Job>>,
    /// Clients in the order of their turns.
    turns: VecDeque<String>,
    /// Sweeps of each client, oldest first.
    of_client: BTreeMap<String, VecDeque<String>>,
    /// Sweeps that are over, oldest first.
    over: VecDeque<String>,
    /// Rooms for sweeps of a client that are about to be added.
    reserved: BTreeMap<String, usize>,
    /// Designs whose rows these may keep.
    reserved_rows: u64,
    pub(super) closing: bool,
}

impl Queue {
    pub(super) fn add(&mut self, job: Arc<Job>) {
        let of_client = self.of_client.entry(job.client.clone()).or_default();
        if of_client.is_empty() {
            self.turns.push_back(job.client.clone());
        }
        of_client.push_back(job.id.clone());
        self.jobs.insert(job.id.clone(), job);
    }

    /// Sweeps of a client that aren't over, and those of everyone; with what is reserved.
    pub(super) fn counts(&self, client: &str) -> (usize, usize) {
        let of_client = self.of_client.get(client).map_or(0, VecDeque::len);
        let all: usize = self.of_client.values().map(VecDeque::len).sum();
        let reserved = self.reserved.get(client).copied().unwrap_or_default();
        (of_client + reserved, all + self.reserved.values().sum::<usize>())
    }

    /// The sweeps that aren't over.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = &Arc<Job>> {
        self.of_client.values().flatten().filter_map(|id| self.jobs.get(id))
    }

    /// Sweeps of which chunks are under way, and those of which none is: paused ones are neither.
    pub(super) fn standing(&self) -> (u64, u64) {
        let jobs = self.of_client.values().flatten().filter_map(|id| self.jobs.get(id));
        jobs.fold((0, 0), |(running, waiting), job| match job.is_under_way() {
            Some(true) => (running + 1, waiting),
            Some(false) => (running, waiting + 1),
            None => (running, waiting),
        })
    }

    /// Designs whose rows the sweeps that aren't over may keep; with what is reserved.
    pub(super) fn rows(&self) -> u64 {
        // One that is over has its turns until the store knows its rows.
        let jobs = self.of_client.values().flatten().filter_map(|id| self.jobs.get(id));
        self.reserved_rows.saturating_add(jobs.map(|job| job.rows_at_most()).sum())
    }

    /// Holds room for a sweep of a client and its rows until it is released.
    pub(super) fn reserve(&mut self, client: &str, rows: u64) {
        *self.reserved.entry(client.to_owned()).or_default() += 1;
        self.reserved_rows += rows;
    }

    /// Gives back one room of a client.
    pub(super) fn release(&mut self, client: &str, rows: u64) {
        self.reserved_rows = self.reserved_rows.saturating_sub(rows);
        if let Some(rooms) = self.reserved.get_mut(client) {
            *rooms = rooms.saturating_sub(1);
            if *rooms == 0 {
                self.reserved.remove(client);
            }
        }
    }

    /// The next chunk: each client has a turn, and its sweeps go one after the other.
    pub(super) fn claim(&mut self) -> Option<(Arc<Job>, Batch)> {
        if self.closing {
            return None;
        }
        for _ in 0..self.turns.len() {
            let client = self.turns.pop_front()?;
            let ids = self.of_client.get(&client).cloned().unwrap_or_default();
            self.turns.push_back(client);
            let claimed = ids.iter().find_map(|id| {
                let job = self.jobs.get(id)?;
                job.claim().map(|batch| (Arc::clone(job), batch))
            });
            if claimed.is_some() {
                return claimed;
            }
        }
        None
    }

    /// A sweep is over: it has no turns any more, and is at hand for a while.
    pub(super) fn end(&mut self, job: &Job) {
        self.retire(job);
        if self.jobs.contains_key(&job.id) && !self.over.contains(&job.id) {
            self.over.push_back(job.id.clone());
        }
        if self.over.len() > MAX_OVER
            && let Some(oldest) = self.over.pop_front()
        {
            self.jobs.remove(&oldest);
        }
    }

    /// Takes a sweep out.
    pub(super) fn remove(&mut self, id: &str) -> Option<Arc<Job>> {
        let job = self.jobs.remove(id)?;
        self.retire(&job);
        self.over.retain(|over| over != id);
        Some(job)
    }

    /// Takes a sweep out of the turns.
    fn retire(&mut self, job: &Job) {
        if let Some(of_client) = self.of_client.get_mut(&job.client) {
            of_client.retain(|id| *id != job.id);
            if of_client.is_empty() {
                self.of_client.remove(&job.client);
                self.turns.retain(|client| *client != job.client);
            }
        }
    }
}
