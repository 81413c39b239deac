//! The parts of the page: each reads the explorer, asks `format` for text and composes widgets.

pub mod cards;
pub mod conventions;
pub mod explanation;
pub mod header;
pub mod help;
pub mod knob;
pub mod knob_note;
pub mod knobs;
pub mod presets;
pub mod steps;
pub mod studies;
pub mod timeline;
pub mod trace;
pub mod verdict;
