//! `moescape static`: the site as a folder that any web server hands out.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Failure, output};
use crate::Site;
use crate::http::folder::{self, Files};

/// Where the folder goes, and what it is made of.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Directory to write; one that is there has to be empty
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Built site to make it of in place of the one in this binary
    #[arg(long, value_name = "DIR")]
    site: Option<PathBuf>,
}

/// Writes the folder.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { directory, site } = arguments;
    let site = match site {
        Some(directory) => Site::from_directory(directory),
        None => Site::embedded(),
    };
    let site = site.map_err(|error| Failure::user(error.to_string()))?;
    if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        let shown = directory.display();
        return Err(Failure::user(format!("{shown} isn't empty: name a directory to make")));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::Internal(error.to_string()))?;
    let files = runtime.block_on(folder::files(site)).map_err(Failure::user)?;
    write(directory, &files)?;
    let bytes: usize = files.values().map(Vec::len).sum();
    let (count, size) = (files.len(), bytes as f64 / 1e6);
    output::result(&format!("wrote {}: {count} files, {size:.1} MB\n", directory.display()))
}

fn write(directory: &Path, files: &Files) -> Result<(), Failure> {
    for (path, bytes) in files {
        let path = directory.join(path);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, bytes))
            .map_err(|error| Failure::user(format!("can't write {}: {error}", path.display())))?;
    }
    Ok(())
}
