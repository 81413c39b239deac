//! `cargo xtask soak`: two servers on one PostgreSQL, killed in turn while clients edit.

use anyhow::Result;

use crate::command;
use crate::workspace::Workspace;

/// How long.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Minutes that clients edit; a server is killed every ten seconds
    #[arg(long, default_value_t = 5)]
    minutes: u64,
}

/// Runs it, and shows what it prints: events acknowledged and lost, times of edits, memory.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let line = "test --package server --test reviews -- --nocapture --exact \
                shared_store::two_servers_on_one_database_are_killed_and_lose_nothing";
    let mut soak = workspace.cargo(line.split_whitespace());
    command::run(soak.env("MOESCAPE_SOAK_MINUTES", arguments.minutes.to_string()))
}
