//! Names that people sent: the closest known one, and a short form for messages.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The known item that `text` was most likely meant to be: one whose name begins so, else the one
/// that fewest edits make of it.
#[must_use]
pub fn closest<T>(
    text: &str,
    known: impl Iterator<Item = T>,
    name: impl Fn(&T) -> &'static str,
) -> Option<T> {
    known.min_by_key(|item| {
        let begins = text.len() > 2 && name(item).starts_with(text);
        (!begins, distance(text, name(item)))
    })
}

/// At most 80 characters of something that a person sent, so that an error stays readable.
#[must_use]
pub fn shorten(text: &str) -> String {
    if text.chars().count() <= 80 { text.to_string() } else { cut(text, 78) }
}

/// At most this many characters of a text, with an ellipsis for what is left out.
#[must_use]
pub fn cut(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_string();
    }
    let mut short: String = text.chars().take(max_chars.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Does a text begin as a name: with a letter or a digit, so that no table of cells takes it for a
/// formula?
pub(crate) fn begins_as_name(text: &str) -> bool {
    text.chars().next().is_some_and(|first| {
        first.is_ascii_alphanumeric() || (!first.is_ascii() && !first.is_whitespace())
    })
}

/// Levenshtein distance of the first 64 characters.
pub(crate) fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}
