//! The performance model of Moescape: what a design of training or serving would achieve.
//!
//! A **design** ([`design::Design`]) is any point of the space of knobs, even an illegal one. It is
//! the file format ([`design::file`]) and the content of a link ([`design::link`]), and it starts
//! from a published model ([`catalogue::preset`]). The [`rules`] refuse illegal ones.
//!
//! - **Training**: a [`Plan`] is a design that breaks no rule, with every size resolved, and an
//!   [`training::estimate::Estimate`] is computed from it without failing. Operators of a [`layer`]
//!   on the `device`, a stage's memory, pairs of chunks that hide communication, the [`schedule`]
//!   of the pipeline and the sums of a step stand on each other in [`mod@training`]'s order. A
//!   [`run`] is what many steps cost, and what laws expect of their loss.
//! - **Serving**: a [`serving::ServingPlan`] gives an [`serving::Inference`], by the same
//!   operators.
//! - **Search**: [`search`] finds layouts and values that fit and reach a target; [`answer`] takes
//!   an estimate apart into the terms that it is made of.
//!
//! The modules are rooms, listed from ground to roof: a module imports only those above it, in this
//! list and in the list of each room.
//!
//! The crate is pure: no IO, clock, thread or randomness, and only `+ - * /` and `libm` touch
//! floating-point numbers, so that results are the same bits natively and in WASM.
#![no_std]
#![deny(missing_docs)]

extern crate alloc;

pub mod ground;
pub mod catalogue;
pub mod design;
pub mod metric;
pub mod schedule;
pub mod routing;
mod device;
pub mod layer;
pub mod rules;
pub mod training;
pub mod run;
pub mod serving;
pub mod search;
pub mod answer;

pub use answer::Answer;
pub use answer::explain::{Breakdown, explain_at};
pub use answer::ledger::ledger;
pub use answer::roofline::roofline;
pub use catalogue::memory_state::MemoryState;
pub use rules::{legal_values, steps};
pub use search::fit::make_it_fit;
pub use search::proposal::{
    Proposal, StageLoad, layout_loads, layout_overflow, layout_proposal, layout_proposals,
};
pub use search::solve::solve;
pub use search::verdict::verdict;
pub use training::convention::{Convention, conventions};
pub use training::estimator::Estimator;
pub use training::memory::{Content, Filling, contents, is_near_limit, peak_at_most};
pub use training::plan::{Plan, peak as peak_flops};
pub use training::range::{Range, range};
pub use training::step::estimate;
pub use training::timeline::timeline;

/// The version of the model: it changes whenever a number does.
pub const MODEL_VERSION: &str = env!("CARGO_PKG_VERSION");
