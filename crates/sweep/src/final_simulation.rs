//! Closing of a finished sweep: closed forms are checked against the simulation where it counts,
//! and where nothing is feasible it reports what would help.
//!
//! It follows from what is kept alone, in whatever way that was found.

use std::collections::BTreeMap;

use model::ground::choice::Timing;
use model::{Estimator, is_near_limit};
use serde::{Deserialize, Serialize};

use crate::evaluate::{constraint_names, judged};
use crate::evaluate_point::{Evaluation, is_closed};
use crate::progress::Progress;
use crate::relaxation::{Relaxation, relaxations};
use crate::space::Space;
use crate::spec::MAX_BEST;
use crate::summary::Row;
use crate::summary::front::{Front, precedes};

/// Designs of the front that are simulated, at most: as many again of those that fit for certain.
/// A longer front is thinned out evenly along its first objective.
pub const MAX_FRONT: usize = 200;

/// Final simulation of a finished sweep: its best designs, simulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FinalSimulation {
    /// The designs by closed forms that were simulated, by index.
    pub simulated: Vec<Simulated>,
    /// Designs of the front that were left out, as it is longer than [`MAX_FRONT`].
    #[serde(default)]
    pub left_out: u64,
    /// Fixed knobs worth freeing, where nothing is feasible: most feasible designs first.
    #[serde(default, rename = "freed")]
    pub relaxations: Vec<Relaxation>,
}

/// A design by the closed form and by the simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simulated {
    /// Its index in the space.
    pub index: u64,
    /// The columns by the closed form.
    pub closed_form: Vec<f64>,
    /// The columns by the simulation; the closed form's where there are too many tasks for one.
    pub values: Vec<f64>,
    /// Verdict of the simulation.
    pub standing: Standing,
}

/// Verdict on a design's constraints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It keeps all of them by the simulation.
    Keeps,
    /// By the simulation it breaks this one.
    Breaks(String),
    /// It has too many tasks to be simulated, and fits by its closed form for certain.
    Certain,
    /// It has too many tasks to be simulated, and its closed form is too near the limit.
    Undecided,
}

impl Simulated {
    /// Whether it keeps all constraints, as far as anything can say.
    #[must_use]
    pub const fn is_feasible(&self) -> bool {
        matches!(self.standing, Standing::Keeps | Standing::Certain)
    }

    /// Whether its tasks were simulated.
    #[must_use]
    pub const fn is_simulated(&self) -> bool {
        matches!(self.standing, Standing::Keeps | Standing::Breaks(_))
    }
}

impl FinalSimulation {
    /// A design that was simulated.
    #[must_use]
    pub fn find(&self, index: u64) -> Option<&Simulated> {
        let place = self.simulated.binary_search_by_key(&index, |one| one.index).ok()?;
        self.simulated.get(place)
    }

    /// Whether this can have come from that space.
    pub(crate) fn suits(&self, space: &Space, columns: usize) -> bool {
        self.simulated.windows(2).all(|pair| pair[0].index < pair[1].index)
            && self.simulated.iter().all(|one| {
                let lengths = [one.closed_form.len(), one.values.len()];
                one.index < space.size() && lengths == [columns; 2]
            })
    }

    /// Designs that none of the simulated ones is better than in every objective, by index.
    #[must_use]
    pub fn front(&self, space: &Space) -> Vec<&Simulated> {
        let mut front = Front::default();
        self.feasible().for_each(|one| front.add(space.spec(), &one.row()));
        front.sort();
        front.rows.iter().filter_map(|row| self.find(row.index)).collect()
    }

    /// The best simulated designs of an objective, best first, as many as the spec asks for.
    #[must_use]
    pub fn best(&self, space: &Space, objective: usize) -> Vec<&Simulated> {
        let mut best: Vec<&Simulated> = self.feasible().collect();
        if let Some(one) = space.spec().objectives.get(objective) {
            let rank = |one: &Simulated| (one.values[objective], one.index);
            best.sort_by(|a, b| match precedes(one.goal, rank(a), rank(b)) {
                true => std::cmp::Ordering::Less,
                false if a.index == b.index => std::cmp::Ordering::Equal,
                false => std::cmp::Ordering::Greater,
            });
        }
        best.truncate(space.spec().top as usize);
        best
    }

