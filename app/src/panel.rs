//! The parts of the page: each reads the explorer, asks `format` for text and composes widgets.

pub mod address;
pub mod cards;
pub mod find_bar;
pub mod headline;
pub mod help;
pub mod presets;
pub mod questions;
pub mod steps;
pub mod timeline;
pub mod trace;
pub mod studies;
pub mod conventions;
pub mod explanation;
pub mod tray;
pub mod header;
pub mod asking;
pub mod verdict;
pub mod knob;
pub mod knobs;
pub mod keys;
