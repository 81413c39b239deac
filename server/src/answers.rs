//! Answers: what is computed for whoever asks, as data.
//!
//! From ground to roof: a module imports only those above it.

pub(crate) mod validated;
pub(crate) mod measured;
