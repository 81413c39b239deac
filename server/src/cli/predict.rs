//! `moescape predict`: what a design would achieve.

mod ledger;
mod summary;
mod tree;
mod verdict;

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
                let mut report = report::illegal(&design, &violations);
                if let Tree::Map(entries) = &mut report {
                    entries.push(("verdict".into(), Tree::Null));
                }
                output::result(&json::print(&report))?;
            }
            return Err(Failure::User(violations.iter().map(message).collect()));
        }
    };
    let explained = arguments.explain.as_deref().and_then(MetricId::find);
    let text = match (explained, arguments.json) {
        (Some(id), true) => json::print(&report::breakdown(&explain(&plan, id))),
        (Some(id), false) => tree::text(id, &explain(&plan, id)),
        (None, true) => json::print(&data(&plan, arguments.ledger)),
        (None, false) => summary(&plan, arguments.ledger),
    };
    output::result(&text)
}

/// The prediction as data, with the verdict on its memory.
fn data(plan: &Plan, with_ledger: bool) -> Tree {
    let estimate = estimate(plan);
    let mut report = report::legal(plan, &estimate);
    if let Tree::Map(entries) = &mut report {
        let verdict = report::verdict(&model::verdict(plan, &estimate));
        entries.push(("verdict".into(), verdict));
        if with_ledger {
            entries.push(("ledger".into(), ledger::json(plan)));
        }
    }
    report
}

/// The prediction for people; with the verdict when it doesn't fit.
fn summary(plan: &Plan, with_ledger: bool) -> String {
    let estimate = estimate(plan);
    let mut parts = vec![summary::text(plan, &estimate)];
    if !estimate.metrics.fits {
        parts.push(verdict::text(&model::verdict(plan, &estimate)));
    }
    if with_ledger {
        parts.push(ledger::text(plan));
    }
    parts.join("\n")
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
