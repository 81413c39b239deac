//! Catalogue: accelerators with their links, hosts and measured rates, and the published models.
//!
//! From ground to roof: a module imports only those above it.

pub mod rates;
pub mod calibration;
pub mod fabric;
pub mod accelerator;
pub mod memory_state;
pub mod processors;
pub mod preset;
