//! The change of each knob that helps.

use alloc::vec::Vec;

use super::options::{Candidate, KNOBS, Tried};
use crate::design::{Design, KnobId};
use crate::ground::knob::Value;
use crate::ground::sorting::sort_short;
use crate::ground::units::Bytes;
use crate::rules::vocabulary::Vocabulary;
use crate::search::fit::make_it_fit;
use crate::search::fit::screening::{MAX_SCREENED_FILL, pressure, screened};
use crate::training::estimate::Estimate;
use crate::training::plan::Plan;
use crate::training::step::estimate;

/// Values of one knob that are estimated as the plan is timed.
const MAX_TIMED_VALUES: usize = 8;

/// A change of one knob, and what it does to the design.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The knob.
    pub knob: KnobId,
    /// Its new value.
    pub value: Value,
    /// Knobs that have to move with it, with their new values.
    pub with: Vec<(KnobId, Value)>,
    /// Does the design fit then, by its predicted peak?
    pub fits: bool,
    /// Probability of fitting with the change.
    pub fit_probability: f64,
    /// MFU then.
    pub mfu: f64,
    /// Peak device memory then.
    pub memory_peak: Bytes,
}

/// A candidate that is legal, by the closed form.
struct Screened {
    candidate: Candidate,
    pressure: f64,
    mfu: f64,
}

/// One change for each knob that has one; see [`super::Verdict::changes`].
pub(super) fn changes(plan: &Plan, present: &Estimate) -> Vec<Change> {
    let Some((quick, as_it_is)) = screened(plan, plan.design()) else { return Vec::new() };
    let now = Screened {
        candidate: Candidate { design: plan.design().clone(), distance: 0.0 },
        pressure: pressure(&quick.deployment.machine, &as_it_is),
        mfu: as_it_is.metrics.mfu,
    };
    let of_knob = |knob: &Tried| {
        if present.metrics.fits {
            faster(plan, present, &now, knob)
        } else {
            smallest(plan, present, &now, knob)
        }
    };
    let mut changes: Vec<(f64, Change)> = KNOBS.iter().filter_map(of_knob).collect();
    sort_short(&mut changes, |(one_pressure, one), (other_pressure, other)| {
        other.fits.cmp(&one.fits).then_with(|| {
            if one.fits {
                other.mfu.total_cmp(&one.mfu)
            } else {
                one_pressure.total_cmp(other_pressure)
            }
        })
    });
    changes.into_iter().map(|(_, change)| change).collect()
}

/// The recomputation and swapping that fits and is fastest, as a change of its first knob.
pub(super) fn cheapest_set(plan: &Plan) -> Option<Change> {
    let best = make_it_fit(plan).best?.design;
    let knobs = [
        KnobId::recompute_modules,
        KnobId::swap_modules,
        KnobId::recompute_granularity,
        KnobId::recompute_num_layers,
    ];
    let first = knobs.into_iter().find(|knob| best.differs(plan.design(), *knob))?;
    timed(plan, first, &best).map(|(_, change)| change)
}

fn screen(plan: &Plan, candidates: Vec<Candidate>) -> Vec<Screened> {
    let words = Vocabulary::of(plan.design());
    let screen = |candidate: Candidate| {
        if !words.says_change(plan.design(), &candidate.design) {
            return None;
        }
        let (plan, estimate) = screened(plan, &candidate.design)?;
        let (pressure, mfu) = (pressure(&plan.deployment.machine, &estimate), estimate.metrics.mfu);
        Some(Screened { candidate, pressure, mfu })
    };
    candidates.into_iter().filter_map(screen).collect()
}

/// The nearest value that fits, else the one that comes nearest to fitting; with how full the
/// fullest memory is then.
fn smallest(
    plan: &Plan,
    present: &Estimate,
    now: &Screened,
    knob: &Tried,
) -> Option<(f64, Change)> {
    let mut found = screen(plan, (knob.freeing)(plan, knob.id));
    found.retain(|screened| screened.pressure < now.pressure);
    sort_short(&mut found, |one, other| {
        let nearer = one.candidate.distance.total_cmp(&other.candidate.distance);
        nearer.then_with(|| other.mfu.total_cmp(&one.mfu))
    });
    let near = found.iter().filter(|screened| screened.pressure <= MAX_SCREENED_FILL);
    let fitting = near.take(MAX_TIMED_VALUES).find_map(|screened| {
        timed(plan, knob.id, &screened.candidate.design).filter(|(_, change)| change.fits)
    });
    let least = || {
        let least = found.iter().min_by(|one, other| one.pressure.total_cmp(&other.pressure))?;
        timed(plan, knob.id, &least.candidate.design).filter(|(needed, change)| {
            !change.fits && *needed < pressure(&plan.deployment.machine, present)
        })
    };
    fitting.or_else(least)
}

/// The fastest value that needs more memory and fits.
fn faster(plan: &Plan, present: &Estimate, now: &Screened, knob: &Tried) -> Option<(f64, Change)> {
    let mut found = screen(plan, (knob.giving_back)(plan, knob.id));
    found.retain(|screened| screened.mfu > now.mfu && screened.pressure <= MAX_SCREENED_FILL);
    sort_short(&mut found, |one, other| other.mfu.total_cmp(&one.mfu));
    let used = pressure(&plan.deployment.machine, present);
    found.iter().take(MAX_TIMED_VALUES).find_map(|screened| {
        timed(plan, knob.id, &screened.candidate.design).filter(|(needed, change)| {
            change.fits && change.mfu > present.metrics.mfu && *needed > used
        })
    })
}

/// Memory pressure of a design as it is timed, and its change of the plan's one.
fn timed(plan: &Plan, id: KnobId, design: &Design) -> Option<(f64, Change)> {
    let changed = plan.variant(design).ok()?;
    let estimate = estimate(&changed);
    let before = plan.design();
    let moved = |other: &&KnobId| **other != id && before.get(**other) != design.get(**other);
    let change = Change {
        knob: id,
        value: design.get(id),
        with: KnobId::ALL.iter().filter(moved).map(|id| (*id, design.get(*id))).collect(),
        fits: estimate.metrics.fits,
        fit_probability: estimate.metrics.fit_probability,
        mfu: estimate.metrics.mfu,
        memory_peak: estimate.metrics.memory_peak,
    };
    Some((pressure(&changed.deployment.machine, &estimate), change))
}
