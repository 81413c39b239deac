//! `moescape serve`: the explorer and its API on a socket.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::http::HeaderName;
use etcetera::BaseStrategy;

use super::{Failure, log, output, upkeep};
use crate::jobs::nats::Address;
use crate::net::listen::{self, ConnectionLimiter, Endpoint, Limits, ListenError, MAX_CONNECTIONS};
use crate::state::AppState;
use crate::store::Cause;
use crate::store::dir_lock::{self, Hold, HoldError};
use crate::{
    EmbedFrom, Host, Network, PublicUrl, Site, ground::files, http::exposition, jobs::reviews,
    router, store, store::backup, store::traces,
};

/// Where to serve and from what.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Address and port; port 0 picks a free one
    #[arg(
        long,
        env = "MOESCAPE_LISTEN",
        value_name = "ADDRESS:PORT",
        default_value = "127.0.0.1:3000"
    )]
    pub(super) listen: String,
    /// Directory of the server's data, created when absent [default: the XDG data directory]
    #[arg(long, env = "MOESCAPE_DATA", value_name = "DIR")]
    pub(super) data: Option<PathBuf>,
    /// Database of PostgreSQL that keeps reviews, sweeps and designs, which servers may share
    /// [default: a file of SQLite in the data directory]
    #[arg(
        long,
        env = "MOESCAPE_STORE",
        hide_env_values = true,
        value_name = "postgres://USER@HOST/DATABASE"
    )]
    pub(super) store: Option<store::Address>,
    /// Built site to serve in place of the one in this binary
    #[arg(long, env = "MOESCAPE_SITE", value_name = "DIR")]
    pub(super) site: Option<PathBuf>,
    /// Where visitors reach it, for links in previews and other pages [default: the host that the
    /// visitor asked for]
    #[arg(long, env = "MOESCAPE_PUBLIC_URL", value_name = "https://HOST")]
    pub(super) public_url: Option<PublicUrl>,
    /// One more name or address by which visitors may ask for it, without a port; others than
    /// those, `--public-url`'s, `--listen`'s and this machine's own are refused
    #[arg(long = "host", env = "MOESCAPE_HOST", value_delimiter = ',', value_name = "NAME")]
    hosts: Vec<Host>,
    /// Sites whose pages may show panels of designs: `*`, `none`, or origins with commas between
    #[arg(long, env = "MOESCAPE_EMBED_FROM", value_name = "ORIGINS", default_value = "*")]
    embed_from: EmbedFrom,
    /// Header in which a proxy in front says who its user is; names in review sessions are theirs
    /// then. Only with a proxy that sets or removes it in every request; from others it is ignored
    #[arg(long, env = "MOESCAPE_USER_HEADER", value_name = "NAME")]
    user_header: Option<HeaderName>,
    /// A proxy, or a network of proxies, that is believed whom it asks for (X-Forwarded-For,
    /// X-Forwarded-Proto, --user-header); those on this machine always are
    #[arg(
        long = "trusted-proxy",
        env = "MOESCAPE_TRUSTED_PROXY",
        value_delimiter = ',',
        value_name = "CIDR"
    )]
    trusted_proxies: Vec<Network>,
    /// Sockets of review sessions that one address may have at once; a proxy that is believed
    /// says by X-Forwarded-For whose they are
    #[arg(
        long,
        env = "MOESCAPE_SOCKETS_PER_ADDRESS",
        value_name = "NUMBER",
        default_value_t = reviews::SOCKETS_PER_ADDRESS
    )]
    sockets_per_address: u32,
    /// Connections at once, and not more than there are descriptors for
    #[arg(
        long,
        env = "MOESCAPE_MAX_CONNECTIONS",
        value_name = "NUMBER",
        default_value_t = MAX_CONNECTIONS,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(super) max_connections: u32,
    /// Connections of one address at once, and not more than half of all; those of a proxy that is
    /// believed count as its visitors' [default: 512, or twice --sockets-per-address]
    #[arg(
        long,
        env = "MOESCAPE_MAX_CONNECTIONS_PER_ADDRESS",
        value_name = "NUMBER",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    max_connections_per_address: Option<u32>,
    /// Room for uploaded traces of expert loads, in MiB
    #[arg(long, env = "MOESCAPE_TRACE_STORE_MIB", value_name = "MIB", default_value_t = 1_024)]
    pub(super) trace_store_mib: u64,
    /// Let workers run sweeps that `moescape worker` started at the same NATS, with JetStream
    #[arg(long, env = "MOESCAPE_ENGINE", hide_env_values = true, value_name = "nats://HOST:PORT")]
    pub(super) engine: Option<Address>,
    /// Answer agents by the Model Context Protocol at /mcp, too
    #[arg(
        long,
        env = "MOESCAPE_MCP",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value_t = false,
        default_missing_value = "true",
        action = clap::ArgAction::Set
    )]
    mcp: bool,
    /// Address and port of `/metrics`, for Prometheus; not for visitors: keep it
    /// on this machine or in a network of yours
    #[arg(long, env = "MOESCAPE_METRICS_LISTEN", value_name = "ADDRESS:PORT")]
    pub(super) metrics_listen: Option<String>,
    /// File of settings, TOML: the names of these flags. A flag holds before the environment
    /// (MOESCAPE_LISTEN for --listen), that before the file
    #[arg(long, env = "MOESCAPE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print what holds and where it is from, as such a file, and end
    #[arg(long)]
    pub(super) print_config: bool,
    #[command(flatten)]
    pub(super) upkeep: upkeep::Arguments,
    #[command(flatten)]
    log: log::Arguments,
}

