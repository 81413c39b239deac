//! A search for a layout on this machine's cores: what `moescape find --json` prints and
//! `POST /api/v1/find` answers.
//!
//! Steps of some tens of milliseconds are taken until the search is done or nobody waits any more:
//! a request that its client leaves is dropped, and with it the flag that the next step asks for.
//! The model has no clock, so that the seconds are added here.

use std::ops::ControlFlow;
use std::time::Instant;

use model::design::violation::Violation;
use model::search::find::{
    Answer, Domain, LayoutSearch, Phase, Progress, Query, Search, StrategySearch,
};
use model::training::estimate::Metrics;
use reports::Cores;
use reports::found::Reported;
use reports::typed::{Flat, Real};

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
pub(crate) struct Found<M = Metrics> {
    pub(crate) answer: Answer<M>,
    pub(crate) seconds: f64,
}

/// Listener that ends a search, or lets it go on.
pub(crate) trait Hear: FnMut(Progress) -> ControlFlow<()> {}

impl<T: FnMut(Progress) -> ControlFlow<()>> Hear for T {}

/// Result of a search that may be ended before it is done: then there is nothing.
pub(crate) type Searched<T> = Result<Option<T>, Vec<Violation>>;

/// Searches to the end, or until `hear` ends it.
///
/// # Errors
/// Rules that no layout can mend.
pub(crate) fn search<S: Search>(query: &Query, mut hear: impl Hear) -> Searched<Found<S::Metrics>> {
    let (start, cores) = (Instant::now(), Cores::all());
    let mut search = S::new(query.clone())?;
    loop {
        let progress = search.step(&cores);
        if hear(progress).is_break() {
            return Ok(None);
        }
        if progress.phase == Phase::Done {
            let seconds = start.elapsed().as_secs_f64();
            return Ok(Some(Found { answer: search.answer(), seconds }));
        }
    }
}

/// Searches the domain of a query, for programs.
///
/// # Errors
/// Rules that no layout can mend.
pub(crate) fn found(query: &Query, hear: impl Hear) -> Searched<FoundAnswer> {
    Ok(match query.domain {
        Domain::Training => search::<StrategySearch>(query, hear)?.map(|it| it.answer(query)),
        Domain::Serving => search::<LayoutSearch>(query, hear)?.map(|it| it.answer(query)),
    })
}

impl<M: Reported> Found<M> {
    /// The answer for programs.
    pub(crate) fn answer(&self, query: &Query) -> FoundAnswer {
        let found = Flat(reports::found::found(query, &self.answer));
        FoundAnswer { found, seconds: Real(self.seconds) }
    }
}

#[cfg(test)]
mod tests {
    use model::design::Design;
    use model::search::find::OneThread;

    use super::*;

    #[test]
    fn an_answer_is_that_of_one_thread_and_its_progress_never_goes_back() {
        let query = Query::new(Design::from_preset("qwen3-30b-a3b").unwrap());
        let mut before = 0.0;
        let found = search::<StrategySearch>(&query, |progress| {
            assert!((before..=1.0).contains(&progress.share), "{progress:?} after {before}");
            before = progress.share;
            ControlFlow::Continue(())
        });
        let found = found.unwrap().unwrap();
        assert_eq!(Ok(found.answer), StrategySearch::find(query, &OneThread));
    }
}
