//! Errors of a spec, and the words for them.

use model::design::file::Tree;
use model::ground::knob::KnobError;

/// An error at a place of the file.
pub(super) fn error(rule: &'static str, place: &str, detail: impl Into<String>) -> KnobError {
    let place: String = place.chars().take(80).collect();
    KnobError { rule, knob: place, detail: detail.into(), nearest: vec![] }
}

/// An error with its place in the whole file.
pub(super) fn below(part: &str, mut error: KnobError) -> KnobError {
    if error.knob != part {
        error.knob =
            if error.knob.is_empty() { part.into() } else { format!("{part}.{}", error.knob) };
    }
    error
}

/// Kind of a tree, as an error names it.
pub(super) const fn kind(tree: &Tree) -> &'static str {
    match tree {
        Tree::Null => "null",
        Tree::Flag(_) => "true or false",
        Tree::Unsigned(_) | Tree::Negative(_) | Tree::Real(_) => "a number",
        Tree::Text(_) => "a string",
        Tree::List(_) => "a list",
        Tree::Map(_) => "a map",
    }
}
