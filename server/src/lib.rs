//! Moescape's server and command line: the model and the explorer behind HTTP and a terminal.
//!
//! [`cli`] is what `moescape` understands, [`routes`] what the server answers. Both say the same
//! things in the same words: [`report`] is the JSON of a prediction and [`registry`] the JSON of
//! what can be set and measured. No formula lives here.

mod address_counts;
mod backup;
mod budget;
mod calendar;
mod card;
mod choices;
pub mod cli;
mod client;
mod cores;
mod designs;
mod embed_from;
mod exports;
mod files;
mod find;
pub mod guide;
mod hosts;
mod imported;
mod in_use;
mod language;
mod layers;
mod listen;
mod logged;
mod nats;
pub mod openapi;
mod origin;
mod owner;
mod problem;
mod public_url;
mod random;
mod receiving;
pub mod registry;
pub mod report;
mod reviews;
pub mod routes;
mod sending;
mod site;
mod state;
mod store;
mod sweeps;
mod traces;
mod validated;

pub use embed_from::EmbedFrom;
pub use hosts::Host;
pub use public_url::PublicUrl;
pub use routes::router;
pub use site::{Site, SiteError};
pub use state::AppState;
