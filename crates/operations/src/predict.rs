//! `predict`: what a training step of a design would achieve.
//!
//! A design that breaks rules is answered too: the same object, with every metric null and its
//! violations listed.

mod ledger;
mod summary;
mod verdict;

use model::design::file::{self, Tree};
use model::design::violation::Violation;
use model::design::{Design, link};
use model::metric::MetricAddress;
use model::routing::Trace;
use model::search::find::{Pool, remedies};
use model::training::estimate::Estimate;
use model::{Estimator, MODEL_VERSION, Plan, estimate, explain_at};
use present::words::name;
use reports::Cores;
use reports::report::{
    self, Asked, BrokenRule, Exchange, Loads, MemoryVerdict, NearestRun, Prediction, Stage,
};
use reports::typed::{Flat, May, Named, Said, Written};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;

use crate::caller::Caller;
use crate::explain::{self, Explain, Unexplained};
use crate::input::DesignInput;
use crate::loads;
use crate::names::Names;
use crate::numbers::{self, Data, HEADLINE, Number};
use crate::operation::{Detour, Operation};
use crate::refusal::{Kind, Refusal};
use crate::solve::{self, Solve};
use ledger::SavedOfLayer;

/// Maximum number of designs of a batch. Each takes some milliseconds with its verdict, which
/// tries many others; a sweep is what evaluates thousands.
pub const MAX_DESIGNS: usize = 100;

/// The verb.
pub struct Predict;

/// Arguments of the verb.
#[derive(clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "PredictInput")]
pub struct Input {
    /// Design.
    #[command(flatten)]
    #[serde(flatten)]
    of: DesignInput,
    /// Add every pipeline stage with its memory, and each exchange.
    #[arg(skip)]
    #[serde(default)]
    details: bool,
    /// Add what fills the memory, and what one change of a knob does to it.
    #[arg(skip = true)]
    #[serde(default)]
    verdict: bool,
    /// Up to 100 design files in place of one design; each is predicted.
    #[arg(skip)]
    #[schemars(with = "Option<Vec<Map<String, Value>>>")]
    designs: Option<Vec<Tree>>,
    /// Take the expert loads of this trace: CSV, JSON or Parquet with step, layer, expert, tokens
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    trace: Option<PathBuf>,
    /// Print how one metric comes about, whole or of a part: mfu, memory_peak_bytes@stage=3,
    /// comm_volume_bytes@axis=ep,link=inter_node
    #[arg(long, value_name = "METRIC[@PART]", value_parser = address)]
    #[serde(skip)]
    explain: Option<MetricAddress>,
    /// Add what each layer saves for its backward, and what freeing it costs
    #[arg(long, conflicts_with = "explain")]
    #[serde(skip)]
    ledger: bool,
    /// Let one knob take every legal value until a target is reached: micro_batch_size=fits,
    /// 'tp=mfu>=0.3', 'num_devices=days_to_train<=90'
    #[arg(long, value_name = "KNOB=TARGET", conflicts_with_all = ["explain", "ledger"])]
    #[serde(skip)]
    solve: Option<solve::Question>,
}

fn address(text: &str) -> Result<MetricAddress, String> {
    MetricAddress::parse(text).map_err(|error| error.to_string())
}

/// Prediction of a design, or of each of a batch.
pub enum Answer {
    /// A design alone.
    One(Box<One>),
    /// Designs of a batch, in their order.
    Batch(Vec<(Design, Prediction)>),
}

/// Prediction of a design, or the rules that it breaks.
pub struct One {
    design: Design,
    trace: Option<Trace>,
    asked: Asked,
    has_details: bool,
    has_ledger: bool,
    predicted: Result<(Plan, Estimate), Vec<Violation>>,
}

reports::said! {
    /// The object of `moescape predict --json`.
    #[derive(Clone, Debug, JsonSchema)]
    #[schemars(rename = "PredictionOfDesign")]
    pub struct Predicted {
        #[schemars(flatten)]
        prediction: Flat<Prediction>,
        /// What each kind of layer saves for its backward, with `--ledger`.
        #[schemars(skip_serializing_if = "Option::is_none")]
        ledger: May<Vec<SavedOfLayer>>,
    }

    /// Predictions for several designs, in their order.
    #[derive(Clone, Debug, JsonSchema)]
    pub struct Predictions {
        predictions: Vec<Prediction>,
        model_version: &'static str,
    }
}

/// Answer for programs.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub enum Output {
    /// Prediction of one design.
    One(Box<Predicted>),
    /// Predictions of a batch.
    Batch(Predictions),
}

impl Said for Output {
    fn said(self) -> Tree {
        match self {
            Self::One(one) => one.said(),
            Self::Batch(batch) => batch.said(),
        }
    }
}

