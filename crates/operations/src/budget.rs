//! `budget`: what a design's run costs.
//!
//! The keys are public names and units stand in them. What isn't known is null, never a guess. An
//! illegal design gives the same object with every metric null and its violations listed.

mod answer;
mod text;

use model::Plan;
use model::design::Design;
use model::design::link;
use model::design::violation::Violation;
use model::metric::{MetricId, Regime};
use model::run::budget::Assessment;
use present::page::budget as page;
use present::site::Page;
use reports::report::BrokenRule;
use reports::typed::Written;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use answer::Budgeted;
use answer::{Gain, PublishedInputs, Quality, SpreadOfRuns};

use crate::caller::Caller;
use crate::columns::metric_of;
use crate::explain::{self, Explain};
use crate::input::{BaselineInput, DesignInput};
use crate::names::Names;
use crate::numbers::{self, Data, Number};
use crate::operation::{Detour, Example, Operation};
use crate::refusal::Refusal;
use crate::solve::{self, Solve};

/// The verb.
pub struct Budget;

/// Arguments of the verb.
#[derive(clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "BudgetInput")]
pub struct Input {
    /// Tokens, price, failures and checkpoints are knobs of section `run`: without them what they
    /// decide isn't known. Ask for them.
    #[command(flatten)]
    #[serde(flatten)]
    of: DesignInput,
    /// A design to say what published laws expect of the loss beside.
    #[arg(
        long,
        value_name = "DESIGN",
        help = "Say what published laws expect of the loss beside this: a preset's id, a design \
                file, or the link of a design"
    )]
    baseline: Option<BaselineInput>,
    /// Metric of the run to explain, or with a baseline of the loss beside it.
    #[arg(
        long,
        value_name = "METRIC",
        value_parser = metric,
        conflicts_with = "csv",
        help = "Print how one metric of the run comes about, or with a baseline one of the loss \
                beside it: goodput_ratio, cost, loss_difference"
    )]
    #[serde(skip)]
    explain: Option<MetricId>,
    /// Question to solve in place of the budget.
    #[arg(
        long,
        value_name = "KNOB=TARGET",
        conflicts_with_all = ["csv", "explain"],
        help = "Let one knob take every legal value until a number of the run or of its step is \
                reached: 'num_devices=days_to_train<=90', 'tp=mfu>=0.3'"
    )]
    #[serde(skip)]
    solve: Option<solve::Question>,
}

fn metric(text: &str) -> Result<MetricId, String> {
    metric_of(&[Regime::Budget, Regime::Quality], "a run", text)
}

/// Budget of a design, or the rules that the design breaks.
pub struct Answer {
    design: Design,
    baseline: Option<Design>,
    assessment: Result<Assessment, Vec<Violation>>,
}

/// Answer for agents.
#[derive(Serialize, JsonSchema)]
pub struct Brief {
    link: String,
    legal: bool,
    numbers: Vec<Number>,
    violations: Data<Vec<BrokenRule>>,
    /// Days in which one and nine of ten equal runs end.
    spread: Data<Option<SpreadOfRuns>>,
    /// What one change is worth.
    gains: Data<Vec<Gain>>,
    /// What laws expect of the loss beside the baseline: medians with least and most over laws, in
    /// nats per token, ties, flags and refusals. Its caveat goes with it.
    quality: Data<Option<Quality>>,
    /// Published figures that unknown inputs may be taken from, with their sources.
    published: Data<Option<PublishedInputs>>,
    assumed: Vec<String>,
    warnings: Vec<String>,
    model_version: String,
}

