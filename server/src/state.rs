//! State that every request can reach: the server's parts, made once.

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::FromRef;
use axum::http::HeaderName;
use tokio::sync::watch;

use crate::jobs::reviews::Reviews;
use crate::jobs::sweeps::{Engine, EngineError};
use crate::mcp::Agents;
use crate::net::embed_from::EmbedFrom;
use crate::net::hosts::{Host, Hosts};
use crate::net::limits::{Budget, FairQueue};
use crate::net::proxies::{Network, Proxies};
use crate::net::public_url::PublicUrl;
use crate::net::telemetry::Telemetry;
use crate::net::work::Work;
use crate::people::audit::Audit;
use crate::people::groups::Groups;
use crate::people::quotas::Quotas;
use crate::people::storage_usage::OpenedNotes;
use crate::site::Site;
use crate::store::Home;
use crate::store::traces::Traces;
use crate::{
    designs, jobs::nats, jobs::sweeps, net::request_body, net::response_buffer, people::quotas,
    store, store::traces,
};

/// Large files that are made at once, and those that one address may wait for.
const MAX_MAKERS: usize = 2;
const MAX_MAKERS_PER_ADDRESS: u64 = 8;

/// Cards that are drawn at once, so that previews never take all of the machine, and those that one
/// address may wait for.
const MAX_DRAWERS: usize = 2;
const MAX_DRAWERS_PER_ADDRESS: u64 = 64;

/// Searches that run at once, each on all cores, and those of one address.
const MAX_FINDERS: usize = 2;
const MAX_FINDERS_PER_ADDRESS: u64 = 1;

/// State that every request can reach.
#[derive(Clone, Debug)]
pub struct AppState {
    /// The built site; empty when none was given.
    pub(crate) site: Arc<Site>,
    /// Directory where the server keeps its data.
    pub(crate) data: Arc<PathBuf>,
    /// Address on the web, if it was given.
    pub(crate) public_url: Option<Arc<PublicUrl>>,
    /// Names of the server.
    pub(crate) hosts: Arc<Hosts>,
    /// Sites that may show its panels.
    pub(crate) embed_from: Arc<EmbedFrom>,
    /// The file that it keeps things in.
    pub(crate) store: Arc<store::Lazy>,
    /// Whether that can be written.
    pub(crate) readiness: store::Readiness,
    /// Quota of designs that clients store.
    pub(crate) quota: Arc<designs::Quota>,
    /// Uploaded traces of expert loads.
    pub(crate) traces: Arc<Traces>,
    /// The sweeps that it runs.
    pub(crate) sweeps: Arc<sweeps::Lazy>,
    /// Its review sessions.
    pub(crate) reviews: Arc<Reviews>,
    /// The header in which a proxy says who its user is, where one is believed.
    pub(crate) user_header: Option<HeaderName>,
    /// The proxies that are believed who asks.
    pub(crate) proxies: Arc<Proxies>,
    /// Counters for those who run it.
    pub(crate) telemetry: Arc<Telemetry>,
    /// Room for what is being sent to the server, and by it.
    pub(crate) inbox: Arc<Budget>,
    pub(crate) outbox: Arc<Budget>,
    /// Work of its routes that takes a while.
    pub(crate) work: Arc<Work>,
    /// Large files that are made.
    pub(crate) makers: Arc<FairQueue>,
    /// Cards that are drawn.
    pub(crate) drawers: Arc<FairQueue>,
    /// Searches for layouts.
    pub(crate) finders: Arc<FairQueue>,
    /// Server for agents, if it answers them.
    pub(crate) agents: Option<Agents>,
    /// Limits on what one owner may keep.
    pub(crate) quotas: Arc<Quotas>,
    /// Groups that may make what is kept.
    pub(crate) groups: Arc<Groups>,
    /// Audit log, if one is kept.
    pub(crate) audit: Option<Arc<Audit>>,
    /// Notes on what was opened today.
    pub(crate) opened: Arc<OpenedNotes>,
    /// True once the server has to end: answers without an end of their own end then.
    pub(crate) closing: watch::Sender<bool>,
}

