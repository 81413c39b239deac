//! A sweep of the server as data: its state, and what is there of its result.

use std::time::Instant;

use model::design::file::Tree;
use reports::provenance::Provenance;
use reports::typed::{KnobValue, May, Named, Real, Said, Written};
use schemars::JsonSchema;
use sweep::table::Table;
use sweep::{Goal, Space, SweepResult};

use super::engine::{Engine, parsed};
use super::job::{Inner, Job, State};
use super::kept::{Keeping, MAX_ROWS};
use super::ledger::Entry;
use super::speed::Cost;
use crate::designs::exports;
use crate::store::StoreError;

reports::said! {
    /// A moment of a sweep.
    #[derive(Clone, Debug, JsonSchema)]
    pub(crate) struct Progress {
        state: State,
        /// Designs that are taken.
        asked: u64,
        /// Designs that are done.
        done: u64,
        /// Designs of these that the model has an estimate for.
        legal: u64,
        /// Designs of these that keep all constraints.
        feasible: u64,
        /// Designs that none is better than in every objective.
        front_size: usize,
        best: Vec<BestSoFar>,
        designs_per_second: Option<Real>,
        eta_seconds: Option<Real>,
        /// Why it failed.
        failure: Option<String>,
    }

    /// The best design by an objective; its parts are null before there is one.
    #[derive(Clone, Debug, JsonSchema)]
    pub(crate) struct BestSoFar {
        metric: &'static str,
        goal: Goal,
        value: Option<Real>,
        index: Option<u64>,
        knobs: Option<Named<KnobValue>>,
    }

    /// The rows that are kept.
    #[derive(Clone, Debug, JsonSchema)]
    #[schemars(rename = "KeptRows")]
    pub(crate) struct RowsAnswer {
        /// Number of rows; null when there were more than can be kept.
        kept: Option<u64>,
        /// Maximum number of rows that are kept.
        most: u64,
    }

    /// All that is known of a sweep.
    #[derive(Clone, Debug, JsonSchema)]
    #[schemars(rename = "Sweep")]
    pub(crate) struct SweepAnswer {
        id: String,
        state: State,
        /// Seconds since 1970; only while it runs on this server.
        #[schemars(skip_serializing_if = "Option::is_none")]
        created_at_secs: May<u64>,
        /// Null where no rows were asked for.
        rows: Option<RowsAnswer>,
        /// Null where it is over, or another server computes it.
        progress: Option<Progress>,
        result: Option<Written<SweepResult>>,
        provenance: Option<Provenance>,
    }

    /// A sweep in a list.
    #[derive(Clone, Debug, JsonSchema)]
    pub(crate) struct SweepEntry {
        id: String,
        name: String,
        state: State,
        /// Seconds since 1970.
        created_at_secs: u64,
        model_version: String,
        /// Its address.
        status: String,
        progress: Option<Progress>,
    }

    /// Sweeps, newest first.
    #[derive(Clone, Debug, JsonSchema)]
    pub(crate) struct Sweeps {
        sweeps: Vec<SweepEntry>,
    }

    /// A sweep that was begun.
    #[derive(Clone, Debug, JsonSchema)]
    pub(crate) struct Started {
        id: String,
        state: State,
        /// Its address.
        status: String,
        /// Where to watch it.
        events: String,
        /// Where its rows are.
        rows: String,
        cost: Cost,
    }

    /// A sweep of which no more is known here.
    #[derive(Clone, Debug, JsonSchema)]
    pub(crate) struct StateAlone {
        state: State,
    }
}

/// Where a sweep stands that was paused or let go on.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Standing {
    /// This server computes it.
    Here(Progress),
    /// Another server does, and knows how far it is.
    Elsewhere(StateAlone),
}

impl Said for Standing {
    fn said(self) -> Tree {
        match self {
            Self::Here(progress) => progress.said(),
            Self::Elsewhere(state) => state.said(),
        }
    }
}

impl SweepEntry {
    /// A sweep of the store, as far as it has come.
    pub(crate) fn new(engine: &Engine, entry: &Entry) -> Self {
        let update = engine.job(&entry.id).map(|job| ProgressUpdate::new(&job));
        Self {
            id: entry.id.clone(),
            name: entry.name.clone(),
            state: update.as_ref().map_or(entry.state, |update| update.data.state),
            created_at_secs: entry.created_at_secs,
            model_version: entry.model_version.clone(),
            status: format!("/api/v1/sweeps/{}", entry.id),
            progress: update.map(|update| update.data),
        }
    }
}

impl Started {
    /// A job that runs at an address.
    pub(crate) fn new(job: &Job, address: &str, cost: Cost) -> Self {
        Self {
            id: job.id.clone(),
            state: job.inner().state,
            status: address.to_owned(),
            events: format!("{address}/events"),
            rows: format!("{address}/rows"),
            cost,
        }
    }
}

