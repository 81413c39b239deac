//! The three layouts with a name: of what was found, the fastest, the safest and the simplest.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::design::{Design, KnobId, KnobSet};
use crate::search::find::answer::Candidate;
use crate::search::find::query::{Goal, MAX_SAFEST_LAG, MAX_SIMPLEST_LAG};
use crate::search::find::reason::{self, complexity, percent};
use crate::search::find::target::{Predicted, Target};
use crate::serving::{Inference, LAYOUT};

/// Least speed of a design with a name, as a share of the fastest's.
pub(super) const MIN_NAMED_SPEED: f64 = 1.0 - MAX_SIMPLEST_LAG;

/// Knobs of a layout without its load.
pub(super) const DEGREES: KnobSet = LAYOUT.without(&KnobSet::of(&[KnobId::concurrency]));

/// Designs with a name of those that reach the targets, the fastest in front, in the order of
/// [`Goal::ALL`]; none of none.
///
/// Safest: within 5 % of the fastest, the one that is furthest from the end of its cache and from
/// every limit and target. Simplest: within 10 %, the fewest degrees that aren't neutral.
pub(super) fn named(
    found: &[Candidate<Inference>],
    targets: &[Target],
) -> Vec<Candidate<Inference>> {
    let Some(fastest) = found.first() else { return Vec::new() };
    let within = |share: f64| {
        let least = fastest.metrics.speed() * (1.0 - share);
        found.iter().filter(move |it| it.metrics.speed() >= least)
    };
    let safest = within(MAX_SAFEST_LAG).reduce(|best, other| {
        if room(other, targets) > room(best, targets) { other } else { best }
    });
    let simplest = within(MAX_SIMPLEST_LAG).reduce(|best, other| {
        let settings = |it: &Candidate<Inference>| complexity(&it.design, &DEGREES);
        if settings(other) < settings(best) { other } else { best }
    });
    [Some(fastest), safest, simplest].into_iter().flatten().cloned().collect()
}

/// Smallest distance of a design from the end of its cache and from its targets, as a share.
fn room(one: &Candidate<Inference>, targets: &[Target]) -> f64 {
    let to = |target: &Target| target.room(&one.design, &one.metrics);
    targets.iter().map(to).fold(one.metrics.spare(), f64::min)
}

/// Why a named design is in an answer.
pub(super) fn why(
    goal: Goal,
    one: &Candidate<Inference>,
    fastest: &Candidate<Inference>,
    second: Option<&Candidate<Inference>>,
    at_hand: Option<f64>,
    targets: &[Target],
) -> Vec<String> {
    let mut lines = Vec::new();
    match goal {
        Goal::Fastest => {
            lines.extend(at_hand.map(|now| reason::against(one.metrics.speed(), now)));
            lines.extend(second.map(|it| reason::second(one, it, &degrees(&it.design))));
        }
        Goal::Safest => lines.push(format!(
            "{} from the end of its cache and from each limit, the fastest {}",
            percent(room(one, targets)),
            percent(room(fastest, targets))
        )),
        Goal::Simplest => lines.push(reason::settings(one, fastest, &DEGREES)),
    }
    if goal != Goal::Fastest {
        lines.push(reason::lag(one, fastest));
    }
    lines
}

/// The degrees of a design, as people name them.
fn degrees(design: &Design) -> String {
    let serving = &design.serving;
    let prefill = serving.prefill_devices.unwrap_or(0);
    reason::letters(&[
        ("TP", serving.tensor_parallel_size),
        ("PP", serving.pipeline_parallel_size),
        ("DP", serving.data_parallel_size),
        ("EP", serving.moe_expert_parallel_size),
        ("ETP", serving.moe_tensor_parallel_size.unwrap_or(1)),
        ("prefill on", prefill),
    ])
}
