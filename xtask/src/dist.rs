//! `cargo xtask dist`: the archive that people install from, one per target, and that of the site
//! as a folder of files, each with its sha256 beside it. The same files give the same bytes,
//! whoever packs them and when.

mod archive;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use crate::build;
use crate::command;
use crate::site;
use crate::workspace::{Workspace, shown};

use archive::Entry;

/// Files that go into an archive unchanged, with their names in it.
const AS_THEY_ARE: [(&str, &str); 4] = [
    ("LICENSE", "LICENSE"),
    ("server/deploy/README.md", "README.md"),
    ("server/deploy/Containerfile", "Containerfile"),
    ("server/deploy/moescape.service", "moescape.service"),
];

/// For which machine, and where to.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The machine that it is for, as rustc calls it [default: this one]
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
    /// Directory of archive and sum [default: dist in cargo's target directory]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Pack this binary, which runs here and has the site inside, and build none
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// Builds what is shipped, and packs it.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let target = match &arguments.target {
        Some(target) => target.clone(),
        None => host()?,
    };
    let (binary, licences, folder) = match &arguments.binary {
        Some(binary) => {
            let licences = command::output(Command::new(binary).arg("licences"))?;
            (binary.clone(), licences, folder(workspace, Command::new(binary), None)?)
        }
        None => {
            build::shipped_site(workspace)?;
            let binary = workspace.build_binary_for(arguments.target.as_deref())?;
            // A binary for another machine can't be run here.
            let licences = fs::read_to_string(workspace.site().join(site::LICENCES))?;
            let draft = workspace.cargo(DRAFT);
            (binary, licences, folder(workspace, draft, Some(&workspace.site()))?)
        }
    };
    let name = format!("moescape-{}-{target}", env!("CARGO_PKG_VERSION"));
    let mut entries = vec![
        Entry::program(program(&target), read(&binary)?),
        Entry::file("licences.txt", licences.into_bytes()),
    ];
    for (from, to) in AS_THEY_ARE {
        entries.push(Entry::file(to, read(&workspace.root.join(from))?));
    }
    entries.extend(described(workspace)?);
    let out = arguments.out.clone().unwrap_or_else(|| workspace.target.join("dist"));
    write(&out, &format!("{name}.tar.gz"), &archive::pack(&name, entries)?)?;
    let name = format!("moescape-static-{}", env!("CARGO_PKG_VERSION"));
    write(&out, &format!("{name}.tar.gz"), &archive::pack(&name, folder)?)
}

/// Cargo's arguments that run the program as it is worked with.
const DRAFT: [&str; 6] = ["run", "--quiet", "--package", "server", "--bin", "moescape"];

/// The site as a folder of files, which is the same for every machine; written by a program that
/// runs here, of a built site or of the one that it has inside.
fn folder(workspace: &Workspace, mut program: Command, site: Option<&Path>) -> Result<Vec<Entry>> {
    let directory = workspace.target.join("static");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    if site.is_some() {
        program.arg("--");
    }
    program.arg("static").arg(&directory);
    if let Some(site) = site {
        program.arg("--site").arg(site);
    }
    command::run(&mut program)?;
    archive::below(&directory)
}

/// The name of the program there.
fn program(target: &str) -> &'static str {
    if target.contains("windows") { "moescape.exe" } else { "moescape" }
}

/// Completions, manual pages and the file of settings, which come of the commands themselves.
fn described(workspace: &Workspace) -> Result<Vec<Entry>> {
    let directory = workspace.target.join("shipped");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    fs::create_dir_all(&directory)?;
    let run = ["run", "--quiet", "--package", "server", "--example", "shipped", "--"];
    command::run(workspace.cargo(run).arg(&directory))?;
    archive::below(&directory)
}

/// Puts archive and sum in a directory; the sum is what `sha256sum --check` reads.
fn write(out: &Path, file: &str, packed: &[u8]) -> Result<()> {
    fs::create_dir_all(out)?;
    let path = out.join(file);
    fs::write(&path, packed).with_context(|| format!("can't write {}", path.display()))?;
    let sum: String = Sha256::digest(packed).iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(out.join(format!("{file}.sha256")), format!("{sum}  {file}\n"))?;
    println!("packed {}, {:.1} MB, sha256 {sum}", shown(&path), packed.len() as f64 / 1e6);
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("can't read {}", path.display()))
}

/// This machine, as rustc calls it.
fn host() -> Result<String> {
    let told = command::output(Command::new("rustc").arg("--version").arg("--verbose"))?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned);
    ensure!(host.is_some(), "rustc doesn't say for which machine it compiles");
    host.context("no host")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_as_it_stands_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (from, _) in AS_THEY_ARE {
            assert!(root.join(from).is_file(), "{from}");
        }
    }

    #[test]
    fn the_sum_is_that_of_the_archive_beside_it() {
        let out = std::env::temp_dir().join(format!("moescape-dist-{}", std::process::id()));
        write(&out, "a.tar.gz", b"abc").unwrap();
        let sum = fs::read_to_string(out.join("a.tar.gz.sha256")).unwrap();
        // Source: FIPS 180-2, appendix B.1.
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sum, format!("{known}  a.tar.gz\n"));
        fs::remove_dir_all(out).unwrap();
    }
}
