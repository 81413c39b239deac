//! What one design gives: its step, its run beside a baseline, or the requests that it answers; and
//! where a sweep finds each design's strategy, the design with what was found.

use std::cell::RefCell;

use model::design::{Design, KnobId, KnobSet};
use model::ground::choice::Timing;
use model::metric::{MetricId, Regime};
use model::run::budget::{Budget, Contest, plain};
use model::search::find::{Guide, Pool, Query};
use model::serving::{Inference, ServingPlan, infer, overheads};
use model::training::estimate::Metrics;
use model::{Answer, Estimator, Plan};

use crate::bench::Made;
use crate::space::{Point, Space};
use crate::spec::{Constraint, Spec, Subject};

/// Models whose searches guide those of the others, at most.
const MAX_REFERENCES: usize = 24;

/// Knobs whose every value has a search of its own: grids differ with them.
const OF_GRIDS: [KnobId; 4] =
    [KnobId::num_moe_experts, KnobId::num_devices, KnobId::global_batch_size, KnobId::seq_length];

/// A training design with what it gives.
#[derive(Debug)]
pub(crate) struct Trained {
    pub(crate) metrics: Metrics,
    /// Its plan and budget, where the sweep asks for either.
    run: Option<Box<(Plan, Budget)>>,
    /// The design with the strategy that was found, where the sweep finds one.
    pub(crate) found: Option<Box<Design>>,
}

/// Evaluation of a legal design, by regime.
#[derive(Debug)]
pub(crate) enum Evaluation {
    /// A training step, and its run.
    Training(Box<Trained>),
    /// Requests that are answered.
    Serving(Box<(ServingPlan, Inference)>),
}

impl Evaluation {
    /// Evaluation of a training design with these metrics, with its run if the sweep asks for one.
    pub(crate) fn trained(space: &Space, design: &Design, metrics: Metrics) -> Self {
        let plan = || Plan::new(design).ok();
        let run = space.asks_run().then(plan).flatten().map(|plan| {
            let budget = plain(&plan, &metrics);
            Box::new((plan, budget))
        });
        Self::Training(Box::new(Trained { metrics, run, found: None }))
    }

    /// The value of a metric, a verdict's as 0 or 1.
    ///
    /// # Errors
    /// The name of what keeps it from being known.
    pub(crate) fn number(&self, space: &Space, id: MetricId) -> Result<f64, &'static str> {
        let trained = match self {
            Self::Training(trained) => trained,
            Self::Serving(served) => {
                let (plan, inference) = &**served;
                return Answer::Serving { plan, inference }.number(id).ok_or("metric_of_training");
            }
        };
        match id.regime() {
            Regime::Model | Regime::Training | Regime::Serving => {
                trained.metrics.number(id).ok_or("metric_of_serving")
            }
            Regime::Budget => {
                let run = trained.run.as_ref();
                run.and_then(|run| run.1.get(id)).ok_or("run_is_not_known")
            }
            Regime::Quality => {
                let made = made(space);
                let (Some(own), Some(base)) = (&trained.run, &made.baseline) else {
                    return Err("baseline_does_not_train");
                };
                Contest::new((&own.0, &own.1), (&base.0, &base.1)).number(id)
            }
        }
    }

    /// The design with the strategy that was found.
    pub(crate) fn found(&self) -> Option<&Design> {
        match self {
            Self::Training(trained) => trained.found.as_deref(),
            Self::Serving(_) => None,
        }
    }
}

/// Evaluates a point that no check of its space rules out: its design keeps its regime's rules, but
/// where a strategy is found for it.
///
/// # Errors
/// The name of the rule or constraint that it still breaks.
pub(crate) fn evaluate_point(
    estimator: &mut Estimator,
    space: &Space,
    point: &mut Point<'_>,
) -> Result<Evaluation, &'static str> {
    let (spec, design) = (space.spec(), &point.design);
    if spec.regime() == Regime::Serving {
        // The space's checks covered every rule of serving.
        let own = overheads(design.serving.engine, design.cluster.accelerator);
        let plan = ServingPlan::with_overheads(design, own);
        let inference = infer(&plan);
        return Ok(Evaluation::Serving(Box::new((plan, inference))));
    }
    if spec.find.is_some() {
        return searched(made(space).guide.as_ref(), space, estimator, design);
    }
    let metrics = estimator.metrics_of_legal(design, &point.moved);
    point.moved = KnobSet::EMPTY;
    Ok(Evaluation::trained(space, &point.design, metrics))
}

/// A design with the fastest strategy that is found for it.
fn searched(
    guide: Option<&Guide>,
    space: &Space,
    estimator: &mut Estimator,
    design: &Design,
) -> Result<Evaluation, &'static str> {
    let Some(guide) = guide else { return Err("no_layout_fits") };
    let near = guide.near(&query(space.spec(), design), &Own(RefCell::new(estimator)));
    let near = near.map_err(|broken| broken.first().map_or("no_layout_fits", |it| it.rule))?;
    let (found, metrics) = near.best.ok_or("no_layout_fits")?;
    match Evaluation::trained(space, &found, metrics) {
        Evaluation::Training(mut trained) => {
            trained.found = Some(Box::new(found));
            Ok(Evaluation::Training(trained))
        }
        served @ Evaluation::Serving(_) => Ok(served),
    }
}

