//! What stands on the page, as HTML that only the server writes.

use std::fmt::Write as _;

use model::knob::KnobError;
use model::metric::{Better, MetricId};
use model::violation::Violation;

use super::numbers::{Column, State, columns, differing, hindrances, orders, twins};
use super::{CSV_PATH, figures, start, table};
use crate::draw::text::sentence;
use crate::insight::memory_state;
use crate::insight::recorded;
use crate::present::format;
use crate::present::html::{element, escape_into, escaped};
use crate::site::chosen::Chosen;

/// The whole content.
pub(super) fn html(raw: &str) -> String {
    let (chosen, wrong) = Chosen::read(raw);
    let columns = columns(&chosen);
    let mut html = String::new();
    problems(&mut html, &wrong);
    if columns.is_empty() {
        start::empty(&mut html);
        return html;
    }
    designs(&mut html, &columns, &chosen);
    notes(&mut html, &columns, &chosen);
    numbers(&mut html, &columns, &chosen);
    html.push_str(&figures::html(&columns));
    reading(&mut html);
    definitions(&mut html);
    html
}

/// An attribute that keeps a name which somebody gave as it is in every language.
pub(super) fn own(chosen: &Chosen, place: usize) -> &'static str {
    let is_named = chosen.designs.get(place).is_some_and(|choice| !choice.name.is_empty());
    if is_named { "translate=\"no\"" } else { "" }
}

/// A design's letter, in the colour that it has in charts.
pub(super) fn letter_mark(html: &mut String, letter: char) {
    let _ = write!(
        html,
        "<span class=\"compare-letter compare-{}\">{letter}</span> ",
        letter.to_ascii_lowercase()
    );
}

/// What of the address isn't understood.
fn problems(html: &mut String, wrong: &[String]) {
    if wrong.is_empty() {
        return;
    }
    html.push_str(
        "<div class=\"verdict broken\" role=\"region\" aria-label=\"What isn't understood\">\
         <p><strong>A part of this link isn't understood.</strong></p><ul>",
    );
    for sentence in wrong {
        element(html, "li", "", sentence);
    }
    html.push_str("</ul></div>");
}

/// A card for each design, with what can be done with it.
fn designs(html: &mut String, columns: &[Column], chosen: &Chosen) {
    html.push_str("<section class=\"compare-designs\" aria-label=\"Designs\">");
    for place in 0..columns.len() {
        card(html, columns, chosen, place);
    }
    html.push_str("</section>");
    start::add(html, chosen);
}

fn card(html: &mut String, columns: &[Column], chosen: &Chosen, place: usize) {
    let column = &columns[place];
    let (letter, is_baseline) = (column.letter, place == chosen.baseline);
    let _ = write!(
        html,
        "<article class=\"card compare-design\" aria-labelledby=\"design-{letter}\">\
         <h2 id=\"design-{letter}\">"
    );
    letter_mark(html, letter);
    element(html, "span", own(chosen, place), &column.name);
    if is_baseline && columns.len() > 1 {
        html.push_str(" <span class=\"own-mark\">Baseline</span>");
    }
    html.push_str("</h2>");
    if !column.changes.is_empty() {
        element(html, "p", "class=\"muted\"", &sentence(&column.changes));
    }
    match &column.state {
        State::Legal(_) => headline(html, columns, chosen.baseline, place),
        State::Broken(design, rules) => match recorded::lacking(design) {
            Some(lacking) => lacks(html, &lacking),
            None => broken(html, rules),
        },
        State::Unreadable(errors) => unreadable(html, errors),
    }
    html.push_str("<p class=\"ways\">");
    let mut way = |address: &str, text: &str, label: &str| {
        let attributes = format!(
            "class=\"button way\" href=\"{}\" aria-label=\"{}\"",
            escaped(address),
            escaped(label)
        );
        element(html, "a", &attributes, text);
    };
    way(&format!("/?{}", column.link), "Open", &format!("Open {letter} in the explorer"));
    if !is_baseline {
        let label = format!("Make baseline: {letter}");
        way(&chosen.against(place).address(), "Make baseline", &label);
    }
    if place > 0 {
        let (text, before) = (if columns.len() == 2 { "Swap" } else { "← Move" }, place - 1);
        let label = format!("{text}: {letter} before {}", columns[before].letter);
        way(&chosen.moved_left(place).address(), text, &label);
    }
    way(&chosen.without(place).address(), "Remove", &format!("Remove {letter}"));
    html.push_str("</p></article>");
}

/// The headline of a design, and how it differs from the baseline.
fn headline(html: &mut String, columns: &[Column], baseline: usize, place: usize) {
    let Some(numbers) = columns[place].numbers() else { return };
    let metrics = &numbers.estimate.metrics;
    let rate = metrics.tokens_per_second_per_device;
    let mut text =
        format!("MFU {}, {} per device", format::percent(metrics.mfu, 1), format::token_rate(rate));
    let base = columns.get(baseline).filter(|_| place != baseline);
    if let Some((base, then)) = base.and_then(|base| Some((base, base.numbers()?))) {
        let then = then.estimate.metrics.tokens_per_second_per_device;
        // Writing to a string can't fail.
        let _ = write!(text, " ({} against {})", format::relative(rate, then), base.letter);
    }
    let _ = write!(text, "; {}.", memory_state::word(metrics.memory_state()));
    if let Some((base, then)) = base.and_then(|base| Some((base, base.design()?))) {
        let count = differing(numbers.plan.design(), then) as u64;
        let knobs = format::counted(count, "knob", "knobs");
        let _ = write!(text, " Differs from {} in {knobs}.", base.letter);
    }
    element(html, "p", "", &text);
}

