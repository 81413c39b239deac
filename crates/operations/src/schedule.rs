//! `schedule`: a pipeline schedule of equal stages, task by task.

mod input;
mod picture;

mod answer;
mod text;

use present::format;
use present::page::schedule::query;
use reports::typed::Written;

pub use answer::{Answer, Scheduled};
pub use input::Input;

use crate::caller::Caller;
use crate::columns::plain;
use crate::numbers::Data;
use crate::operation::Operation;
use crate::refusal::Refusal;

/// The verb.
pub struct Schedule;

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
        input.checked().map(Answer::new)
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
