//! Controls that know no domain word: each takes plain text, numbers and callbacks.
//!
//! Callbacks are boxed, so that each control is compiled once however often it is used. Views are
//! not: an erased view brings code for ways of rendering that this page never takes.

pub mod choice;
pub mod dialog;
pub mod figure;
pub mod icon;
pub mod number_box;
pub mod slider;
