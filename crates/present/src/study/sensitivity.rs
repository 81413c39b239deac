//! One step of each knob, the strongest first: a tornado.

use std::cmp::Ordering;

use maud::{Markup, html};
use model::ground::sorting::sort_short;

use super::options::{self, Options, select};
use crate::format::{self, short_label};
use crate::html::{design_address, table_of_blocks};
use crate::insight::memory_state;
use crate::insight::numbers::Numbers;
use crate::insight::objective::Objective;
use crate::insight::sensitivity::{Group, Lever, Step, levers};
use crate::words::name::spelled;

/// The heading.
pub(super) const TITLE: &str = "Sensitivity: which knobs matter";

/// Maximum number of knobs shown at once; the others are in a list below.
const MAX_KNOBS: usize = 12;

/// Half the width of a row's bars, in its own units.
const HALF: f64 = 100.0;

/// A knob with the ends of its bar: the worst and the best step, or the lower and the higher one.
struct Row<'a> {
    lever: &'a Lever,
    /// Left and right.
    steps: [Option<&'a Step>; 2],
    /// The larger change of the two.
    swing: f64,
}

/// The section.
pub(super) fn html(numbers: &Numbers, options: Options<'_>) -> Markup {
    let objective = Objective::named(options.get("metric"));
    let group = Group::named(options.get("group"));
    let levers = levers(&numbers.plan, group);
    let now = objective.value(&numbers.estimate.metrics);
    let mut rows: Vec<Row<'_>> = levers.iter().map(|lever| row(lever, objective, now)).collect();
    sort_short(&mut rows, |one, other| other.swing.total_cmp(&one.swing));
    let idle = rows.iter().position(|row| row.swing == 0.0).unwrap_or(rows.len());
    let still = rows.split_off(idle);
    let most = rows.first().map_or(0.0, |row| row.swing);
    let more = rows.split_off(rows.len().min(MAX_KNOBS));
    let groups = Group::ALL.map(|it| (it.name().to_owned(), it.label().to_owned()));
    html! {
        section.card.levers #sensitivity aria-labelledby="sensitivity-title" {
            h2 #sensitivity-title { (TITLE) }
            p.muted {
                "Change in MFU when one knob moves to its next legal value; choices and switches \
                 to their worst and best alternative, other numbers by 10 %. Everything else stays \
                 fixed. Click a step to open its design."
            }
            div.options {
                (options::metric(objective))
                (select(("group", "Knobs"), group.name(), groups.into_iter()))
            }
            p.lever-now { (objective.metric.metric().label) " now: " (objective.text(now)) }
            (table(TITLE, &rows, objective, (now, most)))
            @if !more.is_empty() {
                details {
                    summary { (format::counted(more.len() as u64, "weaker knob", "weaker knobs")) }
                    (table("Weaker knobs", &more, objective, (now, most)))
                }
            }
            @if !still.is_empty() { (without_effect(&still)) }
        }
    }
}

/// Knobs of which no step changes the metric.
fn without_effect(rows: &[Row<'_>]) -> Markup {
    let names: Vec<String> =
        rows.iter().map(|row| row.lever.knob.knob().label.to_owned()).collect();
    let count = format::counted(rows.len() as u64, "knob", "knobs");
    html! {
        details {
            summary { "No step of " (count) " changes it" }
            p { (format::list(&names)) }
        }
    }
}

/// The ends of a knob's bar: steps of a number to the left and the right of it, else the worst and
/// the best.
fn row(lever: &Lever, objective: Objective, now: f64) -> Row<'_> {
    use model::ground::knob::Value;

    let size = |value: &Value| match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Real(number) => Some(*number),
        Value::None => Some(f64::NEG_INFINITY),
        Value::Flag(_) | Value::Text(_) | Value::List(_) => None,
    };
    let steps = lever.steps.iter();
    let sides = match size(&lever.now) {
        Some(now) => {
            let below = steps.clone().find(|step| size(&step.value) < Some(now));
            [below, steps.clone().find(|step| size(&step.value) > Some(now))]
        }
        None => {
            let by_value = |one: &&Step, other: &&Step| {
                objective.compare(objective.value(&one.metrics), objective.value(&other.metrics))
            };
            let (worst, best) = (steps.clone().min_by(by_value), steps.max_by(by_value));
            if worst == best { one_sided(best, objective, now) } else { [worst, best] }
        }
    };
    let change = |step: &Step| (objective.value(&step.metrics) - now).abs();
    let swing = sides.iter().flatten().map(|step| change(step)).fold(0.0, f64::max);
    Row { lever, steps: sides, swing }
}

