//! Published runs beside what the model predicts for them.
//!
//! [`report`] holds what is shown of it: one row for each run, and a summary.

pub mod report;
