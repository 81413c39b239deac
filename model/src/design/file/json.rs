//! Design files as JSON.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{Extent, Tree};
use crate::design::Design;
use crate::ground::knob::KnobError;

/// The design of a JSON file.
///
/// # Errors
/// Where the text is no JSON, or everything that is wrong with the design.
pub fn read(text: &str) -> Result<Design, Vec<KnobError>> {
    super::read(&parse(text).map_err(|error| vec![error])?)
}

/// Any JSON as a tree.
///
/// # Errors
/// Where the text is no JSON.
pub fn parse(text: &str) -> Result<Tree, KnobError> {
    serde_json::from_str(text).map_err(|error| KnobError {
        rule: "not_json",
        knob: String::new(),
        detail: format!("the file is no JSON: {error}"),
        nearest: vec![],
    })
}

/// The JSON file of a design.
#[must_use]
pub fn write(design: &Design, extent: Extent) -> String {
    print(&super::write(design, extent))
}

/// A tree as indented JSON that ends in a newline.
///
/// A number that is not finite has no spelling in JSON and becomes `null`.
#[must_use]
pub fn print(tree: &Tree) -> String {
    let text = serde_json::to_string_pretty(tree);
    let mut text = text.expect("every key of a tree is a string");
    text.push('\n');
    text
}
