//! Why a cell of two knobs has no feasible design: some designs of it are tried.
//!
//! Which ones follows from the space and the cell alone, so that the answer is always the same.

use std::collections::BTreeMap;

use model::Estimator;

use crate::digest::mix;
use crate::evaluate_point::evaluate_point;
use crate::space::{Point, Space};
use crate::spec::Subject;
use crate::summary::{Pair, bin_of};

/// The most frequent reason among the designs that were tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Infeasibility {
    /// The rule or constraint.
    pub reason: String,
    /// Number of tried designs that break it first.
    pub breaking: u32,
    /// Number of designs tried.
    pub tried: u32,
}

/// Tries this many designs of a cell, at random; `None` if all keep every rule and constraint.
#[must_use]
pub fn infeasibility(
    space: &Space,
    pair: &Pair,
    cell: [usize; 2],
    tries: u32,
) -> Option<Infeasibility> {
    let (mut point, mut estimator) = (Point::new(space), Estimator::new());
    let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
    for number in 0..tries {
        point.go_to(index(space, pair, cell, number)?);
        if let Some(reason) = broken(&mut estimator, space, &mut point) {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    // Of equals the first by name.
    let most = reasons.into_iter().min_by_key(|(_, count)| std::cmp::Reverse(*count));
    most.map(|(reason, breaking)| Infeasibility { reason, breaking, tried: tries })
}

/// The index of a design of the cell; `None` if the cell has no value.
fn index(space: &Space, pair: &Pair, cell: [usize; 2], number: u32) -> Option<u64> {
    let mut index = 0;
    let mut seed = mix(u64::from(number) ^ mix((cell[0] << 32 | cell[1]) as u64));
    for (place, axis) in space.axes().iter().enumerate() {
        let values = axis.values.len();
        seed = mix(seed.wrapping_add(place as u64 + 1));
        let digit = match pair.axes.iter().position(|axis| *axis == place) {
            Some(side) => {
                let inside = |digit: &usize| bin_of(*digit, values) == cell[side];
                let all: Vec<usize> = (0..values).filter(inside).collect();
                *all.get((seed % all.len().max(1) as u64) as usize)?
            }
            None => (seed % values as u64) as usize,
        };
        index = index * values as u64 + digit as u64;
    }
    Some(index)
}

/// Name of the first check, rule or constraint that a design breaks, as a summary counts it.
fn broken(estimator: &mut Estimator, space: &Space, point: &mut Point<'_>) -> Option<String> {
    if let Some(check) = point.failed() {
        return Some(check.name.clone());
    }
    let evaluation = match evaluate_point(estimator, space, point) {
        Ok(evaluation) => evaluation,
        Err(rule) => return Some(rule.to_owned()),
    };
    let broken = space.spec().constraints.iter().find(|constraint| match constraint.subject {
        Subject::Metric(id) => {
            evaluation.number(space, id).is_ok_and(|value| !constraint.holds(value))
        }
        Subject::Knob(_) => false,
    });
    broken.map(|constraint| format!("constraint: {}", constraint.text))
}
