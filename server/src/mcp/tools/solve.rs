//! `solve`: the value of one knob that reaches a target.

use model::{Plan, link};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mcp::asked::DesignAsked;
use crate::mcp::said::{self, Refusal};
use crate::mcp::tool::{Answer, Call, Tool};
use crate::names::Names;
use crate::solved::{Question, solved};

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

/// A value of the knob with what it gives.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Tried {
    value: String,
    /// Is the target reached, and does it fit?
    reached: bool,
    /// What the target looks at, in its metric's unit.
    number: Option<f64>,
    fits: bool,
    fit_probability: f64,
    mfu: f64,
    step_time_seconds: f64,
    memory_peak_bytes: f64,
    link: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    #[serde(default)]
    link: String,
    knob: String,
    /// Which value is wanted of those that reach it: largest, smallest or fastest.
    wish: String,
    metric: String,
    found: Option<Tried>,
    /// The best value where none reaches it.
    nearest: Option<Tried>,
    /// Every legal value, in order; of more than 200 the first ones.
    tried: Vec<Tried>,
    #[serde(default)]
    values: usize,
    model_version: String,
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
        let mut output: Output = said::typed(&solved(&solution))?;
        output.values = output.tried.len();
        output.tried.truncate(MAX_TRIED);
        output.link = call.design(&link::encode(&design));
        let links = output.found.iter_mut().chain(&mut output.nearest).chain(&mut output.tried);
        links.for_each(|tried| tried.link = call.design(&tried.link));
        let text = output.text();
        Ok((output, text))
    }
}

impl Output {
    fn text(&self) -> String {
        let (knob, count) = (&self.knob, self.values);
        let shown = |it: &Tried| {
            let number = it.number.map_or_else(|| "not known".to_owned(), |it| it.to_string());
            format!(
                "{} {number}, step {:.4} s, {:.1} % likely to fit\n{}\n",
                self.metric,
                it.step_time_seconds,
                it.fit_probability * 100.0,
                it.link
            )
        };
        match (&self.found, &self.nearest) {
            (Some(found), _) => format!(
                "{knob}={} reaches it, the {} of {count} legal values that does: {}",
                found.value,
                self.wish,
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
