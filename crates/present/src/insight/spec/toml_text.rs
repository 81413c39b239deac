//! Writes a tree as TOML, the way people would.

use std::fmt::Write as _;

use model::design::KnobId;
use model::design::file::Tree;
use model::ground::knob::Section;
use model::ground::sorting::sort_short;

/// A line is broken when it gets longer than this.
const WIDTH: usize = 90;

/// The text of a tree; what TOML has no word for is left out.
#[must_use]
pub fn print(tree: &Tree) -> String {
    let mut text = String::new();
    table(&mut text, "", tree);
    text
}

/// A map as a table: its scalars first, then the maps below it.
fn table(text: &mut String, path: &str, tree: &Tree) {
    let (tables, plain): (Vec<_>, Vec<_>) =
        ordered(tree).into_iter().partition(|(name, value)| is_table(path, name, value));
    if !path.is_empty() && !plain.is_empty() {
        let gap = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{gap}[{path}]");
    }
    for (name, value) in plain {
        if *value != Tree::Null {
            let _ = write!(text, "{} = ", key(name));
            let start = text.len();
            inline(text, value);
            if text.len() - start > WIDTH && matches!(value, Tree::List(_)) {
                text.truncate(start);
                broken(text, value);
            }
            text.push('\n');
        }
    }
    for (name, value) in tables {
        let joint = if path.is_empty() { "" } else { "." };
        table(text, &format!("{path}{joint}{}", key(name)), value);
    }
}

/// Words of a spec in the order in which people write them.
const ORDER: [&str; 22] = [
    "schema",
    "name",
    "objectives",
    "constraints",
    "columns",
    "top",
    "sample",
    "resolution",
    "rows",
    "design",
    "preset",
    "space",
    "sampling",
    "method",
    "count",
    "seed",
    "from",
    "to",
    "step",
    "same_as",
    "times",
    "over",
];

/// The entries of a map: as people write them, knobs in the registry's order. Readers of TOML give
/// them in none.
fn ordered(tree: &Tree) -> Vec<&(String, Tree)> {
    let Tree::Map(entries) = tree else { return vec![] };
    let rank = |name: &str| {
        let word = ORDER.iter().position(|word| *word == name);
        let section = Section::ALL.iter().position(|section| section.name() == name);
        let knob = || KnobId::find(name).ok().map(|knob| 200 + knob as usize);
        section.map(|place| 100 + place).or(word).or_else(knob).unwrap_or(usize::MAX)
    };
    let mut entries: Vec<_> = entries.iter().collect();
    sort_short(&mut entries, |(one, _), (other, _)| rank(one).cmp(&rank(other)));
    entries
}

/// Whether a map has a heading of its own; a knob's form fits on the knob's line.
fn is_table(path: &str, name: &str, value: &Tree) -> bool {
    let is_map = matches!(value, Tree::Map(entries) if !entries.is_empty());
    let is_section = || Section::ALL.iter().any(|section| section.name() == name);
    is_map && if path == "space" { is_section() } else { !path.starts_with("space.") }
}

fn broken(text: &mut String, value: &Tree) {
    let Tree::List(items) = value else { return };
    text.push_str("[\n");
    for item in items {
        text.push_str("    ");
        inline(text, item);
        text.push_str(",\n");
    }
    text.push(']');
}

fn inline(text: &mut String, value: &Tree) {
    // Writing to a string can't fail.
    let _ = match value {
        Tree::Null => Ok(()),
        Tree::Flag(flag) => write!(text, "{flag}"),
        Tree::Unsigned(number) => write!(text, "{number}"),
        Tree::Negative(number) => write!(text, "{number}"),
        Tree::Real(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            write!(text, "{number:.1}")
        }
        Tree::Real(number) if (1e-4..1e15).contains(&number.abs()) => write!(text, "{number}"),
        Tree::Real(number) => write!(text, "{number:e}"),
        Tree::Text(string) => {
            quoted(text, string);
            Ok(())
        }
        Tree::List(items) => {
            text.push('[');
            for (place, item) in items.iter().enumerate() {
                text.push_str(if place > 0 { ", " } else { "" });
                inline(text, item);
            }
            text.push(']');
            Ok(())
        }
        Tree::Map(_) => {
            text.push_str("{ ");
            for (place, (name, item)) in ordered(value).into_iter().enumerate() {
                text.push_str(if place > 0 { ", " } else { "" });
                let _ = write!(text, "{} = ", key(name));
                inline(text, item);
            }
            text.push_str(" }");
            Ok(())
        }
    };
}

/// A key as it is, or in quotes.
fn key(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.bytes().all(is_bare) {
        return name.to_owned();
    }
    let mut text = String::new();
    quoted(&mut text, name);
    text
}

fn quoted(text: &mut String, string: &str) {
    text.push('"');
    for letter in string.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            letter if letter.is_control() => {
                let _ = write!(text, "\\u{:04X}", u32::from(letter));
            }
            letter => text.push(letter),
        }
    }
    text.push('"');
}
