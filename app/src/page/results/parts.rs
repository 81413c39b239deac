//! The parts of the page as HTML text: the server writes them once, the browser whenever they
//! change. What can be pressed says what it does in `data-do`, and with what in `data-with`.

mod controls;
mod findings;
mod table;

use crate::site::Page;
use std::fmt::Write as _;

use model::design::KnobId;

pub use controls::{axes, heat_controls, scatter_controls};
pub use findings::{heat_table, importance, reasons};
pub use table::{csv, pins, table};

use super::data::{Data, Dim, Standing};
use super::select::Selection;
use super::view::{End, MAX_PINS, Range, View};
use crate::present::format;
use crate::present::html::{element, escaped};

/// A button that does something.
fn button(html: &mut String, id: &str, act: &str, with: &str, class: &str, text: &str) {
    let _ = write!(
        html,
        "<button type=\"button\" class=\"button {class}\" id=\"{id}\" data-do=\"{act}\" \
         data-with=\"{}\"{}>",
        escaped(with),
        // What asks back, and what it leads back to, take the focus over from each other.
        if matches!(act, "stay" | "cancel") { " data-next" } else { "" },
    );
    html.push_str(&escaped(text));
    html.push_str("</button>");
}

/// Where the sweep stands.
#[must_use]
pub fn status(data: &Data) -> String {
    let counts = data.counts;
    let mut html = String::from("<div class=\"sweep-state\">");
    let (class, word) = match data.state.as_str() {
        "running" => ("running", "Running"),
        "paused" => ("paused", "Paused"),
        "done" => ("done", "Finished"),
        "removed" => ("failed", "Removed"),
        _ => ("failed", "Failed"),
    };
    let _ = write!(html, "<strong class=\"sweep-badge {class}\">{word}</strong>");
    let share = counts.done as f64 / counts.asked.max(1) as f64;
    let _ = write!(
        html,
        "<progress aria-label=\"Designs looked at\" max=\"{}\" value=\"{}\">{}</progress>",
        counts.asked,
        counts.done,
        format::percent(share, 0),
    );
    element(&mut html, "span", "class=\"sweep-pace\"", &pace(data));
    html.push_str("</div><dl class=\"sweep-counts\">");
    let of_space = if counts.designs > counts.asked {
        format!(" of a space of {}", format::whole(counts.designs))
    } else {
        String::new()
    };
    let facts = [
        ("Designs asked for", format!("{}{of_space}", format::whole(counts.asked))),
        ("Looked at", format::whole(counts.done)),
        ("Legal", format::whole(counts.legal)),
        ("Keep all constraints", format::whole(counts.feasible)),
        ("Of these near the limit", format::whole(counts.near_limit)),
        ("On the Pareto front", format::whole(counts.front)),
    ];
    for (name, value) in facts {
        html.push_str("<div>");
        element(&mut html, "dt", "", name);
        element(&mut html, "dd", "", &value);
        html.push_str("</div>");
    }
    html.push_str("</dl>");
    element(&mut html, "p", "class=\"muted sweep-checked\"", &checked(data));
    html
}

