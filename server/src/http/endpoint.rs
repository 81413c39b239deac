//! Endpoints for programs: a route with its description, so that there is neither without the
//! other.
//!
//! [`endpoints!`] stands beside the handlers. The routes of a server and the API's document are
//! both made from the same list. A type says the shape of a body, a doc comment what an endpoint
//! does, and a [`Problem`] that a handler answers is described by its own words.

pub(crate) mod words;

use std::borrow::Cow;
use std::convert::Infallible;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::MethodRouter;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::net::problem::{Problem, ProblemBody};
use crate::net::query::Parameter;
use crate::net::request_body::BODY_LIMIT_BYTES;
use crate::state::AppState;

/// Content types of bodies.
pub(crate) const JSON: &str = "application/json";
pub(crate) const CSV: &str = "text/csv";
pub(crate) const PARQUET: &str = "application/vnd.apache.parquet";
const PROBLEM: &str = "application/problem+json";

/// Maker of a body's schema.
pub(crate) type Shape = fn(&mut SchemaGenerator) -> Schema;

/// Words of a description.
pub(crate) type Words = Cow<'static, str>;

/// Shape of a type.
pub(crate) fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Shape of any text.
pub(crate) fn text(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string"})
}

/// Shape of any bytes.
pub(crate) fn bytes(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "format": "binary"})
}

/// Shape of any object.
pub(crate) fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object"})
}

/// A function `endpoints` that lists endpoints. The first paragraph of a doc comment is the
/// summary; the name behind `as` is the one for programs, and the braces hold methods of
/// [`Endpoint`].
macro_rules! endpoints {
    ($(
        $(#[doc = $doc:literal])+
        $method:ident $path:expr => $handler:ident as $id:ident { $($more:tt)* }
    )+) => {
        pub(super) fn endpoints() -> Vec<$crate::http::endpoint::Endpoint> {
            vec![$(
                $crate::http::endpoint::Endpoint::new(
                    stringify!($method),
                    $path,
                    axum::routing::$method($handler),
                )
                .documented(stringify!($id), concat!($($doc, "\n"),+))
                $($more)*
            ),+]
        }
    };
}
pub(crate) use endpoints;

/// A body in one content type.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub(crate) kind: &'static str,
    pub(crate) shape: Shape,
    /// Names, summaries and texts of examples; the only one needs no name.
    pub(crate) examples: Vec<(&'static str, &'static str, Words)>,
}

impl Content {
    fn new(kind: &'static str, shape: Shape) -> Self {
        Self { kind, shape, examples: vec![] }
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Empty where the type of its body says what it is.
    pub(crate) words: Words,
    /// Names of headers, with what they hold.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    pub(crate) contents: Vec<Content>,
}

/// A route for programs with its description.
#[derive(Clone, Debug, Default)]
pub(crate) struct Endpoint {
    pub(crate) method: &'static str,
    pub(crate) path: Words,
    handlers: MethodRouter<AppState>,
    /// Name for programs, the `operationId`.
    pub(crate) id: Words,
    pub(crate) summary: Words,
    /// Empty where the summary is enough.
    pub(crate) description: Words,
    pub(crate) parameters: Vec<Parameter>,
    /// Bodies that it takes, one of them.
    pub(crate) body: Vec<Content>,
    pub(crate) is_body_optional: bool,
    /// Bytes of a body, at most.
    pub(crate) body_limit: usize,
    answers: Vec<Answer>,
    /// It takes the token of a review session.
    pub(crate) takes_token: bool,
}

impl Endpoint {
    /// An endpoint without a description.
    pub(crate) fn new(
        method: &'static str,
        path: impl Into<Words>,
        handlers: MethodRouter<AppState>,
    ) -> Self {
        let (path, body_limit) = (path.into(), BODY_LIMIT_BYTES);
        Self { method, path, handlers, body_limit, ..Self::default() }
    }

    /// Its name for programs, and its doc comment: a summary, and below an empty line its details.
    pub(crate) fn documented(self, id: impl Into<Words>, doc: &str) -> Self {
        let (summary, description) = doc.split_once("\n\n").unwrap_or((doc, ""));
        let summary = words::flowing(summary).into();
        Self { id: id.into(), summary, description: words::flowing(description).into(), ..self }
    }

