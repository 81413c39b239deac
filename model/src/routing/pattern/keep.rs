//! Which experts to keep of each layer, where memory holds so many in all.

use alloc::collections::BinaryHeap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::coverage::coverage;
use super::scores::Patterns;
use super::set::Set;

/// Objective: the coverage to be maximised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// As many experts of each layer, as `PreMoe` has it.
    Equal,
    /// The mass covered in all layers together.
    Mean,
    /// The mass covered in the layer that is covered least; then that in all together.
    Least,
}

impl Goal {
    /// Every goal, with its name.
    pub const ALL: [(&'static str, Self); 3] =
        [("equal", Self::Equal), ("mean", Self::Mean), ("least", Self::Least)];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

/// The experts that are kept for a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Keep {
    /// Layer by layer.
    pub sets: Vec<Set>,
    /// The mass of the task that they cover, layer by layer.
    pub covered: Vec<f64>,
}

/// A layer's experts by mass, and the mass of the best so many.
struct Curve {
    order: Vec<usize>,
    sums: Vec<f64>,
}

impl Curve {
    fn new(patterns: &Patterns, task: usize, layer: usize) -> Self {
        let order: Vec<usize> = patterns.ranks(task, layer).collect();
        let mass = patterns.mass(task, layer);
        let mut sums = vec![0.0];
        for expert in &order {
            sums.push(sums[sums.len() - 1] + mass[*expert]);
        }
        Self { order, sums }
    }
}

impl Keep {
    /// The best experts for a task, at most this many of all layers together and at least this many
    /// of each, a token's; as many as a layer has where there are fewer.
    ///
    /// All experts of a model weigh the same, and what one more expert of a layer adds never grows:
    /// taking the expert that adds most, again and again, covers the most. For the layer that is
    /// covered least, the next one of that layer is taken.
    #[must_use]
    pub fn new(patterns: &Patterns, task: usize, budget: usize, least: usize, goal: Goal) -> Self {
        let (layers, experts) = (patterns.layers().len(), patterns.experts());
        let curves: Vec<Curve> =
            (0..layers).map(|layer| Curve::new(patterns, task, layer)).collect();
        let counts = match goal {
            Goal::Equal => vec![(budget / layers).clamp(least.min(experts), experts); layers],
            Goal::Mean => by_gain(&curves, budget, least.min(experts)),
            Goal::Least => by_need(&curves, budget, least.min(experts)),
        };
        let kept = curves.iter().zip(counts);
        let sets: Vec<Set> = kept
            .map(|(curve, count)| Set::of(experts, curve.order.iter().take(count).copied()))
            .collect();
        let covered = coverage(patterns, task, &sets);
        Self { sets, covered }
    }

    /// Experts in all layers.
    #[must_use]
    pub fn experts(&self) -> usize {
        self.sets.iter().map(Set::len).sum()
    }

    /// The mean over layers of the mass covered.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.covered.iter().sum::<f64>() / self.covered.len().max(1) as f64
    }

    /// The mass covered in the layer that is covered least.
    #[must_use]
    pub fn least(&self) -> f64 {
        self.covered.iter().copied().fold(1.0, f64::min)
    }

    /// Experts that have to be loaded where another pattern is there already.
    #[must_use]
    pub fn missing(&self, there: &Self) -> usize {
        let both = self.sets.iter().zip(&there.sets);
        both.map(|(own, there)| own.len() - own.shared(there)).sum()
    }
}

/// Counts by what the next expert of a layer adds.
fn by_gain(curves: &[Curve], budget: usize, least: usize) -> Vec<usize> {
    let mut counts = vec![least; curves.len()];
    // Of one layer gains fall with rank, so that those above a bound are its first.
    let mut gains: Vec<(f64, usize, usize)> = Vec::new();
    for (layer, curve) in curves.iter().enumerate() {
        let steps = curve.sums.windows(2).enumerate().skip(least);
        gains.extend(steps.map(|(rank, pair)| (pair[1] - pair[0], layer, rank)));
    }
    let left = budget.saturating_sub(least * curves.len());
    if left < gains.len() {
        gains.select_nth_unstable_by(left, |one, other| {
            other.0.total_cmp(&one.0).then((one.1, one.2).cmp(&(other.1, other.2)))
        });
    }
    for (_, layer, _) in gains.into_iter().take(left) {
        counts[layer] += 1;
    }
    counts
}

/// Counts by which layer is covered least: one more expert of it, until all layers are full; of
/// equals the first layer.
fn by_need(curves: &[Curve], budget: usize, least: usize) -> Vec<usize> {
    let mut counts = vec![least; curves.len()];
    let mut left = budget.saturating_sub(least * curves.len());
    // What is covered, as bits: shares are not below 0, so that they are in the order of numbers.
    let entry = |layer: usize, count: usize| {
        let covered = curves[layer].sums[count];
        (count + 1 < curves[layer].sums.len()).then(|| Reverse((covered.to_bits(), layer)))
    };
    let mut open: BinaryHeap<_> =
        (0..curves.len()).filter_map(|layer| entry(layer, least)).collect();
    while left > 0
        && let Some(Reverse((_, layer))) = open.pop()
    {
        counts[layer] += 1;
        left -= 1;
        open.extend(entry(layer, counts[layer]));
    }
    counts
}
