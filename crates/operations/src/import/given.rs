//! Answers that whoever imports a text adds to it, as every door spells them.

use interchange::Answers;
use model::design::KnobId;
use model::ground::text::shorten;

use crate::refusal::Refusal;

/// Adds an answer by the name of its question.
fn add(answers: &mut Answers, name: &str, value: &str) -> Result<(), Refusal> {
    answers.add(name, value).map_err(|error| match error.rule == Answers::WRONG {
        true => Refusal::new(Answers::WRONG, &error.knob, error.detail),
        false => error.into(),
    })
}

/// Adds `KNOB=VALUE`.
///
/// # Errors
/// Another form, or a knob that isn't known.
pub(super) fn set(answers: &mut Answers, setting: &str) -> Result<(), Refusal> {
    let (name, value) = halves(setting, "set", "a knob is set by KNOB=VALUE")?;
    add(answers, &KnobId::find(name.trim())?.id(), value)
}

/// Adds `NAME=VALUE` by a question's own name: `model=qwen3-8b`, `env NNODES=4`, `arg 2=64`,
/// `cluster.num_devices=64`, or a knob's name alone.
///
/// # Errors
/// Another form, or a name that no question has.
pub(super) fn answer(answers: &mut Answers, text: &str) -> Result<(), Refusal> {
    let (name, value) = halves(text, "answer", "an answer is QUESTION=VALUE")?;
    add(answers, name.trim(), value)
}

/// Adds `NAME=VALUE`.
///
/// # Errors
/// Another form.
pub(super) fn env(answers: &mut Answers, setting: &str) -> Result<(), Refusal> {
    let (name, value) = halves(setting, "env", "a variable is set by NAME=VALUE")?;
    answers.variables.insert(name.trim().to_owned(), value.to_owned());
    Ok(())
}

/// What stands before and behind the equals sign.
fn halves<'a>(text: &'a str, at: &str, form: &str) -> Result<(&'a str, &'a str), Refusal> {
    let wrong = || Refusal::new(Answers::WRONG, at, format!("{form}, not `{}`", shorten(text)));
    text.split_once('=').ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_answered_by_its_own_name() {
        let mut answers = Answers::default();
        for text in [
            "model=qwen3-8b",
            "env NNODES=4",
            "arg 2=64",
            "num_devices=64",
            "cluster.num_devices=8",
        ] {
            answer(&mut answers, text).expect(text);
        }
        assert_eq!(answers.model.as_deref(), Some("qwen3-8b"));
        assert_eq!(answers.variables.get("NNODES").map(String::as_str), Some("4"));
        assert_eq!(answers.variables.get("2").map(String::as_str), Some("64"));
        let knobs: Vec<&str> = answers.knobs.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(knobs, ["64", "8"]);
        for wrong in ["model", "arg x=1", "no_such_knob=1"] {
            assert!(answer(&mut answers, wrong).is_err(), "{wrong}");
        }
    }
}
