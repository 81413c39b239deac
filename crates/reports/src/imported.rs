//! An import as data: what `moescape import --json` prints and `POST /api/v1/import` answers.

use interchange::{Answers, Bundle, Format, Import, import_with};
use model::MODEL_VERSION;
use model::design::{Design, KnobId};
use model::file::{self, Extent, Tree};
use model::link;

use crate::report;

/// Formats by name; none is found by what stands in the text.
pub const FORMATS: [(&str, Option<Format>); 6] = [
    ("auto", None),
    ("hf", Some(Format::HuggingFace)),
    ("megatron", Some(Format::Megatron)),
    ("mindspeed", Some(Format::Mindspeed)),
    ("serving", Some(Format::Serving)),
    ("design", Some(Format::Design)),
];

/// The design of a text, or of files that were unpacked, under these answers.
///
/// # Errors
/// A text that says that it is several files and isn't.
pub fn read(
    (text, files): (&str, Option<Result<Bundle, String>>),
    (format, entry): (Option<Format>, Option<&str>),
    base: Option<&Design>,
    answers: &Answers,
) -> Result<Import, String> {
    match files.or_else(|| Bundle::of_text(text)).transpose()? {
        Some(files) => Ok(files.import(format, entry, base, answers)),
        None => {
            let format = format.unwrap_or_else(|| Format::detect(text));
            Ok(import_with(format, text, base, answers))
        }
    }
}

/// The design with all that there is to say about how it came about.
#[must_use]
pub fn report(import: &Import) -> Tree {
    let design = import.design.as_ref();
    let file = design.map_or(Tree::Null, |design| file::write(design, Extent::Changed));
    let link = design.map(|design| format!("/?{}", link::encode(design)));
    let set = import.set.iter().map(|set| {
        Tree::map([
            ("knob", Tree::from(set.knob.id())),
            ("value", set.value.as_str().into()),
            ("key", set.key.as_str().into()),
            ("line", line(set.line)),
            ("file", set.file.clone().into()),
        ])
    });
    let assumed = import.assumed.iter().map(|assumed| {
        let knob = assumed.knob.map(KnobId::id);
        Tree::map([("knob", Tree::from(knob)), ("detail", assumed.detail.as_str().into())])
    });
    let ignored = import.ignored.iter().map(|ignored| {
        Tree::map([
            ("key", Tree::from(ignored.key.as_str())),
            ("line", line(ignored.line)),
            ("file", ignored.file.clone().into()),
            ("reason", ignored.reason.as_str().into()),
        ])
    });
    let unknown = import.unknown.iter().map(|unknown| {
        Tree::map([
            ("key", Tree::from(unknown.key.as_str())),
            ("line", line(unknown.line)),
            ("file", unknown.file.clone().into()),
            ("nearest", unknown.nearest.clone().into()),
        ])
    });
    let questions = import.questions.iter().map(|question| {
        Tree::map([
            ("name", Tree::from(question.name.as_str())),
            ("line", line(question.line)),
            ("file", question.file.clone().into()),
            ("purpose", question.purpose.as_str().into()),
            ("guess", question.guess.clone().into()),
            ("follows", question.follows.as_str().into()),
        ])
    });
    let errors = import.errors.iter().map(|fault| {
        Tree::map([
            ("key", Tree::from(fault.key.as_str())),
            ("line", line(fault.line)),
            ("file", fault.file.clone().into()),
            ("detail", fault.detail.as_str().into()),
        ])
    });
    let violations = import.violations.iter().map(report::violation);
    Tree::map([
        ("format", Tree::from(import.format.name())),
        ("design", file),
        ("link", link.into()),
        ("set", Tree::List(set.collect())),
        ("assumed", Tree::List(assumed.collect())),
        ("ignored", Tree::List(ignored.collect())),
        ("unknown", Tree::List(unknown.collect())),
        ("questions", Tree::List(questions.collect())),
        ("errors", Tree::List(errors.collect())),
        ("violations", Tree::List(violations.collect())),
        ("model_version", MODEL_VERSION.into()),
    ])
}

/// A line of the text; null where it is no single one.
fn line(line: u64) -> Tree {
    if line == 0 { Tree::Null } else { Tree::Unsigned(line) }
}
