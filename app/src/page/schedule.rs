//! The page `/schedule`: pipeline schedules alone, with task times that one types in.
//!
//! The whole state is an [`Input`](present::page::schedule::Input) and stands in the address. What
//! stands on it is put into words by [`present::page::schedule`], the same on the server and in the
//! browser; every way from one state to another is a link, so the page also works without a script.

mod browser;
mod form;
mod page;
mod state;

pub use page::page;
