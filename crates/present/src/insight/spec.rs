//! A spec as a tree of words and numbers: read from text, and changed part by part.

pub mod space;
pub mod toml_text;

use model::design::file::{self, Extent, Tree, json};
use model::design::{Design, KnobId};
use model::ground::choice::{Choice, RecomputeGranularity};
use model::ground::decimal;
use model::ground::knob::Value;

use crate::insight::spec::space::entries;
use crate::words::name;

/// Reads a spec's text, TOML or JSON, without looking at what it means.
///
/// # Errors
/// In a sentence: it is neither.
pub fn parse(text: &str) -> Result<Tree, String> {
    if text.trim_start().starts_with('{') {
        return json::parse(text).map_err(|error| error.detail);
    }
    toml::from_str::<Tree>(text).map_err(|error| error.to_string().trim_end().to_owned())
}

/// The text of a spec.
#[must_use]
pub fn print(tree: &Tree) -> String {
    toml_text::print(tree)
}

/// A spec to begin with: what one would try first around a design.
#[must_use]
pub fn around(design: &Design) -> Tree {
    let mut base = file::write(design, Extent::Changed);
    if let Tree::Map(entries) = &mut base {
        entries.retain(|(key, _)| key != "schema");
    }
    let mut spec = Tree::map([
        ("schema", Tree::Unsigned(1)),
        ("name", Tree::from(format!("Strategies for {}", name::subject(design)).as_str())),
        ("objectives", Tree::list(["mfu max", "memory_peak_bytes min"])),
        ("constraints", Tree::list(["fits"])),
        ("design", base),
    ]);
    set(&mut spec, &["design", "schedule", "timing"], Some("closed_form".into()));
    let powers = |to: u64| {
        Tree::map([("powers_of_two", Tree::List(vec![Tree::Unsigned(1), Tree::Unsigned(to)]))])
    };
    let numbers =
        |all: &[u64]| Tree::List(all.iter().map(|number| Tree::Unsigned(*number)).collect());
    let space = [
        (KnobId::tensor_model_parallel_size, powers(16)),
        (KnobId::pipeline_model_parallel_size, powers(64)),
        (KnobId::virtual_pipeline_model_parallel_size, numbers(&[1, 2, 4])),
        (KnobId::expert_model_parallel_size, powers(64)),
        (KnobId::micro_batch_size, numbers(&[1, 2, 4])),
        (KnobId::noop_layers, Tree::map([("fill", Tree::from("chunks"))])),
    ];
    for (knob, value) in space {
        let row = knob.knob();
        set(&mut spec, &["space", row.section.name(), row.name], Some(value));
    }
    // What a design leaves at its neutral value is no decision, such as of one that a
    // `config.json` was made into: it varies.
    if !design.parallel.sequence_parallel {
        vary(&mut spec, KnobId::sequence_parallel, &[false, true].map(Value::Flag));
    }
    if design.memory.recompute_granularity == RecomputeGranularity::None {
        let values = [RecomputeGranularity::None, RecomputeGranularity::Full];
        let values = values.map(|value| Value::Text(value.name().to_owned()));
        vary(&mut spec, KnobId::recompute_granularity, &values);
    }
    spec
}

/// Lets a knob vary over these values, unless it does already.
pub fn vary(spec: &mut Tree, knob: KnobId, values: &[Value]) {
    let known = entries(spec).iter().any(|entry| entry.knob == Some(knob));
    if !known && !values.is_empty() {
        let row = knob.knob();
        let list = Tree::List(values.iter().map(Tree::from).collect());
        set(spec, &["space", row.section.name(), row.name], Some(list));
    }
}

/// Subtree at a path.
#[must_use]
pub fn at<'a>(tree: &'a Tree, path: &[&str]) -> Option<&'a Tree> {
    path.iter().try_fold(tree, |tree, key| tree.get(key))
}

/// Puts something at a path, or takes away what is there; maps on the way are made, and empty ones
/// go with what was last in them.
pub fn set(tree: &mut Tree, path: &[&str], value: Option<Tree>) {
    let Some((key, rest)) = path.split_first() else { return };
    if !matches!(tree, Tree::Map(_)) {
        *tree = Tree::Map(vec![]);
    }
    let Tree::Map(entries) = tree else { return };
    let place = entries.iter().position(|(known, _)| known == key);
    match (rest.is_empty(), place, value) {
        (true, Some(place), Some(value)) => entries[place].1 = value,
        (true, Some(place), None) => drop(entries.remove(place)),
        (true, None, Some(value)) => entries.push(((*key).to_owned(), value)),
        (true | false, None, None) => {}
        (false, None, Some(value)) => {
            let mut below = Tree::Map(vec![]);
            set(&mut below, rest, Some(value));
            entries.push(((*key).to_owned(), below));
        }
        (false, Some(place), value) => {
            set(&mut entries[place].1, rest, value);
            if entries[place].1 == Tree::Map(vec![]) {
                entries.remove(place);
            }
        }
    }
}

/// The strings of a list.
#[must_use]
pub fn texts(tree: &Tree, key: &str) -> Vec<String> {
    match tree.get(key) {
        Some(Tree::List(items)) => {
            items.iter().map(|item| item.as_text().unwrap_or_default().to_owned()).collect()
        }
        _ => vec![],
    }
}

/// A number that someone typed: whole where it is.
#[must_use]
pub fn number(text: &str) -> Tree {
    let text = text.trim();
    let plain = text.replace([',', '_'], "");
    if let Ok(number) = plain.parse::<u64>() {
        return Tree::Unsigned(number);
    }
    match decimal::parse(&plain) {
        Some(number) if number.is_finite() => Tree::Real(number),
        // The server says what is wrong with it.
        _ => Tree::Text(text.to_owned()),
    }
}

/// A scalar as a box shows it.
#[must_use]
pub fn shown(tree: &Tree) -> String {
    match tree {
        Tree::Null => String::new(),
        Tree::Flag(flag) => flag.to_string(),
        Tree::Unsigned(number) => number.to_string(),
        Tree::Negative(number) => number.to_string(),
        Tree::Real(number) => number.to_string(),
        Tree::Text(text) => text.clone(),
        Tree::List(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        Tree::Map(_) => "{…}".to_owned(),
    }
}

/// Values one by one: `1, 2, 4` or `none, [moe_act], [moe_permute, moe_act]`.
#[must_use]
pub fn values(text: &str) -> Vec<Tree> {
    let (mut parts, mut part, mut depth) = (Vec::new(), String::new(), 0_u32);
    for letter in text.chars() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(letter);
    }
    parts.push(part);
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.map(value).collect()
}

fn value(text: &str) -> Tree {
    if let Some(inner) = text.strip_prefix('[') {
        return Tree::List(values(inner.trim_end_matches(']')));
    }
    match text {
        "true" => Tree::Flag(true),
        "false" => Tree::Flag(false),
        text => number(text.trim_matches('"')),
    }
}
