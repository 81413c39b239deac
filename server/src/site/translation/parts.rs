//! Keys that stand for several texts, so that one sentence is one entry of a dictionary.
//!
//! `{|s}` and `{is|are}` stand for either text, each place for itself; their translation is the
//! same. A name such as `{unit}` stands for each of the texts that it has in `parts.json`: the same
//! one wherever the key has it, and its translation where the translation has it.
//! `app/src/script/dictionary.js` does the same.

use std::collections::BTreeMap;

/// The texts of each name, with their translations.
pub(super) type Parts = BTreeMap<String, BTreeMap<String, String>>;

/// The texts that a key stands for, each with its translation.
pub(super) fn expand(key: &str, translation: &str, parts: &Parts) -> Vec<(String, String)> {
    for (start, _) in key.match_indices('{') {
        let rest = &key[start + 1..];
        let Some(end) = rest.find(['{', '}']).filter(|&end| rest[end..].starts_with('}')) else {
            continue;
        };
        let inside = &rest[..end];
        let place = format!("{{{inside}}}");
        if let Some(texts) = parts.get(inside) {
            let texts = texts.iter().flat_map(|(text, own)| {
                expand(&key.replace(&place, text), &translation.replace(&place, own), parts)
            });
            return texts.collect();
        }
        if inside.contains('|') {
            let texts = inside.split('|');
            return texts
                .flat_map(|text| expand(&key.replacen(&place, text, 1), translation, parts))
                .collect();
        }
    }
    vec![(key.to_owned(), translation.to_owned())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(key: &str, translation: &str, expected: &[(&str, &str)]) {
        let parts = r#"{"unit": {"GB": "GB", "GiB": "GiB"}, "head": {"": "", " head": "，头"}}"#;
        let parts = serde_json::from_str(parts).expect("JSON");
        let texts = expand(key, translation, &parts);
        let texts: Vec<_> =
            texts.iter().map(|(text, translation)| (&text[..], &translation[..])).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_name_is_the_same_text_wherever_it_stands() {
        check("Undo", "撤销", &[("Undo", "撤销")]);
        check(
            "# {unit} of # {unit}",
            "# / # {unit}",
            &[("# GB of # GB", "# / # GB"), ("# GiB of # GiB", "# / # GiB")],
        );
        check("Layers{head}", "层{head}", &[("Layers", "层"), ("Layers head", "层，头")]);
    }

    #[test]
    fn either_text_stands_for_itself_in_each_place() {
        check(
            "{} knob{|s}, {} knob{|s}",
            "{} {}",
            &[
                ("{} knob, {} knob", "{} {}"),
                ("{} knob, {} knobs", "{} {}"),
                ("{} knobs, {} knob", "{} {}"),
                ("{} knobs, {} knobs", "{} {}"),
            ],
        );
        check("{ to } or {a {is|are}", "", &[("{ to } or {a is", ""), ("{ to } or {a are", "")]);
    }
}
