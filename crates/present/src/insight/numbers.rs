//! A plan with its estimate: what panels and studies show.

use model::design::Design;
use model::training::estimate::Estimate;
use model::{Plan, estimate};

/// A plan with its estimate.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// The estimated plan.
    pub plan: Plan,
    /// Its estimate.
    pub estimate: Estimate,
}

/// Numbers follow from a design and its loads.
impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        self.plan.effect() == other.plan.effect() && self.plan.design() == other.plan.design()
    }
}

impl Numbers {
    /// Estimates a plan.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        let estimate = estimate(&plan);
        Self { plan, estimate }
    }

    /// The numbers of a design; `None` while it breaks a rule.
    #[must_use]
    pub fn of(design: &Design) -> Option<Self> {
        Plan::new(design).ok().map(Self::new)
    }
}

#[cfg(test)]
impl Numbers {
    /// The numbers of a link that a test knows to be legal.
    pub(crate) fn of_link(query: &str) -> Self {
        let design = model::design::link::decode(query).expect("a link that decodes");
        Self::of(&design).expect("a legal design")
    }
}
