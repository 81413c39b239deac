//! A dictionary of whole texts, with places for numbers and for other texts.
//!
//! A key is a text as it is on a page. `#` in it stands for any number, `{}` for any text; in
//! its translation, `#` and `{}` take them one after the other, `{1}`, `{2}` by their places. A key
//! stands for several texts where it has [`Parts`]. A text is looked up as it is, then by the shape
//! that it has without its numbers, then by patterns, the most specific first, then sentence by
//! sentence. `app/src/script/dictionary.js` does the same in the same order.

use std::collections::{BTreeMap, HashMap};
use std::sync::{PoisonError, RwLock};

use super::parts::{Parts, expand};

/// Texts within texts go no deeper.
const MAX_DEPTH: usize = 4;

/// Longer texts are left as they are.
const MAX_BYTES: usize = 4_000;

/// Texts that are remembered with their translations, at most, and the bytes of one.
const MAX_KNOWN: usize = 20_000;
const MAX_KNOWN_BYTES: usize = 400;

/// English to another language.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    /// Texts that were looked up: most of a page come again with the next one.
    known: RwLock<HashMap<String, Option<String>>>,
    exact: HashMap<String, String>,
    shapes: HashMap<String, String>,
    patterns: Vec<Pattern>,
}

/// A key with places for texts.
#[derive(Debug)]
struct Pattern {
    key: String,
    /// Texts around the places: one more than there are places.
    literals: Vec<String>,
    translation: String,
}

impl Dictionary {
    /// The dictionary of several texts in JSON, whose keys have these parts.
    pub(super) fn new(texts: &[&str], parts: &str) -> Self {
        let mut dictionary = Self::default();
        let parts: Parts = serde_json::from_str(parts).expect("a test reads the parts");
        for text in texts {
            let words: BTreeMap<String, String> =
                serde_json::from_str(text).expect("a test reads every dictionary");
            for (key, translation) in
                words.iter().flat_map(|(key, translation)| expand(key, translation, &parts))
            {
                if key.contains("{}") {
                    let literals = key.split("{}").map(str::to_owned).collect();
                    dictionary.patterns.push(Pattern { key, literals, translation });
                } else if key.contains('#') {
                    dictionary.shapes.insert(key, translation);
                } else {
                    dictionary.exact.insert(key, translation);
                }
            }
        }
        dictionary.patterns.sort_by_cached_key(Pattern::order);
        dictionary
    }

    /// The number of its texts.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.exact.len() + self.shapes.len() + self.patterns.len()
    }

    /// A text in the other language, with the white space around it; `None` if it isn't known.
    pub(super) fn translate_spaced(&self, text: &str) -> Option<String> {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let translated = self.translate(&words)?;
        let start = &text[..text.len() - text.trim_start().len()];
        let end = &text[text.trim_end().len()..];
        Some(format!("{start}{translated}{end}"))
    }

    /// A text in the other language; `None` if it isn't known.
    pub(super) fn translate(&self, text: &str) -> Option<String> {
        if text.len() > MAX_KNOWN_BYTES {
            return self.translate_within(text, 0);
        }
        // A panic while it was held left a map that is whole.
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(translated) = known.get(text) {
            return translated.clone();
        }
        drop(known);
        let translated = self.translate_within(text, 0);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(text.to_owned(), translated.clone());
        translated
    }

    fn translate_within(&self, text: &str, depth: usize) -> Option<String> {
        let has_words = text.bytes().any(|byte| byte.is_ascii_alphabetic());
        if depth > MAX_DEPTH || text.len() > MAX_BYTES || !has_words {
            return None;
        }
        if let Some(translation) = self.exact.get(text) {
            return Some(translation.clone());
        }
        let (shape, numbers) = shape(text);
        if let Some(translation) = self.shapes.get(&shape) {
            return Some(filled(translation, &numbers));
        }
        for pattern in &self.patterns {
            if let Some(found) = pattern.found(text) {
                let translated = found.into_iter().map(|part| {
                    self.translate_within(part, depth + 1).unwrap_or_else(|| part.to_owned())
                });
                return Some(filled(&pattern.translation, &translated.collect::<Vec<_>>()));
            }
        }
        self.translate_parts(text, depth)
    }

    /// Sentence by sentence, where all of them are known.
    fn translate_parts(&self, text: &str, depth: usize) -> Option<String> {
        for (between, joint) in [(". ", ""), ("; ", "；")] {
            let parts: Vec<&str> = text.split(between).collect();
            if parts.len() < 2 {
                continue;
            }
            let last = parts.len() - 1;
            let translated = parts.iter().enumerate().map(|(index, part)| {
                if between == ". " && index < last {
                    let sentence = format!("{part}.");
                    let whole = self.translate_within(&sentence, depth + 1);
                    return whole.or_else(|| {
                        Some(format!("{}。", self.translate_within(part, depth + 1)?))
                    });
                }
                self.translate_within(part, depth + 1)
            });
            if let Some(translated) = translated.collect::<Option<Vec<_>>>() {
                return Some(translated.join(joint));
            }
        }
        None
    }
}

