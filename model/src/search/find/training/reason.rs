//! Why designs are in an answer, in lines for people.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::fitting::spare;
use super::published::above_published;
use super::strategy::overlaps;
use super::walk::{Simulated, Walk};
use crate::design::Design;
use crate::ground::choice::Timing;
use crate::rules::vocabulary::STRATEGY;
use crate::search::find::query::Goal;
use crate::search::find::reason::{self, MAX_TIE_SHARE, percent};
use crate::search::find::target::Target;
use crate::training::estimate::{Metrics, StepPart};
use crate::training::estimator::Estimator;
use crate::training::plan::Plan;
use crate::training::step::estimate;

/// A gain that is worth a line.
const MIN_REPORTED_GAIN: f64 = 0.02;

fn gib(bytes: crate::ground::units::Bytes) -> String {
    format!("{:.1} GiB", bytes / crate::ground::units::Bytes::gib(1.0))
}

/// Why a named design is in an answer.
pub(super) fn why(
    goal: Goal,
    one: &Simulated,
    fastest: &Simulated,
    second: Option<&Simulated>,
    at_hand: Option<&Metrics>,
) -> Vec<String> {
    let mut lines = Vec::new();
    match goal {
        Goal::Fastest => {
            if let Some(now) = at_hand {
                let speed = |it: &Metrics| it.tokens_per_second_per_device;
                lines.push(reason::against(speed(&one.metrics), speed(now)));
            }
            lines.extend(second.map(|it| reason::second(one, it, &degrees(&it.design))));
        }
        Goal::Safest => {
            lines.push(format!(
                "{} of the memory free where the fastest has {}",
                percent(spare(&one.metrics)),
                percent(spare(&fastest.metrics))
            ));
            lines.push(format!(
                "Overlaps that must hold: {}, of the fastest {}",
                overlaps(&one.design),
                overlaps(&fastest.design)
            ));
        }
        Goal::Simplest => lines.push(reason::settings(one, fastest, &STRATEGY)),
    }
    if goal != Goal::Fastest {
        lines.push(reason::lag(one, fastest));
    }
    lines.extend(above_published(&one.design, &one.metrics));
    lines
}

/// Lines on unusual knobs: what a less usual design would bring, where one is faster than the
/// fastest plain one, and which unusual knobs the fastest has.
pub(super) fn plainness(walk: &Walk, fastest: &Simulated) -> Vec<String> {
    let named = |design: &Design| {
        let labels: Vec<&str> = walk.space.unusual(design).map(|knob| knob.knob().label).collect();
        labels.join(", ")
    };
    let mut lines = Vec::new();
    let own = named(&fastest.design);
    if !own.is_empty() {
        lines.push(format!("Unusual, and faster by more than the error of a pair: {own}"));
    }
    let speed = |it: &&Simulated| it.metrics.tokens_per_second;
    let faster = walk.found.iter().max_by(|one, other| speed(one).total_cmp(&speed(other)));
    if let Some(faster) = faster {
        let gain = speed(&faster) / fastest.metrics.tokens_per_second - 1.0;
        let how = named(&faster.design);
        if gain >= MAX_TIE_SHARE && !how.is_empty() {
            lines.push(format!(
                "{} faster with what few runs have, less than the error of a pair: {how}",
                percent(gain)
            ));
        }
    }
    lines
}

/// The degrees of a design, as people name them.
pub(super) fn degrees(design: &Design) -> String {
    let parallel = &design.parallel;
    reason::letters(&[
        ("TP", parallel.tensor_model_parallel_size),
        ("PP", parallel.pipeline_model_parallel_size),
        ("VPP", parallel.virtual_pipeline_model_parallel_size),
        ("CP", parallel.context_parallel_size),
        ("EP", parallel.expert_model_parallel_size),
        ("ETP", parallel.expert_tensor_parallel_size),
        ("MBS", design.training.micro_batch_size),
    ])
}

