//! The loads of a design as tables and as JSON.

use model::Plan;
use model::answer::loads::{Cadence, Report, cadences};
use model::design::file::Tree;
use model::ground::choice::Planner;
use model::routing::{Trace, capacity};
use model::training::estimate::StepPart;
use model::{estimate, training::estimate::Estimate};
use present::format;
use present::words::name;

use crate::cli::output::table_below;
use operations::loads;

/// Capacity factors that are shown, from 1 on.
const FACTORS: usize = 9;
/// The largest of them.
const MAX_FACTOR: f64 = 3.0;

/// One MoE layer.
struct Layer {
    before: f64,
    after: f64,
    bound: f64,
    moves: u64,
    experts: u64,
    bytes: f64,
}

impl Layer {
    /// Share of the imbalance beyond 1 that is removed.
    fn removed(&self) -> f64 {
        if self.before > 1.0 { 1.0 - (self.after - 1.0) / (self.before - 1.0) } else { 0.0 }
    }
}

/// The layers from the first plan on; where there is none, from the first step on.
fn layers(report: &Report) -> Vec<Layer> {
    let outcome = &report.outcome;
    let bounds = report.bounds();
    let steps = (report.from..report.trace.steps()).len().max(1) as f64;
    let mean = |list: &[f64], layer: usize| {
        let own = list.iter().skip(report.from * outcome.layers + layer).step_by(outcome.layers);
        own.sum::<f64>() / steps
    };
    (0..outcome.layers)
        .map(|layer| {
            let moves = outcome.migrations.iter().filter(|one| one.layer == layer);
            Layer {
                before: mean(&outcome.before, layer),
                after: mean(&outcome.after, layer),
                bound: bounds.get(layer).copied().unwrap_or(1.0),
                moves: moves.clone().count() as u64,
                experts: moves.clone().map(|one| one.experts as u64).sum(),
                bytes: moves.map(|one| one.bytes).sum(),
            }
        })
        .collect()
}

/// Drop ratios over capacity factors, if the loads were bounded so.
fn drops(report: &Report) -> Vec<(f64, f64)> {
    capacity::drop_curve(&report.trace, MAX_FACTOR, FACTORS).collect()
}

fn best(all: &[Cadence]) -> Option<&Cadence> {
    all.iter().min_by(|a, b| a.step_time.get().total_cmp(&b.step_time.get()))
}

/// Text of the report, for people.
pub(super) fn text(plan: &Plan, trace: Option<&Trace>, report: &Report) -> String {
    let estimate = estimate(plan);
    let layers = layers(report);
    let mut text = head(plan, trace, report);
    text.push_str(&format!("\nImbalance\n{}", loads::imbalance(plan.effect())));
    text.push_str(&costs(&estimate));
    text.push_str(&format!("\nLayers\n{}", layer_table(&layers)));
    if plan.design().routing.planner != Planner::None {
        text.push_str(&format!("\nMoves\n{}", moves(report, &estimate)));
    }
    let all = cadences(plan, trace);
    if !all.is_empty() {
        text.push_str(&format!("\nPlanner interval\n{}", cadence_table(&all)));
    }
    text.push_str(&format!("\nDropped under a capacity\n{}", drop_table(report)));
    text
}

fn head(plan: &Plan, trace: Option<&Trace>, report: &Report) -> String {
    let design = plan.design();
    let based = if design.changed().is_empty() { "" } else { "based on " };
    format!(
        "{} ({based}{})\n  loads {}\n  {} over {}, {} a rank; planner {}\n",
        name::title(design),
        design.preset.id,
        loads::source(plan, trace),
        format::counted(report.trace.experts() as u64, "expert", "experts"),
        format::counted(report.first.devices() as u64, "rank", "ranks"),
        format::whole(report.first.slots_per_device() as u64),
        format::spelled(&design.get(model::design::KnobId::planner)),
    )
}

/// Time that the step loses to load imbalance, in a line.
fn costs(estimate: &Estimate) -> String {
    let step = &estimate.step;
    let waits = step.part(StepPart::Imbalance);
    format!(
        "  waiting for the fullest rank takes {}, {} of the step\n",
        format::duration(waits),
        format::percent(waits / estimate.metrics.step_time, 1),
    )
}

fn layer_table(layers: &[Layer]) -> String {
    let header =
        ["layer", "without planner", "with planner", "least", "removed", "moves", "experts moved"];
    let cells = layers.iter().enumerate().map(|(at, layer)| {
        vec![
            at.to_string(),
            format::decimals(layer.before, 3),
            format::decimals(layer.after, 3),
            format::decimals(layer.bound, 3),
            format::percent(layer.removed(), 0).to_string(),
            format::whole(layer.moves),
            format::whole(layer.experts),
        ]
    });
    let note = "least: below which no placement of whole experts comes; imbalance of steps";
    format!("{}  {note}\n", table_below(header, "rrrrrrr", cells))
}

