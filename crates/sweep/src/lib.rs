//! Sweeps: a space of designs, its evaluation in any order on any number of machines, and what is
//! kept of millions of estimates.
//!
//! A [`Spec`] says which knobs vary and how, what a design must keep to, and what is best. A
//! [`Space`] gives every design of it by a number, its index; nothing else of a design is stored.
//! [`evaluate()`] turns a range of indices into a [`Summary`]: counts, what rules out how many, the
//! best designs, the Pareto front. Summaries merge in any order and to the same bits, so that a
//! range that is cut elsewhere, lost, or evaluated again changes nothing.
//!
//! [`final_simulation()`] looks at a sweep that is done once more: it simulates what closed forms
//! found best, and where nothing was found it says which fixed knobs rule out most. [`run()`] is
//! the loop on this machine's cores, [`Progress`] what a sweep has done so far, [`result()`] its
//! result as data and [`table`] its rows. No clock, file or socket is in here.

mod digest;
mod order;
mod spec;
mod bench;
mod checks;
mod space;
mod batch;
mod outcome;
pub mod table;
mod summary;
mod progress;
mod refinement;
mod evaluate_point;
mod evaluate;
mod relaxation;
mod final_simulation;
mod published;
mod run;
mod infeasibility;
mod answer;
mod result;

pub use answer::{
    AxisValue, Best as BestByObjective, CellRow, FreedKnobs, Kept, KnobAxis, KnobPair, Overview,
    PartData, Sample, SampleRow, SimulatedAtEnd, SweepResult,
};
pub use batch::Batch;
pub use digest::digest;
pub use evaluate::{evaluate, evaluate_with, outcomes};
pub use evaluate_point::prepare;
pub use final_simulation::{FinalSimulation, MAX_FRONT, Simulated, Standing, final_simulation};
pub use infeasibility::{Infeasibility, infeasibility};
pub use outcome::Outcome;
pub use progress::{Overlap, Progress};
pub use published::{PublishedSpec, published};
pub use refinement::Rounds;
pub use relaxation::{Relaxation, usual_values};
pub use result::{Part, overview, part, result};
pub use run::{chunks, run};
pub use space::{Space, SpaceError};
pub use spec::{
    Axis, Constraint, Goal, MAX_BEST, Objective, Operator, Sampling, SamplingKeys, Spec, SpecKeys,
    Strategy, Subject, Tie, TieRule,
};
pub use summary::{Best, Cell, Marginal, Pair, Row, Summary, bin_of, bins, pairs};
