//! How balanced the pipeline's stages are, and the layout that would balance them better.

use model::design::{Design, KnobId};
use model::ground::knob::Value;
use model::training::estimate::{Estimate, Metrics};
use model::{Plan, Proposal, estimate, layout_overflow, layout_proposals};

use crate::format;
use crate::insight::memory_state;

/// A layout with less than this to win isn't worth a change, as a share of the mean stage or step.
const MIN_GAIN: f64 = 5e-4;

/// Load balance of a pipeline's stages.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// Excess of the longest stage's compute time over the mean, as a share of the mean.
    pub overflow: f64,
    /// The layout with the shortest step, of those that are more balanced or faster.
    pub other: Option<Other>,
    /// Whether it is proven that no layout is more balanced, if `other` is `None`.
    pub proven: bool,
}

/// Another layout and what it would bring.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
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
    let proposals = layout_proposals(plan);
    let proven = proposals.first().is_some_and(|proposal| proposal.proven);
    let others = proposals.into_iter().filter_map(|proposal| other(plan, proposal, now));
    // One that fits before one that doesn't, then the faster one.
    let key = |other: &Other| (!other.after.fits, other.after.step_time.get());
    let other = others.min_by(|a, b| {
        let ((a_over, a_step), (b_over, b_step)) = (key(a), key(b));
        a_over.cmp(&b_over).then(a_step.total_cmp(&b_step))
    });
    Some(Balance { overflow: layout_overflow(plan), other, proven })
}

fn other(plan: &Plan, proposal: Proposal, now: &Estimate) -> Option<Other> {
    let mut design = plan.design().clone();
    let layout = Value::Text(proposal.layout.clone());
    design.set(KnobId::pipeline_model_parallel_layout, &layout).ok()?;
    design.set(KnobId::noop_layers, &Value::List(Vec::new())).ok()?;
    let after = estimate(&plan.variant(&design).ok()?).metrics;
    let other = Other { proposal, design, before: now.metrics, after };
    (other.balances() || other.helps()).then_some(other)
}

impl Other {
    /// Whether the step is shorter, and the design still fits if it did before.
    #[must_use]
    pub fn helps(&self) -> bool {
        let gain = 1.0 - self.after.step_time / self.before.step_time;
        gain > MIN_GAIN && (self.after.fits || !self.before.fits)
    }

    /// Whether its longest stage is nearer to the mean.
    #[must_use]
    pub fn balances(&self) -> bool {
        self.proposal.current - self.proposal.overflow > MIN_GAIN
    }

    /// Effect on step time and memory: `step 25.9 s → 25.1 s (−3.1 %), 46.4 GiB, fits`.
    #[must_use]
    pub fn effect(&self) -> String {
        let (before, after) = (self.before.step_time, self.after.step_time);
        let fits = memory_state::word(self.after.memory_state());
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
        match &self.other {
            Some(other) => format!(
                "{overflow} (a layout with {} exists{}: {}; {})",
                format::percent(other.proposal.overflow, 1),
                match (other.helps(), other.balances()) {
                    (true, true) => "",
                    (true, false) => " and is faster",
                    (false, _) => ", which doesn't help",
                },
                other.proposal.layout,
                other.effect(),
            ),
            None if self.proven => format!("{overflow} (no layout has less)"),
            None => format!("{overflow} (no layout with less was found)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::catalogue::preset::Preset;

    use super::*;

    fn balance_of(query: &str) -> Option<Balance> {
        let design = model::design::link::decode(query).expect("a link that decodes");
        let plan = Plan::new(&design).expect("a legal design");
        balance(&plan, &estimate(&plan))
    }

    #[test]
    fn slots_that_are_empty_at_the_end_have_a_better_layout_which_is_a_legal_design() {
        let found = balance_of("?parallel.noop_layers=62,63").expect("a pipeline");
        let other = found.other.as_ref().expect("a better layout");
        assert!(other.helps() && other.proposal.overflow < found.overflow, "{other:?}");
        assert!(other.design.parallel.noop_layers.0.is_empty());
        let plan = Plan::new(&other.design).expect("legal");
        assert_eq!(estimate(&plan).metrics, other.after);
        assert!(found.line().contains(&other.proposal.layout), "{}", found.line());
        // Once taken there is nothing more to win.
        let again = balance(&plan, &estimate(&plan)).expect("a pipeline");
        assert!(again.other.is_none_or(|other| !other.helps()));
    }

    #[test]
    fn a_layout_that_makes_the_step_longer_is_named_but_does_not_help() {
        for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
            let Ok(plan) = Plan::new(&preset.design()) else { continue };
            let Some(found) = balance(&plan, &estimate(&plan)) else { continue };
            let Some(other) = &found.other else { continue };
            let slower = other.after.step_time >= other.before.step_time;
            assert!(!(slower && other.helps()), "{}", preset.id);
            assert_eq!(found.line().contains("which doesn't help"), !other.helps());
        }
    }

    #[test]
    fn a_balanced_pipeline_has_no_better_layout() {
        let found = balance_of("?v=1&preset=gpt3-175b").expect("a pipeline");
        assert_eq!(found.other, None);
        assert!(found.line().ends_with("(no layout has less)"), "{}", found.line());
    }

    #[test]
    fn one_stage_has_no_balance() {
        let query = "?parallel.pipeline_model_parallel_size=1\
                     &parallel.virtual_pipeline_model_parallel_size=1&parallel.noop_layers=none";
        assert_eq!(balance_of(query), None);
    }
}
