//! Reasons why a design doesn't fit, and changes of a single knob that help.

use model::MemoryState;
use model::design::Design;
use model::ground::units::Bytes;
use model::schedule::{Task, TaskKind};
use model::search::find::Change as Remedy;
use model::search::verdict::{Change, Place, Verdict};
use model::training::estimate::Metrics;
use present::format;

use crate::columns::table_below;

/// The verdict on a design whose predicted peak is over the limit, for people.
pub(super) fn text(verdict: &Verdict, design: &Design, remedies: &[Remedy]) -> String {
    let head = match verdict.state() {
        MemoryState::Fits | MemoryState::Tight | MemoryState::Unlikely => "What is over the limit",
        MemoryState::DoesNotFit => "What doesn't fit",
    };
    let mut text = format!("{head}\n{}", cause(verdict));
    let others: Vec<&Change> = verdict.changes.iter().filter(|change| !change.fits).collect();
    if remedies.is_empty() {
        text.push_str("  no change of its strategy, up to three together, makes it fit\n");
    } else {
        let rows = remedies.iter().map(|remedy| {
            let knobs = remedy.knobs(design).into_iter();
            let set = knobs.map(|(knob, value)| format!("{}={value}", knob.knob().name));
            let Metrics { mfu, memory_peak, .. } = remedy.metrics;
            row(set.collect::<Vec<_>>().join(" "), verdict, mfu, memory_peak)
        });
        text.push_str(&table_below(["Makes it fit", "MFU", "change", "peak"], "lrrr", rows));
    }
    if !others.is_empty() {
        text.push_str(&changes("Helps, but not enough alone", verdict, &others));
    }
    text
}

/// Cause: the stage that needs too much memory, by how much, when, and for what.
fn cause(verdict: &Verdict) -> String {
    let place = match verdict.place {
        Place::Device => "device memory",
        Place::Host => "host memory per device",
    };
    let mut text = format!(
        "  stage {} needs {} of {place}, {} more than the {} that there are\n",
        verdict.stage,
        format::memory(verdict.peak),
        format::memory(verdict.over()),
        format::memory(verdict.limit)
    );
    let held = format::decimals(verdict.in_flight, 1);
    if let Some(moment) = &verdict.fullest {
        text.push_str(&format!(
            "  it is fullest at {}, with {held} micro-batches in flight\n",
            task(moment)
        ));
    } else {
        text.push_str(&format!("  at its fullest it has {held} micro-batches in flight\n"));
    }
    if let Some(largest) = verdict.largest() {
        let share = if verdict.peak.get() > 0.0 { largest.bytes / verdict.peak } else { 0.0 };
        text.push_str(&format!(
            "  the largest part is {}: {}, {} of it\n",
            largest.content.label(),
            format::memory(largest.bytes),
            format::percent(share, 0)
        ));
    }
    text.push_str(&format!(
        "  with more memory its MFU would be {}\n",
        format::percent(verdict.mfu, 1)
    ));
    text
}

/// A task in words.
fn task(task: &Task) -> String {
    let pass = |name: &str, (chunk, micro_batch): (u16, u32)| {
        format!("the {name} of micro-batch {micro_batch} on chunk {chunk}")
    };
    let back = (task.backward_chunk, task.backward_micro_batch);
    let ahead = (task.chunk, task.micro_batch);
    match task.kind {
        TaskKind::Forward => pass("forward", ahead),
        TaskKind::Backward => pass("backward", back),
        TaskKind::InputGrad => pass("input gradients", back),
        TaskKind::WeightGrad => pass("weight gradients", back),
        TaskKind::Pair => format!("{} beside {}", pass("forward", ahead), pass("backward", back)),
    }
}

fn changes(head: &str, verdict: &Verdict, changes: &[&Change]) -> String {
    let row = |change: &&Change| row(settings(change), verdict, change.mfu, change.memory_peak);
    table_below([head, "MFU", "change", "peak"], "lrrr", changes.iter().map(row))
}

/// Row of a change: its setting, MFU, the difference in MFU, and the peak.
fn row(set: String, verdict: &Verdict, mfu: f64, peak: Bytes) -> Vec<String> {
    vec![
        set,
        format::percent(mfu, 1).to_string(),
        format::points(mfu, verdict.mfu),
        format::memory(peak).to_string(),
    ]
}

/// The change as `--set` takes it.
fn settings(change: &Change) -> String {
    let own = (change.knob, &change.value);
    let along = change.with.iter().map(|(knob, value)| (*knob, value));
    let all = std::iter::once(own).chain(along);
    let all: Vec<String> =
        all.map(|(knob, value)| format!("{}={value}", knob.knob().name)).collect();
    all.join(" ")
}
