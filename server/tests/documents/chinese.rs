//! `docs/zh` is the guide in Chinese, chapter by chapter and heading by heading: what changes in
//! English and isn't followed there shows here, at least where its shape changes.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, TextMergeStream};
use server::site::guide::{CHAPTERS, Chapter, Text};

use crate::links::below;
use crate::{keep, read, root};

/// Both texts of each chapter that has two, as they are in the repository today.
fn pairs() -> impl Iterator<Item = (&'static Chapter, Text, [String; 2])> {
    let both = CHAPTERS.iter().filter_map(|chapter| Some((chapter, chapter.chinese?)));
    both.map(|(chapter, text)| (chapter, text, [chapter.english.file, text.file].map(read)))
}

/// Content below a heading, as far as it is the same in every language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Section {
    level: u8,
    links: Vec<String>,
    code: Vec<String>,
    numbers: BTreeSet<String>,
    table_rows: usize,
    cells: usize,
    list_items: usize,
    paragraphs: usize,
}

#[test]
fn each_section_in_chinese_has_the_shape_that_it_has_in_english() {
    for (chapter, text, [english, chinese]) in pairs() {
        let english = sections(chapter.english.file, &without_generated(&english));
        let chinese = sections(text.file, &chinese);
        for (at, (one, other)) in english.iter().zip(&chinese).enumerate() {
            let (name, one) = one;
            let place = format!("{}, section {}, {name:?} in English", text.file, at + 1);
            assert!(one.numbers.is_subset(&other.1.numbers), "{place}: {:?}", other.1.numbers);
            let other = Section { numbers: one.numbers.clone(), ..other.1.clone() };
            assert_eq!(&other, one, "{place}");
        }
        assert_eq!(chinese.len(), english.len(), "headings of {}", text.file);
    }
}

#[test]
fn examples_are_the_same_in_both_languages() {
    for (_, text, [english, _]) in pairs() {
        keep(text.file, |known| with_examples(known, &english));
    }
}

#[test]
fn every_chinese_file_is_a_chapter_and_has_chinese_in_it() {
    let chapters: BTreeSet<String> = pairs().map(|(_, text, _)| text.file.to_owned()).collect();
    let mut files = BTreeSet::new();
    for directory in ["docs/zh", "docs/zh/guide"] {
        let entries = std::fs::read_dir(root().join(directory)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        files.extend(
            names.filter(|name| name.ends_with(".md")).map(|name| format!("{directory}/{name}")),
        );
    }
    assert_eq!(files, chapters);
    for (chapter, text, [_, chinese]) in pairs() {
        assert_eq!(text.file.replace("docs/zh/", "docs/"), chapter.english.file);
        let title = chinese.lines().next().unwrap_or_default();
        assert!(chapter.name == "api" || !title.is_ascii(), "{}: {title}", text.file);
    }
}

/// A text whose generated parts are empty.
fn without_generated(text: &str) -> String {
    let mut is_generated = false;
    let kept = text.lines().filter(|line| {
        is_generated &= !line.starts_with("<!-- end of ");
        let is_kept = !is_generated;
        is_generated |= line.starts_with("<!-- generated: ");
        is_kept
    });
    kept.map(|line| format!("{line}\n")).collect()
}

/// A text with the blocks of code of another one, one after the other.
fn with_examples(text: &str, from: &str) -> String {
    let mut blocks = from.split("```").skip(1).step_by(2);
    let parts = text.split("```").enumerate().map(|(at, part)| {
        let is_code = at % 2 == 1;
        if is_code { blocks.next().unwrap_or(part) } else { part }
    });
    parts.collect::<Vec<_>>().join("```")
}

/// The sections of a document, each with its heading.
fn sections(file: &str, text: &str) -> Vec<(String, Section)> {
    let mut sections: Vec<(String, Section)> = vec![Default::default()];
    let (mut in_heading, mut in_code) = (false, false);
    for event in TextMergeStream::new(Parser::new_ext(text, Options::ENABLE_TABLES)) {
        if let Event::Start(Tag::Heading { level, .. }) = event {
            let section = Section { level: level as u8, ..Section::default() };
            sections.push((String::new(), section));
        }
        let (name, section) = sections.last_mut().unwrap();
        match event {
            Event::Start(Tag::Heading { .. }) => in_heading = true,
            Event::End(TagEnd::Heading(_)) => in_heading = false,
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                section.links.push(target(file, &dest_url));
            }
            Event::Start(Tag::TableRow) => section.table_rows += 1,
            Event::Start(Tag::TableCell) => section.cells += 1,
            Event::Start(Tag::Item) => section.list_items += 1,
            Event::Start(Tag::Paragraph) => section.paragraphs += 1,
            Event::Code(code) => section.code.push(code.into_string()),
            Event::Text(text) if !in_code => {
                if in_heading {
                    name.push_str(&text);
                }
                section.numbers.extend(numbers(&text));
            }
            _ => {}
        }
    }
    for (_, section) in &mut sections {
        section.links.sort();
        section.code.sort();
    }
    sections
}

/// Target of a link, in either language.
fn target(file: &str, link: &str) -> String {
    if link.contains("://") || link.starts_with('#') {
        return link.to_owned();
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    format!("{}#{anchor}", below(file, path).replace("docs/zh/", "docs/"))
}

/// The numbers of a text with more than one digit, as written; nine of ten may be said in words.
fn numbers(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
    let parts = parts.map(|part| part.trim_matches(['.', ',']).to_owned());
    parts.filter(|part| part.len() > 1 && part != "10").collect::<Vec<_>>().into_iter()
}