/// Serves until told to end.
pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    arguments.log.begin();
    let data = data(arguments.data)?;
    files::create_directories(&data)
        .map_err(|error| Failure::user(format!("can't create {}: {error}", data.display())))?;
    let hold = hold(&data)?;
    look(&data, hold.as_ref(), arguments.store.is_none())?;
    let site = match &arguments.site {
        Some(directory) => Site::from_directory(directory),
        None => Site::embedded(),
    };
    let site = site.map_err(|error| Failure::user(error.to_string()))?;
    let listen = &arguments.listen;
    let mut said = Ok(());
    let mut state = AppState::new(site, data).with_trace_store(arguments.trace_store_mib);
    if let Some(address) = arguments.store {
        state = state.with_store(address);
        look_there(&state)?;
    }
    state = state.embedded_from(arguments.embed_from).named(arguments.hosts).listening(listen);
    if let Some(listen) = &arguments.metrics_listen {
        state = state.listening(listen);
    }
    state = state.behind(arguments.trusted_proxies);
    if let Some(url) = arguments.public_url {
        state = state.at(url);
    }
    if let Some(header) = arguments.user_header {
        state = state.with_users(header);
    }
    if let Some(address) = arguments.engine {
        state = state.with_workers(address);
        // Whoever asks for workers hears now, not at the first sweep, that there is no NATS.
        state.sweeps().map_err(|error| Failure::Internal(error.to_string()))?;
    }
    if arguments.mcp {
        state = state.with_agents();
    }
    state = arguments.upkeep.tell(state)?;
    arguments.upkeep.start(&state)?;
    state.reviews.allow_sockets(arguments.sockets_per_address);
    let per_address = arguments.max_connections_per_address;
    let limits = Limits::new(arguments.max_connections, per_address, arguments.sockets_per_address);
    let limits = limits.possible();
    tracing::info!(limits.connections, limits.per_address, "connections are limited");
    let closing = state.closing.clone();
    let reviews = state.reviews.clone();
    let last = async move { reviews.emptied().await };
    let beside = arguments.metrics_listen.map(|address| Endpoint {
        flag: "--metrics-listen",
        address,
        router: exposition::router(state.clone()),
        // Those who scrape don't count as visitors.
        limiter: ConnectionLimiter::new(
            Limits { connections: 16, per_address: 16 },
            Arc::default(),
            Arc::default(),
        ),
    });
    let service = Endpoint {
        flag: "--listen",
        address: listen.clone(),
        limiter: ConnectionLimiter::new(
            limits,
            Arc::clone(&state.proxies),
            Arc::clone(&state.telemetry),
        ),
        router: router(state),
    };
    let outcome = listen::serve(service, beside, &closing, last, |address, metrics| {
        said = output::result(&format!("listening on http://{address}\n"));
        if let Some(metrics) = metrics {
            tracing::info!("metrics are at http://{metrics}/metrics");
        }
    });
    outcome.map_err(|error| explain(&error))?;
    said
}

