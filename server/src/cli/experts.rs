//! `moescape experts`: which experts a design keeps, what fits where, and what a router trace of
//! tasks says of them.

mod text;

use std::path::{Path, PathBuf};

use axum::body::Bytes;
use operations::Names;
use model::design::file::json;
use model::routing::pattern::{Generator, Goal, Patterns};
use model::serving::experts::Experts;
use model::serving::traced::Traced;
use model::serving::{ServingPlan, infer};

use super::input::Source;
use super::trace::read_bytes;
use super::{Failure, output};
use crate::{experts, store::traces};

/// How experts are shared out over layers.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Share {
    /// As many of each layer
    Equal,
    /// So that all layers together are covered best
    Mean,
    /// So that the layer that is covered least is covered best
    Least,
}

/// Whose experts to show and how to say it.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Take the router scores of tasks in this file: CSV, JSON or Parquet with task, layer, expert,
    /// tcess (or logit), or with token and logit the logits of tokens
    #[arg(long, value_name = "FILE", conflicts_with = "generate")]
    trace: Option<PathBuf>,
    /// Generate scores of so many tasks instead, marked as generated
    #[arg(long, value_name = "TASKS")]
    generate: Option<usize>,
    /// The seed of what is generated
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// How kept experts are shared out over layers, where there is a trace
    #[arg(long, value_name = "HOW", default_value = "equal")]
    share: Share,
    /// Print published runs with experts on the host, beside what is predicted of them
    #[arg(long)]
    host_runs: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the experts of a design.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let design = arguments.source.design_by(Names::Serving)?;
    let plan = ServingPlan::new(&design)
        .map_err(|broken| Failure::User(broken.iter().map(output::broken_rule).collect()))?;
    let of_design = Experts::new(&plan).ok_or_else(|| Failure::user("the model has no experts"))?;
    let patterns = patterns(arguments, &of_design)?;
    let goal = match arguments.share {
        Share::Equal => Goal::Equal,
        Share::Mean => Goal::Mean,
        Share::Least => Goal::Least,
    };
    if arguments.json {
        let tree = experts::answer(&plan, patterns.as_ref(), goal).map_err(Failure::user)?;
        return output::result(&json::print(&tree));
    }
    let mut said = text::experts(&plan, &of_design, &infer(&plan));
    if let Some(patterns) = &patterns {
        let traced = Traced::new(&plan, patterns, goal).map_err(Failure::user)?;
        said.push_str(&text::traced(&traced, patterns));
    }
    if arguments.host_runs {
        said.push_str(&text::host_runs());
    }
    output::result(&said)
}

/// The scores that are asked for.
fn patterns(arguments: &Arguments, experts: &Experts) -> Result<Option<Patterns>, Failure> {
    if let Some(path) = &arguments.trace {
        return read(path, experts.visited()).map(Some);
    }
    let Some(tasks) = arguments.generate else { return Ok(None) };
    let generator =
        Generator::new(arguments.seed, tasks, experts.layers as usize, experts.routed as usize);
    let most = Patterns::MAX_SCORES;
    let found = generator
        .patterns()
        .ok_or_else(|| Failure::user(format!("tasks x layers x experts are between 1 and {most}")));
    found.map(Some)
}

/// Reads a router trace.
fn read(path: &Path, visited: usize) -> Result<Patterns, Failure> {
    let bytes = read_bytes(path).map_err(Failure::User)?;
    traces::read_patterns(&Bytes::from(bytes), visited).map_err(|errors| {
        Failure::User(errors.iter().map(|error| format!("{}: {error}", path.display())).collect())
    })
}
