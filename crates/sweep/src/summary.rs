//! What is kept of designs: it merges in any order, in any grouping, to the same bits.
//!
//! Counts and sums are whole numbers, the best of several is the better one and of equals the one
//! with the lower index, and the random sample takes the designs whose index has the smallest hash.
//! So it doesn't matter who evaluated which range, in what order, or how often it was tried.

mod row;
pub(crate) mod front;
mod best;
mod pairs;
mod reasons;
mod rows;

use std::collections::BTreeMap;

use model::design::link;
use model::ground::pareto;
use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;
use crate::space::Space;
use crate::spec::{Goal, Spec};
pub use best::Best;
use front::Front;
use pairs::Cells;
pub use pairs::{Cell, Pair, bin_of, bins, pairs};
use reasons::Reasons;
pub use row::Row;
use rows::{Sample, Top};

/// The best of the designs that fit for certain: what stays where the simulation rules out all
/// that are near the limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Certain {
    /// For each objective the best designs, best first.
    top: Vec<Top>,
    front: Front,
}

/// Statistics of one value of one axis, over all designs that have it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Marginal {
    /// Designs that the model has an estimate for.
    pub legal: u64,
    /// Designs that keep all constraints.
    pub feasible: u64,
    /// Sum of the first objective over the feasible ones, in units of 2^-32.
    #[serde(with = "digits")]
    sum: i128,
    /// The best of the feasible ones.
    pub best: Option<Best>,
}

impl Marginal {
    /// Mean of the first objective over the feasible designs.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.feasible > 0).then(|| self.sum as f64 / UNIT / self.feasible as f64)
    }
}

/// A whole number as text: JSON's numbers end at 64 bits in most readers.
mod digits {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(number: &i128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i128, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

/// Sums are whole numbers of this fraction: additions in any order give the same.
const UNIT: f64 = 4_294_967_296.0;

/// A number as a whole number of units; what is too large for 2^40 such sums counts as less.
fn units(value: f64) -> i128 {
    const MAX_UNITS: f64 = 36_028_797_018_963_968.0;
    (value.clamp(-MAX_UNITS, MAX_UNITS) * UNIT).round() as i128
}

/// Summary of a range of places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Places.
    pub points: u64,
    /// Designs that the model has an estimate for.
    pub legal: u64,
    /// Designs that keep all constraints, too.
    pub feasible: u64,
    /// Feasible designs that are near the limit of their memory by a closed form.
    #[serde(default)]
    pub near_limit: u64,
    /// Number of the other designs that each reason rules out.
    pub reasons: BTreeMap<String, u64>,
    /// While designs are added: those that aren't among these reasons yet.
    #[serde(skip)]
    latest: Reasons,
    /// For each objective the best designs, best first.
    top: Vec<Top>,
    /// Designs that none is better than in every objective.
    front: Front,
    /// Best designs among those that fit for certain; `None` if no design is by a closed form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    certain: Option<Certain>,
    /// A random sample of the feasible designs.
    sample: Sample,
    /// Statistics of each value of each axis.
    pub marginals: Vec<Vec<Marginal>>,
    /// For each objective how many feasible designs have a value in a bin; 16 bins to a power of
    /// two.
    bins: Vec<BTreeMap<u16, u64>>,
    /// For each pair of axes what is in its cells.
    cells: Cells,
}

impl Summary {
    /// Nothing is kept yet.
    #[must_use]
    pub fn new(space: &Space) -> Self {
        let objectives = space.spec().objectives.len();
        let axes = space.axes().iter();
        Self {
            points: 0,
            legal: 0,
            feasible: 0,
            near_limit: 0,
            reasons: BTreeMap::new(),
            latest: Reasons::default(),
            top: vec![Top::default(); objectives],
            front: Front::default(),
            certain: space.spec().has_closed_forms().then(|| Certain {
                top: vec![Top::default(); objectives],
                front: Front::default(),
            }),
            sample: Sample::default(),
            marginals: axes.map(|axis| vec![Marginal::default(); axis.values.len()]).collect(),
            bins: vec![BTreeMap::new(); objectives],
            cells: Cells::new(space),
        }
    }

