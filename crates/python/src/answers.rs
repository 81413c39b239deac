//! Questions about one design, answered as data: the objects that the command line prints.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use operations::{Caller, OPERATIONS};
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use reports::registry;

use crate::python_tree::{from_python, to_python};
use crate::refusal::{illegal, of_refusal, refused};
use crate::work::interruptible;

type Answer<'py> = PyResult<Bound<'py, PyAny>>;

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
