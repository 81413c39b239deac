//! Effects of generated loads that are known: each is worked out once in a program, for every plan,
//! sweep and request in it.
//!
//! An effect is a function of its [`Inputs`]; remembering it changes no number. It takes a hundred
//! times as long as the rest of an estimate.

use alloc::boxed::Box;

use once_cell::race::OnceBox;

use super::effect::Effect;
use super::inputs::{Inputs, Loads};
use super::planner::{Outcome, Predictor};
use super::presets;
use super::trace::Trace;
use crate::design::Design;
use crate::ground::choice::Balance;

/// Effects that are kept, at most, as long as the program runs; of more, each is worked out where
/// it is used.
const MAX_KNOWN: usize = 4_096;

/// Places that are looked at before an effect is worked out and not kept.
const MAX_PROBES: usize = 16;

static KNOWN: [OnceBox<(Inputs, Effect)>; MAX_KNOWN] = [const { OnceBox::new() }; MAX_KNOWN];

/// The effect of these inputs.
///
/// Threads that ask for the same at once may both work it out; they get the same bits.
fn effect(inputs: &Inputs) -> Effect {
    if let Some(effect) = presets::effect(inputs) {
        return effect;
    }
    let start = inputs.digest() as usize;
    for probe in 0..MAX_PROBES {
        let place = &KNOWN[start.wrapping_add(probe) % MAX_KNOWN];
        let (known, effect) =
            place.get_or_init(|| Box::new((inputs.clone(), inputs.generated_effect())));
        if known == inputs {
            return *effect;
        }
    }
    inputs.generated_effect()
}

impl Effect {
    /// The effect of a design's own loads: none where they are even, the generator's where they
    /// are skewed. A trace isn't part of a design, so that traced loads have none here.
    #[must_use]
    pub fn of(design: &Design) -> Self {
        match design.routing.balance {
            Balance::Uniform | Balance::Trace => Self::UNIFORM,
            Balance::Skewed => effect(&Inputs::new(design)).in_micro_batches(design),
        }
    }

    /// The effect of recorded loads.
    #[must_use]
    pub fn traced(design: &Design, trace: &Trace) -> Self {
        let loads = Loads::new(&Inputs::new(design), trace);
        Self::of_loads(design, trace, &loads)
    }

    /// Effect of loads that were prepared for a design with the same devices and capacity.
    pub(crate) fn of_loads(design: &Design, trace: &Trace, loads: &Loads) -> Self {
        let outcome = loads.run(trace, &Inputs::new(design).planner(1));
        Self::of_run(design, trace, loads, &outcome)
    }

    /// Effect of a run of a design's planner on these loads.
    pub(crate) fn of_run(design: &Design, trace: &Trace, loads: &Loads, outcome: &Outcome) -> Self {
        let inputs = Inputs { experts: trace.experts() as u64, ..Inputs::new(design) };
        let planner = inputs.planner(1);
        let planned = planner.predictor != Predictor::None && trace.steps() > planner.interval;
        let from = if planned { planner.interval } else { 0 };
        inputs.measure(trace, loads, &planner, outcome, from).in_micro_batches(design)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(skew: f64) -> Inputs {
        let mut design = Design::from_preset("pangu-ultra-moe-6k").expect("a preset");
        design.routing.skew = skew;
        Inputs::new(&design)
    }

    #[test]
    fn what_is_known_is_what_is_worked_out() {
        for skew in [0.1, 0.2, 0.1, 0.3, 0.2] {
            let inputs = inputs(skew);
            assert_eq!(effect(&inputs), inputs.generated_effect());
        }
    }

    #[test]
    fn inputs_that_differ_are_told_apart_wherever_they_are_kept() {
        assert_ne!(inputs(0.1).digest(), inputs(0.2).digest());
        assert_ne!(effect(&inputs(0.1)), effect(&inputs(0.2)));
    }
}
