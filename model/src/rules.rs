//! What makes a design legal: one table of rules, all checked, each with the nearest ways out.

mod legal;
mod letters;
mod steps;
mod table;

use alloc::string::String;
use alloc::vec::Vec;

use crate::design::{Design, KnobId, KnobSet};
use crate::source::Source;
use crate::violation::Violation;

pub use legal::legal_values;
pub use steps::steps;

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
    check: Checks,
}

/// One check in its two forms: most designs of a search are asked for the verdict alone.
#[derive(Clone, Copy, Debug)]
struct Checks {
    /// What is wrong with a design, if anything.
    words: fn(&Design) -> Option<String>,
    /// Something where a design is wrong.
    verdict: fn(&Design) -> Option<()>,
}

/// What a check says: words, or nothing but that something is wrong.
trait Words {
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
    /// Does a design break it?
    #[must_use]
    pub fn is_broken(&self, design: &Design) -> bool {
        (self.check.verdict)(design).is_some()
    }
}

/// Every rule, in the order in which violations are reported.
#[must_use]
pub fn rules() -> &'static [Rule] {
    table::RULES
}

/// The rules that a design breaks, with what is wrong.
fn broken(design: &Design) -> impl Iterator<Item = (&'static Rule, String)> + '_ {
    table::RULES.iter().filter_map(|rule| (rule.check.words)(design).map(|message| (rule, message)))
}

/// The first rule that a design breaks of those that read one of these knobs.
pub(crate) fn first_broken(design: &Design, knobs: &KnobSet) -> Option<&'static Rule> {
    table::RULES.iter().find(|rule| rule.reads.meets(knobs) && rule.is_broken(design))
}

/// Does the design break no rule that names this knob?
fn keeps_rules_of(design: &Design, knob: KnobId) -> bool {
    table::RULES.iter().all(|rule| !rule.knobs.contains(&knob) || !rule.is_broken(design))
}

/// Does the design break no rule?
pub(crate) fn is_legal(design: &Design) -> bool {
    table::RULES.iter().all(|rule| !rule.is_broken(design))
}

/// Every rule that a design breaks, each with the nearest legal values.
#[must_use]
pub fn violations(design: &Design) -> Vec<Violation> {
    broken(design)
        .map(|(rule, message)| Violation {
            rule: rule.name,
            knobs: rule.knobs,
            message,
            nearest: legal::nearest(design, rule),
        })
        .collect()
}
