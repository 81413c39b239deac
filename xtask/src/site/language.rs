//! The dictionaries of the browser's script: those of `crates/present/src/words/language` in one.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

use super::files::read_tree;
use crate::workspace::Workspace;

/// The script that has the Chinese dictionary.
pub(super) fn chinese(workspace: &Workspace) -> Result<String> {
    let directory = workspace.root.join("crates/present/src/words/language/zh");
    let names = ["model", "explorer", "pages"];
    let mut words = Map::new();
    for name in names {
        words.extend(read(&directory, name)?);
    }
    let parts = read(&directory, "parts")?;
    let files = read_tree(&directory)?.len();
    ensure!(files == names.len() + 1, "{} has {files} files", directory.display());
    let (words, parts) = (serde_json::to_string(&words)?, serde_json::to_string(&parts)?);
    Ok(format!("export const words = {words};\nexport const parts = {parts};\n"))
}

fn read(directory: &Path, name: &str) -> Result<Map<String, Value>> {
    let path = directory.join(format!("{name}.json"));
    let text = fs::read_to_string(&path).with_context(|| format!("no {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{}", path.display()))
}