/// A single other value is on the side of its effect.
fn one_sided(step: Option<&Step>, objective: Objective, now: f64) -> [Option<&Step>; 2] {
    let worse = step
        .is_some_and(|it| objective.compare(objective.value(&it.metrics), now) == Ordering::Less);
    if worse { [step, None] } else { [None, step] }
}

fn table(caption: &str, rows: &[Row<'_>], objective: Objective, (now, most): (f64, f64)) -> Markup {
    let rows = html! {
        @for row in rows {
            @let knob = row.lever.knob;
            tr role="row" data-lever=(knob.id()) {
                th scope="row" role="rowheader" {
                    (knob.knob().label) " " span.muted { (spelled(&row.lever.now)) }
                }
                (side(row, row.steps[0], objective, now))
                (bars(row, objective, (now, most)))
                (side(row, row.steps[1], objective, now))
            }
        }
    };
    let titles = ["Knob", "Below, or worst", "Change", "Above, or best"];
    table_of_blocks(("lever-table", caption), titles, &rows)
}

/// A step as a link, with what it does.
fn side(row: &Row<'_>, step: Option<&Step>, objective: Objective, now: f64) -> Markup {
    let link = |step: &Step| {
        let value = objective.value(&step.metrics);
        let words = spelled(&step.value);
        let label = format!("{} {words}", short_label(row.lever.knob));
        let class = match objective.compare(value, now) {
            Ordering::Greater => "change better",
            Ordering::Less => "change worse",
            Ordering::Equal => "change same",
        };
        html! {
            a href=(design_address(&step.design)) data-step=(label) class="lever-step" {
                (words) " " span class=(class) { (objective.change(value, now)) }
                (memory_state::aside(step.metrics.memory_state()))
            }
        }
    };
    html! { td role="cell" { @if let Some(step) = step { (link(step)) } } }
}

/// Both steps as bars from the middle, which is the design as it is; to the right is better.
fn bars(row: &Row<'_>, objective: Objective, (now, most): (f64, f64)) -> Markup {
    let bar = |place: usize, step: &Step| {
        let value = objective.value(&step.metrics);
        let length = ((value - now).abs() / most.max(f64::MIN_POSITIVE) * HALF).round();
        let better = objective.compare(value, now) == Ordering::Greater;
        let (class, x) = if better { ("better", HALF) } else { ("worse", HALF - length) };
        let y = if place == 0 { 0 } else { 6 };
        html! { rect class=(class) x=(x) y=(y) width=(length) height="6" {} }
    };
    html! {
        td role="cell" class="lever-bars" {
            svg viewBox="0 0 200 12" preserveAspectRatio="none" aria-hidden="true" {
                @for (place, step) in row.steps.iter().enumerate() {
                    @if let Some(step) = step { (bar(place, step)) }
                }
                path d="M100 0V12" {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use testing::page::Page as Html;

    use super::*;

    #[test]
    fn the_strongest_knob_comes_first_and_what_changes_nothing_is_named() {
        let numbers = Numbers::of_link("");
        let html = html(&numbers, Options("metric=memory_peak_bytes&group=machine")).into_string();
        let html = Html::new(&html);
        assert!(html.says("No step of"), "{}", html.words());
        assert!(!html.has("[data-lever='cluster.hbm_usable_gib']"));
        let mfu = Html::new(&super::html(&numbers, Options("group=machine")).into_string());
        let levers = mfu.attributes("[data-lever]", "data-lever");
        let at = |knob: &str| {
            let id = format!("cluster.{knob}");
            levers.iter().position(|lever| *lever == id).expect("a row")
        };
        assert!(at("peak_bf16_tflops") < at("host_gb_per_sec").max(at("nics_per_node")));
    }

    #[test]
    fn a_longer_step_is_worse_and_stands_left() {
        let html = html(&Numbers::of_link(""), Options("metric=step_time_seconds")).into_string();
        let rows: Vec<&str> = html.split("<tr role=\"row\" data-lever=").skip(1).collect();
        assert!(rows.len() >= MAX_KNOBS);
        for row in rows {
            let row = row.split("</tr>").next().unwrap_or_default();
            assert!(
                !(row.contains("change better\">+") || row.contains("change worse\">-")),
                "{row}"
            );
        }
    }
}
