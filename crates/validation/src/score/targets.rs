//! What validation aims at, and what was reached.

use super::groups::LORA;
use crate::expression::OF_RECIPE;
use crate::report::{Row, Summary, Sweep, Target};
use crate::statistics;

/// Rows of an accelerator whose bias counts, at least.
const MIN_BIAS_ROWS: usize = 8;

/// The targets, in the order in which they are asked.
pub(super) fn targets(summary: &Summary, rows: &[&Row]) -> Vec<Target> {
    let share = if summary.expressible == 0 {
        0.0
    } else {
        summary.expressed as f64 / summary.expressible as f64
    };
    let biases = summary.groups.iter().filter(|group| group.by == "accelerator");
    let bias = biases
        .filter(|group| group.score.rows >= MIN_BIAS_ROWS)
        .map(|group| group.score.bias.abs())
        .fold(0.0, f64::max);
    let [told, right] = [|sweep: &Sweep| sweep.pairs, |sweep: &Sweep| sweep.pairs_in_order]
        .map(|count| summary.sweeps.iter().map(count).sum::<usize>() as f64);
    let single: Vec<&Row> =
        rows.iter().copied().filter(|row| row.is_single_node && row.scored).collect();
    let steps: Vec<f64> = single.iter().filter_map(|row| row.error).map(f64::abs).collect();
    let memory: Vec<f64> = single
        .iter()
        .filter_map(|row| Some(row.memory_predicted_gib? / row.memory_measured_gib? - 1.0))
        .map(f64::abs)
        .collect();
    let mut targets = vec![
        at_least("expressed", "share of the expressible runs that have a prediction", share, 0.9),
        at_most("median error", "median absolute error", summary.all.median, 0.05),
        at_most("90th percentile", "90th percentile of the absolute error", summary.all.p90, 0.15),
        at_most(
            "bias",
            "largest median error of the step time of an accelerator with 8 runs or more",
            bias,
            0.05,
        ),
    ];
    if told > 0.0 {
        let asked = "share of pairs of a published sweep, more than 3 % apart, in the right order";
        targets.push(at_least("order", asked, right / told, 0.95));
    }
    targets.extend(ranges(summary));
    if let Some(memory) = &summary.memory {
        let asked = "median absolute error of the peak memory";
        targets.push(at_most("memory, median", asked, memory.median, 0.03));
        let asked = "90th percentile of the absolute error of the peak memory";
        targets.push(at_most("memory, 90th percentile", asked, memory.p90, 0.15));
    }
    if let Some(lora) = summary.groups.iter().find(|group| group.name == LORA) {
        let asked = "median absolute error of fine-tuning with LoRA";
        targets.push(at_most("LoRA, median", asked, lora.score.median, 0.12));
    }
    let whole = whole_runs(rows);
    if !whole.is_empty() {
        let asked = "largest error of the step time of a whole run whose recipe is published";
        let reached = whole.iter().copied().fold(0.0, f64::max);
        targets.push(at_most("whole runs", asked, reached, 0.1));
    }
    if !steps.is_empty() {
        let asked = "mean absolute error of the step time on one node of B200";
        targets.push(at_most("one node, step", asked, statistics::mean(&steps), 0.05));
    }
    if !memory.is_empty() {
        let asked = "mean absolute error of peak memory on one node of B200";
        targets.push(at_most("one node, memory", asked, statistics::mean(&memory), 0.01));
    }
    targets
}

/// Whether the ranges hold for sources that were left out, in each family with enough of them: the
/// share inside that is furthest from what is asked.
fn ranges(summary: &Summary) -> Vec<Target> {
    let asked = [
        (
            "range of 50 %",
            "runs inside their range of 50 %, family that is furthest off",
            0.45,
            0.6,
        ),
        (
            "range of 90 %",
            "runs inside their range of 90 %, family that is furthest off",
            0.85,
            0.96,
        ),
    ];
    let of = |index: usize| {
        let families = summary.left_out.iter().filter(|score| !score.family.is_empty());
        let shares = families.filter_map(|score| score.coverage);
        let (name, asked, least, most) = asked[index];
        let off = |share: f64| (least - share).max(share - most);
        let worst = shares
            .map(|shares| shares[index])
            .max_by(|one, other| off(*one).total_cmp(&off(*other)))?;
        let limit = if worst > (least + most) / 2.0 { most } else { least };
        Some(target(name, asked, worst, limit, off(worst) <= 0.0))
    };
    [0, 1].into_iter().filter_map(of).collect()
}

/// Errors of the step time of whole runs with a recipe of their own, whatever their tier: they
/// count nowhere else.
fn whole_runs(rows: &[&Row]) -> Vec<f64> {
    let has_recipe = |row: &&&Row| {
        row.kind == "production_run" && row.assumed.iter().any(|words| words.starts_with(OF_RECIPE))
    };
    rows.iter().filter(has_recipe).filter_map(|row| row.time_error).map(f64::abs).collect()
}

fn at_least(name: &str, asked: &str, reached: f64, limit: f64) -> Target {
    target(name, asked, reached, limit, reached >= limit)
}

fn at_most(name: &str, asked: &str, reached: f64, limit: f64) -> Target {
    target(name, asked, reached, limit, reached <= limit)
}

fn target(name: &str, asked: &str, reached: f64, limit: f64, met: bool) -> Target {
    Target { name: name.to_owned(), asked: asked.to_owned(), reached, limit, met }
}
