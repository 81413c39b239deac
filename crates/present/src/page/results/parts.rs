//! The parts of the page as HTML text: the server writes them once, the browser whenever they
//! change. What can be pressed says what it does in `data-do`, and with what in `data-with`.

mod findings;
mod table;
mod controls;

use maud::{Markup, html};
use model::design::KnobId;
use model::run::quality::CAVEAT;

pub use controls::{axes, heat_controls, scatter_controls};
pub use findings::{heat_table, importance, reasons};
pub use table::{csv, pins, table};

use super::data::{Data, Dim, Freed, Objective, Standing};
use super::select::Selection;
use super::view::{End, MAX_PINS, Range, View};
use crate::format;
use crate::site::Page;

/// A button that does something.
fn button(id: &str, act: &str, with: &str, class: &str, text: &str) -> Markup {
    // What asks back, and what it leads back to, take the focus over from each other.
    let next = matches!(act, "stay" | "cancel");
    html! {
        button type="button" class={ "button " (class) } id=(id) data-do=(act) data-with=(with)
            data-next[next] { (text) }
    }
}

/// Status line of the sweep.
#[must_use]
pub fn status(data: &Data) -> String {
    let counts = data.counts;
    let (class, word) = match data.state.as_str() {
        "running" => ("running", "Running"),
        "paused" => ("paused", "Paused"),
        "done" => ("done", "Finished"),
        "removed" => ("failed", "Removed"),
        _ => ("failed", "Failed"),
    };
    let share = counts.done as f64 / counts.asked.max(1) as f64;
    let mut asked = format::whole(counts.asked);
    if counts.designs > counts.asked {
        asked = format!("{asked} of a space of {}", format::whole(counts.designs));
    }
    let facts = [
        ("Designs planned", asked),
        ("Evaluated", format::whole(counts.done)),
        ("Legal", format::whole(counts.legal)),
        ("Feasible", format::whole(counts.feasible)),
        ("Of these near the limit", format::whole(counts.near_limit)),
        ("On the Pareto front", format::whole(counts.front)),
    ];
    let markup = html! {
        div.sweep-state {
            strong class={ "sweep-badge " (class) } { (word) }
            progress aria-label="Designs evaluated" max=(counts.asked) value=(counts.done) {
                (format::percent(share, 0))
            }
            span.sweep-pace { (pace(data)) }
        }
        dl.sweep-counts {
            @for (name, value) in facts { div { dt { (name) } dd { (value) } } }
        }
        p.muted.sweep-checked { (checked(data)) }
        @if data.has_quality() { p.muted.sweep-checked { (CAVEAT) } }
    };
    markup.into_string()
}

/// Sentence on the simulated designs of a sweep by closed forms.
fn checked(data: &Data) -> String {
    let Some(simulated) = data.simulated else {
        return if data.counts.near_limit > 0 {
            "Designs nearer to the limit than the closed form's error aren't decided by it.".into()
        } else {
            String::new()
        };
    };
    let mut text = format!(
        "Counts are by closed forms. The front and the best were simulated: {}, {} not kept.",
        format::counted(simulated.designs, "design", "designs"),
        format::whole(simulated.rejected),
    );
    if simulated.left_out > 0 {
        text.push_str(&format!(
            " The front is long: {} of it not simulated.",
            format::whole(simulated.left_out)
        ));
    }
    text
}

/// Buttons that act on the sweep; apart from the numbers, so that a button stays while one presses
/// it.
#[must_use]
pub fn actions(data: &Data, removing: bool) -> String {
    let (act, text) =
        if data.state == "paused" { ("resume", "Resume") } else { ("pause", "Pause") };
    let markup = html! {
        @if data.is_over() {
        } @else if removing {
            span { "Stop it and delete its results?" }
            (button("do-remove", "remove", "", "danger", "Yes, delete it"))
            (button("do-stay", "stay", "", "", "Keep it"))
        } @else {
            (button("do-pause", act, "", "", text))
            (button("do-cancel", "cancel", "", "", "Cancel…"))
        }
    };
    markup.into_string()
}

