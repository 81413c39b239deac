//! The kit of the tests of several crates; nothing that ships depends on it.
//!
//! A design or a page that isn't as a test takes it for is the test's mistake: everything here
//! panics at the line that asked for it.

pub mod design;
#[cfg(feature = "html")]
pub mod page;
pub mod text;
