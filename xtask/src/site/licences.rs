//! The licences of everything that the binary and its site are made of, as `/licences.txt` of the
//! site and `moescape licences` show them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::wasm::{self, Module};
use crate::command;
use crate::workspace::Workspace;

/// One platform for all, so that the list is the same wherever it is made.
const SERVER_TARGET: &str = "x86_64-unknown-linux-gnu";

/// Beginnings of the names of files that hold a licence or a notice, in lower case.
const FILES: [&str; 5] = ["licen", "copying", "copyright", "notice", "unlicense"];

/// Content of the binary that isn't a package: its name, and where its licence is.
const BUNDLED: &str = "\
SQLite: in the public domain (https://sqlite.org/copyright.html)
The typeface Inter: SIL Open Font License 1.1, whose text follows
";

/// The licences of the typeface, of the page's version and of that on the cards' pictures.
const TYPEFACE: [&str; 2] =
    [include_str!("../../../style/fonts/OFL.txt"), include_str!("../../../server/fonts/OFL.txt")];

/// A package of another author.
struct Package {
    version: String,
    licence: String,
    directory: PathBuf,
    authors: Vec<String>,
}

/// The list of packages, then every text once, with the packages that it is of.
pub(crate) fn text(workspace: &Workspace) -> Result<String> {
    let server = ["--package", "server", "--features", "embed-site"];
    let mut used = packages_in_use(workspace, SERVER_TARGET, &server)?;
    used.append(&mut packages_in_use(
        workspace,
        wasm::TARGET,
        &Module::packages(&Module::all(workspace)),
    )?);
    let known = packages(workspace)?;
    let mut list = String::new();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for id in &used {
        // What `cargo tree` names and no registry has is a package of our own.
        let Some(package) = known.get(id) else { continue };
        let name = format!("{} {}", id.0, package.version);
        list.push_str(&format!("{name}: {}\n", package.licence));
        let found = licence_texts(&package.directory)?;
        if found.is_empty() {
            let authors = package.authors.join(", ");
            let none = format!("{name} brings no text of its licence. Its authors: {authors}\n");
            texts.entry(none).or_default();
        }
        for text in found {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    ensure!(!list.is_empty(), "no package of another author is in use, which can't be");
    for text in TYPEFACE {
        texts.entry(plain(text)).or_default().push("The typeface Inter".to_owned());
    }
    let mut all = format!(
        "Moescape is made of these, each under its own licence, whose texts follow.\n\n\
         {list}\n{BUNDLED}"
    );
    // In the order of the first package of each.
    let mut texts: Vec<(Vec<String>, String)> =
        texts.into_iter().map(|(text, names)| (names, text)).collect();
    texts.sort();
    for (names, text) in texts {
        all.push_str(&format!("\n{}\n{}\n\n{text}", "-".repeat(80), names.join(", ")));
    }
    Ok(all)
}

/// Name and version of every package that is linked, without macros and what builds.
fn packages_in_use(
    workspace: &Workspace,
    target: &str,
    selection: &[impl AsRef<OsStr>],
) -> Result<BTreeSet<(String, String)>> {
    let mut tree = workspace.cargo(["tree", "--locked", "--prefix", "none", "--format", "{p}"]);
    tree.args(["--edges", "normal,no-proc-macro", "--target", target]).args(selection);
    let tree = command::output(&mut tree)?;
    let packages = tree.lines().filter_map(|line| {
        let (name, rest) = line.split_once(" v")?;
        let version = rest.split_whitespace().next()?;
        Some((name.to_owned(), version.to_owned()))
    });
    Ok(packages.collect())
}

/// Every package of a registry that the workspace may use.
fn packages(workspace: &Workspace) -> Result<BTreeMap<(String, String), Package>> {
    let mut metadata = workspace.cargo(["metadata", "--locked", "--format-version", "1"]);
    metadata.args(["--features", "server/embed-site"]);
    for target in [SERVER_TARGET, wasm::TARGET] {
        metadata.args(["--filter-platform", target]);
    }
    let metadata: serde_json::Value = serde_json::from_str(&command::output(&mut metadata)?)?;
    let all = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let mut packages = BTreeMap::new();
    for package in all.iter().filter(|package| !package["source"].is_null()) {
        let field = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        let manifest = PathBuf::from(field("manifest_path"));
        let authors = package["authors"].as_array().into_iter().flatten();
        let (name, version) = (field("name"), field("version"));
        let licence = field("license");
        ensure!(!licence.is_empty(), "{name} {version} names no licence");
        let package = Package {
            version: version.clone(),
            licence,
            directory: manifest.parent().map(Path::to_owned).unwrap_or_default(),
            authors: authors.filter_map(|it| it.as_str().map(str::to_owned)).collect(),
        };
        packages.insert((name, version), package);
    }
    Ok(packages)
}

/// The texts of licences and notices beside a package's manifest.
fn licence_texts(directory: &Path) -> Result<BTreeSet<String>> {
    let mut texts = BTreeSet::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if !path.is_file() || !FILES.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let text =
            fs::read_to_string(&path).with_context(|| format!("{} is no text", path.display()))?;
        texts.insert(plain(&text));
    }
    Ok(texts)
}

/// A text, each line without its end.
fn plain(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}
