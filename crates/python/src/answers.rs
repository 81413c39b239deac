//! Questions about one design, answered as data: the objects that the command line prints.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use model::Estimator;
use model::design::file::Tree;
use model::design::violation::Violation;
use model::search::find::{Domain, LayoutSearch, Phase, Query, Search, StrategySearch};
use model::serving::ServingPlan;
use operations::{Caller, OPERATIONS};
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use reports::found::{Reported, Terms, tree};
use reports::report::Asked;
use reports::{Cores, inferred, registry, report};

use crate::design::Design;
use crate::python_tree::{from_python, to_python};
use crate::refusal::{illegal, invalid, of_refusal, refused};
use crate::work::{interruptible, unlocked};

type Answer<'py> = PyResult<Bound<'py, PyAny>>;

/// What a design would achieve in training, with or without the verdict on its memory.
#[pyfunction]
pub(crate) fn predict<'py>(py: Python<'py>, design: &Design, verdict: bool) -> Answer<'py> {
    design.plan(py)?;
    let asked = if verdict { Asked::Verdict } else { Asked::Numbers };
    let told = unlocked(py, || report::predict(&mut Estimator::new(), &design.inner, asked))?;
    to_python(py, &told)
}

/// Answer of an operation, whose arguments are those of `POST /api/v1/NAME`.
#[pyfunction]
pub(crate) fn call<'py>(
    py: Python<'py>,
    name: &str,
    arguments: &Bound<'py, PyMapping>,
) -> Answer<'py> {
    let Some(entry) = OPERATIONS.iter().find(|entry| entry.name == name) else {
        let names: Vec<&str> = OPERATIONS.iter().map(|entry| entry.name).collect();
        let detail = format!("there is no such operation; there are {}", names.join(", "));
        return Err(refused(py, "unknown_operation", detail));
    };
    let arguments = from_python(arguments.as_any())?;
    let (began, time) = (Instant::now(), py.import("time")?);
    let today = ("%Y-%m-%d", time.call_method0("gmtime")?);
    let today: String = time.call_method1("strftime", today)?.extract()?;
    let answered =
        interruptible(py, |stop| (entry.answer)(arguments, &Script { began, stop, today }))?;
    let answered = answered.map_err(|refusal| of_refusal(py, &refusal))?;
    if !answered.violations.is_empty() {
        return Err(illegal(py, &answered.violations));
    }
    to_python(py, &answered.tree)
}

/// A script that waits for an answer.
struct Script<'a> {
    began: Instant,
    stop: &'a AtomicBool,
    today: String,
}

impl Caller for Script<'_> {
    fn waits(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn today(&self) -> String {
        self.today.clone()
    }
}

/// A search for layouts, to its end or to so many evaluations.
#[pyfunction]
#[pyo3(signature = (design, goal, question, targets, keep, any_schedule, evaluations, serve))]
#[expect(clippy::too_many_arguments, reason = "the terms of a search, each with its name")]
pub(crate) fn find<'py>(
    py: Python<'py>,
    design: &Design,
    goal: Option<String>,
    question: Option<String>,
    targets: Vec<String>,
    keep: Vec<String>,
    any_schedule: bool,
    evaluations: Option<u64>,
    serve: bool,
) -> Answer<'py> {
    let terms = Terms { serve, goal, question, targets, keep, any_schedule };
    let query = terms.query(design.inner.clone()).map_err(|errors| invalid(py, &errors))?;
    let most = evaluations.unwrap_or(u64::MAX);
    let found = interruptible(py, |stop| match query.domain {
        Domain::Training => searched::<StrategySearch>(&query, most, stop),
        Domain::Serving => searched::<LayoutSearch>(&query, most, stop),
    })?;
    to_python(py, &found.map_err(|broken| illegal(py, &broken))?)
}

/// The answer of a search, with whether it came to its end.
fn searched<S: Search<Metrics: Reported>>(
    query: &Query,
    most: u64,
    stop: &AtomicBool,
) -> Result<Tree, Vec<Violation>> {
    let cores = Cores::all();
    let mut search = S::new(query.clone())?;
    let complete = loop {
        let progress = search.step(&cores);
        if progress.phase == Phase::Done {
            break true;
        }
        if progress.evaluated >= most || stop.load(Ordering::Relaxed) {
            break false;
        }
    };
    let mut answer = tree(query, &search.answer());
    if let Tree::Map(entries) = &mut answer {
        entries.push(("complete".to_owned(), complete.into()));
    }
    Ok(answer)
}

/// How a design would serve.
#[pyfunction]
pub(crate) fn infer<'py>(py: Python<'py>, design: &Design) -> Answer<'py> {
    ServingPlan::new(&design.inner).map_err(|broken| illegal(py, &broken))?;
    to_python(py, &unlocked(py, || inferred::inferred(&design.inner, &[]))?)
}

/// Every preset.
#[pyfunction]
pub(crate) fn presets(py: Python<'_>) -> Answer<'_> {
    to_python(py, &registry::presets())
}

/// Every knob.
#[pyfunction]
pub(crate) fn knobs(py: Python<'_>) -> Answer<'_> {
    to_python(py, &registry::knobs())
}

/// Every metric.
#[pyfunction]
pub(crate) fn metrics(py: Python<'_>) -> Answer<'_> {
    to_python(py, &registry::metrics())
}

/// The version of the model, which changes whenever a number does.
#[pyfunction]
pub(crate) const fn model_version() -> &'static str {
    model::MODEL_VERSION
}
