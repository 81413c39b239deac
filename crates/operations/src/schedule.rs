//! `schedule`: a pipeline schedule of equal stages, task by task.

mod answer;
mod input;
mod picture;
mod text;

use model::schedule::{Timeline, Times};
use present::format;
use present::page::schedule::{self as page, query};
use reports::typed::Written;

pub use answer::Scheduled;
use input::Checked;
pub use input::Input;

use crate::caller::Caller;
use crate::columns::plain;
use crate::numbers::Data;
use crate::operation::Operation;
use crate::refusal::Refusal;

/// The verb.
pub struct Schedule;

/// A schedule that ran.
pub struct Answer {
    input: Checked,
    timeline: Timeline,
    /// The published formula's step time, in seconds.
    closed_form: Option<f64>,
}

impl Operation for Schedule {
    const NAME: &'static str = "schedule";
    const SUMMARY: &'static str =
        "Run a pipeline schedule task by task: step time, bubble, micro-batches in flight";
    const TITLE: &'static str = "Pipeline schedule";
    const DESCRIPTION: &'static str = "Runs a pipeline schedule of equal stages task by task: step \
        time, bubble, and micro-batches in flight of each stage, beside the published formula. The \
        times of tasks are yours, not a design's: `predict` has those of a design, whose stages \
        differ.";
    type Input = Input;
    type Answer = Answer;
    type Output = Scheduled;
    type Brief = Data<Scheduled>;

    fn run(input: Input, _: &dyn Caller) -> Result<Answer, Refusal> {
        let input = input.checked()?;
        let schedule = &input.schedule;
        let times = Times::equal(schedule, input.stage, Some(input.pair), input.p2p);
        // The formulas know no time for P2P.
        let formula = schedule.closed_form_seconds(input.stage, input.pair);
        let closed_form = formula.filter(|_| input.p2p == 0.0);
        let timeline = schedule.simulate(&times);
        Ok(Answer { input, timeline, closed_form })
    }

    fn output(answer: &Answer) -> Written<Scheduled> {
        Written::of(answer::of(answer))
    }

    fn text(answer: &Answer) -> String {
        text::of(answer)
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Data<Scheduled>, String) {
        let scheduled = answer::of(answer);
        let formula = match scheduled.step_time_seconds_closed_form {
            Some(step) => format!("{} s by the published formula", plain(step.0)),
            None => "no published formula holds".to_owned(),
        };
        let text = format!(
            "{}: step {} s ({formula}), bubble {} of device time\n{} micro-batches in flight at \
             most on a stage\n{}\n",
            scheduled.schedule.method,
            plain(scheduled.step_time_seconds.0),
            format::percent(scheduled.bubble_ratio.0, 2),
            plain(scheduled.peak_in_flight()),
            caller.link(&query::address(&answer.page()))
        );
        (Data(scheduled), text)
    }
}

impl Answer {
    /// The bubble by the published formula: the work is the same.
    fn closed_form_bubble(&self) -> Option<f64> {
        let work = (1.0 - self.timeline.bubble_ratio()) * self.timeline.seconds;
        self.closed_form.map(|seconds| (1.0 - work / seconds).max(0.0))
    }

    /// Input of the page that shows the schedule.
    fn page(&self) -> page::Input {
        let Checked { schedule, stage, pair, p2p, group } = &self.input;
        page::Input {
            method: schedule.method(),
            stages: schedule.stages() as u64,
            chunks: Some(schedule.chunks() as u64),
            micro_batches: schedule.micro_batches() as u64,
            group: *group,
            times: *stage,
            pair: Some(*pair).filter(|pair| *pair != stage.forward + stage.backward()),
            p2p: *p2p,
            ..page::Input::default()
        }
    }
}
