//! TOML of other frameworks: torchtitan's job files.

use crate::tree::Node;

/// Is a text TOML: does it have a table's head and read as one?
pub(crate) fn is_toml(text: &str) -> bool {
    let has_head = text.lines().any(|line| {
        let line = line.trim();
        line.starts_with('[') && line.ends_with(']') && !line.contains([' ', '=', '$', '-'])
    });
    has_head && toml::from_str::<toml::Table>(text).is_ok()
}

/// The tree of a text that is TOML.
pub(crate) fn read(text: &str) -> Node {
    let table = toml::from_str::<toml::Table>(text).unwrap_or_default();
    node(text, &toml::Value::Table(table), 0)
}

fn node(text: &str, value: &toml::Value, line: u64) -> Node {
    match value {
        toml::Value::Table(table) => {
            let entries = table.iter().map(|(key, value)| {
                let line = line_of(text, key);
                (key.clone(), line, node(text, value, line))
            });
            Node::Map(entries.collect())
        }
        toml::Value::Array(items) => {
            Node::List(items.iter().take(4_096).map(|item| node(text, item, line)).collect())
        }
        toml::Value::String(word) => Node::Scalar(word.clone(), line),
        toml::Value::Integer(number) => Node::Scalar(number.to_string(), line),
        toml::Value::Float(number) => Node::Scalar(number.to_string(), line),
        toml::Value::Boolean(flag) => Node::Scalar(flag.to_string(), line),
        toml::Value::Datetime(_) => Node::Scalar(String::new(), line),
    }
}

/// The only line on which a key stands, from 1; 0 where there are more.
fn line_of(text: &str, key: &str) -> u64 {
    let is_key = |line: &&str| {
        let line = line.trim_start().trim_start_matches(['[', '"']);
        line.strip_prefix(key)
            .is_some_and(|rest| rest.trim_start_matches('"').trim_start().starts_with(['=', ']']))
    };
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| is_key(line));
    match (lines.next(), lines.next()) {
        (Some((line, _)), None) => line,
        _ => 0,
    }
}
