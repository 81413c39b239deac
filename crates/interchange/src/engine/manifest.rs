//! Manifests that start an engine: of Kubernetes, with its operators, and of Docker Compose.
//!
//! A container is whatever has an image with a command or arguments. What it starts is written as
//! the command that it is, and read as one.

use super::{MARKERS, start};
use crate::tree::Node;
use crate::yaml;

/// Maps within each other, at most.
const MAX_DEPTH: u32 = 40;

/// Bytes of a command whose references are followed, at most.
const MAX_COMMAND: usize = 16_384;

/// Launch of an engine by a manifest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Manifest {
    /// The engine.
    pub(super) engine: &'static str,
    /// Its command, as a shell would be given it.
    pub(super) script: String,
    /// The container's line, from 1.
    pub(super) line: u64,
    /// Devices of each container.
    pub(super) devices: Option<u64>,
    /// Pods that are one instance, and how many instances there are.
    pub(super) pods: u64,
    pub(super) replicas: u64,
    /// Other containers that start an engine.
    pub(super) others: usize,
}

/// Replication and devices of the resources around a container.
#[derive(Clone, Copy)]
struct Around {
    pods: u64,
    replicas: u64,
    devices: Option<u64>,
}

/// The container of a text that starts an engine: the one with the longest command.
pub(super) fn find(text: &str) -> Option<Manifest> {
    if let Some(made) = super::python::find(text) {
        return Some(made);
    }
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_one = has(&[
        "image:",
        "containers:",
        "\"image\"",
        "kind: ",
        "services:",
        "command:",
        "modelURL:",
        "engine_kwargs:",
    ]);
    let engines = [
        "vllm",
        "sglang",
        "trtllm",
        "lmdeploy",
        "InferenceService",
        "ray.serve.llm",
        "llm_configs",
    ];
    if !is_one || !has(&engines) || !is_yaml(text) {
        return None;
    }
    let mut found = Found::default();
    for (line, document) in yaml::documents(text) {
        if let Ok(tree) = yaml::read(&document) {
            let around = Around { pods: 1, replicas: 1, devices: None };
            walk(&tree, around, line, 0, &mut found);
        }
    }
    Some(Manifest { others: found.count.saturating_sub(1), ..found.longest? })
}

/// Containers that start an engine: the one with the longest command, and how many there are.
#[derive(Default)]
struct Found {
    longest: Option<Manifest>,
    count: usize,
}

