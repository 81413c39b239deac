//! Where tokens go: loads of experts over steps and layers, what they cost, and who evens them out.
//!
//! A [`Trace`] counts the tokens of every expert; it is read from a file or made by a
//! [`Generator`]. A [`Placement`] says which device holds which expert: together they give the
//! load of each device, whose maximum over the mean is the imbalance that a step waits for. A
//! [`Planner`] moves experts during a run, as MindSpeed's and Pangu Ultra MoE's do. [`capacity`]
//! drops what is too much, [`group`] limits where a token may go, and [`aux_loss`] says over which
//! tokens a loss balances.
//!
//! An [`Effect`] sums up the effect of load imbalance on a design, and a plan holds it. Nothing
//! here reads a plan, so that it can be tested and drawn by itself.

pub mod aux_loss;
pub mod group;
pub mod measure;
pub(crate) mod random;
mod noise;
mod effect;
mod trace;
pub mod capacity;
pub mod packed;
mod hash;
mod placement;
mod generator;
mod drawn;
mod planner;
pub(crate) mod inputs;
mod presets;
mod known;
#[cfg(feature = "text")]
pub mod text;
pub mod pattern;

pub use effect::{Effect, StepLoads};
pub use generator::{Generator, Size};
pub(crate) use inputs::Inputs;
pub(crate) use noise::CORRELATED_TOKENS;
pub use placement::{Move, Placement, lower_bound};
pub use planner::{Migration, MoveCost, Outcome, Planner, Predictor, Trigger};
pub use trace::{Pair, Trace, TraceFault};
