//! `GET /sweep` and `GET /s/{id}` with what its page gets: sweeps for people.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{Path, Query, RawQuery, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use leptos::prelude::provide_context;
use model::Estimator;
use model::design::file::{Tree, json};
use model::design::{Design, KnobId, link};
use model::ground::choice::Timing;
use present::insight::spec;
use present::page::find;
use present::page::results::data::Pace;
use present::page::results::{self, Data, Grid, wire};
use present::page::sweep::Served;
use present::site::Page;
use present::site::chosen::{Choice, Chosen, MAX_DESIGNS as MAX_COMPARED};
use reports::typed::Said;
use sweep::{Space, Spec};

use super::json::json_response;
use super::page::render;
use crate::inferred;
use crate::jobs::sweeps::ProgressUpdate;
use crate::net::problem::Problem;
use crate::net::work::off_thread;
use crate::report::{self, Asked};
use crate::state::AppState;

/// Designs of a cell that are tried to say why it is empty.
const TRIES: u32 = 24;

/// Most empty cells that are explained at once: long before this a picture is only hatched.
const MAX_CELLS: usize = 1_024;

/// A sweep that was found.
struct Found {
    data: Data,
    /// Its space; `None` if another version of the program wrote the spec.
    space: Option<Space>,
    /// Its spec.
    spec: Option<Tree>,
}

/// The page that builds a sweep: around the design in the link, as one that comes with the
/// program (`?spec=NAME`), as one that was run (`?sweep=ID`), or over the space of a search for
/// layouts (`?find.keep=...`).
pub(super) async fn builder(
    State(state): State<AppState>,
    request: Request,
) -> Result<Response, Problem> {
    let query = request.uri().query().unwrap_or_default().to_owned();
    let store = state.clone();
    let (served, status) = off_thread(move || served(&store, &query)).await?;
    let contexts = move || provide_context(served.clone());
    Ok(render(state, request, Page::Sweep, status, contexts).await)
}

fn served(state: &AppState, query: &str) -> (Served, StatusCode) {
    let published = sweep::published();
    let titles = published.iter().map(|known| {
        let tree = spec::parse(known.text).unwrap_or(Tree::Null);
        let title = tree.get("name").and_then(Tree::as_text).unwrap_or(known.name).to_owned();
        (known.name.to_owned(), title)
    });
    let mut served = Served { published: titles.collect(), ..Served::default() };
    let first = || link::decode("").map(|design| spec::print(&spec::around(&design)));
    let asked = |key: &str| query.strip_prefix(key).and_then(|rest| rest.split('&').next());
    if let Some(name) = asked("spec=") {
        if let Some(known) = published.iter().find(|known| known.name == name) {
            known.text.clone_into(&mut served.text);
            return (served, StatusCode::OK);
        }
        served.problems.push("There is no such published sweep.".to_owned());
    } else if let Some(id) = asked("sweep=") {
        match sweep_of(state, id) {
            Ok(Some(Found { spec: Some(mut tree), space, .. })) => {
                let freed = query.split('&').find_map(|pair| pair.strip_prefix("free="));
                for name in freed.unwrap_or_default().split(',') {
                    if let (Ok(knob), Some(space)) = (KnobId::find(name), &space) {
                        spec::vary(&mut tree, knob, &sweep::usual_values(space, knob));
                    }
                }
                served.text = spec::print(&tree);
                return (served, StatusCode::OK);
            }
            Ok(_) => served.problems.push("There is no such sweep to begin with.".to_owned()),
            Err(problem) => {
                tracing::error!(%problem, "a sweep can't be read");
                served.problems.push("The sweep can't be read now.".to_owned());
            }
        }
    } else if is_search(query) {
        let (request, wrong) = find::request::Request::read(query);
        if wrong.is_empty() {
            served.text = spec::print(&find::space::spec(&request.query));
            return (served, StatusCode::OK);
        }
        served.problems.extend(wrong.iter().map(ToString::to_string));
    } else {
        match link::decode(query) {
            Ok(design) => {
                served.text = spec::print(&spec::around(&design));
                return (served, StatusCode::OK);
            }
            Err(errors) => served.problems.extend(errors.iter().map(ToString::to_string)),
        }
    }
    served.text = first().unwrap_or_default();
    (served, StatusCode::BAD_REQUEST)
}

