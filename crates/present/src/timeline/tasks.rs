//! The tasks of a schedule as lanes, one for each stage, and in words.

use model::ground::units::Seconds;
use model::schedule::trace;
use model::schedule::{Task, TaskKind, Timeline};

use super::lanes::{Lanes, Spot};
use super::look::Looks;
use super::source::Scene;
use crate::{format, html};

/// A scene's stages as lanes.
pub struct Stages(pub Scene);

impl Lanes for Stages {
    fn count(&self) -> usize {
        self.0.timeline().lists.stages()
    }

    fn name(&self, lane: usize) -> String {
        lane.to_string()
    }

    fn total(&self) -> f64 {
        total(self.0.timeline())
    }

    fn times(&self, lane: usize) -> (&[f64], &[f64]) {
        let timeline = self.0.timeline();
        let range = timeline.lists.range(lane);
        match (timeline.start.get(range.clone()), timeline.end.get(range)) {
            (Some(starts), Some(ends)) => (starts, ends),
            _ => (&[], &[]),
        }
    }

    fn looks(&self, lane: usize, index: usize) -> Looks {
        let none = Task::new(TaskKind::Forward, 0, 0);
        Looks::of(self.0.timeline().lists.stage(lane).get(index).unwrap_or(&none))
    }

    fn label(&self, lane: usize, index: usize, text: &mut String) {
        if let Some(task) = self.0.timeline().lists.stage(lane).get(index) {
            text.push_str(&trace::letters(task));
        }
    }

    fn cuts_labels(&self) -> bool {
        false
    }
}

/// End of the last task, which for ZB-2P is after the time of a step.
pub(super) fn total(timeline: &Timeline) -> f64 {
    let stages = 0..timeline.lists.stages();
    let ends = stages.filter_map(|stage| timeline.end.get(timeline.lists.range(stage))?.last());
    ends.copied().fold(timeline.seconds, f64::max)
}

/// A task in words: `Forward of micro-batch 3, chunk 1, stage 5`.
pub fn name(timeline: &Timeline, stage: usize, task: &Task) -> String {
    let has_chunks = timeline.schedule.chunks_per_stage() > 1;
    let of = |pass: &str, chunk: u16, micro_batch: u32| {
        let chunk = if has_chunks { format!(", chunk {chunk}") } else { String::new() };
        format!("{pass} of micro-batch {}{chunk}", format::whole(micro_batch))
    };
    let own = |pass| of(pass, task.chunk, task.micro_batch);
    let passes = match task.kind {
        TaskKind::Forward => own("Forward"),
        TaskKind::Backward => own("Backward"),
        TaskKind::InputGrad => own("Backward for the gradients of inputs (dX)"),
        TaskKind::WeightGrad => own("Backward for the gradients of weights (dW)"),
        TaskKind::Pair => {
            let backward = of("backward", task.backward_chunk, task.backward_micro_batch);
            format!("{} together with {backward}", own("Forward"))
        }
    };
    format!("{passes}, stage {stage}")
}

/// A moment in words, to the millisecond where it is late in the step.
pub fn moment(time: f64) -> String {
    if time < 1.0 { seconds(time) } else { format!("{} s", format::decimals(time, 3)) }
}

/// A length of time in words.
pub fn seconds(time: f64) -> String {
    format::duration(Seconds::new(time)).to_string()
}

/// The task at a spot.
pub fn task_at(timeline: &Timeline, spot: Spot) -> Option<(Task, f64, f64)> {
    let place = timeline.lists.range(spot.lane).start + spot.index;
    let task = *timeline.lists.stage(spot.lane).get(spot.index)?;
    Some((task, *timeline.start.get(place)?, *timeline.end.get(place)?))
}

/// Cause of a task's wait, in a sentence.
pub(super) fn waited(timeline: &Timeline, spot: Spot) -> String {
    let Some((task, start, _)) = task_at(timeline, spot) else { return String::new() };
    let before = spot.index.checked_sub(1).map(|index| Spot { index, ..spot });
    let before = before.and_then(|spot| task_at(timeline, spot));
    let free = before.map_or(0.0, |(_, _, end)| end);
    let idle = start - free;
    if idle <= 1e-9 * total(timeline) {
        return match before {
            None => "Nothing: it is the first of the step".to_owned(),
            Some((other, ..)) => {
                let other = name(timeline, spot.lane, &other);
                format!("Only for the stage itself: it starts when this ends: {other}")
            }
        };
    }
    match last_needed(timeline, spot.lane, &task) {
        Some((needed, end)) => {
            let (stage, other) = (needed.lane, task_at(timeline, needed).map(|(task, ..)| task));
            let other = other.map_or_else(String::new, |other| name(timeline, stage, &other));
            format!(
                "{} with the stage idle, for this to end at {}: {other}",
                seconds(idle),
                moment(end),
            )
        }
        None => format!("{} with the stage idle", seconds(idle)),
    }
}