/// Keeps others from replacing what the directory holds while the server runs on it.
fn hold(data: &Path) -> Result<Option<Hold>, Failure> {
    match dir_lock::shared(data) {
        Ok(hold) => Ok(Some(hold)),
        Err(HoldError::Taken) => Err(Failure::user(format!(
            "what {} holds is being replaced by `moescape restore`; start the server after that",
            data.display()
        ))),
        Err(HoldError::Disk(error)) => {
            // Some network disks have no locks; a server that can't write says so later.
            tracing::warn!(%error, "a restore won't see that a server uses {}", data.display());
            Ok(None)
        }
    }
}

/// Looks at what the directory holds, before the first request does.
fn look(data: &Path, hold: Option<&Hold>, has_store: bool) -> Result<(), Failure> {
    tighten(data);
    // Nobody restores while a server holds the directory.
    match hold.map(|_| backup::clean(data)) {
        Some(Ok(true)) => tracing::warn!(
            "removed what a restore left in {} that was cut off; nothing of it was in use",
            data.display()
        ),
        Some(Err(error)) => {
            tracing::warn!(%error, "what a restore left in {} stays", data.display());
        }
        Some(Ok(false)) | None => {}
    }
    if !has_store {
        return Ok(());
    }
    store::check(data).map_err(|unfit| {
        let todo = unfit.todo(data);
        Failure::Internal(format!("{unfit}; the server doesn't start on it: {todo}"))
    })
}

/// Opens the store in PostgreSQL. A database that is away may come back; one that is another
/// program's, a newer version's or refuses this user is a mistake of whoever starts the server.
fn look_there(state: &AppState) -> Result<(), Failure> {
    match state.store.open() {
        Ok(_) => Ok(()),
        Err(error) if matches!(error.cause(), Cause::Foreign | Cause::Denied) => {
            let detail = format!("{error}; the server doesn't start on it. {DOCTOR}");
            Err(Failure::Internal(detail))
        }
        Err(error) => {
            tracing::error!(%error, "the store can't be opened now; it is tried again");
            Ok(())
        }
    }
}

/// Hint at the command that says what to do.
const DOCTOR: &str = "`moescape doctor` with the same settings says what to do";

/// Takes from other users what they may do with what the directory holds.
fn tighten(data: &Path) {
    let traces = data.join(traces::DIRECTORY);
    let stored = std::fs::read_dir(&traces).into_iter().flatten().flatten();
    let stored = stored.map(|entry| entry.path());
    let ours = store::parts(data).chain([data.join(dir_lock::FILE), traces.clone()]).chain(stored);
    match files::tighten(ours) {
        Ok(wide) => {
            if let Some(first) = wide.first() {
                tracing::warn!(
                    "other users of this machine could use {} in {}, such as {}; now only the \
                     owner can",
                    present::format::counted(wide.len() as u64, "file", "files"),
                    data.display(),
                    first.display()
                );
            }
        }
        Err(error) => {
            tracing::warn!(%error, "other users may be able to read what {} holds", data.display());
        }
    }
}

/// The data directory that was named, or `moescape` below the XDG data directory.
pub(super) fn data(named: Option<PathBuf>) -> Result<PathBuf, Failure> {
    if let Some(named) = named {
        return Ok(named);
    }
    let strategy = etcetera::base_strategy::Xdg::new().map_err(|error| {
        Failure::user(format!("no data directory: {error}; give one by --data"))
    })?;
    Ok(strategy.data_dir().join("moescape"))
}

/// Explanation of why nothing is served.
pub(super) fn explain(error: &ListenError) -> Failure {
    let (flag, address, error) = match error {
        ListenError::Bind { flag, address, error } => (flag, address, error),
        ListenError::Serve(error) => {
            return Failure::Internal(format!("the server ended: {error}"));
        }
    };
    let kind = error.kind();
    if kind == io::ErrorKind::AddrInUse {
        return Failure::Internal(format!(
            "{address} is busy; {flag} 127.0.0.1:0 picks a free port, or end what listens there"
        ));
    }
    if kind == io::ErrorKind::PermissionDenied {
        return Failure::Internal(format!(
            "{address} isn't allowed: {error}; ports from 1024 on need no privileges"
        ));
    }
    Failure::user(format!(
        "can't listen on {address}: {error}; {flag} takes ADDRESS:PORT such as 127.0.0.1:3000"
    ))
}
