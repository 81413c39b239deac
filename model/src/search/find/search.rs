//! A search through the designs of one domain, whatever it looks for.

use alloc::vec::Vec;

use super::answer::{Answer, Phase, Progress};
use super::pool::Pool;
use super::query::Query;
use super::target::Predicted;
use crate::design::violation::Violation;

/// A search through the designs of one domain, in steps.
pub trait Search: Sized {
    /// Predicted metrics of a design.
    type Metrics: Predicted;

    /// Begins a search.
    ///
    /// # Errors
    /// Rules that no layout can mend: they read no knob that is freed.
    fn new(query: Query) -> Result<Self, Vec<Violation>>;

    /// Does a part of the work, some tens of milliseconds on one thread.
    fn step(&mut self, pool: &impl Pool) -> Progress;

    /// Designs found so far, with what was ruled out.
    #[must_use]
    fn answer(&self) -> Answer<Self::Metrics>;

    /// Searches to the end.
    ///
    /// # Errors
    /// Rules that no layout can mend: they read no knob that is freed.
    fn find(query: Query, pool: &impl Pool) -> Result<Answer<Self::Metrics>, Vec<Violation>> {
        let mut search = Self::new(query)?;
        while search.step(pool).phase != Phase::Done {}
        Ok(search.answer())
    }
}
