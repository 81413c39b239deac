//! The page `/r/ID`: a review session, in which a team looks at a design together.
//!
//! It is the explorer with a panel beside it. [`review::Replica`] holds the session; the explorer
//! shows its working design, and what is turned there becomes changes of the session
//! (`review/sync.rs`). The server writes the whole page and puts the session into it as JSON,
//! so that the browser draws the same; what comes later comes through a socket
//! (`review/client.rs`). `/r/new` is the form that begins a session.

mod agenda;
mod bar;
mod browser;
mod candidates;
mod client;
mod compose;
mod cursors;
mod data;
mod decisions;
mod deltas;
mod discussion;
mod history;
mod links;
mod name;
mod page;
mod panel;
mod places;
mod presence;
mod proposals;
mod prose;
mod session;
mod socket;
mod start;
mod sync;

pub use data::Served;
#[cfg(feature = "ssr")]
pub(crate) use data::summary;
pub use page::page;

/// The page that begins a session.
pub const START_PATH: &str = "/r/new";
