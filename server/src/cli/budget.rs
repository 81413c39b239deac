//! `moescape budget`: what a design's run costs.

use std::path::Path;

use model::design::Design;
use model::design::file::json;
use model::design::link;
use model::metric::{MetricId, Regime};
use model::run::budget::Assessment;
use model::run::quality::CAVEAT;
use model::{Answer, MODEL_VERSION};
use present::format;
use present::page::budget as page;
use reports::explained;

use super::input::Source;
use super::output::{self, table};
use super::predict::tree;
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
    /// Print how one metric of the run comes about, or with a baseline one of the loss beside it:
    /// goodput_ratio, cost, loss_difference
    #[arg(long, value_name = "METRIC", value_parser = metric, conflicts_with = "csv")]
    explain: Option<MetricId>,
    /// Let one knob take every legal value until a number of the run or of its step is reached:
    /// 'num_devices=days_to_train<=90', 'tp=mfu>=0.3'
    #[arg(long, value_name = "KNOB=TARGET", conflicts_with_all = ["csv", "explain"])]
    solve: Option<solve::Question>,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print a table for other programs
    #[arg(long)]
    csv: bool,
}

fn metric(text: &str) -> Result<MetricId, String> {
    output::metric_of(&[Regime::Budget, Regime::Quality], "a run", text)
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
    if let Some(id) = arguments.explain {
        let answer = match id.regime() {
            Regime::Quality => assessment.contest().map(Answer::Quality),
            Regime::Model | Regime::Training | Regime::Serving | Regime::Budget => {
                Some(assessment.own.answer())
            }
        };
        let terms = answer.and_then(|answer| answer.explain(id)).ok_or_else(|| {
            let unknown = explained::not_known(id, &design, baseline.as_ref());
            Failure::user(unknown.detail)
        })?;
        return output::result(&tree::of_answer(id, &terms, arguments.json));
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
    output::metrics(&assessment.own.answer(), "")
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
