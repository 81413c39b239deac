//! Which experts to keep of each layer, where memory holds so many in all.

use alloc::vec;
use alloc::vec::Vec;

use super::coverage::coverage;
use super::scores::Patterns;
use super::set::Set;

/// What is to be as large as it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// As many experts of each layer, as `PreMoe` has it.
    Equal,
    /// The mass covered in all layers together.
    Mean,
    /// The mass covered in the layer that is covered least; then that in all together.
    Least,
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
        let order = patterns.ranks(task, layer);
        let mass = patterns.mass(task, layer);
        let mut sums = vec![0.0];
        for expert in &order {
            sums.push(sums[sums.len() - 1] + mass[*expert]);
        }
        Self { order, sums }
    }
}

impl Keep {
    /// The best experts for a task, at most so many of all layers together and at least so many of
    /// each, a token's; as many as a layer has where there are fewer.
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
    let mut gains: Vec<(f64, usize)> = Vec::new();
    for (layer, curve) in curves.iter().enumerate() {
        let steps = curve.sums.windows(2).skip(least);
        gains.extend(steps.map(|pair| (pair[1] - pair[0], layer)));
    }
    // Of one layer they come in order, as mass falls with rank; sorting is stable.
    gains.sort_by(|one, other| other.0.total_cmp(&one.0));
    let left = budget.saturating_sub(least * curves.len());
    for (_, layer) in gains.into_iter().take(left) {
        counts[layer] += 1;
    }
    counts
}

/// Counts by which layer is covered least: one more expert of it, until all layers are full or the
/// next doesn't fit; what is left goes where it adds most.
fn by_need(curves: &[Curve], budget: usize, least: usize) -> Vec<usize> {
    let mut counts = vec![least; curves.len()];
    let mut left = budget.saturating_sub(least * curves.len());
    while left > 0 {
        let covered = |layer: usize| curves[layer].sums[counts[layer]];
        let open = (0..curves.len()).filter(|layer| counts[*layer] + 1 < curves[*layer].sums.len());
        let Some(neediest) = open.min_by(|one, other| covered(*one).total_cmp(&covered(*other)))
        else {
            break;
        };
        counts[neediest] += 1;
        left -= 1;
    }
    counts
}
