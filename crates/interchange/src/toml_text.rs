//! TOML of other frameworks: torchtitan's job files.

use toml::de::{DeTable, DeValue};

use crate::tree::Node;

/// Whether a text is TOML: it has a table's head and reads as one.
pub(crate) fn is_toml(text: &str) -> bool {
    let has_head = text.lines().any(|line| {
        let line = line.trim();
        line.starts_with('[') && line.ends_with(']') && !line.contains([' ', '=', '$', '-'])
    });
    has_head && toml::from_str::<toml::Table>(text).is_ok()
}

/// The tree of a text that is TOML.
pub(crate) fn read(text: &str) -> Node {
    let lines = Lines::of(text);
    DeTable::parse(text).map_or(Node::Map(vec![]), |table| map(table.get_ref(), &lines))
}

/// Where each line behind the first begins, in bytes: a text may have a hundred thousand keys, each
/// of which is on one.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at + 1).collect())
    }

    /// The line of a byte, from 1.
    fn line(&self, at: usize) -> u64 {
        1 + self.0.partition_point(|start| *start <= at) as u64
    }
}

fn map(table: &DeTable<'_>, lines: &Lines) -> Node {
    let entries = table.iter().map(|(key, value)| {
        let line = lines.line(key.span().start);
        (key.get_ref().to_string(), line, node(value.get_ref(), line, lines))
    });
    Node::Map(entries.collect())
}

fn node(value: &DeValue<'_>, line: u64, lines: &Lines) -> Node {
    let scalar = |word: String| Node::Scalar(word, line);
    match value {
        DeValue::Table(table) => map(table, lines),
        DeValue::Array(items) => {
            let items = items.iter().take(4_096);
            Node::List(items.map(|item| node(item.get_ref(), line, lines)).collect())
        }
        DeValue::String(word) => scalar(word.to_string()),
        // As a number is written in base ten.
        DeValue::Integer(number) => {
            let value = i64::from_str_radix(number.as_str(), number.radix());
            scalar(value.map_or_else(|_| number.to_string(), |value| value.to_string()))
        }
        DeValue::Float(number) => {
            let value = number.as_str().parse::<f64>();
            scalar(value.map_or_else(|_| number.to_string(), |value| value.to_string()))
        }
        DeValue::Boolean(flag) => scalar(flag.to_string()),
        DeValue::Datetime(_) => scalar(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_line_and_a_number_is_in_base_ten() {
        let text = "a = 0x10\n[b.c]\r\na = 1_000\n\"d e\" = [\n 1,\n 2]\n[[f]]\na = 1e3\n";
        let Node::Map(entries) = read(text) else { panic!("no map") };
        let word = |text: &str, line| Node::Scalar(text.to_owned(), line);
        let of = |key: &str, line, node| (key.to_owned(), line, node);
        let list = Node::List(vec![word("1", 4), word("2", 4)]);
        let inner = Node::Map(vec![of("a", 3, word("1000", 3)), of("d e", 4, list)]);
        let last = Node::List(vec![Node::Map(vec![of("a", 8, word("1000", 8))])]);
        assert_eq!(
            entries,
            [
                of("a", 1, word("16", 1)),
                of("b", 2, Node::Map(vec![of("c", 2, inner)])),
                of("f", 7, last)
            ]
        );
    }
}
