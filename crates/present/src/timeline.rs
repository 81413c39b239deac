//! The timeline of a pipeline: what each stage does when, what it holds, and what runs in a pair.
//!
//! It is of any [`Source`], and knows neither a plan nor a page. A picture is drawn on a surface,
//! since it may have a million tasks; what is drawn is bounded by its pixels. Everything in it is
//! also a table, sentences and files.
//!
//! - What is shown: `tasks` and `operators` are lanes, `track` is the memory below them.
//! - Where one is in it: `board`, with its `window`, `gesture` and `keys`.
//! - How it is drawn: `paint` onto any `Surface`; `look` says in which colours.
//! - In words: `server_html` is the figure without its pictures, `drawing` one that nothing moves
//!   in, `labels` the parts that change, `files` what can be saved.

pub mod gesture;
pub mod keys;
pub mod look;
mod window;
pub mod lanes;
mod track;
mod paint;
pub mod board;
mod source;
pub mod tasks;
pub mod operators;
pub mod files;
pub mod labels;
mod drawing;
pub mod of_plan;
pub mod server_html;

pub use source::{Scene, Source};
pub use track::{Track, TrackUnit};
