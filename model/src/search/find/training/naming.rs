//! The three designs with a name: of what was found, the fastest, the safest and the simplest.

use alloc::vec::Vec;

use super::fitting::spare;
use super::fitting::{Closed, Room};
use super::space::Space;
use super::strategy::{RECOMPUTATION, overlaps};
use super::tuning;
use super::walk::{Simulated, Walk, degrees};
use crate::design::{Design, KnobId, KnobSet};
use crate::ground::choice::Timing;
use crate::rules::vocabulary::STRATEGY;
use crate::search::find::pool::Pool;
use crate::search::find::query::{MAX_SAFEST_LAG, MAX_SIMPLEST_LAG};
use crate::search::find::rank;
use crate::search::find::reason::complexity;
use crate::training::estimate::Metrics;
use crate::training::estimator::Estimator;

/// Weight of one overlap that must hold against memory to spare, as a share of the memory.
const OVERLAP_WEIGHT: f64 = 0.01;

/// Weight of one unusual knob against memory to spare: the error of a peak, of which half are
/// within it ([`crate::catalogue::calibration::MEMORY_SPREAD`]).
const UNUSUAL_KNOB_WEIGHT: f64 = 0.15;

/// A gain in speed that isn't worth a knob.
const MIN_GAIN: f64 = 2e-4;

/// Designs from which the simplest is looked for.
const MAX_STARTS: usize = 24;

/// Rounds of small steps to the safest, at most.
const MAX_ROUNDS: usize = 8;

/// Knobs that go back to their neutral values together.
const TOGETHER: &[KnobSet] = &[
    RECOMPUTATION,
    KnobSet::of(&[KnobId::overlap_moe_expert_parallel_comm, KnobId::delay_wgrad_compute]),
    KnobSet::of(&[KnobId::overlap_grad_reduce, KnobId::overlap_param_gather]),
    KnobSet::of(&[
        KnobId::pipeline_model_parallel_size,
        KnobId::virtual_pipeline_model_parallel_size,
        KnobId::pipeline_model_parallel_layout,
        KnobId::noop_layers,
        KnobId::method,
        KnobId::overlap_p2p_comm,
    ]),
    KnobSet::of(&[
        KnobId::virtual_pipeline_model_parallel_size,
        KnobId::pipeline_model_parallel_layout,
        KnobId::method,
        KnobId::overlap_p2p_comm,
    ]),
    KnobSet::of(&[
        KnobId::tensor_model_parallel_size,
        KnobId::sequence_parallel,
        KnobId::tp_comm_overlap,
        KnobId::expert_tensor_parallel_size,
    ]),
    KnobSet::of(&[KnobId::moe_alltoall_overlap_comm, KnobId::moe_zero_memory]),
];

/// The next design with a name of what a walk has found, in the order of
/// [`crate::search::find::Goal::ALL`]; none where nothing fits, or all have one.
///
/// Safest: within 5 % of the fastest, with the most `memory to spare - 0.01 x overlaps - 0.15 x
/// doubts`. Simplest: within 10 %, with the fewest knobs that aren't neutral, of equals the
/// fastest. Small steps go on from the best of both kinds that the walk met.
pub(super) fn next(walk: &mut Walk, pool: &impl Pool, named: &[Simulated]) -> Option<Simulated> {
    let within =
        |fastest: &Simulated, share: f64| fastest.metrics.tokens_per_second * (1.0 - share);
    match named {
        [] => {
            let first = walk.found.first()?.clone();
            Some(tidied(walk, pool, first))
        }
        [fastest] => Some(safest(walk, pool, fastest, within(fastest, MAX_SAFEST_LAG))),
        [fastest, _] => Some(simplest(walk, pool, fastest, within(fastest, MAX_SIMPLEST_LAG))),
        _ => None,
    }
}

/// Whether a design is worth more than the fastest that has its name already, by more than what is
/// given for a plainer one.
pub(super) fn is_faster(walk: &Walk, one: &Simulated, named: &[Simulated]) -> bool {
    let worth = |it: &Simulated| walk.space.worth(&it.design, &it.metrics);
    named.first().is_some_and(|fastest| worth(one) > worth(fastest) * (1.0 + MIN_GAIN))
}

