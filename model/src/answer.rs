//! Answer: an estimate taken apart, for those who ask where a number comes from.
//!
//! From ground to roof: a module imports only those above it.

pub mod microbench;
pub mod explain;
pub mod in_effect;
pub mod ledger;
pub mod loads;
pub mod roofline;
pub mod measure;
pub mod constants;
