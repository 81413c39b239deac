//! Scores by task, layer and expert.

use alloc::string::String;
use alloc::vec::Vec;

use super::set::Set;

/// Scores by task, layer and expert.
#[derive(Clone, Debug, PartialEq)]
pub struct Patterns {
    tasks: Vec<String>,
    /// Layers as they are counted where the scores come from.
    layers: Vec<u32>,
    experts: usize,
    /// Task after task, layer after layer.
    scores: Vec<f32>,
    /// The experts of each layer of each task, best first.
    order: Vec<u16>,
    /// The seed of scores that are generated, and none of a run.
    pub(super) seed: Option<u64>,
}

impl Patterns {
    /// Experts of a layer, at most.
    pub const MAX_EXPERTS: usize = 4_096;
    /// Tasks, at most.
    pub const MAX_TASKS: usize = 4_096;
    /// Scores, at most: 128 MiB.
    pub const MAX_SCORES: usize = 1 << 25;

    /// Scores, task after task and layer after layer; `None` if their number isn't that of tasks x
    /// layers x experts, is above the bounds, or one of them is no number.
    #[must_use]
    pub fn new(
        tasks: Vec<String>,
        layers: Vec<u32>,
        experts: usize,
        scores: Vec<f32>,
    ) -> Option<Self> {
        let count = tasks.len().checked_mul(layers.len())?.checked_mul(experts)?;
        let is_within = count > 0
            && count == scores.len()
            && count <= Self::MAX_SCORES
            && experts <= Self::MAX_EXPERTS
            && tasks.len() <= Self::MAX_TASKS;
        let are_numbers = scores.iter().all(|score| score.is_finite());
        if !(is_within && are_numbers) {
            return None;
        }
        let order = scores.chunks(experts).flat_map(best_first).collect();
        Some(Self { tasks, layers, experts, scores, order, seed: None })
    }

    /// The tasks' names.
    #[must_use]
    pub fn tasks(&self) -> &[String] {
        &self.tasks
    }

    /// Layers as the source counts them.
    #[must_use]
    pub fn layers(&self) -> &[u32] {
        &self.layers
    }

    /// Experts of a layer.
    #[must_use]
    pub const fn experts(&self) -> usize {
        self.experts
    }

    /// The seed of scores that are generated; none of those of a run.
    #[must_use]
    pub const fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// The scores of a task in a layer, both by place; empty where there are none.
    #[must_use]
    pub fn scores(&self, task: usize, layer: usize) -> &[f32] {
        if task >= self.tasks.len() || layer >= self.layers.len() {
            return &[];
        }
        let start = (task * self.layers.len() + layer) * self.experts;
        self.scores.get(start..start + self.experts).unwrap_or(&[])
    }

    /// Shares of a layer's mass by expert: a score over the sum of all, those below 0 taken as 0.
    /// Where no score is above 0, all are alike.
    #[must_use]
    pub fn mass(&self, task: usize, layer: usize) -> Vec<f64> {
        let scores = self.scores(task, layer);
        let above = scores.iter().map(|score| f64::from(*score).max(0.0));
        let sum: f64 = above.clone().sum();
        if sum > 0.0 {
            above.map(|score| score / sum).collect()
        } else {
            scores.iter().map(|_| 1.0 / scores.len() as f64).collect()
        }
    }

    /// Experts of a layer by score, best first; of equals the one of the lower number.
    pub fn ranks(&self, task: usize, layer: usize) -> impl Iterator<Item = usize> + '_ {
        let start = (task * self.layers.len() + layer) * self.experts;
        self.order[start..start + self.experts].iter().map(|expert| usize::from(*expert))
    }

    /// The best so many experts of a layer.
    #[must_use]
    pub fn best(&self, task: usize, layer: usize, kept: usize) -> Set {
        Set::of(self.experts, self.ranks(task, layer).take(kept))
    }

    /// Several tasks as one: the mean of their mass, whose best experts lose least of them
    /// together.
    #[must_use]
    pub fn pooled(&self, tasks: &[usize]) -> Option<Self> {
        let name = tasks.iter().filter_map(|task| self.tasks.get(*task).map(String::as_str));
        let name = name.collect::<Vec<_>>().join(" + ");
        let mut scores = Vec::with_capacity(self.layers.len() * self.experts);
        for layer in 0..self.layers.len() {
            let mut sum = alloc::vec![0.0_f64; self.experts];
            for task in tasks {
                for (sum, mass) in sum.iter_mut().zip(self.mass(*task, layer)) {
                    *sum += mass / tasks.len() as f64;
                }
            }
            scores.extend(sum.into_iter().map(|sum| sum as f32));
        }
        let pooled = Self::new(Vec::from([name]), self.layers.clone(), self.experts, scores)?;
        Some(Self { seed: self.seed, ..pooled })
    }
}

/// Places of scores, the highest first; of equals the first.
fn best_first(scores: &[f32]) -> impl Iterator<Item = u16> + use<> {
    // Bits of a number as one that grows with it, turned around; the place behind it.
    let key = |(place, score): (usize, &f32)| {
        let bits = score.to_bits();
        let rising = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
        u64::from(!rising) << 16 | place as u64
    };
    let mut keys: Vec<u64> = scores.iter().enumerate().map(key).collect();
    keys.sort_unstable();
    keys.into_iter().map(|key| key as u16)
}
