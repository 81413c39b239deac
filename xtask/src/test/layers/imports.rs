//! The imports of a source file: its `use` lines and its inline paths, without those of tests.
//!
//! Text is enough for this: a crate's own modules are only named through `crate`, `super`, `self`
//! or a child's name, and no macro of ours makes such paths.

use std::iter::Peekable;
use std::slice::Iter;

/// A path that a file names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// The line on which it begins.
    pub(super) line: usize,
    /// Its parts as written; the first may be `crate`, `super` or `self`.
    pub(super) parts: Vec<String>,
    /// The name by which a `use` makes it known.
    pub(super) alias: Option<String>,
}

/// A word, `::`, or a single sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) line: usize,
    pub(super) text: &'a str,
}

/// The paths of all `use` lines, and those that begin with `crate` or `super` elsewhere.
pub(super) fn paths(tokens: &[Token<'_>]) -> Vec<Path> {
    let mut found = Vec::new();
    let mut rest = tokens.iter().peekable();
    while let Some(token) = rest.next() {
        match token.text {
            // `use<'a>` says what a type captures.
            "use" if rest.peek().is_some_and(|next| next.text != "<") => {
                use_tree(&mut rest, &[], &mut found);
            }
            "crate" | "super" => {
                let mut parts = vec![token.text.to_owned()];
                follow(&mut rest, &mut parts);
                // Alone it says from where something is seen.
                if parts.len() > 1 {
                    found.push(Path { line: token.line, parts, alias: None });
                }
            }
            _ => {}
        }
    }
    found
}

/// Adds the parts behind `::` as far as they are words.
fn follow(rest: &mut Peekable<Iter<'_, Token<'_>>>, parts: &mut Vec<String>) {
    while rest.next_if(|token| token.text == "::").is_some() {
        match rest.next_if(|token| is_word(token.text)) {
            Some(word) => parts.push(word.text.to_owned()),
            None => return,
        }
    }
}

/// The paths of one tree of a `use`, braces expanded.
fn use_tree(rest: &mut Peekable<Iter<'_, Token<'_>>>, prefix: &[String], found: &mut Vec<Path>) {
    let mut parts = prefix.to_vec();
    let mut line = 0;
    while let Some(token) = rest.next_if(|token| !matches!(token.text, ";" | "," | "}")) {
        line = if line == 0 { token.line } else { line };
        match token.text {
            "{" => {
                while rest.peek().is_some_and(|token| !matches!(token.text, "}" | ";")) {
                    use_tree(rest, &parts, found);
                    rest.next_if(|token| token.text == ",");
                }
                rest.next_if(|token| token.text == "}");
                return;
            }
            "as" => {
                let alias = rest.next().map(|token| token.text.to_owned());
                found.push(Path { line, parts, alias });
                return;
            }
            word if is_word(word) => parts.push(word.to_owned()),
            _ => {}
        }
    }
    if parts.len() > prefix.len() {
        let alias = parts.last().cloned();
        found.push(Path { line, parts, alias });
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The tokens of a file outside of comments, strings and what is only compiled for tests.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let length = skipped(rest).unwrap_or_else(|| {
            let length = match first {
                _ if is_word(rest) => {
                    rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
                }
                ':' if rest.starts_with("::") => 2,
                _ => first.len_utf8(),
            };
            if !first.is_whitespace() {
                tokens.push(Token { line, text: &rest[..length] });
            }
            length
        });
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    without_tests(&tokens)
}

/// The length of the comment, string or character that a text begins with.
fn skipped(text: &str) -> Option<usize> {
    let until = |start: usize, end: &str| {
        text[start..].find(end).map_or(text.len(), |found| start + found + end.len())
    };
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return Some(until(2, "*/"));
    }
    if let Some(raw) = text.strip_prefix("br").or_else(|| text.strip_prefix('r')) {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let start = text.len() - raw.len() + hashes + 1;
            return Some(until(start, &format!("\"{}", "#".repeat(hashes))));
        }
    }
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let mut inner = text.char_indices().skip(1);
    if quote == '\'' {
        // A lifetime ends in no quote.
        let second = inner.clone().nth(1).map(|(_, second)| second);
        if !text.starts_with("'\\") && second != Some('\'') {
            return None;
        }
    }
    while let Some((index, c)) = inner.next() {
        if c == '\\' {
            inner.next();
        } else if c == quote {
            return Some(index + 1);
        }
    }
    Some(text.len())
}

/// Leaves out each item behind `#[cfg(test)]`.
fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let [first, others @ ..] = rest {
        let is_test = rest.len() >= TEST.len()
            && rest.iter().zip(TEST).all(|(token, text)| token.text == text);
        if is_test {
            rest = behind_item(&rest[TEST.len()..]);
        } else {
            kept.push(*first);
            rest = others;
        }
    }
    kept
}

/// Tokens behind the item that these begin with: it ends in `;` or with its braces.
fn behind_item<'a, 'b>(tokens: &'b [Token<'a>]) -> &'b [Token<'a>] {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(token.text, ";" | "}") {
            return &tokens[index + 1..];
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let paths = paths(&tokens(text));
        paths.iter().map(|path| format!("{} {}", path.line, path.parts.join("::"))).collect()
    }

    #[test]
    fn a_use_gives_each_of_its_paths_with_its_line() {
        let text = "use crate::a::{self, b::C as D,\n  e::*};\npub use super::f;\n";
        assert_eq!(
            found(text),
            ["1 crate::a::self", "1 crate::a::b::C", "2 crate::a::e", "3 super::f"]
        );
        let aliases = paths(&tokens(text));
        assert_eq!(aliases[1].alias.as_deref(), Some("D"));
        assert_eq!(aliases[3].alias.as_deref(), Some("f"));
    }

    #[test]
    fn an_inline_path_counts_wherever_it_stands() {
        assert_eq!(found("fn f(a: &crate::a::A<super::B>) {}"), ["1 crate::a::A", "1 super::B"]);
        assert!(found("pub(crate) struct A;").is_empty());
    }

    #[test]
    fn comments_and_strings_name_nothing() {
        let text =
            "// crate::a\n/* crate::b */ \"crate::c \\\" crate::d\" r#\"\" crate::e\"# '\"' 'a";
        assert!(found(text).is_empty(), "{:?}", found(text));
        assert_eq!(found("fn f<'a>(b: &'a crate::A) { '\\'' }"), ["1 crate::A"]);
    }

    #[test]
    fn tests_name_nothing_and_what_follows_them_does() {
        let text = "#[cfg(test)]\nmod tests { use crate::a; fn f() {} }\nuse crate::b;\n\
                    #[cfg(test)]\nuse crate::c::{d, e};\n#[cfg(test)] mod tests;\ncrate::f()";
        assert_eq!(found(text), ["3 crate::b", "7 crate::f"]);
    }
}