/// Answer for agents.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(extend("type" = "object"))]
pub enum Brief {
    /// One design.
    One(Box<BriefOfOne>),
    /// A batch.
    Batch {
        /// Each design, in their order.
        predictions: Vec<BriefOfOne>,
    },
}

/// Prediction of a design for agents.
#[derive(Serialize, JsonSchema)]
pub struct BriefOfOne {
    /// Opens the design.
    link: String,
    title: String,
    /// Does the design keep all rules? If not, there are no numbers.
    legal: bool,
    numbers: Vec<Number>,
    violations: Data<Vec<BrokenRule>>,
    /// The measured run that is nearest to the design, with the model's error there.
    nearest_run: Data<Option<NearestRun>>,
    /// Seconds of each part of the step; they add up to it.
    step: Data<Named<f64>>,
    /// Data-parallel ranks and micro-batches, which follow from the knobs.
    derived: Data<Named<u64>>,
    warnings: Vec<String>,
    /// Where the expert loads come from (`balance`) and their imbalance. Loads that a balance other
    /// than `trace` gives are generated: never say that they were measured.
    expert_loads: Data<Option<Loads>>,
    /// With `details`: pipeline stages, per device, in seconds and bytes.
    stages: Data<Vec<Stage>>,
    /// With `details`: exchanges per device and step, in seconds and bytes.
    communication: Data<Vec<Exchange>>,
    /// With `verdict`: what fills the memory, and what one change of a knob does.
    verdict: Data<Option<MemoryVerdict>>,
    model_version: String,
}

impl Operation for Predict {
    const NAME: &'static str = "predict";
    const SUMMARY: &'static str = "Predict a design's step time, MFU, memory and communication";
    const TITLE: &'static str = "Predict a training step";
    const DESCRIPTION: &'static str = "Predicts what a training step of a design would achieve: \
        MFU, tokens per second, step time, peak memory and whether it fits, bubble, communication. \
        Each number has its range and says what that rests on; a design that breaks rules is \
        answered with them and the nearest legal values.";
    type Input = Input;
    type Answer = Answer;
    type Output = Output;
    type Brief = Brief;

    fn run(input: Input, caller: &dyn Caller) -> Result<Answer, Refusal> {
        let asked = if input.verdict { Asked::Verdict } else { Asked::Numbers };
        if let Some(designs) = &input.designs {
            if !input.of.is_empty() {
                let detail = "a batch has `designs` and no other design";
                return Err(Refusal::new("several_designs", "designs", detail));
            }
            return Ok(Answer::Batch(batch(designs, asked)?));
        }
        let (design, trace, plan) = input.plan(caller)?;
        let predicted = plan.map(|plan| {
            let estimate = estimate(&plan);
            (plan, estimate)
        });
        let (has_details, has_ledger) = (input.details, input.ledger);
        Ok(Answer::One(Box::new(One { design, trace, asked, has_details, has_ledger, predicted })))
    }

    fn output(answer: &Answer) -> Written<Output> {
        Written::of(match answer {
            Answer::One(one) => Output::One(Box::new(Predicted {
                prediction: Flat(one.prediction()),
                ledger: May(one.ledger().map(ledger::data)),
            })),
            Answer::Batch(batch) => Output::Batch(Predictions {
                predictions: batch.iter().map(|(_, prediction)| prediction.clone()).collect(),
                model_version: MODEL_VERSION,
            }),
        })
    }

    fn text(answer: &Answer) -> String {
        match answer {
            Answer::One(one) => one.text(),
            // No command has one.
            Answer::Batch(_) => String::new(),
        }
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Brief, String) {
        match answer {
            Answer::One(one) => {
                let brief = BriefOfOne::new(&one.design, one.prediction(), one.has_details, caller);
                let text = brief.text();
                (Brief::One(Box::new(brief)), text)
            }
            Answer::Batch(batch) => {
                let brief = |(design, prediction): &(Design, Prediction)| {
                    BriefOfOne::new(design, prediction.clone(), false, caller)
                };
                let predictions: Vec<BriefOfOne> = batch.iter().map(brief).collect();
                let text = predictions.iter().map(BriefOfOne::text).collect();
                (Brief::Batch { predictions }, text)
            }
        }
    }

    fn violations(answer: &Answer) -> &[Violation] {
        match answer {
            Answer::One(one) => one.predicted.as_ref().err().map_or(&[], Vec::as_slice),
            Answer::Batch(_) => &[],
        }
    }

    fn detour(input: &Input, caller: &dyn Caller) -> Result<Option<Detour>, Refusal> {
        if input.explain.is_none() && input.solve.is_none() {
            return Ok(None);
        }
        let (_, _, plan) = input.plan(caller)?;
        let plan = plan.map_err(|broken| Refusal::broken(&broken))?;
        if let Some(question) = input.solve {
            return Ok(Some(Detour::of::<Solve>(&solve::Answer::new(&plan, question)?)));
        }
        let Some(address) = input.explain else { return Ok(None) };
        let missing = || Unexplained::NoPart(explain::missing(&plan, address));
        let root = explain_at(&plan, address).ok_or_else(missing)?;
        let answer = explain::Answer::new(address, root, plan.design(), None);
        Ok(Some(Detour::of::<Explain>(&answer)))
    }
}