/// The design without knobs that bring nothing.
fn tidied(walk: &mut Walk, pool: &impl Pool, mut best: Simulated) -> Simulated {
    let mut least = best.metrics.tokens_per_second * (1.0 - MIN_GAIN);
    loop {
        let steps = plainer(walk, &best.design);
        walk.simulated += steps.len() as u64;
        let seen = pool.map(&steps, Simulated::new);
        let tidier = seen
            .into_iter()
            .flatten()
            .find(|one| one.metrics.tokens_per_second >= least && walk.reaches(one));
        let Some(tidier) = tidier else { return best };
        least = least.max(tidier.metrics.tokens_per_second * (1.0 - MIN_GAIN));
        best = tidier;
    }
}

/// The design with one knob, or some that go together, back at neutral values.
fn plainer(walk: &Walk, design: &Design) -> Vec<Design> {
    let neutral = Design::neutral(design.preset);
    let space = &walk.space;
    let differs = |knob: &KnobId| design.get(*knob) != neutral.get(*knob);
    let alone = STRATEGY.iter().map(|knob| KnobSet::of(&[knob]));
    let sets = alone.chain(TOGETHER.iter().copied());
    let mut plainer = Vec::new();
    for set in sets {
        let knobs: Vec<KnobId> =
            set.iter().filter(|knob| space.is_free(*knob) && differs(knob)).collect();
        if knobs.is_empty() {
            continue;
        }
        let mut changed = design.clone();
        for knob in knobs {
            // The space's own base has what a framework needs in place of the neutral value.
            let _ = changed.set(knob, &space.base.get(knob));
        }
        let is_plainer = changed != *design && settings(space, &changed) < settings(space, design);
        if is_plainer && space.keeps(&changed) {
            plainer.push(changed);
        }
    }
    plainer
}

fn is_closed(design: &Design) -> Design {
    let mut closed = design.clone();
    closed.schedule.timing = Timing::ClosedForm;
    closed
}

/// Complexity of a design: knobs that aren't neutral, an unusual one counted three times.
fn settings(space: &Space, design: &Design) -> usize {
    complexity(design, &STRATEGY) + 2 * space.doubts(design) as usize
}

/// Safety of a design: the memory to spare, less the weights of its overlaps and unusual knobs.
fn safety(space: &Space, design: &Design, metrics: &Metrics) -> f64 {
    spare(metrics)
        - OVERLAP_WEIGHT * overlaps(design) as f64
        - UNUSUAL_KNOB_WEIGHT * space.doubts(design)
}

/// The safest within this speed, by small steps from the safest that was found.
fn safest(walk: &mut Walk, pool: &impl Pool, fastest: &Simulated, least: f64) -> Simulated {
    let safer = |space: &Space, one: Simulated, other: &Simulated| {
        let score = |it: &Simulated| safety(space, &it.design, &it.metrics);
        if score(other) > score(&one) { other.clone() } else { one }
    };
    let near = walk.found.iter().filter(|it| it.metrics.tokens_per_second >= least);
    let mut best = near.fold(fastest.clone(), |best, other| safer(&walk.space, best, other));
    for _ in 0..MAX_ROUNDS {
        let from = is_closed(&best.design);
        let Some(start) = Closed::new(&mut Estimator::new(), from) else { break };
        // What the simulation adds to the closed form is about the same nearby.
        let drift = best.metrics.tokens_per_second / start.metrics.tokens_per_second;
        let mut steps = tuning::neighbours(&walk.space, &walk.savers, &start.design);
        steps.extend(plainer(walk, &start.design));
        let space = &walk.space;
        let seen = pool.map(&steps, |estimator, design| {
            let closed = Closed::new(estimator, design.clone())?;
            let speed = closed.metrics.tokens_per_second * drift;
            let gains = safety(space, design, &closed.metrics)
                > safety(space, &start.design, &start.metrics);
            (closed.metrics.fits && gains && speed >= least * 0.995).then_some(closed)
        });
        let mut next: Vec<Closed> = seen.into_iter().flatten().collect();
        rank::sort(&mut next, |it| [-safety(space, &it.design, &it.metrics), 0.0]);
        next.truncate(4);
        walk.evaluated += steps.len() as u64;
        let timed = pool.map(&next, |estimator, it| Simulated::new(estimator, &it.design));
        walk.simulated += next.len() as u64;
        let before = best.clone();
        for one in timed.into_iter().flatten() {
            if one.metrics.tokens_per_second >= least && walk.reaches(&one) {
                best = safer(&walk.space, best, &one);
            }
        }
        if best == before {
            break;
        }
    }
    best
}

