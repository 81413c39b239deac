//! What a bound on an expert's tokens drops.

use super::effect::Effect;
use super::trace::{Trace, sum};
use crate::design::Design;

/// Bound on the tokens of each expert.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Capacity {
    /// Tokens that an expert takes, over its even share; none takes any number.
    pub(crate) factor: Option<f64>,
    /// Whether every expert computes its whole capacity.
    pub(crate) is_padded: bool,
}

impl Capacity {
    pub(crate) const fn new(design: &Design) -> Self {
        let training = &design.training;
        Self {
            factor: training.moe_expert_capacity_factor,
            is_padded: training.moe_pad_expert_input_to_capacity,
        }
    }

    /// Copies kept over copies routed: at most one without padding, the capacity factor with it.
    pub(crate) fn kept_share(&self, effect: &Effect) -> f64 {
        match self.factor {
            None => 1.0,
            Some(factor) if self.is_padded => factor,
            Some(factor) if effect.drop_ratio <= 0.0 => factor.min(1.0),
            Some(_) => 1.0 - effect.drop_ratio,
        }
    }

    /// Share of the copies that are dropped: no less than what even loads would lose.
    pub(crate) fn drop_ratio(&self, effect: &Effect) -> f64 {
        self.factor.map_or(0.0, |factor| (1.0 - factor).max(effect.drop_ratio).max(0.0))
    }
}

/// The most tokens that an expert takes: ceil(factor x copies / experts), where copies are tokens
/// times top-k.
///
/// # Source
/// Megatron-Core, `moe_utils.py`, `get_capacity`.
#[must_use]
pub fn capacity(factor: f64, copies: f64, experts: f64) -> f64 {
    libm::ceil(factor * copies / experts.max(1.0))
}

/// Share of a row's copies that are over their expert's capacity: sum of max(0, load - capacity)
/// over the sum of loads.
///
/// The row must hold what the capacity is applied to: all copies of a micro-batch on one rank, or
/// of a step where loads are taken as the same in each of its micro-batches.
#[must_use]
pub fn drop_ratio(loads: &[u32], factor: f64) -> f64 {
    let copies = sum(loads) as f64;
    let most = capacity(factor, copies, loads.len() as f64);
    let over: f64 = loads.iter().map(|load| (f64::from(*load) - most).max(0.0)).sum();
    if copies > 0.0 { over / copies } else { 0.0 }
}

/// Mean of [`drop_ratio`] over a trace's steps and layers, from this step on.
#[must_use]
pub fn mean_drop_ratio(trace: &Trace, factor: f64, from_step: usize) -> f64 {
    let rows = trace.rows().skip(from_step * trace.layers());
    let (mut drops, mut count) = (0.0, 0.0);
    for (_, row) in rows {
        drops += drop_ratio(row, factor);
        count += 1.0;
    }
    if count > 0.0 { drops / count } else { 0.0 }
}

/// Factor and drop ratio of a trace at `points` factors from 1 to `most`, evenly spaced.
pub fn drop_curve(
    trace: &Trace,
    most: f64,
    points: usize,
) -> impl Iterator<Item = (f64, f64)> + '_ {
    let last = points.saturating_sub(1).max(1) as f64;
    (0..points).map(move |point| {
        let factor = 1.0 + (most - 1.0) * point as f64 / last;
        (factor, mean_drop_ratio(trace, factor, 0))
    })
}

/// The smallest factor, to 0.001, at which a trace drops no more than this share.
///
/// The drop ratio falls as the factor grows, and is zero when each expert may take all: halving the
/// interval finds it.
#[must_use]
pub fn factor_for_drop_ratio(trace: &Trace, share: f64) -> f64 {
    let (mut low, mut high) = (0.0, trace.experts() as f64);
    while high - low > 0.001 {
        let middle = (low + high) / 2.0;
        if mean_drop_ratio(trace, middle, 0) <= share {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}
