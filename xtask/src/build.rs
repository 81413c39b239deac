//! `cargo xtask build`: the binary to ship, with the optimised site inside; `cargo xtask site`: the
//! site alone, quickly, for a server that reads it from its directory.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::command;
use crate::site::{self, Quality};
use crate::tool::{self, Install, Tool};
use crate::workspace::{Workspace, shown};

/// What the binary may weigh, stripped and with the site inside.
const MAX_BINARY_BYTES: u64 = 45_000_000;

/// Builds the site and the binary, and prints the sizes of both.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    tool::require(&[Tool::WasmTarget, Tool::Node, Tool::Npm], Install::Toolchain)?;
    let node = tool::node(workspace, Install::Toolchain)?;
    node.install_packages(workspace)?;
    let site = site::build(workspace, Quality::Release(&node))?;
    site.check_budget()?;
    workspace.build_binary()?;
    // It has the site inside: this prints a file of it.
    command::output(Command::new(workspace.binary()).arg("licences"))?;
    let bytes = std::fs::metadata(workspace.binary())?.len();
    println!("built {}, {:.1} MB", shown(&workspace.binary()), bytes as f64 / 1e6);
    ensure!(bytes <= MAX_BINARY_BYTES, "the binary may weigh {MAX_BINARY_BYTES} bytes at most");
    Ok(())
}

/// Builds the site as for working, and no binary.
pub(crate) fn site(workspace: &Workspace) -> Result<()> {
    tool::require(&[Tool::WasmTarget], Install::Toolchain)?;
    site::build(workspace, Quality::Draft)?;
    println!("built {}", shown(&workspace.site()));
    Ok(())
}
