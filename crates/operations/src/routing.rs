//! `routing`: where a design's tokens go, layer by layer, and what moving experts brings.

mod answer;
mod text;

use std::path::PathBuf;
use std::sync::Arc;

use model::answer::loads::Report;
use model::design::link;
use present::format;
use reports::typed::Written;
use schemars::JsonSchema;
use serde::Deserialize;

pub use answer::{Answer, Routed};

use crate::caller::Caller;
use crate::input::DesignInput;
use crate::loads;
use crate::names::Names;
use crate::numbers::Data;
use crate::operation::Operation;
use crate::refusal::{Kind, Refusal};

/// The verb.
pub struct Routing;

/// Arguments of the verb.
#[derive(clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "RoutingInput")]
pub struct Input {
    /// Design.
    #[command(flatten)]
    #[serde(flatten)]
    of: DesignInput,
    /// Take the expert loads of this trace: CSV, JSON or Parquet with step, layer, expert, tokens
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    trace: Option<PathBuf>,
}

impl Operation for Routing {
    const NAME: &'static str = "routing";
    const SUMMARY: &'static str =
        "Place a design's experts: imbalance before and after the planner, its moves, what drops";
    const TITLE: &'static str = "Routing and placement of experts";
    const DESCRIPTION: &'static str = "Routes the tokens of a design that trains and places its \
        experts: imbalance of each layer before and after the planner, its moves and their time, \
        the planner's intervals compared, and the tokens that a capacity drops. The loads are \
        generated from routing.skew, never measured: say so. Recorded loads are read by `moescape \
        routing --trace` alone.";
    type Input = Input;
    type Answer = Answer;
    type Output = Routed;
    type Brief = Data<Routed>;

    fn run(input: Input, caller: &dyn Caller) -> Result<Answer, Refusal> {
        let (mut design, _) = input.of.read(Names::Training, caller)?;
        let trace = input.trace.as_deref().map(|path| caller.trace(path)).transpose()?;
        let trace = trace.map(Arc::new);
        let plan = loads::plan(&mut design, trace.as_deref());
        let plan = plan.map_err(|violations| Refusal::broken(&violations))?;
        let report = Report::of(&plan, trace.as_ref()).ok_or_else(|| {
            let detail = "every expert gets the same load: --set routing.balance=skewed generates \
                          others, --trace FILE takes recorded ones";
            Refusal::new("even_loads", "", detail).of_kind(Kind::Unanswerable)
        })?;
        Ok(Answer::new(plan, trace, report))
    }

    fn output(answer: &Answer) -> Written<Routed> {
        Written::of(answer.routed.clone())
    }

    fn text(answer: &Answer) -> String {
        text::of(answer)
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Data<Routed>, String) {
        let (plan, routed) = (&answer.plan, &answer.routed);
        let shortest = routed.cadences.iter().find(|one| one.shortest);
        let shortest = shortest.map_or_else(String::new, |one| {
            let steps = format::counted(one.interval, "step", "steps");
            format!("The step is shortest with the planner every {steps}\n")
        });
        let text = format!(
            "{}, loads {}\n{}{}{shortest}{}\n",
            format::counted(routed.layers.len() as u64, "layer", "layers"),
            loads::source(plan, answer.trace.as_deref()),
            loads::imbalance(plan.effect()),
            text::costs(routed, plan),
            caller.design(&link::encode(plan.design()))
        );
        (Data(routed.clone()), text)
    }
}
