//! Effects of the presets' own loads, worked out beforehand: they are the first that a visitor, a
//! program or a worker in the browser asks for.
//!
//! Numbers of [`Inputs::generated_effect`], to the bit: a test works them out again.

use super::effect::{Effect, StepLoads};
use super::inputs::Inputs;
use crate::ground::choice::{Balance, Planner, PlannerTrigger};

/// The effect of these inputs, where a preset has them.
pub(super) fn effect(inputs: &Inputs) -> Option<Effect> {
    EFFECTS.iter().find(|(known, _)| known == inputs).map(|(_, effect)| *effect)
}

/// Inputs from which Pangu Ultra MoE's loads and their planner are generated.
const PLANNED: Inputs = Inputs {
    balance: Balance::Skewed,
    skew: 0.21,
    predictor: Planner::SlidingWindow,
    trigger: PlannerTrigger::OnIncrease,
    window: 16,
    interval: 50,
    threshold: 0.08,
    redundant: 0,
    devices: 32,
    experts: 256,
    topk: 8,
    groups: 1,
    layers: 58,
    capacity: None,
    pads: false,
};

/// Inputs of its baseline, without a planner.
const UNPLANNED: Inputs =
    Inputs { predictor: Planner::None, trigger: PlannerTrigger::Threshold, ..PLANNED };

static EFFECTS: [(Inputs, Effect); 2] = [
    (
        PLANNED,
        of_steps(
            StepLoads {
                imbalance: 1.011_682_113_011_678,
                imbalance_unplanned: 1.164_715_290_069_58,
                fullest: 1.296_783_447_265_625,
            },
            0.16,
        ),
    ),
    (
        UNPLANNED,
        of_steps(
            StepLoads {
                imbalance: 1.164_734_363_555_908_2,
                imbalance_unplanned: 1.164_734_363_555_908_2,
                fullest: 1.293_155_670_166_015_6,
            },
            0.0,
        ),
    ),
];

/// An effect of step loads of which no capacity drops any, where this many experts are moved.
const fn of_steps(steps: StepLoads, moved: f64) -> Effect {
    let StepLoads { imbalance, imbalance_unplanned, fullest } = steps;
    Effect { imbalance, imbalance_unplanned, fullest, moved, steps, ..Effect::UNIFORM }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::preset::Preset;

    #[test]
    fn every_preset_with_generated_loads_has_the_effect_that_is_worked_out() {
        let mut found = 0;
        for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
            let inputs = Inputs::new(&preset.design());
            if inputs.balance != Balance::Skewed {
                continue;
            }
            let expected = inputs.generated_effect();
            assert_eq!(effect(&inputs), Some(expected), "{}: {inputs:?}", preset.id);
            found += 1;
        }
        assert!(found >= EFFECTS.len(), "{found}");
    }
}