fn is_yaml(text: &str) -> bool {
    let first = text.lines().find(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    first.is_some_and(|line| line.trim() == "---") || yaml::is_yaml(text)
}

fn number(node: &Node, key: &str) -> Option<u64> {
    match node.get(key)? {
        Node::Scalar(text, _) => text.trim_matches('"').parse().ok().filter(|count| *count > 0),
        Node::Map(_) | Node::List(_) => None,
    }
}

fn walk(node: &Node, around: Around, line: u64, depth: u32, found: &mut Found) {
    if depth > MAX_DEPTH {
        return;
    }
    match node {
        Node::Map(entries) => {
            let replicas = number(node, "replicas").unwrap_or(1).saturating_mul(around.replicas);
            let pods = number(node, "size").filter(|_| node.get("workerTemplate").is_some());
            let pods = pods.or_else(|| number(node, "nodeCount")).unwrap_or(around.pods);
            let devices = devices(node).or(around.devices);
            let around = Around { pods, replicas, devices };
            let own = container(node, around, line)
                .or_else(|| served(node, around, line))
                .or_else(|| configured(node, around, line));
            if let Some(own) = own {
                found.count += 1;
                let most = found.longest.as_ref().map_or(0, |it| it.script.len());
                if own.script.len() > most {
                    found.longest = Some(own);
                }
            }
            entries.iter().for_each(|it| walk(&it.2, around, line, depth + 1, found));
        }
        Node::List(items) => items.iter().for_each(|it| walk(it, around, line, depth + 1, found)),
        Node::Scalar(..) => {}
    }
}

/// Devices that a container asks for: `nvidia.com/gpu` and the like, or Compose's count.
fn devices(node: &Node) -> Option<u64> {
    let resources = node.get("resources").or_else(|| node.get("deploy")?.get("resources"))?;
    let limits = ["limits", "requests"].iter().find_map(|key| resources.get(key));
    let counted = limits.and_then(|limits| match limits {
        Node::Map(entries) => entries.iter().find_map(|(key, _, value)| match value {
            Node::Scalar(text, _) if yaml::is_device(key) => text.parse().ok(),
            Node::Scalar(..) | Node::Map(_) | Node::List(_) => None,
        }),
        Node::Scalar(..) | Node::List(_) => None,
    });
    counted.or_else(|| match resources.get("reservations")?.get("devices")? {
        Node::List(items) => items.iter().find_map(|item| number(item, "count")),
        Node::Map(_) | Node::Scalar(..) => None,
    })
}

/// The words of a list, or of one text.
fn words(node: Option<&Node>) -> (Vec<String>, bool, u64) {
    match node {
        Some(Node::List(items)) => {
            let mut line = 0;
            let words = items.iter().filter_map(|item| match item {
                Node::Scalar(text, at) => {
                    line = if line == 0 { *at } else { line };
                    Some(text.clone())
                }
                Node::Map(_) | Node::List(_) => None,
            });
            (words.collect(), false, line)
        }
        Some(Node::Scalar(text, line)) => (vec![text.clone()], true, *line),
        Some(Node::Map(_)) | None => (vec![], false, 0),
    }
}

fn container(node: &Node, around: Around, before: u64) -> Option<Manifest> {
    let keys = ["entrypoint", "command", "args"];
    let mut parts: Vec<String> = vec![];
    let mut is_script = false;
    let mut line = 0;
    for key in keys {
        let (words, is_text, at) = words(node.get(key));
        line = if line == 0 { at } else { line };
        for word in words {
            // What follows a shell's switch is its script.
            let is_shell = parts.iter().any(|it| it.ends_with("-c") || it.ends_with("-lc"));
            if is_text || (is_shell && !is_script) {
                is_script |= is_shell;
                parts.push(word);
            } else {
                parts.push(quoted(&word));
            }
        }
    }
    let script = parts.iter().position(|it| it.ends_with("-c") || it.ends_with("-lc"));
    let own = match script.filter(|_| is_script).and_then(|place| parts.get(place + 1..)) {
        Some(rest) => rest.join(" "),
        None => parts.join(" "),
    };
    let image = match node.get("image") {
        Some(Node::Scalar(text, at)) => {
            line = if line == 0 { *at } else { line };
            text.as_str()
        }
        Some(Node::Map(_) | Node::List(_)) | None => "",
    };
    let plain = own.replace(['\'', '"'], "");
    let marked = MARKERS.iter().find(|(_, words)| words.iter().any(|word| plain.contains(word)));
    let (engine, command) = match (marked, start::of_image(image)) {
        (Some((engine, _)), _) => (*engine, own),
        (None, Some(engine)) if !own.is_empty() => (engine, format!("{image} {own}")),
        (None, _) => return None,
    };
    let variables = environment(node);
    let mut script = String::new();
    for (name, value) in &variables {
        script.push_str(&format!("export {name}={}\n", quoted(value)));
    }
    let mut command = command;
    // References of Kubernetes, as far as they can't make a text grow without end.
    let short = variables.iter().filter(|(_, value)| value.len() < 256);
    for (name, value) in short.take(64).filter(|_| plain.contains("$(")) {
        if command.len() < MAX_COMMAND {
            command = command.replace(&format!("$({name})"), value);
        }
    }
    script.push_str(&command);
    let Around { pods, replicas, devices } = around;
    Some(Manifest { engine, script, line: before + line, devices, pods, replicas, others: 0 })
}

/// Launch of a model that KServe serves: its runtime of Hugging Face's models is vLLM, and so is
/// that of a service of language models, which has its layout apart.
///
/// Sources: KServe docs, "Hugging Face Runtime" and "LLMInferenceService".
fn served(node: &Node, around: Around, before: u64) -> Option<Manifest> {
    let model = node.get("model")?;
    let mut script = "vllm serve".to_owned();
    let line = if let Some(format) = model.get("modelFormat") {
        let (name, line) = format.get("name").and_then(Node::scalar)?;
        if !matches!(name, "huggingface" | "vLLM" | "vllm") {
            return None;
        }
        let stored = model.get("storageUri").and_then(Node::scalar).map(|(uri, _)| uri);
        if let Some(name) = stored.and_then(|uri| uri.strip_prefix("hf://")) {
            script.push_str(&format!(" {}", quoted(name)));
        }
        for argument in words(model.get("args")).0 {
            script.push_str(&format!(" {}", quoted(&argument)));
        }
        line
    } else {
        let (uri, line) = model.get("uri").and_then(Node::scalar)?;
        script.push_str(&format!(" {}", quoted(uri.trim_start_matches("hf://"))));
        let parallelism = node.get("parallelism")?;
        for (key, name) in [("tensor", "tensor"), ("pipeline", "pipeline"), ("data", "data")] {
            if let Some(size) = number(parallelism, key) {
                script.push_str(&format!(" --{name}-parallel-size {size}"));
            }
        }
        if parallelism
            .get("expert")
            .and_then(Node::scalar)
            .is_some_and(|(expert, _)| expert == "true")
        {
            script.push_str(" --enable-expert-parallel");
        }
        line
    };
    let devices = devices(model).or(around.devices);
    let Around { pods, replicas, .. } = around;
    let line = before + line;
    Some(Manifest { engine: "vllm", script, line, devices, pods, replicas, others: 0 })
}

/// Launch of a model by Ray Serve or vLLM's Helm chart, with the engine's arguments as keys.
///
/// Sources: Ray docs, "Serving LLMs", `LLMConfig`; vllm-project/production-stack,
/// `helm/values.yaml`, `servingEngineSpec.modelSpec`.
fn configured(node: &Node, around: Around, before: u64) -> Option<Manifest> {
    let loaded = node.get("model_loading_config").and_then(|model| {
        let uri = model
            .get("model_source")
            .and_then(Node::scalar)
            .or_else(|| model.get("model_id").and_then(Node::scalar))?;
        Some((uri, node.get("engine_kwargs")?))
    });
    let listed = || Some((node.get("modelURL").and_then(Node::scalar)?, node.get("vllmConfig")?));
    let ((model, line), settings) = loaded.or_else(listed)?;
    let mut script = format!("vllm serve {}", quoted(model));
    let Node::Map(entries) = settings else { return None };
    for (key, _, value) in entries.iter().take(64) {
        let Node::Scalar(value, _) = value else { continue };
        let mut name = String::new();
        for letter in key.chars() {
            match letter {
                '_' => name.push('-'),
                letter if letter.is_ascii_uppercase() => {
                    name.push('-');
                    name.push(letter.to_ascii_lowercase());
                }
                letter => name.push(letter),
            }
        }
        match value.as_str() {
            "true" => script.push_str(&format!(" --{name}")),
            "false" | "" | "null" => {}
            value => script.push_str(&format!(" --{name} {}", quoted(value))),
        }
    }
    for argument in words(settings.get("extraArgs")).0 {
        script.push_str(&format!(" {}", quoted(&argument)));
    }
    let replicas = number(node, "replicaCount").unwrap_or(1).saturating_mul(around.replicas);
    let devices = number(node, "requestGPU").or(around.devices);
    let (pods, line) = (around.pods, before + line);
    Some(Manifest { engine: "vllm", script, line, devices, pods, replicas, others: 0 })
}

/// The variables of a container that have a value.
fn environment(node: &Node) -> Vec<(String, String)> {
    let scalar = |node: &Node| match node {
        Node::Scalar(text, _) => Some(text.clone()),
        Node::Map(_) | Node::List(_) => None,
    };
    let is_name = |name: &String| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let found: Vec<(String, String)> = match node.get("env").or_else(|| node.get("environment")) {
        Some(Node::List(items)) => items
            .iter()
            .filter_map(|item| match item {
                Node::Scalar(text, _) => {
                    let (name, value) = text.split_once('=')?;
                    Some((name.to_owned(), value.to_owned()))
                }
                Node::Map(_) | Node::List(_) => {
                    Some((scalar(item.get("name")?)?, scalar(item.get("value")?)?))
                }
            })
            .collect(),
        Some(Node::Map(entries)) => {
            entries.iter().filter_map(|it| Some((it.0.clone(), scalar(&it.2)?))).collect()
        }
        Some(Node::Scalar(..)) | None => vec![],
    };
    found
        .into_iter()
        .filter(|(name, value)| is_name(name) && value.len() < 4_096)
        .take(200)
        .collect()
}

/// A word as a shell takes it for one.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
