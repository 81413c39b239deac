//! Budget: what a run takes in days, money and energy, and what failures take of it.
//!
//! A step's time and the tokens of the run give the days of training; failures, checkpoints and
//! restarts give the share of the wall clock that trains ([`Recovery`]); price and power the rest.
//! What isn't known stays open: a budget without a rate of failures has no goodput but a surface of
//! it, and says of its days that they are a floor.

mod checkpoint;
mod recovery;
mod simulation;
mod run;
mod quality;
mod explain;
mod surface;
mod assessment;
mod target;

pub use assessment::{Assessment, Costed};
pub use checkpoint::{Checkpoint, Writing};
pub use quality::{Contest, Judged, judge};
pub use recovery::{Ratios, Recovery};
pub(crate) use run::budget_range;
pub use run::{Budget, Gain, Spares, budget, plain};
pub use simulation::{Outcomes, SIMULATED_RUNS, outcomes};
pub use surface::{Cell, Surface, surface};
pub use target::{RunTarget, lacks};
