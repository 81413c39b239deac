//! What would help: single changes of the strategy that make a design fit, or run faster.
//!
//! Only knobs that leave the trained model and its batch as they are. Each neighbouring legal value
//! is estimated, with the pipeline's closed form where there is one; the best are estimated again
//! as the design is timed. Nothing is extrapolated.

use model::choice::Timing;
use model::design::{Design, KnobId};
use model::estimate::{Estimate, Metrics};
use model::knob::{Kind, Value};
use model::units::Bytes;
use model::violation::Nearest;
use model::{Plan, estimate, legal_values};

use crate::format;

/// So many changes are told.
const MOST: usize = 3;
/// So many of the best by the closed form are estimated again.
const CANDIDATES: usize = 8;
/// A gain in throughput below this share isn't worth a change.
const LEAST_GAIN: f64 = 0.002;

/// The knobs that are tried.
const KNOBS: [KnobId; 20] = [
    KnobId::tensor_model_parallel_size,
    KnobId::pipeline_model_parallel_size,
    KnobId::virtual_pipeline_model_parallel_size,
    KnobId::context_parallel_size,
    KnobId::expert_model_parallel_size,
    KnobId::expert_tensor_parallel_size,
    KnobId::data_parallel_sharding_strategy,
    KnobId::method,
    KnobId::micro_batch_size,
    KnobId::sequence_parallel,
    KnobId::delay_wgrad_compute,
    KnobId::overlap_p2p_comm,
    KnobId::overlap_grad_reduce,
    KnobId::overlap_param_gather,
    KnobId::tp_comm_overlap,
    KnobId::overlap_moe_expert_parallel_comm,
    KnobId::moe_alltoall_overlap_comm,
    KnobId::moe_hierarchical_alltoallv,
    KnobId::moe_token_dispatcher_type,
    KnobId::recompute_granularity,
];

/// A change that helps.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// The change.
    pub change: Nearest,
    /// Relative gain in throughput, and peak memory after the change.
    gain: f64,
    memory: Bytes,
}

impl Advice {
    /// What it brings, throughput and peak memory: `+3.1 %, 48.2 GiB`.
    #[must_use]
    pub fn effect(&self) -> String {
        let gain = format::signed(self.gain * 100.0, 1);
        format!("{gain} %, {}", format::memory(self.memory))
    }
}

/// The changes that help most: for a design that doesn't fit those that make it fit, for another
/// one those that make it faster and still fit.
#[must_use]
pub fn advice(plan: &Plan, now: &Estimate) -> Vec<Advice> {
    let design = plan.design();
    let quick = timed(plan, Timing::ClosedForm).unwrap_or_else(|| plan.clone());
    let base = estimate(&quick).metrics;
    let screened = KNOBS
        .iter()
        .flat_map(|knob| neighbours(design, *knob).into_iter().map(move |value| (*knob, value)))
        .filter_map(|(knob, value)| effect_of(&quick, &base, Nearest { knob, value }));
    let mut found = best(screened.collect(), CANDIDATES);
    found = found
        .into_iter()
        .filter_map(|advice| effect_of(plan, &now.metrics, advice.change))
        .filter(|advice| !now.metrics.fits || advice.gain > LEAST_GAIN)
        .collect();
    best(found, MOST)
}

/// The plan with its pipeline timed so, where that is legal.
fn timed(plan: &Plan, timing: Timing) -> Option<Plan> {
    let mut design = plan.design().clone();
    design.schedule.timing = timing;
    plan.variant(&design).ok()
}

/// The changes that gain most; one change of a knob is enough.
fn best(mut found: Vec<Advice>, most: usize) -> Vec<Advice> {
    found.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    let mut knobs = Vec::new();
    found.retain(|advice| {
        let is_new = !knobs.contains(&advice.change.knob);
        knobs.push(advice.change.knob);
        is_new
    });
    found.truncate(most);
    found
}

/// The effect of a change after which the design is legal and fits.
fn effect_of(plan: &Plan, now: &Metrics, change: Nearest) -> Option<Advice> {
    let mut trial = plan.design().clone();
    trial.set(change.knob, &change.value).ok()?;
    let after = estimate(&plan.variant(&trial).ok()?).metrics;
    let gain = after.tokens_per_second / now.tokens_per_second - 1.0;
    after.fits.then_some(Advice { change, gain, memory: after.memory_peak })
}

/// The legal values next to the current one; of names and flags all others.
fn neighbours(design: &Design, knob: KnobId) -> Vec<Value> {
    let current = design.get(knob);
    let values = legal_values(design, knob);
    let at = values.iter().position(|value| *value == current);
    let is_number = matches!(knob.knob().kind, Kind::Integer(..) | Kind::OptionalInteger(..));
    match at {
        Some(at) if is_number => {
            let around = [at.checked_sub(2), at.checked_sub(1), Some(at + 1), Some(at + 2)];
            let around = around.into_iter().flatten();
            around.filter_map(|index| values.get(index).cloned()).collect()
        }
        _ => values.into_iter().filter(|value| *value != current).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, check: impl Fn(&Estimate, &Estimate)) {
        let design = model::link::decode(query).expect("a link that decodes");
        let plan = Plan::new(&design).expect("a legal design");
        let now = estimate(&plan);
        let all = advice(&plan, &now);
        assert!(!all.is_empty(), "{query}: nothing helps");
        for advice in all {
            let mut changed = design.clone();
            changed.set(advice.change.knob, &advice.change.value).expect("in bounds");
            let after = estimate(&Plan::new(&changed).expect("a legal design"));
            assert_eq!(after.metrics.memory_peak, advice.memory);
            check(&now, &after);
        }
    }

    #[test]
    fn a_design_that_fits_is_told_what_makes_it_faster() {
        check("?schedule.delay_wgrad_compute=false", |now, after| {
            assert!(now.metrics.fits && after.metrics.fits);
            assert!(after.metrics.tokens_per_second > now.metrics.tokens_per_second);
        });
    }

    #[test]
    fn a_design_that_does_not_fit_is_told_what_makes_it_fit() {
        check("?training.micro_batch_size=4", |now, after| {
            assert!(!now.metrics.fits);
            assert!(after.metrics.fits);
        });
    }

    #[test]
    fn each_knob_is_told_once() {
        let design = model::link::decode("?training.micro_batch_size=4").expect("a link");
        let plan = Plan::new(&design).expect("a legal design");
        let now = estimate(&plan);
        let mut knobs: Vec<_> =
            advice(&plan, &now).iter().map(|advice| advice.change.knob).collect();
        knobs.dedup();
        assert!(knobs.len() <= MOST);
        assert_eq!(knobs.len(), advice(&plan, &now).len());
    }
}