/// Whether an address asks for the space of a search for layouts.
fn is_search(query: &str) -> bool {
    query.split('&').any(|pair| pair.starts_with("find."))
}

/// The page of a sweep.
pub(super) async fn results(
    State(state): State<AppState>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let found = found(&state, id).await?;
    let status = if found.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let served = results::Served(found.map(|found| Arc::new(found.data)));
    let contexts = move || provide_context(served.clone());
    Ok(render(state, request, Page::Results, status, contexts).await)
}

/// Data that the page draws, for its module.
pub(super) async fn data(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let found = found(&state, id).await?.ok_or_else(unknown)?;
    let headers =
        [(header::CONTENT_TYPE, "application/octet-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, wire::encode(&found.data)).into_response())
}

/// The numbers of a design by its link, for what stands beside those of a sweep: as
/// `POST /api/v1/predict` has them, which also answers for a design that can't run.
pub(super) async fn beside(RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let answer = off_thread(move || {
        let design = link::decode(&query.unwrap_or_default()).ok()?;
        let trained = report::prediction(&mut Estimator::new(), &design, Asked::Numbers);
        Some(Tree::map([(
            "metrics",
            joined([&trained.said(), &inferred::inferred(&design).said()]),
        )]))
    });
    Ok(json_response(&answer.await?.unwrap_or(Tree::Null)))
}

/// The metrics of both regimes in one map.
fn joined(answers: [&Tree; 2]) -> Tree {
    let metrics = answers.iter().filter_map(|answer| match answer.get("metrics") {
        Some(Tree::Map(entries)) => Some(entries.clone()),
        _ => None,
    });
    Tree::Map(metrics.flatten().collect())
}

/// Reasons why cells of two knobs are empty: a line for each, with both bins and the words.
pub(super) async fn cells(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(knobs): Query<HashMap<String, String>>,
) -> Result<String, Problem> {
    let found = found(&state, id).await?.ok_or_else(unknown)?;
    let knob = |key: &str| knobs.get(key).cloned().unwrap_or_default();
    let (x, y) = (knob("x"), knob("y"));
    off_thread(move || empty_cells(&found, &x, &y).unwrap_or_default()).await
}

fn empty_cells(found: &Found, x: &str, y: &str) -> Option<String> {
    let space = found.space.as_ref()?;
    let axis = |id: &str| space.axes().iter().position(|axis| axis.knob.id() == id);
    let place = |id: &str| found.data.knobs.iter().position(|knob| knob.id.id() == id);
    let grid = Grid::of(&found.data, [place(x)?, place(y)?]);
    let axes = [axis(x)?, axis(y)?];
    let pairs = sweep::pairs(space);
    let turned = axes[0] > axes[1];
    let sides = if turned { [axes[1], axes[0]] } else { axes };
    let pair = pairs.iter().find(|pair| pair.axes == sides)?;
    let mut text = String::new();
    let mut left = MAX_CELLS;
    for upright in 0..grid.bins[1] {
        for level in 0..grid.bins[0] {
            if grid.at([level, upright]).is_some() || left == 0 {
                continue;
            }
            left -= 1;
            let cell = if turned { [upright, level] } else { [level, upright] };
            let words = match sweep::infeasibility(space, pair, cell, TRIES) {
                Some(why) => format!(
                    "Of {} designs tried in this cell, {} break: {}.",
                    why.tried,
                    why.breaking,
                    present::format::reason(&why.reason),
                ),
                None => "Designs that were tried in this cell are feasible.".to_owned(),
            };
            // Writing to a string can't fail.
            let _ = writeln!(text, "{level} {upright} {words}");
        }
    }
    Some(text)
}

/// Leads to a design of a sweep in the explorer.
pub(super) async fn design(
    State(state): State<AppState>,
    Path((id, index)): Path<(String, u64)>,
) -> Result<Redirect, Problem> {
    let (design, data) = design_of(&state, id, index).await?;
    let page = if data.is_serving() { Page::Serving } else { Page::Explorer };
    Ok(Redirect::to(&format!("{}?{}", page.path(), link::encode(&design))))
}

/// Leads to a search for layouts around a design of a sweep.
pub(super) async fn find_around(
    State(state): State<AppState>,
    Path((id, index)): Path<(String, u64)>,
) -> Result<Redirect, Problem> {
    let (design, _) = design_of(&state, id, index).await?;
    Ok(Redirect::to(&present::site::find_address(&design)))
}

async fn design_of(state: &AppState, id: String, index: u64) -> Result<(Design, Data), Problem> {
    let found = found(state, id).await?.ok_or_else(unknown)?;
    let space = found.space.filter(|space| index < space.size());
    let space =
        space.ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "the sweep has no such design"))?;
    Ok((shown(&space, &found.data, index), found.data))
}

