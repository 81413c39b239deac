//! Streamable HTTP: each request stands alone, and one whose client goes away is cancelled.
//!
//! Hosts and origins are checked by the layers around all routes, so that the SDK's own lists,
//! which know nothing of `--host` and `--public-url`, are left out.

use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::agents::Agents;
use super::tool::MAX_ARGUMENT_BYTES;

/// Where it is on a server.
pub(crate) const PATH: &str = "/mcp";

/// Answers at [`PATH`].
pub(crate) fn service(agents: &Agents) -> StreamableHttpService<Agents, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_max_request_body_bytes(MAX_ARGUMENT_BYTES + (64 << 10))
        .disable_allowed_hosts();
    let agents = agents.clone();
    StreamableHttpService::new(
        move || Ok(agents.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    )
}
