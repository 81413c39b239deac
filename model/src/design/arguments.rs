//! Arguments of a framework that no knob reads, as one text that travels with a design.
//!
//! `rotary-base 1000000 --norm-epsilon 1e-06 --data-path 0.3 'a b' 0.7 c`: every argument's name,
//! then its words, a blank between two. The first name is written without its dashes, so that no
//! table of cells takes the text for a formula. A word that has blanks, is empty or begins with two
//! dashes is in single quotes; no word holds a single quote or a control character. There is
//! one spelling of each list, so that equal lists are equal texts.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::named::is_unseen;
use crate::ground::knob::{Knob, KnobError, MAX_ARGUMENTS};

/// An argument that is handed to the framework as it was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtraArgument {
    /// Its name without the dashes in front.
    pub name: String,
    /// The words behind it; none for a switch.
    pub values: Vec<String>,
}

impl ExtraArgument {
    /// An argument of its parts; `None` if a text can't hold them.
    #[must_use]
    pub fn new(name: &str, values: &[String]) -> Option<Self> {
        let is_kept = is_name(name) && values.iter().all(|value| is_word(value));
        is_kept.then(|| Self { name: String::from(name), values: values.to_vec() })
    }

    /// The arguments of a text; `None` if it is no list of them.
    #[must_use]
    pub fn list(text: &str) -> Option<Vec<Self>> {
        let mut list: Vec<Self> = vec![];
        let mut rest = text;
        while !rest.is_empty() {
            let (word, quoted, behind) = first_word(rest)?;
            let name = if list.is_empty() { Some(word) } else { word.strip_prefix("--") };
            match (name.filter(|_| !quoted), list.last_mut()) {
                (Some(name), _) if is_name(name) => {
                    list.push(Self { name: String::from(name), values: vec![] });
                }
                (None, Some(last)) if is_word(word) => last.values.push(String::from(word)),
                _ => return None,
            }
            rest = behind;
        }
        (Self::text(&list) == text && !list.is_empty()).then_some(list)
    }

    /// The text of arguments.
    #[must_use]
    pub fn text(list: &[Self]) -> String {
        let mut text = String::new();
        for argument in list {
            text.push_str(if text.is_empty() { "" } else { " --" });
            text.push_str(&argument.name);
            for value in &argument.values {
                let is_plain =
                    !value.is_empty() && !value.contains(' ') && !value.starts_with("--");
                text.push(' ');
                text.push_str(&if is_plain { value.clone() } else { format!("'{value}'") });
            }
        }
        text
    }
}

/// The first word of a text, whether it is quoted, and what follows the blank behind it.
fn first_word(text: &str) -> Option<(&str, bool, &str)> {
    if let Some(inner) = text.strip_prefix('\'') {
        let (word, behind) = inner.split_once('\'')?;
        return match behind.strip_prefix(' ') {
            Some(behind) => Some((word, true, behind)),
            None => behind.is_empty().then_some((word, true, "")),
        };
    }
    let (word, behind) = text.split_once(' ').unwrap_or((text, ""));
    Some((word, false, behind))
}

/// A letter, then letters, digits, dashes, points and low lines.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// One line without a single quote, in which nothing hides or turns what is around it.
fn is_word(word: &str) -> bool {
    let is_blank = |c: char| c.is_whitespace() && c != ' ';
    !word.chars().any(|c| c == '\'' || is_blank(c) || is_unseen(c))
}

/// Checks the text of arguments.
pub(super) fn check(knob: &Knob, text: &str) -> Result<(), KnobError> {
    if text.len() > MAX_ARGUMENTS {
        let (id, length) = (knob.id(), text.len());
        let detail = format!("{id} takes up to {MAX_ARGUMENTS} bytes, not {length}");
        return Err(knob.error("out_of_range", detail, vec![String::from("none")]));
    }
    if ExtraArgument::list(text).is_some() && text != "none" {
        return Ok(());
    }
    let wanted = "arguments such as `rotary-base 10000 --norm-epsilon 1e-6`, words with blanks in \
                  single quotes";
    Err(knob.wrong_type(text, wanted))
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use alloc::vec;
    use alloc::vec::Vec;

    use super::ExtraArgument;
    use crate::design::{Design, KnobId};
    use crate::ground::knob::{MAX_ARGUMENTS, Value};
    use crate::{design::file, design::link};

    fn with(text: &str) -> Result<Design, crate::ground::knob::KnobError> {
        let mut design = Design::from_preset("llama-3-8b").unwrap();
        design.set_text(KnobId::extra_arguments, text).map(|()| design)
    }

    #[test]
    fn arguments_travel_in_links_and_files_and_come_back_one_by_one() {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let list: Vec<ExtraArgument> = [
            ("rotary-base", words(&["1000000"])),
            ("use-rope-scaling", vec![]),
            ("data-path", words(&["0.3", "/data/a b", "-0.7", "", "--odd", "昇腾/$(x)\"`y`"])),
            ("moe.z_loss", words(&["1e-3"])),
        ]
        .iter()
        .map(|(name, values)| ExtraArgument::new(name, values).unwrap())
        .collect();
        let text = ExtraArgument::text(&list);
        assert_eq!(ExtraArgument::list(&text), Some(list));
        let design = with(&text).unwrap();
        assert_eq!(link::decode(&link::encode(&design)).unwrap(), design);
        assert_eq!(file::read(&file::write(&design, file::Extent::Changed)).unwrap(), design);
        assert_eq!(with("none").unwrap().get(KnobId::extra_arguments), Value::None);
    }

    #[test]
    fn dashes_in_front_of_the_first_may_be_typed() {
        let design = with("--rotary-base 10000 --swa").unwrap();
        assert_eq!(design.kernel.extra_arguments.as_deref(), Some("rotary-base 10000 --swa"));
    }

    #[test]
    fn what_is_no_list_of_arguments_is_refused() {
        for text in [
            "",
            " ",
            "=1+1",
            "@x",
            "1e-6",
            "a  b",
            "a 'b",
            "a 'b'c",
            "a b'c",
            "a\nb",
            "a b\u{202e}c",
            "a 'b'",
            "a -- b",
            "a --1",
            "a --b=1",
            "a 'b\tc'",
        ] {
            assert_eq!(with(text).unwrap_err().rule, "wrong_type", "{text:?}");
        }
        let long = String::from("a ") + &"b".repeat(MAX_ARGUMENTS);
        assert_eq!(with(&long).unwrap_err().rule, "out_of_range");
    }

    #[test]
    fn arguments_change_no_number() {
        let plan = |design: &Design| crate::Plan::new(design).unwrap();
        let without = crate::estimate(&plan(&with("none").unwrap()));
        assert_eq!(crate::estimate(&plan(&with("lr 1").unwrap())).metrics, without.metrics);
    }
}
