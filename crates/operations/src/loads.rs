//! Expert loads of a design: those of a trace, and their imbalance in words, with what a planner
//! makes of it.

use model::Plan;
use model::design::Design;
use model::design::violation::Violation;
use model::ground::choice::Balance;
use model::routing::{Effect, Trace};
use present::format;

use crate::columns::table_below;

/// The plan of a design, with the loads of a trace where there is one: the design then names it.
///
/// # Errors
/// Every rule that the design breaks.
pub fn plan(design: &mut Design, trace: Option<&Trace>) -> Result<Plan, Vec<Violation>> {
    let Some(trace) = trace else { return Plan::new(design) };
    design.routing.balance = Balance::Trace;
    design.routing.trace = Some(trace.content_hash());
    Plan::with_trace(design, trace)
}

/// Loads before and after the planner: of steps, of what micro-batches add, and of all.
fn rows(effect: &Effect) -> [(&'static str, Option<f64>, f64, Option<f64>); 3] {
    let steps = &effect.steps;
    [
        ("steps", Some(steps.imbalance_unplanned), steps.imbalance, Some(steps.removed())),
        ("micro-batches of an even step", None, 1.0 + effect.noise, None),
        ("all", Some(effect.imbalance_unplanned), effect.imbalance, Some(effect.removed())),
    ]
}

/// Loads for people; empty if every expert gets the same.
#[must_use]
pub fn text(plan: &Plan, trace: Option<&Trace>) -> String {
    if plan.design().routing.balance == Balance::Uniform {
        return String::new();
    }
    format!("Expert loads\n  {}\n{}", source(plan, trace), imbalance(plan.effect()))
}

/// Origin of the loads.
#[must_use]
pub fn source(plan: &Plan, trace: Option<&Trace>) -> String {
    let Some(trace) = trace else {
        let skew = format::significant(plan.design().routing.skew, 2);
        return format!("generated, skew {skew}");
    };
    format!(
        "trace {}: {}, {}, {}",
        trace.content_hash(),
        format::counted(trace.steps() as u64, "step", "steps"),
        format::counted(trace.layers() as u64, "layer", "layers"),
        format::counted(trace.experts() as u64, "expert", "experts"),
    )
}

/// Imbalance in rows, and what it is.
#[must_use]
pub fn imbalance(effect: &Effect) -> String {
    let header = ["imbalance of", "without planner", "with planner", "removed"];
    let number = |value: f64| format::decimals(value, 3);
    let cells = rows(effect).map(|(name, before, after, removed)| {
        vec![
            name.to_owned(),
            before.map_or_else(|| number(after), number),
            number(after),
            removed.map_or_else(String::new, |share| format::percent(share, 0).to_string()),
        ]
    });
    format!(
        "{}  imbalance: tokens of the fullest rank over the mean, mean over steps and layers; no \
         planner foresees micro-batches\n",
        table_below(header, "lrrr", cells)
    )
}
