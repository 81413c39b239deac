//! The constants that fit runs best, as far as the runs tell them.
//!
//! Unknown are logarithms of constants over the family's values, each with a prior: of the rate
//! inside steps how far sources that no constant was fitted on were off, of the others how far the
//! software has moved in two years ([`Constant::prior`]). A run counts within what the model leaves
//! between two layouts of one source ([`PAIR_SPREAD`]). So one run moves a constant by the share
//! that it is worth, and what no run tells stays the family's. Runs of one design count as one.
//!
//! Which constants are moved is decided by runs that are left out: the rate inside steps first,
//! then, one at a time, the constant that lowers their error most. There are at least twice as many
//! designs as constants, and one more. Nothing is random: the same runs give the same constants.
//!
//! [`Constant::prior`]: super::constant::Constant::prior

use std::collections::BTreeMap;

use model::catalogue::calibration::{PAIR_SPREAD, SPREADS};
use model::design::KnobId;

use super::case::{Case, Values};
use super::constant::{CONSTANTS, COUNT, IN_RUN, SYNCS};
use super::linear::{Normal, Solution};

/// Designs from which on errors of runs that are left out decide.
const MIN_LEFT_OUT: usize = 3;

/// Share of its prior's variance that runs must take off a constant before it is moved.
const MIN_TOLD: f64 = 0.5;

/// Share of its prior's variance that runs must take off the rate inside steps, which comes first:
/// where the host or the network is the bottleneck of a step, runs say nothing of kernels.
const MIN_TOLD_IN_RUN: f64 = 0.1;

/// Share of the cost of runs that are left out that a further constant must leave at most; the rate
/// inside steps needs only lower it, as its prior says more of it.
const MAX_LEFT: f64 = 0.9;

/// Normal quantile of the quarter of the ends of a range of one half.
const HALF: f64 = 0.674_5;

/// Times that the slopes are taken anew at the best values.
const ROUNDS: usize = 4;

/// Times that a step is halved, at most.
const HALVINGS: i32 = 6;

/// Step of a logarithm for a slope.
const STEP: f64 = 0.05;

/// Constants that fit runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Values of the moved constants.
    pub(crate) values: Values,
    /// Values in effect without a fit.
    pub(crate) start: [f64; COUNT],
    /// Standard deviation of the logarithm that is left of each constant.
    pub(crate) deviations: [f64; COUNT],
    /// Share of each prior's variance that the runs take away, the moved constants being open too.
    pub(crate) told: [f64; COUNT],
    /// ln(predicted / measured) of each case by constants that were fitted without its design;
    /// `None` where there are too few.
    pub(crate) left_out: Vec<Option<f64>>,
}

/// A case in the surroundings of some values.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// ln(predicted / measured).
    off: f64,
    /// Change of `off` from setting a knob to the value in effect.
    jumps: [f64; COUNT],
    /// Slope of `off` along each constant's logarithm.
    slopes: [f64; COUNT],
    /// 1 / variance, shared with other rows of its design.
    weight: f64,
    design: usize,
}

/// Inputs of a fit: cases, start, priors and bounds.
struct Problem<'a> {
    cases: &'a [Case],
    designs: Vec<usize>,
    count: usize,
    start: [f64; COUNT],
    priors: [f64; COUNT],
    bounds: [[f64; 2]; COUNT],
    free: Vec<usize>,
}

/// Cost of a log-ratio: squared up to a tenth, from there on linear.
fn cost(off: f64) -> f64 {
    (1.0 + (off / 0.1).powi(2)).sqrt() - 1.0
}

/// The constants that fit these cases best.
#[must_use]
pub fn fit(cases: &[Case]) -> Fit {
    let problem = Problem::new(cases);
    let at_start = problem.rows_at_start();
    let mut active = problem.selected(&at_start);
    let (mut theta, mut rows) = problem.refined(&active);
    // A constant at its bound makes up for something that the model misses.
    while let Some(place) = problem.at_bound(&active, &theta) {
        active.remove(place);
        (theta, rows) = problem.refined(&active);
    }
    let solution = problem.solved(&rows, &active, None);
    let mut deviations = problem.priors;
    for (place, constant) in active.iter().enumerate() {
        deviations[*constant] = solution.covariance[place][place].max(0.0).sqrt();
    }
    let values = problem.values(&active, &theta).map(|value| value.map(rounded));
    Fit {
        values,
        start: problem.start,
        deviations,
        told: problem.told(&at_start, &active),
        left_out: problem.left_out(&rows, &active),
    }
}

