//! `explain`: how a number comes about, term by term.

use model::metric::{MetricAddress, MetricPart};
use model::serving::{ServingMetric, ServingPlan, explain as explain_serving, infer};
use model::{MODEL_VERSION, Plan, design::link, explain_at};
use present::format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answers::names::Names;
use crate::mcp::asked::DesignAsked;
use crate::mcp::said::{self, Refusal, Told};
use crate::mcp::tool::{Answer, Call, Tool};
use crate::report::{self, Explained};

/// Levels of terms in an answer by default, and at most.
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

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    link: String,
    metric: String,
    term: Told<Explained>,
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
        let mut term = report::explained(&breakdown);
        let is_cut = cut(&mut term, depth);
        let link = match ServingMetric::find(&input.metric) {
            Some(_) => call.link(&format!("{}?{query}", present::site::Page::Serving.path())),
            None => call.design(&query),
        };
        let mut text = String::new();
        write(&term, 0, &mut text);
        text += &format!("{link}\n");
        let (metric, model_version) = (input.metric, MODEL_VERSION.to_owned());
        Ok((Output { link, metric, term: Told(term), is_cut, model_version }, text))
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

/// Leaves out what is below `depth` levels; says whether there was any.
fn cut(term: &mut Explained, depth: usize) -> bool {
    if depth <= 1 {
        let had_some = !term.children.is_empty();
        term.children.clear();
        return had_some;
    }
    let cuts: Vec<bool> = term.children.iter_mut().map(|term| cut(term, depth - 1)).collect();
    cuts.contains(&true)
}

fn write(term: &Explained, level: usize, text: &mut String) {
    let value = format::significant(term.value, 4);
    let unit = if term.unit.is_empty() { String::new() } else { format!(" {}", term.unit) };
    let formula =
        if term.formula.is_empty() { String::new() } else { format!(" = {}", term.formula) };
    let from = match term.source.url {
        Some(url) => format!(" [{}, {url}]", term.source.title),
        None => String::new(),
    };
    *text += &format!("{}{}: {value}{unit}{formula}{from}\n", "  ".repeat(level), term.name);
    term.children.iter().for_each(|term| write(term, level + 1, text));
}