/// A design with its trace, and its plan or the rules that it breaks.
type Planned = (Design, Option<Trace>, Result<Plan, Vec<Violation>>);

impl Input {
    fn plan(&self, caller: &dyn Caller) -> Result<Planned, Refusal> {
        let (mut design, _) = self.of.read(Names::Training, caller)?;
        let trace = self.trace.as_deref().map(|path| caller.trace(path)).transpose()?;
        let plan = loads::plan(&mut design, trace.as_ref());
        Ok((design, trace, plan))
    }
}

/// The predictions for design files, legal or not, in their order, on all cores.
fn batch(files: &[Tree], asked: Asked) -> Result<Vec<(Design, Prediction)>, Refusal> {
    let count = files.len();
    if !(1..=MAX_DESIGNS).contains(&count) {
        let detail = format!(
            "a batch has 1 to {MAX_DESIGNS} designs, not {count}; POST /api/v1/sweeps evaluates \
             many"
        );
        let refusal = Refusal::new("too_many_designs", "designs", detail);
        return Err(refusal.of_kind(Kind::Unanswerable));
    }
    let (mut designs, mut errors) = (vec![], vec![]);
    for (place, file) in files.iter().enumerate() {
        match file::read(file) {
            Ok(design) => designs.push(design),
            Err(wrong) => {
                errors.extend(Refusal::from(wrong).within(&format!("designs.{place}")).errors);
            }
        }
    }
    if !errors.is_empty() {
        return Err(Refusal::of(errors));
    }
    let one =
        |estimator: &mut Estimator, design: &Design| report::prediction(estimator, design, asked);
    let predictions = Cores::all().map(&designs, one);
    Ok(designs.into_iter().zip(predictions).collect())
}

impl One {
    fn prediction(&self) -> Prediction {
        match &self.predicted {
            Ok((plan, estimate)) => report::legal(plan, estimate, self.trace.as_ref(), self.asked),
            Err(violations) => report::illegal(&self.design, violations),
        }
    }

    /// The plan whose ledger is to be told.
    fn ledger(&self) -> Option<&Plan> {
        let (plan, _) = self.predicted.as_ref().ok()?;
        self.has_ledger.then_some(plan)
    }

    /// The prediction for people; with the verdict when it doesn't fit.
    fn text(&self) -> String {
        let Ok((plan, estimate)) = &self.predicted else { return String::new() };
        let mut parts = vec![summary::text(plan, estimate)];
        let loads = loads::text(plan, self.trace.as_ref());
        parts.extend(Some(loads).filter(|text| !text.is_empty()));
        if !estimate.metrics.fits {
            let verdict = model::verdict(plan, estimate);
            let remedies = remedies(plan, &verdict);
            parts.push(verdict::text(&verdict, plan.design(), &remedies));
        }
        parts.extend(self.ledger().map(ledger::text));
        parts.join("\n")
    }
}

impl BriefOfOne {
    fn new(design: &Design, report: Prediction, has_details: bool, caller: &dyn Caller) -> Self {
        Self {
            link: caller.design(&link::encode(design)),
            title: name::title(design),
            legal: report.violations.is_empty(),
            numbers: numbers::numbers(report.metrics, report.expected_error, &[]),
            violations: Data(report.violations),
            nearest_run: Data(report.nearest_run),
            step: Data(report.step),
            derived: Data(report.derived),
            warnings: report.warnings,
            expert_loads: Data(report.routing),
            stages: Data(if has_details { report.stages } else { vec![] }),
            communication: Data(if has_details { report.communication } else { vec![] }),
            verdict: Data(report.verdict),
            model_version: report.model_version.to_owned(),
        }
    }

    fn text(&self) -> String {
        let named = |number: &&Number| HEADLINE.contains(&number.id.as_str());
        let headline: Vec<Number> = self.numbers.iter().filter(named).cloned().collect();
        let numbers = if self.legal { numbers::lines(&headline) } else { String::new() };
        let near = self.nearest_run.0.as_ref().map_or_else(String::new, |run| {
            format!(
                "Nearest measured run: {} on {} x {}, where the predicted speed is off by {:+.1} % \
                 ({}).\n",
                run.model,
                run.num_devices,
                run.accelerator,
                run.speed_error * 100.0,
                run.nearness
            )
        });
        let broken = numbers::broken_lines(&self.violations.0);
        let warned = numbers::titled("To know", &self.warnings);
        format!("{}\n{broken}{numbers}{near}{warned}{}\n", self.title, self.link)
    }
}
