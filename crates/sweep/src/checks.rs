//! Checks of a point, made before the model estimates it, and the verdicts that are known of them:
//! each is worked out once for all points that have the same digits on the axes which it reads.

use std::sync::atomic::{AtomicU16, Ordering};

use model::design::KnobId;
use model::rules::Rule;

use crate::spec::{Axis, Constraint};

/// Verdicts that a group keeps, at most: checks of more are made at each point.
const MAX_VERDICTS: usize = 1 << 15;

/// A check of a point.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    /// Name that a failure is counted under.
    pub(crate) name: String,
    /// Indices that fail with a point that does, its block: all whose leading coordinates are the
    /// same.
    pub(crate) block: u64,
    /// The axes that it reads, in order.
    pub(crate) axes: Vec<usize>,
    pub(crate) test: Test,
}

/// Test that a check makes.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// A tie has a value.
    Tie(usize),
    /// A divisor divides the knob that it is one of.
    Divides(KnobId, KnobId),
    /// A constraint on a knob.
    Constraint(Constraint),
    /// One of the model's rules.
    Rule(&'static Rule),
}

/// Checks that rule out blocks of one size.
#[derive(Debug)]
pub(crate) struct Level {
    /// Leading axes that its checks read.
    pub(crate) axes: usize,
    /// Its checks by the axes that they read; those whose first check comes first are in front.
    pub(crate) groups: Vec<Group>,
}

/// Checks that read the same axes.
#[derive(Debug)]
pub(crate) struct Group {
    /// Their places among all checks, in order; never none.
    pub(crate) checks: Vec<usize>,
    /// Each axis, and what a step of its digit is worth among the verdicts.
    axes: Vec<(usize, usize)>,
    verdicts: Vec<AtomicU16>,
}

/// Verdict of a group: the place of the first check that fails, if any.
pub(crate) type Verdict = Option<usize>;

/// A verdict that isn't known yet, and that of a group whose checks all hold. Other numbers are the
/// place of a check in its group, from [`FIRST`] on.
const UNKNOWN: u16 = 0;
const HOLDS: u16 = 1;
const FIRST: usize = 2;

impl Level {
    /// The levels of these checks, which are in the order of their blocks, the largest first.
    pub(crate) fn all(checks: &[Check], axes: &[Axis]) -> Vec<Self> {
        let mut place = 0;
        let level = |checks: &[Check]| {
            let mut level = Self { axes: 0, groups: Vec::new() };
            let mut reads: Vec<&[usize]> = Vec::new();
            for check in checks {
                level.axes = level.axes.max(check.axes.last().map_or(0, |last| last + 1));
                match reads.iter().position(|known| *known == check.axes) {
                    Some(known) => level.groups[known].checks.push(place),
                    None => {
                        reads.push(&check.axes);
                        level.groups.push(Group::new(place, &check.axes, axes));
                    }
                }
                place += 1;
            }
            level
        };
        checks.chunk_by(|one, next| one.block == next.block).map(level).collect()
    }
}

impl Group {
    /// The group of a check that reads these of all axes.
    fn new(check: usize, reads: &[usize], all: &[Axis]) -> Self {
        let mut count = 1_usize;
        let mut axes = Vec::with_capacity(reads.len());
        for axis in reads {
            axes.push((*axis, count));
            count = count.saturating_mul(all[*axis].values.len());
        }
        if count > MAX_VERDICTS {
            (count, axes) = (0, Vec::new());
        }
        let verdicts = (0..count).map(|_| AtomicU16::new(UNKNOWN)).collect();
        Self { checks: vec![check], axes, verdicts }
    }

    /// The verdict on points with these digits, where it is known.
    pub(crate) fn verdict(&self, digits: &[usize]) -> Option<Verdict> {
        match self.verdicts.get(self.place(digits))?.load(Ordering::Relaxed) {
            UNKNOWN => None,
            HOLDS => Some(None),
            number => Some(self.checks.get(usize::from(number) - FIRST).copied()),
        }
    }

    /// Keeps the verdict on points with these digits.
    pub(crate) fn learn(&self, digits: &[usize], verdict: Verdict) {
        let Some(known) = self.verdicts.get(self.place(digits)) else { return };
        let number = verdict.map_or(HOLDS, |check| {
            let failed = self.checks.iter().position(|own| *own == check);
            failed.and_then(|at| u16::try_from(at + FIRST).ok()).unwrap_or(UNKNOWN)
        });
        known.store(number, Ordering::Relaxed);
    }

    /// Place of the verdict on points with these digits.
    fn place(&self, digits: &[usize]) -> usize {
        self.axes.iter().map(|(axis, worth)| digits[*axis] * worth).sum()
    }
}
