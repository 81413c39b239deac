//! `moescape predict`: what a design would achieve.

mod ledger;
mod summary;
mod verdict;

use std::path::PathBuf;

use model::design::file::{Tree, json};
use model::metric::MetricAddress;
use model::routing::Trace;
use model::{Breakdown, Plan, estimate, explain_at};
use reports::typed::Said as _;

use super::input::Source;
use super::{Failure, output, terminal, trace as traces};
use operations::{Operation as _, explain, loads, solve};
use crate::report;

/// What to predict and how to say it.
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
    /// Print how one metric comes about, whole or of a part: mfu, memory_peak_bytes@stage=3,
    /// comm_volume_bytes@axis=ep,link=inter_node
    #[arg(long, value_name = "METRIC[@PART]", value_parser = address)]
    explain: Option<MetricAddress>,
    /// Add what each layer saves for its backward, and what freeing it costs
    #[arg(long, conflicts_with = "explain")]
    ledger: bool,
    /// Let one knob take every legal value until a target is reached: micro_batch_size=fits,
    /// 'tp=mfu>=0.3', 'num_devices=days_to_train<=90'
    #[arg(long, value_name = "KNOB=TARGET", conflicts_with_all = ["explain", "ledger"])]
    solve: Option<solve::Question>,
}

/// Prints the prediction. An illegal design has its JSON, too, and is an error beside it.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut design = arguments.source.design()?;
    let trace = arguments.trace.as_deref().map(traces::read_trace).transpose().map_err(Failure::User)?;
    let plan = match loads::plan(&mut design, trace.as_ref()) {
        Ok(plan) => plan,
        Err(violations) => {
            if arguments.json && arguments.explain.is_none() {
                let report = report::refused(&design, &violations);
                output::result(&json::print(&report))?;
            }
            return Err(Failure::User(violations.iter().map(output::broken_rule).collect()));
        }
    };
    if let Some(question) = arguments.solve {
        let solved = solve::Answer::new(&plan, question).map_err(terminal::failure)?;
        return output::result(&if arguments.json {
            json::print(&solve::Solve::output(&solved).said())
        } else {
            solve::Solve::text(&solved)
        });
    }
    let text = match (arguments.explain, arguments.json) {
        (Some(address), true) => json::print(&report::breakdown(&opened(&plan, address)?)),
        (Some(address), false) => {
            let root = opened(&plan, address)?;
            let answer = explain::Answer::new(address, root, plan.design(), None);
            explain::Explain::text(&answer)
        }
        (None, true) => json::print(&data(&plan, trace.as_ref(), arguments.ledger)),
        (None, false) => summary(&plan, trace.as_ref(), arguments.ledger),
    };
    output::result(&text)
}

fn address(text: &str) -> Result<MetricAddress, String> {
    MetricAddress::parse(text).map_err(|error| error.to_string())
}

/// How a metric of the plan, or of a part of it, comes about.
fn opened(plan: &Plan, address: MetricAddress) -> Result<Breakdown, Failure> {
    let missing = || Failure::user(explain::missing(plan, address));
    explain_at(plan, address).ok_or_else(missing)
}

/// The prediction as data.
fn data(plan: &Plan, trace: Option<&Trace>, with_ledger: bool) -> Tree {
    let mut report = report::whole(plan, trace);
    if let Tree::Map(entries) = &mut report
        && with_ledger
    {
        entries.push(("ledger".into(), ledger::json(plan)));
    }
    report
}

/// The prediction for people; with the verdict when it doesn't fit.
fn summary(plan: &Plan, trace: Option<&Trace>, with_ledger: bool) -> String {
    let estimate = estimate(plan);
    let mut parts = vec![summary::text(plan, &estimate)];
    parts.extend(Some(loads::text(plan, trace)).filter(|text| !text.is_empty()));
    if !estimate.metrics.fits {
        let verdict = model::verdict(plan, &estimate);
        let remedies = model::search::find::remedies(plan, &verdict);
        parts.push(verdict::text(&verdict, plan.design(), &remedies));
    }
    if with_ledger {
        parts.push(ledger::text(plan));
    }
    parts.join("\n")
}