/// A design as the sweep's page shows it: simulated, where it was.
fn shown(space: &Space, data: &Data, index: u64) -> Design {
    let mut design = space.design(index);
    if data.is_simulated(index) {
        design.schedule.timing = Timing::Simulated;
    }
    design
}

/// Leads to designs of a sweep beside each other: `?designs=3,14,15`.
pub(super) async fn compare(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Query(parameters): Query<HashMap<String, String>>,
) -> Result<Redirect, Problem> {
    let asked = parameters.get("designs").map_or("", String::as_str);
    let indices: Option<Vec<u64>> = asked.split(',').map(|index| index.parse().ok()).collect();
    let indices = indices.filter(|indices| indices.len() <= MAX_COMPARED).ok_or_else(|| {
        let detail = format!("`designs` takes up to {MAX_COMPARED} numbers of designs: 3,14,15");
        Problem::new(StatusCode::BAD_REQUEST, detail)
    })?;
    let Found { data, space, .. } = found(&state, id).await?.ok_or_else(unknown)?;
    let space = space.filter(|space| indices.iter().all(|index| *index < space.size()));
    let space =
        space.ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "the sweep has no such design"))?;
    let designs = indices.into_iter().map(|index| Choice {
        link: link::encode(&shown(&space, &data, index)),
        name: format!("Design {index} of the sweep"),
    });
    let chosen = Chosen { designs: designs.collect(), ..Chosen::default() };
    Ok(Redirect::to(&chosen.address()))
}

async fn found(state: &AppState, id: String) -> Result<Option<Found>, Problem> {
    let state = state.clone();
    off_thread(move || sweep_of(&state, &id)).await?.map_err(|error| {
        tracing::error!(%error, "a sweep can't be read");
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the server can't use its store now")
    })
}

/// The sweep of an id, running or over.
fn sweep_of(state: &AppState, id: &str) -> Result<Option<Found>, String> {
    let engine = state.sweeps().map_err(|error| error.to_string())?;
    if let Some(job) = engine.job(id) {
        let update = ProgressUpdate::new(&job);
        let (progress, closing) = {
            let inner = job.inner();
            (inner.progress.clone(), inner.closing.clone())
        };
        let overview = sweep::overview(&job.space, &progress, closing.as_deref());
        let mut data = results::data::read(id, update.data.state.name(), &overview.said());
        let [rate, eta] = update.data.pace();
        data.base = link::encode(&job.space.spec().base);
        data.pace = Pace { rate, eta };
        let spec = Some(job.space.spec().source().clone());
        let space = progress.summary().known_in(&job.space);
        return Ok(Some(Found { data, space: Some(space), spec }));
    }
    let past = engine.past(id).map_err(|error| error.to_string())?;
    let Some(past) = past else { return Ok(None) };
    let result = past.result.as_deref().and_then(|text| json::parse(text).ok());
    let result = result.unwrap_or(Tree::Null);
    let spec = result.get("part").and_then(|part| part.get("spec")).cloned();
    let read = spec.as_ref().and_then(|spec| Spec::from_tree(spec).ok());
    let space = read.and_then(|spec| Space::new(spec).ok());
    let part = past.result.as_deref().and_then(|text| sweep::part(text).ok());
    let space = match (space, part) {
        (Some(space), Some(part)) => Some(part.progress.summary().known_in(&space)),
        (space, _) => space,
    };
    let mut data = results::data::read(id, past.state.name(), &result);
    data.base = space.as_ref().map_or_else(String::new, |space| link::encode(&space.spec().base));
    Ok(Some(Found { data, space, spec }))
}

fn unknown() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "there is no such sweep; it may have been removed")
}