fn moves(report: &Report, estimate: &Estimate) -> String {
    let outcome = &report.outcome;
    let experts: usize = outcome.migrations.iter().map(|one| one.experts).sum();
    format!(
        "  {} of layers in {}: {} move, {} at the busiest rank\n  {} of a step in the mean, the \
         first plan of the run apart\n",
        format::counted(outcome.migrations.len() as u64, "move", "moves"),
        format::counted((report.trace.steps() * report.stride) as u64, "step", "steps"),
        format::counted(experts as u64, "expert", "experts"),
        format::traffic(report.moved()),
        format::duration(estimate.step.part(StepPart::Migration)),
    )
}

/// Condition that makes the planner act, in words.
fn trigger(cadence: &Cadence) -> String {
    match cadence.threshold {
        Some(threshold) => format!("CoV falls by {}", format::decimals(threshold, 2)),
        None => "imbalance has risen".to_owned(),
    }
}

fn cadence_table(all: &[Cadence]) -> String {
    let header = ["trigger", "interval", "imbalance", "moves", "step", ""];
    let cells = all.iter().map(|one| {
        let is_best = best(all) == Some(one);
        vec![
            trigger(one),
            format::counted(one.interval, "step", "steps"),
            format::decimals(one.imbalance, 3),
            format::duration(one.migration).to_string(),
            // The differences are small.
            format!("{} s", format::significant(one.step_time.get(), 5)),
            if is_best { "shortest".to_owned() } else { String::new() },
        ]
    });
    let table = table_below(header, "lrrrrl", cells);
    format!("{table}  imbalance of micro-batches; times of a step\n")
}

fn drop_table(report: &Report) -> String {
    let cells = drops(report).into_iter().map(|(factor, ratio)| {
        vec![format::decimals(factor, 2), format::percent(ratio, 2).to_string()]
    });
    let table = table_below(["capacity factor", "dropped"], "rr", cells);
    format!("{table}  of the loads of steps, without a planner\n")
}

/// Report as data.
pub(super) fn json(plan: &Plan, trace: Option<&Trace>, report: &Report) -> Tree {
    let estimate = estimate(plan);
    let layer = |layer: &Layer| {
        Tree::map([
            ("imbalance_before", layer.before.into()),
            ("imbalance_after", layer.after.into()),
            ("imbalance_bound", layer.bound.into()),
            ("removed", layer.removed().into()),
            ("moves", layer.moves.into()),
            ("experts_moved", layer.experts.into()),
            ("bytes_moved", layer.bytes.into()),
        ])
    };
    let migration = |one: &model::routing::Migration| {
        Tree::map([
            ("step", ((one.step * report.stride) as u64).into()),
            ("layer", (one.layer as u64).into()),
            ("experts", (one.experts as u64).into()),
            ("bytes", one.bytes.into()),
            ("seconds", one.seconds.into()),
        ])
    };
    let all = cadences(plan, trace);
    let drop = |(factor, ratio): (f64, f64)| {
        Tree::map([("capacity_factor", factor.into()), ("token_drop_ratio", ratio.into())])
    };
    let list = |entries: Vec<Tree>| Tree::List(entries);
    Tree::map([
        ("loads", crate::report::loads(plan, trace)),
        ("ranks", (report.first.devices() as u64).into()),
        ("steps", ((report.trace.steps() * report.stride) as u64).into()),
        ("imbalance_seconds", estimate.step.part(StepPart::Imbalance).get().into()),
        ("migration_seconds", estimate.step.part(StepPart::Migration).get().into()),
        ("layers", list(layers(report).iter().map(layer).collect())),
        ("migrations", list(report.outcome.migrations.iter().map(migration).collect())),
        ("cadences", list(all.iter().map(|one| cadence(one, best(&all))).collect())),
        ("drops", list(drops(report).into_iter().map(drop).collect())),
    ])
}

fn cadence(one: &Cadence, best: Option<&Cadence>) -> Tree {
    Tree::map([
        ("interval", one.interval.into()),
        ("threshold", one.threshold.into()),
        ("imbalance", one.imbalance.into()),
        ("step_time_seconds", one.step_time.get().into()),
        ("migration_seconds", one.migration.get().into()),
        ("shortest", Tree::Flag(best == Some(one))),
    ])
}
