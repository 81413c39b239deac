//! How much of the router's mass the experts cover that are kept.

use alloc::vec;
use alloc::vec::Vec;

use super::scores::Patterns;
use super::set::Set;

/// Coverage of one task by its own best experts.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// By experts kept of each layer, 0 to all of them: the mean over layers of the mass covered.
    pub mean: Vec<f64>,
    /// Mass covered in the layer that is covered least, by experts kept.
    pub least: Vec<f64>,
}

impl Coverage {
    /// Coverage of a task by its own best experts.
    #[must_use]
    pub fn new(patterns: &Patterns, task: usize) -> Self {
        let (layers, experts) = (patterns.layers().len(), patterns.experts());
        let mut mean = vec![0.0; experts + 1];
        let mut least = vec![f64::INFINITY; experts + 1];
        for layer in 0..layers {
            let mass = patterns.mass(task, layer);
            let falling = patterns.ranks(task, layer).map(|expert| mass[expert]);
            let mut sum = 0.0;
            for (kept, more) in core::iter::once(0.0).chain(falling).enumerate() {
                sum += more;
                // All of it is one, whatever sums are rounded to.
                let covered = if kept == experts { 1.0 } else { sum.min(1.0) };
                mean[kept] += covered / layers as f64;
                least[kept] = least[kept].min(covered);
            }
        }
        mean[experts] = 1.0;
        Self { mean, least }
    }

    /// Fewest experts of each layer with which the mean covers this much.
    #[must_use]
    pub fn kept_for(&self, share: f64) -> usize {
        self.mean.iter().position(|mean| *mean >= share).unwrap_or(self.mean.len() - 1)
    }
}

/// The mass of a task that these experts cover, layer by layer: whatever they were chosen for.
#[must_use]
pub fn coverage(patterns: &Patterns, task: usize, kept: &[Set]) -> Vec<f64> {
    let of_layer = |(layer, set): (usize, &Set)| {
        let mass = patterns.mass(task, layer);
        if set.len() == mass.len() {
            return 1.0;
        }
        mass.iter().enumerate().filter(|(expert, _)| set.has(*expert)).map(|(_, mass)| mass).sum()
    };
    kept.iter().take(patterns.layers().len()).enumerate().map(of_layer).collect()
}
