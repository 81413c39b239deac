//! Parts of the page as HTML text, the same on the server and in the browser.

use maud::{Markup, html};
use model::ground::choice::{Choice, Method};

use super::input::{Field, Input};
use super::methods::{self, about};
use super::query::address;
use super::run::{Refusal, Row, ScheduleRun};
use crate::draw::text::sentence;
use crate::format;
use crate::html::{cell_bar, named_table};

/// Definition of the bubble ratio.
const BUBBLE: &str = "Device time with no task resident, over all device time between the first \
                      forward and the last backward.";
/// Definition of the bubble ratio of ZB-2P.
const BUBBLE_OF_SPANS: &str = "Device time with no task resident, over all device time in the \
                               longest span of a stage, as each begins its next step at once.";

/// A number to six digits, without zeros at its end.
pub(super) fn plain(number: f64) -> String {
    let text = format::significant(number, 6);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

pub(super) fn seconds(seconds: f64) -> String {
    format!("{} s", plain(seconds))
}

fn bubble(ratio: f64) -> String {
    format::percent(ratio, 2).to_string()
}

fn micro_batches(count: f64) -> String {
    let noun = if plain(count) == "1" { "micro-batch" } else { "micro-batches" };
    format!("{} {noun}", plain(count))
}

/// A schedule in one line: `ZB-V, 8 stages with 2 chunks each, 32 micro-batches`.
pub fn name(input: &Input) -> String {
    let both_ways = input.method == Method::DualPipe;
    let each = if both_ways { "each way" } else { "each" };
    format!(
        "{}, {} with {} {each}, {}",
        about(input.method).name,
        format::counted(input.stages, "stage", "stages"),
        format::counted(input.chunks(), "chunk", "chunks"),
        format::counted(input.micro_batches, "micro-batch", "micro-batches"),
    )
}

/// Step and bubble in one line.
pub fn headline(ran: &ScheduleRun) -> String {
    let ratio = bubble(ran.timeline.bubble_ratio());
    let peak = micro_batches(ran.peak());
    format!("Step {}, bubble {ratio}, at most {peak} in flight", seconds(ran.seconds()))
}

/// The headline numbers.
pub fn cards(ran: &ScheduleRun) -> String {
    let formula = |number: Option<String>| match number {
        Some(number) => format!("closed form {number}"),
        None => "no closed form".to_owned(),
    };
    let ratio = format::percent(ran.timeline.bubble_ratio(), 2);
    let stages = ran.stages();
    let (peak, least) = range(stages.iter().map(|row| row.peak));
    let (busy, idle) = range(stages.iter().map(|row| row.busy));
    let on_stages = |most: (usize, f64), least: (usize, f64), text: fn(f64) -> String| {
        if plain(most.1) == plain(least.1) {
            return "on every stage".to_owned();
        }
        format!("on stage {}; {} on stage {}", most.0, text(least.1), least.0)
    };
    let step_line = formula(ran.closed_form.map(seconds));
    let bubble_line = formula(ran.closed_form_bubble().map(bubble));
    let (peak_line, busy_line) = (on_stages(peak, least, plain), on_stages(busy, idle, seconds));
    let markup = html! {
        (card("step", "Step time", &plain(ran.seconds()), "s", &step_line))
        (card("bubble", "Bubble", &ratio.number, ratio.unit, &bubble_line))
        (card("peak", "Peak in flight", &plain(peak.1), "micro-batches", &peak_line))
        (card("busy", "Work of the busiest stage", &plain(busy.1), "s", &busy_line))
    };
    markup.into_string()
}

fn card(id: &str, title: &str, value: &str, unit: &str, line: &str) -> Markup {
    html! {
        article.card.metric aria-labelledby={ (id) "-title" } {
            div.card-head { h2 id={ (id) "-title" } { (title) } }
            p.card-value { (value) " " span.unit { (unit) } }
            p.card-line { (line) }
        }
    }
}

/// Largest and smallest number with their places, the first of equal ones.
fn range(numbers: impl Iterator<Item = f64>) -> ((usize, f64), (usize, f64)) {
    let (mut most, mut least) = ((0, f64::NEG_INFINITY), (0, f64::INFINITY));
    for (place, number) in numbers.enumerate() {
        if number > most.1 {
            most = (place, number);
        }
        if number < least.1 {
            least = (place, number);
        }
    }
    (most, least)
}

/// Definitions of the numbers, with the closed form beside them.
pub fn formula(ran: &ScheduleRun) -> String {
    let about = about(ran.input.method);
    let is_by_span = ran.input.method == Method::Zb2p;
    let markup = html! {
        dl.schedule-facts {
            div { dt { "Bubble" } dd { (if is_by_span { BUBBLE_OF_SPANS } else { BUBBLE }) } }
            @if let Some(formula) = about.formula {
                div { dt { "Closed form of a step" } dd { code { (formula.text) } } }
                div {
                    dt { "It holds for" }
                    dd { (formula.holds) "; equal stages, no time to send" }
                }
            }
            div { dt { "Here" } dd { (here(ran)) } }
            div {
                dt { "Source" }
                dd { a href=(about.source.address) rel="external" { (about.source.title) } }
            }
        }
    };
    markup.into_string()
}

/// Closed form's value for this input, and why the simulation's differs.
fn here(ran: &ScheduleRun) -> String {
    let input = &ran.input;
    let simulated = seconds(ran.seconds());
    let Some(formula) = about(input.method).formula else {
        let name = about(input.method).name;
        return format!("There is no closed form for {name}: {simulated} is the simulation's.");
    };
    let Some(closed_form) = ran.closed_form else {
        return format!(
            "These sizes and times are outside of that ({}), so {simulated} is the simulation's \
             alone.",
            formula.holds
        );
    };
    let mut reasons = Vec::new();
    if let Some(stage) = input.uneven_stage() {
        let factor = plain(input.slow_factor);
        reasons.push(format!("stage {stage} takes {factor} times as long as the others"));
    }
    if input.p2p > 0.0 {
        reasons.push(format!("sends take {}", seconds(input.p2p)));
    }
    let off = ran.seconds() - closed_form;
    let closed_form = seconds(closed_form);
    if plain(off) == "0" || closed_form == simulated {
        return format!("The formula gives {closed_form}, the same as the simulation.");
    }
    let (off, longer) = (seconds(off.abs()), if off > 0.0 { "longer" } else { "shorter" });
    let why = if reasons.is_empty() {
        String::new()
    } else {
        format!(": {}, which the formula knows nothing of", format::list(&reasons))
    };
    format!("The formula gives {closed_form}; the simulation takes {off} {longer}{why}.")
}

/// Problems of an input, with links that mend it.
pub fn problems(refusal: &Refusal, input: &Input, shown: &Input) -> String {
    let several = refusal.problems.len() > 1;
    let markup = html! {
        p {
            strong { "This schedule can't run." }
            " The numbers below are those of " (name(shown)) "."
        }
        ul {
            @for (index, problem) in refusal.problems.iter().enumerate() {
                li {
                    span { (sentence(&problem.message)) "." }
                    @if let Some(mended) = problem.mended {
                        (way(&format!("mend-{index}"), input, &mended))
                    }
                }
            }
        }
        @if let Some(mended) = refusal.mended.filter(|_| several) {
            p { "All of it: " (way("mend-all", input, &mended)) }
        }
    };
    markup.into_string()
}

/// A link from one input to another.
fn way(id: &str, from: &Input, to: &Input) -> Markup {
    html! { a.button.way id=(id) href=(address(to)) { "Use " (changes(from, to)) } }
}

/// List of the differences, as a sentence has it.
fn changes(from: &Input, to: &Input) -> String {
    let mut words = Vec::new();
    if from.stages != to.stages {
        words.push(format::counted(to.stages, "stage", "stages"));
    }
    if from.chunks() != to.chunks() {
        words.push(format::counted(to.chunks(), "chunk", "chunks"));
    }
    if from.micro_batches != to.micro_batches {
        words.push(format::counted(to.micro_batches, "micro-batch", "micro-batches"));
    }
    if from.group != to.group {
        words.push(match to.group {
            Some(group) => format!("groups of {}", format::whole(group)),
            None => "no group".to_owned(),
        });
    }
    if let (true, Some(stage)) = (from.slow_stage != to.slow_stage, to.slow_stage) {
        words.push(format!("slow stage {stage}"));
    }
    format::list(&words)
}

/// Each stage's work, bubble and peak.
pub fn stages(ran: &ScheduleRun) -> String {
    let stages = ran.stages();
    let most = stages.iter().map(|row| row.peak).fold(0.0, f64::max);
    let rows = html! {
        @for (stage, row) in stages.iter().enumerate() {
            tr {
                th scope="row" { (stage) }
                td { (seconds(row.busy)) (cell_bar(row.busy / ran.seconds())) }
                td { (bubble(row.bubble)) }
                td { (plain(row.peak)) (cell_bar(row.peak / most)) }
            }
        }
    };
    named_table("Stages", &["Stage", "Busy", "Bubble", "Peak in flight"], &rows).into_string()
}

/// All methods beside each other; the current one is marked.
pub fn comparison(rows: &[Row], current: &Input) -> String {
    let titles = ["Schedule", "Step", "Against this", "Bubble", "Peak in flight"];
    let ran = || rows.iter().filter_map(|row| row.outcome.as_ref().ok());
    let best = [0, 2].map(|column| ran().map(|row| row[column]).fold(f64::INFINITY, f64::min));
    let own = rows.iter().find(|row| row.input.method == current.method);
    let now = own.and_then(|row| row.outcome.as_ref().ok()).map(|numbers| numbers[0]);
    let rows = html! {
        @for row in rows {
            (comparison_row(row, row.input.method == current.method, now, best))
        }
    };
    named_table("Schedules compared", &titles, &rows).into_string()
}

fn comparison_row(row: &Row, is_own: bool, now: Option<f64>, best: [f64; 2]) -> Markup {
    let method = row.input.method;
    let name = method.name();
    html! {
        tr data-schedule=(name) class=[is_own.then_some("own")] {
            th scope="row" {
                a.explain id={ "use-" (name) } href=(address(&row.input))
                    aria-current=[is_own.then_some("true")] { (about(method).name) }
                span.schedule-beside.muted {
                    (format::counted(row.input.chunks(), "chunk", "chunks"))
                }
            }
            @match &row.outcome {
                Ok([step, ratio, peak]) => {
                    td { (marked(*step, best[0], "shortest")) (seconds(*step)) }
                    td {
                        @if is_own { "as now" }
                        @else if let Some(now) = now { (format::relative(*step, now)) }
                    }
                    td { (bubble(*ratio)) }
                    td { (marked(*peak, best[1], "least")) (plain(*peak)) }
                }
                Err(refusal) => td.refused colspan="4" {
                    @let problem = refusal.problems.first();
                    span { "Can't run: " (problem.map_or("", |it| it.message.as_str())) "." }
                    @if let Some(mended) = refusal.mended {
                        " " (way(&format!("mend-{name}"), &row.input, &mended))
                    }
                }
            }
        }
    }
}

/// A mark in front of a number that is the best of its column.
fn marked(number: f64, best: f64, mark: &str) -> Markup {
    html! { @if plain(number) == plain(best) { span.own-mark { (mark) } " " } }
}

/// The command that prints the same.
pub fn command(input: &Input) -> String {
    let (first, mut line) = (Input::default(), String::from("moescape schedule"));
    let mut put = |flag: &str, value: &str| line.push_str(&format!(" --{flag} {value}"));
    put("method", input.method.name());
    put("stages", &input.get(Field::Stages));
    if input.chunks() != methods::usual_chunks(input.method) {
        put("chunks", &input.chunks().to_string());
    }
    put("microbatches", &input.get(Field::MicroBatches));
    for (field, flag) in [
        (Field::Group, "group"),
        (Field::Forward, "forward"),
        (Field::BackwardInput, "backward-input"),
        (Field::BackwardWeight, "backward-weight"),
        (Field::ForwardBackward, "forward-backward"),
        (Field::P2p, "p2p"),
    ] {
        if input.get(field) != first.get(field) {
            put(flag, &input.get(field));
        }
    }
    line
}
