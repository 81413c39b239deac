//! Parts of the figure as HTML text: the legend, details of a task, tables.

use model::schedule::{TaskKind, Timeline};
use model::units::Seconds;

use super::Scene;
use super::lanes::Spot;
use super::look::Kind;
use super::tasks::{moment, name, seconds, task_at, waited};
use crate::present::format;
use crate::present::html::{element, table};

/// What stands where the details will be.
const HINT: &str = "Click a block, or move to the picture and press an arrow key, to read \
                               what it is.";

/// With more blocks than this on a lane some may be too short to be told apart.
const MANY: usize = 150;

/// What stands in the place of details while nothing is selected.
pub(super) fn hint() -> String {
    let mut html = String::new();
    element(&mut html, "p", "", HINT);
    html
}

/// The legend of a pair's operators.
pub(super) fn pair_legend() -> String {
    let kinds = [
        (Kind::Forward, "forward"),
        (Kind::InputGrad, "gradients of inputs (dX)"),
        (Kind::WeightGrad, "gradients of weights (dW)"),
        (Kind::Recompute, "recomputation"),
        (Kind::Swap, "swap"),
    ];
    let mut html = String::new();
    for (kind, words) in kinds {
        entry(&mut html, kind.class(), "", words);
    }
    html
}

fn entry(html: &mut String, class: &str, letters: &str, words: &str) {
    html.push_str("<li><span class=\"timeline-swatch ");
    html.push_str(class);
    html.push_str("\"></span><b>");
    html.push_str(letters);
    html.push_str("</b> ");
    html.push_str(words);
    html.push_str("</li>");
}

/// What the blocks of a schedule are, each with its colour and letters.
pub(super) fn legend(timeline: &Timeline) -> String {
    let mut html = String::new();
    let mut entry = |class, letters, words| entry(&mut html, class, letters, words);
    for kind in kinds(timeline) {
        match kind {
            TaskKind::Forward => entry(Kind::Forward.class(), "F", "forward"),
            TaskKind::Backward => entry(Kind::Backward.class(), "B", "backward"),
            TaskKind::InputGrad => entry(Kind::InputGrad.class(), "dX", "gradients of inputs"),
            TaskKind::WeightGrad => entry(Kind::WeightGrad.class(), "dW", "gradients of weights"),
            TaskKind::Pair => entry("pair", "F B", "both as one"),
        }
    }
    entry("bubble", "", "bubble");
    if timeline.schedule.chunks_per_stage() > 1 {
        entry("chunks", "", "chunks by shade");
    }
    if timeline.lists.stage(0).len() > MANY {
        entry(Kind::Mixed.class(), "", "several: zoom in");
    }
    html
}

/// How long the schedule takes and how much of it is bubble.
pub(super) fn summary(timeline: &Timeline) -> String {
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
pub(super) fn details(scene: &Scene, spot: Spot, is_open: bool) -> String {
    let timeline = scene.timeline();
    let Some((task, start, end)) = task_at(timeline, spot) else {
        return String::new();
    };
    let mut html = String::new();
    element(&mut html, "h3", "", &name(timeline, spot.lane, &task));
    html.push_str("<dl>");
    let mut fact = |label: &str, value: &str| {
        html.push_str("<div>");
        element(&mut html, "dt", "", label);
        element(&mut html, "dd", "", value);
        html.push_str("</div>");
    };
    fact("Start", &moment(start));
    fact("End", &moment(end));
    fact("Duration", &seconds(end - start));
    if !is_open {
        html.push_str("</dl>");
        return html;
    }
    fact("Waited for", &waited(timeline, spot));
    let detail = scene.explain(spot.lane, task);
    let hidden = detail.as_ref().map_or(0.0, |detail| detail.hidden.get());
    if hidden > 0.0 {
        fact("Communication hidden behind it", &seconds(hidden));
    }
    html.push_str("</dl>");
    if let Some(detail) = detail.filter(|detail| !detail.parts.is_empty()) {
        html.push_str("<div class=\"scroll-x\" role=\"region\" tabindex=\"0\" ");
        html.push_str("aria-label=\"Parts of the task\">");
        html.push_str(&table("What its time is made of", &parts(&detail.parts)));
        html.push_str("</div>");
    }
    html
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
