//! `cargo xtask bench`: how fast the model is on one core, a sweep on all of them, the server
//! beside a sweep, review sessions, and the page from event to layout; with a base, the model and
//! sweeps of another commit beside those of this one.

mod base;

use anyhow::Result;

use crate::command;
use crate::site::{self, Quality};
use crate::tool::{self, Install, Tool};
use crate::workspace::Workspace;

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Measure only this
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// Measure the model and sweeps in turns with this commit's
    #[arg(long, value_name = "COMMIT", conflicts_with = "only")]
    base: Option<String>,
}

/// One of the measurements.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Estimates per second of the model
    Model,
    /// Designs per second of sweeps, and their memory
    Sweep,
    /// How the server answers beside a sweep
    Server,
    /// Review sessions: from send to receipt, memory, and kills
    Reviews,
    /// Latency of the released page in a browser
    Page,
}

/// Measures; nothing here passes or fails, since machines differ.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    if let Some(commit) = &arguments.base {
        return base::compare(workspace, commit);
    }
    let is_asked = |part: Part| arguments.only.is_none_or(|only| only == part);
    if is_asked(Part::Model) {
        command::run(&mut workspace.cargo(["bench", "--package", "model", "--bench", "estimate"]))?;
    }
    if is_asked(Part::Sweep) {
        command::run(&mut workspace.cargo(["bench", "--package", "sweep", "--bench", "sweep"]))?;
    }
    if is_asked(Part::Server) {
        command::run(&mut workspace.cargo(["bench", "--package", "server", "--bench", "beside"]))?;
    }
    if is_asked(Part::Reviews) {
        command::run(&mut workspace.cargo(["bench", "--package", "server", "--bench", "reviews"]))?;
    }
    if is_asked(Part::Page) {
        page(workspace)?;
    }
    Ok(())
}

fn page(workspace: &Workspace) -> Result<()> {
    let tools = [Tool::WasmTarget, Tool::Node, Tool::Npm, Tool::Chromium];
    tool::require(&tools, Install::Toolchain)?;
    let node = tool::node(workspace, Install::Toolchain)?;
    node.install_packages(workspace)?;
    site::build(workspace, Quality::Release(&node))?;
    workspace.build_binary()?;
    let mut playwright = node.command(workspace.end2end().join("node_modules/.bin/playwright"))?;
    playwright.current_dir(workspace.end2end()).args(["test", "--config", "bench.config.ts"]);
    playwright.env("MOESCAPE_BINARY", workspace.binary()).env("MOESCAPE_SITE", workspace.site());
    command::run(&mut playwright)
}