/// The constraint on a count of parameters that a design doesn't keep, whatever its strategy.
pub(crate) fn too_large<'a>(
    estimator: &mut Estimator,
    space: &Space,
    names: &'a [(String, &Constraint)],
    design: &Design,
) -> Option<&'a str> {
    space.spec().find.as_ref()?;
    let of_params = |constraint: &Constraint| match constraint.subject {
        Subject::Metric(id) => (id.regime() == Regime::Model).then_some(id),
        Subject::Knob(_) => None,
    };
    let mut asked = names
        .iter()
        .filter_map(|(name, constraint)| Some((name, *constraint, of_params(constraint)?)));
    let first = asked.next()?;
    let metrics = estimator.metrics(&query(space.spec(), design).plain()).ok()?;
    let breaks = |(_, constraint, id): &(&String, &Constraint, MetricId)| {
        !metrics.number(*id).is_some_and(|number| constraint.holds(number))
    };
    std::iter::once(first).chain(asked).find(breaks).map(|(name, ..)| name.as_str())
}

/// Query of a search for the strategy of a design.
fn query(spec: &Spec, design: &Design) -> Query {
    let strategy = spec.find.unwrap_or_default();
    Query { keep: strategy.keep, any_schedule: strategy.any_schedule, ..Query::new(design.clone()) }
}

/// Makes the guide and the baseline of a space, which takes seconds where strategies are found;
/// without this call the first design that is evaluated does.
pub fn prepare(space: &Space) {
    if space.spec().find.is_some() || space.spec().asks_run() {
        made(space);
    }
}

fn made(space: &Space) -> &Made {
    space.bench().0.get_or_init(|| {
        let spec = space.spec();
        let guide = spec.find.is_some().then(|| guide(space));
        let baseline = spec.asks_run().then(|| {
            let design = &spec.baseline;
            let mut estimator = Estimator::new();
            let evaluation = match &guide {
                Some(guide) => searched(Some(guide), space, &mut estimator, design),
                None => match estimator.metrics(design) {
                    Ok(metrics) => Ok(Evaluation::trained(space, design, metrics)),
                    Err(rule) => Err(rule.name),
                },
            };
            match evaluation {
                Ok(Evaluation::Training(trained)) => trained.run.map(|run| *run),
                Ok(Evaluation::Serving(_)) | Err(_) => None,
            }
        });
        Made { guide, baseline: baseline.flatten() }
    })
}

/// Guide from the searches of some models of a space: the sweep's own design, those with the first
/// and with the last value of every knob, that with the first and the last value of each, and with
/// each value of those that change the grid.
fn guide(space: &Space) -> Guide {
    let spec = space.spec();
    let mut designs = vec![spec.baseline.clone(), spec.base.clone()];
    let [mut least, mut most] = [spec.base.clone(), spec.base.clone()];
    for axis in space.axes() {
        for (corner, value) in [(&mut least, axis.values.first()), (&mut most, axis.values.last())]
        {
            value.into_iter().for_each(|value| space.vary(corner, axis.knob, value));
        }
    }
    designs.extend([least, most]);
    for axis in space.axes() {
        let ends = [axis.values.first(), axis.values.last()].into_iter().flatten();
        let values: Vec<_> = if OF_GRIDS.contains(&axis.knob) {
            axis.values.iter().collect()
        } else {
            ends.collect()
        };
        designs.extend(values.into_iter().map(|value| {
            let mut design = spec.base.clone();
            space.vary(&mut design, axis.knob, value);
            design
        }));
    }
    let mut queries: Vec<Query> = Vec::new();
    for design in designs {
        let query = query(spec, &design);
        if queries.len() < MAX_REFERENCES && !queries.contains(&query) {
            queries.push(query);
        }
    }
    // Each search alone is the same on any number of threads.
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let mut told: Vec<(usize, Guide)> = std::thread::scope(|scope| {
        let work = || {
            let mut told = Vec::new();
            loop {
                let place = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let Some(query) = queries.get(place) else { return told };
                let mut estimator = Estimator::new();
                told.push((place, Guide::of(query, &Own(RefCell::new(&mut estimator)))));
            }
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    told.sort_by_key(|(place, _)| *place);
    Guide::merged(told.into_iter().map(|(_, guide)| guide))
}

/// The one thread that evaluates a chunk, with the estimator that it has.
struct Own<'a>(RefCell<&'a mut Estimator>);

impl Pool for Own<'_> {
    fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&mut Estimator, &T) -> R + Sync,
    ) -> Vec<R> {
        let mut estimator = self.0.borrow_mut();
        items.iter().map(|item| work(&mut estimator, item)).collect()
    }
}

/// Whether a design is timed by a closed form.
pub(crate) fn is_closed(design: &Design) -> bool {
    design.schedule.timing == Timing::ClosedForm
}
