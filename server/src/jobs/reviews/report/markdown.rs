//! A report as Markdown. What people wrote is shown as they typed it: none of it is markup here.

use std::fmt::Write as _;

use super::content::Content;
use super::section::{Block, Cell};

/// The report as Markdown.
pub(crate) fn markdown(content: &Content) -> String {
    let mut text = format!("# {}\n\n{}\n", escaped(&content.name), escaped(&content.state));
    for section in &content.sections {
        let _ = write!(text, "\n## {}\n", section.title);
        for block in &section.blocks {
            text.push('\n');
            write(&mut text, block, &content.origin);
        }
    }
    text
}

fn write(text: &mut String, block: &Block, origin: &str) {
    match block {
        Block::Heading(title) => {
            let _ = writeln!(text, "### {}", escaped(title));
        }
        Block::Text(words) => {
            let _ = writeln!(text, "{}", escaped(words));
        }
        Block::List(items) => {
            for item in items {
                let _ = writeln!(text, "- {}", escaped(item));
            }
        }
        Block::Table(rows) => table(text, rows, origin),
        Block::Said { who, text: words } => {
            let _ = writeln!(text, "{}:\n", escaped(who));
            for line in words.lines() {
                // Two spaces keep the line breaks.
                let _ = writeln!(text, "> {}  ", escaped(line));
            }
        }
        Block::Chart { says, .. } => {
            let _ = writeln!(text, "{} is drawn in the report as a page.", escaped(says));
        }
    }
}

fn table(text: &mut String, rows: &[Vec<Cell>], origin: &str) {
    for (place, row) in rows.iter().enumerate() {
        for cell in row {
            let _ = match cell {
                Cell::Text(words) => write!(text, "| {} ", escaped(words)),
                Cell::Design { text: words, link } => {
                    write!(text, "| [{}]({origin}/?{}) ", escaped(words), address(link))
                }
            };
        }
        text.push_str("|\n");
        if place == 0 {
            text.push_str(&"|---".repeat(row.len()));
            text.push_str("|\n");
        }
    }
}

/// Text that is only text, on one line.
fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + text.len() / 8);
    for character in text.trim().chars() {
        match character {
            '\n' | '\r' | '\t' => written.push(' '),
            '<' => written.push_str("&lt;"),
            '>' => written.push_str("&gt;"),
            '&' => written.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '+' | '-' | '='
            | '!' | '|' | '~' | '$' | ':' | '@' => {
                written.push('\\');
                written.push(character);
            }
            // `1.` at the start would be a list.
            '.' if written.bytes().all(|byte| byte.is_ascii_digit()) && !written.is_empty() => {
                written.push_str("\\.");
            }
            other => written.push(other),
        }
    }
    written
}

/// A design's link inside an address.
fn address(link: &str) -> String {
    let mut written = String::with_capacity(link.len());
    for byte in link.bytes() {
        match byte {
            b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'\\' | b'|' | b'"' | b'`' | b' ' | b'*' => {
                let _ = write!(written, "%{byte:02X}");
            }
            byte if byte.is_ascii_graphic() => written.push(char::from(byte)),
            byte => {
                let _ = write!(written, "%{byte:02X}");
            }
        }
    }
    written
}
