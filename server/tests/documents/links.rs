//! Every relative link of a document leads to a file and a heading that is there.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::{read, root};

/// Documents that link to each other.
fn documents() -> Vec<String> {
    let mut files = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(str::to_owned).to_vec();
    for directory in ["docs", "docs/guide", "docs/zh", "docs/zh/guide"] {
        for entry in std::fs::read_dir(root().join(directory)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".md") {
                files.push(format!("{directory}/{name}"));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn every_link_between_documents_leads_somewhere() {
    let documents = documents();
    assert!(documents.len() > 15, "{documents:?}");
    let mut count = 0;
    for file in &documents {
        let text = read(file);
        for link in links(&text) {
            // That a design opens is tested where its numbers are.
            if link.contains("://") || link.starts_with("mailto:") || link.starts_with("/?") {
                continue;
            }
            count += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { file.clone() } else { below(file, path) };
            assert!(root().join(&target).exists(), "{file} links to {link}, which isn't there");
            if !anchor.is_empty() {
                // On the site a heading has its English anchor in every language.
                let anchors = anchors(&read(&target.replace("docs/zh/", "docs/")));
                assert!(anchors.contains(anchor), "{file} links to {link}: no such heading");
            }
        }
    }
    assert!(count > 100, "only {count} links");
}

#[test]
fn every_picture_is_shown_somewhere_and_has_a_text_in_its_place() {
    let mut shown = BTreeSet::new();
    for file in documents() {
        let text = read(&file);
        for (address, alt) in pictures(&text) {
            if address.contains("://") {
                continue;
            }
            assert!(alt.len() > 20, "{file}: {address} says too little in its place: {alt}");
            shown.insert(below(&file, &address));
        }
        // GitHub chooses a picture by the reader's theme from these.
        for part in text.split("srcset=\"").skip(1) {
            shown.insert(below(&file, part.split('"').next().unwrap()));
        }
        for part in text.split("<img ").skip(1) {
            let tag = part.split('>').next().unwrap();
            let value = |name: &str| {
                let (_, rest) = tag.split_once(&format!("{name}=\"")).unwrap_or_default();
                rest.split('"').next().unwrap_or_default().to_owned()
            };
            assert!(value("alt").len() > 20, "{file}: {tag}");
            shown.insert(below(&file, &value("src")));
        }
    }
    let directory = std::fs::read_dir(root().join("docs/images")).unwrap();
    let there: BTreeSet<String> = directory
        .map(|entry| format!("docs/images/{}", entry.unwrap().file_name().into_string().unwrap()))
        .collect();
    assert_eq!(shown, there);
    let bytes = there.iter().map(|file| std::fs::metadata(root().join(file)).unwrap().len());
    assert!(bytes.clone().all(|bytes| bytes < 150_000), "a picture is too large");
    assert!(bytes.sum::<u64>() < 1_000_000, "the pictures are too large together");
}

/// A path beside a document, from the root of the repository.
pub(super) fn below(file: &str, path: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn links(text: &str) -> Vec<String> {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES);
    events
        .filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(dest_url.into_string())
            }
            _ => None,
        })
        .collect()
}

fn pictures(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(String, String)> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Image { dest_url, .. }) => {
                open = Some((dest_url.into_string(), String::new()));
            }
            Event::Text(text) => {
                if let Some((_, alt)) = &mut open {
                    alt.push_str(&text);
                }
            }
            Event::End(TagEnd::Image) => found.extend(open.take()),
            _ => {}
        }
    }
    found
}

/// The anchors that GitHub gives to a document's headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let words = heading.take().unwrap_or_default().to_lowercase();
                let id: String = words
                    .chars()
                    .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                    .map(|c| if c == ' ' { '-' } else { c })
                    .collect();
                let again = (1..).map(|count| format!("{id}-{count}"));
                let free = std::iter::once(id.clone()).chain(again).find(|id| !found.contains(id));
                found.extend(free);
            }
            _ => {}
        }
    }
    found
}