    /// For each objective the best designs, best first: of a sweep by closed forms at least as many
    /// as are simulated at its end.
    pub fn top(&self) -> impl Iterator<Item = &[Row]> {
        self.top.iter().map(|top| top.rows.as_slice())
    }

    /// Designs that none is better than in every objective, by index.
    #[must_use]
    pub fn front(&self) -> &[Row] {
        &self.front.rows
    }

    /// The best designs of each objective and the front, of designs that fit for certain alone.
    pub(crate) fn certain(&self) -> (impl Iterator<Item = &[Row]>, &[Row]) {
        let top = self.certain.iter().flat_map(|certain| &certain.top);
        let front = self.certain.as_ref().map_or(&[][..], |certain| &certain.front.rows);
        (top.map(|top| top.rows.as_slice()), front)
    }

    /// A space that knows the strategies which were found for the designs that are kept:
    /// [`Space::design`] has them.
    #[must_use]
    pub fn known_in(&self, space: &Space) -> Space {
        let links = self.kept().filter_map(|row| Some((row.index, row.found.clone()?)));
        space.knowing(links.collect())
    }

    /// Every design that is kept, some of them more than once.
    fn kept(&self) -> impl Iterator<Item = &Row> {
        self.top().flatten().chain(self.front()).chain(self.sample())
    }

    /// A random sample of the feasible designs, by index.
    #[must_use]
    pub fn sample(&self) -> &[Row] {
        &self.sample.rows
    }

    /// The value that this share of the feasible designs is not above in an objective, to 6 %: the
    /// lower end of its bin.
    #[must_use]
    pub fn quantile(&self, objective: usize, share: f64) -> Option<f64> {
        let bins = self.bins.get(objective)?;
        let total: u64 = bins.values().sum();
        let rank = (share * total as f64).ceil().max(1.0) as u64;
        let mut passed = 0;
        let bin = bins.iter().find(|(_, count)| {
            passed += **count;
            passed >= rank
        });
        bin.map(|(bin, _)| pareto::value_of(u64::from(*bin) << BIN_SHIFT))
    }

