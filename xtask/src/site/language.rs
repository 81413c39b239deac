//! The dictionaries of the browser's script: those of `app/src/language` in one.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};

use super::files::read_tree;
use crate::workspace::Workspace;

/// The script that has the Chinese dictionary; what is said first in the files' order counts, as
/// with the server.
pub(super) fn chinese(workspace: &Workspace) -> Result<String> {
    let directory = workspace.root.join("app/src/language/zh");
    // In the order of `app::language::CHINESE`.
    let mut words = BTreeMap::new();
    for name in ["model", "explorer", "pages"] {
        let path = directory.join(format!("{name}.json"));
        let text = fs::read_to_string(&path).with_context(|| format!("no {}", path.display()))?;
        let own: BTreeMap<String, String> =
            serde_json::from_str(&text).with_context(|| format!("{}", path.display()))?;
        for (key, says) in own {
            words.entry(key).or_insert(says);
        }
    }
    let known = read_tree(&directory)?.len();
    anyhow::ensure!(known == 3, "{} has {known} dictionaries, not 3", directory.display());
    let words: Vec<(String, String)> = words.into_iter().collect();
    Ok(format!("export const words = {};\n", serde_json::to_string(&words)?))
}
