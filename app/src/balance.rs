//! How balanced the pipeline's stages are, and the layout that would balance them better.

use model::design::{Design, KnobId};
use model::estimate::{Estimate, Metrics};
use model::knob::Value;
use model::{Plan, Proposal, estimate, layout_overflow, layout_proposal};

use crate::format;

/// A layout with less than this to win isn't worth a change, as a share of the mean stage.
const LEAST_GAIN: f64 = 5e-4;

/// How balanced a pipeline is.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// How much longer the longest stage computes than the mean, as a share of the mean.
    pub overflow: f64,
    /// A more balanced layout, where there is one.
    pub better: Option<Better>,
    /// Is it proven that no layout is more balanced than the better one, or than this one?
    pub proven: bool,
}

/// A more balanced layout and what it would bring.
#[derive(Clone, Debug, PartialEq)]
pub struct Better {
    /// The layout.
    pub proposal: Proposal,
    /// The design with it.
    pub design: Design,
    /// The numbers as they are.
    pub before: Metrics,
    /// The numbers with it.
    pub after: Metrics,
}

/// The balance of a plan; `None` without a pipeline.
#[must_use]
pub fn balance(plan: &Plan, now: &Estimate) -> Option<Balance> {
    if plan.design().parallel.pipeline_model_parallel_size < 2 {
        return None;
    }
    let proposal = layout_proposal(plan);
    let proven = proposal.as_ref().is_some_and(|proposal| proposal.proven);
    Some(Balance {
        overflow: layout_overflow(plan),
        better: proposal.and_then(|proposal| better(plan.design(), proposal, now)),
        proven,
    })
}

fn better(design: &Design, proposal: Proposal, now: &Estimate) -> Option<Better> {
    if proposal.current - proposal.overflow < LEAST_GAIN {
        return None;
    }
    let mut design = design.clone();
    let layout = Value::Text(proposal.layout.clone());
    design.set(KnobId::pipeline_model_parallel_layout, &layout).ok()?;
    design.set(KnobId::noop_layers, &Value::List(Vec::new())).ok()?;
    let after = estimate(&Plan::new(&design).ok()?).metrics;
    Some(Better { proposal, design, before: now.metrics, after })
}

impl Better {
    /// What it does to step time and memory: `25.9 s → 25.1 s (−3.1 %), 46.4 GiB, fits`.
    #[must_use]
    pub fn effect(&self) -> String {
        let (before, after) = (self.before.step_time, self.after.step_time);
        let fits = if self.after.fits { "fits" } else { "does not fit" };
        format!(
            "step {} → {} ({}), {}, {fits}",
            format::duration(before),
            format::duration(after),
            format::relative(after.get(), before.get()),
            format::memory(self.after.memory_peak),
        )
    }
}

impl Balance {
    /// The overflow and what could be had, in one line: `7.1 % (a layout with 3.9 % exists: ...)`.
    #[must_use]
    pub fn line(&self) -> String {
        let overflow = format::percent(self.overflow, 1);
        match &self.better {
            Some(better) => format!(
                "{overflow} (a layout with {} exists: {}; {})",
                format::percent(better.proposal.overflow, 1),
                better.proposal.layout,
                better.effect(),
            ),
            None if self.proven => format!("{overflow} (no layout has less)"),
            None => format!("{overflow} (no layout with less was found)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balance_of(query: &str) -> Option<Balance> {
        let design = model::link::decode(query).expect("a link that decodes");
        let plan = Plan::new(&design).expect("a legal design");
        balance(&plan, &estimate(&plan))
    }

    #[test]
    fn slots_that_are_empty_at_the_end_have_a_better_layout_which_is_a_legal_design() {
        let found = balance_of("?parallel.noop_layers=62,63").expect("a pipeline");
        let better = found.better.as_ref().expect("a better layout");
        assert!(better.proposal.overflow < found.overflow);
        assert!(better.design.parallel.noop_layers.0.is_empty());
        let plan = Plan::new(&better.design).expect("legal");
        assert_eq!(estimate(&plan).metrics, better.after);
        assert!(found.line().contains(&better.proposal.layout), "{}", found.line());
        // Once balanced there is nothing more to win.
        let again = balance(&plan, &estimate(&plan)).expect("a pipeline");
        assert_eq!((again.better, again.proven), (None, true));
    }

    #[test]
    fn a_balanced_pipeline_has_no_better_layout() {
        let found = balance_of("?v=1&preset=pangu-pro-moe-4k").expect("a pipeline");
        assert_eq!(found.better, None);
        assert!(found.line().ends_with("(no layout has less)"), "{}", found.line());
    }

    #[test]
    fn one_stage_has_no_balance() {
        let query = "?parallel.pipeline_model_parallel_size=1\
                     &parallel.virtual_pipeline_model_parallel_size=1&parallel.noop_layers=none";
        assert_eq!(balance_of(query), None);
    }
}