    /// Parameters beside those that it has.
    pub(crate) fn with(mut self, parameters: impl IntoIterator<Item = Parameter>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    /// A body in JSON.
    pub(crate) fn takes(self, shape: Shape) -> Self {
        self.takes_as(JSON, shape)
    }

    /// A body of a content type.
    pub(crate) fn takes_as(mut self, kind: &'static str, shape: Shape) -> Self {
        self.body.push(Content::new(kind, shape));
        self
    }

    /// The example of the content type named last.
    pub(crate) fn example(self, text: impl Into<Words>) -> Self {
        self.named_example("", "", text)
    }

    /// One of several examples of the content type named last.
    pub(crate) fn named_example(
        mut self,
        name: &'static str,
        summary: &'static str,
        text: impl Into<Words>,
    ) -> Self {
        if let Some(content) = self.body.last_mut() {
            content.examples.push((name, summary, text.into()));
        }
        self
    }

    /// Also without a body.
    pub(crate) fn or_nothing(self) -> Self {
        Self { is_body_optional: true, ..self }
    }

    /// A limit of its own on a body's bytes.
    pub(crate) fn body_limit(mut self, bytes: usize) -> Self {
        self.handlers = self.handlers.layer::<_, Infallible>(DefaultBodyLimit::max(bytes));
        self.reads_at_most(bytes)
    }

    /// A limit on a body's bytes that the handler itself keeps.
    pub(crate) fn reads_at_most(self, bytes: usize) -> Self {
        Self { body_limit: bytes, ..self }
    }

    /// An answer in JSON, which its type describes.
    pub(crate) fn answers(self, shape: Shape) -> Self {
        self.answers_as(JSON, shape, "")
    }

    /// An answer of a content type. Several are of one answer.
    pub(crate) fn answers_as(
        self,
        kind: &'static str,
        shape: Shape,
        words: impl Into<Words>,
    ) -> Self {
        self.answer(200, Some(Content::new(kind, shape)), words)
    }

    /// An answer in JSON to something new.
    pub(crate) fn creates(self, shape: Shape, words: impl Into<Words>) -> Self {
        self.answer(201, Some(Content::new(JSON, shape)), words)
    }

    /// An answer to something new that has an owner, and the problems of those who may not have it.
    pub(crate) fn stores(self, shape: Shape, words: impl Into<Words>) -> Self {
        let mut stores = self.creates(shape, words);
        stores.answers.iter_mut().for_each(|answer| answer.headers = &words::HEADERS_OF_NEW);
        stores.fails(403, words::MAY_NOT_MAKE).fails(507, words::NO_ROOM)
    }

    /// An answer without a body.
    pub(crate) fn ends(self, status: u16, words: impl Into<Words>) -> Self {
        self.answer(status, None, words)
    }

    /// A problem with its reasons. Those that are said first stand.
    pub(crate) fn fails(self, status: u16, reasons: impl Into<Words>) -> Self {
        self.answer(status, Some(Content::new(PROBLEM, of::<ProblemBody>)), reasons)
    }

    /// Problems that the handler answers, in their words.
    pub(crate) fn refuses(self, problems: impl IntoIterator<Item = Problem>) -> Self {
        problems.into_iter().fold(self, |it, problem| {
            it.fails(problem.status().as_u16(), words::sentence(problem.detail()))
        })
    }

    fn answer(mut self, status: u16, content: Option<Content>, words: impl Into<Words>) -> Self {
        match (self.answers.iter_mut().find(|answer| answer.status == status), content) {
            (Some(Answer { contents, .. }), Some(content)) => {
                if contents.iter().all(|known| known.kind != content.kind) {
                    contents.push(content);
                }
            }
            (Some(_), None) => {}
            (None, content) => {
                let (words, contents) = (words.into(), content.into_iter().collect());
                self.answers.push(Answer { status, words, headers: &[], contents });
            }
        }
        self
    }

    /// Access by the token of a review session alone.
    pub(crate) fn by_token(self) -> Self {
        Self { takes_token: true, ..self }
    }

    /// This endpoint below another path.
    pub(crate) fn under(self, base: &str) -> Self {
        Self { path: format!("{base}{}", self.path).into(), ..self }
    }

    /// Every answer by its status. Requests that can't be read need no words of their own.
    pub(crate) fn all_answers(&self) -> Vec<Answer> {
        let takes_body = !self.body.is_empty();
        let mut all = self.clone();
        if takes_body || self.parameters.iter().any(|it| it.place == "query") {
            all = all.fails(400, words::UNREADABLE);
        }
        if takes_body {
            let too_large = format!("The body has more than {}.", words::size(self.body_limit));
            all = all.fails(413, too_large);
        }
        all.answers.sort_by_key(|answer| answer.status);
        all.answers
    }
}

/// Endpoints of one kind, under a heading of the API's document.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) endpoints: Vec<Endpoint>,
}

/// The routes of endpoints.
pub(crate) fn router(endpoints: impl IntoIterator<Item = Endpoint>) -> Router<AppState> {
    let add = |routes: Router<AppState>, it: Endpoint| routes.route(&it.path, it.handlers);
    endpoints.into_iter().fold(Router::new(), add)
}
