//! What is wrong, as the package's exceptions: everything at once, with limits and nearest values.

use model::design::file::Tree;
use model::design::violation::Violation;
use model::ground::knob::KnobError;
use operations::{Refusal, Wrong};
use pyo3::prelude::*;
use reports::report::violation;

use crate::python_tree::to_python;

/// Python module that defines the exceptions.
const MODULE: &str = "moescape._errors";

/// `moescape.IllegalDesign` with every broken rule.
pub(crate) fn illegal(py: Python<'_>, broken: &[Violation]) -> PyErr {
    made(py, "IllegalDesign", &Tree::List(broken.iter().map(violation).collect()))
}

/// `moescape.InvalidInput` with everything that couldn't be read or set.
pub(crate) fn invalid(py: Python<'_>, errors: &[KnobError]) -> PyErr {
    let errors = errors.iter().map(|error| {
        Tree::map([
            ("rule", Tree::from(error.rule)),
            ("knob", error.knob.as_str().into()),
            ("detail", error.detail.as_str().into()),
            ("nearest", Tree::list(error.nearest.iter().map(String::as_str))),
        ])
    });
    made(py, "InvalidInput", &Tree::List(errors.collect()))
}

/// The exception of an operation that isn't answered: `IllegalDesign` where its design breaks
/// rules, else `InvalidInput`.
pub(crate) fn of_refusal(py: Python<'_>, refusal: &Refusal) -> PyErr {
    if !refusal.violations.is_empty() {
        return illegal(py, &refusal.violations);
    }
    let entry = |wrong: &Wrong| {
        Tree::map([
            ("rule", Tree::from(wrong.rule.as_str())),
            ("knob", wrong.at.as_str().into()),
            ("detail", wrong.detail.as_str().into()),
            ("nearest", Tree::list(wrong.nearest.iter().map(String::as_str))),
        ])
    };
    made(py, "InvalidInput", &Tree::List(refusal.errors.iter().map(entry).collect()))
}

/// `InvalidInput` of a single rule, for an error that belongs to no knob.
pub(crate) fn refused(py: Python<'_>, rule: &'static str, detail: String) -> PyErr {
    invalid(py, &[KnobError { rule, knob: String::new(), detail, nearest: vec![] }])
}

fn made(py: Python<'_>, class: &str, content: &Tree) -> PyErr {
    let content = to_python(py, content);
    let made = content.and_then(|content| py.import(MODULE)?.getattr(class)?.call1((content,)));
    made.map_or_else(|error| error, PyErr::from_value)
}
