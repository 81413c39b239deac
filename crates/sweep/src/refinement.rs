//! Which designs a sweep takes, where that isn't known beforehand: successive refinement.
//!
//! It goes in rounds. The first takes designs at random. Each later one changes one or two knobs of
//! the best designs there are, and takes what rules allow and nobody took yet. It begins when all
//! of the round before is there: what it takes follows from the spec and from what is kept, which
//! is the same bits whoever computed it, in whatever order. Only the designs that rounds started
//! from are written down; the rest is found again from them.

use std::collections::HashSet;
use std::ops::Range;

use crate::batch::Batch;
use crate::digest::mix;
use crate::order::{first_round, permuted};
use crate::progress::Progress;
use crate::space::{Point, Space};
use crate::spec::Sampling;
use crate::summary::{Row, Summary};

/// Rounds behind the first.
const MAX_ROUNDS: u64 = 16;

/// The best designs of each objective that a round starts from.
const SEEDS_PER_OBJECTIVE: usize = 4;

/// Designs of the front that a round starts from.
const FRONT_SEEDS: usize = 4;

/// Designs that are the best with a value of a knob that a round starts from. Of the paper's search
/// by 3,000 designs, 21 of 24 seeds come within 0.5 % of the best of all and the others within
/// 1.1 %; more starts leave less for the neighbours of each.
const VALUE_SEEDS: usize = 16;

/// Designs that a round starts from, at most.
const MAX_STARTS: usize = 128;

/// Changes of a design that a round looks at, at most.
const MAX_TRIES: u64 = 4_096;

/// Number of values up to which a knob takes any of them; others go by steps of 1, 2, 4 and so on.
const MAX_ENUMERATED_VALUES: u64 = 8;

/// The rounds of a sweep through its space, a single one where it does not refine: which places are
/// known, and their designs.
#[derive(Clone, Debug)]
pub struct Rounds {
    known: u64,
    /// For a sweep that refines.
    refinement: Option<Refinement>,
}

/// The state of a sweep that refines.
#[derive(Clone, Debug)]
struct Refinement {
    count: u64,
    seed: u64,
    /// Number of rounds begun.
    begun: u64,
    /// Designs of the latest round.
    last: Vec<u64>,
    /// Designs of all rounds.
    taken: HashSet<u64>,
    /// Designs of the random order that were looked at.
    drawn: u64,
}

impl Rounds {
    /// The rounds as far as they are known before anything is done.
    #[must_use]
    pub fn new(space: &Space) -> Self {
        let Sampling::Refine { seed, .. } = space.spec().sampling else {
            return Self { known: space.num_points(), refinement: None };
        };
        let (count, taken) = (space.num_points(), HashSet::new());
        let refinement = Refinement { count, seed, begun: 0, last: vec![], taken, drawn: 0 };
        let mut rounds = Self { known: 0, refinement: Some(refinement) };
        rounds.go_on(space, &[]);
        rounds
    }

    /// Rounds of a sweep that is partly done; `None` if the progress doesn't fit them.
    #[must_use]
    pub fn resume(space: &Space, progress: &Progress) -> Option<Self> {
        let mut rounds = Self::new(space);
        for starts in progress.rounds() {
            let fit = starts.len() <= MAX_STARTS && starts.iter().all(|at| *at < space.size());
            if !fit || rounds.known == space.num_points() || !progress.has(&(0..rounds.known)) {
                return None;
            }
            rounds.go_on(space, starts);
        }
        progress.done().all(|places| places.end <= rounds.known).then_some(rounds)
    }

    /// Places whose designs are known: those below this.
    #[must_use]
    pub const fn known(&self) -> u64 {
        self.known
    }

    /// Places with their designs; `None` if these aren't known yet, or are of an earlier round.
    #[must_use]
    pub fn batch(&self, places: Range<u64>) -> Option<Batch> {
        let picked = match &self.refinement {
            None => None,
            Some(refinement) => {
                let start = self.known - refinement.last.len() as u64;
                let at = |place: u64| place.checked_sub(start).map(|place| place as usize);
                Some(refinement.last.get(at(places.start)?..at(places.end)?)?.to_vec())
            }
        };
        (places.end <= self.known).then_some(Batch { places, picked })
    }

    /// Begins the next round when all that is known is done; says whether it did.
    pub fn advance(&mut self, space: &Space, progress: &mut Progress) -> bool {
        if self.known == space.num_points() || progress.num_points() < self.known {
            return false;
        }
        let starts = starts(space, progress.summary());
        self.go_on(space, &starts);
        progress.begin(starts);
        true
    }

    /// One more round, from these designs.
    fn go_on(&mut self, space: &Space, starts: &[u64]) {
        let Some(refinement) = &mut self.refinement else { return };
        let end = refinement.end();
        refinement.begun += 1;
        refinement.last.clear();
        let most = (end - self.known) as usize;
        refinement.refine(space, starts, most);
        refinement.draw(space, most);
        if end == refinement.count {
            // Nothing more is chosen.
            refinement.taken = HashSet::new();
        }
        self.known = end;
    }
}

