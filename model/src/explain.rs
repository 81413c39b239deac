//! A metric as a tree of named terms.

use alloc::string::String;
use alloc::vec::Vec;

use crate::source::Source;

/// A number with its formula and the terms that it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    /// What it is.
    pub name: String,
    /// Its value in its unit.
    pub value: f64,
    /// The unit; empty for counts and ratios.
    pub unit: &'static str,
    /// How the value follows from the children, in words and symbols.
    pub formula: String,
    /// Where the formula comes from.
    pub source: Source,
    /// The terms.
    pub children: Vec<Self>,
}
