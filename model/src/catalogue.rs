//! Catalogue: accelerators with their links, hosts and measured rates, and the published models.
//!
//! From ground to roof: a module imports only those above it.

pub mod names;
pub mod rates;
pub mod calibration;
pub mod fabric;
pub mod processors;
pub mod accelerator;
pub mod memory_state;
mod engine;
pub mod preset;
