//! A job of Kubernetes: the command in its containers, and the devices that they ask for.
//!
//! Sources: Kubernetes' `PodSpec`, `Job` and `ConfigMap`; Kubeflow's `PyTorchJob`, `MPIJob` and
//! `TrainJob` (`trainer.numNodes`, `numProcPerNode`, `resourcesPerNode`); Volcano's `Job`; JobSet.

use std::rc::Rc;

use super::job::{Job, Said};
use super::reader::Reader;
use super::script::Script;
use super::word::{Text, Word};
use crate::tree::Node;
use crate::yaml;

/// Containers of a manifest, and variables of each by four, at most.
const MAX_PARTS: usize = 64;

/// Sections within each other, at most; YAML's reader has a limit of its own.
const MAX_DEPTH: u32 = 40;

/// Keys that say how often what stands beside or below them runs.
const COPIES: [&str; 3] = ["replicas", "numNodes", "parallelism"];

/// Whether a text is a manifest.
pub(crate) fn is_manifest(text: &str) -> bool {
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    has("apiVersion:") && has("kind:")
}

/// A container, and how often it runs.
struct Container<'a> {
    node: &'a Node,
    copies: u64,
    copies_line: u64,
}

/// Reads a manifest as the script of its containers.
pub(super) fn read(text: &str, script: Script) -> Script {
    let mut reader =
        Reader { letters: &[], lines: &[], at: 0, line: 1, script, frames: vec![], depth: 0 };
    let mut trees = vec![];
    for (first, part) in yaml::documents(text) {
        match yaml::read(&part) {
            Ok(tree) => trees.push((tree, first)),
            Err((line, detail)) => {
                let detail = format!("the text is no YAML that is read here: {detail}");
                reader.script.fail(first + line, detail);
            }
        }
    }
    for (tree, first) in &trees {
        reader.manifest(tree, *first);
    }
    reader.script
}

fn number(node: &Node, key: &str) -> Option<(u64, u64)> {
    let (value, line) = node.entry(key)?;
    Some((value.scalar()?.0.parse().ok()?, line))
}

/// Every container, with the copies of the nearest section around it that says how many.
fn containers<'a>(node: &'a Node, copies: (u64, u64), depth: u32, made: &mut Vec<Container<'a>>) {
    if depth > MAX_DEPTH || made.len() >= MAX_PARTS {
        return;
    }
    match node {
        Node::Map(entries) => {
            let own = COPIES.iter().find_map(|key| number(node, key)).unwrap_or(copies);
            if node.get("numNodes").is_some() {
                made.push(Container { node, copies: own.0, copies_line: own.1 });
            }
            for (key, _, inner) in entries {
                if let ("containers", Node::List(items)) = (key.as_str(), inner) {
                    let each = items.iter().take(MAX_PARTS);
                    made.extend(each.map(|node| Container {
                        node,
                        copies: own.0,
                        copies_line: own.1,
                    }));
                } else {
                    containers(inner, own, depth + 1, made);
                }
            }
        }
        Node::List(items) => {
            items.iter().for_each(|item| containers(item, copies, depth + 1, made));
        }
        Node::Scalar(..) => {}
    }
}

/// The devices that a container asks for, with their key and line.
fn devices(node: &Node) -> Option<(u64, &str, u64)> {
    let all = node.get("resources").or_else(|| node.get("resourcesPerNode"))?;
    let mut parts = ["limits", "requests"].iter().filter_map(|key| all.get(key));
    parts.find_map(|part| {
        let Node::Map(entries) = part else { return None };
        entries.iter().filter(|(key, ..)| yaml::is_device(key)).find_map(|(key, line, node)| {
            let count = node.scalar()?.0.parse().ok().filter(|count| *count > 0)?;
            Some((count, key.as_str(), *line))
        })
    })
}

/// The words of `command` or `args`, those of several lines with a line for each letter.
fn words(node: &Node, key: &str, first: u64) -> Vec<Text> {
    let Some(node) = node.get(key) else { return vec![] };
    let items = match node {
        Node::List(items) => items.as_slice(),
        Node::Scalar(..) => std::slice::from_ref(node),
        Node::Map(_) => &[],
    };
    let marked = |item: &Node| {
        let (text, line) = item.scalar()?;
        // A block begins behind the line of its sign.
        let mut line = first + line + u64::from(text.trim_end().contains('\n'));
        let marks = text.chars().map(|letter| {
            let own = line;
            line += u64::from(letter == '\n');
            (letter, own)
        });
        Some(marks.collect())
    };
    items.iter().filter_map(marked).collect()
}

