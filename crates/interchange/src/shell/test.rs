//! Conditions: `[ .. ]`, `[[ .. ]]`, `(( .. ))`, and what joins them.

/// Whether a word has an expansion that isn't known.
fn is_open(word: &str) -> bool {
    word.contains("${") || word.contains("$(")
}

/// The variable that a word is nothing but, where nothing sets it.
pub(super) fn unset(word: &str) -> Option<&str> {
    let name = word.strip_prefix("${")?.strip_suffix('}')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// Result of a condition; `None` if it isn't known. A comparison of a variable that nothing sets is
/// handed to `ask`, which gives the value that is taken.
pub(super) fn value(words: &[String], ask: &mut dyn FnMut(&str, &str) -> String) -> Option<bool> {
    let mut parts: Vec<&str> = words.iter().map(String::as_str).collect();
    parts.retain(|word| !matches!(*word, "[" | "]" | "[[" | "]]" | "test"));
    any(&parts, ask, 0)
}

fn any(words: &[&str], ask: &mut dyn FnMut(&str, &str) -> String, depth: u32) -> Option<bool> {
    if depth > 64 {
        return None;
    }
    for (join, is_all) in [(["||", "-o"], false), (["&&", "-a"], true)] {
        if let Some(place) = words.iter().position(|word| join.contains(word)) {
            let left = any(words.get(..place)?, ask, depth + 1);
            let right = any(words.get(place + 1..)?, ask, depth + 1);
            return match (is_all, left, right) {
                (true, Some(false), _) | (true, _, Some(false)) => Some(false),
                (false, Some(true), _) | (false, _, Some(true)) => Some(true),
                (true, Some(true), Some(true)) => Some(true),
                (false, Some(false), Some(false)) => Some(false),
                _ => None,
            };
        }
    }
    one(words, ask, depth)
}

fn one(words: &[&str], ask: &mut dyn FnMut(&str, &str) -> String, depth: u32) -> Option<bool> {
    match words {
        ["!", rest @ ..] => any(rest, ask, depth + 1).map(|value| !value),
        ["true" | ":"] => Some(true),
        ["false"] => Some(false),
        ["-z", word] => emptiness(word),
        ["-n", word] => emptiness(word).map(|empty| !empty),
        ["-z"] => Some(true),
        ["-n"] => Some(false),
        [left, "=" | "==", right] => equal(left, right, ask),
        [left, "!=", right] => equal(left, right, ask).map(|value| !value),
        [left, sign @ ("-eq" | "-ne" | "-gt" | "-ge" | "-lt" | "-le"), right] => {
            if is_open(left) || is_open(right) {
                return None;
            }
            let (left, right) = (left.parse::<i64>().ok()?, right.parse::<i64>().ok()?);
            Some(match *sign {
                "-eq" => left == right,
                "-ne" => left != right,
                "-gt" => left > right,
                "-ge" => left >= right,
                "-lt" => left < right,
                _ => left <= right,
            })
        }
        [word] if !word.starts_with('-') => emptiness(word).map(|empty| !empty),
        _ => None,
    }
}

fn emptiness(word: &str) -> Option<bool> {
    if unset(word).is_some() {
        return Some(true);
    }
    if is_open(word) {
        // Whatever else stands beside it makes it something.
        return (!word.starts_with('$')).then_some(false);
    }
    Some(word.is_empty())
}

fn equal(left: &str, right: &str, ask: &mut dyn FnMut(&str, &str) -> String) -> Option<bool> {
    let left = match unset(left) {
        Some(name) if !is_open(right) && !right.is_empty() => ask(name, right),
        Some(_) if right.is_empty() => String::new(),
        _ => left.to_owned(),
    };
    if is_open(&left) || is_open(right) {
        return None;
    }
    Some(matches(right, &left))
}

/// Whether a text matches a pattern of the shell's, with `*` and `?`.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().take(64).collect();
    let text: Vec<char> = text.chars().take(512).collect();
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(letter) if *letter == '?' || text.get(from) == Some(letter) => {
                at += 1;
                from += 1;
            }
            _ => match star.as_mut() {
                Some((place, taken)) => {
                    *taken += 1;
                    at = *place + 1;
                    from = *taken;
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|letter| *letter == '*'))
}
