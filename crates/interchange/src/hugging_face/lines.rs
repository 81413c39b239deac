//! The lines of a configuration's keys.

use std::collections::HashMap;

use super::text::end_of_string;

/// The line where each key first stands as one, found in one pass over the text.
pub(super) struct Lines<'a>(HashMap<&'a str, u64>);

impl<'a> Lines<'a> {
    /// Lines of the keys of a JSON text.
    pub(super) fn new(text: &'a str) -> Self {
        let mut lines = HashMap::new();
        let (mut line, mut rest) = (1, text);
        while let Some((before, behind)) = rest.split_once('"') {
            line += before.bytes().filter(|b| *b == b'\n').count() as u64;
            let end = end_of_string(behind.as_bytes());
            let (key, after) = behind.split_at(end);
            rest = after.strip_prefix('"').unwrap_or_default();
            if rest.trim_start().starts_with(':') {
                lines.entry(key).or_insert(line);
            }
        }
        Self(lines)
    }

    /// The line of a key that may stand in a map, `map.key`.
    pub(super) fn of_path(&self, path: &str) -> u64 {
        self.get(path.rsplit('.').next().unwrap_or(path))
    }

    /// A key's line, from 1; 0 where it is escaped.
    pub(super) fn get(&self, key: &str) -> u64 {
        self.0.get(key).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_the_line_where_it_first_stands_as_one() {
        let text = "{\"a\": \"b\",\n\"c\\\"d\\\\\": {\n\"b\"\n: 1, \"a\": 2}}";
        let lines = Lines::new(text);
        assert_eq!([lines.get("a"), lines.get("b"), lines.get("d")], [1, 3, 0]);
    }
}
