//! Estimates of many designs, one after the other: what a design has in common with the one before
//! it is kept.
//!
//! Nothing here is a formula. A [`Plan`] and each part of an estimate is a function of a design;
//! this says for each of them which knobs it doesn't read, and makes it anew when any other knob
//! differs. A knob that no list names changes everything, so that a new one can't be forgotten; a
//! test holds thousands of estimates of neighbouring designs against estimates from scratch.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;

use crate::choice::{Balance, RecomputeGranularity};
use crate::design::{Design, KnobId, KnobSet};
use crate::estimate::{Communication, Estimate, Metrics};
use crate::plan::Plan;
use crate::routing::{Effect, Inputs};
use crate::rules::{self, Rule};
use crate::step::{Layers, Spans, Step, of_loads};
use crate::uneven;
use crate::violation::Violation;

/// Knobs that change neither a size of a plan nor what single layers cost and save.
const BEYOND_LAYERS: KnobSet = KnobSet::of(&[
    KnobId::recompute_granularity,
    KnobId::recompute_method,
    KnobId::recompute_num_layers,
    KnobId::recompute_modules,
    KnobId::swap_modules,
    KnobId::swap_prefetch,
    KnobId::delay_wgrad_compute,
    KnobId::moe_hierarchical_alltoallv,
    KnobId::moe_shared_expert_overlap,
    KnobId::moe_alltoall_overlap_comm,
    KnobId::overlap_grad_reduce,
    KnobId::overlap_param_gather,
    KnobId::overlap_p2p_comm,
    KnobId::tp_comm_overlap,
]);

/// Of these, the ones that change what stages do beside copying to host memory.
const OF_SPANS: KnobSet = BEYOND_LAYERS.without(&KnobSet::of(&[KnobId::swap_modules]));

/// The same where recomputation isn't selective: then nothing reads its modules.
const OF_WHOLE_SPANS: KnobSet = OF_SPANS.without(&KnobSet::of(&[KnobId::recompute_modules]));

/// Spans of the same layers that are kept.
const MOST_SPANS: usize = 16;

/// Generated loads that are kept.
const MOST_LOADS: usize = 256;

/// Estimates designs one after the other.
///
/// What it says of a design is what [`crate::estimate()`] says of its [`Plan`], to the bit,
/// whatever came before. It is fast where designs differ from the one before in a few knobs, and
/// fastest where these are about what is recomputed, swapped or hidden.
#[derive(Debug, Default)]
pub struct Estimator {
    /// The last legal design's.
    plan: Option<Plan>,
    loads: Loads,
    layers: Option<Loaded<Layers>>,
    /// Of these layers, by the design that each was made for; the last one used is the last.
    spans: Vec<Box<(Design, Loaded<Spans>)>>,
    step: Step,
    communication: Vec<Communication>,
}

/// Something under a plan's own loads, and under even ones where its own aren't.
#[derive(Debug)]
struct Loaded<T> {
    own: T,
    even: Option<T>,
}

/// What uneven loads do, by all that they depend on.
#[derive(Debug, Default)]
struct Loads {
    known: Vec<(Inputs, Effect)>,
}

