//! Moescape's server and command line: the model and the explorer behind HTTP and a terminal.
//!
//! [`cli`] is what `moescape` understands, `routes` what the server answers. Both say the same
//! things in the same words, those of the crate `reports`: [`report`] is the JSON of a prediction
//! and [`registry`] the JSON of what can be set and measured. No formula lives here.
//!
//! The modules stand from ground to roof: each imports only those above it.

mod address_counts;
mod calendar;
mod deeds;
mod files;
mod language;
mod logged;
mod problem;
mod random;
mod site;
mod telemetry;

mod budget;
mod choices;
mod names;
mod audit;
mod client;
mod work;
mod in_use;
mod query;
mod store;

mod proxies;

mod nats;
mod public_url;
mod traces;
mod translation;

mod backup;
mod embed_from;
mod hosts;
mod origin;
mod owner;

mod holdings;
mod quotas;

mod card;
mod designs;
mod find;
pub mod guide;

mod measured;
mod validated;
mod calibrated;
mod solved;

mod exports;
mod answers;

mod reviews;
mod sweeps;

mod bodies;
mod receiving;
mod sending;

mod mcp;
mod copies;
mod groups;

mod state;

mod noted;
mod retention;

pub mod openapi;
mod reading;

mod not_found;

mod exposition;
mod layers;

mod routes;

mod listen;

pub mod cli;

pub use reports::{budgeted, inferred, layouts, registry, report};
use reports::{experts, imported};

pub use embed_from::EmbedFrom;
pub use hosts::Host;
pub use proxies::Network;
pub use public_url::PublicUrl;
pub use routes::router;
pub use site::{Site, SiteError};
pub use state::AppState;
