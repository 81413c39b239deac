//! The page `/serving`: how a design answers, and which layouts there are.
//!
//! The state is a design and is in the address as a link has it. Its results are put into words by
//! [`present::page::serving`], the same on the server and in the browser; every way from one state
//! to another is a link, so that the page also works without a script.

mod state;
mod browser;
mod experts;
mod page;

pub use page::page;