impl Estimator {
    /// One that has seen no design.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The metrics of a design.
    ///
    /// # Errors
    /// The first rule that the design breaks, in the order of [`rules::rules`].
    pub fn metrics(&mut self, design: &Design) -> Result<Metrics, &'static Rule> {
        let differences = self.differences(design);
        // The plan's own design is legal: a rule that reads what is the same holds here too.
        if let Some(rule) = rules::first_broken(design, &differences) {
            return Err(rule);
        }
        let Self { step, communication, .. } = self;
        let (mut step, mut communication) = (mem::take(step), mem::take(communication));
        let (plan, spans) = self.turn_to(design, &differences);
        let metrics = metrics(plan, spans, &mut step, &mut communication);
        (self.step, self.communication) = (step, communication);
        Ok(metrics)
    }

    /// The plan of a design and all that the model says of it.
    ///
    /// # Errors
    /// Every rule that the design breaks; one whose trace isn't at hand among them.
    pub fn estimate(&mut self, design: &Design) -> Result<(Plan, Estimate), Vec<Violation>> {
        let differences = self.differences(design);
        if rules::first_broken(design, &differences).is_some() {
            return Err(rules::violations(design));
        }
        let (plan, spans) = self.turn_to(design, &differences);
        let own = of_loads(plan, &spans.own);
        let estimate = match &spans.even {
            Some(even) => uneven::combine(plan, own, of_loads(&plan.evened(), even)),
            None => own,
        };
        Ok((plan.clone(), estimate))
    }

    /// The knobs in which a design differs from the last one.
    fn differences(&self, design: &Design) -> KnobSet {
        match &self.plan {
            Some(plan) if core::ptr::eq(plan.design().preset, design.preset) => {
                plan.design().differences(design)
            }
            Some(_) | None => KnobSet::of(KnobId::ALL),
        }
    }

    /// The plan of a legal design that differs in these knobs from the last one, and its spans.
    fn turn_to(&mut self, design: &Design, differences: &KnobSet) -> (&Plan, &Loaded<Spans>) {
        let Self { plan, loads, layers, spans, .. } = self;
        if differences.without(&BEYOND_LAYERS).is_empty() {
            plan.iter_mut().for_each(|plan| plan.follow(design, differences));
        } else {
            *layers = None;
            spans.clear();
            *plan = None;
        }
        let plan: &Plan = plan.get_or_insert_with(|| Plan::checked(design, loads.effect(design)));
        let spans = kept_spans(plan, layers, spans);
        (plan, spans)
    }
}

/// The metrics of a plan; what was made for others is used again.
fn metrics(
    plan: &Plan,
    spans: &Loaded<Spans>,
    step: &mut Step,
    communication: &mut Vec<Communication>,
) -> Metrics {
    step.take(plan, &spans.own);
    let Some(even) = &spans.even else {
        return step.metrics(plan, &spans.own, communication);
    };
    let fullest = step.fullest(plan);
    step.take(plan, even);
    let mut metrics = step.metrics(plan, even, communication);
    uneven::wait_for(&fullest, plan, &mut step.time, &mut metrics);
    metrics
}

/// The spans of a plan: known ones of a design that differs in nothing that they depend on, or new
/// ones.
fn kept_spans<'a>(
    plan: &Plan,
    layers: &mut Option<Loaded<Layers>>,
    known: &'a mut Vec<Box<(Design, Loaded<Spans>)>>,
) -> &'a Loaded<Spans> {
    let design = plan.design();
    let place = known.iter().rposition(|known| has_same_spans(design, &known.0));
    match place {
        Some(place) => known[place..].rotate_left(1),
        None => {
            if known.len() >= MOST_SPANS {
                known.remove(0);
            }
            let even = (!plan.is_even()).then(|| plan.evened());
            let layers = layers.get_or_insert_with(|| {
                let own = Layers::new(plan);
                Loaded { even: even.as_ref().map(|plan| own.under(plan)), own }
            });
            let own = Spans::new(plan, &layers.own);
            let even = even.as_ref().zip(layers.even.as_ref());
            let even = even.map(|(plan, layers)| own.under(plan, layers));
            let spans = Loaded { own, even };
            known.push(Box::new((design.clone(), spans)));
        }
    }
    &known[known.len() - 1].1
}

/// Do designs with the same layers have the same spans?
fn has_same_spans(one: &Design, other: &Design) -> bool {
    let selective = one.memory.recompute_granularity == RecomputeGranularity::Selective;
    one.agrees(other, if selective { &OF_SPANS } else { &OF_WHOLE_SPANS })
}

impl Loads {
    /// What uneven loads do to a design; they are generated once for all that depends on them.
    fn effect(&mut self, design: &Design) -> Effect {
        if design.routing.balance == Balance::Uniform {
            return Effect::of(design);
        }
        let inputs = Inputs::new(design);
        if let Some((_, effect)) = self.known.iter().find(|(known, _)| *known == inputs) {
            return effect.in_micro_batches(design);
        }
        let effect = Effect::of(design);
        if self.known.len() >= MOST_LOADS {
            self.known.clear();
        }
        self.known.push((inputs, effect));
        effect
    }
}
