//! Evaluates a range of places: every design gets a full estimate, or the reason why it gets none.
//!
//! Each rule of the model names the knobs that it reads: one that is broken rules out a whole block
//! of places, and none is asked again before one of its knobs moves. What passes goes to the
//! model's `Estimator`, which makes anew what changes from design to design and nothing else.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use model::Estimator;
use model::choice::Timing;
use model::design::Design;
use model::estimate::Metrics;
use model::measure::{Measure, Regime};
use model::metric::MetricValue;
use model::serving::{Inference, ServingPlan, infer, overheads};

use crate::batch::Batch;
use crate::outcome::Outcome;
use crate::space::{Point, Space};
use crate::spec::{Constraint, Subject};
use crate::summary::Summary;

/// Evaluates some places; none when told to stop before its end.
#[must_use]
pub fn evaluate(space: &Space, batch: impl Into<Batch>, stop: &AtomicBool) -> Option<Summary> {
    evaluate_with(space, batch, stop, |_| ())
}

/// The same, and hears of every design in order.
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

/// Hears of every design of some places, in order; false when told to stop before its end.
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

/// The same by an estimator that may know the designs of chunks before.
fn outcomes_by(
    estimator: &mut Estimator,
    space: &Space,
    batch: &Batch,
    stop: &AtomicBool,
    mut hear: impl FnMut(Outcome<'_>),
) -> bool {
    let mut point = Point::new(space);
    let names = constraint_names(space);
    let regime = space.spec().regime();
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
            // A block ends where the digits that the check reads change.
            let beyond = if blocks { (index / check.block + 1) * check.block } else { place + 1 };
            let points = beyond.min(places.end) - place;
            hear(Outcome::RuledOut { points, reason: &check.name });
            place += points;
            continue;
        }
        match given(estimator, regime, &point.design) {
            Err(reason) => hear(Outcome::RuledOut { points: 1, reason }),
            Ok(given) => {
                let broken = judged(space, &names, &given, &mut values);
                let near_limit = broken.is_none() && is_near(estimator, &point.design, &given);
                let digits = &point.digits;
                hear(Outcome::Legal { index, digits, values: &values, broken, near_limit });
            }
        }
        place += 1;
    }
    true
}

/// What a design gives.
pub(crate) enum Given {
    /// A training step.
    Training(Metrics),
    /// Requests that are answered.
    Serving(Box<(ServingPlan, Inference)>),
}

impl Given {
    /// The value of a metric, a verdict's as 0 or 1; none of the other regime.
    pub(crate) fn number(&self, measure: Measure) -> Option<f64> {
        match (self, measure) {
            (Self::Training(metrics), Measure::Training(id)) => Some(match metrics.get(id) {
                MetricValue::Number(value) => value,
                MetricValue::Flag(flag) => f64::from(u8::from(flag)),
            }),
            (Self::Training(_), Measure::Serving(_)) => None,
            (Self::Serving(served), measure) => measure.served(&served.0, &served.1),
        }
    }
}

/// What a design that keeps its regime's rules gives, or the name of what it still breaks.
pub(crate) fn given(
    estimator: &mut Estimator,
    regime: Regime,
    design: &Design,
) -> Result<Given, &'static str> {
    match regime {
        Regime::Training | Regime::Both => {
            estimator.metrics(design).map(Given::Training).map_err(|rule| rule.name)
        }
        Regime::Serving => {
            // The space's checks asked every rule of serving.
            let own = overheads(design.serving.engine, design.cluster.accelerator);
            let plan = ServingPlan::with_overheads(design, own);
            let inference = infer(&plan);
            Ok(Given::Serving(Box::new((plan, inference))))
        }
    }
}

/// Is a design near the limit by a closed form?
fn is_near(estimator: &mut Estimator, design: &Design, given: &Given) -> bool {
    let Given::Training(metrics) = given else { return false };
    design.schedule.timing == Timing::ClosedForm && estimator.is_near_limit(design, metrics)
}

/// Takes down the columns of a design, and says which constraint it breaks.
pub(crate) fn judged<'a>(
    space: &Space,
    names: &'a [(String, &Constraint)],
    given: &Given,
    values: &mut [f64],
) -> Option<&'a str> {
    // A spec's metrics are of its regime.
    let number = |id| given.number(id).unwrap_or(0.0);
    for (value, id) in values.iter_mut().zip(&space.spec().columns) {
        *value = number(*id);
    }
    let broken = names.iter().find(|(_, constraint)| match constraint.subject {
        Subject::Metric(id) => !constraint.holds(number(id)),
        Subject::Knob(_) => false,
    });
    broken.map(|(name, _)| name.as_str())
}

/// The constraints, with what is counted where one is broken.
pub(crate) fn constraint_names(space: &Space) -> Vec<(String, &Constraint)> {
    let constraints = space.spec().constraints.iter();
    constraints.map(|constraint| (format!("constraint: {}", constraint.text), constraint)).collect()
}
