//! The page `/r/ID`: a review session, in which a team looks at a design together.
//!
//! It is the explorer with a panel beside it. [`review::Replica`] holds the session; the explorer
//! shows its working design, and what is turned there becomes changes of the session
//! (`review/sync.rs`). The server writes the whole page and puts the session into it as JSON,
//! so that the browser draws the same; what comes later comes through a socket
//! (`review/client.rs`). `/r/new` is the form that begins a session.

mod browser;
mod data;
mod deltas;
mod socket;
mod session;
mod compose;
mod candidates;
mod links;
mod name;
mod places;
mod presence;
mod cursors;
mod prose;
mod agenda;
mod decisions;
mod discussion;
mod start;
mod sync;
mod bar;
mod history;
mod client;
mod proposals;
mod panel;
mod page;

pub use data::Served;
#[cfg(feature = "ssr")]
pub(crate) use data::summary;
pub use page::page;

/// The page that begins a session.
pub const START_PATH: &str = "/r/new";
