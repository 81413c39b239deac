//! What a sweep has done so far: places, and what is kept of them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::space::Space;
use crate::summary::Summary;

/// Part of a sweep that is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Ranges of places that are in the summary: ascending, apart from each other.
    done: Vec<(u64, u64)>,
    /// For a sweep that refines: the designs that each round behind the first started from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rounds: Vec<Vec<u64>>,
    summary: Summary,
}

/// Two parts of a sweep have places in common, so that they can't be added up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The places that one part has.
    pub places: Range<u64>,
}

impl std::fmt::Display for Overlap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Range { start, end } = self.places;
        write!(f, "places {start} to {end} are partly there already")
    }
}

impl Progress {
    /// Nothing is done.
    #[must_use]
    pub fn new(space: &Space) -> Self {
        Self { done: vec![], rounds: vec![], summary: Summary::new(space) }
    }

    /// These places alone, with what is kept of them.
    #[must_use]
    pub fn with_part(space: &Space, places: Range<u64>, summary: Summary) -> Self {
        let mut part = Self { summary, ..Self::new(space) };
        if !places.is_empty() {
            part.insert(places);
        }
        part
    }

    /// Summary of the places done so far.
    #[must_use]
    pub const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The designs that each round behind the first started from.
    pub(crate) fn rounds(&self) -> &[Vec<u64>] {
        &self.rounds
    }

    /// Notes that a round begins from these designs.
    pub(crate) fn begin(&mut self, starts: Vec<u64>) {
        self.rounds.push(starts);
    }

    /// Ranges of places that are done.
    pub fn done(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.done.iter().map(|(start, end)| *start..*end)
    }

    /// Places that are done.
    #[must_use]
    pub fn num_points(&self) -> u64 {
        self.done.iter().map(|(start, end)| end - start).sum()
    }

    /// Whether every place of this range is done.
    #[must_use]
    pub fn has(&self, places: &Range<u64>) -> bool {
        let covers = |(start, end): &(u64, u64)| *start <= places.start && places.end <= *end;
        places.is_empty() || self.done.iter().any(covers)
    }

    /// The first place of a range that isn't done.
    #[must_use]
    pub fn first_open(&self, places: &Range<u64>) -> Option<u64> {
        let mut open = places.start;
        for (start, end) in &self.done {
            if *start <= open && open < *end {
                open = *end;
            }
        }
        (open < places.end).then_some(open)
    }

    /// Adds a chunk. One that is there already changes nothing: it was evaluated twice.
    ///
    /// # Errors
    /// A chunk of which only a part is there.
    pub fn add(
        &mut self,
        space: &Space,
        places: Range<u64>,
        summary: Summary,
    ) -> Result<(), Overlap> {
        if self.has(&places) {
            return Ok(());
        }
        let overlaps = |(start, end): &(u64, u64)| *start < places.end && places.start < *end;
        if self.done.iter().any(overlaps) {
            return Err(Overlap { places });
        }
        self.summary.merge(space, summary);
        self.insert(places);
        Ok(())
    }

    /// Adds another part of the sweep.
    ///
    /// # Errors
    /// A part that has places in common with this one; nothing is added then.
    pub fn join(&mut self, space: &Space, other: Self) -> Result<(), Overlap> {
        for theirs in other.done() {
            if self.done().any(|ours| ours.start < theirs.end && theirs.start < ours.end) {
                return Err(Overlap { places: theirs });
            }
        }
        other.done().for_each(|places| self.insert(places));
        self.summary.merge(space, other.summary);
        Ok(())
    }

    /// Whether this can have come from that space.
    #[must_use]
    pub fn suits(&self, space: &Space) -> bool {
        let ascending = self.done.windows(2).all(|pair| pair[0].1 < pair[1].0);
        let inside = self.done.iter().all(|(start, end)| start < end && *end <= space.num_points());
        ascending && inside && self.summary.suits(space) && self.summary.points == self.num_points()
    }

    fn insert(&mut self, places: Range<u64>) {
        let place = self.done.partition_point(|(start, _)| *start < places.start);
        self.done.insert(place, (places.start, places.end));
        // Neighbours become one range.
        self.done.dedup_by(|next, kept| {
            let touches = kept.1 == next.0;
            if touches {
                kept.1 = next.1;
            }
            touches
        });
    }
}
