//! Net: connections, addresses and their shares, proxies, hosts, bodies in and out.
//!
//! From ground to roof: a module imports only those above it.

pub(crate) mod problem;
pub(crate) mod address_counts;
pub(crate) mod client;
pub(crate) mod telemetry;
pub(crate) mod limits;
pub(crate) mod work;
pub(crate) mod query;
pub(crate) mod proxies;
pub(crate) mod public_url;
pub(crate) mod embed_from;
pub(crate) mod hosts;
pub(crate) mod origin;
pub(crate) mod request_body;
pub(crate) mod response_buffer;
pub(crate) mod listen;
