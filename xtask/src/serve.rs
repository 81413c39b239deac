//! `cargo xtask serve`: builds what changed, then becomes the server.

use std::process::Command;

use anyhow::Result;

use crate::asked;
use crate::site::{self, Quality};
use crate::tool::{self, Install, Tool};
use crate::workspace::Workspace;

/// Where to serve and from what.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Address and port; port 0 picks a free one
    #[arg(long, default_value = "127.0.0.1:3000")]
    listen: String,
    /// Directory of the server's data
    #[arg(long, default_value = ".moescape")]
    data: std::path::PathBuf,
    /// More arguments for `moescape serve`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Builds a draft of the site, then a server that reads it, and runs that one. Both are made to be
/// started soon: without link-time optimisation and wasm-opt, optimised where the time goes.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    tool::require(&[Tool::WasmTarget], Install::Toolchain)?;
    site::build(workspace, Quality::Draft)?;
    workspace.build_draft()?;
    let mut serve = Command::new(workspace.draft());
    serve.arg("serve").args(["--listen", &arguments.listen]);
    serve.arg("--site").arg(workspace.site());
    serve.arg("--data").arg(workspace.root.join(&arguments.data)).args(&arguments.rest);
    if let Some(seconds) = asked::seconds_ago() {
        println!("built {seconds:.0} s after the command was given");
    }
    become_program(serve)
}

/// Replaces this process, so that signals reach the server itself.
#[cfg(unix)]
fn become_program(mut program: Command) -> Result<()> {
    use std::os::unix::process::CommandExt;
    Err(anyhow::Error::new(program.exec()).context("cannot start the server"))
}

#[cfg(not(unix))]
fn become_program(mut program: Command) -> Result<()> {
    crate::command::run(&mut program)
}
