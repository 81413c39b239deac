//! `solve`: the value of one knob that reaches a target.

use model::{Plan, design::link};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answers::names::Names;
use crate::answers::solved::{Question, Solved, TriedValue, solved};
use crate::mcp::asked::DesignAsked;
use crate::mcp::said::{self, Refusal, Told};
use crate::mcp::tool::{Answer, Call, Tool};

pub(in crate::mcp) struct Solve;

#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Input {
    #[serde(flatten)]
    of: DesignAsked,
    /// The knob that takes every legal value, by id or short name.
    knob: String,
    /// What to reach: `fits`, `mfu>=0.3`, `step_time_seconds<=20`, `days_to_train<=90`. Whatever is
    /// asked, the design has to fit as well.
    target: String,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    link: String,
    /// Of more than 200 values the first ones are in `tried`.
    #[serde(flatten)]
    solved: Told<Solved>,
    /// How many values were tried.
    values: usize,
}

/// Values that are answered, at most.
const MAX_TRIED: usize = 200;

impl Tool for Solve {
    const NAME: &'static str = "solve";
    const TITLE: &'static str = "Solve for a knob";
    const DESCRIPTION: &'static str = "Lets one knob take every legal value until a number of the \
        step or of its run is reached: the largest micro-batch that fits, the fewest devices for \
        90 days. All else stays; `find` frees the whole layout. Its numbers are point values: \
        `predict` has their ranges.";
    const IS_SEARCH: bool = true;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, call: &Call) -> Answer<Output> {
        let (design, _) = input.of.read(Names::Training)?;
        let question: Question = format!("{}={}", input.knob, input.target)
            .parse()
            .map_err(|why: String| Refusal::new("wrong_question", "target", why))?;
        let plan = Plan::new(&design).map_err(|rules| said::broken(&rules))?;
        let solution =
            question.solve(&plan).map_err(|why| Refusal::new("not_known", "target", why))?;
        let mut solved = solved(&solution);
        let values = solved.tried.len();
        solved.tried.truncate(MAX_TRIED);
        let links = solved.found.iter_mut().chain(&mut solved.nearest).chain(&mut solved.tried);
        links.for_each(|tried| tried.link = call.design(&tried.link));
        let link = call.design(&link::encode(&design));
        let output = Output { link, solved: Told(solved), values };
        let text = output.text();
        Ok((output, text))
    }
}

impl Output {
    fn text(&self) -> String {
        let (solved, count) = (&self.solved.0, self.values);
        let (knob, wish) = (&solved.knob, solved.wish);
        let shown = |it: &TriedValue| {
            let number = it.number.map_or_else(|| "not known".to_owned(), |it| it.to_string());
            format!(
                "{} {number}, step {:.4} s, {:.1} % likely to fit\n{}\n",
                solved.metric,
                it.step_time_seconds,
                it.fit_probability * 100.0,
                it.link
            )
        };
        match (&solved.found, &solved.nearest) {
            (Some(found), _) => format!(
                "{knob}={} reaches it, the {wish} of {count} legal values that does: {}",
                found.value,
                shown(found)
            ),
            (None, Some(near)) => format!(
                "No value of {knob} reaches it, of {count}; the best is {}: {}",
                near.value,
                shown(near)
            ),
            (None, None) => format!("{knob} has no legal value\n"),
        }
    }
}
