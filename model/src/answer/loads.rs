//! The loads of a plan's experts over a run, as views and tables show them.

mod report;
mod replay;

pub use replay::Replay;
pub use report::{Cadence, Report, cadences};
