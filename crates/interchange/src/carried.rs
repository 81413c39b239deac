//! Arguments that no knob reads, on their way through a design: an import keeps them as they are
//! written, an export writes them again.

use model::design::ExtraArgument;
use model::ground::knob::MAX_ARGUMENTS;

use crate::draft::{Carried, Draft};
use crate::flags::{self, Arity};

/// Words of a name that say that a value is for nobody else's eyes.
const SECRET: [&str; 9] = [
    "key",
    "apikey",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "credentials",
];

/// Prefixes of values that are secrets, whatever argument has them.
const OPENING: [&str; 8] = ["hf_", "sk-", "ghp_", "gho_", "github_pat_", "glpat-", "AKIA", "xox"];

/// Arguments that every launch script needs and that an export asks for by itself: a variable
/// behind one of them, as in `--data-path ${DATA_PATH}`, says no more than that.
pub(crate) const ASKED: [&str; 7] =
    ["data-path", "tokenizer-type", "tokenizer-model", "lr", "train-iters", "save", "load"];

/// Keeps an argument as it is written; where that can't be, says why.
pub(crate) fn keep(name: &str, values: &[String], line: u64, draft: &mut Draft) {
    let arity = flags::find(name).map(|flag| flag.arity);
    let mut values: Vec<String> =
        values.iter().filter(|word| !word.ends_with(".py")).cloned().collect();
    match arity {
        Some(Arity::Switch) => match values.first().map(String::as_str) {
            None | Some("true" | "True") => values.clear(),
            // Words behind a switch aren't its own.
            Some("false" | "False" | "null" | "None" | "~") => return,
            Some(_) => values.clear(),
        },
        Some(Arity::One) => values.truncate(1),
        Some(Arity::Many) | None => {}
    }
    let needs_value = matches!(arity, Some(Arity::One | Arity::Many));
    let is_unset =
        matches!(values.as_slice(), [one] if matches!(one.as_str(), "null" | "None" | "~"));
    if (needs_value && values.is_empty()) || is_unset {
        return;
    }
    let is_of_knob = |value: &String| flags::BALANCED.contains(&value.as_str());
    if name == flags::BALANCING && values.first().is_some_and(is_of_knob) {
        return;
    }
    // Which layers there are follows from it, and an export counts them its own way.
    if name == "spec" && values.iter().any(|value| value.ends_with("longcat_spec")) {
        return;
    }
    let is_open = values.iter().any(|value| value.contains('$'));
    if is_open && ASKED.contains(&name) {
        return;
    }
    let key = format!("--{name}");
    if is_secret(name, &values) {
        return draft.ignore(&key, line, "looks like a secret: no design carries it");
    }
    let known = values.iter().all(|value| pieces(value).is_some());
    match ExtraArgument::new(name, &values).filter(|_| known) {
        Some(argument) => {
            draft.carried.retain(|carried| carried.argument.name != name);
            draft.carried.push(Carried { argument, line });
        }
        None => draft.ignore(&key, line, "its value isn't known, or no text: an export lacks it"),
    }
}

/// Whether an argument is a secret, by its name or by the form of a value.
pub(crate) fn is_secret(name: &str, values: &[String]) -> bool {
    let is_word = |value: &String| value.parse::<f64>().is_err();
    let mut parts = name.split(['-', '_', '.']);
    let by_name = parts.any(|part| SECRET.contains(&part.to_ascii_lowercase().as_str()));
    let opens = |value: &String| {
        let long = value.len() >= 16 && OPENING.iter().any(|begin| value.starts_with(begin));
        let address = value.split_once("://").map_or("", |(_, rest)| rest);
        long || address.split('/').next().is_some_and(|host| host.contains('@'))
    };
    (by_name && values.iter().any(is_word)) || values.iter().any(opens)
}

/// A piece of a word: text as it is, or the value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Text(&'a str),
    Variable(&'a str),
}

/// The pieces of a word with `${NAME}` in it; `None` if something else is to be computed.
pub(crate) fn pieces(word: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = vec![];
    let mut rest = word;
    while let Some((before, behind)) = rest.split_once("${") {
        let (name, after) = behind.split_once('}')?;
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return None;
        }
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        pieces.push(Piece::Variable(name));
        rest = after;
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    // Commands' output isn't known.
    (!word.contains("$(")).then_some(pieces)
}

/// Gives the design what is carried, but for what an export of it says anyway.
pub(crate) fn settle(said: &dyn Fn(&ExtraArgument) -> bool, draft: &mut Draft) {
    let mut kept: Vec<ExtraArgument> = vec![];
    let mut left: Vec<(String, u64)> = vec![];
    for Carried { argument, line } in std::mem::take(&mut draft.carried) {
        if said(&argument) {
            continue;
        }
        let mut longer = kept.clone();
        longer.push(argument.clone());
        if ExtraArgument::text(&longer).len() <= MAX_ARGUMENTS {
            kept = longer;
            draft.carried.push(Carried { argument, line });
        } else {
            left.push((format!("--{}", argument.name), line));
        }
    }
    for (key, line) in left {
        let reason = format!("a design carries up to {MAX_ARGUMENTS} bytes of such arguments");
        draft.ignore(&key, line, reason);
    }
    let text = ExtraArgument::text(&kept);
    draft.design.kernel.extra_arguments = (!text.is_empty() && text != "none").then_some(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_told_by_its_name_or_by_how_it_begins() {
        let secret = |name: &str, value: &str| is_secret(name, &[value.to_owned()]);
        assert!(secret("wandb-api-key", "0123abc") && secret("hf-token", "x"));
        assert!(secret("note", "hf_0123456789abcdef") && secret("url", "http://me:pw@host/x"));
        assert!(!secret("eod-token", "5") && !secret("lr-decay-tokens", "x"));
        assert!(!is_secret("apply-query-key-layer-scaling", &[]));
    }

    #[test]
    fn a_word_is_text_and_variables_or_isn_t_known() {
        let (text, variable) = (Piece::Text("/x"), Piece::Variable("DIR"));
        assert_eq!(pieces("${DIR}/x"), Some(vec![variable, text]));
        assert_eq!(pieces(""), Some(vec![Piece::Text("")]));
        for odd in ["$(date)", "${A:-b}", "${A", "$((1+1))"] {
            assert_eq!(pieces(odd), None, "{odd}");
        }
    }
}
