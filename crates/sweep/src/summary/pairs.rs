//! Two knobs at once: for every pair of axes how many feasible designs there are in each cell, and
//! the best of them.
//!
//! A long axis has several neighbouring values in one bin, and pairs beyond a bound are left out,
//! so that what is kept stays small whatever the space.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::best::Best;
use super::front::precedes;
use crate::space::Space;
use crate::spec::Goal;

/// Most bins of an axis.
const MAX_BINS: usize = 32;

/// Most cells of all pairs together.
const MAX_CELLS: usize = 20_000;

/// Two axes of a space, by their places in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The axes; the first has the leading digit.
    pub axes: [usize; 2],
    /// Number of bins of each axis.
    pub bins: [usize; 2],
    offset: usize,
}

impl Pair {
    /// Cells of the pair.
    const fn cells(&self) -> usize {
        self.bins[0] * self.bins[1]
    }
}

/// Number of bins of an axis with this many values.
#[must_use]
pub fn bins(values: usize) -> usize {
    values.min(MAX_BINS)
}

/// Bin of a value, by its place on an axis with this many values.
#[must_use]
pub fn bin_of(place: usize, values: usize) -> usize {
    place * bins(values) / values.max(1)
}

/// The pairs of axes that are kept: in the order of axes, as long as there is room.
#[must_use]
pub fn pairs(space: &Space) -> Vec<Pair> {
    let axes = space.axes();
    let count = |axis: usize| bins(axes[axis].values.len());
    let mut pairs = Vec::new();
    let mut offset = 0;
    for first in 0..axes.len() {
        for second in first + 1..axes.len() {
            let pair = Pair { axes: [first, second], bins: [count(first), count(second)], offset };
            if offset + pair.cells() <= MAX_CELLS {
                offset += pair.cells();
                pairs.push(pair);
            }
        }
    }
    pairs
}

/// Statistics of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Designs that keep all constraints.
    pub feasible: u64,
    /// The best of them by the first objective.
    pub best: Best,
}

impl Cell {
    /// Adds so many feasible designs, and the best of them.
    fn add(&mut self, goal: Goal, feasible: u64, best: Best) {
        self.feasible += feasible;
        let rank = |best: &Best| (best.value, best.index);
        if precedes(goal, rank(&best), rank(&self.best)) {
            self.best = best;
        }
    }
}

/// The cells of all pairs, one pair after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    cells: Vec<Option<Cell>>,
    /// While designs are added: the pairs, and the bin of each digit.
    pairs: Vec<Pair>,
    bins: Vec<usize>,
}

/// The pairs follow from the space.
impl PartialEq for Cells {
    fn eq(&self, other: &Self) -> bool {
        self.cells == other.cells
    }
}

impl Cells {
    pub(super) fn new(space: &Space) -> Self {
        let pairs = pairs(space);
        let count = pairs.iter().map(Pair::cells).sum();
        Self { cells: vec![None; count], pairs, bins: vec![] }
    }

    /// Adds a feasible design.
    pub(super) fn add(&mut self, space: &Space, goal: Goal, coordinates: &[usize], best: Best) {
        if self.pairs.is_empty() {
            self.pairs = pairs(space);
        }
        self.bins.clear();
        let axes = space.axes().iter().zip(coordinates);
        self.bins.extend(axes.map(|(axis, digit)| bin_of(*digit, axis.values.len())));
        for pair in &self.pairs {
            let [first, second] = pair.axes;
            let place = pair.offset + self.bins[first] * pair.bins[1] + self.bins[second];
            match &mut self.cells[place] {
                Some(cell) => cell.add(goal, 1, best),
                empty => *empty = Some(Cell { feasible: 1, best }),
            }
        }
    }

    /// Adds what other places have.
    pub(super) fn merge(&mut self, goal: Goal, other: &Self) {
        for (ours, theirs) in self.cells.iter_mut().zip(&other.cells) {
            match (&mut *ours, theirs) {
                (Some(cell), Some(theirs)) => cell.add(goal, theirs.feasible, theirs.best),
                (None, theirs) => *ours = *theirs,
                (Some(_), None) => {}
            }
        }
    }

    /// Whether it has as many cells as the space has.
    pub(super) fn suits(&self, space: &Space) -> bool {
        self.cells.len() == pairs(space).iter().map(Pair::cells).sum::<usize>()
            && self.cells.iter().flatten().all(|cell| cell.best.index < space.size())
    }

    /// The cells of a pair that have a feasible design, with the bins of both axes.
    pub(super) fn for_pair(&self, pair: &Pair) -> impl Iterator<Item = ([usize; 2], Cell)> + '_ {
        let (width, offset) = (pair.bins[1], pair.offset);
        let cells = self.cells.iter().skip(offset).take(pair.cells()).enumerate();
        cells.filter_map(move |(place, cell)| Some(([place / width, place % width], (*cell)?)))
    }
}

/// Number of cells, and the non-empty ones: place, feasible designs, value and index of the best.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sparse {
    len: usize,
    cells: Vec<(usize, u64, f64, u64)>,
}

impl Serialize for Cells {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let cells = self.cells.iter().enumerate().filter_map(|(place, cell)| {
            cell.map(|cell| (place, cell.feasible, cell.best.value, cell.best.index))
        });
        Sparse { len: self.cells.len(), cells: cells.collect() }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Cells {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Sparse { len, cells: sparse } = Sparse::deserialize(from)?;
        if len > MAX_CELLS {
            return Err(de::Error::custom("too many cells"));
        }
        let mut cells = vec![None; len];
        for (place, feasible, value, index) in sparse {
            let cell = cells.get_mut(place).ok_or_else(|| de::Error::custom("no such cell"))?;
            *cell = Some(Cell { feasible, best: Best { value, index } });
        }
        Ok(Self { cells, ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_share_a_bin_of_a_long_axis() {
        assert_eq!((bins(7), bin_of(6, 7)), (7, 6));
        assert_eq!((bins(100), bin_of(0, 100), bin_of(3, 100), bin_of(99, 100)), (32, 0, 0, 31));
        let all: Vec<usize> = (0..100).map(|place| bin_of(place, 100)).collect();
        assert!(all.windows(2).all(|pair| pair[0] == pair[1] || pair[0] + 1 == pair[1]));
    }
}
