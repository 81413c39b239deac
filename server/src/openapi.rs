//! The description of the API for programs, OpenAPI 3.1.
//!
//! `openapi/api.json` is written by hand; what the program knows better is filled in: its limits,
//! its version, what a design is made of, and the schemas of the answers that are types. Tests
//! compare it with the routes and with what they answer.

use std::sync::OnceLock;

use model::design::KnobId;
use model::file::{Tree, json};
use model::knob::Section;
use reports::budgeted::Budgeted;
use reports::found::Found;
use reports::inferred::Inferred;
use reports::laid_out::Layouts;
use schemars::generate::SchemaSettings;

use crate::receiving::BODY_LIMIT_BYTES;
use crate::registry::Takes;
use crate::report::{MAX_DESIGNS, Predictions};
use crate::sweeps::{MAX_PLACES, MAX_ROWS};

/// The document as JSON.
#[must_use]
pub fn document() -> &'static str {
    static DOCUMENT: OnceLock<String> = OnceLock::new();
    DOCUMENT.get_or_init(|| {
        let mut text = include_str!("openapi/api.json").to_owned();
        let numbers = [
            ("{{BODY_BYTES}}", BODY_LIMIT_BYTES as u64),
            ("{{MAX_PLACES}}", MAX_PLACES),
            ("{{MAX_ROWS}}", MAX_ROWS),
            ("{{MAX_DESIGNS}}", MAX_DESIGNS as u64),
        ];
        for (name, number) in numbers {
            // Alone it is a number, in a sentence a word.
            text = text.replace(&format!("\"{name}\""), &number.to_string());
            text = text.replace(name, &number.to_string());
        }
        text = text.replace("{{MODEL_VERSION}}", model::MODEL_VERSION);
        let mut document = json::parse(&text).unwrap_or(Tree::Null);
        if let Some(schemas) = below(&mut document, &["components", "schemas"]) {
            schemas.push(("Design".to_owned(), design()));
            schemas.extend(answers());
        }
        json::print(&document)
    })
}

/// The schemas of answers, from the types that are written.
fn answers() -> Vec<(String, Tree)> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    generator.subschema_for::<Predictions>();
    generator.subschema_for::<Inferred>();
    generator.subschema_for::<Layouts>();
    generator.subschema_for::<Found>();
    generator.subschema_for::<Budgeted>();
    let schemas = generator.take_definitions(true);
    let schema = |(name, schema): (String, serde_json::Value)| {
        (name, json::parse(&schema.to_string()).unwrap_or(Tree::Null))
    };
    schemas.into_iter().map(schema).collect()
}

/// The entries of a map inside.
fn below<'a>(tree: &'a mut Tree, path: &[&str]) -> Option<&'a mut Vec<(String, Tree)>> {
    let Tree::Map(entries) = tree else { return None };
    match path {
        [] => Some(entries),
        [first, rest @ ..] => {
            let (_, inner) = entries.iter_mut().find(|(key, _)| key == first)?;
            below(inner, rest)
        }
    }
}

/// A design file.
fn design() -> Tree {
    let mut properties = vec![
        ("schema".to_owned(), Tree::map([("const", Tree::Unsigned(model::file::SCHEMA))])),
        (
            "preset".to_owned(),
            typed("string", "What all else differs from; see `/api/v1/presets`."),
        ),
    ];
    for section in Section::ALL {
        let knobs = KnobId::ALL.iter().filter(|id| id.knob().section == section);
        let knobs = knobs.map(|id| {
            let name = id.id();
            (name.rsplit('.').next().unwrap_or(&name).to_owned(), knob(*id))
        });
        let section_of =
            Tree::map([("type", Tree::from("object")), ("properties", Tree::map(knobs))]);
        properties.push((section.name().to_owned(), section_of));
    }
    Tree::map([
        ("type", "object".into()),
        (
            "description",
            "A design file: what is absent is the preset's. Short names of knobs are read, too; an \
             option that is unset is \"none\"."
                .into(),
        ),
        ("properties", Tree::Map(properties)),
        ("required", Tree::list(["schema"])),
    ])
}

fn typed(kind: &str, description: &str) -> Tree {
    Tree::map([("type", Tree::from(kind)), ("description", description.into())])
}

/// The values of a knob.
fn knob(id: KnobId) -> Tree {
    let knob = id.knob();
    let takes = Takes::for_knob(knob);
    let mut entries: Vec<(&str, Tree)> = match (takes.kind, takes.values) {
        ("integer", _) => vec![("type", "integer".into())],
        ("real", _) => vec![("type", "number".into())],
        ("flag", _) => vec![("type", "boolean".into())],
        ("choice", Some(names)) => vec![("enum", Tree::list(names.iter().copied()))],
        ("subset", Some(names)) => {
            let items = Tree::map([("enum", Tree::list(names.iter().copied()))]);
            vec![("type", "array".into()), ("items", items)]
        }
        // Lists, layouts and hashes have forms of their own; the knob's meaning tells them.
        _ => vec![],
    };
    entries.extend(takes.min.map(|min| ("minimum", min)));
    entries.extend(takes.max.map(|max| ("maximum", max)));
    let simple = !entries.is_empty();
    let mut schema = Tree::map(entries);
    if takes.optional && simple {
        let none = Tree::map([("const", Tree::from("none"))]);
        schema = Tree::map([("anyOf", Tree::List(vec![schema, none]))]);
    }
    if let Tree::Map(entries) = &mut schema {
        entries.push(("description".to_owned(), id.words().meaning.into()));
    }
    schema
}
