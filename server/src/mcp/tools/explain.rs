//! `explain`: how a number comes about, term by term.

use app::present::format;
use model::metric::{MetricAddress, MetricPart};
use model::serving::{ServingMetric, ServingPlan, explain as explain_serving, infer};
use model::{MODEL_VERSION, Plan, explain_at, link};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mcp::asked::DesignAsked;
use crate::mcp::said::{self, Refusal, Source};
use crate::mcp::tool::{Answer, Call, Tool};
use crate::names::Names;
use crate::report;

/// Levels of terms that are answered unless more are asked for, and at most.
const USUAL_DEPTH: usize = 3;
const MAX_DEPTH: usize = 12;

pub(in crate::mcp) struct Explain;

#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Input {
    #[serde(flatten)]
    of: DesignAsked,
    /// The metric, whole or of a part: `mfu`, `memory_peak_bytes@stage=3`,
    /// `comm_volume_bytes@axis=ep,link=inter_node`, or one of serving such as `tpot_seconds`.
    metric: String,
    /// Levels of terms, from 1 to 12; 3 unless said.
    depth: Option<usize>,
}

/// A number with the formula that makes it of others.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(in crate::mcp) struct Term {
    name: String,
    value: f64,
    /// Empty for counts and ratios.
    unit: String,
    formula: String,
    /// Where the formula or the constant is published; without an address it is derived here.
    source: Source,
    /// How the value follows from the terms below: sum, product, quotient, max, given, ...
    how: String,
    #[serde(rename = "children")]
    terms: Vec<Term>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    link: String,
    metric: String,
    term: Term,
    /// Whether terms below `depth` were left out.
    is_cut: bool,
    model_version: String,
}

impl Tool for Explain {
    const NAME: &'static str = "explain";
    const TITLE: &'static str = "Explain a number";
    const DESCRIPTION: &'static str = "Explains how one metric of a design comes about: its \
        formula with today's values, down to knobs, constants and their sources. Metrics of \
        serving are explained with the design's serving knobs.";
    type Input = Input;
    type Output = Output;

    fn run(input: Input, call: &Call) -> Answer<Output> {
        let depth = input.depth.unwrap_or(USUAL_DEPTH);
        if !(1..=MAX_DEPTH).contains(&depth) {
            let detail = format!("`depth` is from 1 to {MAX_DEPTH}");
            return Err(Refusal::new("out_of_range", "depth", detail));
        }
        let (breakdown, query) = match ServingMetric::find(&input.metric) {
            Some(id) => {
                let (design, _) = input.of.read(Names::Serving)?;
                let plan = ServingPlan::new(&design).map_err(|rules| said::broken(&rules))?;
                (explain_serving(&plan, &infer(&plan), id), link::encode(&design))
            }
            None => {
                let address = MetricAddress::parse(&input.metric)?;
                let (design, _) = input.of.read(Names::Training)?;
                let plan = Plan::new(&design).map_err(|rules| said::broken(&rules))?;
                let breakdown = explain_at(&plan, address).ok_or_else(|| no_part(address))?;
                (breakdown, link::encode(&design))
            }
        };
        let mut term: Term = said::typed(&report::breakdown(&breakdown))?;
        let is_cut = term.cut(depth);
        let link = match ServingMetric::find(&input.metric) {
            Some(_) => call.link(&format!("{}?{query}", app::site::Page::Serving.path())),
            None => call.design(&query),
        };
        let mut text = String::new();
        term.write(0, &mut text);
        text += &format!("{link}\n");
        let (metric, model_version) = (input.metric, MODEL_VERSION.to_owned());
        Ok((Output { link, metric, term, is_cut, model_version }, text))
    }
}

fn no_part(address: MetricAddress) -> Refusal {
    let detail = match address.part {
        MetricPart::Stage(stage) => format!("the design has no stage {stage}; they begin with 0"),
        MetricPart::Axis(axis, _) => format!("the design has no such traffic of {}", axis.name()),
        MetricPart::Whole => "the design has no such part".to_owned(),
    };
    Refusal::new("no_such_part", "metric", detail)
}

impl Term {
    /// Leaves out what is below so many levels; says whether there was any.
    fn cut(&mut self, depth: usize) -> bool {
        if depth <= 1 {
            let had_some = !self.terms.is_empty();
            self.terms.clear();
            return had_some;
        }
        let cut: Vec<bool> = self.terms.iter_mut().map(|term| term.cut(depth - 1)).collect();
        cut.contains(&true)
    }

    fn write(&self, level: usize, text: &mut String) {
        // Units of the registry are static; those here were read.
        let value = format::significant(self.value, 4);
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        let formula =
            if self.formula.is_empty() { String::new() } else { format!(" = {}", self.formula) };
        let from = match &self.source.url {
            Some(url) => format!(" [{}, {url}]", self.source.title),
            None => String::new(),
        };
        *text += &format!("{}{}: {value}{unit}{formula}{from}\n", "  ".repeat(level), self.name);
        self.terms.iter().for_each(|term| term.write(level + 1, text));
    }
}
