//! Lists of rows that keep a bounded number of them: the best, and a random sample.

use serde::{Deserialize, Serialize};

use super::front::precedes;
use super::row::Row;
use crate::digest::mix;
use crate::spec::Goal;

/// The best designs of one objective, best first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Top {
    pub(super) rows: Vec<Row>,
}

impl Top {
    /// Adds a design, unless `most` better ones are there.
    pub(super) fn add(&mut self, column: usize, goal: Goal, most: usize, row: &Row) {
        let index = row.index;
        let rank = (row.values[column], index);
        let of = |row: &Row| (row.values[column], row.index);
        if self.rows.len() >= most
            && self.rows.last().is_none_or(|last| !precedes(goal, rank, of(last)))
        {
            return;
        }
        let place = self.rows.partition_point(|row| precedes(goal, of(row), rank));
        // The same design may come twice, from a sample that has it twice.
        if self.rows.get(place).is_some_and(|row| row.index == index) {
            return;
        }
        self.rows.insert(place, row.clone());
        self.rows.truncate(most);
    }
}

/// Designs whose index has the smallest hash: as random as the hash, and the same ones wherever
/// and in whatever order they are found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Sample {
    pub(super) rows: Vec<Row>,
    /// While designs are added: a hash that enough of them are below.
    #[serde(skip)]
    bound: Option<u64>,
}

impl Sample {
    /// Adds a design; more than `most` are kept until [`Self::keep`].
    pub(super) fn add(&mut self, most: usize, row: &Row) {
        if most == 0 || self.bound.is_some_and(|bound| mix(row.index) >= bound) {
            return;
        }
        self.rows.push(row.clone());
        if self.rows.len() >= 2 * most {
            self.shrink(most);
        }
    }

    /// Keeps `most` designs, by index.
    pub(super) fn keep(&mut self, most: usize) {
        self.shrink(most);
        self.bound = None;
    }

    fn shrink(&mut self, most: usize) {
        self.rows.sort_unstable_by_key(|row| row.index);
        self.rows.dedup_by_key(|row| row.index);
        if most > 0 && self.rows.len() > most {
            let mut hashes: Vec<u64> = self.rows.iter().map(|row| mix(row.index)).collect();
            // No two indices have the same hash.
            let (_, bound, _) = hashes.select_nth_unstable(most);
            let bound = *bound;
            self.rows.retain(|row| mix(row.index) < bound);
            self.bound = Some(bound);
        }
    }
}
