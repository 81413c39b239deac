//! The lanes of a short schedule, drawn with letters.

use model::schedule::{Task, TaskKind, Timeline};

use crate::columns::plain;

/// Columns of a terminal line.
const WIDTH: f64 = 120.0;
/// Columns before the first task: the stage and a space.
const MARGIN: f64 = 7.0;
/// Lanes, at most.
const MAX_STAGES: usize = 64;
/// Columns of the shortest task, at most.
const MAX_COLUMNS: f64 = 4.0;

/// A line for each stage, if the shortest task gets a column of its own within the width.
pub(super) fn lanes(timeline: &Timeline) -> Option<String> {
    let stages = timeline.schedule.stages();
    let spans = timeline.start.iter().zip(&timeline.end).map(|(start, end)| end - start);
    let shortest = spans.filter(|span| *span > 0.0).fold(f64::INFINITY, f64::min);
    let end = timeline.end.iter().copied().fold(0.0, f64::max);
    let tasks = end / shortest;
    if stages > MAX_STAGES || tasks.is_nan() || tasks > WIDTH - MARGIN {
        return None;
    }
    let column = shortest / ((WIDTH - MARGIN) / tasks).floor().min(MAX_COLUMNS);
    let mut text = format!("Lanes, one column is {} s\n  {}\n", plain(column), legend(timeline));
    for stage in 0..stages {
        let mut line = String::new();
        for (task, start, end) in timeline.stage(stage) {
            let [from, to] = [start, end].map(|time| (time / column).round() as usize);
            line.push_str(&".".repeat(from.saturating_sub(line.len())));
            line.push_str(&block(timeline, task, to.saturating_sub(from)));
        }
        let width = (end / column).round() as usize;
        line.push_str(&".".repeat(width.saturating_sub(line.len())));
        text.push_str(&format!("  {stage:>4} {line}\n"));
    }
    Some(text)
}

fn legend(timeline: &Timeline) -> String {
    let names = [
        (TaskKind::Forward, "F forward"),
        (TaskKind::Backward, "B backward"),
        (TaskKind::InputGrad, "X gradients of inputs"),
        (TaskKind::WeightGrad, "W gradients of weights"),
        (TaskKind::Pair, "P forward with backward"),
    ];
    let tasks = &timeline.lists.tasks;
    let used = names.iter().filter(|(kind, _)| tasks.iter().any(|task| task.kind == *kind));
    let mut words: Vec<&str> = used.map(|(_, name)| *name).collect();
    if timeline.schedule.chunks_per_stage() > 1 {
        words.push("small letters: every second chunk");
    }
    words.push(". idle");
    words.join(", ")
}

/// A task as a letter, its micro-batch where there is room, and dashes to its end.
fn block(timeline: &Timeline, task: Task, width: usize) -> String {
    let letter = match task.kind {
        TaskKind::Forward => 'F',
        TaskKind::Backward => 'B',
        TaskKind::InputGrad => 'X',
        TaskKind::WeightGrad => 'W',
        TaskKind::Pair => 'P',
    };
    let is_small = timeline.schedule.chunks_per_stage() > 1 && task.chunk % 2 == 1;
    let letter = if is_small { letter.to_ascii_lowercase() } else { letter };
    let numbered = format!("{letter}{}", task.micro_batch);
    let text = if numbered.len() <= width { numbered } else { letter.to_string() };
    let text: String = text.chars().take(width).collect();
    format!("{text:-<width$}")
}
