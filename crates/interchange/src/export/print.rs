//! Files of other frameworks: YAML, TOML, JSON and Python.

use core::fmt::Write as _;

use model::design::Design;

use super::Target;
use crate::comment::in_json;
use crate::recipe::CONSTANTS;

/// A value at its path.
pub(super) struct Entry {
    /// Keys with points between, `parallel_config.model_parallel`.
    pub(super) path: String,
    /// Its value, or those of a list.
    pub(super) values: Vec<String>,
}

impl Entry {
    fn section(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(section, _)| section)
    }

    fn key(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(&self.path)
    }
}

/// A file of its parts: what it begins with, what it is, what it ends with.
pub(super) fn whole(target: Target, head: &[String], body: &str, tail: &[String]) -> String {
    if target == Target::Deepspeed {
        return json_with(head, body, tail);
    }
    let text = plain(head, body, tail);
    let is_script = matches!(target, Target::Megatron | Target::Mindspeed);
    if is_script { format!("#!/bin/bash\n{text}") } else { text }
}

/// A file of its parts, as [`whole`], in a format whose comments begin with `#`.
pub(super) fn plain(head: &[String], body: &str, tail: &[String]) -> String {
    let mut text = String::new();
    let comments = |text: &mut String, lines: &[String]| {
        for line in lines {
            // Writing to a string can't fail.
            let _ = writeln!(text, "{}", format!("# {line}").trim_end());
        }
    };
    comments(&mut text, head);
    text.push('\n');
    text.push_str(body);
    if !tail.is_empty() {
        text.push('\n');
    }
    comments(&mut text, tail);
    text
}

/// Body of a target's file, without its comments.
pub(super) fn body(target: Target, design: &Design, entries: &[Entry]) -> String {
    match target {
        Target::Bridge => python(design, entries),
        Target::Torchtitan => toml(entries),
        Target::Deepspeed => tree(entries, "", 1, &Style::JSON),
        Target::Megatron | Target::Mindspeed | Target::Mindformers | Target::Accelerate => {
            tree(entries, "", 0, &Style::YAML)
        }
    }
}

fn is_bare(word: &str) -> bool {
    let is_number = word.parse::<f64>().is_ok_and(f64::is_finite)
        && word.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    is_number || matches!(word, "true" | "false")
}

fn quoted(word: &str) -> String {
    if is_bare(word) { word.to_owned() } else { text(word) }
}

/// A string of JSON, TOML, YAML and Python alike.
fn text(word: &str) -> String {
    format!("\"{}\"", in_json(word))
}

fn value(values: &[String]) -> String {
    match values {
        [one] => quoted(one),
        several => {
            let words: Vec<String> = several.iter().map(|word| quoted(word)).collect();
            format!("[{}]", words.join(", "))
        }
    }
}

/// Syntax in which a tree is written.
struct Style {
    key: fn(&str) -> String,
    open: &'static str,
    close: &'static str,
    between: &'static str,
}

impl Style {
    const YAML: Self = Self { key: |key| format!("{key}:"), open: "", close: "", between: "" };
    const JSON: Self =
        Self { key: |key| format!("\"{key}\":"), open: " {", close: "}", between: "," };
}

/// Keys under keys. Those of one section stand together, in the order of their first.
fn tree(entries: &[Entry], under: &str, depth: usize, style: &Style) -> String {
    let gap = "  ".repeat(depth);
    let mut lines: Vec<String> = vec![];
    let mut seen: Vec<&str> = vec![];
    for entry in entries {
        let Some(rest) = entry.path.strip_prefix(under) else { continue };
        let Some((section, _)) = rest.split_once('.') else {
            lines.push(format!("{gap}{} {}", (style.key)(rest), value(&entry.values)));
            continue;
        };
        if seen.contains(&section) {
            continue;
        }
        seen.push(section);
        let inner = tree(entries, &format!("{under}{section}."), depth + 1, style);
        let inner = inner.trim_end();
        let close =
            if style.close.is_empty() { String::new() } else { format!("\n{gap}{}", style.close) };
        lines.push(format!("{gap}{}{}\n{inner}{close}", (style.key)(section), style.open));
    }
    lines.join(&format!("{}\n", style.between)) + "\n"
}

