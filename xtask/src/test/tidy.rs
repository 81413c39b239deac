//! The shape of source files: short enough to read, and each says at its head what it is for.
//!
//! rustfmt keeps neither: it leaves long strings, comments and macros alone. And no test searches a
//! page for a piece of its markup, which passes wherever the piece stands: `testing::page` asks it
//! by selectors.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::command;
use crate::workspace::Workspace;

const MAX_LINES: usize = 600;
const MAX_COLUMNS: usize = 100;

/// Beginnings of a search for markup: a tag, or an attribute with its value.
const MARKUP: [&str; 7] = [
    "contains(\"<",
    "contains(&format!(\"<",
    "matches(\"<",
    "contains(\"href=\\\"",
    "contains(\"class=\\\"",
    "contains(\"id=\\\"",
    "contains(&format!(\"href=\\\"",
];

/// Fails with every file that is too long or too wide or lacks a head.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut git = std::process::Command::new("git");
    git.current_dir(&workspace.root).args(["ls-files", "*.rs", "*.js", "*.ts", "*.mjs", "*.css"]);
    let mut complaints = Vec::new();
    for path in command::output(&mut git)?.lines() {
        let file = workspace.root.join(path);
        // A file that was removed is listed until that is committed.
        if file.exists() {
            let text = std::fs::read_to_string(&file).with_context(|| format!("reading {path}"))?;
            complaints.extend(look_at(path, &text));
        }
    }
    ensure!(complaints.is_empty(), "{}", complaints.join("\n"));
    Ok(())
}

fn look_at(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let head = match Path::new(path).extension().and_then(|extension| extension.to_str()) {
        Some("rs") => "//!",
        Some("css") => "/*",
        _ => "//",
    };
    if !text.starts_with(head) {
        complaints.push(format!("{path}:1: starts with `{head}`: what it is for, and why"));
    }
    for (index, line) in text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > MAX_COLUMNS {
            let place = format!("{path}:{}", index + 1);
            complaints.push(format!("{place}: {columns} columns, more than {MAX_COLUMNS}"));
        }
    }
    if path.ends_with(".rs") && !path.starts_with("xtask/") {
        complaints.extend(markup(path, text));
    }
    let lines = text.lines().count();
    if lines > MAX_LINES {
        complaints.push(format!("{path}: {lines} lines, more than {MAX_LINES}; split it"));
    }
    complaints
}

/// Places of tests where markup is searched for instead of parsed.
fn markup<'a>(path: &'a str, text: &'a str) -> impl Iterator<Item = String> + 'a {
    let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
    let lines = text.lines().enumerate();
    let lines = lines.skip_while(move |(_, line)| !is_test && line.trim() != "#[cfg(test)]");
    let found = lines.filter(|(_, line)| MARKUP.iter().any(|start| line.contains(start)));
    found.map(move |(index, _)| {
        format!("{path}:{}: searches for markup; ask `testing::page` by a selector", index + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readable_file_with_a_head_passes() {
        assert!(look_at("a.rs", "//! What a is.\nfn a() {}\n").is_empty());
        assert!(look_at("a.css", "/* What a looks like. */\n").is_empty());
    }

    #[test]
    fn a_wide_line_is_named_and_letters_count_not_bytes() {
        let text = format!("//! A.\n// {}\n", "µ".repeat(97));
        assert!(look_at("a.rs", &text).is_empty());
        let text = format!("//! A.\n// {}\n", "µ".repeat(98));
        assert_eq!(look_at("a.rs", &text), ["a.rs:2: 101 columns, more than 100"]);
    }

    #[test]
    fn a_search_for_markup_is_named() {
        let text = "//! A.\nassert!(html.contains(\"<h1>\"));\nassert!(text.contains(\"h1\"));\n";
        let complaint = "a/tests/a.rs:2: searches for markup; ask `testing::page` by a selector";
        assert_eq!(look_at("a/tests/a.rs", text), [complaint]);
        let text = "//! A.\nassert!(html.contains(\"href=\\\"/\\\"\"));\n";
        assert_eq!(look_at("a/tests/a.rs", text), [complaint]);
        // What ships may look for what it wrote itself.
        assert!(look_at("a/src/a.rs", text).is_empty());
        let tests = format!("//! A.\n#[cfg(test)]\n{text}");
        assert_eq!(look_at("a/src/a.rs", &tests).len(), 1);
    }

    #[test]
    fn a_long_file_and_one_without_a_head_are_named() {
        let complaints = look_at("a.rs", &"fn a() {}\n".repeat(601));
        assert!(complaints[0].starts_with("a.rs:1:"), "{complaints:?}");
        assert!(complaints[1].contains("601 lines"), "{complaints:?}");
    }
}
