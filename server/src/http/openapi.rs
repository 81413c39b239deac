//! The API's document for programs, OpenAPI 3.1, made from the endpoints that answer.
//!
//! Paths, parameters, words and examples are those of the [endpoints](crate::http::endpoint), the
//! schemas of bodies those of the types that are read and written, and a design is what the
//! registry knows.

mod design;
mod schemas;

use model::design::file::{Tree, json};

use self::schemas::{Direction, Schemas};
use crate::http::endpoint::{Answer, Content, Endpoint, Group, JSON, words};
use crate::net::query::Parameter;

/// Name of the token of a review session.
const TOKEN: &str = "review";

/// The document of endpoints as JSON.
pub(crate) fn document(groups: &[Group]) -> String {
    let mut schemas = Schemas::new(groups.iter().flat_map(|group| &group.endpoints));
    let mut paths: Vec<(String, Tree)> = vec![];
    for group in groups {
        for endpoint in &group.endpoints {
            let operation = (endpoint.method.to_owned(), operation(group, endpoint, &mut schemas));
            match paths.iter_mut().find(|(path, _)| *path == endpoint.path) {
                Some((_, Tree::Map(methods))) => methods.push(operation),
                _ => paths.push((endpoint.path.to_string(), Tree::Map(vec![operation]))),
            }
        }
    }
    let tags = groups.iter().map(|group| {
        Tree::map([("name", group.name.into()), ("description", group.description.into())])
    });
    let token = [("type", "http"), ("scheme", "bearer"), ("description", words::TOKEN)];
    let token = Tree::map(token.map(|(key, value)| (key, Tree::from(value))));
    let info = Tree::map([
        ("title", words::TITLE.into()),
        ("summary", words::SUMMARY.into()),
        ("description", words::DESCRIPTION.into()),
        (
            "license",
            Tree::map([("name", Tree::from("Apache-2.0")), ("identifier", "Apache-2.0".into())]),
        ),
        ("version", "1".into()),
        ("x-model-version", model::MODEL_VERSION.into()),
    ]);
    json::print(&Tree::map([
        ("openapi", "3.1.0".into()),
        ("info", info),
        ("servers", Tree::List(vec![Tree::map([("url", "/".into())])])),
        ("tags", Tree::List(tags.collect())),
        ("paths", Tree::Map(paths)),
        (
            "components",
            Tree::map([
                ("schemas", Tree::Map(schemas.all())),
                ("securitySchemes", Tree::map([(TOKEN, token)])),
            ]),
        ),
    ]))
}

/// The description of an endpoint.
fn operation(group: &Group, endpoint: &Endpoint, schemas: &mut Schemas) -> Tree {
    let mut entries = vec![
        ("operationId", Tree::from(&*endpoint.id)),
        ("tags", Tree::list([group.name])),
        ("summary", Tree::from(&*endpoint.summary)),
    ];
    if !endpoint.description.is_empty() {
        entries.push(("description", Tree::from(&*endpoint.description)));
    }
    if endpoint.takes_token {
        let token = Tree::map([(TOKEN, Tree::List(vec![]))]);
        entries.push(("security", Tree::List(vec![token])));
    }
    if !endpoint.parameters.is_empty() {
        let parameters = endpoint.parameters.iter().map(parameter);
        entries.push(("parameters", Tree::List(parameters.collect())));
    }
    if !endpoint.body.is_empty() {
        let body = Tree::map([
            ("required", (!endpoint.is_body_optional).into()),
            ("description", format!("At most {}.", words::size(endpoint.body_limit)).into()),
            ("content", contents(&endpoint.body, Direction::Request, schemas)),
        ]);
        entries.push(("requestBody", body));
    }
    let answers = endpoint.all_answers();
    let responses = answers.iter().map(|it| (it.status.to_string(), response(it, schemas)));
    entries.push(("responses", Tree::Map(responses.collect())));
    Tree::map(entries)
}

fn parameter(parameter: &Parameter) -> Tree {
    let schema = (parameter.schema)();
    let schema = json::parse(&schema.as_value().to_string()).unwrap_or(Tree::Null);
    let is_text = schema.get("type").and_then(Tree::as_text) == Some("string");
    let mut entries = vec![
        ("name", Tree::from(parameter.name)),
        ("in", parameter.place.into()),
        ("description", words::flowing(parameter.meaning).into()),
        ("schema", schema),
    ];
    if parameter.is_required {
        entries.push(("required", true.into()));
    }
    let example = parameter.example.map(|text| match json::parse(text) {
        Ok(value) if !is_text => value,
        _ => text.into(),
    });
    entries.extend(example.map(|example| ("example", example)));
    Tree::map(entries)
}

fn response(answer: &Answer, schemas: &mut Schemas) -> Tree {
    let description = match (&*answer.words, answer.contents.first()) {
        ("", Some(content)) => schemas.description(content.shape),
        (words, _) => words,
    };
    let mut entries = vec![("description", Tree::from(description))];
    if !answer.headers.is_empty() {
        let header = |(name, holds): &(&'static str, &'static str)| {
            let schema = Tree::map([("type", "string".into())]);
            (*name, Tree::map([("description", (*holds).into()), ("schema", schema)]))
        };
        entries.push(("headers", Tree::map(answer.headers.iter().map(header))));
    }
    if !answer.contents.is_empty() {
        entries.push(("content", contents(&answer.contents, Direction::Answer, schemas)));
    }
    Tree::map(entries)
}

/// Bodies by their content types.
fn contents(contents: &[Content], direction: Direction, schemas: &mut Schemas) -> Tree {
    Tree::map(contents.iter().map(|content| {
        let value = |text: &str| match content.kind {
            JSON => json::parse(text).unwrap_or(Tree::Null),
            _ => Tree::from(text),
        };
        let mut entries = vec![("schema", schemas.body(content.shape, direction))];
        match &content.examples[..] {
            [] => {}
            [("", _, only)] => entries.push(("example", value(only))),
            several => {
                let named = several.iter().map(|(name, summary, text)| {
                    (*name, Tree::map([("summary", (*summary).into()), ("value", value(text))]))
                });
                entries.push(("examples", Tree::map(named)));
            }
        }
        (content.kind, Tree::map(entries))
    }))
}