impl Operation for Budget {
    const NAME: &'static str = "budget";
    const SUMMARY: &'static str =
        "Count what a run costs: days, money, energy, failures, and the loss that laws expect";
    const TITLE: &'static str = "Budget of a run";
    const DESCRIPTION: &'static str = "Counts what a training run costs: days, device-hours, \
        money, energy, failures and goodput, and with a baseline the loss that laws expect. \
        What isn't known is null, and the published figures that may stand for it are listed.";
    const HAS_TABLE: bool = true;
    const EXAMPLES: &'static [Example] = &[Example {
        name: "baseline",
        summary: "A run beside another of more experts",
        arguments: r#"{"design": {"schema": 1, "preset": "pangu-ultra-moe-6k@2",
                "transformer": {"num_moe_experts": 128},
                "run": {"train_tokens": 19000000000000, "price_per_device_hour": 2,
                    "mtbf_device_hours": 50676, "checkpoint_gb_per_sec": 100}},
            "baseline": {"schema": 1, "preset": "pangu-ultra-moe-6k@2",
                "run": {"train_tokens": 19000000000000, "price_per_device_hour": 2,
                    "mtbf_device_hours": 50676, "checkpoint_gb_per_sec": 100}}}"#,
    }];
    type Input = Input;
    type Answer = Answer;
    type Output = Budgeted;
    type Brief = Brief;

    fn run(input: Input, caller: &dyn Caller) -> Result<Answer, Refusal> {
        let (design, baseline) = input.designs(caller)?;
        let assessment = Assessment::new(&design, baseline.as_ref());
        Ok(Answer { design, baseline, assessment })
    }

    fn output(answer: &Answer) -> Written<Budgeted> {
        Written::of(answer.budgeted())
    }

    fn text(answer: &Answer) -> String {
        answer.assessment.as_ref().map_or_else(|_| String::new(), text::of)
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Brief, String) {
        let report = answer.budgeted();
        let query = match &answer.baseline {
            Some(_) => answer.query(),
            None => link::encode(&answer.design),
        };
        let brief = Brief {
            link: caller.link(&format!("{}?{query}", Page::Budget.path())),
            legal: report.violations.is_empty(),
            numbers: numbers::numbers(report.metrics, report.ranges, &[]),
            violations: Data(report.violations),
            spread: Data(report.spread),
            gains: Data(report.gains),
            quality: Data(report.quality),
            published: Data(report.published),
            assumed: report.assumed,
            warnings: report.warnings,
            model_version: report.model_version.to_owned(),
        };
        let caveat = brief.quality.0.as_ref();
        let caveat = caveat.map_or_else(String::new, |it| format!("{}\n", it.caveat));
        let numbers = if brief.legal { numbers::lines(&brief.numbers) } else { String::new() };
        let text = format!(
            "{}{numbers}{}{}{caveat}{}\n",
            numbers::broken_lines(&brief.violations.0),
            numbers::titled("Assumed", &brief.assumed),
            numbers::titled("To know", &brief.warnings),
            brief.link
        );
        (brief, text)
    }

    fn violations(answer: &Answer) -> &[Violation] {
        answer.assessment.as_ref().err().map_or(&[], Vec::as_slice)
    }

    fn table(answer: &Answer, caller: &dyn Caller) -> Result<String, Refusal> {
        Ok(page::csv(&answer.query(), &caller.today())?)
    }

    fn detour(input: &Input, caller: &dyn Caller) -> Result<Option<Detour>, Refusal> {
        let (explain, solve) = (input.explain, input.solve);
        if explain.is_none() && solve.is_none() {
            return Ok(None);
        }
        let (design, baseline) = input.designs(caller)?;
        if let Some(question) = solve {
            let plan = Plan::new(&design).map_err(|broken| Refusal::broken(&broken))?;
            return Ok(Some(Detour::of::<Solve>(&solve::Answer::new(&plan, question)?)));
        }
        let name = explain.map_or("", |id| id.metric().name);
        let (address, root) = explain::explained(&design, baseline.as_ref(), name)?;
        let answer = explain::Answer::new(address, root, &design, baseline);
        Ok(Some(Detour::of::<Explain>(&answer)))
    }
}

impl Input {
    /// The design and its baseline.
    fn designs(&self, caller: &dyn Caller) -> Result<(Design, Option<Design>), Refusal> {
        let (design, _) = self.of.read(Names::Training, caller)?;
        let baseline = self.baseline.as_ref().map(|it| it.read(caller)).transpose()?;
        Ok((design, baseline))
    }
}

impl Answer {
    fn budgeted(&self) -> Budgeted {
        match &self.assessment {
            Ok(assessment) => answer::legal(assessment),
            Err(violations) => answer::refused(&self.design, violations),
        }
    }

    /// Query of the page's link, with the baseline.
    fn query(&self) -> String {
        page::query(self.design.clone(), self.baseline.clone())
    }
}
