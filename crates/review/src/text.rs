//! What people write: how long it may be, and what doesn't belong into it.

use crate::refusal::Refusal;

/// Characters of a name, at most.
pub const MAX_NAME_LEN: usize = 120;

/// Characters of a comment, reason, question or answer, at most.
pub const MAX_TEXT_LEN: usize = 4_000;

/// A name of one line, without what can't be seen.
///
/// # Errors
/// An empty or too long one, or one with characters that steer instead of being read.
pub fn clean_name(name: &str) -> Result<String, Refusal> {
    clean(name, MAX_NAME_LEN, "a name", |c| c.is_control())
}

/// A text of several lines.
///
/// # Errors
/// As for names; line breaks and tabs are fine.
pub fn clean_text(text: &str) -> Result<String, Refusal> {
    let text = text.replace("\r\n", "\n");
    clean(&text, MAX_TEXT_LEN, "a text", |c| c.is_control() && !matches!(c, '\n' | '\t'))
}

fn clean(
    text: &str,
    most: usize,
    what: &str,
    is_control: impl Fn(char) -> bool,
) -> Result<String, Refusal> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Refusal::invalid(format!("{what} is missing")));
    }
    let count = text.chars().count();
    if count > most {
        return Err(Refusal::invalid(format!("{what} has {count} characters; at most {most}")));
    }
    if text.chars().any(|c| is_control(c) || turns_text(c)) {
        return Err(Refusal::invalid(format!("{what} holds characters that can't be shown")));
    }
    Ok(text.to_owned())
}

/// Characters that turn the direction of what follows: a name with one reads as another name.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_of_one_line() {
        assert_eq!(clean_name("  Ann 王 ").unwrap(), "Ann 王");
        for bad in ["", "   ", "a\nb", "a\u{0}b", "Ann\u{202e}boB", &"x".repeat(121)] {
            assert!(clean_name(bad).is_err(), "{bad:?}");
        }
        assert!(clean_name(&"王".repeat(120)).is_ok());
    }

    #[test]
    fn texts_keep_their_lines() {
        assert_eq!(clean_text("one\r\ntwo\tthree\n").unwrap(), "one\ntwo\tthree");
        for bad in ["", "\n", "a\u{1b}[31m", "a\u{2067}b", &"x".repeat(4_001)] {
            assert!(clean_text(bad).is_err(), "{bad:?}");
        }
    }
}
