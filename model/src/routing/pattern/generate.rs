//! Scores that no run gave: for examples and tests, and marked as generated.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::scores::Patterns;
use crate::routing::random::{stream, substream, uniform};

/// Scores by a power law over ranks, which tasks share in part: in the first layer more, in the
/// last one less.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Generator {
    /// The seed: the same one gives the same scores on every machine.
    pub seed: u64,
    /// Tasks.
    pub tasks: usize,
    /// Layers with experts.
    pub layers: usize,
    /// Experts of a layer.
    pub experts: usize,
    /// Exponent: the score of rank r is r to the power of minus it.
    pub exponent: f64,
    /// Share of the score that is the task's own, in the first and in the last layer.
    pub own: [f64; 2],
}

impl Generator {
    /// The exponent of loads of DeepSeek's experts; what is the task's own is an assumption.
    ///
    /// # Source
    /// AIConfigurator, `moe_perf`: a power law of 1.01 for DeepSeek, 1.2 for others. `PreMoe`,
    /// section 2: deeper layers are more special.
    #[must_use]
    pub const fn new(seed: u64, tasks: usize, layers: usize, experts: usize) -> Self {
        Self { seed, tasks, layers, experts, exponent: 1.01, own: [0.3, 0.8] }
    }

    /// The scores; none beyond the bounds of [`Patterns`].
    #[must_use]
    pub fn patterns(&self) -> Option<Patterns> {
        let count = self.tasks.checked_mul(self.layers)?.checked_mul(self.experts)?;
        if count == 0 || count > Patterns::MAX_SCORES {
            return None;
        }
        let law: Vec<f64> =
            (1..=self.experts).map(|rank| libm::pow(rank as f64, -self.exponent)).collect();
        let common: Vec<Vec<usize>> =
            (0..self.layers).map(|layer| self.order(&[0, layer as u64])).collect();
        let mut scores = Vec::with_capacity(count);
        for task in 0..self.tasks {
            for (layer, common) in common.iter().enumerate() {
                let depth = layer as f64 / (self.layers.max(2) - 1) as f64;
                let own = self.own[0] + (self.own[1] - self.own[0]) * depth;
                let order = self.order(&[1, layer as u64, task as u64]);
                let mut of_layer = alloc::vec![0.0_f64; self.experts];
                for (rank, score) in law.iter().enumerate() {
                    of_layer[common[rank]] += (1.0 - own) * score;
                    of_layer[order[rank]] += own * score;
                }
                scores.extend(of_layer.into_iter().map(|score| score as f32));
            }
        }
        let tasks = (1..=self.tasks).map(|task| format!("generated {task}"));
        let tasks: Vec<String> = tasks.collect();
        let layers = (0..self.layers).map(|layer| layer as u32).collect();
        let mut patterns = Patterns::new(tasks, layers, self.experts, scores)?;
        patterns.seed = Some(self.seed);
        Some(patterns)
    }

    /// Experts in the order of random numbers.
    fn order(&self, words: &[u64]) -> Vec<usize> {
        let own = words.iter().fold(stream(&[self.seed]), |own, word| substream(own, *word));
        let mut keyed: Vec<(f64, usize)> =
            (0..self.experts).map(|expert| (uniform(own, expert as u64), expert)).collect();
        keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
        keyed.into_iter().map(|(_, expert)| expert).collect()
    }
}
