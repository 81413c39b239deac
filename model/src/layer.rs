//! Layer: mixers, MLPs, embedding and head on the ranks of a deployment, as operators, exchanges,
//! parameters and saved tensors; training and serving stand on it.
//!
//! From ground to roof: a module imports only those above it.

pub(crate) mod backbone;
pub(crate) mod ranks;
pub(crate) mod tuning;
pub mod lengths;
pub(crate) mod deployment;
pub(crate) mod params;
pub(crate) mod groups;
pub(crate) mod elementwise;
pub(crate) mod mixer;
pub(crate) mod mlp;
pub(crate) mod architecture;
pub(crate) mod adapters;
pub(crate) mod param_count;
pub(crate) mod embedding_head;
pub(crate) mod transformer_layer;
pub(crate) mod layout;
