//! Resources that can be read: knobs, presets, metrics, the guide, and the skill.

use model::catalogue::preset::Preset;
use model::design::KnobId;
use model::design::file::json;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::Value;

use crate::registry;
use crate::site::guide::{CHAPTERS, Chapter};
use operations as said;

/// Skill on using the tools well, in the form that agents load skills in.
pub(crate) const SKILL: &str = include_str!("../../../docs/skill/SKILL.md");

const SCHEME: &str = "moescape://";
const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";

/// The registry's lists, with what each holds.
const LISTS: [(&str, &str); 3] = [
    ("knobs", "Every knob: id, type, bounds, unit, meaning, source, short names"),
    ("presets", "Every preset: id, title, kind, story, source"),
    ("metrics", "Every metric: id, unit, definition, formula, source"),
];

/// Everything that is listed.
pub(super) fn listed() -> Vec<Resource> {
    let lists = LISTS.map(|(name, about)| {
        Resource::new(format!("{SCHEME}{name}"), name).with_description(about).with_mime_type(JSON)
    });
    let chapter = |chapter: &Chapter| {
        let name = chapter_name(chapter);
        let title = chapter.english.markdown.lines().next().unwrap_or_default();
        Resource::new(format!("{SCHEME}guide/{name}"), format!("guide/{name}"))
            .with_description(format!("The guide: {}", title.trim_start_matches('#').trim()))
            .with_mime_type(MARKDOWN)
    };
    let skill = Resource::new(format!("{SCHEME}skill"), "skill")
        .with_description("How to use these tools honestly: read it first")
        .with_mime_type(MARKDOWN);
    std::iter::once(skill).chain(lists).chain(CHAPTERS.iter().map(chapter)).collect()
}

/// The forms of addresses of single things.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    [
        ("knobs/{id}", "A knob, by id or short name", JSON),
        ("presets/{id}", "A preset and its design file", JSON),
        ("metrics/{id}", "A metric", JSON),
        ("guide/{chapter}", "A chapter of the guide", MARKDOWN),
    ]
    .map(|(form, about, mime)| {
        ResourceTemplate::new(format!("{SCHEME}{form}"), form)
            .with_description(about)
            .with_mime_type(mime)
    })
    .to_vec()
}

/// Contents of an address; `None` if nothing is there.
pub(super) fn read(uri: &str) -> Option<ResourceContents> {
    let path = uri.strip_prefix(SCHEME)?;
    let (text, mime) = match path.split_once('/') {
        None if path == "skill" => (SKILL.to_owned(), MARKDOWN),
        None => {
            let tree = match path {
                "knobs" => registry::knobs(),
                "presets" => registry::presets(),
                "metrics" => registry::metrics(),
                _ => return None,
            };
            (json::print(&tree), JSON)
        }
        Some(("guide", name)) => {
            let chapter = CHAPTERS.iter().find(|chapter| chapter_name(chapter) == name)?;
            (chapter.english.markdown.to_owned(), MARKDOWN)
        }
        Some(("knobs", name)) => {
            let id = KnobId::find(name).ok()?.id();
            (row(&said::json(&registry::knobs()), "knobs", &id)?, JSON)
        }
        Some(("presets", id)) => (preset(id)?, JSON),
        Some(("metrics", id)) => (row(&said::json(&registry::metrics()), "metrics", id)?, JSON),
        Some(_) => return None,
    };
    Some(ResourceContents::text(text, uri).with_mime_type(mime))
}

fn chapter_name(chapter: &Chapter) -> &'static str {
    if chapter.name.is_empty() { "contents" } else { chapter.name }
}

/// The row of a list that has this id.
fn row(list: &Value, name: &str, id: &str) -> Option<String> {
    let row = list[name].as_array()?.iter().find(|row| row["id"] == id)?;
    serde_json::to_string_pretty(row).ok()
}

/// A preset with its whole design.
fn preset(id: &str) -> Option<String> {
    let known = Preset::all().chain(Preset::served()).any(|preset| preset.id == id);
    let mut row: Value = serde_json::from_str(
        &row(&said::json(&registry::presets()), "presets", id).filter(|_| known)?,
    )
    .ok()?;
    if let Ok(design) = model::design::Design::from_preset(id) {
        let file = model::design::file::write(&design, model::design::file::Extent::Full);
        row["design"] = said::json(&file);
    }
    serde_json::to_string_pretty(&row).ok()
}
