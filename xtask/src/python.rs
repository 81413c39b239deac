//! Python, and what comes from PyPI, in virtual environments below cargo's target directory.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::command;

/// A virtual environment of Python.
pub(crate) struct Environment {
    directory: PathBuf,
}

impl Environment {
    pub(crate) const fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Makes it anew, so that nothing of an earlier run is in it.
    pub(crate) fn make(&self) -> Result<()> {
        let python = if cfg!(windows) { "python" } else { "python3" };
        command::run(Command::new(python).args(["-m", "venv", "--clear"]).arg(&self.directory))
    }

    pub(crate) fn interpreter(&self) -> PathBuf {
        let path = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        self.directory.join(path)
    }

    pub(crate) fn python(&self) -> Command {
        let mut python = Command::new(self.interpreter());
        // Neither packages nor compiled files of elsewhere.
        python.env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1");
        python
    }

    /// Packages from PyPI, with what they need.
    pub(crate) fn add<'a>(&self, packages: impl IntoIterator<Item = &'a str>) -> Result<()> {
        command::run(self.python().args(["-m", "pip", "install", "--quiet"]).args(packages))
    }

    /// A wheel alone, whatever of it was there.
    pub(crate) fn install(&self, wheel: &Path) -> Result<()> {
        let install = ["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"];
        command::run(self.python().args(install).arg(wheel))
    }
}
