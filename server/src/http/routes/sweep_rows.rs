//! `GET /api/v1/sweeps/{id}/rows`: designs of a sweep, one row each, as a file.

use std::io::{self, Cursor, Read, Write};
use std::sync::Arc;

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::design::file::json;
use reports::typed::Said;
use sweep::{Part, Progress, Row, Space};

use super::sweeps::{ID, blocking, broken, out_of_use, unknown};
use crate::http::endpoint::{CSV, PARQUET, bytes, endpoints, text};
use crate::jobs::sweeps::rows::{self, Format};
use crate::jobs::sweeps::{Engine, Keeping, MAX_ROWS, table};
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::query::{self, parameter_list};
use crate::net::response_buffer;
use crate::state::AppState;
use crate::store::StoreError;

/// Designs to send.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Pareto front: designs that none is better than in every objective.
    Front,
    /// The best of each objective.
    Best,
    /// A random sample of the feasible ones.
    Sample,
    /// All feasible ones.
    All,
    /// All that the server has.
    Kept,
}

/// Formats by their names. A Parquet file is made of the binary form.
const FORMATS: [(&str, Format); 3] =
    [("csv", Format::Csv), ("jsonl", Format::JsonLines), ("parquet", Format::Binary)];

const CHOICES: [(&str, Which); 4] = [
    ("front", Which::Front),
    ("best", Which::Best),
    ("sample", Which::Sample),
    ("all", Which::All),
];

parameter_list! { PARAMETERS:
    /// Comma-separated with a header, a JSON object in each line, or Parquet with the sweep's
    /// result under `moescape.result` in its footer.
    format(|| query::first_of(&FORMATS)).example("jsonl"),
    /// The Pareto front, the best of each objective, the random sample, or all feasible designs;
    /// these only for sweeps that were started with `rows=all`. Absent: all that the server has,
    /// each once.
    of(|| query::one_of(&CHOICES)).example("all"),
}

endpoints! {
    /// Designs of a sweep as a table
    ///
    /// One row for each design: its index, the knobs that vary, the metrics of the spec's columns;
    /// by index. The answer is streamed, also while the sweep runs: then it has what is done by
    /// now.
    get "/api/v1/sweeps/{id}/rows" => rows as rowsOfSweep {
        .with([ID]).with(PARAMETERS)
        .answers_as(CSV, text, "The rows.").answers_as("application/x-ndjson", text, "")
        .answers_as(PARQUET, bytes, "")
        .fails(409, "The rows that you ask for aren't kept; `detail` says why.")
        .refuses([unknown(), out_of_use()])
    }
}

/// Sends the rows while they are made: nobody holds them all.
pub(super) async fn rows(
    State(state): State<AppState>,
    Client(client): Client,
    Path(id): Path<String>,
    RawQuery(asked): RawQuery,
    asked_by: HeaderMap,
) -> Result<Response, Problem> {
    let asked = asked.unwrap_or_default();
    let [format, of] = query::parameters(&asked, PARAMETERS)?;
    let format = query::choice("format", format.as_deref().unwrap_or("csv"), &FORMATS)?;
    let which = of.map(|of| query::choice("of", &of, &CHOICES)).transpose()?;
    let which = which.unwrap_or(Which::Kept);
    let outbox = Arc::clone(&state.outbox);
    let source = blocking(move || Source::find(&state, &id, which)).await?;
    let (content_type, extension) = match format {
        Format::Csv => ("text/csv; charset=utf-8", "csv"),
        Format::JsonLines => ("application/x-ndjson", "jsonl"),
        Format::Binary => ("application/vnd.apache.parquet", "parquet"),
    };
    // The file's name tells which sweep it is of, but not the id that can end it.
    let name: String = source.part.space.spec().digest().chars().take(12).collect();
    let name = format!("attachment; filename=\"sweep-{name}.{extension}\"");
    let name = HeaderValue::from_str(&name).map_err(|_| unknown())?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CONTENT_DISPOSITION, name),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    let written = move |to: &mut (dyn Write + Send)| source.write(format, to);
    let rows = response_buffer::streamed(&outbox, &client, &asked_by, written);
    Ok((headers, rows?).into_response())
}

/// Origin of the rows.
struct Source {
    part: Part,
    /// The binary form of rows.
    rows: Box<dyn Read + Send>,
}

impl Source {
    fn find(state: &AppState, id: &str, which: Which) -> Result<Self, Problem> {
        let engine = state.sweeps().map_err(broken)?;
        let (part, keeping) = find(&engine, id)?;
        let from_store = match (which, keeping) {
            (Which::All, _) if part.space.spec().find.is_some() => {
                let detail = "strategies are kept of front, best and sample: take one of these, or \
                              run `moescape sweep SPEC --out FILE.csv`";
                return Err(Problem::new(StatusCode::CONFLICT, detail));
            }
            (Which::All, Keeping::No) => {
                let detail = "the rows of this sweep aren't kept: submit it by \
                              POST /api/v1/sweeps?rows=all, or take front, best or sample";
                return Err(Problem::new(StatusCode::CONFLICT, detail));
            }
            (Which::All, Keeping::TooMany) => {
                return Err(Problem::new(
                    StatusCode::CONFLICT,
                    format!(
                        "more than {MAX_ROWS} designs are feasible, so that their rows aren't \
                         kept: constrain the sweep, or run `moescape sweep SPEC --out FILE`"
                    ),
                ));
            }
            (Which::All | Which::Kept, Keeping::Yes(_)) => part.space.spec().find.is_none(),
            (Which::Front | Which::Best | Which::Sample | Which::Kept, _) => false,
        };
        if from_store {
            let rows = Stored { engine, id: id.to_owned(), from: 0, chunk: Cursor::default() };
            return Ok(Self { part, rows: Box::new(rows) });
        }
        let (part, rows) = simulated_rows(&part, which)
            .unwrap_or_else(|| (part.clone(), summary_rows(&part, which)));
        Ok(Self { part, rows: Box::new(Cursor::new(rows)) })
    }

