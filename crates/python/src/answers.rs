//! Questions about one design, answered as data: the objects that the command line prints.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use interchange::{Answers, Format};
use model::design::KnobId;
use operations::{Caller, OPERATIONS};
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use reports::{imported, registry};

use crate::design::Design;
use crate::python_tree::{from_python, to_python};
use crate::refusal::{illegal, invalid, of_refusal, refused};
use crate::work::{interruptible, unlocked};

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
    let began = Instant::now();
    let answered = interruptible(py, |stop| (entry.answer)(arguments, &Script { began, stop }))?;
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
}

impl Caller for Script<'_> {
    fn waits(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    fn seconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn today(&self) -> String {
        String::new()
    }
}

/// A text of others as a design, none where it can't be read, and all there is to say about it.
#[pyfunction]
pub(crate) fn import_text<'py>(
    py: Python<'py>,
    text: &str,
    dialect: Option<&str>,
    knobs: BTreeMap<String, String>,
    environment: BTreeMap<String, String>,
    arguments: Vec<String>,
    model: Option<String>,
) -> PyResult<(Option<Design>, Bound<'py, PyAny>)> {
    let format = match dialect {
        None => Format::detect(text),
        Some(name) => named_format(py, name)?,
    };
    let mut known = Vec::new();
    let mut errors = Vec::new();
    for (name, value) in knobs {
        match KnobId::find(&name) {
            Ok(knob) => known.push((knob, value)),
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(invalid(py, &errors));
    }
    let answers = Answers { knobs: known, variables: environment, arguments, model };
    let import = unlocked(py, || interchange::import_with(format, text, None, &answers))?;
    let report = to_python(py, &imported::report(&import))?;
    Ok((import.design.map(Design::from), report))
}

fn named_format(py: Python<'_>, name: &str) -> PyResult<Format> {
    Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
        let names = Format::ALL.map(Format::name);
        let detail = format!("there is no such dialect; there are {}", names.join(", "));
        refused(py, "unknown_dialect", detail)
    })
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
