//! Parts of the page as HTML text, the same on the server and in the browser.

use model::choice::{Choice, Method};

use super::input::{Field, Input};
use super::methods::{self, about};
use super::query::address;
use super::run::{Ran, Refusal, Row};
use crate::present::format;
use crate::present::html::{element, escape_into};

/// Of what the bubble is a share.
const BUBBLE: &str = "Device time with no task resident, over all device time between the first \
                      forward and the last backward.";
/// The same for ZB-2P.
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

/// As a sentence starts and ends.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(characters).chain(['.']).collect()
}

fn bubble(ratio: f64) -> String {
    format::percent(ratio, 2).to_string()
}

fn micro_batches(count: f64) -> String {
    let noun = if plain(count) == "1" { "micro-batch" } else { "micro-batches" };
    format!("{} {noun}", plain(count))
}

/// An address as an attribute.
fn href(input: &Input) -> String {
    let mut html = String::from(" href=\"");
    escape_into(&mut html, &address(input));
    html.push('"');
    html
}

/// A schedule in one line: `ZB-V, 8 stages with 2 chunks each, 32 micro-batches`.
pub(super) fn name(input: &Input) -> String {
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
pub(super) fn headline(ran: &Ran) -> String {
    let ratio = bubble(ran.timeline.bubble_ratio());
    let peak = micro_batches(ran.peak());
    format!("Step {}, bubble {ratio}, at most {peak} in flight", seconds(ran.seconds()))
}

/// The headline numbers.
pub(super) fn cards(ran: &Ran) -> String {
    let mut html = String::new();
    let mut card = |id: &str, title: &str, value: &str, unit: &str, line: &str| {
        html.push_str("<article class=\"card metric\" aria-labelledby=\"");
        html.push_str(&format!("{id}-title\"><div class=\"card-head\">"));
        element(&mut html, "h2", &format!("id=\"{id}-title\""), title);
        html.push_str("</div><p class=\"card-value\">");
        escape_into(&mut html, value);
        html.push(' ');
        element(&mut html, "span", "class=\"unit\"", unit);
        html.push_str("</p>");
        element(&mut html, "p", "class=\"card-line\"", line);
        html.push_str("</article>");
    };
    let formula = |number: Option<String>| match number {
        Some(number) => format!("closed form {number}"),
        None => "no closed form".to_owned(),
    };
    let step_line = formula(ran.closed_form.map(seconds));
    card("step", "Step time", &plain(ran.seconds()), "s", &step_line);
    let ratio = format::percent(ran.timeline.bubble_ratio(), 2);
    let bubble_line = formula(ran.closed_form_bubble().map(bubble));
    card("bubble", "Bubble", &ratio.number, ratio.unit, &bubble_line);
    let stages = ran.stages();
    let (peak, least) = range(stages.iter().map(|row| row.peak));
    let of_peaks = if plain(peak.1) == plain(least.1) {
        "on every stage".to_owned()
    } else {
        format!("on stage {}; {} on stage {}", peak.0, plain(least.1), least.0)
    };
    card("peak", "Peak in flight", &plain(peak.1), "micro-batches", &of_peaks);
    let (busy, idle) = range(stages.iter().map(|row| row.busy));
    let of_work = if plain(busy.1) == plain(idle.1) {
        "on every stage".to_owned()
    } else {
        format!("on stage {}; {} on stage {}", busy.0, seconds(idle.1), idle.0)
    };
    card("busy", "Work of the busiest stage", &plain(busy.1), "s", &of_work);
    html
}

/// Where a number is largest and where it is smallest, the first of equal ones.
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

/// What the numbers mean, and the formula beside them.
pub(super) fn formula(ran: &Ran) -> String {
    let about = about(ran.input.method);
    let is_by_span = ran.input.method == Method::Zb2p;
    let mut html = String::from("<dl class=\"schedule-facts\">");
    let mut fact = |label: &str, value: &str| {
        html.push_str("<div>");
        element(&mut html, "dt", "", label);
        html.push_str(&format!("<dd>{value}</dd></div>"));
    };
    let text = |text: &str| {
        let mut html = String::new();
        escape_into(&mut html, text);
        html
    };
    fact("Bubble", if is_by_span { BUBBLE_OF_SPANS } else { BUBBLE });
    if let Some(formula) = about.formula {
        fact("Closed form of a step", &format!("<code>{}</code>", text(formula.text)));
        fact("It holds for", &text(&format!("{}; equal stages, no time to send", formula.holds)));
    }
    fact("Here", &text(&here(ran)));
    let source = about.source;
    let link = format!("<a href=\"{}\" rel=\"external\">{}</a>", source.address, source.title);
    fact("Source", &link);
    html.push_str("</dl>");
    html
}

/// What the formula says of these numbers, and why the simulation says something else.
fn here(ran: &Ran) -> String {
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

/// What is wrong, and links that mend it.
pub(super) fn problems(refusal: &Refusal, input: &Input, shown: &Input) -> String {
    let mut html = String::from("<p><strong>This schedule can't run.</strong> ");
    let rest = format!("The numbers below are those of {}.", name(shown));
    escape_into(&mut html, &rest);
    html.push_str("</p><ul>");
    for (index, problem) in refusal.problems.iter().enumerate() {
        html.push_str("<li>");
        element(&mut html, "span", "", &sentence(&problem.message));
        if let Some(mended) = problem.mended {
            way(&mut html, &format!("mend-{index}"), input, &mended);
        }
        html.push_str("</li>");
    }
    html.push_str("</ul>");
    if let Some(mended) = refusal.mended.filter(|_| refusal.problems.len() > 1) {
        html.push_str("<p>All of it: ");
        way(&mut html, "mend-all", input, &mended);
        html.push_str("</p>");
    }
    html
}

/// A link from one input to another.
fn way(html: &mut String, id: &str, from: &Input, to: &Input) {
    let attributes = format!("id=\"{id}\" class=\"button way\"{}", href(to));
    element(html, "a", &attributes, &format!("Use {}", changes(from, to)));
}

/// What differs, as a sentence lists it.
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

/// A bar below a number.
fn bar(html: &mut String, share: f64) {
    let width = (share.clamp(0.0, 1.0) * 100.0).round();
    html.push_str(&format!(
        "<svg class=\"cell-bar\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\"><rect width=\"{width}\" height=\"4\"></rect></svg>"
    ));
}

fn head(html: &mut String, caption: &str, columns: &[&str]) {
    html.push_str("<table>");
    element(html, "caption", "class=\"visually-hidden\"", caption);
    html.push_str("<thead><tr>");
    for column in columns {
        element(html, "th", "scope=\"col\"", column);
    }
    html.push_str("</tr></thead><tbody>");
}

/// Each stage's work, bubble and peak.
pub(super) fn stages(ran: &Ran) -> String {
    let mut html = String::new();
    head(&mut html, "Stages", &["Stage", "Busy", "Bubble", "Peak in flight"]);
    let stages = ran.stages();
    let most = stages.iter().map(|row| row.peak).fold(0.0, f64::max);
    for (stage, row) in stages.iter().enumerate() {
        html.push_str("<tr>");
        element(&mut html, "th", "scope=\"row\"", &stage.to_string());
        let cells = [
            (seconds(row.busy), Some(row.busy / ran.seconds())),
            (bubble(row.bubble), None),
            (plain(row.peak), Some(row.peak / most)),
        ];
        for (text, share) in cells {
            html.push_str("<td>");
            escape_into(&mut html, &text);
            if let Some(share) = share {
                bar(&mut html, share);
            }
            html.push_str("</td>");
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
    html
}

/// All methods beside each other; the current one is marked.
pub(super) fn comparison(rows: &[Row], current: &Input) -> String {
    let mut html = String::new();
    let columns = ["Schedule", "Step", "Against this", "Bubble", "Peak in flight"];
    head(&mut html, "Schedules compared", &columns);
    let ran = || rows.iter().filter_map(|row| row.outcome.as_ref().ok());
    let best = [0, 2].map(|column| ran().map(|row| row[column]).fold(f64::INFINITY, f64::min));
    let own = rows.iter().find(|row| row.input.method == current.method);
    let now = own.and_then(|row| row.outcome.as_ref().ok()).map(|numbers| numbers[0]);
    for row in rows {
        let is_own = row.input.method == current.method;
        comparison_row(&mut html, row, is_own, now, best);
    }
    html.push_str("</tbody></table>");
    html
}

fn comparison_row(html: &mut String, row: &Row, is_own: bool, now: Option<f64>, best: [f64; 2]) {
    let method = row.input.method;
    let name = method.name();
    let class = if is_own { " class=\"own\"" } else { "" };
    html.push_str(&format!("<tr data-schedule=\"{name}\"{class}><th scope=\"row\">"));
    let current = if is_own { " aria-current=\"true\"" } else { "" };
    let attributes = format!("id=\"use-{name}\" class=\"explain\"{}{current}", href(&row.input));
    element(html, "a", &attributes, about(method).name);
    let chunks = format::counted(row.input.chunks(), "chunk", "chunks");
    element(html, "span", "class=\"schedule-beside muted\"", &chunks);
    html.push_str("</th>");
    let numbers = match &row.outcome {
        Ok(numbers) => numbers,
        Err(refusal) => {
            html.push_str("<td class=\"refused\" colspan=\"4\">");
            let message = refusal.problems.first().map_or("", |problem| problem.message.as_str());
            element(html, "span", "", &format!("Can't run: {message}."));
            if let Some(mended) = refusal.mended {
                html.push(' ');
                way(html, &format!("mend-{name}"), &row.input, &mended);
            }
            html.push_str("</td></tr>");
            return;
        }
    };
    let [step, ratio, peak] = *numbers;
    let is_best = |number: f64, best: f64| plain(number) == plain(best);
    let mark = |html: &mut String, text: &str, mark: Option<&str>| {
        html.push_str("<td>");
        if let Some(mark) = mark {
            element(html, "span", "class=\"own-mark\"", mark);
            html.push(' ');
        }
        escape_into(html, text);
        html.push_str("</td>");
    };
    mark(html, &seconds(step), is_best(step, best[0]).then_some("shortest"));
    let change = match now {
        _ if is_own => "as now".to_owned(),
        Some(now) => format::relative(step, now),
        None => String::new(),
    };
    mark(html, &change, None);
    mark(html, &bubble(ratio), None);
    mark(html, &plain(peak), is_best(peak, best[1]).then_some("least"));
    html.push_str("</tr>");
}

/// The command that prints the same.
pub(super) fn command(input: &Input) -> String {
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
