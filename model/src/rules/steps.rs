//! The step of a whole number: the next values that somebody would take, not the next that are
//! legal. Widths go from tile to tile, groups of ranks by factors.

use alloc::vec::Vec;

use super::checks::keeps_rules_of;
use crate::design::{Design, KnobId};
use crate::ground::knob::{Grain, Kind, Value};

/// Number of values that are tried on each side. Beyond it's no step any more.
const MAX_STEP_TRIES: u64 = 64;

/// The nearest value below and above `now` that somebody would take and that breaks no rule which
/// names the knob; fewer at a bound, none for a knob that isn't a whole number.
///
/// `now` is the value that the design has, or what stands for it where the knob is unset.
#[must_use]
pub fn steps(design: &Design, id: KnobId, now: u64) -> Vec<u64> {
    let (Kind::Integer(low, high) | Kind::OptionalInteger(low, high)) = id.knob().kind else {
        return Vec::new();
    };
    let mut trial = design.clone();
    let mut is_legal = |number: &u64| {
        (low..=high).contains(number)
            && trial.set(id, &Value::Integer(*number)).is_ok()
            && keeps_rules_of(&trial, id)
    };
    let grain = id.knob().grain;
    let below = (1..=MAX_STEP_TRIES).filter_map(|by| lower(grain, now, by)).find(&mut is_legal);
    let above = (1..=MAX_STEP_TRIES).filter_map(|by| higher(grain, now, by)).find(&mut is_legal);
    below.into_iter().chain(above).collect()
}

/// The value that is this many steps below.
fn lower(grain: Grain, now: u64, by: u64) -> Option<u64> {
    match grain {
        Grain::Unit => now.checked_sub(by),
        Grain::Factor => now.is_multiple_of(by + 1).then(|| now / (by + 1)).filter(|it| *it > 0),
        // From between two multiples the first step is to the lower one.
        Grain::Multiple(of) => now.div_ceil(of).checked_sub(by).map(|times| times * of),
    }
}

/// The value that is this many steps above.
fn higher(grain: Grain, now: u64, by: u64) -> Option<u64> {
    match grain {
        Grain::Unit => now.checked_add(by),
        Grain::Factor => now.checked_mul(by + 1).filter(|it| *it > 0),
        Grain::Multiple(of) => (now / of).checked_add(by)?.checked_mul(of),
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::design::link;

    fn of(query: &str, id: KnobId) -> Vec<u64> {
        let design = link::decode(query).expect("a link that decodes");
        let Value::Integer(now) = design.get(id) else { return vec![] };
        steps(&design, id, now)
    }

    #[test]
    fn widths_go_to_the_next_tile_groups_by_factors_and_counts_by_one() {
        assert_eq!(of("", KnobId::padded_base_length), [128, 256]);
        assert_eq!(of("padded_base_length=200", KnobId::padded_base_length), [192, 256]);
        assert_eq!(of("", KnobId::hidden_size), [7_424, 7_936]);
        assert_eq!(of("", KnobId::tensor_model_parallel_size), [4, 16]);
        assert_eq!(of("", KnobId::micro_batch_size), [1, 4]);
        assert_eq!(of("", KnobId::mtp_num_layers), [0, 2]);
        assert!(of("", KnobId::precision).is_empty());
    }

    #[test]
    fn every_step_of_every_preset_is_legal_and_of_its_grain() {
        for preset in
            crate::catalogue::preset::Preset::all().filter(|preset| preset.refused.is_none())
        {
            let design = preset.design();
            for id in KnobId::ALL {
                let Value::Integer(now) = design.get(*id) else { continue };
                for number in steps(&design, *id, now) {
                    let mut moved = design.clone();
                    moved.set(*id, &Value::Integer(number)).expect("in bounds");
                    assert!(keeps_rules_of(&moved, *id), "{id:?} {number}");
                    assert!(
                        match id.knob().grain {
                            Grain::Unit => number != now,
                            Grain::Factor =>
                                number.is_multiple_of(now) || now.is_multiple_of(number),
                            Grain::Multiple(of) => number.is_multiple_of(of),
                        },
                        "{id:?} {now} {number}"
                    );
                }
            }
        }
    }
}
