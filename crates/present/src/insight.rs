//! What follows from a design beyond its estimate: comparisons, bottlenecks.
//!
//! Pure functions over plans and estimates; nothing here draws or knows a page.

pub mod balance;
pub mod better;
pub mod bottleneck;
pub mod headline;
pub mod memory_state;
pub mod memory_view;
pub mod numbers;
pub mod headline_list;
pub mod objective;
pub mod outside;
pub mod parity;
pub mod recorded;
pub mod schedules;
pub mod sensitivity;
pub mod spec;
pub mod transfer;
pub mod utilisation;
