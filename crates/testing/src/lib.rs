//! The kit of the tests of several crates; nothing that ships depends on it.
//!
//! What a design or a page isn't is the test's mistake: everything here panics at the line that
//! asked for it.

pub mod design;
#[cfg(feature = "html")]
pub mod page;
pub mod text;
