//! The metrics: public id, regime, unit, definition, formula and source, printed beside every
//! number.

mod unit;
mod regime;
mod table;
mod address;
pub mod published;
pub(crate) mod breakdown;

pub use address::{MetricAddress, MetricPart};
pub use regime::Regime;
pub use table::{
    Basis, Better, BudgetMetrics, Metric, MetricId, MetricValue, QualityMetrics, ServingMetrics,
    TrainingMetrics, Words,
};
pub use unit::Unit;
