//! `moescape mcp`: the Model Context Protocol over stdio, or over HTTP.

use std::sync::Arc;

use axum::Router;
use rmcp::ServiceExt;
use rmcp::transport::stdio_pipes;

use super::{Failure, log, output, serve};
use crate::mcp::{self, Agents, Lines, MAX_LINE_BYTES, SKILL};
use crate::net::listen::{self, ConnectionLimiter, Endpoint, Limits, MAX_CONNECTIONS};
use crate::state::AppState;
use crate::{Host, PublicUrl, Site, http::layers, jobs::reviews};

/// Where to answer.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Address and port to answer at, over streamable HTTP at /mcp; port 0 picks a free one
    /// [default: stdin and stdout]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// What the links of answers begin with [default: http://127.0.0.1:3000, where `moescape
    /// serve` listens]
    #[arg(long, env = "MOESCAPE_PUBLIC_URL", value_name = "https://HOST")]
    public_url: Option<PublicUrl>,
    /// One more name or address by which it may be asked with --listen, without a port
    #[arg(long = "host", value_delimiter = ',', value_name = "NAME", requires = "listen")]
    hosts: Vec<Host>,
    /// Print the skill, a file that tells agents how to use the tools, and end
    #[arg(long, conflicts_with = "listen")]
    skill: bool,
    #[command(flatten)]
    log: log::Arguments,
}

/// Answers until stdin ends, or until told to end.
pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    if arguments.skill {
        return output::result(SKILL);
    }
    arguments.log.begin();
    let url = match arguments.public_url {
        Some(url) => url,
        None => "http://127.0.0.1:3000".parse().map_err(Failure::Internal)?,
    };
    let agents = Agents::new(Some(Arc::new(url)));
    match arguments.listen {
        None => over_stdio(agents),
        Some(address) => over_http(&agents, address, arguments.hosts),
    }
}

fn over_stdio(agents: Agents) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::Internal(format!("MCP ended: {error}"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(&error))?;
    let outcome = runtime.block_on(async {
        let (read, write) = stdio_pipes();
        let lines = Lines::new(read, write, MAX_LINE_BYTES);
        let running = agents.serve(lines).await.map_err(|error| failed(&error))?;
        running.waiting().await.map(|_| ()).map_err(|error| failed(&error))
    });
    // Reading stdin can't be given up: nobody waits for it.
    runtime.shutdown_background();
    outcome
}

fn over_http(agents: &Agents, address: String, hosts: Vec<Host>) -> Result<(), Failure> {
    let site = Site::embedded().map_err(|error| Failure::user(error.to_string()))?;
    // Nothing is kept: the directory is a name that nobody opens.
    let state = AppState::new(site, serve::data(None)?).named(hosts).listening(&address);
    let routes = Router::new().route_service(mcp::PATH, mcp::service(agents));
    let router = layers::around(routes, &state).with_state(state.clone());
    let limits = Limits::new(MAX_CONNECTIONS, None, reviews::SOCKETS_PER_ADDRESS).possible();
    let limiter =
        ConnectionLimiter::new(limits, Arc::clone(&state.proxies), Arc::clone(&state.telemetry));
    let service = Endpoint { flag: "--listen", address, router, limiter };
    let mut said = Ok(());
    let last = std::future::ready(());
    let outcome = listen::serve(service, None, &state.closing, last, |address, _| {
        said = output::result(&format!("listening on http://{address}{}\n", mcp::PATH));
    });
    outcome.map_err(|error| serve::explain(&error))?;
    said
}
