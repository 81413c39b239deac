//! One rule, and the two forms of its check.

use alloc::string::String;

use crate::design::{Design, KnobId, KnobSet};

/// One rule: a predicate over a design that says what is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its stable name, a statement that holds for a legal design.
    pub name: &'static str,
    /// The knobs that it ties together, those to change first in front.
    pub knobs: &'static [KnobId],
    /// Every knob that its verdict depends on: these, and what it needs to know beside them.
    pub reads: KnobSet,
    pub(crate) check: Checks,
}

/// One check in its two forms: most designs of a search need the verdict alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checks {
    /// Text of the rule's violation by a design, if any.
    pub(crate) words: fn(&Design) -> Option<String>,
    /// Something where a design is wrong.
    pub(crate) verdict: fn(&Design) -> Option<()>,
}

/// Result of a check: a text, or only that something is wrong.
pub(crate) trait Words {
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

/// A table of rules: name, knobs, what else is read, who demands it, and what is wrong.
macro_rules! rules {
    ($(
        $name:ident [$($knob:ident),+] $(+ [$($also:ident),+])? $source:expr,
        |$design:ident| $check:expr;
    )+) => {
        pub(super) const RULES: &[Rule] = &[$(Rule {
            name: stringify!($name),
            knobs: &[$(KnobId::$knob),+],
            reads: KnobSet::of(&[$(KnobId::$knob),+])$(.and(&[$(KnobId::$also),+]))?,
            check: {
                fn check<W: Words>($design: &Design) -> Option<W> {
                    $check
                }
                Checks { words: check::<String>, verdict: check::<()> }
            },
        },)+];

        /// Source that demands each rule, apart from them: a program that never shows them doesn't
        /// carry them.
        pub(super) static SOURCES: &[Source] = &[$($source,)+];
    };
}

/// Words that are put together only where somebody reads them.
macro_rules! say {
    ($($words:tt)+) => { Words::say(|| format!($($words)+)) };
}

pub(crate) use {rules, say};

/// `message` when `whole` isn't a multiple of `part`.
pub(crate) fn indivisible<W: Words>(
    whole: u64,
    part: u64,
    message: impl FnOnce() -> W,
) -> Option<W> {
    (!whole.is_multiple_of(part.max(1))).then(message)
}
