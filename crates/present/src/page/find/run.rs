//! A search under way, as the page follows it: what it is at, and what it has found.

use model::design::file::{Tree, json};
use model::design::violation::Violation;
use model::search::find::{OneThread, Phase, Pool, Progress, Query, Search, StrategySearch};
use reports::found;

use super::answer;
use super::request::Request;

/// A search under way.
#[derive(Debug)]
pub struct Finder {
    query: Query,
    search: Result<StrategySearch, Vec<Violation>>,
    progress: Progress,
}

impl Finder {
    /// Begins the search that an address asks for.
    ///
    /// # Errors
    /// Everything that is wrong with the address, in lines.
    pub fn of_address(raw: &str) -> Result<Self, Vec<String>> {
        match Request::read(raw) {
            (request, wrong) if wrong.is_empty() => Ok(Self::new(request.query)),
            (_, wrong) => Err(wrong.iter().map(ToString::to_string).collect()),
        }
    }

    /// Begins a search. One of a design that no layout can mend is done at once.
    #[must_use]
    pub fn new(query: Query) -> Self {
        let search = StrategySearch::new(query.clone());
        let phase = if search.is_ok() { Phase::Screening } else { Phase::Done };
        let progress = Progress { phase, share: 0.0, evaluated: 0 };
        Self { query, search, progress }
    }

    /// Whether all is done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.progress.phase == Phase::Done
    }

    /// Does a part of the work.
    pub fn step(&mut self, pool: &impl Pool) -> Progress {
        if !self.is_done()
            && let Ok(search) = &mut self.search
        {
            self.progress = search.step(pool);
        }
        self.progress
    }

    /// Does a part of the work on one thread, and says what it is at, in JSON:
    /// `{"phase","share","evaluated","done"}`.
    pub fn step_alone(&mut self) -> String {
        let Progress { phase, share, evaluated } = self.step(&OneThread);
        json::print(&Tree::map([
            ("phase", phase_text(phase).into()),
            ("share", Tree::Real(share)),
            ("evaluated", Tree::Unsigned(evaluated)),
            ("done", (phase == Phase::Done).into()),
        ]))
    }

    /// Answer so far as JSON, as the server and the command line print it, without the seconds.
    #[must_use]
    pub fn json(&self) -> Option<String> {
        let answer = self.search.as_ref().ok()?.answer();
        Some(json::print(&found::tree(&self.query, &answer)))
    }

    /// Answer so far as HTML.
    #[must_use]
    pub fn html(&self) -> String {
        match &self.search {
            Ok(search) => answer::html(&self.query, &search.answer(), self.is_done()),
            Err(violations) => answer::refused(&self.query, violations),
        }
    }
}

/// Text of a search's phase.
const fn phase_text(phase: Phase) -> &'static str {
    match phase {
        Phase::Screening => "Trying every legal combination of degrees",
        Phase::Refining => "Refining the best by closed forms",
        Phase::Simulating => "Simulating designs near the front",
        Phase::Sizing => "Trying other sizes",
        Phase::Done => "Done",
    }
}
