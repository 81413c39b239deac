//! The performance model of Moescape: what a training configuration would achieve.
//!
//! The flow is [`design::Design`] -> [`Plan`] -> [`estimate::Estimate`]:
//!
//! 1. A **design** is any point of the space of knobs, even an illegal one. It is the file format
//!    ([`mod@file`]) and the content of a link ([`link`]); it starts from a [`preset`].
//! 2. A **plan** is a design that breaks none of the [`rules`], with every size resolved. Formulas
//!    read plans only.
//! 3. An **estimate** is computed from a plan without failing: counts (`params`, `flops`),
//!    operators on the accelerator (`operator`, `layer`), exchanges on the topology (`topology`,
//!    `traffic`), what hides what (`stage`), the schedule (`pipeline`), memory (`activation`,
//!    `memory`) and the sums (`step`).
//!
//! An [`Answer`] is a plan with what it gives, in any regime: it shows a metric as a tree of the
//! terms that it is made of.
//!
//! The crate is pure: no IO, clock, thread or randomness, and only `+ - * /` and `libm` touch
//! floating-point numbers, so that results are the same bits natively and in WASM.
#![no_std]
#![deny(missing_docs)]

extern crate alloc;

pub mod units;

pub mod axis;
pub mod choice;
pub mod sorting;
pub mod source;
pub mod text;

pub mod rates;

pub mod calibration;
pub mod fabric;

pub mod accelerator;
pub mod memory_state;
pub mod processors;

pub mod knob;
pub mod preset;

pub mod design;
pub mod file;
pub mod ladder;
pub mod link;
pub mod metric;
pub mod schedule;
pub mod software;
pub mod violation;

pub mod estimate;
pub mod routing;

mod breakdown;
mod rows;
mod tally;
mod topology;

mod collective;
mod device;
mod operator;
mod saved;

mod backbone;
mod hop;
mod ranks;
mod tuning;

pub mod lengths;

mod deployment;
mod params;

mod groups;

mod elementwise;
mod mixer;
mod mlp;

mod architecture;

mod adapters;
mod census;
mod ends;

mod layer;
mod layout;

pub mod framework;
pub mod rules;

pub mod plan;

mod boundary;
mod counts;
mod data_parallel;
mod layer_key;
pub mod margin;
mod muon;
mod recomputation;

mod memory;
mod stage;

pub mod pair;

mod pipeline;
mod proposal;
mod uneven;

mod step;

mod estimator;
pub mod timeline;

pub mod anchor;
pub mod burst;
pub mod convention;
pub mod explain;
pub mod fit;
pub mod in_effect;
pub mod ledger;
pub mod loads;
pub mod range;
pub mod roofline;
#[cfg(feature = "text")]
pub mod trace;
pub mod verdict;

pub mod quality;

pub mod budget;

pub mod find;
pub mod solve;

pub mod pattern;
pub mod serving;

pub mod answer;

pub use answer::Answer;
pub use convention::{Convention, conventions};
pub use estimator::Estimator;
pub use explain::{Breakdown, explain_at};
pub use fit::make_it_fit;
pub use ledger::ledger;
pub use memory::{Content, Filling, contents, is_near_limit, peak_at_most};
pub use memory_state::MemoryState;
pub use plan::{Plan, peak as peak_flops};
pub use proposal::{
    Proposal, StageLoad, layout_loads, layout_overflow, layout_proposal, layout_proposals,
};
pub use range::{Range, range};
pub use roofline::roofline;
pub use rules::{legal_values, steps};
pub use solve::solve;
pub use step::estimate;
pub use timeline::timeline;
pub use verdict::verdict;

/// The version of the model: it changes whenever a number does.
pub const MODEL_VERSION: &str = env!("CARGO_PKG_VERSION");