/// Bottleneck of a design: the memory, where some design that doesn't fit would be faster; else the
/// largest part of its step beyond the ideal.
pub(super) fn bottleneck(walk: &Walk, one: &Simulated) -> String {
    let Ok(plan) = Plan::new(&one.design) else { return String::new() };
    let step = estimate(&plan).step;
    let total = step.total();
    let parts = step.parts().filter(|(part, _)| *part != StepPart::Ideal);
    let largest = parts.max_by(|(_, one), (_, other)| one.get().total_cmp(&other.get()));
    let mut text = largest.map_or_else(String::new, |(part, time)| {
        format!("{}, {} of the step", part.label(), percent(time / total))
    });
    if let Some((gain, _)) = more_memory(walk, &one.metrics) {
        text = format!("Memory (without a limit up to {} faster), then {text}", percent(gain));
    }
    text
}

/// Largest gain in speed with more memory, and how full it would make today's for two thirds of
/// that; `None` if it isn't worth a line.
fn more_memory(walk: &Walk, now: &Metrics) -> Option<(f64, f64)> {
    let best = walk.closed.first().map_or(now.tokens_per_second, |best| {
        best.metrics.tokens_per_second.max(now.tokens_per_second)
    });
    let most = walk.unfitting.iter().map(|(_, speed)| *speed).fold(0.0, f64::max);
    let gain = most / best - 1.0;
    if gain < MIN_REPORTED_GAIN {
        return None;
    }
    let enough = best * (1.0 + gain * 2.0 / 3.0);
    let near = walk.unfitting.iter().filter(|(_, speed)| *speed >= enough);
    let full = near.map(|(full, _)| *full).fold(f64::INFINITY, f64::min);
    Some((gain, full))
}

/// Lines on changes that would make the fastest design faster: memory, batch, links.
pub(super) fn for_more(walk: &Walk, fastest: &Simulated) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((gain, full)) = more_memory(walk, &fastest.metrics) {
        let limit = fastest.metrics.memory_limit;
        lines.push(format!(
            "{} of memory on a device instead of {}: up to {} faster",
            gib(limit * (full / walk.room.0)),
            gib(limit),
            percent(gain)
        ));
    }
    let mut estimator = Estimator::new();
    let mut changed = |words: &str, change: &dyn Fn(&mut Design)| {
        let mut design = fastest.design.clone();
        change(&mut design);
        design.schedule.timing = Timing::Simulated;
        let Ok(metrics) = estimator.metrics(&design) else { return };
        let gain = metrics.tokens_per_second_per_device
            / fastest.metrics.tokens_per_second_per_device
            - 1.0;
        if gain >= MIN_REPORTED_GAIN {
            lines.push(format!("{words}: {} faster", percent(gain)));
        }
    };
    changed("Twice the global batch", &|design| design.training.global_batch_size *= 2);
    let row = fastest.design.cluster.accelerator.row();
    changed("Twice the bandwidth between nodes", &|design| {
        let own = design.cluster.inter_node_gb_per_sec.unwrap_or(row.inter_node_gb_per_sec);
        design.cluster.inter_node_gb_per_sec = Some(own * 2.0);
    });
    lines
}

/// Lines on the limits and targets that a design misses, and by how much.
pub(super) fn misses(walk: &Walk, targets: &[Target], nearest: &Simulated) -> Vec<String> {
    let Simulated { design, metrics } = nearest;
    let mut lines = Vec::new();
    if !walk.room.holds(metrics) {
        let allowed = metrics.memory_limit * walk.room.0;
        lines.push(if metrics.memory_peak > allowed {
            format!(
                "It needs {} of {} ({} of {} are to stay free)",
                gib(metrics.memory_peak),
                gib(metrics.memory_limit),
                percent(1.0 - walk.room.0),
                gib(metrics.memory_limit)
            )
        } else {
            String::from("What it swaps is more than the host has memory for")
        });
    }
    // The spare memory is told above.
    let others = targets.iter().filter(|target| !matches!(target, Target::Spare(_)));
    lines.extend(others.filter_map(|target| target.miss(design, metrics)));
    lines
}
