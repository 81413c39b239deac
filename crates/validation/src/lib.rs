//! Published runs beside what the model predicts for them.
//!
//! [`report`] holds what is shown of it: one row for each run, and a summary. With the feature
//! `runs` the crate makes that report: it reads [`runs`], expresses each as a design (its
//! architecture, hardware, layout and, where the source leaves something open, one documented
//! table of assumptions), predicts it, converts the prediction to the source's own metric and
//! scores it. What can't be expressed is refused with the reason, never guessed. [`kernels`] does
//! the same with measured times of single kernels. `moescape validate`, `/trust` and the API show
//! the one report; `calibrate` is the fit of the model's constants.

#[cfg(feature = "runs")]
pub mod evidence;
#[cfg(feature = "runs")]
mod phrase;
#[cfg(feature = "runs")]
mod refusal;
#[cfg(feature = "runs")]
pub mod runs;
#[cfg(feature = "runs")]
mod hardware;
#[cfg(feature = "runs")]
mod imputation;
#[cfg(feature = "runs")]
mod draft;
#[cfg(feature = "runs")]
mod architecture;
#[cfg(feature = "runs")]
mod convention;
#[cfg(feature = "runs")]
mod expression;
pub mod report;
#[cfg(feature = "runs")]
mod statistics;
#[cfg(feature = "runs")]
pub mod kernels;
#[cfg(feature = "runs")]
pub mod calibrate;
#[cfg(feature = "runs")]
pub mod left_out;
#[cfg(feature = "runs")]
pub mod anchors;
#[cfg(feature = "runs")]
pub mod peaks;
#[cfg(feature = "runs")]
pub mod ranges;
#[cfg(feature = "runs")]
mod score;
#[cfg(feature = "runs")]
pub mod serving;

#[cfg(feature = "runs")]
pub mod own;

#[cfg(feature = "runs")]
pub use score::validate;
#[cfg(feature = "runs")]
pub use statistics::score_of;
