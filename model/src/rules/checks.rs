//! All rules put to a design.

use alloc::string::String;

use super::rule::Rule;
use super::table::{RULES, SOURCES};
use crate::design::{Design, KnobId, KnobSet};
use crate::knob::Section;
use crate::source::Source;

/// Every rule, in the order in which violations are reported.
#[must_use]
pub fn rules() -> &'static [Rule] {
    RULES
}

impl Rule {
    /// Who demands it; none of a rule of serving.
    #[must_use]
    pub fn source(&self) -> Option<Source> {
        let place = RULES.iter().position(|rule| rule.name == self.name)?;
        SOURCES.get(place).copied()
    }
}

/// The rules that read nothing but the model and its machine, which hold whatever it does.
pub(crate) fn shared_rules() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().filter(|rule| {
        rule.reads
            .iter()
            .all(|knob| matches!(knob.knob().section, Section::Transformer | Section::Cluster))
    })
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
