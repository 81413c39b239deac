//! The schemas of bodies, from the types that are read and written.

use model::design::file::{Tree, json};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::design;
use crate::http::endpoint::{Content, Endpoint, Shape};

/// Direction of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Request,
    Answer,
}

/// The schemas of the document.
///
/// A type that is written in full may be read with less: then it has a schema of its own for
/// requests.
pub(super) struct Schemas {
    generators: [SchemaGenerator; 2],
    /// Definitions of requests and of answers, by their names.
    definitions: [Map<String, Value>; 2],
    /// Names of definitions that differ between requests and answers.
    split: Vec<String>,
}

impl Schemas {
    /// The schemas of these endpoints' bodies.
    pub(super) fn new<'a>(endpoints: impl Iterator<Item = &'a Endpoint>) -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        let answers = settings.clone().for_serialize();
        let mut generators = [settings, answers].map(SchemaSettings::into_generator);
        let [requests, answers] = &mut generators;
        for endpoint in endpoints {
            let run = |contents: &[Content], generator: &mut SchemaGenerator| {
                contents.iter().for_each(|it| drop((it.shape)(generator)));
            };
            run(&endpoint.body, requests);
            endpoint.all_answers().iter().for_each(|answer| run(&answer.contents, answers));
        }
        let definitions = generators.each_mut().map(|it| it.take_definitions(true));
        let [requests, answers] = &definitions;
        let is_split = |name: &str, read: &Value| {
            let written = answers.get(name);
            written.is_some_and(|it| it != read || read.to_string().contains("\"$ref\""))
        };
        let split = requests.iter().filter(|(name, read)| is_split(name, read));
        let split = split.map(|(name, _)| name.clone()).collect();
        Self { generators, definitions, split }
    }

    /// The schema of a body.
    pub(super) fn body(&mut self, shape: Shape, direction: Direction) -> Tree {
        let schema = shape(&mut self.generators[direction as usize]);
        self.tree(schema.as_value(), direction)
    }

    /// The description of an answer's type.
    pub(super) fn description(&mut self, shape: Shape) -> &str {
        let [_, generator] = &mut self.generators;
        let schema = shape(generator);
        let reference = schema.get("$ref").and_then(Value::as_str).unwrap_or_default();
        let [_, definitions] = &self.definitions;
        let definition = definitions.get(reference.rsplit('/').next().unwrap_or_default());
        definition.and_then(|it| it.get("description")?.as_str()).unwrap_or_default()
    }

    /// Every schema by its name.
    pub(super) fn all(&self) -> Vec<(String, Tree)> {
        let [requests, answers] = &self.definitions;
        let own = [("PresetId", design::presets()), ("Design", design::design())];
        let own = own.into_iter().map(|(name, schema)| (name.to_owned(), schema));
        let written = answers.iter();
        let written =
            written.map(|(name, schema)| (name.clone(), self.tree(schema, Direction::Answer)));
        let read = requests.iter().filter_map(|(name, schema)| {
            let is_split = self.split.contains(name);
            let name = if is_split { format!("{name}Asked") } else { name.clone() };
            let is_new = is_split || !answers.contains_key(&name);
            is_new.then(|| (name, self.tree(schema, Direction::Request)))
        });
        own.chain(written).chain(read).collect()
    }

    /// A schema whose references lead to the right definitions.
    fn tree(&self, schema: &Value, direction: Direction) -> Tree {
        let mut text = schema.to_string();
        if direction == Direction::Request {
            for name in &self.split {
                let renamed = format!("/schemas/{name}Asked\"");
                text = text.replace(&format!("/schemas/{name}\""), &renamed);
            }
        }
        json::parse(&text).unwrap_or(Tree::Null)
    }
}