/// Says what a design needs that a link doesn't hold.
fn lacks(html: &mut String, lacking: &str) {
    html.push_str("<div class=\"compare-broken\"><p><strong>Its trace is missing.</strong> ");
    escape_into(html, lacking);
    html.push_str("</p></div>");
}

fn broken(html: &mut String, rules: &[Violation]) {
    html.push_str("<div class=\"compare-broken\"><p><strong>This design can't run.</strong></p>");
    html.push_str("<ul>");
    for rule in rules {
        let _ = write!(html, "<li data-rule=\"{}\">", rule.rule);
        escape_into(html, &rule.message);
        html.push_str("</li>");
    }
    html.push_str("</ul></div>");
}

fn unreadable(html: &mut String, errors: &[KnobError]) {
    html.push_str("<div class=\"compare-broken\"><p><strong>Not understood:</strong></p><ul>");
    for error in errors {
        html.push_str("<li>");
        element(html, "strong", "", &error.knob);
        html.push_str(": ");
        escape_into(html, &error.to_string());
        html.push_str("</li>");
    }
    html.push_str("</ul></div>");
}

/// What to know before one believes a difference.
fn notes(html: &mut String, columns: &[Column], chosen: &Chosen) {
    let listed = |letters: Vec<char>| {
        format::list(&letters.into_iter().map(String::from).collect::<Vec<_>>())
    };
    let twins = twins(columns).into_iter();
    let mut notes: Vec<String> =
        twins.map(|letters| format!("{} are the same design.", listed(letters))).collect();
    notes.extend(orders(columns, chosen.baseline));
    let base = columns.get(chosen.baseline);
    if let Some(base) = base.filter(|base| base.numbers().is_none() && columns.len() > 1) {
        notes.push(format!(
            "{} has no numbers, so the others aren't compared with it: make another one the \
             baseline.",
            base.letter
        ));
    }
    let against = base.map_or('A', |base| base.letter);
    let known = hindrances(columns, chosen.baseline).into_iter();
    notes.extend(
        known.map(|(it, letters)| format!("{} against {against}: {}", listed(letters), it.words())),
    );
    if notes.is_empty() {
        return;
    }
    html.push_str(
        "<section class=\"card compare-card\" aria-labelledby=\"notes-title\">\
         <h2 id=\"notes-title\">What to know of this comparison</h2><ul class=\"compare-notes\">",
    );
    for note in &notes {
        element(html, "li", "", note);
    }
    html.push_str("</ul></section>");
}

/// The table with the choice of its rows.
fn numbers(html: &mut String, columns: &[Column], chosen: &Chosen) {
    html.push_str(
        "<section class=\"card compare-card\" id=\"numbers\" aria-labelledby=\"numbers-title\">\
         <div class=\"compare-head\"><h2 id=\"numbers-title\">Metrics and knobs</h2>\
         <nav class=\"ways\" aria-label=\"Rows of the table\">",
    );
    for (all, text) in [(false, "Only what differs"), (true, "Everything")] {
        let address = Chosen { all, ..chosen.clone() }.address();
        let current = if chosen.all == all { " aria-current=\"true\"" } else { "" };
        let attributes =
            format!("class=\"button way\" href=\"{}#numbers\"{current}", escaped(&address));
        element(html, "a", &attributes, text);
    }
    let csv = format!("{CSV_PATH}?{}", chosen.query());
    element(
        html,
        "a",
        &format!("class=\"button way\" download href=\"{}\"", escaped(&csv)),
        "Save as CSV",
    );
    html.push_str("</nav></div>");
    table::html(html, columns, chosen);
    html.push_str("</section>");
}

/// What the words beside a difference mean.
fn reading(html: &mut String) {
    html.push_str(
        "<section class=\"card compare-card\" id=\"errors\" aria-labelledby=\"errors-title\">\
         <h2 id=\"errors-title\">How sure a difference is</h2>\
         <p><strong>Likely</strong>: the probability that the difference has the predicted sign. \
         Designs that are alike (one model, accelerator, framework and state of the software) \
         share most of their error: how far predicted ratios are off is measured on pairs of runs \
         of one source. Others have errors that have nothing to do with each other, which add up \
         as the root of the sum of their squares.</p>\
         <p>Colour marks what is 90 % likely or more. (9 of 10) is the range that holds a value \
         with 90 %.</p>\
         <p>Counts are exact. Where nothing is said of an error, hardly any published run states \
         the number. <a href=\"/trust\">How predictions compare with published runs</a></p>\
         </section>",
    );
}

/// What each metric means.
fn definitions(html: &mut String) {
    html.push_str(
        "<section class=\"card compare-card\"><details><summary><h2 class=\"compare-summary\">\
         What the metrics mean</h2></summary><dl class=\"compare-definitions\">",
    );
    for id in MetricId::ALL {
        let metric = id.metric();
        let _ = write!(html, "<div id=\"metric-{}\">", metric.name);
        element(html, "dt", "", metric.label);
        let way = match metric.better {
            Some(_) if *id == MetricId::fits => "Yes is better.",
            Some(Better::Higher) => "Higher is better.",
            Some(Better::Lower) => "Lower is better.",
            None => "Neither way is better by itself.",
        };
        let unit =
            if metric.unit.is_empty() { String::new() } else { format!(" In {}.", metric.unit) };
        element(html, "dd", "", &format!("{}.{unit} {way}", metric.definition));
        element(html, "dd", "class=\"formula\"", metric.formula);
        html.push_str("</div>");
    }
    html.push_str("</dl></details></section>");
}
