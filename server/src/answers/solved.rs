//! One knob that moved until a target was reached, as data: what `--solve --json` prints.

use std::str::FromStr;

use model::design::KnobId;
use model::metric::{MetricId, Regime};
use model::run::budget::lacks;
use model::search::find;
use model::search::solve::{Solution, Target, Tried, Wish};
use model::{MODEL_VERSION, Plan, design::link};
use schemars::JsonSchema;

/// Question: the knob to move and the target, as in `micro_batch_size=fits`, `tp=mfu>=0.3`,
/// `num_devices=days_to_train<=90`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Question {
    pub(crate) knob: KnobId,
    pub(crate) target: Target,
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
    pub(crate) fn solve(self, plan: &Plan) -> Result<Solution, String> {
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
    /// What one knob has to be for a target: what `--solve --json` prints.
    #[derive(Clone, Debug, JsonSchema)]
    pub(crate) struct Solved {
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
    pub(crate) struct TriedValue {
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
pub(crate) fn solved(solution: &Solution) -> Solved {
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