    /// The simulated designs that keep no constraint any more, or can't be decided.
    pub fn rejected(&self) -> impl Iterator<Item = &Simulated> {
        self.simulated.iter().filter(|one| !one.is_feasible())
    }

    fn feasible(&self) -> impl Iterator<Item = &Simulated> {
        self.simulated.iter().filter(|one| one.is_feasible())
    }
}

impl Simulated {
    fn row(&self) -> Row {
        Row { index: self.index, values: self.values.clone(), near_limit: false, found: None }
    }
}

/// Looks at a sweep of which all is done once more: simulates the front and the best, and finds
/// out what would help where nothing is feasible.
#[must_use]
pub fn final_simulation(space: &Space, progress: &Progress) -> FinalSimulation {
    let summary = progress.summary();
    let mut last = FinalSimulation::default();
    if space.spec().has_closed_forms() {
        let (candidates, left_out) = candidates(space, progress);
        last.simulated = simulated(space, &candidates);
        last.left_out = left_out;
    }
    let all_fail = !last.simulated.is_empty() && last.feasible().next().is_none();
    // Where strategies are found none of them is fixed.
    if (summary.feasible == 0 || all_fail) && space.spec().find.is_none() {
        last.relaxations = relaxations(space);
    }
    last
}

/// The designs by closed forms that are simulated, by index, and how many of the front aren't.
fn candidates(space: &Space, progress: &Progress) -> (BTreeMap<u64, Row>, u64) {
    let summary = progress.summary();
    let (certain, certain_front) = summary.certain();
    let best = summary.top().chain(certain).flat_map(|top| &top[..top.len().min(MAX_BEST)]);
    let fronts = [summary.front(), certain_front].map(|front| thinned(space, front));
    let left_out = summary.front().len() - fronts[0].len();
    let rows = best.chain(fronts.into_iter().flatten());
    let rows =
        rows.filter(|row| is_closed(&space.design(row.index))).map(|row| (row.index, row.clone()));
    (rows.collect(), left_out as u64)
}

/// At most [`MAX_FRONT`] of a front, evenly along its first objective, both ends among them.
fn thinned<'a>(space: &Space, front: &'a [Row]) -> Vec<&'a Row> {
    let mut rows: Vec<&Row> = front.iter().collect();
    if rows.len() <= MAX_FRONT {
        return rows;
    }
    let goal = space.spec().objectives[0].goal;
    let rank = |row: &Row| (row.values[0], row.index);
    rows.sort_by(|a, b| match precedes(goal, rank(a), rank(b)) {
        true => std::cmp::Ordering::Less,
        false => std::cmp::Ordering::Greater,
    });
    let last = rows.len() - 1;
    (0..MAX_FRONT).map(|place| rows[place * last / (MAX_FRONT - 1)]).collect()
}

/// Simulates every task of these designs.
fn simulated(space: &Space, rows: &BTreeMap<u64, Row>) -> Vec<Simulated> {
    let names = constraint_names(space);
    let mut estimator = Estimator::new();
    let one = |row: &Row| {
        let mut design = space.design(row.index);
        design.schedule.timing = Timing::Simulated;
        // No rule asks for closed forms: what is legal by them is legal.
        let (plan, estimate) = estimator.estimate(&design).ok()?;
        let mut values = row.values.clone();
        let evaluation = Evaluation::trained(space, &design, estimate.metrics);
        let broken = judged(space, &names, &evaluation, &mut values).unwrap_or_else(Some);
        let standing = match (broken, estimate.timing) {
            (Some(constraint), _) => Standing::Breaks(constraint.to_owned()),
            (None, Timing::Simulated) => Standing::Keeps,
            (None, Timing::ClosedForm) if is_near_limit(&plan, &estimate) => Standing::Undecided,
            (None, Timing::ClosedForm) => Standing::Certain,
        };
        Some(Simulated { index: row.index, closed_form: row.values.clone(), values, standing })
    };
    rows.values().filter_map(one).collect()
}
