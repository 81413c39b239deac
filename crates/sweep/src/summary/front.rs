//! The Pareto front: designs that none is better than in every objective.
//!
//! With a resolution above zero a front of millions stays small: numbers are compared by their
//! leading bits, and of the designs with the same leading bits in every objective one stays, the
//! best by the first objective, then by the next, then by index. Which boxes of leading bits are
//! on the front, and which design stays in each, doesn't depend on the order.

use model::ground::pareto::{self, ordered};
use serde::{Deserialize, Serialize};

use super::row::Row;
use crate::spec::{Goal, Spec};

/// Leading bits of every objective, more is better.
type Place = [u64; Spec::MAX_OBJECTIVES];

/// The front so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Front {
    pub(crate) rows: Vec<Row>,
    /// Places of the rows; empty when they have to be computed again.
    #[serde(skip)]
    places: Vec<Place>,
}

impl Front {
    /// Adds a design, unless one on the front is at least as good in everything.
    pub(crate) fn add(&mut self, spec: &Spec, row: &Row) {
        if self.places.len() != self.rows.len() {
            self.places = self.rows.iter().map(|row| place(spec, &row.values)).collect();
        }
        let place = place(spec, &row.values);
        let is_better = |one: &Row, other: &Row| is_better(spec, one, other);
        pareto::insert(&mut self.rows, &mut self.places, (row, place), is_better);
    }

    /// Sorts the rows by index.
    pub(crate) fn sort(&mut self) {
        self.rows.sort_unstable_by_key(|row| row.index);
        self.places.clear();
    }
}

/// Whether this one of two designs at one place is better by the first objective that differs.
fn is_better(spec: &Spec, row: &Row, other: &Row) -> bool {
    let pairs = spec.objectives.iter().zip(row.values.iter().zip(&other.values));
    for (objective, (ours, theirs)) in pairs {
        let (ours, theirs) = (directed(objective.goal, *ours), directed(objective.goal, *theirs));
        if ours != theirs {
            return ours > theirs;
        }
    }
    row.index < other.index
}

fn place(spec: &Spec, values: &[f64]) -> Place {
    let bits = dropped_bits(spec.resolution);
    let mut place = [0; Spec::MAX_OBJECTIVES];
    for ((place, objective), value) in place.iter_mut().zip(&spec.objectives).zip(values) {
        *place = directed(objective.goal, *value) >> bits;
    }
    place
}

/// Bits of a fraction that are less than this share of a number.
fn dropped_bits(resolution: f64) -> u32 {
    const FRACTION: u32 = 52;
    (0..FRACTION)
        .rev()
        .find(|bits| resolution * (1_u64 << (FRACTION - bits)) as f64 >= 1.0)
        .unwrap_or(0)
}

/// Rank of a value: the bits of [`ordered`], larger for a better one.
fn directed(goal: Goal, value: f64) -> u64 {
    match goal {
        Goal::Max => ordered(value),
        Goal::Min => !ordered(value),
    }
}

/// Whether the first of two (value, index) is better, or as good with a lower index.
pub(crate) fn precedes(goal: Goal, one: (f64, u64), other: (f64, u64)) -> bool {
    let (a, b) = (directed(goal, one.0), directed(goal, other.0));
    a > b || (a == b && one.1 < other.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resolution_keeps_the_bits_that_it_needs() {
        assert_eq!(dropped_bits(0.0), 0);
        assert_eq!(dropped_bits(0.001), 52 - 10);
        assert_eq!(dropped_bits(0.5), 51);
    }
}
