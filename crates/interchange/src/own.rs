//! Our own design files, JSON and TOML. They are read strictly, by [`model::design::file`]: what
//! isn't known is an error, with the nearest that is.

use model::design::KnobId;
use model::design::file::{self, PROVENANCE, Tree, json};
use model::ground::knob::{KnobError, Section};

use crate::draft::Draft;

/// Whether a text names its schema as our files do.
pub(crate) fn is_own(text: &str) -> bool {
    let is_json = text.trim_start().starts_with('{');
    // Configurations of models have a version of `transformers`, and no schema.
    let names = |key: &str| text.lines().any(|line| stands_in(line, key));
    if is_json { text.contains("\"schema\"") } else { names("schema") }
}

/// Reads the file into the draft.
pub(crate) fn read(text: &str, draft: &mut Draft) {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let tree = if is_json { json::parse(text).map_err(not_json) } else { toml_tree(text) };
    let tree = match tree {
        Ok(tree) => tree,
        Err((line, detail)) => return draft.fault(line, "", detail),
    };
    let design = match file::read(&tree) {
        Ok(design) => design,
        Err(errors) => {
            for error in errors {
                let line = line_of(text, &error.knob);
                draft.fault(line, &error.knob, error.to_string());
            }
            return;
        }
    };
    draft.preset = Some(design.preset);
    draft.design = design;
    if let Tree::Map(entries) = &tree {
        entries.iter().for_each(|(key, value)| tell(text, key, value, draft));
    }
    let preset = draft.design.preset.id;
    draft.assume(None, format!("what the file doesn't set is the preset's, {preset}"));
}

/// Notes what an entry of a file that is a design sets.
fn tell(text: &str, key: &str, value: &Tree, draft: &mut Draft) {
    let section = Section::ALL.into_iter().find(|section| section.name() == key);
    if let (Some(section), Tree::Map(knobs)) = (section, value) {
        for (name, _) in knobs {
            let full = format!("{}.{name}", section.name());
            let found = KnobId::find(&full).or_else(|_| KnobId::find(name));
            // A file that makes a design has no other names.
            let Ok(knob) = found else { continue };
            let value = draft.design.get(knob).to_string();
            draft.set(knob, &value, &full, line_of(text, name));
        }
    } else if key == PROVENANCE {
        draft.ignore(key, line_of(text, key), "says where the file comes from");
    } else if key == "schema" {
        draft.ignore(key, line_of(text, key), "the version of the file's format");
    }
}

fn not_json(error: KnobError) -> (u64, String) {
    // The reader's own words name line and column.
    (0, error.detail)
}

fn toml_tree(text: &str) -> Result<Tree, (u64, String)> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(0, |before| 1 + before.matches('\n').count() as u64);
        (line, format!("the file is no TOML: {}", error.message()))
    })
}

/// The only line on which a key stands as one, from 1; 0 where there are more, or none.
fn line_of(text: &str, key: &str) -> u64 {
    let name = key.rsplit('.').next().unwrap_or(key);
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| stands_in(line, name));
    match (lines.next(), lines.next()) {
        (Some((line, _)), None) => line,
        _ => 0,
    }
}

/// Whether a line is `key = …`, `"key": …` or `[key]`.
fn stands_in(line: &str, key: &str) -> bool {
    let start = line.trim_start().trim_start_matches(['"', '{', '[', ' ']);
    let behind = start.strip_prefix(key).filter(|_| !key.is_empty());
    let behind = behind.map(|rest| rest.trim_start_matches('"').trim_start());
    behind.is_some_and(|rest| rest.starts_with(['=', ':', ']']))
}
