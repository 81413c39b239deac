//! Recorded expert loads in the browser: a worker reads the file and holds the trace, the page
//! holds what it does to a design.

use model::Plan;
use model::choice::Balance;
use model::design::Design;
use model::routing::{Effect, StepLoads};

/// What is known of the trace that a visitor opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Recorded {
    /// There is none.
    #[default]
    None,
    /// It is being read.
    Reading,
    /// It is at hand, by its hash.
    AtHand(String),
    /// It can't be read; why.
    Refused(Vec<String>),
}

/// The numbers of an effect that a trace decides, in a fixed order.
#[must_use]
pub fn numbers(effect: &Effect) -> [f64; 5] {
    let steps = &effect.steps;
    let loads = [steps.imbalance, steps.imbalance_unplanned, steps.fullest];
    [loads[0], loads[1], loads[2], effect.drop_ratio, effect.moved]
}

/// The effect of these [`numbers`] on a design; `None` for another count of numbers.
#[must_use]
pub fn effect(numbers: &[f64], design: &Design) -> Option<Effect> {
    let [imbalance, imbalance_unplanned, fullest, drop_ratio, moved] = *numbers else {
        return None;
    };
    let steps = StepLoads { imbalance, imbalance_unplanned, fullest };
    Some(Effect { drop_ratio, moved, steps, ..Effect::UNIFORM }.in_micro_batches(design))
}

/// The plan of a design with the loads of a plan that was made of the same trace.
#[must_use]
pub fn same_trace<'a>(design: &Design, traced: Option<&'a Plan>) -> Option<&'a Plan> {
    let is_traced = design.routing.balance == Balance::Trace;
    traced.filter(|plan| is_traced && plan.design().routing.trace == design.routing.trace)
}