impl Refinement {
    /// End of the next round.
    fn end(&self) -> u64 {
        let first = first_round(self.count);
        let rest = self.count - first;
        first + rest * self.begun / MAX_ROUNDS.min(rest).max(1)
    }

    /// Takes designs at random until there are `most`.
    fn draw(&mut self, space: &Space, most: usize) {
        while self.last.len() < most && self.drawn < space.size() {
            let index = permuted(self.drawn, space.size(), self.seed);
            self.drawn += 1;
            if self.taken.insert(index) {
                self.last.push(index);
            }
        }
    }

    /// Takes what is near these designs, as many of each as there are, up to `most` in all.
    fn refine(&mut self, space: &Space, starts: &[u64], most: usize) {
        let mut point = Point::new(space);
        let mut all: Vec<_> =
            starts.iter().map(|start| Changes::new(space, *start, self.seed)).collect();
        while self.last.len() < most && !all.is_empty() {
            all.retain_mut(|changes| {
                if self.last.len() >= most {
                    return false;
                }
                let next = changes.find(|index| {
                    !self.taken.contains(index) && {
                        point.go_to(*index);
                        point.failed().is_none()
                    }
                });
                self.last.extend(next);
                self.taken.extend(next);
                next.is_some()
            });
        }
    }
}

/// The designs that differ from one in one knob, in random order; then those in two.
struct Changes {
    start: u64,
    seed: u64,
    moves: Vec<Move>,
    tries: u64,
}

/// Another value of one knob.
#[derive(Clone, Copy)]
struct Move {
    axis: usize,
    /// Amount added to the index; `down` is subtracted from it.
    up: u64,
    down: u64,
}

impl Changes {
    fn new(space: &Space, start: u64, seed: u64) -> Self {
        let mut moves = Vec::new();
        for (axis, (digit, radix, block)) in space.coordinates(start).enumerate() {
            let steps: Vec<u64> = if radix <= MAX_ENUMERATED_VALUES {
                (1..radix).collect()
            } else {
                (0..64).map(|bit| 1 << bit).take_while(|by| *by < radix).collect()
            };
            for by in steps {
                if digit + by < radix {
                    moves.push(Move { axis, up: by * block, down: 0 });
                }
                if by <= digit {
                    moves.push(Move { axis, up: 0, down: by * block });
                }
            }
        }
        Self { start, seed: mix(seed ^ mix(start)), moves, tries: 0 }
    }
}

impl Iterator for Changes {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let count = self.moves.len() as u64;
        loop {
            let place = self.tries;
            if place >= MAX_TRIES || place >= count + count * count {
                return None;
            }
            self.tries += 1;
            let Some(place) = place.checked_sub(count) else {
                let one = self.moves[permuted(place, count, self.seed) as usize];
                return Some(self.start + one.up - one.down);
            };
            let pair = permuted(place, count * count, self.seed);
            let (one, other) =
                (self.moves[(pair / count) as usize], self.moves[(pair % count) as usize]);
            // The other order is the same design, and two moves of one knob are none or one.
            if one.axis < other.axis {
                return Some(self.start + one.up + other.up - one.down - other.down);
            }
        }
    }
}

/// First design of each value among the best of an objective. The others are its twins, alike but
/// for a knob that does nothing, as what to recompute where nothing is recomputed, or differ in
/// what this objective doesn't see.
fn distinct((column, rows): (usize, &[Row])) -> Vec<&Row> {
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.dedup_by_key(|row| row.values[column].to_bits());
    rows
}

/// The designs that the next round starts from: the best of each objective, some of the front, and
/// the best with a value of some knob, so that it doesn't stay in one corner.
fn starts(space: &Space, summary: &Summary) -> Vec<u64> {
    let tops: Vec<Vec<&Row>> = summary.top().enumerate().map(distinct).collect();
    let best = (0..SEEDS_PER_OBJECTIVE)
        .flat_map(|rank| tops.iter().filter_map(move |top| top.get(rank).copied()));
    let mut front: Vec<&Row> = summary.front().iter().collect();
    front.sort_by(|one, other| {
        one.values[0].total_cmp(&other.values[0]).then(one.index.cmp(&other.index))
    });
    front.dedup_by_key(|row| row.values[0].to_bits());
    let stride = front.len().div_ceil(FRONT_SEEDS).max(1);
    let front = front.into_iter().step_by(stride);
    let goal = space.spec().objectives[0].goal;
    let mut values: Vec<_> =
        summary.marginals.iter().flatten().filter_map(|marginal| marginal.best).collect();
    values.sort_by(|one, other| one.order(other, goal));
    // One design is the best with several values, and so are its twins.
    values.dedup_by_key(|best| best.value.to_bits());
    let values = values.into_iter().take(VALUE_SEEDS).map(|best| best.index);
    let mut starts = Vec::new();
    for index in best.chain(front).map(|row| row.index).chain(values) {
        if !starts.contains(&index) {
            starts.push(index);
        }
    }
    starts.truncate(MAX_STARTS);
    starts
}
