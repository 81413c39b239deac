//! Names: one of those that a knob takes, and what people call something, which travels with a
//! design and is shown in many places.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;

use crate::ground::knob::{Knob, KnobError, MAX_NAME};
use crate::ground::text::{begins_as_name, distance, shorten};

/// One of the names that a knob takes.
pub(super) fn known_name(
    knob: &Knob,
    name: &str,
    names: &'static [&'static str],
) -> Result<(), KnobError> {
    if names.contains(&name) {
        return Ok(());
    }
    let nearest = names.iter().min_by_key(|known| distance(name, known));
    let detail =
        format!("{} takes one of {}; not `{}`", knob.id(), names.join(", "), shorten(name));
    let nearest = nearest.map(ToString::to_string).into_iter().collect();
    Err(knob.error("unknown_name", detail, nearest))
}

/// A name is one line that looks like what it is: nothing in it hides or turns what is around
/// it, and no table of cells takes it for a formula.
pub(super) fn named(knob: &Knob, text: &str) -> Result<(), KnobError> {
    if !begins_as_name(text) || text != text.trim() || text == "none" || text.chars().any(is_unseen)
    {
        let wanted = "a name: one line that begins with a letter or a digit";
        return Err(knob.wrong_type(text, wanted));
    }
    let length = text.chars().count();
    if length <= MAX_NAME {
        return Ok(());
    }
    let nearest: String = text.chars().take(MAX_NAME).collect();
    let detail = format!("{} takes up to {MAX_NAME} characters, not {length}", knob.id());
    Err(knob.error("out_of_range", detail, vec![nearest.trim_end().to_string()]))
}

/// Whether a character is invisible: a control, a mark of direction, a space of no width.
pub(super) fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use crate::design::{Design, KnobId};
    use crate::ground::knob::{MAX_NAME, Value};
    use crate::{design::file, design::link};

    fn named(name: &str) -> Result<Design, crate::ground::knob::KnobError> {
        let mut design = Design::from_preset("llama-3-8b").unwrap();
        design.set_text(KnobId::profile, name).map(|()| design)
    }

    #[test]
    fn a_name_in_any_script_travels_in_links_and_files() {
        for name in ["ours, July 2026", "910B3 & \"a < b\" = 100 % + `x`", "昇腾 集群 甲", "é"]
        {
            let design = named(name).unwrap();
            let back = link::decode(&link::encode(&design)).unwrap();
            assert_eq!(back.kernel.profile.as_deref(), Some(name));
            assert_eq!(file::read(&file::write(&design, file::Extent::Changed)).unwrap(), design);
        }
        assert_eq!(named("none").unwrap().get(KnobId::profile), Value::None);
    }

    #[test]
    fn what_hides_turns_or_computes_is_no_name() {
        for name in ["=1+1", "@x", "-1", "a\nb", "a\u{202e}b", "a\u{200b}b", "", " "] {
            assert_eq!(named(name).unwrap_err().rule, "wrong_type", "{name:?}");
        }
        let error = named(&"é".repeat(MAX_NAME + 1)).unwrap_err();
        assert_eq!(error.rule, "out_of_range");
        assert!(named(&error.nearest[0].to_string()).is_ok(), "{error}");
    }

    #[test]
    fn a_name_changes_no_number() {
        let plan = |design: &Design| crate::Plan::new(design).unwrap();
        let without = crate::estimate(&plan(&named("none").unwrap()));
        assert_eq!(crate::estimate(&plan(&named("ours").unwrap())).metrics, without.metrics);
    }
}
