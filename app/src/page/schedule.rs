//! The page `/schedule`: pipeline schedules alone, with task times that one types in.
//!
//! The whole state is an `Input` and is in the address. Its results are computed once and put into
//! words by [`present::page::schedule`], the same on the server and in the browser; parts of the
//! page that change together are HTML text, and every way from one state to another is a link, so
//! the page also works without a script. The fixed parts are text that only the server writes.

mod state;
mod browser;
mod page;

pub use page::page;
