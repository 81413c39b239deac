//! The performance model of Moescape.
//!
//! A [`design::Design`] is any point, even an illegal one.
#![no_std]
extern crate alloc;
pub mod units;
pub mod source;
pub mod knob;
pub mod choice;
pub mod accelerator;
pub mod alias;
pub mod design;
pub mod preset;
pub mod metric;
pub mod estimate;
pub mod violation;
pub mod explain;
pub mod plan;
pub mod link;
pub use explain::Breakdown;
pub use plan::{Plan, estimate, explain, legal_values};
/// The version of the model.
pub const MODEL_VERSION: &str = env!("CARGO_PKG_VERSION");
