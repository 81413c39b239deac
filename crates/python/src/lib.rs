//! The Python package `moescape`, its native part: the same model, answers and sweeps as the
//! command line's, by the same crates and to the same bits.
//!
//! Answers are dictionaries, which the package's own Python (`crates/python/moescape`) gives
//! types; a sweep's rows are Arrow's. Whatever takes long releases the interpreter's lock, runs on
//! all cores and ends at Ctrl-C. No panic crosses: it becomes a `RuntimeError`.

mod python_tree;

mod refusal;
mod work;

mod design;

mod answers;
mod cells;

mod swept;

use pyo3::pymodule;

/// The native part of `moescape`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::answers::{call, knobs, metrics, model_version, presets};
    #[pymodule_export]
    use crate::design::Design;
    #[pymodule_export]
    use crate::swept::{Sweep, sweeps, swept};
}
