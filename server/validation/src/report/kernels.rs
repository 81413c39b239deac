//! Measured kernels in the report.

use serde::{Deserialize, Serialize};

/// A kernel's measured time beside the model's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The table that it is from.
    pub table: String,
    /// `collective` or `deepep`.
    pub kind: String,
    /// The accelerator's id.
    pub part: String,
    /// The number format.
    pub precision: String,
    /// What was called, in words.
    pub shape: String,
    /// Measured time, in microseconds.
    pub measured_us: f64,
    /// The model's time, in microseconds.
    pub predicted_us: f64,
    /// Is it kept from the fit of the constants?
    pub is_held_out: bool,
}
