//! `predict`: what a training step of a design would achieve.

use model::{Estimator, design::link};
use present::words::name;
use reports::typed::Named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use operations::Names;
use operations::DesignInput;
use operations::{self as said, Number, Data};
use crate::mcp::tool::{Answer, Tool};
use operations::Caller;
use crate::report::{self, Asked, BrokenRule, Exchange, Loads, MemoryVerdict, NearestRun, Stage};

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
    of: DesignInput,
    /// Add every pipeline stage with its memory, and each exchange.
    #[serde(default)]
    details: bool,
    /// Add what fills the memory, and what one change of a knob does to it.
    #[serde(default)]
    verdict: bool,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
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

impl Tool for Predict {
    const NAME: &'static str = "predict";
    const TITLE: &'static str = "Predict a training step";
    const DESCRIPTION: &'static str = "Predicts what a training step of a design would achieve: \
        MFU, tokens per second, step time, peak memory and whether it fits, bubble, communication. \
        Each number has its range and says what that rests on; a design that breaks rules is \
        answered with them and the nearest legal values.";
    type Input = Input;
    type Output = Output;

    fn run(input: Input, call: &dyn Caller) -> Answer<Output> {
        let (design, _) = input.of.read(Names::Training, call)?;
        let asked = if input.verdict { Asked::Verdict } else { Asked::Numbers };
        let report = report::prediction(&mut Estimator::new(), &design, asked);
        let legal = report.violations.is_empty();
        let output = Output {
            link: call.design(&link::encode(&design)),
            title: name::title(&design),
            legal,
            numbers: said::numbers(report.metrics, report.expected_error, &[]),
            violations: Data(report.violations),
            nearest_run: Data(report.nearest_run),
            step: Data(report.step),
            derived: Data(report.derived),
            warnings: report.warnings,
            expert_loads: Data(report.routing),
            stages: Data(if input.details { report.stages } else { vec![] }),
            communication: Data(if input.details { report.communication } else { vec![] }),
            verdict: Data(report.verdict),
            model_version: report.model_version.to_owned(),
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
        let broken = said::broken_lines(&self.violations.0);
        let warned = said::titled("To know", &self.warnings);
        format!("{}\n{broken}{numbers}{near}{warned}{}\n", self.title, self.link)
    }
}
