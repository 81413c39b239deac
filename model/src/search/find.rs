//! The search for a layout: given a model, a machine and a load, which design should run?
//!
//! A [`Query`] is a design and what must stay of it. A [`Search`] goes through the designs of one
//! [`Domain`]: [`StrategySearch`] through strategies of training, [`LayoutSearch`] through layouts
//! and loads of serving. Both take the same goals and targets, work on a [`Pool`] in steps, and
//! have the same [`Answer`]. Work is counted, never timed, so that a query has one answer, wherever
//! it is computed and on however many threads.

mod pool;
mod rank;
mod target;
mod query;
mod answer;
mod reason;
mod serving;
mod training;

use alloc::vec::Vec;

use crate::design::violation::Violation;

pub use crate::rules::vocabulary::STRATEGY;
pub use answer::{Answer, MAX_DESIGNS, Miss, Phase, Progress, Recommendation, RuledOut};
pub use pool::{OneThread, Pool};
pub use query::{Goal, MIN_SPARE, Query, Question};
pub use serving::{LayoutFront, LayoutPoint, LayoutSearch, Skipped};
pub use target::{Domain, Predicted, Target};
pub use training::{
    Advice, Change, Guide, Loss, MAX_COMBINED, Near, StrategySearch, advice, remedies, spare,
};

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