    /// The cells of a pair of axes that have a feasible design, with the bins of both axes.
    pub fn cells<'a>(&'a self, pair: &Pair) -> impl Iterator<Item = ([usize; 2], Cell)> + 'a {
        self.cells.for_pair(pair)
    }

    /// Adds what became of designs.
    pub(crate) fn add(&mut self, space: &Space, outcome: &Outcome<'_>) {
        match *outcome {
            Outcome::RuledOut { points, reason } => {
                self.points += points;
                self.latest.count(reason, points);
            }
            Outcome::Legal { index, coordinates, values, broken, near_limit, found } => {
                self.points += 1;
                self.legal += 1;
                for (values, digit) in self.marginals.iter_mut().zip(coordinates) {
                    values[*digit].legal += 1;
                }
                match broken {
                    Some(reason) => self.latest.count(reason, 1),
                    None => {
                        let found = found.map(link::encode);
                        let row = Row { index, values: values.to_vec(), near_limit, found };
                        self.keep(space, coordinates, &row);
                    }
                }
            }
        }
    }

    /// Adds a feasible design.
    fn keep(&mut self, space: &Space, coordinates: &[usize], row: &Row) {
        let (spec, index, values) = (space.spec(), row.index, &row.values);
        self.feasible += 1;
        self.near_limit += u64::from(row.near_limit);
        let best = Best { value: values[0], index };
        let sum = units(values[0]);
        let goal = spec.objectives[0].goal;
        for (marginals, digit) in self.marginals.iter_mut().zip(coordinates) {
            let marginal = &mut marginals[*digit];
            marginal.feasible += 1;
            marginal.sum += sum;
            marginal.best = better(goal, marginal.best, Some(best));
        }
        self.cells.add(space, goal, coordinates, best);
        let most = spec.kept_best();
        for (objective, one) in spec.objectives.iter().enumerate() {
            *self.bins[objective].entry(bin(values[objective])).or_default() += 1;
            self.top[objective].add(objective, one.goal, most, row);
        }
        self.front.add(spec, row);
        self.sample.add(spec.sample as usize, row);
        if let Some(certain) = self.certain.as_mut().filter(|_| !row.near_limit) {
            for (objective, one) in spec.objectives.iter().enumerate() {
                certain.top[objective].add(objective, one.goal, most, row);
            }
            certain.front.add(spec, row);
        }
    }

    /// The summary with all counts and with rows in their final order.
    pub(crate) fn settled(mut self, space: &Space) -> Self {
        self.latest.drain_to(&mut self.reasons);
        self.front.sort();
        self.certain.iter_mut().for_each(|certain| certain.front.sort());
        self.sample.keep(space.spec().sample as usize);
        self
    }

    /// Adds what is kept of other places.
    pub fn merge(&mut self, space: &Space, other: Self) {
        let spec = space.spec();
        self.points += other.points;
        self.legal += other.legal;
        self.feasible += other.feasible;
        self.near_limit += other.near_limit;
        for (reason, points) in other.reasons {
            *self.reasons.entry(reason).or_default() += points;
        }
        let goal = spec.objectives[0].goal;
        for (ours, theirs) in
            self.marginals.iter_mut().flatten().zip(other.marginals.iter().flatten())
        {
            ours.legal += theirs.legal;
            ours.feasible += theirs.feasible;
            ours.sum += theirs.sum;
            ours.best = better(goal, ours.best, theirs.best);
        }
        self.cells.merge(goal, &other.cells);
        for (ours, theirs) in self.bins.iter_mut().zip(other.bins) {
            theirs.into_iter().for_each(|(bin, count)| *ours.entry(bin).or_default() += count);
        }
        for (objective, (ours, theirs)) in self.top.iter_mut().zip(other.top).enumerate() {
            let goal = spec.objectives[objective].goal;
            for row in theirs.rows {
                ours.add(objective, goal, spec.kept_best(), &row);
            }
        }
        for row in other.front.rows {
            self.front.add(spec, &row);
        }
        self.front.sort();
        if let (Some(ours), Some(theirs)) = (&mut self.certain, other.certain) {
            ours.merge(spec, theirs);
        }
        for row in other.sample.rows {
            self.sample.add(spec.sample as usize, &row);
        }
        self.sample.keep(spec.sample as usize);
    }

    /// Whether it has the shape of that space's summaries.
    pub(crate) fn suits(&self, space: &Space) -> bool {
        let spec = space.spec();
        let columns = spec.columns.len();
        let tops = self.top.iter().flat_map(|top| &top.rows);
        let (certain, certain_front) = self.certain();
        let mut rows = tops
            .chain(&self.front.rows)
            .chain(&self.sample.rows)
            .chain(certain.flatten())
            .chain(certain_front);
        let axes = space.axes();
        let certain_tops = self.certain.as_ref().map(|certain| certain.top.len());
        self.top.len() == spec.objectives.len()
            && certain_tops.is_none_or(|tops| tops == spec.objectives.len())
            && self.bins.len() == spec.objectives.len()
            && self.marginals.len() == axes.len()
            && self.marginals.iter().zip(axes).all(|(ours, axis)| ours.len() == axis.values.len())
            && self.cells.suits(space)
            && rows.all(|row| row.index < space.size() && row.values.len() == columns)
            && self.legal.checked_add(self.feasible).is_some()
    }
}

impl Certain {
    fn merge(&mut self, spec: &Spec, other: Self) {
        for (objective, (ours, theirs)) in self.top.iter_mut().zip(other.top).enumerate() {
            let goal = spec.objectives[objective].goal;
            theirs.rows.iter().for_each(|row| ours.add(objective, goal, spec.kept_best(), row));
        }
        other.front.rows.iter().for_each(|row| self.front.add(spec, row));
        self.front.sort();
    }
}

/// Bits of a number that a bin leaves out: sign, exponent and four bits of the fraction stay.
const BIN_SHIFT: u32 = 48;

fn bin(value: f64) -> u16 {
    (pareto::ordered(value) >> BIN_SHIFT) as u16
}

/// The better of two; of equals the one with the lower index.
fn better(goal: Goal, one: Option<Best>, other: Option<Best>) -> Option<Best> {
    match (one, other) {
        (Some(a), Some(b)) => {
            Some(if front::precedes(goal, (b.value, b.index), (a.value, a.index)) { b } else { a })
        }
        (one, None) => one,
        (None, other) => other,
    }
}
