//! The page `/budget`: what a run costs in days, money and energy, what fails, and what published
//! laws say of its loss beside a baseline.
//!
//! The state is a design, and a pinned baseline beside it; both are in the address. The results are
//! put into words by [`present::page::budget`], the same on the server and in the browser; every
//! way from one state to another is a link, so that the page also works without a script.

mod state;
mod browser;
mod page;

pub use page::page;
