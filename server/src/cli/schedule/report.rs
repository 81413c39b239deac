//! Report on a schedule, as JSON and for people.

use model::design::file::{Tree, json};
use model::ground::choice::{Choice, Method};
use model::schedule::{TaskKind, Timeline, Times};
use present::format;

use super::input::Input;
use super::picture;
use crate::cli::output::{plain, table, table_below};

/// Definition of the bubble: the device time that it is a share of.
const BUBBLE: &str = "device time with no task resident, over all device time between the first \
                      forward and the last backward";
/// Definition of the bubble for ZB-2P.
const BUBBLE_OF_SPANS: &str = "device time with no task resident, over all device time in the \
                               longest span of a stage, as each begins its next step at once";

/// A schedule that ran.
pub(super) struct Report<'a> {
    input: &'a Input,
    timeline: Timeline,
    /// The published formula's step time, in seconds.
    closed_form: Option<f64>,
}

impl<'a> Report<'a> {
    pub(super) fn new(input: &'a Input) -> Self {
        let schedule = &input.schedule;
        let times = Times::equal(schedule, input.stage, Some(input.pair), input.p2p);
        // The formulas know no time for P2P.
        let formula = schedule.closed_form_seconds(input.stage, input.pair);
        let closed_form = formula.filter(|_| input.p2p == 0.0);
        Self { input, timeline: schedule.simulate(&times), closed_form }
    }

    fn bubble_definition(&self) -> &'static str {
        if self.input.schedule.method() == Method::Zb2p { BUBBLE_OF_SPANS } else { BUBBLE }
    }

    /// The bubble by the published formula: the work is the same.
    fn closed_form_bubble(&self) -> Option<f64> {
        let work = (1.0 - self.timeline.bubble_ratio()) * self.timeline.seconds;
        self.closed_form.map(|seconds| (1.0 - work / seconds).max(0.0))
    }

    /// The stages' own numbers, in order.
    fn stages(&self) -> impl Iterator<Item = StageRow> {
        (0..self.input.schedule.stages()).map(|stage| {
            let list = self.timeline.lists.range(stage);
            let at = |seconds: &[f64], place: Option<usize>| {
                place.and_then(|place| seconds.get(place)).copied().unwrap_or(0.0)
            };
            StageRow {
                stage: stage as u64,
                tasks: list.len() as u64,
                first_start: at(&self.timeline.start, Some(list.start)),
                last_end: at(&self.timeline.end, list.end.checked_sub(1)),
                busy: self.timeline.busy.get(stage).copied().unwrap_or(0.0),
                bubble: self.timeline.bubble_ratio_of(stage),
                peak_in_flight: self.timeline.peak_in_flight(stage),
            }
        })
    }

    /// The keys of the specification first.
    pub(super) fn json(&self) -> String {
        let (input, schedule) = (self.input, &self.input.schedule);
        let asked = Tree::map([
            ("method", schedule.method().name().into()),
            ("stages", (schedule.stages() as u64).into()),
            ("chunks", (schedule.chunks() as u64).into()),
            ("microbatches", (schedule.micro_batches() as u64).into()),
            ("forward_seconds", input.stage.forward.into()),
            ("backward_input_seconds", input.stage.input_grad.into()),
            ("backward_weight_seconds", input.stage.weight_grad.into()),
            ("forward_backward_seconds", input.pair.into()),
            ("p2p_seconds", input.p2p.into()),
        ]);
        json::print(&Tree::map([
            ("step_time_seconds", self.timeline.seconds.into()),
            ("bubble_ratio", self.timeline.bubble_ratio().into()),
            ("stages", Tree::List(self.stages().map(|row| row.tree()).collect())),
            ("bubble_ratio_definition", self.bubble_definition().into()),
            ("step_time_seconds_closed_form", self.closed_form.into()),
            ("bubble_ratio_closed_form", self.closed_form_bubble().into()),
            ("num_tasks", (self.timeline.lists.tasks.len() as u64).into()),
            ("schedule", asked),
        ]))
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("{}\n{}\n{}", self.head(), self.step(), self.stage_table());
        if let Some(picture) = picture::lanes(&self.timeline) {
            text.push_str(&format!("\n{picture}"));
        }
        text
    }

    fn head(&self) -> String {
        let (input, schedule) = (self.input, &self.input.schedule);
        let [stages, chunks, micro_batches] =
            [schedule.stages(), schedule.chunks(), schedule.micro_batches()]
                .map(|size| size as u64);
        let both_ways = schedule.method() == Method::DualPipe;
        let each = if both_ways { "each in both directions" } else { "each" };
        let sizes = [
            format::counted(stages, "stage", "stages"),
            format!("{} {each}", format::counted(chunks, "chunk", "chunks")),
            format::counted(micro_batches, "micro-batch", "micro-batches"),
        ];
        let has_pairs = self.timeline.lists.tasks.iter().any(|task| task.kind == TaskKind::Pair);
        let pair = if has_pairs {
            format!(", forward with backward {}", seconds(input.pair))
        } else {
            String::new()
        };
        format!(
            "{}: {}\n  per stage and micro-batch: forward {}, backward input {}, backward weight \
             {}{pair}; P2P {}\n",
            schedule.method().name(),
            sizes.join(", "),
            seconds(input.stage.forward),
            seconds(input.stage.input_grad),
            seconds(input.stage.weight_grad),
            seconds(input.p2p),
        )
    }

    fn step(&self) -> String {
        let bubble = |ratio| format::percent(ratio, 2).to_string();
        let formula = match (self.closed_form, self.closed_form_bubble()) {
            (Some(step), Some(ratio)) => vec![seconds(step), bubble(ratio)],
            // No formula is published, or it doesn't hold for these inputs.
            _ => vec![String::from("none")],
        };
        let simulated = vec![seconds(self.timeline.seconds), bubble(self.timeline.bubble_ratio())];
        let row = |name: &str, cells: Vec<String>| [vec![name.into()], cells].concat();
        let rows = [
            row("", vec!["step time".into(), "bubble".into()]),
            row("simulated", simulated),
            row("closed form", formula),
        ];
        format!("Step\n{}  bubble: {}\n", table("lll", &rows), self.bubble_definition())
    }

    fn stage_table(&self) -> String {
        let header =
            ["stage", "tasks", "first start", "last end", "busy", "bubble", "peak in flight"];
        let table = table_below(header, "rrrrrrr", self.stages().map(|row| row.cells()));
        let note = "in flight: micro-batches whose activations a stage holds, in whole stages";
        format!("Stages\n{table}  {note}\n")
    }
}

/// One stage's numbers.
struct StageRow {
    stage: u64,
    tasks: u64,
    first_start: f64,
    last_end: f64,
    busy: f64,
    bubble: f64,
    peak_in_flight: f64,
}

impl StageRow {
    fn tree(&self) -> Tree {
        Tree::map([
            ("stage", self.stage.into()),
            ("peak_in_flight", self.peak_in_flight.into()),
            ("num_tasks", self.tasks.into()),
            ("first_start_seconds", self.first_start.into()),
            ("last_end_seconds", self.last_end.into()),
            ("busy_seconds", self.busy.into()),
            ("bubble_ratio", self.bubble.into()),
        ])
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.stage.to_string(),
            format::whole(self.tasks),
            seconds(self.first_start),
            seconds(self.last_end),
            seconds(self.busy),
            format::percent(self.bubble, 2).to_string(),
            plain(self.peak_in_flight),
        ]
    }
}

/// Seconds as they were given: not scaled, as the unit may be any.
fn seconds(seconds: f64) -> String {
    format!("{} s", plain(seconds))
}