/// What was simulated, of a sweep by closed forms.
fn checked(data: &Data) -> String {
    let Some(simulated) = data.simulated else {
        return if data.counts.near_limit > 0 {
            "A closed form decides no design that is nearer to the limit than its own error.".into()
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

/// What can be done about it; apart from the numbers, so that a button stays while one presses it.
#[must_use]
pub fn actions(data: &Data, removing: bool) -> String {
    let mut html = String::new();
    if data.is_over() {
        return html;
    }
    if removing {
        html.push_str("<span>End it and delete what it found?</span>");
        button(&mut html, "do-remove", "remove", "", "danger", "Yes, delete it");
        button(&mut html, "do-stay", "stay", "", "", "Keep it");
        return html;
    }
    let (act, text) =
        if data.state == "paused" { ("resume", "Resume") } else { ("pause", "Pause") };
    button(&mut html, "do-pause", act, "", "", text);
    button(&mut html, "do-cancel", "cancel", "", "", "Cancel…");
    html
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
        ("running", None) => "Waits for its turn".to_owned(),
        ("paused", _) => "Nothing is computed until it is resumed".to_owned(),
        ("done", _) => "Every design is looked at".to_owned(),
        ("removed", _) => "Its results are deleted".to_owned(),
        _ => "A mistake of the server ended it; what it found until then is below".to_owned(),
    }
}

/// The best design of each objective.
#[must_use]
pub fn best(data: &Data) -> String {
    let mut html = String::new();
    let mut found: Vec<u64> = Vec::new();
    for objective in &data.objectives {
        let dim = Dim::Metric(objective.metric);
        let better = |one: f64, other: f64| if objective.max { one > other } else { one < other };
        let sure = (0..data.rows.len()).filter(|row| data.is_sure(*row));
        let best = sure.reduce(|best, row| {
            if better(data.number(dim, row), data.number(dim, best)) { row } else { best }
        });
        let label = lower(data.label(dim));
        let word = match (label.contains("parameters"), objective.max) {
            (true, true) => "Most",
            (true, false) => "Fewest",
            (false, true) => "Highest",
            (false, false) => "Lowest",
        };
        html.push_str("<article class=\"card sweep-best\">");
        element(&mut html, "h3", "", &format!("{word} {label}"));
        match best {
            Some(row) => {
                element(&mut html, "p", "class=\"sweep-best-value\"", &data.text(dim, row));
                element(&mut html, "p", "class=\"muted\"", &how_timed(data, dim, row));
                element(&mut html, "p", "class=\"muted\"", &knobs_text(data, row));
                let index = data.rows.index[row];
                let attributes = format!("href=\"{}\"", escaped(&data.design_address(index)));
                element(&mut html, "a", &attributes, "Open in the explorer");
                html.push(' ');
                let attributes = format!("href=\"{}\"", escaped(&data.find_address(index)));
                element(&mut html, "a", &attributes, "Find around it");
                if !found.contains(&index) && found.len() < MAX_PINS {
                    found.push(index);
                }
            }
            None => {
                let text = match (data.is_over(), data.counts.feasible) {
                    (false, 0) => "No design keeps everything yet",
                    (false, _) => "All that keep everything are near the limit so far",
                    (true, _) => "No design keeps everything",
                };
                element(&mut html, "p", "class=\"muted\"", text);
                if data.is_over() && data.counts.feasible == 0 && !data.base.is_empty() {
                    let link = escaped(&data.base);
                    let attributes = format!("href=\"{}?{link}\"", Page::Find.path());
                    element(&mut html, "a", &attributes, "Find layouts that fit");
                }
            }
        }
        html.push_str("</article>");
    }
    if found.len() > 1 {
        html.push_str("<p class=\"sweep-compare\">");
        let attributes = format!("href=\"{}\"", escaped(&data.comparison_address(&found)));
        element(&mut html, "a", &attributes, "Compare them");
        html.push_str("</p>");
    }
    html.push_str(&freed(data));
    html
}

/// What was pinned together, in a sentence.
#[must_use]
pub fn pinned(data: &Data, view: &View, designs: &[u64]) -> String {
    if designs.is_empty() {
        return "Nothing pinned: no design of the front is left that keeps everything.".to_owned();
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

/// How the best of an objective is timed, with the closed form's number where both are known.
fn how_timed(data: &Data, dim: Dim, row: usize) -> String {
    match (data.standing(row), data.closed_text(dim, row)) {
        (Standing::Simulated, Some(closed)) => format!("Simulated; closed form {closed}"),
        (Standing::Simulated, None) => "Simulated, as by the closed form".to_owned(),
        _ => String::new(),
    }
}

/// What fixed knobs would let through, with a link that lets them vary; nothing where the sweep
/// has found something.
fn freed(data: &Data) -> String {
    if data.freed.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<section class=\"card sweep-card sweep-freed\" aria-labelledby=\"freed-title\">\
         <h3 id=\"freed-title\">Fixed knobs that rule out most</h3><ul>",
    );
    for freed in &data.freed {
        let label = |id: &String| KnobId::find(id).map_or("", format::short_label);
        let names: Vec<&str> = freed.knobs.iter().map(label).collect();
        let address =
            format!("{}?sweep={}&free={}", Page::Sweep.path(), data.id, freed.knobs.join(","));
        html.push_str("<li>");
        let attributes = format!("href=\"{}\"", escaped(&address));
        element(&mut html, "a", &attributes, &format!("Let {} vary", names.join(" and ")));
        let all = if freed.tried < freed.designs { " at random" } else { "" };
        let text = format!(
            ": {} legal, {} keep everything, of {}{all} looked at",
            format::whole(freed.legal),
            format::whole(freed.feasible),
            format::counted(freed.tried, "design", "designs"),
        );
        html.push_str(&escaped(&text));
        html.push_str("</li>");
    }
    html.push_str("</ul></section>");
    html
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

/// What is selected, and what can be done with it.
#[must_use]
pub fn bar(data: &Data, view: &View, selection: &Selection) -> String {
    let mut html = String::from("<p class=\"sweep-selected\">");
    let kept = format::whole(selection.kept as u64);
    let shown = format::counted(data.rows.len() as u64, "design is", "designs are");
    let text = if view.brushes.is_empty() {
        if selection.kept == data.rows.len() {
            format!("{shown} shown: the front, the best and a random sample")
        } else {
            format!("{kept} of {} designs left", format::whole(data.rows.len() as u64))
        }
    } else {
        format!("{} of {kept} designs brushed", format::whole(selection.brushed as u64))
    };
    html.push_str(&escaped(&text));
    html.push_str("</p><div class=\"sweep-bar-actions\">");
    if !view.brushes.is_empty() {
        button(&mut html, "do-keep", "keep", "", "", "Keep these");
        button(&mut html, "do-drop", "drop", "", "", "Exclude these");
        button(&mut html, "do-clear", "clear", "", "", "Clear brushes");
    }
    if !view.cuts.is_empty() {
        let steps = format::counted(view.cuts.len() as u64, "step", "steps");
        let text = format!("Undo the last of {steps}");
        button(&mut html, "do-back", "back", "", "", &text);
        button(&mut html, "do-restore", "restore", "", "", "Bring all back");
    }
    html.push_str("</div>");
    for range in &view.brushes {
        let Some(dim) = data.find(&range.dim) else { continue };
        let text = format!("{} {}", data.label(dim), range_text(data, dim, range));
        let id = format!("unbrush-{}", range.dim);
        let _ = write!(
            html,
            "<button type=\"button\" class=\"sweep-chip\" id=\"{id}\" data-do=\"unbrush\" \
             data-with=\"{}\" title=\"Clear this range\">{} <span aria-hidden=\"true\">×</span>\
             </button>",
            escaped(&range.dim),
            escaped(&text),
        );
    }
    html
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
        return "<p class=\"muted\">Point at a design in any view, or click one to hold it.</p>"
            .to_owned();
    };
    let index = data.rows.index[row];
    let mut html = String::from("<p>");
    let metrics = (0..data.metrics.len().min(4)).map(Dim::Metric);
    let both = |dim: Dim| match data.closed_text(dim, row) {
        Some(closed) => format!("{} {} ({closed})", data.label(dim), data.text(dim, row)),
        None => format!("{} {}", data.label(dim), data.text(dim, row)),
    };
    let metrics: Vec<String> = metrics.map(both).collect();
    let front = if data.rows.front[row] { ", on the front" } else { "" };
    element(&mut html, "strong", "", &format!("Design {}{front}", format::whole(index)));
    let standing = data.standing(row).label();
    if !standing.is_empty() {
        element(&mut html, "span", "", &format!(", {standing}"));
    }
    let _ = write!(html, " {}. ", escaped(&metrics.join(" · ")));
    element(&mut html, "span", "class=\"muted\"", &knobs_text(data, row));
    html.push_str("</p><span class=\"sweep-bar-actions\">");
    let attributes = format!(
        "class=\"button\" id=\"open-current\" href=\"{}\"",
        escaped(&data.design_address(index))
    );
    element(&mut html, "a", &attributes, "Open in the explorer");
    let attributes = format!(
        "class=\"button\" id=\"find-current\" href=\"{}\"",
        escaped(&data.find_address(index))
    );
    element(&mut html, "a", &attributes, "Find around it");
    let pinned = view.pins.contains(&index);
    let text = if pinned { "Unpin" } else { "Pin" };
    button(&mut html, "pin-current", "pin", &index.to_string(), "", text);
    html.push_str("</span>");
    html
}