fn pace(data: &Data) -> String {
    let rate = data.pace.rate.map(|rate| {
        let rate =
            if rate < 100.0 { format::significant(rate, 2) } else { format::decimals(rate, 0) };
        format!("{rate} designs/s")
    });
    match (data.state.as_str(), rate) {
        ("running", Some(rate)) => {
            let eta = data.pace.eta.map(|seconds| format!(", {} to go", format::lasting(seconds)));
            format!("{rate}{}", eta.unwrap_or_default())
        }
        ("running", None) => "Queued".to_owned(),
        ("paused", _) => "Nothing is computed until it is resumed".to_owned(),
        ("done", _) => "All designs evaluated".to_owned(),
        ("removed", _) => "Its results are deleted".to_owned(),
        _ => "A server error ended it; the results so far are below".to_owned(),
    }
}

/// The best design of each objective, and between two of them the one that gains most in both.
#[must_use]
pub fn best(data: &Data) -> String {
    let best = |objective: &Objective| {
        let dim = Dim::Metric(objective.metric);
        let better = |one: f64, other: f64| if objective.max { one > other } else { one < other };
        let sure = (0..data.rows.len()).filter(|row| data.is_sure(*row));
        sure.reduce(
            |best, row| {
                if better(data.number(dim, row), data.number(dim, best)) { row } else { best }
            },
        )
    };
    let bests: Vec<Option<usize>> = data.objectives.iter().map(best).collect();
    let between = between(data, &bests);
    let mut found: Vec<u64> = Vec::new();
    for index in bests.iter().chain([&between]).flatten().map(|row| data.rows.index[*row]) {
        if !found.contains(&index) && found.len() < MAX_PINS {
            found.push(index);
        }
    }
    let markup = html! {
        @for (objective, row) in data.objectives.iter().zip(bests) {
            (best_card(data, objective, row))
        }
        @if let Some(row) = between {
            article.card.sweep-best {
                h3 { "Trade-off" }
                p.sweep-best-value {
                    @for (place, objective) in data.objectives.iter().enumerate() {
                        @if place > 0 { ", " }
                        (data.text(Dim::Metric(objective.metric), row))
                    }
                }
                (ways_on(data, row))
            }
        }
        @if found.len() > 1 {
            p.sweep-compare { a href=(data.comparison_address(&found)) { "Compare them" } }
        }
        (freed(data))
    };
    markup.into_string()
}

/// Compromise between two objectives: the design that is farthest from the worse end of both, by
/// shares of the way between the two bests, added up. `None` if it is one of these, or adds up to
/// no more.
fn between(data: &Data, bests: &[Option<usize>]) -> Option<usize> {
    let [Some(one), Some(other)] = *bests else { return None };
    let share = |objective: &Objective, row, from, to| {
        let number = |row| data.number(Dim::Metric(objective.metric), row);
        (number(row) - number(from)) / (number(to) - number(from))
    };
    let [first, second] = data.objectives.as_slice() else { return None };
    let sum = |row| share(first, row, other, one) + share(second, row, one, other);
    let sums = (0..data.rows.len()).filter(|row| data.is_sure(*row)).map(|row| (row, sum(row)));
    let better = sums.filter(|(_, sum)| *sum > 1.0);
    let best = better.reduce(|best, row| if row.1 > best.1 { row } else { best });
    best.map(|(row, _)| row).filter(|row| *row != one && *row != other)
}

/// The knobs of one of the best, and where to go from it.
fn ways_on(data: &Data, row: usize) -> Markup {
    let index = data.rows.index[row];
    html! {
        p.muted { (knobs_text(data, row)) }
        p.sweep-best-ways {
            a href=(data.design_address(index)) { (data.open_label()) } " "
            @if !data.is_serving() {
                a href=(data.find_address(index)) { "Find around it" }
            }
        }
    }
}

