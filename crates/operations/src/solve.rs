//! `solve`: the value of one knob that reaches a target.

use std::str::FromStr;

use model::design::{KnobId, link};
use model::metric::{MetricId, Regime};
use model::run::budget::{RunTarget, lacks};
use model::search::find;
use model::search::solve::{Solution, Target, Tried, Wish};
use model::{MODEL_VERSION, Plan};
use present::format;
use present::insight::memory_state;
use reports::typed::Written;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::columns::table_below;
use crate::input::DesignInput;
use crate::names::Names;
use crate::numbers::Data;
use crate::operation::Operation;
use crate::refusal::{Kind, Refusal};

/// Maximum number of values that an agent is told of.
const MAX_TRIED: usize = 200;

/// The verb.
pub struct Solve;

/// Arguments of the verb.
#[derive(clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "SolveInput")]
pub struct Input {
    /// Design.
    #[command(flatten)]
    #[serde(flatten)]
    of: DesignInput,
    /// The knob that takes every legal value, by id or short name.
    #[arg(
        long,
        value_name = "KNOB",
        help = "Knob that takes every legal value, by id or short name"
    )]
    knob: String,
    /// What to reach: `fits`, `mfu>=0.3`, `step_time_seconds<=20`, `days_to_train<=90`. Whatever is
    /// asked, the design has to fit as well.
    #[arg(
        long,
        value_name = "TARGET",
        help = "What to reach: fits, 'mfu>=0.3', 'step_time_seconds<=20', 'days_to_train<=90'"
    )]
    target: String,
}

/// Solution of a question.
pub struct Answer {
    solution: Solution,
    /// Query of the design's link.
    query: String,
}

/// Answer for agents.
#[derive(Serialize, JsonSchema)]
pub struct Brief {
    link: String,
    /// Of more than 200 values the first ones are in `tried`.
    #[serde(flatten)]
    solved: Data<Solved>,
    /// How many values were tried.
    values: usize,
}

impl Operation for Solve {
    const NAME: &'static str = "solve";
    const SUMMARY: &'static str =
        "Solve for one knob: its value that reaches a target, all else as it is";
    const TITLE: &'static str = "Solve for a knob";
    const DESCRIPTION: &'static str = "Lets one knob take every legal value until a number of the \
        step or of its run is reached: the largest micro-batch that fits, the fewest devices for \
        90 days. All else stays; `find` frees the whole layout. Its numbers are point values: \
        `predict` has their ranges.";
    const IS_SEARCH: bool = true;
    type Input = Input;
    type Answer = Answer;
    type Output = Solved;
    type Brief = Brief;

    fn run(input: Input, caller: &dyn Caller) -> Result<Answer, Refusal> {
        let (design, _) = input.of.read(Names::Training, caller)?;
        let question: Question = format!("{}={}", input.knob, input.target)
            .parse()
            .map_err(|why: String| Refusal::new("wrong_question", "target", why))?;
        let plan = Plan::new(&design).map_err(|rules| Refusal::broken(&rules))?;
        Answer::new(&plan, question)
    }

    fn output(answer: &Answer) -> Written<Solved> {
        Written::of(solved(&answer.solution))
    }

    fn text(answer: &Answer) -> String {
        table_of(&answer.solution)
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Brief, String) {
        let mut solved = solved(&answer.solution);
        let values = solved.tried.len();
        solved.tried.truncate(MAX_TRIED);
        let links = solved.found.iter_mut().chain(&mut solved.nearest).chain(&mut solved.tried);
        links.for_each(|tried| tried.link = caller.design(&tried.link));
        let link = caller.design(&answer.query);
        let brief = Brief { link, solved: Data(solved), values };
        let text = brief.text();
        (brief, text)
    }
}

impl Answer {
    /// Solution of a question on a plan.
    ///
    /// # Errors
    /// The knobs that the target's metric of a run lacks.
    pub fn new(plan: &Plan, question: Question) -> Result<Self, Refusal> {
        let refused = |why| Refusal::new("not_known", "target", why).of_kind(Kind::Unanswerable);
        let solution = question.solve(plan).map_err(refused)?;
        Ok(Self { solution, query: link::encode(plan.design()) })
    }
}

impl Brief {
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

/// Name of the target's metric, and a number of it in its unit; `None` for memory, which is beside
/// every value.
fn asked(target: Target, number: f64) -> Option<(&'static str, String)> {
    match target {
        Target::AtLeast(metric, _)
        | Target::AtMost(metric, _)
        | Target::Run(RunTarget { metric, .. }) => {
            Some((metric.metric().label, format::measured(metric, number).to_string()))
        }
        Target::Fits => None,
    }
}

/// Solution, for people.
fn table_of(solution: &Solution) -> String {
    let count = format::counted(solution.tried.len() as u64, "legal value", "legal values");
    let name = solution.knob.id();
    let text = match (solution.found(), solution.nearest()) {
        (Some(found), _) => format!(
            "{name}={} reaches it: the {} of {} that do, of {count}\n  link /?{}\n",
            found.value,
            solution.wish.name(),
            solution.tried.iter().filter(|tried| tried.reached).count(),
            link::encode(&found.design),
        ),
        (None, Some(nearest)) => format!(
            "no value of {name} reaches it, of {count}; the best is {}\n  link /?{}\n",
            nearest.value,
            link::encode(&nearest.design),
        ),
        (None, None) => format!("{name} has no legal value\n"),
    };
    let label = asked(solution.target, 0.0).map_or("", |(label, _)| label);
    let head = ["value", "reached", "memory", "MFU", "step", "peak memory", label];
    text + &table_below(head, "rllrrrr", solution.tried.iter().map(|it| row(solution.target, it)))
}

fn row(target: Target, tried: &Tried) -> Vec<String> {
    let number = tried.number.and_then(|number| asked(target, number));
    let yes = |is: bool| String::from(if is { "yes" } else { "no" });
    vec![
        tried.value.to_string(),
        yes(tried.reached),
        memory_state::word(tried.metrics.memory_state()).to_owned(),
        format::percent(tried.metrics.mfu, 2).to_string(),
        format::duration(tried.metrics.step_time).to_string(),
        format::memory(tried.metrics.memory_peak).to_string(),
        number.map_or_else(String::new, |(_, shown)| shown),
    ]
}

/// Question: the knob to move and the target, as in `micro_batch_size=fits`, `tp=mfu>=0.3`,
/// `num_devices=days_to_train<=90`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// Knob that moves.
    pub knob: KnobId,
    /// What it has to reach.
    pub target: Target,
}

