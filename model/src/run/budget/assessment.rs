//! Everything that is reported of a run: what the page, the command line and the API share.

use alloc::vec::Vec;

use super::quality::{Contest, Judged, judge};
use super::run::{Budget, budget};
use super::surface::{Surface, surface};
use crate::design::Design;
use crate::design::violation::Violation;
use crate::training::estimate::Metrics;
use crate::training::plan::Plan;
use crate::training::step::estimate;

/// A design with its budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Costed {
    /// The plan.
    pub plan: Plan,
    /// Its step's metrics.
    pub metrics: Metrics,
    /// Its budget.
    pub budget: Budget,
}

impl Costed {
    /// The budget of a design.
    ///
    /// # Errors
    /// Every rule of training that it breaks.
    pub fn new(design: &Design) -> Result<Self, Vec<Violation>> {
        let plan = Plan::new(design)?;
        let metrics = estimate(&plan).metrics;
        let budget = budget(&plan, &metrics);
        Ok(Self { plan, metrics, budget })
    }
}

/// A design's budget, its goodput where something isn't known, and what laws say of it beside a
/// baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// The design.
    pub own: Costed,
    /// Goodput over failures and the rate of checkpoints.
    pub surface: Surface,
    /// The pinned baseline.
    pub baseline: Option<Costed>,
    /// Loss and leverage by the scaling laws; `None` without a baseline or without tokens.
    pub judged: Option<Judged>,
}

impl Assessment {
    /// Assesses a design beside a baseline.
    ///
    /// # Errors
    /// Every rule of training that either of them breaks.
    pub fn new(design: &Design, baseline: Option<&Design>) -> Result<Self, Vec<Violation>> {
        let own = Costed::new(design);
        let baseline = baseline.map(Costed::new).transpose();
        let (own, baseline) = match (own, baseline) {
            (Ok(own), Ok(baseline)) => (own, baseline),
            (Err(mut own), Err(baseline)) => {
                own.extend(baseline);
                return Err(own);
            }
            (Err(broken), Ok(_)) | (Ok(_), Err(broken)) => return Err(broken),
        };
        let judged = baseline
            .as_ref()
            .and_then(|base| judge((&own.plan, &own.budget), (&base.plan, &base.budget)));
        let surface = surface(&own.plan, own.metrics.step_time);
        Ok(Self { own, surface, baseline, judged })
    }

    /// The design against its baseline; none without one.
    #[must_use]
    pub fn contest(&self) -> Option<Contest<'_>> {
        let (own, baseline) = (&self.own, self.baseline.as_ref()?);
        Some(Contest::new((&own.plan, &own.budget), (&baseline.plan, &baseline.budget)))
    }
}
