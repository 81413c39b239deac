//! The guide and the references: what is generated is up to date, examples do what they say, and
//! links lead somewhere. `UPDATE_DOCS=1` writes generated parts and outputs of examples anew.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]
#![expect(clippy::wildcard_enum_match_arm, reason = "few events of Markdown and few knobs matter")]

mod chinese;
mod commands;
mod examples;
mod frameworks;
mod knobs;
mod links;
mod lists;
mod map;
mod pages;
mod questions;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Tests write one after the other: several parts are in one file.
static WRITING: Mutex<()> = Mutex::new(());

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Whether documents are to be written.
fn is_updating() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// Checks a whole file against what it should be, or writes it.
#[track_caller]
fn keep(file: &str, change: impl FnOnce(&str) -> String) {
    let guard = WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let known = read(file);
    let found = change(&known);
    if is_updating() {
        fs::write(root().join(file), &found).unwrap();
    }
    drop(guard);
    if is_updating() || found == known {
        return;
    }
    let place = known.lines().zip(found.lines()).position(|(one, other)| one != other);
    let line = place.unwrap_or_else(|| known.lines().count().min(found.lines().count()));
    panic!(
        "{file} is out of date at line {}:\n  it says   {}\n  should be {}\n\
         run UPDATE_DOCS=1 cargo test -p server --test documents",
        line + 1,
        known.lines().nth(line).unwrap_or("(its end)"),
        found.lines().nth(line).unwrap_or("(its end)"),
    );
}

/// Checks a generated part of a file, or writes it.
#[track_caller]
fn keep_part(file: &str, name: &str, text: &str) {
    keep(file, |known| {
        let (start, end) =
            (format!("<!-- generated: {name} -->"), format!("<!-- end of {name} -->"));
        let (before, rest) = known.split_once(&start).unwrap_or_else(|| panic!("{file}: {start}"));
        let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{file}: {end}"));
        format!("{before}{start}\n\n{}\n\n{end}{after}", text.trim())
    });
}

/// A table; its first row is the header.
fn table(rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
        if index == 0 {
            text.push_str(&format!("|{}\n", "---|".repeat(row.len())));
        }
    }
    text
}

fn row<const N: usize>(cells: [impl Into<String>; N]) -> Vec<String> {
    cells.into_iter().map(Into::into).collect()
}

/// A source as Markdown.
fn source(source: model::ground::source::Source) -> String {
    if source.url.is_empty() {
        return source.title.to_owned();
    }
    format!("[{}]({})", source.title, source.url)
}