/// A moment of a sweep, as it is sent four times a second.
#[derive(Clone, Debug)]
pub(crate) struct ProgressUpdate {
    pub(crate) revision: u64,
    /// Progress: how far, how many, the best so far.
    pub(crate) data: Progress,
}

impl ProgressUpdate {
    /// State of a job now. What it has found may be large: nothing of that is copied.
    pub(crate) fn new(job: &Job) -> Self {
        let revision = job.revision();
        let inner = job.inner();
        Self { revision, data: data(&job.space, &inner) }
    }
}

impl Progress {
    /// Designs a second, and seconds that are left.
    pub(crate) fn pace(&self) -> [Option<f64>; 2] {
        [self.designs_per_second, self.eta_seconds].map(|it| it.map(|Real(value)| value))
    }
}

fn data(space: &Space, inner: &Inner) -> Progress {
    let summary = inner.progress.summary();
    // What was simulated at the end is what counts.
    let closing = inner.closing.as_deref().filter(|closing| !closing.simulated.is_empty());
    let tops = space.spec().objectives.iter().zip(summary.top()).enumerate();
    let table = Table::new(space);
    let best = tops.map(|(place, (objective, top))| {
        let best = match closing {
            Some(closing) => {
                let best = closing.best(space, place);
                best.first().map(|one| (one.index, one.values.get(place).copied()))
            }
            None => top.first().map(|row| (row.index, row.values.get(place).copied())),
        };
        BestSoFar {
            metric: objective.metric.metric().name,
            goal: objective.goal,
            value: best.and_then(|(_, value)| value).map(Real),
            index: best.map(|(index, _)| index),
            knobs: best.map(|(index, _)| table.knobs(&table.record(index, &[]))),
        }
    });
    let front = closing.map_or(summary.front().len(), |closing| closing.front(space).len());
    let (rate, places) = (rate(inner), inner.progress.num_points());
    let eta_seconds = match inner.state {
        State::Running => rate.map(|rate| (space.num_points() - places) as f64 / rate),
        State::Done => Some(0.0),
        State::Paused | State::Failed | State::Removed => None,
    };
    Progress {
        state: inner.state,
        asked: space.num_points(),
        done: places,
        legal: summary.legal,
        feasible: summary.feasible,
        front_size: front,
        best: best.collect(),
        designs_per_second: rate.map(Real),
        eta_seconds: eta_seconds.map(Real),
        failure: inner.failure.clone(),
    }
}

/// Places a second since it began or went on.
fn rate(inner: &Inner) -> Option<f64> {
    let (start, from) = inner.since?;
    let seconds = Instant::now().duration_since(start).as_secs_f64();
    let done = inner.progress.num_points() - from;
    (done > 0 && seconds > 0.0).then(|| done as f64 / seconds)
}

/// Answer on the kept rows of feasible designs, if rows were requested.
fn rows(keeping: Keeping) -> Option<RowsAnswer> {
    match keeping {
        Keeping::No => None,
        Keeping::Yes(rows) => Some(RowsAnswer { kept: Some(rows), most: MAX_ROWS }),
        Keeping::TooMany => Some(RowsAnswer { kept: None, most: MAX_ROWS }),
    }
}

/// All that is known of a sweep; `None` if there is none. Takes its time: not for threads that
/// answer requests.
pub(crate) fn status(engine: &Engine, id: &str) -> Result<Option<SweepAnswer>, StoreError> {
    if let Some(job) = engine.job(id) {
        let (state, kept, now, progress, closing) = {
            let inner = job.inner();
            let now = data(&job.space, &inner);
            let closing = inner.closing.clone();
            (inner.state, inner.kept.keeping, now, inner.progress.clone(), closing)
        };
        let result = sweep::result(&job.space, &progress, closing.as_deref());
        return Ok(Some(SweepAnswer {
            id: id.to_owned(),
            state,
            created_at_secs: May(Some(job.created_at_secs)),
            rows: rows(kept),
            progress: Some(now),
            result: Some(Written::of(result)),
            provenance: Some(exports::provenance(&job.space.spec().base).answer()),
        }));
    }
    let past = engine.past(id)?;
    Ok(past.map(|past| {
        // A result of an earlier version of the model isn't read any more.
        let part = past.result.as_deref().and_then(|text| sweep::part(text).ok());
        SweepAnswer {
            id: id.to_owned(),
            state: past.state,
            created_at_secs: May(None),
            rows: rows(past.keeping),
            progress: None,
            result: past.result.as_deref().map(parsed).map(Written::stored),
            provenance: part.map(|part| exports::provenance(&part.space.spec().base).answer()),
        }
    }))
}