/// JSON has no comments: they are a list of its own, which DeepSpeed doesn't read.
fn json_with(head: &[String], body: &str, tail: &[String]) -> String {
    let mut lines: Vec<String> = head.to_vec();
    lines.extend(tail.iter().cloned());
    let lines: Vec<String> =
        lines.iter().map(|line| format!("    \"# {}\"", in_json(line))).collect();
    format!("{{\n{},\n  \"moescape\": [\n{}\n  ]\n}}\n", body.trim_end(), lines.join(",\n"))
}

fn toml(entries: &[Entry]) -> String {
    let mut sections: Vec<&str> = vec![];
    for entry in entries {
        if !sections.contains(&entry.section()) {
            sections.push(entry.section());
        }
    }
    let mut text = String::new();
    for (index, section) in sections.iter().enumerate() {
        let gap = if index > 0 { "\n" } else { "" };
        let _ = writeln!(text, "{gap}[{section}]");
        for entry in entries.iter().filter(|entry| entry.section() == *section) {
            let list = entry.key() == "converters";
            let written = value(&entry.values);
            let written = if list { format!("[{written}]") } else { written };
            let _ = writeln!(text, "{} = {written}", entry.key());
        }
    }
    text
}

/// A recipe: the model's own fields as arguments of its provider, the rest as assignments.
fn python(design: &Design, entries: &[Entry]) -> String {
    let provider = if design.transformer.multi_latent_attention {
        "MLAModelProvider"
    } else {
        "GPTModelProvider"
    };
    let module =
        if design.transformer.multi_latent_attention { "mla_provider" } else { "gpt_provider" };
    let dtypes = entries.iter().any(|entry| entry.path.ends_with("_dtype"));
    let backend = entries.iter().any(|entry| entry.path == "attention_backend");
    let mut text = String::new();
    if dtypes {
        text.push_str("import torch\n\n");
    }
    if backend {
        text.push_str("from megatron.core.transformer.enums import AttnBackend\n");
    }
    let _ = writeln!(text, "from megatron.bridge.models.{module} import {provider}");
    text.push_str("from megatron.bridge.recipes.common import _pretrain_common\n");
    text.push_str("from megatron.bridge.training.comm_overlap import CommOverlapConfig\n");
    text.push_str("from megatron.bridge.training.config import ConfigContainer\n\n\n");
    let world = design.cluster.num_devices;
    let _ = writeln!(text, "def moescape_pretrain_{world}gpus_config() -> ConfigContainer:");
    text.push_str("    cfg = _pretrain_common()\n");
    let _ = writeln!(text, "    cfg.model = {provider}(");
    let of_model = |entry: &&Entry| entry.section().is_empty() && entry.path != "mixed_precision";
    for entry in entries.iter().filter(of_model) {
        let _ = writeln!(text, "        {}={},", entry.path, literal(entry));
    }
    text.push_str("    )\n");
    let _ = writeln!(text, "    cfg.dataset.seq_length = {}", design.training.seq_length);
    if entries.iter().any(|entry| entry.section() == "comm_overlap") {
        // It has no fields before it is made.
        text.push_str("    cfg.comm_overlap = CommOverlapConfig(tp_comm_overlap=False)\n");
    }
    for entry in entries.iter().filter(|entry| !of_model(entry)) {
        let _ = writeln!(text, "    cfg.{} = {}", entry.path, literal(entry));
    }
    text.push_str("    return cfg\n");
    text
}

/// A value in Python.
fn literal(entry: &Entry) -> String {
    let list = entry.key() == "recompute_modules" || entry.values.len() > 1;
    let words: Vec<String> = entry.values.iter().map(|word| word_of(entry.key(), word)).collect();
    let joined = words.join(", ");
    if list { format!("[{joined}]") } else { joined }
}

/// Whether a pattern of layers may have a character.
fn is_of_pattern(c: char) -> bool {
    c.is_ascii_digit() || "()[]*+,-. ".contains(c)
}

fn word_of(key: &str, word: &str) -> String {
    if key.ends_with("_dtype") || key == "attention_backend" {
        let theirs = CONSTANTS.iter().find(|(_, ours)| *ours == word);
        return theirs.map_or_else(|| text(word), |(theirs, _)| (*theirs).to_owned());
    }
    match word {
        "true" => "True".to_owned(),
        "false" => "False".to_owned(),
        _ if key == "window_size" => format!("({})", word.replace(',', ", ")),
        // Patterns of layers are lists that Python makes.
        _ if word.starts_with("([") && word.chars().all(is_of_pattern) => word.to_owned(),
        _ => quoted(word),
    }
}
