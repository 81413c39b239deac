//! `cargo xtask build`: the binary to ship, with the optimised site inside; `cargo xtask site`: the
//! site alone, quickly, for a server that reads it from its directory.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::command;
use crate::site::{self, Quality};
use crate::tool::{self, Install, Tool};
use crate::workspace::{Workspace, shown};

/// Largest size of the binary in bytes, stripped and with the site inside.
const MAX_BINARY_BYTES: u64 = 45_000_000;

/// What is built beside the binary.
#[derive(clap::Args)]
pub(crate) struct Release {
    /// Write the site as a folder there, too, which any web server hands out
    #[arg(long = "static", value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Builds the site and the binary, and prints the sizes of both.
pub(crate) fn run(workspace: &Workspace, release: &Release) -> Result<()> {
    shipped_site(workspace)?;
    workspace.build_binary()?;
    // It has the site inside: this prints a file of it.
    command::output(Command::new(workspace.binary()).arg("licences"))?;
    let bytes = std::fs::metadata(workspace.binary())?.len();
    println!("built {}, {:.1} MB", shown(&workspace.binary()), bytes as f64 / 1e6);
    ensure!(bytes <= MAX_BINARY_BYTES, "the binary may weigh {MAX_BINARY_BYTES} bytes at most");
    match &release.folder {
        Some(folder) => command::run(Command::new(workspace.binary()).arg("static").arg(folder)),
        None => Ok(()),
    }
}

/// How the site alone is built.
#[derive(clap::Args)]
pub(crate) struct Draft {
    /// As it is shipped, with the optimiser, in place of a draft
    #[arg(long)]
    release: bool,
}

/// Builds the site and no binary.
pub(crate) fn site(workspace: &Workspace, draft: &Draft) -> Result<()> {
    if draft.release {
        shipped_site(workspace)?;
    } else {
        tool::require(&[Tool::WasmTarget], Install::Toolchain)?;
        site::build(workspace, Quality::Draft)?;
    }
    println!("built {}", shown(&workspace.site()));
    Ok(())
}

/// Builds the site as it is shipped.
pub(crate) fn shipped_site(workspace: &Workspace) -> Result<()> {
    tool::require(&[Tool::WasmTarget, Tool::Node, Tool::Npm], Install::Toolchain)?;
    let node = tool::node(workspace, Install::Toolchain)?;
    node.install_packages(workspace)?;
    site::build(workspace, Quality::Release(&node))?.check_budget(workspace)
}
