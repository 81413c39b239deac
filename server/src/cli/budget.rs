//! `moescape budget`: what a design's run costs.

use std::path::Path;
use std::str::FromStr;

use app::page::budget as page;
use app::present::format;
use model::budget::{Assessment, BudgetMetric, RunTarget, Sized, budget_range, solve_run};
use model::design::{Design, KnobId};
use model::file::{Tree, json};
use model::quality::CAVEAT;
use model::solve::Wish;
use model::{MODEL_VERSION, link};

use super::input::Source;
use super::output::{self, table};
use super::{Failure, input};
use crate::{budgeted, calendar};

/// What to count and how to say it.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Say what published laws expect of the loss beside this: a preset's id, a design file, or the
    /// link of a design
    #[arg(long, value_name = "DESIGN")]
    baseline: Option<String>,
    /// Let one knob take every legal value until a number of the run is reached:
    /// 'num_devices=days_to_train<=90', 'global_batch_size=cost<=5e7'
    #[arg(long, value_name = "KNOB=TARGET", conflicts_with = "csv")]
    solve: Option<Question>,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print a table for other programs
    #[arg(long)]
    csv: bool,
}

/// What is asked of a knob: `num_devices=days_to_train<=90`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Question {
    knob: KnobId,
    target: RunTarget,
}

impl FromStr for Question {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let usage = "write KNOB=TARGET, such as num_devices=days_to_train<=90 (quote the sign)";
        let (knob, target) = text.split_once('=').ok_or(usage)?;
        let knob = KnobId::find(knob.trim()).map_err(|error| error.to_string())?;
        let most = target.split_once("<=").map(|parts| (parts, true));
        let least = || target.split_once(">=").map(|parts| (parts, false));
        let ((metric, limit), is_most) = most.or_else(least).ok_or(usage)?;
        let metric = BudgetMetric::find(metric.trim()).ok_or_else(|| {
            let known: Vec<&str> = BudgetMetric::ALL.iter().map(|id| id.metric().name).collect();
            format!("no metric `{}` of a budget; one of {}", metric.trim(), known.join(", "))
        })?;
        let limit = limit.trim().parse::<f64>().ok().filter(|limit| limit.is_finite());
        let limit = limit.ok_or_else(|| format!("`{text}` ends with no number"))?;
        Ok(Self { knob, target: RunTarget { metric, is_most, limit } })
    }
}

/// Prints the budget. An illegal design has its JSON, too, and is an error.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let design = arguments.source.design()?;
    let baseline = arguments.baseline.as_deref().map(baseline).transpose()?;
    let refuse = |broken: Vec<model::violation::Violation>| {
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
        let solved = solve(&assessment, question)?;
        let text = if arguments.json { data(&solved, question) } else { answer(&solved, question) };
        return output::result(&text);
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
    let failed = |errors: Vec<model::knob::KnobError>| {
        Failure::User(errors.iter().map(|error| format!("baseline: {error}")).collect())
    };
    if text.contains('=') {
        let link = text.split_once('?').map_or(text, |(_, link)| link);
        return link::decode(link).map_err(failed);
    }
    if Path::new(text).exists() {
        return input::read_design(Path::new(text))?.map_err(failed);
    }
    Design::from_preset(text).map_err(|error| failed(vec![error]))
}

fn solve(assessment: &Assessment, question: Question) -> Result<Sized, Failure> {
    let plan = &assessment.own.plan;
    let name = question.target.metric.metric().name;
    if assessment.own.budget.get(question.target.metric).is_none() {
        let said = assessment.own.budget.assumed.join("; ");
        return Err(Failure::user(format!(
            "{name} isn't known: {said}; set run.train_tokens, run.mtbf_device_hours, \
             run.checkpoint_gb_per_sec or run.price_per_device_hour"
        )));
    }
    solve_run(plan, question.knob, question.target)
        .ok_or_else(|| Failure::user(format!("no value of {} fits", question.knob.id())))
}

fn data(solved: &Sized, question: Question) -> String {
    json::print(&Tree::map([
        ("knob", question.knob.id().into()),
        ("value", solved.value.to_string().into()),
        ("metric", question.target.metric.metric().name.into()),
        ("number", Tree::number(solved.number)),
        ("reached", Tree::Flag(solved.is_reached)),
        ("tried", Tree::Unsigned(solved.tried as u64)),
        ("link", link::encode(&solved.design).into()),
        ("model_version", MODEL_VERSION.into()),
    ]))
}

fn answer(solved: &Sized, question: Question) -> String {
    let (knob, metric) = (question.knob, question.target.metric);
    let number = page::shown(metric, solved.number);
    let tried = format::counted(solved.tried as u64, "legal value", "legal values");
    let head = if solved.is_reached {
        format!(
            "{}={} reaches it, the {} that does",
            knob.id(),
            solved.value,
            Wish::of(knob).name()
        )
    } else {
        format!("no value of {} reaches it; the best is {}", knob.id(), solved.value)
    };
    format!(
        "{head}, of {tried} that fit: {} {number}\n  link /?{}\n",
        metric.metric().label,
        link::encode(&solved.design)
    )
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
                let [low, high] = range.half.map(|factor| page::shown(*id, value * factor));
                format!("half of runs: {low} to {high}")
            }
            _ => String::new(),
        };
        let value = value.map_or_else(|| "not known".to_owned(), |value| page::shown(*id, value));
        vec![id.metric().label.into(), value, likely, id.words().definition.into()]
    };
    table("lrll", &BudgetMetric::ALL.iter().map(row).collect::<Vec<_>>())
}

fn gains(assessment: &Assessment) -> Option<String> {
    let gains = &assessment.own.budget.gains;
    let row = |gain: &model::budget::Gain| {
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
