//! Evaluates a range of places: every design gets a full estimate, or the reason why it gets none.
//!
//! Each rule of the model names the knobs that it reads: one that is broken rules out a whole block
//! of places, and none is checked again before one of its knobs moves. What passes goes to the
//! model's `Estimator`, which makes anew what changes from design to design and nothing else.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use model::Estimator;
use model::design::Design;

use crate::batch::Batch;
use crate::evaluate_point::{Evaluation, evaluate_point, is_closed, too_large};
use crate::outcome::Outcome;
use crate::space::{Point, Space};
use crate::spec::{Constraint, Subject};
use crate::summary::Summary;

/// Evaluates some places; `None` if stopped before their end.
#[must_use]
pub fn evaluate(space: &Space, batch: impl Into<Batch>, stop: &AtomicBool) -> Option<Summary> {
    evaluate_with(space, batch, stop, |_| ())
}

/// Evaluates some places as [`evaluate`] does, and passes every outcome to `hear` in order.
#[must_use]
pub fn evaluate_with(
    space: &Space,
    batch: impl Into<Batch>,
    stop: &AtomicBool,
    mut hear: impl FnMut(&Outcome<'_>),
) -> Option<Summary> {
    let mut summary = Summary::new(space);
    let ended = outcomes(space, batch, stop, |outcome| {
        hear(&outcome);
        summary.add(space, &outcome);
    });
    ended.then(|| summary.settled(space))
}

/// Passes every outcome of some places to `hear`, in order; false if stopped before their end.
pub fn outcomes(
    space: &Space,
    batch: impl Into<Batch>,
    stop: &AtomicBool,
    hear: impl FnMut(Outcome<'_>),
) -> bool {
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    // The lock is not held while designs are estimated.
    let known = idle().pop();
    let mut estimator = known.unwrap_or_default();
    let ended = outcomes_by(&mut estimator, space, &batch.into(), stop, hear);
    let mut idle = idle();
    if idle.len() < MAX_IDLE {
        idle.push(estimator);
    }
    ended
}

/// Estimators between two chunks: what they know of layers is worth more than a chunk's work.
static IDLE: Mutex<Vec<Estimator>> = Mutex::new(Vec::new());

/// Estimators that are kept between chunks, at most.
const MAX_IDLE: usize = 16;

/// Passes outcomes to `hear` as [`outcomes`] does, by an estimator that may know the designs of
/// earlier chunks.
fn outcomes_by(
    estimator: &mut Estimator,
    space: &Space,
    batch: &Batch,
    stop: &AtomicBool,
    mut hear: impl FnMut(Outcome<'_>),
) -> bool {
    let mut point = Point::new(space);
    let names = constraint_names(space);
    let mut values = vec![0.0; space.spec().columns.len()];
    let blocks = space.is_grid();
    let places = batch.places.clone();
    let mut place = places.start;
    while place < places.end {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let index = batch.index(space, place);
        point.go_to(index);
        if let Some(check) = point.failed() {
            // A block ends where the coordinates that the check reads change.
            let beyond = if blocks { (index / check.block + 1) * check.block } else { place + 1 };
            let points = beyond.min(places.end) - place;
            hear(Outcome::RuledOut { points, reason: &check.name });
            place += points;
            continue;
        }
        if let Some(reason) = too_large(estimator, space, &names, &point.design) {
            hear(Outcome::RuledOut { points: 1, reason });
            place += 1;
            continue;
        }
        let evaluation = evaluate_point(estimator, space, &mut point);
        let told = evaluation.and_then(|evaluation| {
            let broken = judged(space, &names, &evaluation, &mut values)?;
            Ok((evaluation, broken))
        });
        match told {
            Err(reason) => hear(Outcome::RuledOut { points: 1, reason }),
            Ok((evaluation, broken)) => {
                let near_limit = broken.is_none() && is_near(estimator, &point.design, &evaluation);
                let (coordinates, found) = (&point.coordinates, evaluation.found());
                hear(Outcome::Legal {
                    index,
                    coordinates,
                    values: &values,
                    broken,
                    near_limit,
                    found,
                });
            }
        }
        place += 1;
    }
    true
}

/// Whether the design that was evaluated last is timed by a closed form and near the memory limit.
fn is_near(estimator: &Estimator, design: &Design, evaluation: &Evaluation) -> bool {
    let Evaluation::Training(trained) = evaluation else { return false };
    // What a search found is simulated.
    is_closed(trained.found.as_deref().unwrap_or(design))
        && estimator.is_near_limit(&trained.metrics)
}

/// Takes down the columns of a design, and says which constraint it breaks.
///
/// # Errors
/// The name of what keeps a number from being known that the sweep asks for.
pub(crate) fn judged<'a>(
    space: &Space,
    names: &'a [(String, &Constraint)],
    evaluation: &Evaluation,
    values: &mut [f64],
) -> Result<Option<&'a str>, &'static str> {
    for (value, id) in values.iter_mut().zip(&space.spec().columns) {
        *value = evaluation.number(space, *id)?;
    }
    for (name, constraint) in names {
        if let Subject::Metric(id) = constraint.subject
            && !constraint.holds(evaluation.number(space, id)?)
        {
            return Ok(Some(name.as_str()));
        }
    }
    Ok(None)
}

/// The constraints, with what is counted where one is broken.
pub(crate) fn constraint_names(space: &Space) -> Vec<(String, &Constraint)> {
    let constraints = space.spec().constraints.iter();
    constraints.map(|constraint| (format!("constraint: {}", constraint.text), constraint)).collect()
}
