//! `explain`: how a number comes about, term by term.

use model::design::link;
use model::metric::Regime;
use model::{Breakdown, MODEL_VERSION};
use present::format;
use present::page::budget as budget_page;
use present::site::Page;
use reports::explained::{self, Unexplained};
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
    /// `comm_volume_bytes@axis=ep,link=inter_node`, one of serving such as `tpot_seconds`, of a
    /// run such as `goodput_ratio`, or of the loss beside a baseline such as `loss_difference`.
    metric: String,
    /// The design that the loss is told beside.
    baseline: Option<DesignAsked>,
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
        serving are explained with the design's serving knobs, those of a budget with its run.";
    type Input = Input;
    type Output = Output;

    fn run(input: Input, call: &Call) -> Answer<Output> {
        let depth = input.depth.unwrap_or(USUAL_DEPTH);
        if !(1..=MAX_DEPTH).contains(&depth) {
            let detail = format!("`depth` is from 1 to {MAX_DEPTH}");
            return Err(Refusal::new("out_of_range", "depth", detail));
        }
        let regime = explained::regime(&input.metric);
        let is_served = regime == Regime::Serving;
        let names = if is_served { Names::Serving } else { Names::Training };
        let (design, _) = input.of.read(names)?;
        let baseline = input.baseline.map(|it| it.read(Names::Training)).transpose()?;
        let baseline = baseline.map(|(design, _)| design);
        let mut breakdown = explained::explained(&design, baseline.as_ref(), &input.metric)
            .map_err(|why| match why {
                Unexplained::Unknown(error) => error.into(),
                Unexplained::NoPart(detail) => Refusal::new("no_such_part", "metric", detail),
                Unexplained::Broken(rules) => said::broken(&rules),
            })?;
        let is_cut = cut(&mut breakdown, depth);
        let link = match regime {
            Regime::Model | Regime::Training => call.design(&link::encode(&design)),
            Regime::Serving => {
                call.link(&format!("{}?{}", Page::Serving.path(), link::encode(&design)))
            }
            Regime::Budget | Regime::Quality => {
                let query = budget_page::query(design, baseline);
                call.link(&format!("{}?{query}", Page::Budget.path()))
            }
        };
        let mut text = String::new();
        write(&breakdown, 0, &mut text);
        text += &format!("{link}\n");
        let (metric, model_version) = (input.metric, MODEL_VERSION.to_owned());
        let term = Told(report::explained(&breakdown));
        Ok((Output { link, metric, term, is_cut, model_version }, text))
    }
}

/// Leaves out what is below so many levels; says whether there was any.
fn cut(term: &mut Breakdown, depth: usize) -> bool {
    if depth <= 1 {
        let had_some = !term.children.is_empty();
        term.children.clear();
        return had_some;
    }
    let cuts: Vec<bool> = term.children.iter_mut().map(|term| cut(term, depth - 1)).collect();
    cuts.contains(&true)
}

fn write(term: &Breakdown, level: usize, text: &mut String) {
    let value = format::in_unit(term.value, term.unit);
    let formula =
        if term.formula.is_empty() { String::new() } else { format!(" = {}", term.formula) };
    let from = match term.source.url {
        "" => String::new(),
        url => format!(" [{}, {url}]", term.source.title),
    };
    *text += &format!("{}{}: {value}{formula}{from}\n", "  ".repeat(level), term.name);
    term.children.iter().for_each(|term| write(term, level + 1, text));
}
