//! The effect of load imbalance on a design: the few numbers that an estimate needs.

use super::noise::Exchange;
use crate::design::Design;

/// Effect of the load imbalance on a design.
///
/// The loads of a step depend on the routing knobs, the experts, the router, the capacity and EP
/// alone, so that a sweep over anything else computes them once. Those of its micro-batches vary
/// around them, by a formula of a few sizes: no planner foresees that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Tokens of the fullest expert-parallel rank over the mean, with the planner and what a
    /// capacity drops: mean over steps, layers and micro-batches.
    pub imbalance: f64,
    /// Tokens of the fullest expert-parallel rank over the mean, without the planner.
    pub imbalance_unplanned: f64,
    /// The imbalance that memory must hold: that of the fullest steps and layers, with the mean of
    /// their micro-batches. A stage holds many micro-batches and layers at once, which don't all
    /// fill the same rank.
    pub fullest: f64,
    /// Share of token copies that a capacity drops of the loads of steps.
    pub drop_ratio: f64,
    /// Experts that the busiest rank sends or receives for one layer in one step, in the mean.
    pub moved: f64,
    /// Imbalance that a planner can take away: that of the steps' own loads.
    pub steps: StepLoads,
    /// Imbalance that it can't take away: that beyond 1 that micro-batches would have if their
    /// steps were even.
    pub noise: f64,
}

/// The imbalance of loads that are summed over a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLoads {
    /// Tokens of the fullest rank over the mean, with the planner: mean over steps and layers.
    pub imbalance: f64,
    /// Tokens of the fullest rank over the mean, without the planner.
    pub imbalance_unplanned: f64,
    /// The imbalance that [`Effect::FULLEST_SHARE`] of all steps and layers is not above, those
    /// before the first plan among them.
    pub fullest: f64,
}

impl StepLoads {
    pub(super) const EVEN: Self = Self { imbalance: 1.0, imbalance_unplanned: 1.0, fullest: 1.0 };

    /// Share of the imbalance beyond 1 that the planner takes away; 0 where there is none.
    #[must_use]
    pub fn removed(&self) -> f64 {
        removed(self.imbalance_unplanned, self.imbalance)
    }
}

/// 1 - (after - 1) / (before - 1); 0 where there is nothing to take away.
fn removed(before: f64, after: f64) -> f64 {
    if before > 1.0 { 1.0 - (after - 1.0) / (before - 1.0) } else { 0.0 }
}

impl Effect {
    /// Even loads without a capacity: no effect.
    pub const UNIFORM: Self = Self {
        imbalance: 1.0,
        imbalance_unplanned: 1.0,
        fullest: 1.0,
        drop_ratio: 0.0,
        moved: 0.0,
        steps: StepLoads::EVEN,
        noise: 0.0,
    };

    /// Memory holds the step loads of this share of steps and layers.
    pub const FULLEST_SHARE: f64 = 0.99;

    /// Effect of these step loads in the micro-batches of this design, whose routing they are of.
    ///
    /// Of independent normal loads of devices the excess of the largest over the mean adds up like
    /// spreads do: as the square root of the sum of squares.
    #[must_use]
    pub fn in_micro_batches(self, design: &Design) -> Self {
        let exchange = Exchange::of(design);
        let noise = exchange.as_ref().map_or(0.0, Exchange::noise);
        let capacity = design.training.moe_expert_capacity_factor;
        let most = capacity.map_or(f64::INFINITY, |factor| factor / (1.0 - self.drop_ratio));
        let most = exchange.map_or(most, |exchange| most.min(exchange.most()));
        let both = |steps: f64| {
            let excess = steps - 1.0;
            let both = libm::sqrt(excess * excess + noise * noise);
            if noise > 0.0 { (1.0 + both).min(most).max(steps) } else { steps }
        };
        Self {
            imbalance: both(self.steps.imbalance),
            imbalance_unplanned: both(self.steps.imbalance_unplanned),
            fullest: both(self.steps.fullest),
            noise,
            ..self
        }
    }

    /// Share of the imbalance beyond 1 that the planner takes away, of the micro-batches' loads.
    #[must_use]
    pub fn removed(&self) -> f64 {
        removed(self.imbalance_unplanned, self.imbalance)
    }

    /// As it would be if every rank got the same of what a capacity lets through.
    #[must_use]
    pub const fn even(&self) -> Self {
        Self { drop_ratio: self.drop_ratio, ..Self::UNIFORM }
    }
}