/// A value to three digits, as it travels.
pub(crate) fn rounded(value: f64) -> f64 {
    let digits = 10_f64.powf(2.0 - value.abs().log10().floor());
    if digits.is_finite() && digits > 0.0 { (value * digits).round() / digits } else { value }
}

impl Fit {
    /// ln(predicted / measured) of a run's step time by these constants.
    #[must_use]
    pub fn log_ratio(&self, case: &Case) -> f64 {
        case.log_ratio(&self.values)
    }

    /// The knobs that were moved, as `section.name=value`.
    #[must_use]
    pub fn knobs(&self) -> Vec<String> {
        let moved = CONSTANTS.iter().zip(self.values);
        let moved = moved.filter_map(|(constant, value)| Some((constant, value?)));
        moved.map(|(constant, value)| format!("{}={value}", constant.knob.id())).collect()
    }
}

impl<'a> Problem<'a> {
    fn new(cases: &'a [Case]) -> Self {
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut designs = vec![];
        for case in cases {
            let next = known.len();
            designs.push(*known.entry(case.key()).or_insert(next));
        }
        let mut priors = [0.0; COUNT];
        let mut start = [0.0; COUNT];
        for (index, constant) in CONSTANTS.iter().enumerate() {
            priors[index] = constant.prior();
            let logs = cases.iter().map(|case| in_effect(case, index).ln());
            start[index] = (logs.sum::<f64>() / cases.len().max(1) as f64).exp();
        }
        if let Some(case) = cases.first() {
            priors[IN_RUN] = spread_of(case);
        }
        // The frequency of read-backs can't be separated from the time of each.
        let is_free =
            |index: &usize| *index != SYNCS && !cases.iter().any(|case| case.sets(*index));
        let free = (0..COUNT).filter(is_free).collect();
        let bounds = core::array::from_fn(|index| {
            let [least, most] = CONSTANTS[index].bounds();
            [least, most.min(best_known(cases, index)).max(start[index])]
        });
        Self { cases, count: known.len(), designs, start, priors, bounds, free }
    }

    /// The knobs' values where these constants are moved by these logarithms.
    fn values(&self, active: &[usize], theta: &[f64]) -> Values {
        let common = active.iter().position(|index| *index == IN_RUN);
        let common = common.and_then(|place| theta.get(place)).copied().unwrap_or(0.0);
        let mut values = [None; COUNT];
        for (index, moved) in active.iter().zip(theta) {
            let constant = &CONSTANTS[*index];
            let follows = if constant.follows_in_run { common } else { 0.0 };
            let [least, most] = self.bounds[*index];
            let value = self.start[*index] * (moved + follows).exp();
            values[*index] = Some(value.clamp(least, most));
        }
        values
    }

    /// The place of a constant beside the rate inside steps that is at its bound.
    fn at_bound(&self, active: &[usize], theta: &[f64]) -> Option<usize> {
        let values = self.values(active, theta);
        active.iter().position(|index| {
            let [least, most] = self.bounds[*index];
            let value = values[*index].unwrap_or(self.start[*index]);
            *index != IN_RUN && (value <= least * 1.001 || value >= most / 1.001)
        })
    }

    /// 1 / variance of each case, shared by those of one design.
    fn weight(&self, case: usize) -> f64 {
        let same = self.designs.iter().filter(|design| **design == self.designs[case]).count();
        let between = PAIR_SPREAD.half[1] / HALF / core::f64::consts::SQRT_2;
        let Case { spread, steps, .. } = &self.cases[case];
        let within = spread * spread / (*steps).max(1) as f64;
        1.0 / ((between * between + within) * same as f64)
    }

    /// The cases where nothing is moved yet, with the slopes of all constants.
    fn rows_at_start(&self) -> Vec<Row> {
        let row = |(index, case): (usize, &Case)| {
            let none = [None; COUNT];
            let before = case.quick_log_time(&none);
            let (mut jumps, mut slopes) = ([0.0; COUNT], [0.0; COUNT]);
            for constant in &self.free {
                let set = |by: f64| case.quick_log_time(&self.values(&[*constant], &[by]));
                let at = set(0.0);
                jumps[*constant] = at - before;
                // Downwards, where there is room for every rate.
                slopes[*constant] = (at - set(-STEP)) / STEP;
            }
            Row {
                off: case.log_ratio(&none),
                jumps,
                slopes,
                weight: self.weight(index),
                design: self.designs[index],
            }
        };
        self.cases.iter().enumerate().map(row).collect()
    }