impl FromStr for Question {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (knob, asked) = text.split_once('=').ok_or(
            "write KNOB=TARGET, such as micro_batch_size=fits or tp=mfu>=0.3 (quote the sign)",
        )?;
        let knob = KnobId::find(knob.trim()).map_err(|error| error.to_string())?;
        Ok(Self { knob, target: target(asked.trim())? })
    }
}

/// A target of a step or of its run, read as `find` reads its own.
fn target(text: &str) -> Result<Target, String> {
    if text == "fits" {
        return Ok(Target::Fits);
    }
    let asked = find::Domain::Training.target(text).map_err(|error| {
        let metrics = MetricId::of(Regime::Training).chain(MetricId::of(Regime::Budget));
        let known: Vec<&str> = metrics.map(|id| id.metric().name).collect();
        format!("{error}; a target is fits, or one of {} with >= or <=", known.join(", "))
    })?;
    match asked {
        find::Target::AtLeast(metric, least) => Ok(Target::AtLeast(metric, least)),
        find::Target::AtMost(metric, most) => Ok(Target::AtMost(metric, most)),
        find::Target::Run(target) => Ok(Target::Run(target)),
        find::Target::Spare(_) | find::Target::Devices(_) => {
            Err(format!("`{text}` is a target of `find`; here it is one of a metric"))
        }
    }
}

impl Question {
    /// Solution of the question.
    ///
    /// # Errors
    /// The knobs that the target's metric of a run lacks.
    pub fn solve(self, plan: &Plan) -> Result<Solution, String> {
        if let Target::Run(target) = self.target {
            let lacking: Vec<String> =
                lacks(target.metric, plan.design()).into_iter().map(KnobId::id).collect();
            if !lacking.is_empty() {
                let name = target.metric.metric().name;
                return Err(format!("{name} isn't known: set {}", lacking.join(", ")));
            }
        }
        Ok(model::solve(plan, self.knob, self.target, Wish::of(self.knob)))
    }
}

reports::said! {
    /// Value that one knob needs for a target.
    #[derive(Clone, Debug, JsonSchema)]
    pub struct Solved {
        knob: String,
        /// Which value is wanted of those that reach it: largest, smallest or fastest.
        wish: &'static str,
        /// What the target looks at.
        metric: &'static str,
        found: Option<TriedValue>,
        /// The best value where none reaches it.
        nearest: Option<TriedValue>,
        /// Every legal value, in order.
        tried: Vec<TriedValue>,
        model_version: &'static str,
    }

    /// A value of the knob with what it gives.
    #[derive(Clone, Debug, JsonSchema)]
    pub struct TriedValue {
        value: String,
        /// Whether the target is reached and it fits.
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
}

/// A solution as data.
pub fn solved(solution: &Solution) -> Solved {
    let tried = |tried: &Tried| TriedValue {
        value: tried.value.to_string(),
        reached: tried.reached,
        number: tried.number,
        fits: tried.metrics.fits,
        fit_probability: tried.metrics.fit_probability,
        mfu: tried.metrics.mfu,
        step_time_seconds: tried.metrics.step_time.get(),
        memory_peak_bytes: tried.metrics.memory_peak.get(),
        link: format!("/?{}", link::encode(&tried.design)),
    };
    let metric = match solution.target {
        Target::Fits => MetricId::memory_peak_bytes.metric().name,
        Target::AtLeast(metric, _) | Target::AtMost(metric, _) => metric.metric().name,
        Target::Run(target) => target.metric.metric().name,
    };
    Solved {
        knob: solution.knob.id(),
        wish: solution.wish.name(),
        metric,
        found: solution.found().map(tried),
        nearest: solution.nearest().map(tried),
        tried: solution.tried.iter().map(tried).collect(),
        model_version: MODEL_VERSION,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_a_knob_and_what_to_reach() {
        let question: Question = "tp=mfu>=0.3".parse().expect("a question");
        assert_eq!(question.target, Target::AtLeast(MetricId::mfu, 0.3));
        assert_eq!("mbs=fits".parse::<Question>().expect("a question").target, Target::Fits);
        let question: Question = "num_devices=days_to_train<=90".parse().expect("a question");
        assert!(matches!(question.target, Target::Run(it) if it.is_most), "{question:?}");
        for junk in [
            "tp=spare>=0.1",
            "",
            "tp",
            "tp=",
            "tp=mfu",
            "tp=mfu>=x",
            "tp=nothing>=1",
            "nothing=fits",
        ] {
            assert!(junk.parse::<Question>().is_err(), "{junk}");
        }
    }
}
