//! A schedule that ran, for terminals.

use model::ground::choice::Method;
use model::schedule::TaskKind;
use present::format;

use super::answer::{self, Answer, Scheduled, Stage};
use super::picture;
use crate::columns::{plain, table, table_below};

/// The schedule for people.
pub(super) fn of(answer: &Answer) -> String {
    let scheduled = answer::of(answer);
    let (head, step) = (head(answer, &scheduled), step(&scheduled));
    let mut text = format!("{head}\n{step}\n{}", stage_table(&scheduled.stages));
    if let Some(picture) = picture::lanes(&answer.timeline) {
        text.push_str(&format!("\n{picture}"));
    }
    text
}

fn head(Answer { input, timeline, .. }: &Answer, scheduled: &Scheduled) -> String {
    let given = &scheduled.schedule;
    let both_ways = input.schedule.method() == Method::DualPipe;
    let each = if both_ways { "each in both directions" } else { "each" };
    let sizes = [
        format::counted(given.stages, "stage", "stages"),
        format!("{} {each}", format::counted(given.chunks, "chunk", "chunks")),
        format::counted(given.microbatches, "micro-batch", "micro-batches"),
    ];
    let has_pairs = timeline.lists.tasks.iter().any(|task| task.kind == TaskKind::Pair);
    let pair = if has_pairs {
        format!(", forward with backward {}", seconds(input.pair()))
    } else {
        String::new()
    };
    format!(
        "{}: {}\n  per stage and micro-batch: forward {}, backward input {}, backward weight \
         {}{pair}; P2P {}\n",
        given.method,
        sizes.join(", "),
        seconds(input.stage.forward),
        seconds(input.stage.input_grad),
        seconds(input.stage.weight_grad),
        seconds(input.p2p),
    )
}

fn step(scheduled: &Scheduled) -> String {
    let bubble = |ratio| format::percent(ratio, 2).to_string();
    let formula =
        match (scheduled.step_time_seconds_closed_form, scheduled.bubble_ratio_closed_form) {
            (Some(step), Some(ratio)) => vec![seconds(step.0), bubble(ratio.0)],
            // No formula is published, or it doesn't hold for these inputs.
            _ => vec![String::from("none")],
        };
    let simulated = vec![seconds(scheduled.step_time_seconds.0), bubble(scheduled.bubble_ratio.0)];
    let row = |name: &str, cells: Vec<String>| [vec![name.into()], cells].concat();
    let rows = [
        row("", vec!["step time".into(), "bubble".into()]),
        row("simulated", simulated),
        row("closed form", formula),
    ];
    format!("Step\n{}  bubble: {}\n", table("lll", &rows), scheduled.bubble_ratio_definition)
}

fn stage_table(stages: &[Stage]) -> String {
    let header = ["stage", "tasks", "first start", "last end", "busy", "bubble", "peak in flight"];
    let cells = stages.iter().map(|stage| {
        vec![
            stage.stage.to_string(),
            format::whole(stage.num_tasks),
            seconds(stage.first_start_seconds.0),
            seconds(stage.last_end_seconds.0),
            seconds(stage.busy_seconds.0),
            format::percent(stage.bubble_ratio.0, 2).to_string(),
            plain(stage.peak_in_flight.0),
        ]
    });
    let table = table_below(header, "rrrrrrr", cells);
    let note = "in flight: micro-batches whose activations a stage holds, in whole stages";
    format!("Stages\n{table}  {note}\n")
}

/// Seconds as they were given: not scaled, as the unit may be any.
fn seconds(seconds: f64) -> String {
    format!("{} s", plain(seconds))
}