    /// The logarithms of these constants that fit the rows best, without those of one design.
    fn solved(&self, rows: &[Row], active: &[usize], without: Option<usize>) -> Solution {
        let priors: Vec<[f64; 2]> = active.iter().map(|it| [0.0, self.priors[*it]]).collect();
        let mut solution = Solution::default();
        // A run that the model can't describe counts less.
        for round in 0..4 {
            let mut normal = Normal::new(&priors);
            for row in rows.iter().filter(|row| Some(row.design) != without) {
                let slopes: Vec<f64> = active.iter().map(|it| row.slopes[*it]).collect();
                let left = if round == 0 { row.off } else { off(row, active, &solution) };
                let robust = 1.0 / (1.0 + (left / 0.1).powi(2)).sqrt();
                let jumps: f64 = active.iter().map(|it| row.jumps[*it]).sum();
                normal.add(&slopes, -(row.off + jumps), row.weight * robust);
            }
            solution = normal.solve();
        }
        solution
    }

    /// Mean cost of the designs, each by constants that were fitted without it.
    fn left_out_cost(&self, rows: &[Row], active: &[usize]) -> f64 {
        let of = |design: usize| {
            let solution = self.solved(rows, active, Some(design));
            let own = rows.iter().filter(|row| row.design == design);
            let costs: Vec<f64> = own.map(|row| cost(off(row, active, &solution))).collect();
            costs.iter().sum::<f64>() / costs.len().max(1) as f64
        };
        (0..self.count).map(of).sum::<f64>() / self.count.max(1) as f64
    }

    /// The constants that the runs are enough to move.
    fn selected(&self, rows: &[Row]) -> Vec<usize> {
        let mut active = vec![];
        if !self.free.contains(&IN_RUN) || rows.is_empty() {
            return active;
        }
        if self.told(rows, &[IN_RUN])[IN_RUN] < MIN_TOLD_IN_RUN {
            return active;
        }
        if self.count < MIN_LEFT_OUT {
            return vec![IN_RUN];
        }
        let mut left = self.left_out_cost(rows, &[IN_RUN]);
        if left >= self.left_out_cost(rows, &[]) {
            return active;
        }
        active.push(IN_RUN);
        while self.count > 2 * (active.len() + 1) {
            let further = self.free.iter().filter(|index| !active.contains(index));
            let tried = further.filter_map(|index| {
                let with: Vec<usize> = active.iter().copied().chain([*index]).collect();
                let solution = self.solved(rows, &with, None);
                let place = active.len();
                let told = 1.0 - solution.covariance[place][place] / self.priors[*index].powi(2);
                (told >= MIN_TOLD).then(|| (self.left_out_cost(rows, &with), *index))
            });
            let best = tried.min_by(|one, other| one.0.total_cmp(&other.0));
            match best.filter(|(cost, _)| *cost <= MAX_LEFT * left) {
                Some((cost, index)) => {
                    left = cost;
                    active.push(index);
                }
                None => break,
            }
        }
        active
    }

    /// The logarithms of these constants that fit best, with the rows there: jumps are part of what
    /// they are off.
    ///
    /// A step that makes it worse is halved: what is at its roof doesn't move any more.
    fn refined(&self, active: &[usize]) -> (Vec<f64>, Vec<Row>) {
        let mut theta = vec![0.0; active.len()];
        let mut rows = self.rows_at(active, &theta);
        for _ in 0..ROUNDS {
            let wanted = self.solved(&rows, active, None).values;
            let here = self.loss(&rows, active, &theta);
            let halved = (0..HALVINGS).map(|times| 0.5_f64.powi(times)).find_map(|share| {
                let step = theta.iter().zip(wanted).map(|(at, to)| at + share * (to - at));
                let next: Vec<f64> = step.collect();
                let rows = self.rows_at(active, &next);
                (self.loss(&rows, active, &next) < here).then_some((next, rows))
            });
            match halved {
                Some(next) => (theta, rows) = next,
                None => break,
            }
        }
        (theta, rows)
    }

    /// Loss of the cases' errors and of the constants' distance from their priors, as
    /// [`Problem::solved`] weighs them.
    fn loss(&self, rows: &[Row], active: &[usize], theta: &[f64]) -> f64 {
        let runs = rows.iter().map(|row| {
            let along: f64 = active.iter().zip(theta).map(|(it, by)| row.slopes[*it] * by).sum();
            2.0 * 0.1_f64.powi(2) * row.weight * cost(row.off + along)
        });
        let moved = active.iter().zip(theta).map(|(it, by)| (by / self.priors[*it]).powi(2));
        runs.sum::<f64>() + moved.sum::<f64>()
    }

