//! Effects of generated loads that are known: each is worked out once in a program, for every plan,
//! sweep and request in it.
//!
//! An effect is a function of its [`Inputs`]; remembering it changes no number. It takes a hundred
//! times as long as the rest of an estimate.

use alloc::boxed::Box;

use once_cell::race::OnceBox;

use super::effect::{Effect, Inputs, presets};

/// Effects that are kept, at most, as long as the program runs; of more, each is worked out where
/// it is asked for.
const MAX_KNOWN: usize = 4_096;

/// Places that are looked at before an effect is worked out and not kept.
const MAX_PROBES: usize = 16;

static KNOWN: [OnceBox<(Inputs, Effect)>; MAX_KNOWN] = [const { OnceBox::new() }; MAX_KNOWN];

/// The effect of these inputs.
///
/// Threads that ask for the same at once may both work it out; they get the same bits.
pub(super) fn effect(inputs: &Inputs) -> Effect {
    if let Some(effect) = presets::effect(inputs) {
        return effect;
    }
    let start = inputs.digest() as usize;
    for probe in 0..MAX_PROBES {
        let place = &KNOWN[start.wrapping_add(probe) % MAX_KNOWN];
        let (known, effect) =
            place.get_or_init(|| Box::new((inputs.clone(), Effect::generated(inputs))));
        if known == inputs {
            return *effect;
        }
    }
    Effect::generated(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Design;

    fn inputs(skew: f64) -> Inputs {
        let mut design = Design::from_preset("pangu-ultra-moe-6k").expect("a preset");
        design.routing.skew = skew;
        Inputs::new(&design)
    }

    #[test]
    fn what_is_known_is_what_is_worked_out() {
        for skew in [0.1, 0.2, 0.1, 0.3, 0.2] {
            let inputs = inputs(skew);
            assert_eq!(effect(&inputs), Effect::generated(&inputs));
        }
    }

    #[test]
    fn inputs_that_differ_are_told_apart_wherever_they_are_kept() {
        assert_ne!(inputs(0.1).digest(), inputs(0.2).digest());
        assert_ne!(effect(&inputs(0.1)), effect(&inputs(0.2)));
    }
}
