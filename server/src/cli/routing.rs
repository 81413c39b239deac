//! `moescape routing`: where a design's tokens go, layer by layer, and what moving experts brings.

mod report;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Bytes;
use model::Plan;
use model::choice::Balance;
use model::design::Design;
use model::file::json;
use model::loads::Report;
use model::routing::Trace;
use model::routing::text::{MAX_BYTES, TextError};
use model::violation::Violation;

use super::input::Source;
use super::{Failure, output, predict};
use crate::traces;

/// Whose loads to show and how to say it.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Take the expert loads of this trace: CSV, JSON or Parquet with step, layer, expert, tokens
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the loads of a design, and what its planner makes of them.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut design = arguments.source.design()?;
    let trace = arguments.trace.as_deref().map(read_trace).transpose()?.map(Arc::new);
    let plan = plan(&mut design, trace.as_deref())
        .map_err(|violations| Failure::User(violations.iter().map(predict::message).collect()))?;
    let Some(report) = Report::of(&plan, trace.as_ref()) else {
        return Err(Failure::user(
            "every expert gets the same load: --set routing.balance=skewed generates others, \
             --trace FILE takes recorded ones",
        ));
    };
    let text = if arguments.json {
        json::print(&report::json(&plan, trace.as_deref(), &report))
    } else {
        report::text(&plan, trace.as_deref(), &report)
    };
    output::result(&text)
}

/// The plan of a design, with the loads of a trace where there is one: the design then names it.
pub(super) fn plan(design: &mut Design, trace: Option<&Trace>) -> Result<Plan, Vec<Violation>> {
    let Some(trace) = trace else { return Plan::new(design) };
    design.routing.balance = Balance::Trace;
    design.routing.trace = Some(trace.content_hash());
    Plan::with_trace(design, trace)
}

/// Reads a trace.
pub(super) fn read_trace(path: &Path) -> Result<Trace, Failure> {
    let shown = path.display();
    let failed = |error| Failure::user(format!("can't read {shown}: {error}"));
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    // One byte more than is read, so that what is too long is known to be.
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    let line = |error: &TextError| format!("{shown}: {error}");
    traces::read(&Bytes::from(bytes))
        .map_err(|errors| Failure::User(errors.iter().map(line).collect()))
}