impl Reader<'_> {
    fn manifest(&mut self, tree: &Node, first: u64) {
        let is_map = tree.get("kind").and_then(Node::scalar).is_some_and(|it| it.0 == "ConfigMap");
        if let Some(Node::Map(entries)) = tree.get("data").filter(|_| is_map) {
            for (name, line, text) in entries {
                if let Some((text, _)) = text.scalar() {
                    self.keep(name.clone(), text.to_owned(), first + line, false);
                }
            }
        }
        let mut found = vec![];
        containers(tree, (1, 0), 0, &mut found);
        let outer = Rc::clone(&self.script.job);
        let mut job = self.size(&found, first);
        if let Some((each, line)) =
            tree.get("spec").and_then(|spec| number(spec.get("trainer")?, "numProcPerNode"))
        {
            job.devices_per_node = Said::new(each, "numProcPerNode", first + line);
        }
        self.script.job = Rc::new(job);
        for container in &found {
            self.container(container, first);
        }
        self.script.job = outer;
    }

    /// The nodes and devices of all containers together.
    fn size(&self, found: &[Container<'_>], first: u64) -> Job {
        let mut job = (*self.script.job).clone();
        let mut nodes = 0_u64;
        let (mut all, mut each) = (0_u64, vec![]);
        for container in found {
            let Some((count, key, line)) = devices(container.node) else { continue };
            nodes = nodes.saturating_add(container.copies);
            all = all.saturating_add(container.copies.saturating_mul(count));
            each.push(count);
            let at = first + line;
            let copies_at =
                if container.copies_line > 0 { first + container.copies_line } else { at };
            job.nodes = Said::new(nodes, "replicas", copies_at);
            job.devices = Said::new(all, &format!("replicas x {key}"), copies_at);
            job.devices_per_node = Said::new(count, key, at);
        }
        let first = each.first().copied();
        if each.iter().any(|count| Some(*count) != first) {
            // Pods of several sizes.
            job.devices_per_node = None;
            job.nodes = None;
        }
        job
    }

    fn container(&mut self, container: &Container<'_>, first: u64) {
        let node = container.node;
        if let Some(Node::List(items)) = node.get("env") {
            for item in items.iter().take(MAX_PARTS * 4) {
                let text = |key: &str| item.get(key)?.scalar();
                if let (Some((name, _)), Some((value, line))) = (text("name"), text("value"))
                    && !self.script.answered.contains(name)
                {
                    let marks = value.chars().map(|letter| (letter, first + line)).collect();
                    self.script.assign(name.to_owned(), vec![marks], false);
                }
            }
        }
        let mut texts = words(node, "command", first);
        let image = node.get("image").and_then(Node::scalar);
        if texts.is_empty() {
            // The image's own command, as a container's runtime would start it.
            let Some((image, line)) = image else { return };
            let own = ["docker", "run", image]
                .map(|word| word.chars().map(|letter| (letter, first + line)).collect::<Text>());
            texts.extend(own);
        }
        texts.extend(words(node, "args", first));
        let mut strings = vec![];
        let mut made: Vec<Word> = vec![];
        for text in texts {
            // `$(NAME)` is Kubernetes' own way to say `${NAME}`.
            let word: String = text.iter().map(|(letter, _)| *letter).collect();
            let line = text.first().map_or(first, |(_, line)| *line);
            if word.contains(char::is_whitespace) {
                strings.push((made.len(), text));
                made.push((word, line));
            } else {
                let word = match word.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')) {
                    Some(name) => self.named(name),
                    None => word,
                };
                made.push((word, line));
            }
        }
        self.spend(made.len(), first);
        self.started(made, &strings);
    }

    fn named(&self, name: &str) -> String {
        let value = self.script.variables.get(name).and_then(|elements| elements.first());
        value.map_or_else(|| format!("${{{name}}}"), |text| text.iter().map(|(c, _)| *c).collect())
    }
}
