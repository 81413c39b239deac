//! The page `/import`: a model, a launch script or a design file becomes a design, and the page
//! says all that there is to say about how.
//!
//! The form works without a script; the server answers it, or a module where there is none.

mod answer;
mod form;

use std::borrow::Cow;

use interchange::{Answers, Bundle, Format, import_with, is_archive, unpacked};
use maud::Markup;
use model::design::Design;

use form::Asked;

/// The form as it was sent.
#[derive(Clone, Debug, Default)]
pub struct Form {
    /// Format of the text, by name.
    pub format: String,
    /// Preset for everything that the file doesn't specify, by id; may be empty.
    pub preset: String,
    /// Text that was pasted.
    pub text: String,
    /// Names and bytes of the files that were chosen.
    pub files: Vec<(String, Vec<u8>)>,
    /// Answers by the names of their questions.
    pub answers: Vec<(String, String)>,
}

/// Outcome of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There is a design.
    Design,
    /// The text makes no design.
    NoDesign,
    /// The form can't be answered.
    Refused,
}

impl Form {
    /// Takes a field of the form; one that it doesn't know is passed over.
    pub fn set(&mut self, name: &str, text: String) {
        match (name, name.strip_prefix("answer ")) {
            ("format", _) => self.format = text,
            ("preset", _) => self.preset = text,
            ("text", _) => self.text = text,
            (_, Some(question)) => self.answers.push((question.to_owned(), text)),
            (_, None) => {}
        }
    }

    /// Content of the page that answers it.
    #[must_use]
    pub fn page(&self) -> (Outcome, Markup) {
        let given = given(self);
        let text = given.as_ref().map(|(text, _)| text.as_ref()).unwrap_or_default();
        // The text goes back into the box, to be mended there, where it has room.
        let text = if text.len() <= interchange::MAX_BYTES { text } else { "" };
        let text = if text.trim().is_empty() { &self.text } else { text };
        let asked = Asked { format: &self.format, preset: &self.preset, text, why: None };
        match given.as_ref().map_err(Clone::clone).and_then(|given| answered(self, given)) {
            Ok((outcome, answer)) => (outcome, form::html(&asked, Some(&answer))),
            Err(why) => (Outcome::Refused, form::html(&Asked { why: Some(&why), ..asked }, None)),
        }
    }
}

/// Content of the page with an empty form, and why there is no more.
#[must_use]
pub fn empty(why: Option<&str>) -> Markup {
    form::html(&Asked { why, ..Asked::default() }, None)
}

/// Text of a form, and its files where there are several.
type Given<'a> = (Cow<'a, str>, Option<Bundle>);

/// The answer to a form, or why there is none.
fn answered(form: &Form, (text, files): &Given<'_>) -> Result<(Outcome, Markup), String> {
    if text.trim().is_empty() {
        return Err("There is no text to import: choose a file, or paste its text.".into());
    }
    let format = match form.format.as_str() {
        "" | "auto" => None,
        name => Some(
            Format::ALL
                .into_iter()
                .find(|format| format.name() == name)
                .ok_or("The kind of text is one of those in the list.")?,
        ),
    };
    let mut answers = Answers::default();
    for (name, value) in &form.answers {
        answers.add(name, value).map_err(|error| error.to_string())?;
    }
    let base = Some(form.preset.as_str()).filter(|preset| !preset.is_empty());
    let base = base.map(Design::from_preset).transpose();
    let base = base.map_err(|error| format!("The preset: {error}"))?;
    let made = match files {
        Some(files) => files.import(format, None, base.as_ref(), &answers),
        None => {
            let format = format.unwrap_or_else(|| Format::detect(text));
            import_with(format, text, base.as_ref(), &answers)
        }
    };
    let outcome = if made.design.is_some() { Outcome::Design } else { Outcome::NoDesign };
    let name = form.files.first().filter(|_| files.is_none()).map(|(name, _)| name.as_str());
    Ok((outcome, answer::html(&made, &form.answers, name)))
}

/// The text of a form; with several files or an archive, all of them one behind another.
fn given(form: &Form) -> Result<Given<'_>, String> {
    let files = match form.files.as_slice() {
        [] => match Bundle::of_text(&form.text) {
            Some(files) => files?,
            None => return Ok((Cow::Borrowed(&form.text), None)),
        },
        [(_, bytes)] if is_archive(bytes) => unpacked(bytes)?,
        [(name, bytes)] => {
            let text = decoded(bytes).map_err(|why| format!("{name}: {why}"))?;
            return Ok((Cow::Borrowed(text), None));
        }
        several => {
            // What is no text among them is no script.
            let texts = several.iter().filter_map(|(name, bytes)| {
                Some((name.trim_start_matches('/').to_owned(), decoded(bytes).ok()?.to_owned()))
            });
            Bundle::new(texts.collect())?
        }
    };
    Ok((Cow::Owned(files.to_text()), Some(files)))
}

/// The text of a file, without the mark that some programs put before it.
///
/// # Errors
/// The line that is no text.
pub fn decoded(bytes: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        format!("line {line} isn't UTF-8 text. Save the file as UTF-8, and choose a text file.")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_utf_8_with_or_without_its_mark() {
        assert_eq!(decoded("a\u{fc}".as_bytes()), Ok("aü"));
        assert_eq!(decoded(b"\xef\xbb\xbf{}"), Ok("{}"));
        assert!(decoded(b"a\nb\xff").unwrap_err().starts_with("line 2 "));
        // UTF-16, as some editors save it.
        assert!(decoded(b"\xff\xfe{\0}\0").is_err());
    }
}
