//! `infer`: how a design would serve.
//!
//! A design whose serving breaks rules is answered too: the same object, with every metric null and
//! its violations listed.

mod layouts;
mod text;

use model::design::violation::Violation;
use model::design::{Design, KnobId, link};
use model::metric::{MetricAddress, MetricId, MetricPart, Regime};
use model::serving::{Inference, ServingPlan, infer};
use present::site::Page;
use reports::inferred::{self, Inferred, Pools, Timeline};
use reports::report::BrokenRule;
use reports::typed::{Named, Written};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use layouts::{Layouts, LayoutsOfDesign};

use crate::caller::Caller;
use crate::columns::metric_of;
use crate::explain::{self, Explain, Unexplained};
use crate::input::DesignInput;
use crate::names::Names;
use crate::numbers::{self, Data, Number};
use crate::operation::{Detour, Operation};
use crate::refusal::Refusal;

/// The verb.
pub struct Infer;

/// Arguments of the verb.
#[derive(clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "InferInput")]
pub struct Input {
    /// Short names such as tp and ep mean knobs of section `serving` here.
    #[command(flatten)]
    #[serde(flatten)]
    of: DesignInput,
    /// Print how one metric comes about: tpot_seconds, ttft_seconds, kv_limited_concurrency
    #[arg(long, value_name = "METRIC", value_parser = metric)]
    #[serde(skip)]
    explain: Option<MetricId>,
    /// Print the layouts of its devices that no other beats, prefill and decode together and on
    /// pools of their own, the best within its limits first
    #[arg(long, conflicts_with = "explain")]
    #[serde(skip)]
    layouts: bool,
}

fn metric(text: &str) -> Result<MetricId, String> {
    metric_of(&[Regime::Serving], "serving", text)
}

/// Inference of a design, or the rules that its serving breaks.
pub struct Answer {
    design: Design,
    /// Knobs that were set.
    set: Vec<KnobId>,
    served: Result<(ServingPlan, Inference), Vec<Violation>>,
}

/// Answer for agents.
#[derive(Serialize, JsonSchema)]
pub struct Brief {
    /// Opens the design on the page for serving.
    link: String,
    legal: bool,
    numbers: Vec<Number>,
    violations: Data<Vec<BrokenRule>>,
    /// What holds back more requests.
    binds: Option<String>,
    /// Degrees of parallelism of decode, and of prefill where it has devices of its own.
    layout: Data<Option<Pools>>,
    timeline: Data<Option<Timeline>>,
    /// Bytes of a device.
    memory: Data<Option<Named<f64>>>,
    warnings: Vec<String>,
    model_version: String,
}

impl Operation for Infer {
    const NAME: &'static str = "infer";
    const SUMMARY: &'static str = "Predict how a design serves: latency, throughput, and the \
                                   requests that memory holds";
    const TITLE: &'static str = "Predict serving";
    const DESCRIPTION: &'static str = "Predicts how a design serves: TTFT, TPOT, tokens per second \
        per device and per user, the requests that memory holds, what binds. Engine, layout, \
        lengths and load are knobs of section `serving`.";
    type Input = Input;
    type Answer = Answer;
    type Output = Inferred;
    type Brief = Brief;

    fn run(input: Input, caller: &dyn Caller) -> Result<Answer, Refusal> {
        let (design, set) = input.of.read(Names::Serving, caller)?;
        let served = ServingPlan::new(&design).map(|plan| {
            let inference = infer(&plan);
            (plan, inference)
        });
        Ok(Answer { design, set, served })
    }

    fn output(answer: &Answer) -> Written<Inferred> {
        Written::of(answer.inferred())
    }

    fn text(answer: &Answer) -> String {
        let Ok((plan, inference)) = &answer.served else { return String::new() };
        text::of(plan, inference, &inferred::unread(&answer.set))
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Brief, String) {
        let report = answer.inferred();
        let address = format!("{}?{}", Page::Serving.path(), link::encode(&answer.design));
        let brief = Brief {
            link: caller.link(&address),
            legal: report.violations.is_empty(),
            numbers: numbers::numbers(report.metrics, report.ranges, &[]),
            violations: Data(report.violations),
            binds: report.binds.map(str::to_owned),
            layout: Data(report.layout),
            timeline: Data(report.timeline),
            memory: Data(report.memory),
            warnings: report.warnings,
            model_version: report.model_version.to_owned(),
        };
        let binds = brief.binds.iter().map(|binds| format!("Limited by {binds}\n"));
        let numbers = if brief.legal { numbers::lines(&brief.numbers) } else { String::new() };
        let text = format!(
            "{}{numbers}{}{}{}\n",
            numbers::broken_lines(&brief.violations.0),
            binds.collect::<String>(),
            numbers::titled("To know", &brief.warnings),
            brief.link
        );
        (brief, text)
    }

    fn violations(answer: &Answer) -> &[Violation] {
        answer.served.as_ref().err().map_or(&[], Vec::as_slice)
    }

    fn detour(input: &Input, caller: &dyn Caller) -> Result<Option<Detour>, Refusal> {
        if input.layouts {
            let answer = Layouts::run(input.of.clone(), caller)?;
            return Ok(Some(Detour::of::<Layouts>(&answer)));
        }
        let Some(metric) = input.explain else { return Ok(None) };
        let (design, _) = input.of.read(Names::Serving, caller)?;
        let plan = ServingPlan::new(&design).map_err(Unexplained::Broken)?;
        let terms = model::Answer::Serving { plan: &plan, inference: &infer(&plan) };
        let unknown = || Unexplained::Unknown(explain::not_known(metric, &design, None));
        let terms = terms.explain(metric).ok_or_else(unknown)?;
        let address = MetricAddress { metric, part: MetricPart::Whole };
        let answer = explain::Answer::new(address, terms, &design, None);
        Ok(Some(Detour::of::<Explain>(&answer)))
    }
}

impl Answer {
    fn inferred(&self) -> Inferred {
        match &self.served {
            Ok((plan, inference)) => inferred::legal(plan, inference, &inferred::unread(&self.set)),
            Err(violations) => inferred::refused(&self.design, violations),
        }
    }
}
