//! A sweep of the server as data: where it stands, and what is there of its result.

use std::time::Instant;

use model::file::{PROVENANCE, Tree};
use sweep::Space;

use super::engine::{Engine, parsed};
use super::job::{Inner, Job, State};
use super::kept::{Keeping, MAX_ROWS};
use crate::exports;
use crate::store::StoreError;

/// A moment of a sweep, as it is sent four times a second.
#[derive(Clone, Debug)]
pub(crate) struct ProgressUpdate {
    pub(crate) revision: u64,
    pub(crate) state: State,
    /// How far, how many, the best so far.
    pub(crate) data: Tree,
}

impl ProgressUpdate {
    /// Where a job stands now. What it has found may be large: nothing of that is copied.
    pub(crate) fn new(job: &Job) -> Self {
        let revision = job.revision();
        let inner = job.inner();
        Self { revision, state: inner.state, data: data(&job.space, &inner) }
    }
}

fn data(space: &Space, inner: &Inner) -> Tree {
    let summary = inner.progress.summary();
    // What was simulated at the end is what counts.
    let closing = inner.closing.as_deref().filter(|closing| !closing.simulated.is_empty());
    let tops = space.spec().objectives.iter().zip(summary.top()).enumerate();
    let best = tops.map(|(place, (objective, top))| {
        let metric = objective.metric;
        let best = match closing {
            Some(closing) => {
                let best = closing.best(space, place);
                best.first().map(|one| (one.index, one.values.get(place).copied()))
            }
            None => top.first().map(|row| (row.index, row.values.get(place).copied())),
        };
        Tree::map([
            ("metric", Tree::from(metric.metric().name)),
            ("goal", objective.goal.name().into()),
            ("value", best.and_then(|(_, value)| value).into()),
            ("index", best.map(|(index, _)| index).into()),
            ("knobs", best.map_or(Tree::Null, |(index, _)| sweep::knobs(space, index))),
        ])
    });
    let front = closing.map_or(summary.front().len(), |closing| closing.front(space).len());
    let (rate, places) = (rate(inner), inner.progress.places());
    let eta_seconds = match inner.state {
        State::Running => rate.map(|rate| (space.places() - places) as f64 / rate),
        State::Done => Some(0.0),
        State::Paused | State::Failed | State::Removed => None,
    };
    Tree::map([
        ("state", Tree::from(inner.state.name())),
        ("asked", space.places().into()),
        ("done", places.into()),
        ("legal", summary.legal.into()),
        ("feasible", summary.feasible.into()),
        ("front_size", Tree::Unsigned(front as u64)),
        ("best", Tree::List(best.collect())),
        ("designs_per_second", rate.into()),
        ("eta_seconds", eta_seconds.into()),
        ("failure", inner.failure.as_deref().into()),
    ])
}

/// Places a second since it began or went on.
fn rate(inner: &Inner) -> Option<f64> {
    let (start, from) = inner.since?;
    let seconds = Instant::now().duration_since(start).as_secs_f64();
    let done = inner.progress.places() - from;
    (done > 0 && seconds > 0.0).then(|| done as f64 / seconds)
}

/// Whose rows of feasible designs are kept, and how many.
fn rows(keeping: Keeping) -> Tree {
    match keeping {
        Keeping::No => Tree::Null,
        Keeping::Yes(rows) => {
            Tree::map([("kept", Tree::Unsigned(rows)), ("most", MAX_ROWS.into())])
        }
        Keeping::TooMany => Tree::map([("kept", Tree::Null), ("most", MAX_ROWS.into())]),
    }
}

/// All that is known of a sweep; none when there is none. Takes its time: not for threads that
/// answer requests.
pub(crate) fn status(engine: &Engine, id: &str) -> Result<Option<Tree>, StoreError> {
    if let Some(job) = engine.job(id) {
        let (state, kept, now, progress, closing) = {
            let inner = job.inner();
            let now = data(&job.space, &inner);
            let closing = inner.closing.clone();
            (inner.state, inner.kept.keeping, now, inner.progress.clone(), closing)
        };
        let result = sweep::result(&job.space, &progress, closing.as_deref());
        return Ok(Some(Tree::map([
            ("id", Tree::from(id)),
            ("state", state.name().into()),
            ("created_at_secs", job.created_at_secs.into()),
            ("rows", rows(kept)),
            ("progress", now),
            ("result", result),
            (PROVENANCE, exports::provenance(&job.space.spec().base).tree()),
        ])));
    }
    let past = engine.past(id)?;
    Ok(past.map(|past| {
        let result = past.result.as_deref().map_or(Tree::Null, parsed);
        // A result of an earlier version of the model isn't read any more.
        let part = past.result.as_deref().and_then(|text| sweep::part(text).ok());
        let from = part.map(|part| exports::provenance(&part.space.spec().base).tree());
        Tree::map([
            ("id", Tree::from(id)),
            ("state", past.state.name().into()),
            ("rows", rows(past.keeping)),
            ("progress", Tree::Null),
            ("result", result),
            (PROVENANCE, from.unwrap_or(Tree::Null)),
        ])
    }))
}
