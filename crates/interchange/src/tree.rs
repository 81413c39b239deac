//! What stands in YAML, JSON or TOML, with lines: keys under keys, and where they refer to others.

use std::collections::BTreeMap;

use crate::arguments::{Argument, spelled};
use crate::draft::{Draft, Question};
use crate::stages;

/// Values of a file, at most, with those that aliases repeat.
pub(crate) const MAX_NODES: usize = 50_000;

/// References within references, at most.
const MAX_REFERENCES: u32 = 16;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// A word, number or nothing.
    Scalar(String, u64),
    /// Values by key, in the order of the file.
    Map(Vec<(String, u64, Node)>),
    /// Values.
    List(Vec<Node>),
}

impl Node {
    /// Number of values, with those within.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Scalar(..) => 1,
            Self::Map(entries) => {
                entries.iter().fold(1, |sum, (_, _, node)| sum.saturating_add(node.count()))
            }
            Self::List(items) => items.iter().fold(1, |sum, node| sum.saturating_add(node.count())),
        }
    }

    /// A map's value by its key, with the key's line.
    pub(crate) fn entry(&self, key: &str) -> Option<(&Self, u64)> {
        let Self::Map(entries) = self else { return None };
        entries.iter().find(|entry| entry.0 == key).map(|(_, line, node)| (node, *line))
    }

    /// A map's value by its key.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| entry.0)
    }

    /// A word or number, with its line.
    pub(crate) fn scalar(&self) -> Option<(&str, u64)> {
        match self {
            Self::Scalar(text, line) => Some((text, *line)),
            Self::Map(_) | Self::List(_) => None,
        }
    }
}

/// Sections that hold no arguments.
const OTHERS: [&str; 8] =
    ["ENV_VARS", "env", "envs", "TEST_TYPE", "METRICS", "logging", "env_vars", "hydra"];

/// The arguments of a tree: each key with its path, `model.num-layers`, and what it refers to.
pub(crate) fn arguments(tree: &Node, draft: &mut Draft) -> Vec<Argument> {
    let mut flat = Flat { words: BTreeMap::new(), arguments: vec![] };
    flat.walk("", false, tree, draft);
    let Flat { words, mut arguments } = flat;
    for argument in &mut arguments {
        for value in &mut argument.values {
            if value.contains("${") {
                let line = argument.line;
                *value = resolved(value, &argument.name, &words, line, 0, draft);
            }
        }
    }
    arguments
}

struct Flat {
    /// Every value by its path, for references.
    words: BTreeMap<String, String>,
    arguments: Vec<Argument>,
}

impl Flat {
    fn walk(&mut self, path: &str, aside: bool, node: &Node, draft: &mut Draft) {
        match node {
            Node::Map(entries) => {
                for (key, line, node) in entries {
                    let aside = aside || OTHERS.contains(&key.as_str());
                    let name = spelled(key);
                    let path = if path.is_empty() { name } else { format!("{path}.{name}") };
                    self.entry(&path, *line, aside, node, draft);
                }
            }
            Node::List(items) => items.iter().for_each(|item| match item {
                Node::Map(_) => self.walk(path, aside, item, draft),
                Node::Scalar(text, line) => {
                    draft.ignore(text, *line, "an item of a list without a key");
                }
                Node::List(_) => {}
            }),
            Node::Scalar(text, line) => draft.unknown(text, *line, None),
        }
    }

    fn entry(&mut self, path: &str, line: u64, aside: bool, node: &Node, draft: &mut Draft) {
        let values = match node {
            Node::Scalar(text, _) => {
                self.words.insert(path.to_owned(), text.clone());
                vec![text.clone()]
            }
            Node::List(items) if items.iter().all(|item| matches!(item, Node::Scalar(..))) => {
                let words = items.iter().filter_map(|item| match item {
                    Node::Scalar(text, _) => Some(text.clone()),
                    Node::Map(_) | Node::List(_) => None,
                });
                words.collect()
            }
            Node::List(items) => match layout(items).map(|it| vec![it]).or_else(|| leaves(items)) {
                Some(values) => values,
                None => return self.walk(path, aside, node, draft),
            },
            Node::Map(_) => return self.walk(path, aside, node, draft),
        };
        if aside {
            let name = path.rsplit('.').next().unwrap_or(path);
            draft.ignore(name, line, "stands outside the training's arguments");
        } else {
            self.arguments.push(Argument { name: path.to_owned(), values, line });
        }
    }
}

