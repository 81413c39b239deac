//! A schedule that ran, and the same as data.

use model::ground::choice::{Choice, Method};
use model::schedule::{Timeline, Times};
use present::page::schedule as page;
use reports::typed::{Real, answers};

use super::input::Checked;

/// Definition of the bubble: the device time that it is a share of.
const BUBBLE: &str = "device time with no task resident, over all device time between the first \
                      forward and the last backward";
/// Definition of the bubble for ZB-2P.
const BUBBLE_OF_SPANS: &str = "device time with no task resident, over all device time in the \
                               longest span of a stage, as each begins its next step at once";

/// A schedule that ran.
pub struct Answer {
    pub(super) input: Checked,
    pub(super) timeline: Timeline,
    /// The published formula's step time, in seconds.
    closed_form: Option<f64>,
}

impl Answer {
    /// A schedule that is run.
    pub(super) fn new(input: Checked) -> Self {
        let schedule = &input.schedule;
        let times = Times::equal(schedule, input.stage, Some(input.pair()), input.p2p);
        // The formulas know no time for P2P.
        let formula = schedule.closed_form_seconds(input.stage, input.pair());
        let closed_form = formula.filter(|_| input.p2p == 0.0);
        let timeline = schedule.simulate(&times);
        Self { input, timeline, closed_form }
    }

    /// The bubble by the published formula: the work is the same.
    fn closed_form_bubble(&self) -> Option<f64> {
        let work = (1.0 - self.timeline.bubble_ratio()) * self.timeline.seconds;
        self.closed_form.map(|seconds| (1.0 - work / seconds).max(0.0))
    }

    /// Input of the page that shows the schedule.
    pub(super) fn page(&self) -> page::Input {
        let Checked { schedule, stage, given_pair, p2p, group } = &self.input;
        page::Input {
            method: schedule.method(),
            stages: schedule.stages() as u64,
            chunks: Some(schedule.chunks() as u64),
            micro_batches: schedule.micro_batches() as u64,
            group: *group,
            times: *stage,
            pair: *given_pair,
            p2p: *p2p,
            ..page::Input::default()
        }
    }
}

answers! {
    /// The object of `moescape schedule --json`.
    #[cfg_attr(feature = "schema", schemars(rename = "Schedule"))]
    struct Scheduled {
        step_time_seconds: Real,
        bubble_ratio: Real,
        /// In order.
        stages: Vec<Stage>,
        /// Definition of the bubble.
        bubble_ratio_definition: &'static str,
        /// By the published formula; null where none is published, or it doesn't hold.
        step_time_seconds_closed_form: Option<Real>,
        bubble_ratio_closed_form: Option<Real>,
        num_tasks: u64,
        /// The schedule, with the times of its tasks.
        schedule: Given,
    }

    /// A stage of a schedule.
    #[cfg_attr(feature = "schema", schemars(rename = "ScheduledStage"))]
    struct Stage {
        stage: u64,
        /// Micro-batches whose activations it holds at most, in whole stages.
        peak_in_flight: Real,
        num_tasks: u64,
        first_start_seconds: Real,
        last_end_seconds: Real,
        busy_seconds: Real,
        bubble_ratio: Real,
    }

    /// A schedule with the times of a stage for one micro-batch.
    #[cfg_attr(feature = "schema", schemars(rename = "GivenSchedule"))]
    struct Given {
        method: &'static str,
        stages: u64,
        chunks: u64,
        microbatches: u64,
        forward_seconds: Real,
        backward_input_seconds: Real,
        backward_weight_seconds: Real,
        /// A forward and a backward that run as one.
        forward_backward_seconds: Real,
        p2p_seconds: Real,
    }
}

impl Scheduled {
    /// Micro-batches that the fullest stage holds.
    pub(super) fn peak_in_flight(&self) -> f64 {
        self.stages.iter().map(|stage| stage.peak_in_flight.0).fold(0.0, f64::max)
    }
}

/// A schedule that ran.
pub(super) fn of(answer: &Answer) -> Scheduled {
    let Answer { input, timeline, closed_form } = answer;
    let schedule = &input.schedule;
    let is_of_spans = schedule.method() == Method::Zb2p;
    Scheduled {
        step_time_seconds: Real(timeline.seconds),
        bubble_ratio: Real(timeline.bubble_ratio()),
        stages: (0..schedule.stages()).map(|stage| of_stage(answer, stage)).collect(),
        bubble_ratio_definition: if is_of_spans { BUBBLE_OF_SPANS } else { BUBBLE },
        step_time_seconds_closed_form: closed_form.map(Real),
        bubble_ratio_closed_form: answer.closed_form_bubble().map(Real),
        num_tasks: timeline.lists.tasks.len() as u64,
        schedule: Given {
            method: schedule.method().name(),
            stages: schedule.stages() as u64,
            chunks: schedule.chunks() as u64,
            microbatches: schedule.micro_batches() as u64,
            forward_seconds: Real(input.stage.forward),
            backward_input_seconds: Real(input.stage.input_grad),
            backward_weight_seconds: Real(input.stage.weight_grad),
            forward_backward_seconds: Real(input.pair()),
            p2p_seconds: Real(input.p2p),
        },
    }
}

fn of_stage(Answer { timeline, .. }: &Answer, stage: usize) -> Stage {
    let list = timeline.lists.range(stage);
    let at = |seconds: &[f64], place: Option<usize>| {
        Real(place.and_then(|place| seconds.get(place)).copied().unwrap_or(0.0))
    };
    Stage {
        stage: stage as u64,
        peak_in_flight: Real(timeline.peak_in_flight(stage)),
        num_tasks: list.len() as u64,
        first_start_seconds: at(&timeline.start, Some(list.start)),
        last_end_seconds: at(&timeline.end, list.end.checked_sub(1)),
        busy_seconds: at(&timeline.busy, Some(stage)),
        bubble_ratio: Real(timeline.bubble_ratio_of(stage)),
    }
}
