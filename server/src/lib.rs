//! Moescape's server and command line: the model and the explorer behind HTTP and a terminal.
//!
//! [`cli`] is what `moescape` understands, [`routes`] what the server answers. Both say the same
//! things in the same words: [`report`] is the JSON of a prediction and [`registry`] the JSON of
//! what can be set and measured. No formula lives here.

pub mod cli;
mod layers;
mod listen;
mod problem;
pub mod registry;
pub mod report;
pub mod routes;
mod site;
mod store;
mod sweeps;
mod traces;
mod validated;

pub use routes::router;
pub use site::{Site, SiteError};

use std::path::PathBuf;
use std::sync::Arc;

/// What every request can reach.
#[derive(Clone, Debug)]
pub struct AppState {
    /// The built site; empty when none was given.
    site: Arc<Site>,
    /// Where the server keeps its data.
    data: Arc<PathBuf>,
    /// Uploaded traces of expert loads.
    traces: Arc<traces::Traces>,
    /// The sweeps that it runs.
    sweeps: Arc<sweeps::Lazy>,
}

impl AppState {
    /// The state of a server with this site and this existing data directory.
    #[must_use]
    pub fn new(site: Site, data: PathBuf) -> Self {
        let traces = Arc::new(traces::Traces::new(&data, traces::MOST_MIB));
        let sweeps = Arc::default();
        Self { site: Arc::new(site), data: Arc::new(data), traces, sweeps }
    }

    /// The same with so much room for traces, in MiB.
    #[must_use]
    pub fn with_trace_store(mut self, mib: u64) -> Self {
        self.traces = Arc::new(traces::Traces::new(&self.data, mib));
        self
    }
}
