//! Controls that know no domain word: each takes plain text, numbers and callbacks.
//!
//! Callbacks are boxed, so that each control is compiled once however often it is used. Views are
//! not, or as a `part::Part`: leptos' own erased view brings code for ways of rendering that no
//! page here ever takes.

pub mod part;
pub mod choice;
pub mod figure;
pub mod icon;
pub mod dialog;
pub mod number_box;
pub mod sheet;
pub mod slider;
