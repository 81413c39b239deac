//! All rules put to a design.

use alloc::string::String;

use super::rule::Rule;
use super::table::RULES;
use crate::design::{Design, KnobId, KnobSet};

/// Every rule, in the order in which violations are reported.
#[must_use]
pub fn rules() -> &'static [Rule] {
    RULES
}

/// The rules that a design breaks, with what is wrong.
pub(super) fn broken(design: &Design) -> impl Iterator<Item = (&'static Rule, String)> + '_ {
    RULES.iter().filter_map(|rule| (rule.check.words)(design).map(|message| (rule, message)))
}

/// The first rule that a design breaks of those that read one of these knobs.
pub(crate) fn first_broken(design: &Design, knobs: &KnobSet) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.reads.meets(knobs) && rule.is_broken(design))
}

/// Whether a design breaks no rule that names this knob.
pub(super) fn keeps_rules_of(design: &Design, knob: KnobId) -> bool {
    RULES.iter().all(|rule| !rule.knobs.contains(&knob) || !rule.is_broken(design))
}

/// Whether a design breaks no rule.
pub(crate) fn is_legal(design: &Design) -> bool {
    RULES.iter().all(|rule| !rule.is_broken(design))
}
