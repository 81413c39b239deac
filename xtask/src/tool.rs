//! The programs that a task needs beyond rustup and a linker, and how each comes to be there.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail, ensure};

use crate::command;
use crate::workspace::Workspace;

/// The oldest node that the browser tests run on.
const MIN_NODE_MAJOR: u32 = 20;

/// The node that npm brings where the system's is older: the oldest line still maintained.
const NODE_FROM_NPM: u32 = 22;

/// Checker of licences, bans and advisories, in the version that `deny.toml` is written for.
const CARGO_DENY: &str = "cargo-deny@0.20.2";

/// A program, target or component that may be missing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// The target of the explorer.
    WasmTarget,
    /// The target that has no std.
    NoStdTarget,
    /// For the check of formatting.
    Rustfmt,
    /// For the lints.
    Clippy,
    /// For wasm-opt, the parity test and the browser tests; any age, as npm brings a newer one.
    Node,
    /// Installs what node runs.
    Npm,
    /// For the browser tests.
    Chromium,
    /// For sweeps by workers.
    NatsServer,
    Postgres,
    /// Counts instructions.
    Valgrind,
    /// For the soak and, where it is there, the tests of servers behind it.
    Nginx,
}

/// Origin of a tool.
enum Origin {
    /// `rustup target add` or `rustup component add`, into the user's own toolchain.
    Rustup([&'static str; 3]),
    /// A package of Debian and its kin.
    Apt(&'static str),
}

impl Tool {
    /// Its name, and where it comes from.
    fn row(self) -> (&'static str, Origin) {
        let target = |name| Origin::Rustup(["target", "add", name]);
        let component = |name| Origin::Rustup(["component", "add", name]);
        match self {
            Self::WasmTarget => {
                ("the target wasm32-unknown-unknown", target("wasm32-unknown-unknown"))
            }
            Self::NoStdTarget => ("the target wasm32v1-none", target("wasm32v1-none")),
            Self::Rustfmt => ("rustfmt", component("rustfmt")),
            Self::Clippy => ("clippy", component("clippy")),
            Self::Node => ("node", Origin::Apt("nodejs")),
            Self::Npm => ("npm", Origin::Apt("npm")),
            Self::Chromium => ("Chromium", Origin::Apt("chromium")),
            Self::NatsServer => ("nats-server", Origin::Apt("nats-server")),
            Self::Postgres => ("PostgreSQL", Origin::Apt("postgresql")),
            Self::Valgrind => ("valgrind", Origin::Apt("valgrind")),
            Self::Nginx => ("nginx", Origin::Apt("nginx")),
        }
    }

    fn name(self) -> &'static str {
        self.row().0
    }

    fn origin(self) -> Origin {
        self.row().1
    }

    /// Whether this machine has it.
    pub(crate) fn is_there(self) -> bool {
        match self {
            Self::WasmTarget => has_target("wasm32-unknown-unknown"),
            Self::NoStdTarget => has_target("wasm32v1-none"),
            Self::Rustfmt => command::succeeds("cargo", &["fmt", "--version"]),
            Self::Clippy => command::succeeds("cargo", &["clippy", "--version"]),
            Self::Node => command::succeeds("node", &["--version"]),
            Self::Npm => command::succeeds("npm", &["--version"]),
            Self::Chromium => chromium().is_some(),
            Self::NatsServer => command::succeeds("nats-server", &["--version"]),
            // Debian has its programs beside the path.
            Self::Postgres => {
                std::path::Path::new("/usr/lib/postgresql").exists()
                    || command::succeeds("postgres", &["--version"])
            }
            Self::Valgrind => command::succeeds("valgrind", &["--version"]),
            // Debian has it beside the path of those who aren't root.
            Self::Nginx => {
                std::path::Path::new("/usr/sbin/nginx").exists()
                    || command::succeeds("nginx", &["-v"])
            }
        }
    }

    /// The command that installs it, as typed in a shell.
    fn install_line(self) -> String {
        match self.origin() {
            Origin::Rustup(arguments) => format!("rustup {}", arguments.join(" ")),
            Origin::Apt(package) => format!("sudo apt-get install {package}"),
        }
    }
}

/// Permission of a task to install missing tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Install {
    /// Nothing: it fails and says what to type.
    Nothing,
    /// Targets and components of the toolchain; no other program.
    Toolchain,
    /// Packages of the system as well, as root or through a sudo that asks nothing.
    System,
}

/// Sees to it that the tools are there; fails with each that is still missing and how to get it.
pub(crate) fn require(tools: &[Tool], install: Install) -> Result<()> {
    let missing = || tools.iter().copied().filter(|tool| !tool.is_there()).collect::<Vec<_>>();
    let absent = missing();
    if absent.is_empty() {
        return Ok(());
    }
    if install != Install::Nothing {
        add_to_toolchain(&absent);
    }
    if install == Install::System {
        add_to_system(&absent);
    }
    let absent = missing();
    let lines: Vec<String> = absent
        .iter()
        .map(|tool| {
            format!("  {} is missing; install it with: {}", tool.name(), tool.install_line())
        })
        .collect();
    ensure!(lines.is_empty(), "this task needs more than is installed\n{}", lines.join("\n"));
    Ok(())
}

/// Adds targets and components; `RUSTUP_AUTO_INSTALL=0` is about whole toolchains, and stays so.
fn add_to_toolchain(absent: &[Tool]) {
    for tool in absent {
        if let Origin::Rustup(arguments) = tool.origin() {
            println!("installing {}: {}", tool.name(), tool.install_line());
            // Whoever isn't there after it is named, with the command to type.
            if let Err(error) = command::run(Command::new("rustup").args(arguments)) {
                eprintln!("{error:#}");
            }
        }
    }
}

/// Installs Debian's packages, after saying so.
fn add_to_system(absent: &[Tool]) {
    let packages: Vec<&str> = absent
        .iter()
        .filter_map(|tool| match tool.origin() {
            Origin::Apt(package) => Some(package),
            Origin::Rustup(_) => None,
        })
        .collect();
    if packages.is_empty() || !command::succeeds("apt-get", &["--version"]) {
        return;
    }
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    if !is_root && !command::succeeds("sudo", &["--non-interactive", "true"]) {
        return;
    }
    println!("installing {} with apt-get (--no-install refuses)", packages.join(", "));
    let apt = |arguments: &[&str]| {
        let mut line = vec!["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet=2"];
        line.extend(arguments);
        if !is_root {
            line.splice(0..0, ["sudo", "--non-interactive"]);
        }
        let mut apt = Command::new(line[0]);
        command::run(apt.args(&line[1..]))
    };
    let mut install = vec!["install", "--yes", "--no-install-recommends"];
    install.extend(packages);
    if let Err(error) = apt(&["update"]).and_then(|()| apt(&install)) {
        eprintln!("{error:#}");
    }
}

/// The browser: `CHROMIUM` if set, else the first known name on the PATH.
pub(crate) fn chromium() -> Option<PathBuf> {
    if let Some(path) = env::var_os("CHROMIUM") {
        return Some(path.into());
    }
    let path = env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
    env::split_paths(&path)
        .flat_map(|directory| names.map(|name| directory.join(name)))
        .find(|candidate| candidate.is_file())
}

/// Whether the standard library of that target is installed for the toolchain in use.
fn has_target(target: &str) -> bool {
    let mut rustc = Command::new("rustc");
    let directory = rustc.args(["--print", "target-libdir", "--target", target]).output();
    directory.is_ok_and(|output| {
        let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        std::fs::read_dir(path).is_ok_and(|mut files| files.next().is_some())
    })
}

/// `cargo deny`: the user's own, else one in cargo's target directory, where nobody else sees it.
/// Unoptimised, as it is compiled for longer than it runs.
pub(crate) fn cargo_deny(workspace: &Workspace, install: Install) -> Result<Command> {
    if command::succeeds("cargo-deny", &["--version"]) {
        return Ok(Command::new("cargo-deny"));
    }
    let root = workspace.target.join("tools");
    let program = root.join("bin").join(format!("cargo-deny{}", env::consts::EXE_SUFFIX));
    if !program.is_file() {
        let line = ["install", "--locked", "--debug", CARGO_DENY];
        ensure!(
            install != Install::Nothing,
            "cargo-deny is missing; install it with: cargo {}",
            line.join(" ")
        );
        println!("installing {CARGO_DENY} with cargo (--no-install refuses)");
        command::run(workspace.cargo(line).arg("--root").arg(&root))?;
    }
    Ok(Command::new(program))
}

/// Node on the PATH of the programs run by this task: the system's where it is new enough, else one
/// that npm brings into cargo's target directory, where nobody else sees it. Debian 12 has node 18.
pub(crate) fn node(workspace: &Workspace, install: Install) -> Result<Node> {
    let script =
        format!("process.exit(parseInt(process.versions.node) < {MIN_NODE_MAJOR} ? 1 : 0)");
    if command::succeeds("node", &["--eval", &script]) {
        return Ok(Node { directory: None });
    }
    let system = match env::consts::OS {
        "macos" => "darwin",
        "windows" => "win",
        other => other,
    };
    let machine = match env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let package = format!("node-{system}-{machine}");
    let prefix = workspace.target.join("node");
    let directory = prefix.join("node_modules").join(&package).join("bin");
    if !directory.is_dir() {
        if install == Install::Nothing {
            bail!(
                "node is older than {MIN_NODE_MAJOR}; without --no-install, npm brings a newer one"
            );
        }
        println!(
            "node is older than {MIN_NODE_MAJOR}: installing {package}@{NODE_FROM_NPM} with npm"
        );
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--prefix"]).arg(&prefix);
        command::run(npm.arg(format!("{package}@{NODE_FROM_NPM}")))?;
    }
    Ok(Node { directory: Some(directory) })
}

/// The node that is new enough.
#[derive(Debug)]
pub(crate) struct Node {
    /// Directory of the program, unless it is the one on the PATH.
    directory: Option<PathBuf>,
}

impl Node {
    /// A command that finds this node first: node itself, or what runs on it.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Result<Command> {
        let mut command = Command::new(program);
        if let Some(directory) = &self.directory {
            let path = env::var_os("PATH").unwrap_or_default();
            let all = std::iter::once(directory.clone()).chain(env::split_paths(&path));
            command.env("PATH", env::join_paths(all)?);
        }
        Ok(command)
    }

    /// Installs the locked npm packages unless they are there already.
    pub(crate) fn install_packages(&self, workspace: &Workspace) -> Result<()> {
        let directory = workspace.end2end();
        let lock = std::fs::read(directory.join("package-lock.json"))?;
        let installed = directory.join("node_modules/installed-package-lock.json");
        if std::fs::read(&installed).is_ok_and(|bytes| bytes == lock) {
            return Ok(());
        }
        let mut npm = self.command("npm")?;
        npm.current_dir(&directory)
            .args(["ci", "--no-audit", "--no-fund"])
            .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
        command::run(&mut npm)?;
        std::fs::write(installed, lock)?;
        Ok(())
    }
}