fn best_card(data: &Data, objective: &Objective, row: Option<usize>) -> Markup {
    let dim = Dim::Metric(objective.metric);
    let label = lower(data.label(dim));
    let word = match (label.contains("parameters"), objective.max) {
        (true, true) => "Most",
        (true, false) => "Fewest",
        (false, true) => "Highest",
        (false, false) => "Lowest",
    };
    let nothing = match (data.is_over(), data.counts.feasible) {
        (false, 0) => "No feasible design yet",
        (false, _) => "All feasible designs are near the limit so far",
        (true, _) => "No feasible design",
    };
    html! {
        article.card.sweep-best {
            h3 { (word) " " (label) }
            @if let Some(row) = row {
                p.sweep-best-value { (data.text(dim, row)) }
                p.muted { (how_timed(data, dim, row)) }
                (ways_on(data, row))
            } @else {
                p.muted { (nothing) }
                @if data.is_over() && data.counts.feasible == 0 && !data.base.is_empty() {
                    a href={ (Page::Find.path()) "?" (data.base) } { "Find layouts that fit" }
                }
            }
        }
    }
}

/// Sentence on the designs that were pinned together.
#[must_use]
pub fn pinned(data: &Data, view: &View, designs: &[u64]) -> String {
    if designs.is_empty() {
        return "Nothing pinned: no feasible design of the front is left.".to_owned();
    }
    let (dim, _) = super::select::order(data, view);
    let names: Vec<String> = designs.iter().map(|index| format::whole(*index)).collect();
    let how = if data.simulated.is_some() { ", simulated" } else { "" };
    let word = if designs.len() == 1 { "design" } else { "designs" };
    format!(
        "Pinned {word} {} of the front{how}, in order of {}.",
        names.join(", "),
        data.label(dim)
    )
}

/// Timing of an objective's best design, with the closed form's number if both are known.
fn how_timed(data: &Data, dim: Dim, row: usize) -> String {
    match (data.standing(row), data.closed_text(dim, row)) {
        (Standing::Simulated, Some(closed)) => format!("Simulated; closed form {closed}"),
        (Standing::Simulated, None) => "Simulated, as by the closed form".to_owned(),
        _ => String::new(),
    }
}

/// List of fixed knobs that would let designs through, with a link that lets them vary; empty if
/// the sweep has found something.
fn freed(data: &Data) -> Markup {
    let names = |freed: &Freed| {
        let label = |id: &String| KnobId::find(id).map_or("", format::short_label);
        freed.knobs.iter().map(label).collect::<Vec<_>>().join(" and ")
    };
    let text = |freed: &Freed| {
        let is_sample = freed.tried < freed.designs;
        let (one, many) =
            if is_sample { ("random design", "random designs") } else { ("design", "designs") };
        format!(
            ": {} legal, {} feasible, of {} evaluated",
            format::whole(freed.legal),
            format::whole(freed.feasible),
            format::counted(freed.tried, one, many),
        )
    };
    html! {
        @if !data.freed.is_empty() {
            section.card.sweep-card.sweep-freed aria-labelledby="freed-title" {
                h3 #freed-title { "Fixed knobs that rule out most" }
                ul {
                    @for freed in &data.freed {
                        @let free = freed.knobs.join(",");
                        li {
                            a href={ (Page::Sweep.path()) "?sweep=" (data.id) "&free=" (free) } {
                                "Let " (names(freed)) " vary"
                            }
                            (text(freed))
                        }
                    }
                }
            }
        }
    }
}

/// A label inside a sentence; abbreviations stay.
fn lower(label: &str) -> String {
    let mut letters = label.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(std::iter::once(second)).chain(letters).collect()
        }
        _ => label.to_owned(),
    }
}

/// The knobs of a design that vary: `TP 8, PP 16`.
#[must_use]
pub fn knobs_text(data: &Data, row: usize) -> String {
    let varying = data.axes.iter().filter(|axis| axis.values.len() > 1);
    let mut knobs: Vec<usize> = varying.map(|axis| axis.knob).collect();
    knobs.sort_unstable();
    let text = |knob: usize| {
        let dim = Dim::Knob(knob);
        format!("{} {}", data.label(dim), data.text(dim, row))
    };
    knobs.into_iter().map(text).collect::<Vec<_>>().join(" · ")
}

