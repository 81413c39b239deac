//! The text of a `config.json` as JSON that isn't longer than what is read of it.
//!
//! Python's `json.dump` writes numbers that JSON doesn't have, and a quantised model's file lists
//! each of its modules, tens of thousands.

use std::borrow::Cow;

use crate::draft::MAX_KEYS;

/// Items of a list or map that are kept; a list of layers has a thousand, and a map of more keys
/// than are read is still found to be one.
const MAX_ITEMS: usize = 2 * MAX_KEYS;

/// Items of all lists and maps together that are kept.
const MAX_KEPT: usize = 1 << 18;

/// Lists and maps in one another, at most.
const MAX_DEPTH: usize = 100;

/// Python's spellings of numbers that are not finite, read as `null`: they limit nothing.
///
/// Source: CPython `Lib/json/encoder.py`, `floatstr`.
const NOT_FINITE: [&str; 3] = ["NaN", "Infinity", "-Infinity"];

/// The JSON of a text in one pass: without items past those that are kept, and with `null` for
/// numbers that are not finite. Lines stay where they are.
///
/// # Errors
/// Nested or filled beyond what any model's file is.
pub(super) fn json(text: &str) -> Result<Cow<'_, str>, String> {
    let text = text.trim_end_matches('\0');
    let mut cut = Cut { text, made: String::new(), kept_to: 0, open: vec![], cut_at: None, all: 0 };
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'"' => 2 + end_of_string(bytes.get(at + 1..).unwrap_or_default()),
            b'N' | b'I' | b'-' => cut.number(at),
            _ => {
                cut.mark(*byte, at)?;
                1
            }
        };
    }
    if cut.kept_to == 0 {
        return Ok(Cow::Borrowed(text));
    }
    cut.keep(text.len());
    Ok(Cow::Owned(cut.made))
}

/// Number of bytes before the quote that closes a string.
pub(super) fn end_of_string(bytes: &[u8]) -> usize {
    let mut escaped = false;
    let closes = |letter: &u8| {
        let closes = *letter == b'"' && !escaped;
        escaped = *letter == b'\\' && !escaped;
        closes
    };
    bytes.iter().position(closes).unwrap_or(bytes.len())
}

/// A text, and what is kept of it so far.
struct Cut<'a> {
    text: &'a str,
    made: String,
    /// Up to here the text is in `made`, or dropped.
    kept_to: usize,
    /// Items in front of this place, for each list or map around it.
    open: Vec<usize>,
    /// Number of open lists and maps where items are dropped.
    cut_at: Option<usize>,
    all: usize,
}

impl Cut<'_> {
    /// Keeps the text up to a place.
    fn keep(&mut self, at: usize) {
        if self.cut_at.is_none() {
            self.made.push_str(self.text.get(self.kept_to..at).unwrap_or_default());
        }
        self.kept_to = at;
    }

    /// Reads what may be a number that is not finite; its length.
    fn number(&mut self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let Some(name) = NOT_FINITE.iter().find(|name| rest.starts_with(**name)) else { return 1 };
        if self.cut_at.is_none() {
            self.keep(at);
            self.made.push_str("null");
            self.kept_to = at + name.len();
        }
        name.len()
    }

    /// Reads a mark between values.
    fn mark(&mut self, byte: u8, at: usize) -> Result<(), String> {
        match byte {
            b'[' | b'{' if self.open.len() == MAX_DEPTH => {
                return Err(format!("lists and maps stand in one another {MAX_DEPTH} times"));
            }
            b'[' | b'{' => self.open.push(0),
            b']' | b'}' => {
                if self.cut_at == Some(self.open.len()) {
                    self.keep(at);
                    self.cut_at = None;
                }
                self.open.pop();
            }
            b',' => return self.item(at),
            b'\n' if self.cut_at.is_some() => self.made.push('\n'),
            _ => {}
        }
        Ok(())
    }

    /// Counts an item that ends.
    fn item(&mut self, at: usize) -> Result<(), String> {
        if self.cut_at.is_some() {
            return Ok(());
        }
        let Some(items) = self.open.last_mut() else { return Ok(()) };
        *items += 1;
        self.all += 1;
        if *items == MAX_ITEMS {
            self.keep(at);
            self.cut_at = Some(self.open.len());
        } else if self.all > MAX_KEPT {
            return Err(format!("more than {MAX_KEPT} values; a model's file has a few hundred"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_writes_for_numbers_that_are_not_finite_is_null_but_in_strings() {
        let text = r#"{"a": [0.0, Infinity, -Infinity], "NaN": NaN, "b\"": "-Infinity \" NaN"}"#;
        let read = r#"{"a": [0.0, null, null], "NaN": null, "b\"": "-Infinity \" NaN"}"#;
        assert_eq!(json(text).as_deref(), Ok(read));
    }

    #[test]
    fn items_past_those_that_are_kept_are_dropped_and_lines_stay() {
        let items = "\"a.b\",\n".repeat(MAX_ITEMS + 500);
        let text = format!("{{\"x\": [{items}[1, {{}}], 2], \"y\": 3}}");
        let made = json(&text).unwrap();
        assert!(made.ends_with("], \"y\": 3}"), "{}", made.len());
        assert_eq!(made.matches("a.b").count(), MAX_ITEMS);
        assert_eq!(made.lines().count(), MAX_ITEMS + 501);
        let list = format!("[{}1],", "1,".repeat(MAX_ITEMS - 2));
        let many = format!("[{}1]", list.repeat(100));
        assert!(json(&many).is_err_and(|why| why.contains("more than")));
        assert!(json(&"[".repeat(1_000_000)).is_err_and(|why| why.contains("in one another")));
    }

    #[test]
    fn a_text_of_which_all_is_read_is_not_copied() {
        assert!(matches!(json("{\"a\": -1}\n\0"), Ok(Cow::Borrowed("{\"a\": -1}\n"))));
    }
}