impl AppState {
    /// The state of a server with this site and this existing data directory.
    #[must_use]
    pub fn new(site: Site, data: PathBuf) -> Self {
        let traces = Arc::new(Traces::new(&data, traces::MAX_MIB));
        let store = Arc::new(store::Lazy::new(&data));
        let reviews = Reviews::new(Arc::clone(&store), None);
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
            proxies: Arc::default(),
            telemetry: Arc::default(),
            inbox: request_body::inbox(),
            outbox: response_buffer::outbox(),
            work: Arc::default(),
            makers: Arc::new(FairQueue::new(MAX_MAKERS, MAX_MAKERS_PER_ADDRESS)),
            drawers: Arc::new(FairQueue::new(MAX_DRAWERS, MAX_DRAWERS_PER_ADDRESS)),
            finders: Arc::new(FairQueue::new(MAX_FINDERS, MAX_FINDERS_PER_ADDRESS)),
            agents: None,
            quotas: Arc::default(),
            groups: Arc::default(),
            audit: None,
            opened: Arc::default(),
            closing,
        }
    }

    /// Sets the limits on what one owner may keep.
    #[must_use]
    pub(crate) fn limited(mut self, limits: quotas::Limits) -> Self {
        self.quotas = Arc::new(Quotas::new(limits));
        self
    }

    /// Lets these groups alone make what is kept.
    #[must_use]
    pub(crate) fn for_groups(mut self, groups: Groups) -> Self {
        self.groups = Arc::new(groups);
        self
    }

    /// Records in an audit log who did what. Decisions in sessions are recorded however they come.
    #[must_use]
    pub(crate) fn audited(mut self, audit: Audit) -> Self {
        let audit = Arc::new(audit);
        self.reviews.tell_decisions(Arc::clone(&audit));
        self.audit = Some(audit);
        self
    }

    /// Sets the address on the web.
    #[must_use]
    pub fn at(mut self, url: PublicUrl) -> Self {
        Arc::make_mut(&mut self.hosts).add_origin(&url);
        self.public_url = Some(Arc::new(url));
        self
    }

    /// Adds names of the server.
    #[must_use]
    pub fn named(mut self, hosts: impl IntoIterator<Item = Host>) -> Self {
        Arc::make_mut(&mut self.hosts).add(hosts);
        self
    }

    /// Adds the names that go with a listening address, `ADDRESS:PORT`.
    #[must_use]
    pub(crate) fn listening(mut self, listen: &str) -> Self {
        Arc::make_mut(&mut self.hosts).add_listening(listen);
        self
    }

    /// Sets the sites that may show its panels.
    #[must_use]
    pub fn embedded_from(mut self, sites: EmbedFrom) -> Self {
        self.embed_from = Arc::new(sites);
        self
    }

    /// Sets the header in which a proxy says who its user is; it is believed from this machine and
    /// from proxies that are named.
    #[must_use]
    pub fn with_users(mut self, header: HeaderName) -> Self {
        self.user_header = Some(header);
        self
    }

    /// Sets the proxies that are believed about the client, beside this machine's.
    #[must_use]
    pub fn behind(mut self, proxies: Vec<Network>) -> Self {
        self.proxies = Arc::new(Proxies(proxies));
        self
    }

    /// The headers in which a proxy that is believed says who its user is.
    pub(crate) fn told(&self) -> impl Iterator<Item = &HeaderName> {
        self.user_header.iter().chain(&self.groups.header)
    }

    /// Sets a store at this address of PostgreSQL, which other servers may share.
    ///
    /// # Errors
    /// Text that is no such address.
    pub fn stored_at(self, address: &str) -> Result<Self, String> {
        Ok(self.with_store(address.parse()?))
    }

    pub(crate) fn with_store(mut self, address: store::Address) -> Self {
        self.store = Arc::new(store::Lazy::at(Home::Postgres(address)));
        self.reviews = Reviews::new(Arc::clone(&self.store), None);
        self
    }

    /// Has sweeps computed by workers at NATS.
    #[must_use]
    pub(crate) fn with_workers(mut self, address: nats::Address) -> Self {
        self.reviews = Reviews::new(Arc::clone(&self.store), Some(address.clone()));
        self.sweeps = Arc::new(sweeps::Lazy::over(address));
        self
    }

    /// Answers agents at `/mcp`, with the links of its address on the web.
    #[must_use]
    pub fn with_agents(mut self) -> Self {
        self.agents = Some(Agents::new(self.public_url.clone()));
        self
    }

    /// Sets the room for traces, in MiB.
    #[must_use]
    pub fn with_trace_store(mut self, mib: u64) -> Self {
        self.traces = Arc::new(Traces::new(&self.data, mib));
        self
    }

    /// The engine of sweeps. Opens files: not for threads that answer requests.
    pub(crate) fn sweeps(&self) -> Result<Arc<Engine>, EngineError> {
        self.sweeps.engine(&self.store)
    }

    /// Goes on with the sweeps that a server before this one left unfinished.
    pub(crate) fn resume_sweeps(&self) {
        if (self.store.exists() || self.sweeps.has_workers())
            && let Err(error) = self.sweeps()
        {
            tracing::error!(%error, "sweeps can't go on");
        }
    }
}

impl FromRef<AppState> for Option<HeaderName> {
    fn from_ref(state: &AppState) -> Self {
        state.user_header.clone()
    }
}

impl FromRef<AppState> for Option<Arc<PublicUrl>> {
    fn from_ref(state: &AppState) -> Self {
        state.public_url.clone()
    }
}