impl Pattern {
    /// The most literal text first, then by the text.
    fn order(&self) -> (usize, String) {
        let length: usize = self.literals.iter().map(|literal| literal.chars().count()).sum();
        (usize::MAX - length, self.key.clone())
    }

    /// Texts in the places; `None` if the text doesn't fit. Each takes as little as it can.
    fn found<'t>(&self, text: &'t str) -> Option<Vec<&'t str>> {
        let (first, rest) = self.literals.split_first()?;
        let mut at = text.strip_prefix(first.as_str())?;
        let mut found = Vec::with_capacity(rest.len());
        for (index, literal) in rest.iter().enumerate() {
            let is_last = index + 1 == rest.len();
            // A place holds at least one character.
            let one = at.chars().next()?.len_utf8();
            let end = if is_last {
                at.strip_suffix(literal.as_str()).map(str::len).filter(|end| *end >= one)?
            } else {
                one + at[one..].find(literal.as_str())?
            };
            found.push(&at[..end]);
            at = &at[end + literal.len()..];
        }
        Some(found)
    }
}

/// A text with `#` for each of its numbers, and the numbers.
fn shape(text: &str) -> (String, Vec<String>) {
    let (mut shape, mut numbers) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    let mut before: Option<char> = None;
    while let Some(first) = rest.chars().next() {
        let is_sign = matches!(first, '+' | '-' | '−')
            && !before.is_some_and(|before| before.is_ascii_alphanumeric());
        let digits = if is_sign { &rest[first.len_utf8()..] } else { rest };
        let length = digits_of(digits);
        if length == 0 {
            shape.push(first);
            before = Some(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let length = rest.len() - digits.len() + length;
        numbers.push(rest[..length].to_owned());
        shape.push('#');
        before = Some('0');
        rest = &rest[length..];
    }
    (shape, numbers)
}

/// Number of bytes at the start that are a number without its sign.
fn digits_of(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = 0;
    while is_digit(at) || at > 0 && matches!(bytes.get(at), Some(b',' | b'.')) && is_digit(at + 1) {
        at += 1;
    }
    at
}

/// A translation, with the places filled.
fn filled(translation: &str, parts: &[String]) -> String {
    let mut text = String::with_capacity(translation.len());
    let (mut rest, mut next) = (translation, 0);
    while let Some(at) = rest.find(['#', '{']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let inside = rest.strip_prefix('{').and_then(|it| it.split_once('}')).map(|(it, _)| it);
        let place = match inside {
            Some("") => Some((2, next)),
            Some(place) => {
                let at = place.parse::<usize>().ok().and_then(|it| it.checked_sub(1));
                at.map(|at| (place.len() + 2, at))
            }
            None if rest.starts_with('#') => Some((1, next)),
            None => None,
        };
        let Some((length, place)) = place else {
            text.push_str(&rest[..1]);
            rest = &rest[1..];
            continue;
        };
        if inside.is_none_or(str::is_empty) {
            next += 1;
        }
        text.push_str(parts.get(place).map_or("", String::as_str));
        rest = &rest[length..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Dictionary {
        let words = [r##"{
            "Memory": "显存",
            "Undo": "撤销",
            "Stage # of #": "{2} 个阶段中的第 {1} 个",
            "{} frees {} for # points": "not matched: a pattern has no #",
            "Undo {}": "撤销：{}",
            "Undo all of {}": "全部撤销：{}",
            "Fits, {} free": "放得下，剩余 {}",
            "Fits.": "放得下。",
            "That is all": "就这些"
        }"##];
        Dictionary::new(&words, "{}")
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(small().translate(text).as_deref(), Some(expected));
    }

    #[test]
    fn texts_are_said_as_a_whole_by_shape_and_by_pattern() {
        check("Memory", "显存");
        check("Stage 3 of 1,024", "1,024 个阶段中的第 3 个");
        check("Fits, 3.5 GiB free", "放得下，剩余 3.5 GiB");
        check("Undo Memory", "撤销：显存");
        check("Undo all of Memory", "全部撤销：显存");
        assert_eq!(small().translate_spaced(" Memory\n "), Some(" 显存\n ".to_owned()));
    }

    #[test]
    fn sentences_are_said_one_by_one_where_all_are_known() {
        check("Fits. Memory. That is all", "放得下。显存。就这些");
        check("Memory; That is all", "显存；就这些");
        assert_eq!(small().translate("Fits. Who knows. That is all"), None);
    }

    #[test]
    fn what_is_not_known_or_has_no_words_stays() {
        for text in ["", "40.4 %", "Nothing of it", "显存", "Undo "] {
            assert_eq!(small().translate(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_keep_their_sign_and_their_digits() {
        let (shape, numbers) = shape("−1,234.5 pt, TP8-4 and +3.");
        assert_eq!(shape, "# pt, TP#-# and #.");
        assert_eq!(numbers, ["−1,234.5", "8", "4", "+3"]);
    }

    fn words() -> Vec<(String, String)> {
        let texts = present::words::language::CHINESE.iter();
        let read = |text: &&str| serde_json::from_str::<BTreeMap<_, _>>(text).expect("JSON");
        texts.flat_map(read).collect()
    }

    fn parts() -> Parts {
        serde_json::from_str(present::words::language::CHINESE_PARTS).expect("JSON")
    }

    #[test]
    fn every_dictionary_is_in_order() {
        let parts = parts();
        let mut texts = BTreeMap::new();
        for (key, translation) in words() {
            for (text, translation) in expand(&key, &translation, &parts) {
                check_entry(&text, &translation);
                let earlier = texts.insert(text, key.clone());
                assert_eq!(earlier, None, "{key}: has a text of another key");
            }
        }
        for name in parts.keys() {
            let place = format!("{{{name}}}");
            assert!(words().iter().any(|(key, _)| key.contains(&place)), "no key has {place}");
        }
    }

    fn check_entry(key: &str, translation: &str) {
        assert_ne!(key, translation);
        assert_eq!(key, &key.split_whitespace().collect::<Vec<_>>().join(" "));
        assert!(!(key.contains("{}") && key.contains('#')), "{key}: both kinds of places");
        let places = key.matches("{}").count() + key.matches('#').count();
        let parts: Vec<String> = (1..=places).map(|place| format!("<{place}>")).collect();
        let translated = filled(translation, &parts);
        assert!(!translated.contains("{}") && !translated.contains('#'), "{key}: {translated}");
        for part in &parts {
            assert!(translated.contains(part.as_str()), "{key}: {part} is lost in {translated}");
        }
    }

    #[test]
    fn sentences_that_differ_in_a_plural_or_a_unit_are_one_entry() {
        let fold = |text: &str| {
            let singular = |word: &str| word.strip_suffix('s').unwrap_or(word).replace("GiB", "GB");
            text.split(' ').map(singular).collect::<Vec<_>>().join(" ")
        };
        let mut sentences = BTreeMap::new();
        for (key, translation) in words() {
            let folded = (fold(&key), translation.replace("GiB", "GB"));
            if let Some(other) = sentences.insert(folded, key.clone()) {
                panic!("one entry can be for both: {other:?} and {key:?}");
            }
        }
    }

    /// The texts of `end2end/words.mjs`, which holds the browser's script to them.
    #[test]
    fn server_and_browser_translate_alike() {
        let dictionary = Dictionary::new(
            &present::words::language::CHINESE,
            present::words::language::CHINESE_PARTS,
        );
        let texts = include_str!("../../../../end2end/words.json");
        let texts: BTreeMap<String, Option<String>> = serde_json::from_str(texts).expect("JSON");
        for (text, translation) in &texts {
            assert_eq!(&dictionary.translate(text), translation, "{text}");
        }
    }
}
