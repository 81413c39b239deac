//! All rules put to a design.

use alloc::string::String;

use super::framework::{self, Assertion, CAUTIONS};
use super::rule::Rule;
use super::table::{self, SOURCES};
use crate::design::{Design, KnobId, KnobSet};
use crate::ground::knob::Section;
use crate::ground::source::Source;

/// Number of rules.
const COUNT: usize = {
    let (mut count, mut table) = (table::RULES.len(), 0);
    while table < framework::TABLES.len() {
        count += framework::TABLES[table].len();
        table += 1;
    }
    count
};

/// The rules that hold whatever the framework, and behind them those of single frameworks.
static RULES: [Rule; COUNT] = {
    let mut all = [table::RULES[0]; COUNT];
    let (mut filled, mut table, mut part) = (0, 0, table::RULES);
    loop {
        let mut place = 0;
        while place < part.len() {
            all[filled] = part[place];
            (filled, place) = (filled + 1, place + 1);
        }
        if table == framework::TABLES.len() {
            break all;
        }
        (part, table) = (framework::TABLES[table], table + 1);
    }
};

/// Every rule, in the order in which violations are reported.
#[must_use]
pub fn rules() -> &'static [Rule] {
    &RULES
}

impl Rule {
    /// Source that demands it; `None` for a rule of serving.
    #[must_use]
    pub fn source(&self) -> Option<Source> {
        let place = RULES.iter().position(|rule| rule.name == self.name)?;
        SOURCES.get(place).copied().or_else(|| Some(self.assertion()?.source))
    }

    /// Where a framework checks it; none of a rule that holds whatever the framework.
    #[must_use]
    pub fn assertion(&self) -> Option<&'static Assertion> {
        framework::assertion_of(self)
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

/// Whether the released code of a design's framework refuses what published runs had.
pub(crate) fn is_cautioned(design: &Design) -> bool {
    CAUTIONS.iter().any(|rule| rule.is_broken(design))
}

/// The rules of released code that published runs broke: no violations, but what a search keeps.
#[must_use]
pub const fn caution_rules() -> &'static [Rule] {
    CAUTIONS
}

/// Rules of the released code of a design's framework that published runs broke, with the text of
/// each.
pub fn cautions(design: &Design) -> impl Iterator<Item = (&'static Rule, String)> + '_ {
    CAUTIONS.iter().filter_map(|rule| Some((rule, (rule.check.words)(design)?)))
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