/// The words of lists within each other, without a map among them: `[[["global", "local"], 12]]`.
fn leaves(items: &[Node]) -> Option<Vec<String>> {
    let mut made = vec![];
    let mut left: Vec<&Node> = items.iter().rev().collect();
    while let Some(node) = left.pop() {
        match node {
            Node::Scalar(text, _) => made.push(text.clone()),
            Node::List(inner) => left.extend(inner.iter().rev()),
            Node::Map(_) => return None,
        }
    }
    Some(made)
}

/// The pipeline's stages where lists of words say what each holds.
fn layout(items: &[Node]) -> Option<String> {
    let words = |item: &Node| match item {
        Node::List(words) => {
            let word = |node: &Node| match node {
                Node::Scalar(text, _) => Some(text.clone()),
                Node::Map(_) | Node::List(_) => None,
            };
            words.iter().map(word).collect::<Option<Vec<String>>>()
        }
        Node::Scalar(..) | Node::Map(_) => None,
    };
    let lists: Option<Vec<Vec<String>>> = items.iter().map(words).collect();
    stages::of_lists(&lists?).filter(|pattern| pattern.contains('t'))
}

/// A value with its references: `${model.hidden_size}` of the file, `${NAME:default}` and
/// `${oc.env:NAME,default}` of the environment.
fn resolved(
    text: &str,
    path: &str,
    words: &BTreeMap<String, String>,
    line: u64,
    depth: u32,
    draft: &mut Draft,
) -> String {
    let (mut made, mut rest) = (String::new(), text);
    while let Some(start) = rest.find("${") {
        let (before, inner) = rest.split_at(start);
        made.push_str(before);
        let Some(end) = closing(inner) else { break };
        let name = inner.get(2..end).unwrap_or_default();
        let value = (depth < MAX_REFERENCES && draft.follow())
            .then(|| reference(name, path, words, line, depth, draft))
            .flatten();
        match value {
            Some(value) if made.len() + value.len() < 4_096 => made.push_str(&value),
            _ => made.push_str(inner.get(..=end).unwrap_or_default()),
        }
        rest = inner.get(end + 1..).unwrap_or_default();
    }
    made.push_str(rest);
    made
}

/// Where the bracket closes that opens a text `${..}`.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_u32;
    text.char_indices().find_map(|(at, letter)| {
        match letter {
            '{' => open += 1,
            '}' => open = open.saturating_sub(1),
            _ => {}
        }
        (letter == '}' && open == 0).then_some(at)
    })
}

fn reference(
    name: &str,
    path: &str,
    words: &BTreeMap<String, String>,
    line: u64,
    depth: u32,
    draft: &mut Draft,
) -> Option<String> {
    if let Some(inner) = name.strip_prefix("oc.env:") {
        let (name, default) = inner.split_once(',').map_or((inner, None), |(n, d)| (n, Some(d)));
        return environment(name.trim(), default.map(str::trim), line, draft);
    }
    if let Some((name, default)) = name.split_once(':') {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !name.chars().all(is_name) || name.is_empty() {
            return None;
        }
        let default = default.strip_prefix('-').unwrap_or(default);
        let default = default.trim_matches(['"', '\'']).to_owned();
        return environment(name, Some(&default), line, draft);
    }
    let key = spelled(name.trim_start_matches('.'));
    let relative = path.rsplit_once('.').map(|(section, _)| format!("{section}.{key}"));
    let beside = relative.filter(|_| name.starts_with('.'));
    // `${training.model.x}` is `model.x` of the file that is `training` of the whole.
    let shorter = key.split_once('.').map(|(_, rest)| rest.to_owned());
    let found = [beside, Some(key), shorter]
        .into_iter()
        .flatten()
        .find_map(|key| words.get(&key).map(|value| (key, value.clone())));
    if let Some((key, value)) = found {
        return Some(resolved(&value, &key, words, line, depth + 1, draft));
    }
    (!name.contains('.')).then(|| environment(name, None, line, draft)).flatten()
}

fn environment(name: &str, default: Option<&str>, line: u64, draft: &mut Draft) -> Option<String> {
    if let Some(value) = draft.answers.variables.get(name) {
        return Some(value.clone());
    }
    let default = default?.to_owned();
    let detail = format!("${name} is not set: its default {default} (line {line})");
    draft.assume(None, detail);
    Some(default)
}

/// A question for a variable that nothing sets.
pub(crate) fn variable(name: &str, line: u64, purpose: &str, guess: Option<String>) -> Question {
    let number = name.parse::<u64>().is_ok();
    Question {
        name: if number { format!("arg {name}") } else { format!("env {name}") },
        line,
        file: None,
        purpose: purpose.to_owned(),
        guess,
        follows: "whatever reads it".to_owned(),
    }
}
