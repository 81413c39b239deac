//! What makes a design legal: one table of rules, all checked, each with the nearest ways out.

mod checks;
mod facts;
mod framework;
mod layers;
mod legal;
mod letters;
pub(crate) mod rule;
mod steps;
mod table;
pub mod vocabulary;

use alloc::vec::Vec;

use crate::design::Design;
use crate::design::violation::Violation;

use checks::broken;

pub use checks::{caution_rules, cautions, rules};
pub(crate) use checks::{first_broken, is_cautioned, is_legal, shared_rules};
pub use framework::Assertion;
pub use legal::legal_values;
pub(crate) use legal::nearest;
pub use rule::Rule;
pub use steps::steps;

/// Every rule that a design breaks, each with the nearest legal values.
#[must_use]
pub fn violations(design: &Design) -> Vec<Violation> {
    broken(design)
        .map(|(rule, message)| Violation {
            rule: rule.name,
            knobs: rule.knobs,
            message,
            nearest: nearest(design, rule, is_legal),
        })
        .collect()
}
