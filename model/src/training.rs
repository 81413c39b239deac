//! Training: from a plan to the estimate of its step, on one stage, in a pair of chunks, in the
//! pipeline and over the whole step.
//!
//! From ground to roof: a module imports only those above it.

pub mod estimate;
pub(crate) mod optimizer;
pub(crate) mod pipeline_schedule;
pub(crate) mod recomputation;
pub(crate) mod overlap;
pub(crate) mod shapes;
pub mod plan;
pub(crate) mod boundary;
pub(crate) mod counts;
pub(crate) mod data_parallel;
pub(crate) mod layer_key;
pub mod memory_headroom;
pub(crate) mod muon;
pub(crate) mod memory;
pub(crate) mod stage;
pub mod pair;
pub(crate) mod pipeline;
pub(crate) mod load_imbalance;
pub(crate) mod step;
pub(crate) mod estimator;
pub mod timeline;
pub mod anchor;
pub mod convention;
pub mod range;
