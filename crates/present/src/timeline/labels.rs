//! Parts of the figure as HTML text: the legend, details of a task, tables.

use maud::{Markup, PreEscaped, html};
use model::ground::units::Seconds;
use model::schedule::{TaskKind, Timeline};

use super::lanes::Spot;
use super::look::Kind;
use super::source::Scene;
use super::tasks::{moment, name, seconds, task_at, waited};
use crate::format;
use crate::html::table;

/// Number of blocks on a lane above which some may be too short to be seen.
const MANY_BLOCKS: usize = 150;

/// Hint that takes the place of details while nothing is selected.
pub fn hint() -> String {
    let hint = "Click a block, or focus the timeline and press an arrow key, for details.";
    html! { p { (hint) } }.into_string()
}

/// The legend of a pair's operators.
pub(super) fn pair_legend() -> Markup {
    let kinds = [
        (Kind::Forward, "forward"),
        (Kind::InputGrad, "gradients of inputs (dX)"),
        (Kind::WeightGrad, "gradients of weights (dW)"),
        (Kind::Recompute, "recomputation"),
        (Kind::Swap, "swap"),
    ];
    html! { @for (kind, words) in kinds { (entry(kind.class(), "", words)) } }
}

fn entry(class: &str, letters: &str, words: &str) -> Markup {
    html! { li { span class={ "timeline-swatch " (class) } {} b { (letters) } " " (words) } }
}

/// Legend of a schedule's blocks, each with its colour and letters.
pub fn legend(timeline: &Timeline) -> String {
    let of_kind = |kind: TaskKind| match kind {
        TaskKind::Forward => entry(Kind::Forward.class(), "F", "forward"),
        TaskKind::Backward => entry(Kind::Backward.class(), "B", "backward"),
        TaskKind::InputGrad => entry(Kind::InputGrad.class(), "dX", "gradients of inputs"),
        TaskKind::WeightGrad => entry(Kind::WeightGrad.class(), "dW", "gradients of weights"),
        TaskKind::Pair => entry("pair", "F B", "both as one"),
    };
    let markup = html! {
        @for kind in kinds(timeline) { (of_kind(kind)) }
        (entry("bubble", "", "bubble"))
        @if timeline.schedule.chunks_per_stage() > 1 { (entry("chunks", "", "chunks by shade")) }
        @if timeline.lists.stage(0).len() > MANY_BLOCKS {
            (entry(Kind::Mixed.class(), "", "several: zoom in"))
        }
    };
    markup.into_string()
}

/// Duration of the schedule and its bubble ratio, in a sentence.
pub fn summary(timeline: &Timeline) -> String {
    format!(
        "Simulated task by task: {} from the first forward to the last backward, {} of it bubble.",
        seconds(timeline.seconds),
        format::percent(timeline.bubble_ratio(), 2),
    )
}

/// The kinds of tasks that a timeline has, in their usual order.
fn kinds(timeline: &Timeline) -> Vec<TaskKind> {
    use TaskKind::{Backward, Forward, InputGrad, Pair, WeightGrad};
    let all = [Forward, Backward, InputGrad, WeightGrad, Pair];
    let has = |kind: &TaskKind| timeline.lists.tasks.iter().any(|task| task.kind == *kind);
    all.into_iter().filter(has).collect()
}

/// A task's details: all of them where they are open, else its name and times.
pub fn details(scene: &Scene, spot: Spot, is_open: bool) -> String {
    let timeline = scene.timeline();
    let Some((task, start, end)) = task_at(timeline, spot) else {
        return String::new();
    };
    let mut facts =
        vec![("Start", moment(start)), ("End", moment(end)), ("Duration", seconds(end - start))];
    let detail = scene.explain(spot.lane, task).filter(|_| is_open);
    if is_open {
        facts.push(("Waited for", waited(timeline, spot)));
    }
    let hidden = detail.as_ref().map_or(0.0, |detail| detail.hidden.get());
    if hidden > 0.0 {
        facts.push(("Communication hidden behind it", seconds(hidden)));
    }
    let markup = html! {
        h3 { (name(timeline, spot.lane, &task)) }
        dl { @for (label, value) in facts { div { dt { (label) } dd { (value) } } } }
        @if let Some(detail) = detail.filter(|detail| !detail.parts.is_empty()) {
            div.scroll-x role="region" tabindex="0" aria-label="Parts of the task" {
                (PreEscaped(table("What its time is made of", &parts(&detail.parts))))
            }
        }
    };
    markup.into_string()
}

fn parts(parts: &[(&str, &str, Seconds)]) -> Vec<Vec<String>> {
    let header = ["Part", "Time", "Of the task", "What it is"].map(str::to_owned).to_vec();
    let times: Vec<f64> = parts.iter().map(|(_, _, time)| time.get()).collect();
    let rows = parts.iter().zip(format::shares(&times, 1));
    let rows = rows.map(|((label, meaning, time), share)| {
        vec![(*label).to_owned(), seconds(time.get()), share, (*meaning).to_owned()]
    });
    [header].into_iter().chain(rows).collect()
}
