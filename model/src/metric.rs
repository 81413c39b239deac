//! The metrics: public id, unit, definition, formula and source, printed beside every number.

mod table;
mod address;
pub(crate) mod breakdown;

pub use address::{MetricAddress, MetricPart};
pub(crate) use table::metrics;
pub use table::{Basis, Better, Metric, MetricId, MetricValue, Words};