/// The last to end of the tasks whose results a task needs, and its end.
fn last_needed(timeline: &Timeline, stage: usize, task: &Task) -> Option<(Spot, f64)> {
    let forward = task.forward().and_then(|(chunk, micro_batch)| {
        let at = neighbour(timeline, stage, chunk, -1)?;
        find(timeline, at.0, |other| other.forward() == Some((at.1, micro_batch)))
    });
    let backward = task.input_grad().and_then(|(chunk, micro_batch)| {
        match neighbour(timeline, stage, chunk, 1) {
            Some(at) => {
                find(timeline, at.0, |other| other.input_grad() == Some((at.1, micro_batch)))
            }
            // The model's end: its own forward comes first.
            None => find(timeline, stage, |other| other.forward() == Some((chunk, micro_batch))),
        }
    });
    [forward, backward].into_iter().flatten().max_by(|one, other| one.1.total_cmp(&other.1))
}

/// Stage and chunk one place further along the model, or one place back.
fn neighbour(timeline: &Timeline, stage: usize, chunk: u16, step: isize) -> Option<(usize, u16)> {
    let schedule = timeline.schedule;
    let wanted = schedule.position(stage, usize::from(chunk)).checked_add_signed(step)?;
    let chunks = schedule.chunks_per_stage();
    // Copies of the model that run in opposite directions keep to themselves.
    let copies = chunks > schedule.chunks();
    let all = (0..schedule.stages()).flat_map(|stage| (0..chunks).map(move |chunk| (stage, chunk)));
    all.filter(|(_, other)| !copies || *other == usize::from(chunk))
        .find(|(stage, chunk)| schedule.position(*stage, *chunk) == wanted)
        .and_then(|(stage, chunk)| Some((stage, u16::try_from(chunk).ok()?)))
}

fn find(timeline: &Timeline, stage: usize, is_it: impl Fn(&Task) -> bool) -> Option<(Spot, f64)> {
    let index = timeline.lists.stage(stage).iter().position(is_it)?;
    let spot = Spot { lane: stage, index };
    task_at(timeline, spot).map(|(_, _, end)| (spot, end))
}

/// Each stage's numbers as a table in HTML.
pub fn table_html(title: &str, timeline: &Timeline) -> String {
    html::table(title, &table(timeline))
}

/// Each stage's numbers, the header first.
fn table(timeline: &Timeline) -> Vec<Vec<String>> {
    let header = ["Stage", "Busy", "Bubble", "First start", "Last end", "Peak in flight"];
    let rows = (0..timeline.lists.stages()).map(|stage| {
        let range = timeline.lists.range(stage);
        let start = timeline.start.get(range.start).copied().unwrap_or(0.0);
        let end = range.end.checked_sub(1).and_then(|last| timeline.end.get(last)).copied();
        vec![
            stage.to_string(),
            seconds(timeline.busy.get(stage).copied().unwrap_or(0.0)),
            format::percent(timeline.bubble_ratio_of(stage), 2).to_string(),
            moment(start),
            moment(end.unwrap_or(0.0)),
            format!("{} micro-batches", format::significant(timeline.peak_in_flight(stage), 3)),
        ]
    });
    [header.map(str::to_owned).to_vec()].into_iter().chain(rows).collect()
}

/// The chunks of a stage's pair: of the selected one, or of one in the steady state. None where
/// the stage runs no pairs.
pub fn pair_chunks(scene: &Scene, stage: usize, selected: Option<Spot>) -> Option<(usize, usize)> {
    let tasks = scene.timeline().lists.stage(stage);
    let is_pair = |index: &usize| tasks.get(*index).is_some_and(|task| task.kind == TaskKind::Pair);
    let selected = selected.filter(|spot| spot.lane == stage).map(|spot| spot.index);
    let middle = tasks.len() / 2;
    let steady = || (middle..tasks.len()).chain(0..middle).find(is_pair);
    let task = tasks.get(selected.filter(is_pair).or_else(steady)?)?;
    Some((usize::from(task.chunk), usize::from(task.backward_chunk)))
}

/// The stage that holds most.
pub fn fullest(scene: &Scene) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for stage in 0..scene.timeline().lists.stages() {
        let peak = scene.track(stage).map_or(0.0, |track| track.peak());
        if peak > best.1 {
            best = (stage, peak);
        }
    }
    best.0
}

/// Heading of a stage's pair.
pub fn pair_heading(stage: usize) -> String {
    format!("One pair of stage {stage}: what runs on what")
}

/// A stage's pair in words.
pub fn pair_name(timeline: &Timeline, stage: usize, forward: usize, backward: usize) -> String {
    if timeline.schedule.chunks_per_stage() > 1 {
        format!("Forward of chunk {forward} with backward of chunk {backward} on stage {stage}")
    } else {
        format!("Forward with backward on stage {stage}")
    }
}
