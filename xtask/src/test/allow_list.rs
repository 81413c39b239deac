//! What the model may depend on.
//!
//! An allow-list, because "doesn't depend on x" also holds when cargo fails for another reason.

use anyhow::{Result, ensure};

use crate::command;
use crate::workspace::Workspace;

/// A file format, the same mathematics everywhere, and what is known once.
const ALWAYS: &str =
    "libm once_cell proc-macro2 quote serde serde_core serde_derive syn unicode-ident";

/// Packages that reading and writing JSON adds.
const WITH_TEXT: &str = "itoa memchr serde_json zmij";

/// Fails when the model depends on anything else, with and without its feature `text`.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    for (features, added) in [("", ""), ("text", WITH_TEXT)] {
        let tree = "tree --package model --edges normal,build --prefix none --features";
        let tree = command::output(&mut workspace.cargo(tree.split(' ').chain([features])))?;
        let strangers = strangers(&tree, added);
        ensure!(
            strangers.is_empty(),
            "model (features: {features:?}) must not depend on {}",
            strangers.join(", "),
        );
    }
    Ok(())
}

/// The packages of a `cargo tree` that are on neither list.
fn strangers<'a>(tree: &'a str, added: &str) -> Vec<&'a str> {
    let known: Vec<&str> = ALWAYS.split(' ').chain(added.split(' ')).collect();
    let mut names: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "model" && !known.contains(name))
        .collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_that_is_not_on_the_list_is_named() {
        let tree = "model v0.1.0 (/somewhere)\nlibm v0.2.16\nrand v0.9.0\n";
        assert_eq!(strangers(tree, ""), ["rand"]);
    }

    #[test]
    fn json_is_allowed_only_with_the_feature_text() {
        let tree = "model v0.1.0\nserde_json v1.0.0\nmemchr v2.0.0 (*)\n";
        assert_eq!(strangers(tree, ""), ["serde_json", "memchr"]);
        assert!(strangers(tree, WITH_TEXT).is_empty());
    }
}
