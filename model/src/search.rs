//! Search: layouts, values of one knob and changes that reach a target or fit in memory.
//!
//! From ground to roof: a module imports only those above it.

pub(crate) mod proposal;
pub mod fit;
pub mod verdict;
pub mod find;
pub mod solve;
