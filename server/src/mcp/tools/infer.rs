//! `infer`: how a design would serve.

use model::design::link;
use present::site::Page;
use reports::inferred::{Pools, Timeline, of_design};
use reports::report::BrokenRule;
use reports::typed::Named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use operations::Names;
use operations::DesignInput;
use operations::{self as said, Number, Data};
use crate::mcp::tool::{Answer, Tool};
use operations::Caller;

pub(in crate::mcp) struct Infer;

#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Input {
    /// Short names such as tp and ep mean knobs of section `serving` here.
    #[serde(flatten)]
    of: DesignInput,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
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

impl Tool for Infer {
    const NAME: &'static str = "infer";
    const TITLE: &'static str = "Predict serving";
    const DESCRIPTION: &'static str = "Predicts how a design serves: TTFT, TPOT, tokens per second \
        per device and per user, the requests that memory holds, what binds. Engine, layout, \
        lengths and load are knobs of section `serving`.";
    type Input = Input;
    type Output = Output;

    fn run(input: Input, call: &dyn Caller) -> Answer<Output> {
        let (design, set) = input.of.read(Names::Serving, call)?;
        let report = of_design(&design, &set);
        let address = format!("{}?{}", Page::Serving.path(), link::encode(&design));
        let output = Output {
            link: call.link(&address),
            legal: report.violations.is_empty(),
            numbers: said::numbers(report.metrics, report.ranges, &[]),
            violations: Data(report.violations),
            binds: report.binds.map(str::to_owned),
            layout: Data(report.layout),
            timeline: Data(report.timeline),
            memory: Data(report.memory),
            warnings: report.warnings,
            model_version: report.model_version.to_owned(),
        };
        let binds = output.binds.iter().map(|binds| format!("Limited by {binds}\n"));
        let numbers = if output.legal { said::lines(&output.numbers) } else { String::new() };
        let text = format!(
            "{}{numbers}{}{}{}\n",
            said::broken_lines(&output.violations.0),
            binds.collect::<String>(),
            said::titled("To know", &output.warnings),
            output.link
        );
        Ok((output, text))
    }
}
