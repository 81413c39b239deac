//! YAML, and JSON where it isn't a model's: argument files of Megatron, of its forks, and of other
//! frameworks.
//!
//! Anchors, aliases and merge keys are followed, and what they repeat is counted, so that a file
//! can't grow. Whatever stands inside sections keeps their names: `model: {num_layers: 24}` is the
//! argument `model.num-layers`.

use std::collections::{BTreeMap, BTreeSet};

use saphyr_parser::{Event, Parser};

use crate::arguments::Argument;
use crate::draft::Draft;
use crate::tree::{self, MAX_NODES, Node};

/// Sections within each other, at most.
const MAX_DEPTH: usize = 32;

/// Documents of a file, at most.
const MAX_DOCUMENTS: usize = 64;

/// The documents of a file, with the lines in front of each.
pub(crate) fn documents(text: &str) -> Vec<(u64, String)> {
    let mut found = vec![(0, String::new())];
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_end() == "---" && found.len() < MAX_DOCUMENTS {
            found.push((number, String::new()));
        } else if let Some((_, document)) = found.last_mut() {
            document.push_str(line);
            document.push('\n');
        }
    }
    found
}

/// Whether a resource of Kubernetes is a device: `nvidia.com/gpu`, `huawei.com/Ascend910`.
pub(crate) fn is_device(key: &str) -> bool {
    key == "gpu"
        || ["/gpu", "/tpu", "/neuron", "/gaudi"].iter().any(|end| key.ends_with(end))
        || key.starts_with("huawei.com/")
}

/// Whether a text is YAML rather than a script, by its first line with anything in it.
pub(crate) fn is_yaml(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines.next().is_some_and(|line| {
        let key = line.split_once(": ").map(|(key, _)| key).or_else(|| line.strip_suffix(':'));
        let is_key = |key: &str| {
            key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '"'))
        };
        line == "---" || line.starts_with('{') || key.is_some_and(is_key)
    })
}

/// The arguments of a file.
pub(crate) fn arguments(text: &str, draft: &mut Draft) -> Vec<Argument> {
    match read(text) {
        Ok(tree) => tree::arguments(&tree, draft),
        Err((line, detail)) => {
            draft.fault(line, "", format!("the text is no YAML that is read here: {detail}"));
            vec![]
        }
    }
}

type Outcome<T> = Result<T, (u64, String)>;

/// The tree of a text.
pub(crate) fn read(text: &str) -> Outcome<Node> {
    let mut reader = Reader::default();
    for event in Parser::new_from_str(text) {
        match event {
            Ok((event, span)) => reader.take(event, span.start.line() as u64)?,
            Err(error) => return Err((error.marker().line() as u64, error.info().to_owned())),
        }
    }
    Ok(reader.root.unwrap_or(Node::Map(vec![])))
}

/// Value that is open at a place of the file.
struct Open {
    node: Node,
    /// The key whose value comes next, in a map.
    key: Option<(String, u64)>,
    /// Where it is anchored; 0 where it isn't.
    anchor: usize,
}

#[derive(Default)]
struct Reader {
    open: Vec<Open>,
    root: Option<Node>,
    anchors: BTreeMap<usize, Node>,
    count: usize,
}

impl Reader {
    fn take(&mut self, event: Event<'_>, line: u64) -> Outcome<()> {
        match event {
            Event::MappingStart(..) | Event::SequenceStart(..) if self.open.len() >= MAX_DEPTH => {
                Err((line, format!("it is nested more than {MAX_DEPTH} deep")))
            }
            Event::MappingStart(anchor, _) => {
                self.open.push(Open { node: Node::Map(vec![]), key: None, anchor });
                Ok(())
            }
            Event::SequenceStart(anchor, _) => {
                self.open.push(Open { node: Node::List(vec![]), key: None, anchor });
                Ok(())
            }
            Event::MappingEnd | Event::SequenceEnd => match self.open.pop() {
                Some(closed) => self.put(closed.node, closed.anchor, line),
                None => Ok(()),
            },
            Event::Scalar(text, _, anchor, _) => {
                self.put(Node::Scalar(text.into_owned(), line), anchor, line)
            }
            Event::Alias(anchor) => match self.anchors.get(&anchor).cloned() {
                Some(node) => {
                    // It repeats all that its anchor holds, and is charged for it.
                    self.count = self.count.saturating_add(node.count());
                    self.put(node, 0, line)
                }
                None => Err((line, "an alias names what isn't there yet".to_owned())),
            },
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    /// Puts a value where it belongs: a key's, a list's, or the whole file's.
    fn put(&mut self, node: Node, anchor: usize, line: u64) -> Outcome<()> {
        self.count = self.count.saturating_add(1);
        if self.count > MAX_NODES {
            return Err((line, format!("it has more than {MAX_NODES} values")));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root.get_or_insert(node);
            return Ok(());
        };
        match (&mut open.node, open.key.take()) {
            (Node::List(items), _) => items.push(node),
            (Node::Map(entries), Some((key, at))) => {
                if key == "<<" {
                    merge(entries, node);
                } else {
                    entries.push((key, at, node));
                }
            }
            (Node::Map(_), None) => {
                let Node::Scalar(key, at) = node else {
                    return Err((line, "a key is no word".to_owned()));
                };
                open.key = Some((key, at));
            }
            (Node::Scalar(..), _) => {}
        }
        Ok(())
    }
}

/// `<<: *base`: the entries of one map, or of several, that aren't there. What stands in the map
/// behind it comes later, and the last entry of a key counts.
fn merge(entries: &mut Vec<(String, u64, Node)>, node: Node) {
    match node {
        Node::Map(merged) => {
            let own: BTreeSet<String> = entries.iter().map(|(key, _, _)| key.clone()).collect();
            entries.extend(merged.into_iter().filter(|(key, _, _)| !own.contains(key)));
        }
        Node::List(maps) => maps.into_iter().for_each(|map| merge(entries, map)),
        Node::Scalar(..) => {}
    }
}
