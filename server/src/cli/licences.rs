//! `moescape licences`: of everything that the binary is made of.

use std::path::PathBuf;

use super::{Failure, output};
use crate::Site;

/// The file that the build of the site writes.
const FILE: &str = "licences.txt";

/// Where the list is.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Built site to read them from in place of the one in this binary
    #[arg(long, value_name = "DIR")]
    site: Option<PathBuf>,
}

/// Prints the list of packages and the texts of their licences.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(directory) = &arguments.site {
        let path = directory.join(FILE);
        let text = std::fs::read(&path)
            .map_err(|error| Failure::user(format!("can't read {}: {error}", path.display())))?;
        return output::bytes(&text);
    }
    let site = Site::embedded().map_err(|error| Failure::Internal(error.to_string()))?;
    let file = site.file(FILE).ok_or_else(|| {
        Failure::user(
            "this binary has no site inside, and so no list of licences; give the directory of \
             one by --site, such as target/site",
        )
    })?;
    output::bytes(file.plain())
}
