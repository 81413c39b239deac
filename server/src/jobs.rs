//! Jobs: sweeps and review sessions, which outlive a request, and the servers that share them.
//!
//! From ground to roof: a module imports only those above it.

pub(crate) mod nats;
pub(crate) mod sweeps;
pub(crate) mod reviews;
