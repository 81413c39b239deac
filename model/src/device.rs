//! Device: the time of operators on one accelerator, and of exchanges between accelerators.
//!
//! From ground to roof: a module imports only those above it.

pub(crate) mod topology;
pub(crate) mod collective;
pub(crate) mod rows;
pub(crate) mod kernel;
pub(crate) mod operator;
pub(crate) mod saved;
pub(crate) mod exchange;
