//! Sweeps: asked for over HTTP, and run by every engine.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

#[cfg(unix)]
mod engines;
mod http;
#[cfg(unix)]
#[path = "../process/nats.rs"]
mod nats;
#[path = "../process/server.rs"]
mod process;
#[cfg(unix)]
mod processes;
#[path = "../process/site.rs"]
mod site;
