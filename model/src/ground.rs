//! Ground: units, text, sources, options and small algorithms, which know nothing of models.
//!
//! From ground to roof: a module imports only those above it.

pub mod units;
pub mod axis;
pub mod choice;
pub mod decimal;
pub mod pareto;
pub mod sorting;
pub mod source;
pub mod text;
pub mod fitted;
pub(crate) mod tally;
pub mod knob;
