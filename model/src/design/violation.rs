//! A rule that a design breaks.

use alloc::string::String;
use alloc::vec::Vec;

use crate::design::KnobId;
use crate::ground::knob::Value;

/// A broken rule, with the nearest ways out.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The rule's stable name.
    pub rule: &'static str,
    /// The knobs that it ties together.
    pub knobs: &'static [KnobId],
    /// Description of the violation with the numbers, in a sentence.
    pub message: String,
    /// Changes of one knob that mend this rule, closest first; those that mend all come first.
    pub nearest: Vec<Nearest>,
}

/// A change of one knob.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// The knob.
    pub knob: KnobId,
    /// The value to give it.
    pub value: Value,
}
