//! Arguments in YAML: Megatron's argument files and the files of its functional tests.
//!
//! Whatever stands inside sections is read alike: `language_model: {num_layers: 24}`,
//! `MODEL_ARGS: {--num-layers: 24}` and `num_layers: 24` are the same argument. Aliases and
//! anchors are refused, so that a file can't grow.

use saphyr_parser::{Event, Parser};

use crate::arguments::{Argument, spelled};
use crate::draft::Draft;

/// Sections within each other, at most.
const MAX_DEPTH: usize = 32;

/// Sections that hold no arguments.
const OTHERS: [&str; 5] = ["ENV_VARS", "env", "TEST_TYPE", "METRICS", "logging"];

/// Is a text YAML rather than a script? Its first line with anything in it tells.
pub(crate) fn is_yaml(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.next().is_some_and(|line| {
        let key = line.split_once(": ").map(|(key, _)| key).or_else(|| line.strip_suffix(':'));
        let is_key = |key: &str| {
            key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '"'))
        };
        line == "---" || key.is_some_and(is_key)
    })
}

/// The arguments of a file.
pub(crate) fn arguments(text: &str, draft: &mut Draft) -> Vec<Argument> {
    let mut reader = Reader { path: vec![], arguments: vec![], pending: None };
    for event in Parser::new_from_str(text) {
        let outcome = match event {
            Ok((event, span)) => reader.take(event, span.start.line() as u64, draft),
            Err(error) => Err((error.marker().line() as u64, error.info().to_owned())),
        };
        if let Err((line, detail)) = outcome {
            draft.fault(line, "", format!("the text is no YAML that is read here: {detail}"));
            return vec![];
        }
    }
    reader.arguments
}

/// What is open at a place of the file.
enum Open {
    /// A map, with the key that it belongs to.
    Map(String),
    /// A list of words of this argument.
    List(Argument),
    /// A map or list inside a list: no argument.
    Other,
}

struct Reader {
    path: Vec<Open>,
    arguments: Vec<Argument>,
    /// A key whose value comes next.
    pending: Option<(String, u64)>,
}

type Outcome = Result<(), (u64, String)>;

impl Reader {
    fn take(&mut self, event: Event<'_>, line: u64, draft: &mut Draft) -> Outcome {
        match event {
            Event::Alias(_) => return Err((line, "aliases aren't read".to_owned())),
            Event::MappingStart(..) | Event::SequenceStart(..) if self.path.len() >= MAX_DEPTH => {
                return Err((line, format!("it is nested more than {MAX_DEPTH} deep")));
            }
            Event::MappingStart(..) => {
                let inside_list = matches!(self.path.last(), Some(Open::List(_) | Open::Other));
                let key = self.pending.take().map(|(key, _)| key).unwrap_or_default();
                self.path.push(if inside_list { Open::Other } else { Open::Map(key) });
            }
            Event::SequenceStart(..) => {
                let open = self.pending.take().map_or(Open::Other, |(key, line)| {
                    Open::List(Argument { name: spelled(&key), values: vec![], line })
                });
                self.path.push(open);
            }
            Event::MappingEnd | Event::SequenceEnd => {
                if let Some(Open::List(argument)) = self.path.pop() {
                    self.keep(argument, draft);
                }
            }
            Event::Scalar(text, ..) => self.scalar(&text, line, draft),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn scalar(&mut self, text: &str, line: u64, draft: &mut Draft) {
        match (self.path.last_mut(), self.pending.take()) {
            (Some(Open::List(argument)), _) => argument.values.push(text.to_owned()),
            (Some(Open::Map(_)), None) => self.pending = Some((text.to_owned(), line)),
            (Some(Open::Map(_)), Some((key, line))) => {
                let values = vec![text.to_owned()];
                self.keep(Argument { name: spelled(&key), values, line }, draft);
            }
            (Some(Open::Other), _) => draft.ignore(text, line, "an item of a list without a key"),
            (None, _) => draft.unknown(text, line, None),
        }
    }

    fn keep(&mut self, argument: Argument, draft: &mut Draft) {
        let aside = self
            .path
            .iter()
            .any(|open| matches!(open, Open::Map(key) if OTHERS.contains(&key.as_str())));
        if aside {
            draft.ignore(&argument.name, argument.line, "stands outside the training's arguments");
        } else {
            self.arguments.push(argument);
        }
    }
}
