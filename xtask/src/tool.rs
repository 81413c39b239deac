//! The programs that a task needs beyond rustup, each with the command that installs it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::command;
use crate::workspace::Workspace;

/// A program or target that may be missing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// The target of the explorer.
    WasmTarget,
    /// The target that has no std.
    NoStdTarget,
    /// For SQLite.
    CCompiler,
    /// For wasm-opt, the parity test and the browser tests.
    Node,
    /// Installs what node runs.
    Npm,
    /// For the browser tests.
    Chromium,
    /// For sweeps by workers.
    NatsServer,
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::WasmTarget => "the target wasm32-unknown-unknown",
            Self::NoStdTarget => "the target wasm32v1-none",
            Self::CCompiler => "a C compiler",
            Self::Node => "node 20 or newer",
            Self::Npm => "npm",
            Self::Chromium => "Chromium",
            Self::NatsServer => "nats-server",
        }
    }

    fn install(self) -> &'static str {
        match self {
            Self::WasmTarget => "rustup target add wasm32-unknown-unknown",
            Self::NoStdTarget => "rustup target add wasm32v1-none",
            Self::CCompiler => "sudo apt-get install gcc libc6-dev",
            Self::Node => "sudo apt-get install nodejs",
            Self::Npm => "sudo apt-get install npm",
            Self::Chromium => "sudo apt-get install chromium",
            Self::NatsServer => "sudo apt-get install nats-server",
        }
    }

    fn is_there(self) -> bool {
        match self {
            Self::WasmTarget => has_target("wasm32-unknown-unknown"),
            Self::NoStdTarget => has_target("wasm32v1-none"),
            Self::CCompiler => {
                ["cc", "gcc", "clang"].iter().any(|name| command::succeeds(name, &["--version"]))
            }
            Self::Node => {
                let newer = "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)";
                command::succeeds("node", &["--eval", newer])
            }
            Self::Npm => command::succeeds("npm", &["--version"]),
            Self::Chromium => chromium().is_some(),
            Self::NatsServer => command::succeeds("nats-server", &["--version"]),
        }
    }
}

/// Fails with every missing tool and how to get it.
pub(crate) fn require(tools: &[Tool]) -> Result<()> {
    let missing: Vec<String> = tools
        .iter()
        .filter(|tool| !tool.is_there())
        .map(|tool| format!("  {} is missing; install it with: {}", tool.name(), tool.install()))
        .collect();
    if !missing.is_empty() {
        bail!("this task needs more than is installed\n{}", missing.join("\n"));
    }
    Ok(())
}

/// The browser: `CHROMIUM` if set, else the first known name on the PATH.
pub(crate) fn chromium() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CHROMIUM") {
        return Some(path.into());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
    std::env::split_paths(&path)
        .flat_map(|directory| names.map(|name| directory.join(name)))
        .find(|candidate| candidate.is_file())
}

/// Is the standard library of that target installed for the toolchain in use?
fn has_target(target: &str) -> bool {
    let mut rustc = Command::new("rustc");
    let directory = rustc.args(["--print", "target-libdir", "--target", target]).output();
    directory.is_ok_and(|output| {
        let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        std::fs::read_dir(path).is_ok_and(|mut files| files.next().is_some())
    })
}

/// Installs the locked npm packages unless they are there already.
pub(crate) fn install_node_packages(workspace: &Workspace) -> Result<()> {
    let directory = workspace.end2end();
    let lock = std::fs::read(directory.join("package-lock.json"))?;
    let installed = directory.join("node_modules/installed-package-lock.json");
    if std::fs::read(&installed).is_ok_and(|bytes| bytes == lock) {
        return Ok(());
    }
    let mut npm = Command::new("npm");
    npm.current_dir(&directory)
        .args(["ci", "--no-audit", "--no-fund"])
        .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
    command::run(&mut npm)?;
    std::fs::write(installed, lock)?;
    Ok(())
}
