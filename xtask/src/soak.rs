//! `cargo xtask soak`: two servers on one PostgreSQL with NATS and a proxy, killed in turn while
//! clients edit and sweeps are computed.

use anyhow::Result;

use crate::command;
use crate::tool::{self, Install, Tool};
use crate::workspace::Workspace;

/// How long.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Minutes that clients edit; a server is killed every nine seconds in the first two thirds
    #[arg(long, default_value_t = 5)]
    minutes: u64,
}

/// Runs it, and shows what it prints: events acknowledged and lost, times of edits, digests
/// of sweeps, memory.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    tool::require(&[Tool::NatsServer, Tool::Postgres, Tool::Nginx], Install::Nothing)?;
    let line = "test --package server --test reviews -- --nocapture --ignored --exact \
                soak::servers_behind_a_proxy_are_killed_and_lose_neither_an_event_nor_a_row";
    let mut soak = workspace.cargo(line.split_whitespace());
    command::run(soak.env("MOESCAPE_SOAK_MINUTES", arguments.minutes.to_string()))
}
