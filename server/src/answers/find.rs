//! A search for a layout on this machine's cores: what `moescape find --json` prints and
//! `POST /api/v1/find` answers.
//!
//! Steps of some tens of milliseconds are taken until the search is done or nobody waits any more:
//! a request that its client leaves is dropped, and with it the flag that the next step asks for.
//! The model has no clock, so that the seconds are added here.

use std::ops::ControlFlow;
use std::time::Instant;

use model::design::file::Tree;
use model::design::violation::Violation;
use model::search::find::{Answer, Phase, Progress, Query, Search};
use reports::Cores;
use reports::typed::{Flat, Real, Said};

reports::said! {
    /// The object of `moescape find --json`.
    #[derive(Clone, Debug, schemars::JsonSchema)]
    #[schemars(rename = "Found")]
    pub(crate) struct FoundAnswer {
        #[schemars(flatten)]
        found: Flat<reports::found::Found>,
        /// What the search took.
        seconds: Real,
    }
}

/// Result of a search, and the time that it took.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) answer: Answer,
    pub(crate) seconds: f64,
}

impl Found {
    /// Searches to the end, or until `hear` ends it: then there is nothing.
    ///
    /// # Errors
    /// Rules that no layout can mend.
    pub(crate) fn search(
        query: &Query,
        mut hear: impl FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Option<Self>, Vec<Violation>> {
        let (start, cores) = (Instant::now(), Cores::all());
        let mut search = Search::new(query.clone())?;
        loop {
            let progress = search.step(&cores);
            if hear(progress).is_break() {
                return Ok(None);
            }
            if progress.phase == Phase::Done {
                let seconds = start.elapsed().as_secs_f64();
                return Ok(Some(Self { answer: search.answer(), seconds }));
            }
        }
    }

    /// The answer for programs.
    pub(crate) fn answer(&self, query: &Query) -> FoundAnswer {
        let found = Flat(reports::found::found(query, &self.answer));
        FoundAnswer { found, seconds: Real(self.seconds) }
    }

    /// Result as data.
    pub(crate) fn tree(&self, query: &Query) -> Tree {
        self.answer(query).said()
    }
}

#[cfg(test)]
mod tests {
    use model::design::Design;
    use model::search::find::{OneThread, find};

    use super::*;

    #[test]
    fn an_answer_is_that_of_one_thread_and_its_progress_never_goes_back() {
        let query = Query::new(Design::from_preset("qwen3-30b-a3b").unwrap());
        let mut before = 0.0;
        let found = Found::search(&query, |progress| {
            assert!((before..=1.0).contains(&progress.share), "{progress:?} after {before}");
            before = progress.share;
            ControlFlow::Continue(())
        });
        let found = found.unwrap().unwrap();
        assert_eq!(Ok(found.answer), find(query, &OneThread));
    }
}