    /// The cases at some logarithms, as lines through zero of all of them.
    fn rows_at(&self, active: &[usize], theta: &[f64]) -> Vec<Row> {
        let here = self.values(active, theta);
        let row = |(index, case): (usize, &Case)| {
            let at = case.quick_log_time(&here);
            let mut slopes = [0.0; COUNT];
            for (place, constant) in active.iter().enumerate() {
                let mut moved = theta.to_vec();
                moved[place] -= STEP;
                let before = case.quick_log_time(&self.values(active, &moved));
                slopes[*constant] = (at - before) / STEP;
            }
            let along: f64 = active.iter().zip(theta).map(|(it, by)| slopes[*it] * by).sum();
            Row {
                off: case.log_ratio(&here) - along,
                jumps: [0.0; COUNT],
                slopes,
                weight: self.weight(index),
                design: self.designs[index],
            }
        };
        self.cases.iter().enumerate().map(row).collect()
    }

    /// Each case by the model itself with constants that were fitted without its design.
    fn left_out(&self, rows: &[Row], active: &[usize]) -> Vec<Option<f64>> {
        if self.count < MIN_LEFT_OUT {
            return vec![None; self.cases.len()];
        }
        let values: Vec<Values> = (0..self.count)
            .map(|design| {
                let solution = self.solved(rows, active, Some(design));
                self.values(active, &solution.values[..active.len()])
            })
            .collect();
        let of = |(case, design): (&Case, &usize)| Some(case.log_ratio(&values[*design]));
        self.cases.iter().zip(&self.designs).map(of).collect()
    }

    /// Share of each prior's variance that the rows take away, the moved constants being open too.
    fn told(&self, rows: &[Row], active: &[usize]) -> [f64; COUNT] {
        let mut told = [0.0; COUNT];
        for constant in &self.free {
            let place = active.iter().position(|it| it == constant).unwrap_or(active.len());
            let more = Some(*constant).filter(|_| place == active.len());
            let open: Vec<usize> = active.iter().copied().chain(more).collect();
            let left = self.solved(rows, &open, None).covariance[place][place];
            told[*constant] = (1.0 - left / self.priors[*constant].powi(2)).clamp(0.0, 1.0);
        }
        told
    }
}

/// Error of a row, as a logarithm, where constants are moved so.
fn off(row: &Row, active: &[usize], solution: &Solution) -> f64 {
    let moved = active.iter().zip(solution.values);
    row.off + moved.map(|(it, by)| row.jumps[*it] + row.slopes[*it] * by).sum::<f64>()
}

/// Share of the memory bandwidth that the longest streams reach: `ascend-dmi` measures 94 % of the
/// nominal one, casts on Hopper 92 %.
const BEST_STREAM: f64 = 0.94;

/// Upper bound that no kernel measured on these cases' accelerators exceeds; `f64::MAX` if none was
/// measured.
fn best_known(cases: &[Case], constant: usize) -> f64 {
    let rows = cases.iter().map(|case| case.plan().design().cluster.accelerator.row());
    let products = [
        KnobId::gemm_efficiency,
        KnobId::attention_forward_efficiency,
        KnobId::attention_backward_efficiency,
    ];
    let knob = CONSTANTS[constant].knob;
    if products.contains(&knob) {
        rows.map(|row| row.best_gemm_fraction).fold(0.0, f64::max)
    } else if knob == KnobId::vector_bandwidth_share {
        BEST_STREAM
    } else {
        f64::MAX
    }
}

/// Value in effect in a case while nothing is moved.
fn in_effect(case: &Case, constant: usize) -> f64 {
    let plan = case.plan();
    // A dated state's rates are of steps.
    if constant == IN_RUN && plan.design().kernel.software.rates().is_some() {
        return 1.0;
    }
    let value = (CONSTANTS[constant].in_effect)(&plan.rates_in_effect());
    let [least, most] = CONSTANTS[constant].bounds();
    value.clamp(least, most)
}

/// Standard deviation of the log-error of a new source's step times: of its family and kind where
/// the model has ranges of them, else of all families.
fn spread_of(case: &Case) -> f64 {
    let plan = case.plan();
    let (family, kind) =
        (plan.design().cluster.accelerator.row().kernels.family, plan.model_kind());
    let of = |family: &str| SPREADS.iter().find(|it| it.family == family && it.kind == kind);
    let spread = of(family).filter(|it| it.sources >= 4).or_else(|| of(""));
    spread.map_or(CONSTANTS[IN_RUN].prior(), |it| (it.half[1] - it.half[0]) / 2.0 / HALF)
}
