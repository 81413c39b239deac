//! One rule, and the two forms of its check.

use alloc::string::String;

use crate::design::{Design, KnobId, KnobSet};
use crate::source::Source;

/// One rule: a predicate over a design that says what is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its stable name, a statement that holds for a legal design.
    pub name: &'static str,
    /// The knobs that it ties together, those to change first in front.
    pub knobs: &'static [KnobId],
    /// Every knob that its verdict depends on: these, and what it needs to know beside them.
    pub reads: KnobSet,
    /// Who demands it.
    pub source: Source,
    pub(super) check: Checks,
}

/// One check in its two forms: most designs of a search are asked for the verdict alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checks {
    /// What is wrong with a design, if anything.
    pub(super) words: fn(&Design) -> Option<String>,
    /// Something where a design is wrong.
    pub(super) verdict: fn(&Design) -> Option<()>,
}

/// What a check says: words, or nothing but that something is wrong.
pub(super) trait Words {
    fn say(words: impl FnOnce() -> String) -> Self;
}

impl Words for String {
    fn say(words: impl FnOnce() -> String) -> Self {
        words()
    }
}

impl Words for () {
    fn say(_: impl FnOnce() -> String) {}
}

impl Rule {
    /// Whether a design breaks it.
    #[must_use]
    pub fn is_broken(&self, design: &Design) -> bool {
        (self.check.verdict)(design).is_some()
    }
}
