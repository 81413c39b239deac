//! `moescape predict`: what a design would achieve.

mod ledger;
mod summary;
mod tree;

use clap::builder::PossibleValuesParser;
use model::file::{Tree, json};
use model::metric::MetricId;
use model::violation::Violation;
use model::{Plan, estimate, explain};

use super::input::Source;
use super::{Failure, output};
use crate::report;

/// What to predict and how to say it.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print how one metric comes about
    #[arg(
        long,
        value_name = "METRIC",
        value_parser = PossibleValuesParser::new(MetricId::ALL.iter().map(|id| id.metric().name)),
        hide_possible_values = true
    )]
    explain: Option<String>,
    /// Add what each layer saves for its backward, and what freeing it costs
    #[arg(long, conflicts_with = "explain")]
    ledger: bool,
}

/// Prints the prediction. An illegal design has its JSON, too, and is an error beside it.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let design = arguments.source.design()?;
    let plan = match Plan::new(&design) {
        Ok(plan) => plan,
        Err(violations) => {
            if arguments.json && arguments.explain.is_none() {
                output::result(&json::print(&report::illegal(&design, &violations)))?;
            }
            return Err(Failure::User(violations.iter().map(message).collect()));
        }
    };
    let explained = arguments.explain.as_deref().and_then(MetricId::find);
    let text = match (explained, arguments.json) {
        (Some(id), true) => json::print(&report::breakdown(&explain(&plan, id))),
        (Some(id), false) => tree::text(id, &explain(&plan, id)),
        (None, true) => {
            let mut report = report::legal(&plan, &estimate(&plan));
            if let (true, Tree::Map(entries)) = (arguments.ledger, &mut report) {
                entries.push(("ledger".into(), ledger::json(&plan)));
            }
            json::print(&report)
        }
        (None, false) => {
            let text = summary::text(&plan, &estimate(&plan));
            if arguments.ledger { format!("{text}\n{}", ledger::text(&plan)) } else { text }
        }
    };
    output::result(&text)
}

/// A broken rule in a line, with its way out.
fn message(violation: &Violation) -> String {
    let nearest: Vec<String> = violation
        .nearest
        .iter()
        .map(|nearest| format!("--set {}={}", nearest.knob.id(), nearest.value))
        .collect();
    let way_out = if nearest.is_empty() {
        String::new()
    } else {
        format!("; nearest: {}", nearest.join(", "))
    };
    format!("{} ({}){way_out}", violation.message, violation.rule)
}