/// Bar of the selection, with its actions.
#[must_use]
pub fn bar(data: &Data, view: &View, selection: &Selection) -> String {
    let kept = format::whole(selection.kept as u64);
    let text = if !view.brushes.is_empty() {
        format!("{} of {kept} designs brushed", format::whole(selection.brushed as u64))
    } else if selection.kept == data.rows.len() {
        let shown = format::counted(data.rows.len() as u64, "design is", "designs are");
        format!("{shown} shown: the front, the best and a random sample")
    } else {
        format!("{kept} of {} designs left", format::whole(data.rows.len() as u64))
    };
    let markup = html! {
        p.sweep-selected { (text) }
        div.sweep-bar-actions {
            @if !view.brushes.is_empty() {
                (button("do-keep", "keep", "", "", "Keep these"))
                (button("do-drop", "drop", "", "", "Exclude these"))
                (button("do-clear", "clear", "", "", "Clear brushes"))
            }
            @if !view.cuts.is_empty() {
                @let steps = format::counted(view.cuts.len() as u64, "step", "steps");
                (button("do-back", "back", "", "", &format!("Undo the last of {steps}")))
                (button("do-restore", "restore", "", "", "Show all"))
            }
        }
        @for range in &view.brushes {
            @if let Some(dim) = data.find(&range.dim) {
                button type="button" class="sweep-chip" id={ "unbrush-" (range.dim) }
                    data-do="unbrush" data-with=(range.dim) title="Clear this range" {
                    (data.label(dim)) " " (range_text(data, dim, range)) " "
                    span aria-hidden="true" { "×" }
                }
            }
        }
    };
    markup.into_string()
}

/// A range as people read it.
fn range_text(data: &Data, dim: Dim, range: &Range) -> String {
    let spelled = |end: &End, whole: fn(f64) -> f64| match (end, dim) {
        (End::Value(value), _) => Some(value.clone()),
        (End::Number(number), _) if number.is_infinite() => None,
        (End::Number(number), Dim::Knob(_)) => Some(data.spelled(dim, whole(*number))),
        (End::Number(number), Dim::Metric(_)) => Some(data.spelled(dim, *number)),
    };
    match (spelled(&range.from, f64::ceil), spelled(&range.to, f64::floor)) {
        (None, None) => "any".to_owned(),
        (Some(from), None) => format!("from {from}"),
        (None, Some(to)) => format!("up to {to}"),
        (Some(from), Some(to)) if from == to => from,
        (Some(from), Some(to)) => format!("{from} to {to}"),
    }
}

/// The design that a pointer or the keys are on.
#[must_use]
pub fn current(data: &Data, view: &View, row: Option<usize>) -> String {
    let Some(row) = row else {
        let hint = "Hover over a design in any view, or click one to select it.";
        return html! { p.muted { (hint) } }.into_string();
    };
    let index = data.rows.index[row];
    let both = |dim: Dim| match data.closed_text(dim, row) {
        Some(closed) => format!("{} {} ({closed})", data.label(dim), data.text(dim, row)),
        None => format!("{} {}", data.label(dim), data.text(dim, row)),
    };
    let metrics: Vec<String> = (0..data.metrics.len().min(4)).map(Dim::Metric).map(both).collect();
    let standing = data.standing(row).label();
    let pin = if view.pins.contains(&index) { "Unpin" } else { "Pin" };
    let markup = html! {
        p {
            strong {
                "Design " (format::whole(index)) @if data.rows.front[row] { ", on the front" }
            }
            @if !standing.is_empty() { span { ", " (standing) } }
            " " (metrics.join(" · ")) ". " span.muted { (knobs_text(data, row)) }
        }
        span.sweep-bar-actions {
            a.button #open-current href=(data.design_address(index)) { (data.open_label()) }
            @if !data.is_serving() {
                a.button #find-current href=(data.find_address(index)) { "Find around it" }
            }
            (button("pin-current", "pin", &index.to_string(), "", pin))
        }
    };
    markup.into_string()
}
