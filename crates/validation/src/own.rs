//! One's own runs: what a few of them say of the state of one's software.
//!
//! Runs come as rows of a CSV file with the columns of the published ones ([`crate::runs`]), as
//! logs of Megatron-LM and MindSpeed-LLM, or as operator times of a profile, which give rates
//! directly ([`read`]). [`calibrate()`] moves the rates that a design can set until the runs are
//! predicted best, and says what became of each: how far the runs tell it at all, and between
//! which values it is. What they don't tell stays the family's. The result is a few knobs, which
//! travel as all knobs do.
//!
//! Few runs fit few constants. First comes the one rate of kernels inside steps; another constant
//! is moved only when the runs tell it apart from the others and runs that are left out are
//! predicted better with it ([`fit()`]).

mod constant;
mod case;
mod linear;
mod fit;
mod log;
mod profile;
pub mod read;
pub mod report;

pub use case::{Case, MAX_RUNS, cases};
pub use fit::{Fit, fit};
pub use report::{Calibration, CalibrationInput, calibrate};
