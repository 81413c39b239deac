//! What makes a design legal: one table of rules, all checked, each with the nearest ways out.

mod legal;
mod table;

use alloc::string::String;
use alloc::vec::Vec;

use crate::design::{Design, KnobId};
use crate::source::Source;
use crate::violation::Violation;

pub use legal::legal_values;

/// One rule: a predicate over a design that says what is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its stable name, a statement that holds for a legal design.
    pub name: &'static str,
    /// The knobs that it ties together, those to change first in front.
    pub knobs: &'static [KnobId],
    /// Who demands it.
    pub source: Source,
    /// What is wrong with a design, if anything.
    check: fn(&Design) -> Option<String>,
}

/// Every rule, in the order in which violations are reported.
#[must_use]
pub fn rules() -> &'static [Rule] {
    table::RULES
}

/// The rules that a design breaks, with what is wrong.
fn broken(design: &Design) -> impl Iterator<Item = (&'static Rule, String)> + '_ {
    table::RULES.iter().filter_map(|rule| (rule.check)(design).map(|message| (rule, message)))
}

/// Does the design break no rule?
fn is_legal(design: &Design) -> bool {
    table::RULES.iter().all(|rule| (rule.check)(design).is_none())
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
