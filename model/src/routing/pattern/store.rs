//! Patterns that are kept, looked up and loaded, and when changing them stops to pay.

use super::keep::Keep;
use super::scores::Patterns;

/// A store of patterns as `PreMoe` has it: of each, the scores of its first layer, by which it is
/// found, and for every further layer which expert takes the place of which of the first.
///
/// # Source
/// `PreMoe`, section 3.2 (TAER); `collect_utils.py:build_logits_permutations` (64-bit places) and
/// `build_index` (32-bit scores, flat L2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// Patterns.
    pub patterns: usize,
    /// Bytes of one: E x 4 + (layers - 1) x E x 8.
    pub pattern_bytes: u64,
}

impl Store {
    /// A store of these patterns.
    #[must_use]
    pub fn new(patterns: &Patterns) -> Self {
        let (layers, experts) = (patterns.layers().len() as u64, patterns.experts() as u64);
        Self {
            patterns: patterns.tasks().len(),
            pattern_bytes: experts * 4 + layers.saturating_sub(1) * experts * 8,
        }
    }

    /// Bytes of all.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.patterns as u64 * self.pattern_bytes
    }
}

impl Patterns {
    /// The task whose scores in the first layer are nearest to those of a query, by the sum of
    /// squares, and that distance; of equals the first. `None` if the query has another number of
    /// scores, or one that is no number.
    #[must_use]
    pub fn nearest(&self, query: &[f32]) -> Option<(usize, f64)> {
        if query.len() != self.experts() || query.iter().any(|score| !score.is_finite()) {
            return None;
        }
        let distance = |task: usize| -> f64 {
            let both = self.scores(task, 0).iter().zip(query);
            both.map(|(own, asked)| {
                let apart = f64::from(*own) - f64::from(*asked);
                apart * apart
            })
            .sum()
        };
        (0..self.tasks().len())
            .map(|task| (task, distance(task)))
            .min_by(|one, other| one.1.total_cmp(&other.1))
    }
}

/// Size of an expert and the bandwidth at which experts are loaded onto the devices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loading {
    /// Bytes of an expert.
    pub expert_bytes: f64,
    /// Bytes a second that all devices together get: links x devices, at most what host memory
    /// gives.
    pub bytes_per_second: f64,
}

impl Loading {
    /// Seconds in which this many experts are loaded.
    #[must_use]
    pub fn seconds(&self, experts: usize) -> f64 {
        experts as f64 * self.expert_bytes / self.bytes_per_second
    }
}

/// Changing from one task's experts to another's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Switches {
    /// Experts that a change loads, in the mean over pairs of tasks.
    pub experts: f64,
    /// Their bytes.
    pub bytes: f64,
    /// Seconds of a change, in which nothing is answered.
    pub seconds: f64,
    /// Seconds of the change that takes longest.
    pub most_seconds: f64,
}

impl Switches {
    /// Between any two of these patterns; none of fewer than two.
    #[must_use]
    pub fn new(keeps: &[Keep], loading: &Loading) -> Option<Self> {
        let (mut sum, mut most, mut pairs) = (0, 0, 0);
        for (at, one) in keeps.iter().enumerate() {
            for (_, other) in keeps.iter().enumerate().filter(|(place, _)| *place != at) {
                let missing = other.missing(one);
                sum += missing;
                most = most.max(missing);
                pairs += 1;
            }
        }
        if pairs == 0 {
            return None;
        }
        let experts = f64::from(u32::try_from(sum).unwrap_or(u32::MAX)) / f64::from(pairs);
        let bytes = experts * loading.expert_bytes;
        Some(Self {
            experts,
            bytes,
            seconds: bytes / loading.bytes_per_second,
            most_seconds: loading.seconds(most),
        })
    }

    /// Changes a second up to which keeping one task's experts gives as many tokens a second as
    /// what doesn't change, where there is such: kept x (1 - s t) = other, so s = (1 - other /
    /// kept) / t. `None` if it never pays.
    ///
    /// Where nothing else fits (`other` of 0) it pays as long as there is time between changes.
    #[must_use]
    pub fn break_even(&self, kept: f64, other: f64) -> Option<f64> {
        let gain = 1.0 - other / kept;
        if gain.is_nan() || gain <= 0.0 {
            return None;
        }
        (self.seconds > 0.0).then(|| gain / self.seconds)
    }
}
