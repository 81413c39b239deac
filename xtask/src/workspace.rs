//! Where things are: the repository, cargo's target directory, and the site built into it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};

use crate::command;

/// The repository and cargo's target directory.
pub(crate) struct Workspace {
    /// The directory of the workspace's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// Cargo's target directory, wherever the environment or a configuration puts it.
    pub(crate) target: PathBuf,
    /// The members' manifests, as cargo reads them.
    pub(crate) packages: Vec<serde_json::Value>,
}

impl Workspace {
    /// Asks cargo.
    pub(crate) fn find() -> Result<Self> {
        let mut metadata = cargo();
        metadata.args(["metadata", "--format-version", "1", "--no-deps"]);
        if let Some(manifest) = env::var_os("CARGO_MANIFEST_DIR") {
            metadata.current_dir(manifest);
        }
        let text = command::output(&mut metadata)?;
        let mut metadata: serde_json::Value =
            serde_json::from_str(&text).context("cargo metadata printed something else")?;
        let path = |key: &str| {
            let path = metadata[key].as_str();
            path.map(PathBuf::from).with_context(|| format!("cargo metadata has no {key}"))
        };
        let (root, target) = (path("workspace_root")?, path("target_directory")?);
        let packages = metadata["packages"].take();
        let packages = serde_json::from_value(packages).context("cargo metadata lists none")?;
        Ok(Self { root, target, packages })
    }

    /// Cargo with these arguments, run at the root.
    pub(crate) fn cargo<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = cargo();
        command.current_dir(&self.root).args(arguments);
        command
    }

    /// The directory that the server embeds.
    pub(crate) fn site(&self) -> PathBuf {
        self.target.join("site")
    }

    /// The browser tests and the tools that come from npm.
    pub(crate) fn end2end(&self) -> PathBuf {
        self.root.join("end2end")
    }

    /// The binary to ship.
    pub(crate) fn binary(&self) -> PathBuf {
        self.program("release")
    }

    /// The binary to work with, compiled as the tests are.
    pub(crate) fn draft(&self) -> PathBuf {
        self.program("debug")
    }

    fn program(&self, profile: &str) -> PathBuf {
        self.target.join(profile).join(format!("moescape{}", env::consts::EXE_SUFFIX))
    }

    /// Builds the binary to ship, with the site inside.
    pub(crate) fn build_binary(&self) -> Result<()> {
        self.build_binary_for(None).map(drop)
    }

    /// Builds the binary for another machine, if one is named, and returns its path.
    pub(crate) fn build_binary_for(&self, target: Option<&str>) -> Result<PathBuf> {
        let mut build = self.cargo(SERVER);
        build.args(["--release", "--features", "embed-site"]);
        let mut built = self.binary();
        if let Some(target) = target {
            build.args(["--target", target]);
            let suffix = if target.contains("windows") { ".exe" } else { "" };
            built = self.target.join(target).join("release").join(format!("moescape{suffix}"));
        }
        command::run(build.env("MOESCAPE_SITE_DIR", self.packed_site()?))?;
        Ok(built)
    }

    /// The site as a binary has it: of what is there compressed, too, only that.
    fn packed_site(&self) -> Result<PathBuf> {
        let (site, packed) = (self.site(), self.target.join("site.packed"));
        if packed.exists() {
            fs::remove_dir_all(&packed)?;
        }
        let mut rest = vec![site.clone()];
        while let Some(directory) = rest.pop() {
            let to = packed.join(directory.strip_prefix(&site)?);
            fs::create_dir_all(&to)?;
            for entry in fs::read_dir(&directory)? {
                let path = entry?.path();
                let mut compressed = path.clone().into_os_string();
                compressed.push(".br");
                if path.is_dir() {
                    rest.push(path);
                } else if !Path::new(&compressed).exists() {
                    fs::copy(&path, packed.join(path.strip_prefix(&site)?))?;
                }
            }
        }
        Ok(packed)
    }

    /// Builds the binary to work with, which reads the site from its directory.
    pub(crate) fn build_draft(&self) -> Result<()> {
        command::run(&mut self.cargo(SERVER))
    }
}

/// Arguments of cargo that build the program.
const SERVER: [&str; 5] = ["build", "--package", "server", "--bin", "moescape"];

/// The cargo that runs this task. A machine of CI starts from nothing and is gone afterwards, so
/// that what makes the next compilation shorter only makes this one longer.
fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    if env::var_os("CI").is_some() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// A path as people write it: relative to the current directory when below it.
pub(crate) fn shown(path: &Path) -> String {
    let here = env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}
