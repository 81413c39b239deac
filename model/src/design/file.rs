//! The design file: `{"schema":1,"preset":"ID","transformer":{...},...}`.
//!
//! JSON and TOML both read into one small [`Tree`], so that they hold the same designs and break
//! in the same words. A file is read strictly and to its end: unknown keys, wrong types and values
//! out of bounds are all reported at once. What is absent is the preset's value. Beside the design
//! a file may say where it comes from, under [`PROVENANCE`]: that is passed over.

#[cfg(feature = "text")]
pub mod json;
mod tree;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

pub use tree::Tree;

use crate::catalogue::preset::Preset;
use crate::design::{Design, KnobId};
use crate::ground::knob::{Kind, KnobError, Section, Value};
use crate::ground::text::{distance, shorten};

/// The version of the file format, and the only one so far.
pub const SCHEMA: u64 = 1;

/// The key under which a file says where it comes from; nothing of a design follows from it.
pub const PROVENANCE: &str = "provenance";

/// Errors after which the rest of a file isn't read.
const MAX_ERRORS: usize = 100;

/// Part of a design that a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Only what differs from the preset.
    Changed,
    /// Every knob.
    Full,
}

/// The tree of a design.
#[must_use]
pub fn write(design: &Design, extent: Extent) -> Tree {
    let ids = match extent {
        Extent::Changed => design.changed(),
        Extent::Full => KnobId::ALL.to_vec(),
    };
    let mut entries = vec![
        ("schema".to_string(), Tree::Unsigned(SCHEMA)),
        ("preset".to_string(), Tree::from(design.preset.id)),
    ];
    for section in Section::ALL {
        let knobs: Vec<(String, Tree)> = ids
            .iter()
            .filter(|id| id.knob().section == section)
            .map(|id| (id.knob().name.to_string(), Tree::from(&design.get(*id))))
            .collect();
        if !knobs.is_empty() {
            entries.push((section.name().to_string(), Tree::Map(knobs)));
        }
    }
    Tree::Map(entries)
}

/// The design of a tree.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read(tree: &Tree) -> Result<Design, Vec<KnobError>> {
    let Tree::Map(entries) = tree else {
        let detail = format!("a design file is a map of sections, not {}", tree.kind());
        return Err(vec![file_error("wrong_type", "", detail, None)]);
    };
    let mut reader = Reader { design: start(entries), errors: Vec::new(), seen: Vec::new() };
    reader.errors.extend(head_errors(entries));
    // What follows from knobs of other sections is read last.
    let is_late = |key: &str| key == Section::Kernel.name();
    let (late, first): (Vec<_>, Vec<_>) =
        entries.iter().enumerate().partition(|(_, (key, _))| is_late(key));
    for (index, (key, value)) in first.into_iter().chain(late) {
        if entries.iter().take(index).any(|(earlier, _)| earlier == key) {
            reader.errors.push(repeated(key));
        } else if !matches!(key.as_str(), "schema" | "preset" | PROVENANCE) {
            reader.section(key, value);
        }
        if reader.errors.len() >= MAX_ERRORS {
            let detail = String::from("there are more errors than are listed here");
            reader.errors.push(file_error("too_many_errors", "", detail, None));
            break;
        }
    }
    if reader.errors.is_empty() { Ok(reader.design) } else { Err(reader.errors) }
}

/// The preset's design, or the default preset's where none is named.
fn start(entries: &[(String, Tree)]) -> Design {
    let preset = entries.iter().find(|(key, _)| key == "preset");
    let named = preset.and_then(|(_, value)| value.as_text());
    let is_head = |key: &str| matches!(key, "schema" | "preset" | PROVENANCE);
    let unnamed = Preset::unnamed(entries.iter().any(|(key, _)| !is_head(key)));
    let first = || Design::from_preset(unnamed).expect("the preset is in the table");
    named.and_then(|id| Design::from_preset(id).ok()).unwrap_or_else(first)
}

/// Errors in what a file says of itself: its schema and its preset.
fn head_errors(entries: &[(String, Tree)]) -> Vec<KnobError> {
    let head = |wanted: &str| entries.iter().find(|(key, _)| key == wanted).map(|(_, value)| value);
    let schema = match head("schema") {
        Some(Tree::Unsigned(SCHEMA)) => None,
        Some(other) => {
            let detail = format!("this version reads schema {SCHEMA}, not {}", other.shown());
            Some(("unsupported_schema", detail))
        }
        None => Some(("missing_schema", format!("the file lacks `schema`: {SCHEMA}"))),
    };
    let schema =
        schema.map(|(rule, detail)| file_error(rule, "schema", detail, Some(SCHEMA.to_string())));
    let preset = head("preset").and_then(|value| match value.as_text() {
        Some(id) => Preset::find(id).err(),
        None => {
            let detail = format!("preset takes a preset's id, not {}", value.kind());
            Some(file_error("wrong_type", "preset", detail, None))
        }
    });
    schema.into_iter().chain(preset).collect()
}

