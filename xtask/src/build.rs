//! `cargo xtask build`: the binary to ship, with the optimised site inside; `cargo xtask site`: the
//! site alone, quickly, for a server that reads it from its directory.

use anyhow::Result;

use crate::site::{self, Quality};
use crate::tool::{self, Tool};
use crate::workspace::{Workspace, shown};

/// Builds the site and the binary, and prints the sizes of both.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    tool::require(&[Tool::WasmTarget, Tool::CCompiler, Tool::Node, Tool::Npm])?;
    tool::install_node_packages(workspace)?;
    let site = site::build(workspace, Quality::Release)?;
    site.check_budget()?;
    workspace.build_binary()?;
    println!("built {}", shown(&workspace.binary()));
    Ok(())
}

/// Builds the site as for working, and no binary.
pub(crate) fn site(workspace: &Workspace) -> Result<()> {
    tool::require(&[Tool::WasmTarget])?;
    site::build(workspace, Quality::Draft)?;
    println!("built {}", shown(&workspace.site()));
    Ok(())
}
