//! `moescape budget`: what a design's run costs.

use std::path::Path;

use model::design::Design;
use model::design::file::json;
use model::run::budget::{Assessment, BudgetMetric, budget_range};
use model::run::quality::CAVEAT;
use model::{MODEL_VERSION, design::link};
use present::format::{self, run};
use present::page::budget as page;

use super::input::Source;
use super::output::{self, table};
use super::{Failure, input, solve};
use crate::{budgeted, ground::calendar};

/// What to count and how to say it.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Say what published laws expect of the loss beside this: a preset's id, a design file, or the
    /// link of a design
    #[arg(long, value_name = "DESIGN")]
    baseline: Option<String>,
    /// Let one knob take every legal value until a number of the run or of its step is reached:
    /// 'num_devices=days_to_train<=90', 'tp=mfu>=0.3'
    #[arg(long, value_name = "KNOB=TARGET", conflicts_with = "csv")]
    solve: Option<solve::Question>,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print a table for other programs
    #[arg(long)]
    csv: bool,
}

/// Prints the budget. An illegal design has its JSON, too, and is an error.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let design = arguments.source.design()?;
    let baseline = arguments.baseline.as_deref().map(baseline).transpose()?;
    let refuse = |broken: Vec<model::design::violation::Violation>| {
        Failure::User(broken.iter().map(output::broken_rule).collect())
    };
    let assessment = Assessment::new(&design, baseline.as_ref());
    let assessment = match assessment {
        Ok(assessment) => assessment,
        Err(broken) => {
            if arguments.json {
                let tree = budgeted::budgeted(&design, baseline.as_ref());
                output::result(&json::print(&tree))?;
            }
            return Err(refuse(broken));
        }
    };
    if let Some(question) = arguments.solve {
        let plan = &assessment.own.plan;
        return output::result(&solve::answer(plan, question, arguments.json)?);
    }
    if arguments.json {
        let tree = budgeted::budgeted(&design, baseline.as_ref());
        return output::result(&json::print(&tree));
    }
    if arguments.csv {
        let query = page::query(design, baseline);
        let csv = page::csv(&query, &calendar::today());
        let csv =
            csv.map_err(|errors| Failure::User(errors.iter().map(ToString::to_string).collect()))?;
        return output::result(&csv);
    }
    output::result(&text(&assessment))
}

/// The baseline of a preset's id, a link or a file.
fn baseline(text: &str) -> Result<Design, Failure> {
    let failed = |errors: Vec<model::ground::knob::KnobError>| {
        Failure::User(errors.iter().map(|error| format!("baseline: {error}")).collect())
    };
    if text.contains('=') {
        return link::of_address(text).map_err(failed);
    }
    if Path::new(text).exists() {
        return input::read_design(Path::new(text))?.map_err(failed);
    }
    Design::from_preset(text).map_err(|error| failed(vec![error]))
}

fn text(assessment: &Assessment) -> String {
    let own = &assessment.own;
    let design = own.plan.design();
    let mut sections = vec![format!(
        "{}, trained on {} x {}\n  link /?{}\n  model {MODEL_VERSION}\n",
        design.preset.title,
        format::whole(design.cluster.num_devices),
        design.cluster.accelerator.row().title,
        link::encode(design)
    )];
    sections.push(numbers(assessment));
    if let Some(outcomes) = own.budget.outcomes {
        let [early, late] = [outcomes.early, outcomes.late].map(|it| it / 86_400.0);
        sections.push(format!(
            "Of ten equal runs one ends within {} days and nine within {} days\n",
            format::significant(early, 4),
            format::significant(late, 4)
        ));
    }
    sections.extend(gains(assessment));
    sections.extend(quality(assessment));
    let said = own.budget.warnings.iter().chain(&own.budget.assumed);
    let said: Vec<String> = said.map(|line| format!("  {line}\n")).collect();
    if !said.is_empty() {
        sections.push(format!("To know\n{}", said.concat()));
    }
    sections.join("\n")
}

fn numbers(assessment: &Assessment) -> String {
    let own = &assessment.own;
    let row = |id: &BudgetMetric| {
        let value = own.budget.get(*id);
        let likely = match (budget_range(&own.plan, *id), value) {
            (Some(range), Some(value)) => {
                let ends = range.half.map(|factor| run::shown(*id, value * factor));
                format!("half of runs: {}", format::span(ends))
            }
            _ => String::new(),
        };
        let value = value.map_or_else(|| "not known".to_owned(), |value| run::shown(*id, value));
        vec![id.metric().label.into(), value, likely, id.words().definition.into()]
    };
    table("lrll", &BudgetMetric::ALL.iter().map(row).collect::<Vec<_>>())
}

fn gains(assessment: &Assessment) -> Option<String> {
    let gains = &assessment.own.budget.gains;
    let row = |gain: &model::run::budget::Gain| {
        vec![
            gain.title.to_owned(),
            format!("{} days less", format::significant(gain.days, 3)),
            format!("{} device-hours", format::significant(gain.device_hours, 4)),
        ]
    };
    let rows: Vec<_> = gains.iter().map(row).collect();
    (!rows.is_empty()).then(|| format!("What changes are worth\n{}", table("lrr", &rows)))
}

fn quality(assessment: &Assessment) -> Option<String> {
    let judged = assessment.judged.as_ref()?;
    let lines = match &judged.comparison {
        Ok(comparison) => {
            let loss = &comparison.loss_difference;
            let mut text = format!(
                "  {} Difference {} nats per token [{}, {}]\n",
                page::verdict(comparison),
                format::signed(loss.median, 4),
                format::signed(loss.min, 4),
                format::signed(loss.max, 4)
            );
            if let Some(tokens) = &comparison.tokens_to_equal_loss {
                let [median, min, max] = [tokens.median, tokens.min, tokens.max]
                    .map(|times| format::significant(times, 3));
                text.push_str(&format!("  {median} x tokens to equal loss [{min}, {max}]\n"));
            }
            let flags = comparison.flags.iter().map(|flag| format!("  {}\n", flag.words()));
            text.extend(flags);
            text
        }
        Err(refusals) => refusals.iter().map(|it| format!("  {}\n", it.words())).collect(),
    };
    Some(format!("Loss beside the baseline\n{lines}  {CAVEAT}\n"))
}