/// A design being filled from a file.
struct Reader {
    design: Design,
    errors: Vec<KnobError>,
    seen: Vec<KnobId>,
}

impl Reader {
    fn section(&mut self, name: &str, value: &Tree) {
        let Some(section) = Section::ALL.into_iter().find(|section| section.name() == name) else {
            self.errors.push(unknown_section(name));
            return;
        };
        let Tree::Map(knobs) = value else {
            let detail = format!("{name} takes a map of knobs, not {}", value.kind());
            self.errors.push(file_error("wrong_type", name, detail, None));
            return;
        };
        for (key, value) in knobs {
            if self.errors.len() >= MAX_ERRORS {
                return;
            }
            let outcome = find(section, key).and_then(|id| {
                if self.seen.contains(&id) {
                    return Err(repeated(&id.id()));
                }
                self.seen.push(id);
                set(&mut self.design, id, value)
            });
            self.errors.extend(outcome.err());
        }
    }
}

/// A knob by its name or alias, in its own section only.
fn find(section: Section, name: &str) -> Result<KnobId, KnobError> {
    let aliased = KnobId::by_alias(name).filter(|id| id.knob().section == section);
    aliased.map_or_else(|| KnobId::find(&format!("{}.{name}", section.name())), Ok)
}

/// Sets a knob from a file's value: types count, so `"8"` is no number.
fn set(design: &mut Design, id: KnobId, tree: &Tree) -> Result<(), KnobError> {
    let empty = match id.knob().kind {
        Kind::Subset(_) | Kind::PositionList(_) => Some(Value::List(vec![])),
        Kind::OptionalInteger(..)
        | Kind::OptionalReal(..)
        | Kind::PerStage(_)
        | Kind::Layout
        | Kind::LayerPattern(_)
        | Kind::Hash
        | Kind::Name
        | Kind::Arguments => Some(Value::None),
        Kind::Integer(..) | Kind::Real(..) | Kind::Flag | Kind::Choice(_) | Kind::LayerFreq => None,
    };
    match (tree, empty) {
        (Tree::Text(text), Some(empty)) if text == "none" => design.set(id, &empty),
        (Tree::List(list), Some(empty)) if list.is_empty() => design.set(id, &empty),
        (Tree::Text(text), _) => design.set(id, &Value::Text(text.clone())),
        (Tree::Flag(flag), _) => design.set(id, &Value::Flag(*flag)),
        // As text, a number that is no legal value still finds the words for what is wrong.
        (Tree::Unsigned(_) | Tree::Negative(_) | Tree::Real(_), _) => {
            design.set_text(id, &tree.shown())
        }
        (Tree::List(list), _) => set_list(design, id, list),
        (Tree::Null, Some(_)) => Err(KnobError {
            nearest: vec!["none".to_string()],
            ..id.knob().wrong_type("null", "\"none\" where it is unset")
        }),
        (Tree::Null, None) => Err(id.knob().wrong_type("null", "a value")),
        (Tree::Map(_), _) => Err(id.knob().wrong_type("{…}", "a single value")),
    }
}

fn set_list(design: &mut Design, id: KnobId, list: &[Tree]) -> Result<(), KnobError> {
    let is_number =
        |tree: &Tree| matches!(tree, Tree::Unsigned(_) | Tree::Negative(_) | Tree::Real(_));
    if matches!(id.knob().kind, Kind::PerStage(_) | Kind::PositionList(_))
        && list.iter().all(is_number)
    {
        let numbers: Vec<String> = list.iter().map(Tree::shown).collect();
        return design.set_text(id, &numbers.join(","));
    }
    let names = list.iter().map(|item| item.as_text().map_or_else(|| item.shown(), String::from));
    let values = names.map(Value::Text);
    design.set(id, &Value::List(values.collect()))
}

fn unknown_section(name: &str) -> KnobError {
    // A knob without its section is the likelier slip than a misspelled section.
    let nearest = KnobId::find(name).map(KnobId::id).ok().or_else(|| {
        let near = Section::ALL.into_iter().min_by_key(|known| distance(name, known.name()));
        near.map(|section| section.name().to_string())
    });
    let detail = format!("there is no section `{}`", shorten(name));
    file_error("unknown_section", name, detail, nearest)
}

fn repeated(key: &str) -> KnobError {
    let detail = format!("duplicate key {}", shorten(key));
    file_error("repeated_knob", key, detail, None)
}

fn file_error(rule: &'static str, key: &str, detail: String, nearest: Option<String>) -> KnobError {
    KnobError { rule, knob: shorten(key), detail, nearest: nearest.into_iter().collect() }
}
