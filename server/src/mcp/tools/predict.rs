//! `predict`: what a training step of a design would achieve.

use std::collections::BTreeMap;

use app::present::name;
use model::{Estimator, link};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::mcp::asked::DesignAsked;
use crate::mcp::said::{self, Broken, Number};
use crate::mcp::tool::{Answer, Call, Tool};
use crate::names::Names;
use crate::report::{self, Asked};

/// The numbers that a summary names.
pub(super) const HEADLINE: [&str; 6] = [
    "mfu",
    "tokens_per_second_per_device",
    "step_time_seconds",
    "memory_peak_bytes",
    "fits",
    "fit_probability",
];

pub(in crate::mcp) struct Predict;

#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Input {
    #[serde(flatten)]
    of: DesignAsked,
    /// Add every pipeline stage with its memory, and each exchange.
    #[serde(default)]
    details: bool,
    /// Add what fills the memory, and what one change of a knob does to it.
    #[serde(default)]
    verdict: bool,
}

/// The measured run that is nearest to the design, with the model's error there.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(in crate::mcp) struct Run {
    id: String,
    model: String,
    accelerator: String,
    num_devices: u64,
    /// predicted / measured - 1 of the speed.
    speed_error: f64,
    /// How near in words: same, near, far.
    nearness: String,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    /// Opens the design.
    link: String,
    title: String,
    /// Does the design keep all rules? If not, there are no numbers.
    legal: bool,
    numbers: Vec<Number>,
    violations: Vec<Broken>,
    nearest_run: Option<Run>,
    /// Seconds of each part of the step; they add up to it.
    step: BTreeMap<String, f64>,
    /// Data-parallel ranks and micro-batches, which follow from the knobs.
    derived: BTreeMap<String, u64>,
    warnings: Vec<String>,
    /// Where the expert loads come from (`balance`) and their imbalance. Loads that a balance other
    /// than `trace` gives are generated: never say that they were measured.
    expert_loads: Option<Map<String, Value>>,
    /// With `details`: pipeline stages, per device, in seconds and bytes.
    stages: Vec<Map<String, Value>>,
    /// With `details`: exchanges per device and step, in seconds and bytes.
    communication: Vec<Map<String, Value>>,
    /// With `verdict`: what fills the memory, and what one change of a knob does.
    verdict: Option<Map<String, Value>>,
    model_version: String,
}

/// The parts of `predict --json` that are taken.
#[derive(Deserialize)]
struct Report {
    derived: BTreeMap<String, u64>,
    metrics: Value,
    expected_error: Value,
    nearest_run: Option<Run>,
    step: BTreeMap<String, f64>,
    stages: Vec<Map<String, Value>>,
    communication: Vec<Map<String, Value>>,
    violations: Vec<Broken>,
    warnings: Vec<String>,
    model_version: String,
    verdict: Option<Map<String, Value>>,
    routing: Option<Map<String, Value>>,
}

impl Tool for Predict {
    const NAME: &'static str = "predict";
    const TITLE: &'static str = "Predict a training step";
    const DESCRIPTION: &'static str = "Predicts what a training step of a design would achieve: \
        MFU, tokens per second, step time, peak memory and whether it fits, bubble, communication. \
        Each number has its range and says what that rests on; a design that breaks rules is \
        answered with them and the nearest legal values.";
    type Input = Input;
    type Output = Output;

    fn run(input: Input, call: &Call) -> Answer<Output> {
        let (design, _) = input.of.read(Names::Training)?;
        let asked = if input.verdict { Asked::Verdict } else { Asked::Numbers };
        let tree = report::predict(&mut Estimator::new(), &design, asked);
        let report: Report = said::typed(&tree)?;
        let legal = report.violations.is_empty();
        let output = Output {
            link: call.design(&link::encode(&design)),
            title: name::title(&design),
            legal,
            numbers: said::numbers(&report.metrics, &report.expected_error, &[]),
            violations: report.violations,
            nearest_run: report.nearest_run,
            step: report.step,
            derived: report.derived,
            warnings: report.warnings,
            expert_loads: report.routing,
            stages: if input.details { report.stages } else { vec![] },
            communication: if input.details { report.communication } else { vec![] },
            verdict: report.verdict,
            model_version: report.model_version,
        };
        let text = output.text();
        Ok((output, text))
    }
}

impl Output {
    fn text(&self) -> String {
        let named = |number: &&Number| HEADLINE.contains(&number.id.as_str());
        let headline: Vec<Number> = self.numbers.iter().filter(named).cloned().collect();
        let numbers = if self.legal { said::lines(&headline) } else { String::new() };
        let near = self.nearest_run.as_ref().map_or_else(String::new, |run| {
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
        let broken = said::broken_lines(&self.violations);
        let warned = said::said("To know", &self.warnings);
        format!("{}\n{broken}{numbers}{near}{warned}{}\n", self.title, self.link)
    }
}
