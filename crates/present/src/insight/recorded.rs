//! Recorded expert loads in the browser: a worker reads the file and holds the trace, the page
//! holds what it does to a design.

use model::Plan;
use model::design::Design;
use model::ground::choice::Balance;
use model::routing::{Effect, StepLoads};

/// State of the trace that a visitor opened.
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

/// Missing trace of a design that breaks no other rule: a link holds the trace's name and not its
/// loads, so the numbers are computed where the trace is. `None` for every other design.
#[must_use]
pub fn lacking(design: &Design) -> Option<String> {
    let is_traced = design.routing.balance == Balance::Trace;
    if !is_traced || Plan::with_effect(design, Effect::UNIFORM).is_err() {
        return None;
    }
    let which = match &design.routing.trace {
        Some(hash) => format!("the recorded trace of expert loads {hash}"),
        None => "a recorded trace of expert loads".to_owned(),
    };
    Some(format!(
        "Its numbers need {which}, which isn't part of a link. Open it in the explorer and choose \
         the trace's file there."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_design_whose_trace_alone_is_missing_lacks_it() {
        let lacking =
            |query| lacking(&model::design::link::decode(query).expect("a link that decodes"));
        assert_eq!(lacking(""), None);
        let hash = "0123456789abcdef".repeat(4);
        let traced = format!("routing.balance=trace&routing.trace={hash}");
        let says = lacking(&traced).expect("its trace isn't there");
        assert!(says.contains(&hash) && says.contains("trace's file"), "{says}");
        // One that could not run with its trace either says so by the rules that it breaks.
        assert_eq!(lacking("routing.balance=trace&parallel.pipeline_model_parallel_size=12"), None);
    }
}
