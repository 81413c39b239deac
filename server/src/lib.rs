//! Moescape's server and command line: the model and the explorer behind HTTP and a terminal.
//!
//! [`cli`] is what `moescape` understands, `http` what the server answers. Both say the same
//! things in the same words, those of the crate `reports`: [`report`] is the JSON of a prediction
//! and [`registry`] the JSON of what can be set and measured. No formula lives here.
//!
//! The modules are rooms, listed from ground to roof: a module imports only those above it, in this
//! list and in the list of each room.

mod ground;
mod net;
mod store;
mod people;
pub mod site;
mod designs;
mod answers;
mod jobs;
mod mcp;
mod state;
mod http;
pub mod cli;

pub use reports::{inferred, registry, report};

pub use http::routes::openapi::document as api_document;
pub use http::routes::router;
pub use net::embed_from::EmbedFrom;
pub use net::hosts::Host;
pub use net::proxies::Network;
pub use net::public_url::PublicUrl;
pub use site::{Site, SiteError};
pub use state::AppState;
