//! The map of the code and the pages for who works on it: short, and every file and test that they
//! name is there.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::links::below;
use crate::{read, root};

/// Bytes of the map, at most: it is read from end to end.
const MAX_BYTES: usize = 9_600;

/// The map.
const MAP: &str = "ARCHITECTURE.md";

/// A code mark, the file that it links to, and the chapter that it stands in.
struct Mark {
    text: String,
    link: Option<String>,
    chapter: String,
}

/// The code marks of a document.
fn marks(file: &str) -> Vec<Mark> {
    let (mut marks, mut chapter) = (Vec::new(), String::new());
    let (mut link, mut is_heading) = (None, false);
    for event in Parser::new_ext(&read(file), Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                link = Some(dest_url.split('#').next().unwrap().to_owned());
            }
            Event::End(TagEnd::Link) => link = None,
            Event::Start(Tag::Heading { .. }) => {
                is_heading = true;
                chapter.clear();
            }
            Event::End(TagEnd::Heading(_)) => is_heading = false,
            Event::Text(text) if is_heading => chapter.push_str(&text),
            Event::Code(text) => {
                let (text, chapter) = (text.into_string(), chapter.clone());
                marks.push(Mark { text, link: link.clone(), chapter });
            }
            _ => {}
        }
    }
    marks
}

#[test]
fn the_map_is_short() {
    let bytes = read(MAP).len();
    assert!(bytes <= MAX_BYTES, "{MAP} has {bytes} bytes, more than {MAX_BYTES}");
}

#[test]
fn every_source_file_in_a_code_mark_is_a_link_to_it() {
    let endings = [".rs", ".js", ".ts", ".css", ".mjs", ".toml"];
    let mut count = 0;
    for file in [MAP, "CONTRIBUTING.md", "docs/developing.md"] {
        for Mark { text, link, .. } in marks(file) {
            // What has a space is a command.
            if text.contains(' ') || !endings.iter().any(|ending| text.ends_with(ending)) {
                continue;
            }
            count += 1;
            let link = link.unwrap_or_else(|| panic!("{file}: `{text}` is no link"));
            let target = below(file, &link);
            assert!(target.ends_with(&text), "{file}: `{text}` leads to {target}");
            assert!(root().join(&target).is_file(), "{file}: `{text}` leads to no file");
        }
    }
    assert!(count > 20, "only {count} files");
}

#[test]
fn every_invariant_names_the_test_that_keeps_it() {
    let mut named = BTreeSet::new();
    for Mark { text, link, chapter } in marks(MAP) {
        let Some(file) = link.filter(|_| chapter == "What always holds") else { continue };
        let code = read(&file);
        let name = text.rsplit("::").next().unwrap();
        let is_there = match file.strip_suffix(".rs") {
            Some(_) => code.contains(&format!("fn {name}(")),
            None => code.contains(&format!("test(\"{name}\"")),
        };
        assert!(is_there, "{MAP}: {file} has no test {name}");
        named.insert(text);
    }
    assert!(named.len() > 15, "{named:?}");
    let text = read(MAP);
    let (_, rest) = text.split_once("## What always holds").unwrap();
    let (chapter, _) = rest.split_once("\n## ").unwrap();
    for invariant in chapter.lines().filter(|line| line.starts_with("- ")) {
        assert!(invariant.contains("[`"), "no test keeps this: {invariant}");
    }
}
