//! The page `/ladder`: Pangu Ultra MoE from its baseline to its final run, one change at a time.
//!
//! Nothing on it depends on the visitor, so all of it is text that only the server writes; taking
//! the page over leaves it as it is, and the browser's module stays as light as it was.

pub mod numbers;
mod content;

pub use content::{brief, html};
