//! A sweep: every design of a space on all cores, its rows as a table of Arrow.

use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use model::design::file::Tree;
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyString};
use reports::typed::Said;
use sweep::table::Table;
use sweep::{Progress, Rounds, Space, Spec};

use crate::cells::{Collector, schema, table};
use crate::design::Design;
use crate::python_tree::{from_python, to_python};
use crate::refusal::{invalid, refused};
use crate::work::{self, interruptible};

/// Places of a chunk, at least and at most: long enough that blocks are skipped as blocks, short
/// enough that all cores end together.
const CHUNK: [u64; 2] = [4_096, 1 << 16];

/// Chunks for each thread, about.
const CHUNKS_PER_THREAD: u64 = 32;

/// A sweep that is done: its rows, and what it says of all its designs.
#[pyclass(frozen, module = "moescape")]
pub(crate) struct Sweep {
    space: Space,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    overview: Tree,
}

#[pymethods]
impl Sweep {
    /// The rows as Arrow's C stream; no copy is made.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A consumer casts what it wants otherwise, as the interface allows.
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The columns as Arrow's C schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(|e| failed(&e))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The design of an index, as the column `index` has it.
    fn design(&self, index: u64) -> PyResult<Design> {
        let size = self.space.size();
        if index >= size {
            let sentence = format!("there is no design {index}: the space has {size}, from 0 on");
            return Err(PyIndexError::new_err(sentence));
        }
        Ok(self.space.design(index).into())
    }

    /// What `moescape sweep` prints: counts, what ruled out how many, the best, the front.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.overview)
    }

    fn __repr__(&self) -> String {
        let name = &self.space.spec().name;
        format!("<moescape.Sweep {name:?}: {} rows of {}>", self.__len__(), self.space.num_points())
    }
}

/// The names of the specs that come with the package.
#[pyfunction]
pub(crate) fn sweeps() -> Vec<&'static str> {
    sweep::published().iter().map(|spec| spec.name).collect()
}

/// Evaluates every design of a spec: a name, JSON, TOML, or a mapping.
#[pyfunction(name = "sweep")]
pub(crate) fn swept(
    py: Python<'_>,
    spec: &Bound<'_, PyAny>,
    every_legal: bool,
    max_rows: usize,
    threads: Option<NonZeroUsize>,
) -> PyResult<Sweep> {
    let spec = read(spec)?.map_err(|errors| invalid(py, &errors))?;
    let space = Space::new(spec).map_err(|error| invalid(py, &[error]))?;
    let table = table(&space, every_legal);
    let schema = schema(&table, space.spec());
    let run = Run { space: &space, table: &table, schema: &schema, max_rows };
    let threads = work::threads(threads);
    let done = interruptible(py, |stop| run.all(threads, stop))?;
    let (batches, progress) = done.map_err(|error| match error {
        Ended::TooMany => refused(
            py,
            "too_many_rows",
            format!(
                "the sweep has more than {max_rows} rows: add constraints or sampling, or raise \
                 max_rows"
            ),
        ),
        Ended::Failed(error) => failed(&error),
    })?;
    // Ctrl-C that comes now is heard, too: what was closed is dropped.
    let overview = interruptible(py, |_| {
        let closing = sweep::final_simulation(&space, &progress);
        sweep::overview(&space, &progress, Some(&closing)).said()
    })?;
    Ok(Sweep { space, schema, batches, overview })
}

/// The spec of what stands for it in Python.
fn read(spec: &Bound<'_, PyAny>) -> PyResult<Result<Spec, Vec<model::ground::knob::KnobError>>> {
    let Ok(text) = spec.cast::<PyString>() else {
        return Ok(Spec::from_tree(&from_python(spec)?));
    };
    let text: String = text.extract()?;
    if let Some(known) = sweep::published().iter().find(|known| known.name == text) {
        return Ok(Spec::from_toml(known.text));
    }
    let is_json = text.trim_start().starts_with('{');
    Ok(if is_json { Spec::from_json(&text) } else { Spec::from_toml(&text) })
}

fn failed(error: &ArrowError) -> PyErr {
    PyRuntimeError::new_err(format!("internal error of moescape, please report it: {error}"))
}

/// Reason why a sweep has no rows.
enum Ended {
    TooMany,
    Failed(ArrowError),
}

/// A sweep on all threads: its space, and the rows that it collects.
struct Run<'a> {
    space: &'a Space,
    table: &'a Table<'a>,
    schema: &'a SchemaRef,
    max_rows: usize,
}

impl Run<'_> {
    /// Runs every round; on a stop, returns what is done so far.
    fn all(
        &self,
        threads: NonZeroUsize,
        stop: &AtomicBool,
    ) -> Result<(Vec<RecordBatch>, Progress), Ended> {
        let places = 0..self.space.num_points();
        let mut progress = Progress::new(self.space);
        let mut rounds = Rounds::new(self.space);
        let mut batches = Vec::new();
        while let Some(open) = progress.first_open(&places) {
            let round = open..places.end.min(rounds.known());
            self.round(&rounds, round, threads, stop, (&mut batches, &mut progress))?;
            if stop.load(Ordering::Relaxed) || !rounds.advance(self.space, &mut progress) {
                break;
            }
        }
        Ok((batches, progress))
    }

    /// The places of a round, chunk by chunk and in order.
    fn round(
        &self,
        rounds: &Rounds,
        places: Range<u64>,
        threads: NonZeroUsize,
        stop: &AtomicBool,
        (batches, progress): (&mut Vec<RecordBatch>, &mut Progress),
    ) -> Result<(), Ended> {
        let count = places.end - places.start;
        let share = count / (CHUNKS_PER_THREAD * threads.get() as u64);
        let [least, most] = CHUNK;
        // A search for each design is long by itself; a round of a refinement is short.
        let size = match self.space.spec() {
            spec if spec.find.is_some() => 1,
            spec if spec.sampling.is_refined() => share.clamp(16, least),
            _ => share.clamp(least, most),
        };
        let so_far: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let rows = AtomicUsize::new(so_far);
        let mut ended = None;
        let work = |chunk: Range<u64>| {
            let batch = rounds.batch(chunk)?;
            let mut collector = Collector::new(self.table);
            let summary = sweep::evaluate_with(self.space, batch, stop, |outcome| {
                collector.add(outcome);
            })?;
            let batch = collector.batch(self.schema);
            let more = batch.as_ref().map_or(0, RecordBatch::num_rows);
            if rows.fetch_add(more, Ordering::Relaxed) + more > self.max_rows {
                return Some(Err(Ended::TooMany));
            }
            Some(batch.map(|rows| (summary, rows)).map_err(Ended::Failed))
        };
        sweep::run(places, size, threads, stop, work, |chunk, done| match done {
            Ok((summary, rows)) => {
                // Chunks of a round have no place in common.
                let _ = progress.join(self.space, Progress::with_part(self.space, chunk, summary));
                if rows.num_rows() > 0 {
                    batches.push(rows);
                }
                ControlFlow::Continue(())
            }
            Err(error) => {
                ended = Some(error);
                ControlFlow::Break(())
            }
        });
        ended.map_or(Ok(()), Err)
    }
}
