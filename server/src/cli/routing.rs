//! `moescape routing`: where a design's tokens go, layer by layer, and what moving experts brings.

mod report;

use std::path::PathBuf;
use std::sync::Arc;

use model::answer::loads::Report;
use model::design::file::json;
use operations::loads;

use super::input::Source;
use super::{Failure, output, trace};

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
    let trace = arguments
        .trace
        .as_deref()
        .map(trace::read_trace)
        .transpose()
        .map_err(Failure::User)?
        .map(Arc::new);
    let plan = loads::plan(&mut design, trace.as_deref()).map_err(|violations| {
        Failure::User(violations.iter().map(output::broken_rule).collect())
    })?;
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
