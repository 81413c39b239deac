//! `budget`: what a design's run costs.

use model::design::link;
use present::page::budget as page;
use present::site::Page;
use reports::budgeted::{self, Gain, PublishedInputs, Quality, SpreadOfRuns};
use reports::report::BrokenRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answers::names::Names;
use crate::mcp::asked::DesignAsked;
use crate::mcp::said::{self, Number, Told};
use crate::mcp::tool::{Answer, Call, Tool};

pub(in crate::mcp) struct Budget;

#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Input {
    /// Tokens, price, failures and checkpoints are knobs of section `run`: without them what they
    /// decide isn't known. Ask for them.
    #[serde(flatten)]
    of: DesignAsked,
    /// A design to say what published laws expect of the loss beside.
    baseline: Option<DesignAsked>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    link: String,
    legal: bool,
    numbers: Vec<Number>,
    violations: Told<Vec<BrokenRule>>,
    /// Days in which one and nine of ten equal runs end.
    spread: Told<Option<SpreadOfRuns>>,
    /// What one change is worth.
    gains: Told<Vec<Gain>>,
    /// What laws expect of the loss beside the baseline: medians with least and most over laws, in
    /// nats per token, ties, flags and refusals. Its caveat goes with it.
    quality: Told<Option<Quality>>,
    /// Published figures that unknown inputs may be taken from, with their sources.
    published: Told<Option<PublishedInputs>>,
    assumed: Vec<String>,
    warnings: Vec<String>,
    model_version: String,
}

impl Tool for Budget {
    const NAME: &'static str = "budget";
    const TITLE: &'static str = "Budget of a run";
    const DESCRIPTION: &'static str = "Counts what a training run costs: days, device-hours, \
        money, energy, failures and goodput, and with a baseline the loss that laws expect. \
        What isn't known is null, and the published figures that may stand for it are listed.";
    type Input = Input;
    type Output = Output;

    fn run(input: Input, call: &Call) -> Answer<Output> {
        let (design, _) = input.of.read(Names::Training)?;
        let baseline = input.baseline.map(|it| it.read(Names::Training)).transpose()?;
        let baseline = baseline.map(|(design, _)| design);
        let report = budgeted::budget(&design, baseline.as_ref());
        let query = match baseline {
            Some(_) => page::query(design, baseline).to_string(),
            None => link::encode(&design),
        };
        let output = Output {
            link: call.link(&format!("{}?{query}", Page::Budget.path())),
            legal: report.violations.is_empty(),
            numbers: said::numbers(report.metrics, report.ranges, &[]),
            violations: Told(report.violations),
            spread: Told(report.spread),
            gains: Told(report.gains),
            quality: Told(report.quality),
            published: Told(report.published),
            assumed: report.assumed,
            warnings: report.warnings,
            model_version: report.model_version.to_owned(),
        };
        let caveat = output.quality.0.as_ref();
        let caveat = caveat.map_or_else(String::new, |it| format!("{}\n", it.caveat));
        let numbers = if output.legal { said::lines(&output.numbers) } else { String::new() };
        let text = format!(
            "{}{numbers}{}{}{caveat}{}\n",
            said::broken_lines(&output.violations.0),
            said::said("Assumed", &output.assumed),
            said::said("To know", &output.warnings),
            output.link
        );
        Ok((output, text))
    }
}
