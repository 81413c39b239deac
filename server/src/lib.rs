//! Moescape's server and command line: the model and the explorer behind HTTP and a terminal.
//!
//! [`cli`] is what `moescape` understands, [`routes`] what the server answers. Both say the same
//! things in the same words: [`report`] is the JSON of a prediction and [`registry`] the JSON of
//! what can be set and measured. No formula lives here.

mod backup;
mod budget;
mod calendar;
mod card;
mod choices;
pub mod cli;
mod client;
mod cores;
mod crowd;
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
mod receiving;
pub mod registry;
pub mod report;
mod reviews;
pub mod routes;
mod sending;
mod site;
mod store;
mod sweeps;
mod traces;
mod validated;

pub use embed_from::EmbedFrom;
pub use hosts::Host;
pub use public_url::PublicUrl;
pub use routes::router;
pub use site::{Site, SiteError};

use std::path::PathBuf;
use std::sync::Arc;

use axum::http::HeaderName;
use tokio::sync::watch;

/// Large files that are made at once, and those that one address may wait for.
const MAX_MAKERS: usize = 2;
const MAX_MAKERS_PER_ADDRESS: u64 = 8;

/// Searches that run at once, each on all cores, and those of one address.
const MAX_FINDERS: usize = 2;
const MAX_FINDERS_PER_ADDRESS: u64 = 1;

/// What every request can reach.
#[derive(Clone, Debug)]
pub struct AppState {
    /// The built site; empty when none was given.
    site: Arc<Site>,
    /// Where the server keeps its data.
    data: Arc<PathBuf>,
    /// Where it is on the web, if it was told.
    public_url: Option<Arc<PublicUrl>>,
    /// By which names it is asked.
    hosts: Arc<hosts::Hosts>,
    /// Who may show its panels.
    embed_from: Arc<EmbedFrom>,
    /// The file that it keeps things in.
    store: Arc<store::Lazy>,
    /// Whether that can be written.
    readiness: store::Readiness,
    /// How much clients store.
    quota: Arc<designs::Quota>,
    /// Uploaded traces of expert loads.
    traces: Arc<traces::Traces>,
    /// The sweeps that it runs.
    sweeps: Arc<sweeps::Lazy>,
    /// Its review sessions.
    reviews: Arc<reviews::Reviews>,
    /// The header in which a proxy says who its user is, where one is believed.
    user_header: Option<HeaderName>,
    /// Room for what is being sent to the server, and by it.
    inbox: Arc<budget::Budget>,
    outbox: Arc<budget::Budget>,
    /// Large files that are made.
    makers: Arc<budget::Turns>,
    /// Searches for layouts.
    finders: Arc<budget::Turns>,
    /// True once the server was told to end: answers without an end of their own end then.
    closing: watch::Sender<bool>,
}

impl AppState {
    /// The state of a server with this site and this existing data directory.
    #[must_use]
    pub fn new(site: Site, data: PathBuf) -> Self {
        let traces = Arc::new(traces::Traces::new(&data, traces::MAX_MIB));
        let store = Arc::new(store::Lazy::new(&data));
        let reviews = reviews::Reviews::new(Arc::clone(&store), None);
        let (hosts, embed_from, readiness, quota, sweeps) = Default::default();
        let (closing, _) = watch::channel(false);
        Self {
            site: Arc::new(site),
            data: Arc::new(data),
            public_url: None,
            hosts,
            embed_from,
            store,
            readiness,
            quota,
            traces,
            sweeps,
            reviews,
            user_header: None,
            inbox: receiving::inbox(),
            outbox: sending::outbox(),
            makers: Arc::new(budget::Turns::new(MAX_MAKERS, MAX_MAKERS_PER_ADDRESS)),
            finders: Arc::new(budget::Turns::new(MAX_FINDERS, MAX_FINDERS_PER_ADDRESS)),
            closing,
        }
    }

    /// The same at this address on the web.
    #[must_use]
    pub fn at(mut self, url: PublicUrl) -> Self {
        Arc::make_mut(&mut self.hosts).add_origin(&url);
        self.public_url = Some(Arc::new(url));
        self
    }

    /// The same under these names too.
    #[must_use]
    pub fn named(mut self, hosts: impl IntoIterator<Item = Host>) -> Self {
        Arc::make_mut(&mut self.hosts).add(hosts);
        self
    }

    /// The same that listens there: `ADDRESS:PORT`.
    #[must_use]
    pub(crate) fn listening(mut self, listen: &str) -> Self {
        Arc::make_mut(&mut self.hosts).add_listening(listen);
        self
    }

    /// The same, whose panels these sites may show.
    #[must_use]
    pub fn embedded_from(mut self, sites: EmbedFrom) -> Self {
        self.embed_from = Arc::new(sites);
        self
    }

    /// The same behind a proxy that says in this header who its user is. Whoever reaches the server
    /// without that proxy can say so, too.
    #[must_use]
    pub fn with_users(mut self, header: HeaderName) -> Self {
        self.user_header = Some(header);
        self
    }

    /// The same with sweeps that are computed by workers at NATS.
    #[must_use]
    pub(crate) fn with_workers(mut self, address: nats::Address) -> Self {
        self.reviews = reviews::Reviews::new(Arc::clone(&self.store), Some(address.clone()));
        self.sweeps = Arc::new(sweeps::Lazy::over(address));
        self
    }

    /// The same with so much room for traces, in MiB.
    #[must_use]
    pub fn with_trace_store(mut self, mib: u64) -> Self {
        self.traces = Arc::new(traces::Traces::new(&self.data, mib));
        self
    }
}
