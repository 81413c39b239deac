//! What whoever imports a text adds to it, as command line, API and page spell it.

use interchange::Answers;
use model::design::KnobId;

/// Answers of one kind, at most.
const MAX_ANSWERS: usize = 200;

/// Adds an answer by the name of its question: a knob's id, `env NAME`, `arg N` or `model`.
///
/// # Errors
/// A name that no question has.
pub(crate) fn add(answers: &mut Answers, name: &str, value: &str) -> Result<(), String> {
    let value = value.trim();
    if value.is_empty() {
        return Ok(());
    }
    let count = answers.knobs.len() + answers.variables.len() + answers.arguments.len();
    if count >= MAX_ANSWERS {
        return Err(format!("at most {MAX_ANSWERS} answers are taken"));
    }
    if name == "model" {
        answers.model = Some(value.to_owned());
    } else if let Some(variable) = name.strip_prefix("env ") {
        answers.variables.insert(variable.to_owned(), value.to_owned());
    } else if let Some(place) = name.strip_prefix("arg ") {
        // Arguments before and behind it may be left open.
        place.parse::<u8>().map_err(|_| format!("`{name}` is no argument's place"))?;
        answers.variables.insert(place.to_owned(), value.to_owned());
    } else {
        let knob = KnobId::find(name).map_err(|error| error.to_string())?;
        answers.knobs.push((knob, value.to_owned()));
    }
    Ok(())
}

/// Adds `KNOB=VALUE`.
///
/// # Errors
/// Another form, or a knob that isn't known.
pub(crate) fn set(answers: &mut Answers, setting: &str) -> Result<(), String> {
    let (name, value) = setting
        .split_once('=')
        .ok_or_else(|| format!("a knob is set by KNOB=VALUE, not `{}`", shortened(setting)))?;
    let knob = KnobId::find(name.trim()).map_err(|error| error.to_string())?;
    add(answers, &knob.id(), value)
}

/// Adds `NAME=VALUE`.
///
/// # Errors
/// Another form.
pub(crate) fn env(answers: &mut Answers, setting: &str) -> Result<(), String> {
    let (name, value) = setting
        .split_once('=')
        .ok_or_else(|| format!("a variable is set by NAME=VALUE, not `{}`", shortened(setting)))?;
    answers.variables.insert(name.trim().to_owned(), value.to_owned());
    Ok(())
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}
