//! What a sweep is asked to do, and how people write it: one map in TOML or JSON.
//!
//! ```toml
//! schema = 1
//! name = "Where to put 6,144 NPUs"
//! objectives = ["mfu max", "memory_peak_bytes min"]
//! constraints = ["fits", "mfu >= 0.2"]
//!
//! [design]                        # a design file: what doesn't vary
//! preset = "pangu-ultra-moe-6k"
//! schedule.timing = "closed_form"
//!
//! [space.parallel]                # what varies, by section; or `"parallel.x" = ...` in [space]
//! tensor_model_parallel_size = { powers_of_two = [1, 16] }
//! pipeline_model_parallel_size = [4, 8, 16]
//! noop_layers = { fill = "chunks" }
//!
//! [sampling]                      # absent: every design of the space
//! method = "random"             # or "lhs", a Latin hypercube; or "refine", near the best
//! count = 1000000
//! seed = 1
//! ```

mod error;
mod sweep;
mod keys;
mod axis;
mod constraint;
mod aims;
mod reader;

pub use keys::{SamplingKeys, SpecKeys};
pub(crate) use reader::{number, sources};
pub use sweep::{
    Axis, Constraint, Goal, MAX_BEST, Objective, Operator, Sampling, Spec, Strategy, Subject, Tie,
    TieRule,
};
