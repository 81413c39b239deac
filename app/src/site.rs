//! The pages of the site: their addresses.

pub(crate) mod parameters;

use crate::page::{compare, ladder, results, review, schedule, sweep, trust};

/// The page that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Page {
    /// The explorer.
    #[default]
    Explorer,
    /// Published runs beside their predictions.
    Trust,
    /// A published run from its baseline on, one change at a time.
    Ladder,
    /// Pipeline schedules alone.
    Schedule,
    /// Builds a sweep.
    Sweep,
    /// A sweep's results.
    Results,
    /// Designs beside each other.
    Compare,
    /// A review session, or the form that begins one.
    Review,
}

impl Page {
    /// The page at a path.
    #[must_use]
    pub fn at(path: &str) -> Self {
        match path.trim_end_matches('/') {
            trust::PATH => Self::Trust,
            ladder::PATH => Self::Ladder,
            schedule::PATH => Self::Schedule,
            sweep::PATH => Self::Sweep,
            compare::PATH => Self::Compare,
            path if path.strip_prefix(results::PATH).is_some_and(|id| id.starts_with('/')) => {
                Self::Results
            }
            path if path.strip_prefix(review::PATH).is_some_and(|id| id.starts_with('/')) => {
                Self::Review
            }
            _ => Self::Explorer,
        }
    }
}