    fn write(self, format: Format, mut to: &mut (dyn Write + Send)) -> io::Result<()> {
        let Self { part: Part { space, progress, closing }, rows } = self;
        let space = progress.summary().known_in(&space);
        match format {
            Format::Csv | Format::JsonLines => rows::write(&space, format, rows, &mut to),
            Format::Binary => {
                let result =
                    json::print(&sweep::result(&space, &progress, closing.as_ref()).said());
                table::write(&space, rows, to, result)
            }
        }
    }
}

/// A sweep with what is done of it; what it keeps is written down by then.
fn find(engine: &Arc<Engine>, id: &str) -> Result<(Part, Keeping), Problem> {
    if let Some(job) = engine.job(id) {
        engine.save(&job);
        let inner = job.inner();
        let part = Part {
            space: job.space.clone(),
            progress: inner.progress.clone(),
            closing: inner.closing.as_deref().cloned(),
        };
        return Ok((part, inner.kept.keeping));
    }
    let past = engine.past(id).map_err(broken)?.ok_or_else(unknown)?;
    let result = past.result.unwrap_or_default();
    let part = sweep::part(&result)
        .map_err(|why| Problem::new(StatusCode::CONFLICT, format!("it has no rows: {why}")))?;
    Ok((part, past.keeping))
}

/// The front or the best as they were simulated at the end, with the part whose designs are timed
/// so; `None` if nothing was.
fn simulated_rows(part: &Part, which: Which) -> Option<(Part, Vec<u8>)> {
    let closing = part.closing.as_ref().filter(|closing| !closing.simulated.is_empty())?;
    let space = part.space.simulated()?;
    let mut found = match which {
        Which::Front => closing.front(&space),
        Which::Best => {
            let objectives = 0..space.spec().objectives.len();
            objectives.flat_map(|place| closing.best(&space, place)).collect()
        }
        Which::Sample | Which::Kept | Which::All => return None,
    };
    found.sort_unstable_by_key(|one| one.index);
    found.dedup_by_key(|one| one.index);
    let mut rows = Vec::new();
    found.iter().for_each(|one| rows::binary_row(one.index, &one.values, &mut rows));
    Some((Part { space, ..part.clone() }, rows))
}

/// The binary form of the rows in a summary, each once and by index.
fn summary_rows(part: &Part, which: Which) -> Vec<u8> {
    let Part { space, progress, closing } = part;
    let mut found = of_summary(space, progress, which);
    // What the simulation ruled out is in no list of good designs.
    let rejected = |index| {
        let one = closing.as_ref().and_then(|closing| closing.find(index));
        one.is_some_and(|one| !one.is_feasible())
    };
    found.retain(|row| which == Which::Sample || !rejected(row.index));
    found.sort_unstable_by_key(|row| row.index);
    found.dedup_by_key(|row| row.index);
    let mut rows = Vec::new();
    found.iter().for_each(|row| rows::binary_row(row.index, &row.values, &mut rows));
    rows
}

fn of_summary<'a>(space: &Space, progress: &'a Progress, which: Which) -> Vec<&'a Row> {
    let summary = progress.summary();
    let (front, sample) = (summary.front().iter(), summary.sample().iter());
    let top = space.spec().top as usize;
    let best = summary.top().flat_map(|best| &best[..best.len().min(top)]);
    match which {
        Which::Front => front.collect(),
        Which::Best => best.collect(),
        Which::Sample => sample.collect(),
        Which::Kept | Which::All => front.chain(best).chain(sample).collect(),
    }
}

/// Rows of the store, a chunk at a time.
struct Stored {
    engine: Arc<Engine>,
    id: String,
    from: u64,
    chunk: Cursor<Vec<u8>>,
}

impl Read for Stored {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.chunk.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let broken = |error: StoreError| io::Error::other(error.to_string());
            match self.engine.next_rows(&self.id, self.from).map_err(broken)? {
                // Rows go after what says that they are kept, so that none was missed.
                None if self.engine.keeps_rows(&self.id).map_err(broken)? => return Ok(0),
                None => return Err(io::Error::other("the rows were removed meanwhile")),
                Some((start, rows)) => {
                    self.from = start + 1;
                    self.chunk = Cursor::new(rows);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::sweeps::SpeedSample;
    use crate::store::Lazy;

    #[test]
    fn rows_that_are_removed_while_they_are_read_end_as_an_error() {
        let data = tempfile::tempdir().unwrap();
        let engine = Arc::new(Engine::open(Lazy::new(data.path()).open().unwrap(), None).unwrap());
        let spec = r#"{"schema":1,"space":{"tp":[4,8],"pp":[8,16]},
            "design":{"preset":"pangu-ultra-moe-6k"}}"#;
        let space = sweep::Space::new(sweep::Spec::from_json(spec).unwrap()).unwrap();
        let sample = SpeedSample::measure(&space);
        let job = engine.submit("someone", space, &sample, Keeping::Yes(0)).unwrap();
        while !job.inner().state.is_final() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let rows = || Stored {
            engine: Arc::clone(&engine),
            id: job.id.clone(),
            from: 0,
            chunk: Cursor::default(),
        };
        assert!(io::copy(&mut rows(), &mut io::sink()).is_ok());
        let mut late = rows();
        assert!(engine.remove(&job.id).unwrap());
        assert!(io::copy(&mut late, &mut io::sink()).is_err());
    }
}
