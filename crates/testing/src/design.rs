//! Designs of presets with a few knobs changed, their plans and estimates.
//!
//! Settings are pairs of a knob's name or alias and its value as text, set in their order.

use model::design::violation::Violation;
use model::design::{Design, KnobId};
use model::serving::ServingPlan;
use model::training::estimate::Estimate;
use model::{Plan, estimate};

/// The design of a preset with settings.
#[track_caller]
pub fn from_preset(preset: &str, settings: &[(&str, &str)]) -> Design {
    let design = Design::from_preset(preset).unwrap_or_else(|error| panic!("{preset}: {error}"));
    changed(&design, settings)
}

/// A design with settings on top.
#[track_caller]
pub fn changed(design: &Design, settings: &[(&str, &str)]) -> Design {
    let mut design = design.clone();
    for (knob, value) in settings {
        let id = KnobId::find(knob).unwrap_or_else(|error| panic!("{error}"));
        design.set_text(id, value).unwrap_or_else(|error| panic!("{knob}={value}: {error}"));
    }
    design
}

/// A design with one setting on top.
#[track_caller]
pub fn with(design: &Design, knob: &str, value: &str) -> Design {
    changed(design, &[(knob, value)])
}

/// The plan of a design that can run.
#[track_caller]
pub fn plan(design: &Design) -> Plan {
    Plan::new(design).unwrap_or_else(|broken| panic!("{}", messages(&broken)))
}

/// The estimate of a design that can run.
#[track_caller]
pub fn estimated(design: &Design) -> Estimate {
    estimate(&plan(design))
}

/// The plan of an engine that serves a design.
#[track_caller]
pub fn serving_plan(design: &Design) -> ServingPlan {
    ServingPlan::new(design).unwrap_or_else(|broken| panic!("{}", messages(&broken)))
}

fn messages(broken: &[Violation]) -> String {
    broken.iter().map(|violation| violation.message.as_str()).collect::<Vec<_>>().join("\n")
}
