//! The loads of a design as tables, for terminals.

use model::Plan;
use model::design::KnobId;
use model::estimate;
use model::ground::choice::Planner;
use model::ground::units::Seconds;
use present::format;
use present::words::name;

use super::answer::{Answer, Interval, Routed, RoutedLayer};
use crate::columns::table_below;
use crate::loads;

/// The loads for people.
pub(super) fn of(answer: &Answer) -> String {
    let Answer { plan, routed, .. } = answer;
    let mut text = head(answer);
    text.push_str(&format!("\nImbalance\n{}", loads::imbalance(plan.effect())));
    text.push_str(&costs(routed, plan));
    text.push_str(&format!("\nLayers\n{}", layer_table(&routed.layers)));
    if plan.design().routing.planner != Planner::None {
        text.push_str(&format!("\nMoves\n{}", moves(answer)));
    }
    if !routed.cadences.is_empty() {
        text.push_str(&format!("\nPlanner interval\n{}", cadence_table(&routed.cadences)));
    }
    text.push_str(&format!("\nDropped under a capacity\n{}", drop_table(routed)));
    text
}

fn head(Answer { plan, trace, report, .. }: &Answer) -> String {
    let design = plan.design();
    let based = if design.changed().is_empty() { "" } else { "based on " };
    format!(
        "{} ({based}{})\n  loads {}\n  {} over {}, {} a rank; planner {}\n",
        name::title(design),
        design.preset.id,
        loads::source(plan, trace.as_deref()),
        format::counted(report.trace.experts() as u64, "expert", "experts"),
        format::counted(report.first.devices() as u64, "rank", "ranks"),
        format::whole(report.first.slots_per_device() as u64),
        format::spelled(&design.get(KnobId::planner)),
    )
}

/// Time that the step loses to load imbalance, in a line.
pub(super) fn costs(routed: &Routed, plan: &Plan) -> String {
    let waits = Seconds::new(routed.imbalance_seconds.0);
    format!(
        "  waiting for the fullest rank takes {}, {} of the step\n",
        format::duration(waits),
        format::percent(waits / estimate(plan).metrics.step_time, 1),
    )
}

fn layer_table(layers: &[RoutedLayer]) -> String {
    let header =
        ["layer", "without planner", "with planner", "least", "removed", "moves", "experts moved"];
    let cells = layers.iter().enumerate().map(|(at, layer)| {
        vec![
            at.to_string(),
            format::decimals(layer.imbalance_before.0, 3),
            format::decimals(layer.imbalance_after.0, 3),
            format::decimals(layer.imbalance_bound.0, 3),
            format::percent(layer.removed.0, 0).to_string(),
            format::whole(layer.moves),
            format::whole(layer.experts_moved),
        ]
    });
    let note = "least: below which no placement of whole experts comes; imbalance of steps";
    format!("{}  {note}\n", table_below(header, "rrrrrrr", cells))
}

fn moves(Answer { report, routed, .. }: &Answer) -> String {
    let experts: u64 = routed.migrations.iter().map(|one| one.experts).sum();
    format!(
        "  {} of layers in {}: {} move, {} at the busiest rank\n  {} of a step in the mean, the \
         first plan of the run apart\n",
        format::counted(routed.migrations.len() as u64, "move", "moves"),
        format::counted(routed.steps, "step", "steps"),
        format::counted(experts, "expert", "experts"),
        format::traffic(report.moved()),
        format::duration(Seconds::new(routed.migration_seconds.0)),
    )
}

/// Condition that makes the planner act, in words.
fn trigger(cadence: &Interval) -> String {
    match cadence.threshold {
        Some(threshold) => format!("CoV falls by {}", format::decimals(threshold.0, 2)),
        None => "imbalance has risen".to_owned(),
    }
}

fn cadence_table(all: &[Interval]) -> String {
    let header = ["trigger", "interval", "imbalance", "moves", "step", ""];
    let cells = all.iter().map(|one| {
        vec![
            trigger(one),
            format::counted(one.interval, "step", "steps"),
            format::decimals(one.imbalance.0, 3),
            format::duration(Seconds::new(one.migration_seconds.0)).to_string(),
            // The differences are small.
            format!("{} s", format::significant(one.step_time_seconds.0, 5)),
            if one.shortest { "shortest".to_owned() } else { String::new() },
        ]
    });
    let table = table_below(header, "lrrrrl", cells);
    format!("{table}  imbalance of micro-batches; times of a step\n")
}

fn drop_table(routed: &Routed) -> String {
    let cells = routed.drops.iter().map(|one| {
        vec![
            format::decimals(one.capacity_factor.0, 2),
            format::percent(one.token_drop_ratio.0, 2).to_string(),
        ]
    });
    let table = table_below(["capacity factor", "dropped"], "rr", cells);
    format!("{table}  of the loads of steps, without a planner\n")
}