/// The simplest within this speed: from designs with different degrees, knobs go back to neutral
/// one after the other, the one that costs least first.
fn simplest(walk: &mut Walk, pool: &impl Pool, fastest: &Simulated, least: f64) -> Simulated {
    let mut starts: Vec<(Design, Option<f64>)> = Vec::new();
    let found = walk.found.iter().map(|it| (&it.design, Some(it.metrics.tokens_per_second)));
    let closed = walk.closed.iter().map(|it| (&it.design, None));
    for (design, simulated) in found.chain(closed) {
        if starts.iter().all(|(known, _)| degrees(known) != degrees(design)) {
            starts.push((is_closed(design), simulated));
        }
        if starts.len() >= MAX_STARTS {
            break;
        }
    }
    // What the simulation takes off a closed form, where only that is known.
    let usual = Closed::new(&mut Estimator::new(), is_closed(&fastest.design))
        .map_or(1.0, |it| fastest.metrics.tokens_per_second / it.metrics.tokens_per_second);
    let walked: &Walk = walk;
    let stripped =
        pool.map(&starts, |estimator, start| stripped(walked, estimator, start, least, usual));
    let mut candidates: Vec<(usize, Closed)> = Vec::new();
    let mut evaluated = 0;
    for (closed, count) in stripped {
        evaluated += count;
        candidates.extend(closed.map(|it| (settings(&walk.space, &it.design), it)));
    }
    walk.evaluated += evaluated;
    rank::sort(&mut candidates, |(settings, closed)| {
        [*settings as f64, -closed.metrics.tokens_per_second]
    });
    let mut best = fastest.clone();
    let mut estimator = Estimator::new();
    for (count, closed) in candidates {
        if count >= settings(&walk.space, &best.design) {
            break;
        }
        walk.simulated += 1;
        let Some(one) = Simulated::new(&mut estimator, &closed.design) else { continue };
        if one.metrics.tokens_per_second >= least && walk.reaches(&one) {
            best = tidied_within(walk, pool, one, least);
        }
    }
    let others = walk.found.iter().filter(|it| it.metrics.tokens_per_second >= least);
    others.fold(best.clone(), |best, other| {
        let key =
            |it: &Simulated| (settings(&walk.space, &it.design), -it.metrics.tokens_per_second);
        if key(other) < key(&best) { other.clone() } else { best }
    })
}

/// The design without knobs that it doesn't need to stay within this speed, by simulation.
fn tidied_within(walk: &mut Walk, pool: &impl Pool, mut best: Simulated, least: f64) -> Simulated {
    loop {
        let steps = plainer(walk, &best.design);
        walk.simulated += steps.len() as u64;
        let seen = pool.map(&steps, Simulated::new).into_iter().flatten();
        let kept = seen.filter(|one| one.metrics.tokens_per_second >= least && walk.reaches(one));
        let key =
            |it: &Simulated| (settings(&walk.space, &it.design), -it.metrics.tokens_per_second);
        let next = kept.reduce(|one, other| if key(&other) < key(&one) { other } else { one });
        match next {
            Some(next) => best = next,
            None => return best,
        }
    }
}

/// A design with knobs back at neutral values while closed forms say that it stays fast enough and
/// fits; and how many were estimated. `None` if it is too slow from the start.
fn stripped(
    walk: &Walk,
    estimator: &mut Estimator,
    (start, simulated): &(Design, Option<f64>),
    least: f64,
    usual: f64,
) -> (Option<Closed>, u64) {
    let room: Room = walk.room;
    let mut evaluated = 1;
    let Some(mut best) = Closed::new(estimator, start.clone()) else {
        return (None, evaluated);
    };
    let drift = simulated.map_or(usual, |speed| speed / best.metrics.tokens_per_second);
    let holds =
        |it: &Closed| it.metrics.tokens_per_second * drift >= least && room.holds(&it.metrics);
    if !holds(&best) {
        return (None, evaluated);
    }
    loop {
        let mut next: Option<Closed> = None;
        for design in plainer(walk, &best.design) {
            evaluated += 1;
            let Some(one) = Closed::new(estimator, design).filter(holds) else { continue };
            let key =
                |it: &Closed| (settings(&walk.space, &it.design), -it.metrics.tokens_per_second);
            if next.as_ref().is_none_or(|next| key(&one) < key(next)) {
                next = Some(one);
            }
        }
        match next {
            Some(next) => best = next,
            None => return (Some(best), evaluated),
        }
    }
}
