//! Controls that know no domain word: each takes plain text, numbers and callbacks.
//!
//! They return [`leptos::prelude::AnyView`], so that each is compiled once however often it is
//! used; that keeps the WASM small.

pub mod choice;
pub mod dialog;
pub mod figure;
pub mod icon;
pub mod number_box;
pub mod slider;
