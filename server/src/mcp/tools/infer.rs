//! `infer`: how a design would serve.

use app::site::Page;
use model::link;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::inferred::inferred;
use crate::mcp::asked::DesignAsked;
use crate::mcp::said::{self, Broken, Number};
use crate::mcp::tool::{Answer, Call, Tool};
use crate::names::Names;

pub(in crate::mcp) struct Infer;

#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Input {
    /// Short names such as tp and ep mean knobs of section `serving` here.
    #[serde(flatten)]
    of: DesignAsked,
}

/// A part of a step, in seconds.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Part {
    part: String,
    seconds: f64,
}

/// Where the time of a step of decode and of a prompt goes.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Timeline {
    prefill: Vec<Part>,
    decode: Vec<Part>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    /// Opens the design on the page for serving.
    link: String,
    legal: bool,
    numbers: Vec<Number>,
    violations: Vec<Broken>,
    /// What holds back more requests.
    binds: Option<String>,
    /// Degrees of parallelism of decode, and of prefill where it has devices of its own.
    layout: Option<Map<String, Value>>,
    timeline: Option<Timeline>,
    /// Bytes of a device.
    memory: Option<Map<String, Value>>,
    warnings: Vec<String>,
    model_version: String,
}

#[derive(Deserialize)]
struct Report {
    metrics: Value,
    ranges: Value,
    binds: Option<String>,
    layout: Option<Map<String, Value>>,
    timeline: Option<Timeline>,
    memory: Option<Map<String, Value>>,
    violations: Vec<Broken>,
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

    fn run(input: Input, call: &Call) -> Answer<Output> {
        let (design, set) = input.of.read(Names::Serving)?;
        let report: Report = said::typed(&inferred(&design, &set))?;
        let address = format!("{}?{}", Page::Serving.path(), link::encode(&design));
        let output = Output {
            link: call.link(&address),
            legal: report.violations.is_empty(),
            numbers: said::numbers(&report.metrics, &report.ranges, &[]),
            violations: report.violations,
            binds: report.binds,
            layout: report.layout,
            timeline: report.timeline,
            memory: report.memory,
            warnings: report.warnings,
            model_version: report.model_version,
        };
        let binds = output.binds.iter().map(|binds| format!("More is held back by {binds}\n"));
        let numbers = if output.legal { said::lines(&output.numbers) } else { String::new() };
        let text = format!(
            "{}{numbers}{}{}{}\n",
            said::broken_lines(&output.violations),
            binds.collect::<String>(),
            said::said("To know", &output.warnings),
            output.link
        );
        Ok((output, text))
    }
}
