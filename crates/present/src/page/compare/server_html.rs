//! Content of the page, as HTML that only the server writes.

use std::fmt::Write as _;

use maud::{Markup, html};
use model::catalogue::preset::PresetKind;
use model::design::Design;
use model::design::violation::Violation;
use model::ground::knob::KnobError;
use model::metric::{Better, MetricId, Regime, Unit};

use super::numbers::{Column, State, columns, differing, hindrances, orders, twins};
use super::{CSV_PATH, figures, serving, start, table};
use crate::draw::text::sentence;
use crate::format;
use crate::insight::{memory_state, recorded};
use crate::site::Page;
use crate::site::chosen::Chosen;

/// The whole content.
pub fn html(raw: &str) -> String {
    let (chosen, wrong) = Chosen::read(raw);
    let columns = columns(&chosen);
    let markup = html! {
        @if !wrong.is_empty() { (problems(&wrong)) }
        @if columns.is_empty() {
            (start::empty())
        } @else {
            section.compare-designs aria-label="Designs" {
                @for place in 0..columns.len() { (card(&columns, &chosen, place)) }
            }
            (start::add(&chosen))
            (notes(&columns, &chosen))
            (numbers(&columns, &chosen))
            (figures::html(&columns))
            (reading())
            (definitions())
        }
    };
    markup.into_string()
}

/// The value of `translate` that keeps a name which somebody gave as it is in every language.
pub(super) fn own(chosen: &Chosen, place: usize) -> Option<&'static str> {
    let is_named = chosen.designs.get(place).is_some_and(|choice| !choice.name.is_empty());
    is_named.then_some("no")
}

/// A design's letter, in the colour that it has in charts.
pub(super) fn letter_mark(letter: char) -> Markup {
    html! {
        span class={ "compare-letter compare-" (letter.to_ascii_lowercase()) } { (letter) } " "
    }
}

/// Box that lists the parts of the address that aren't understood.
fn problems(wrong: &[String]) -> Markup {
    html! {
        div.verdict.broken role="region" aria-label="What isn't understood" {
            p { strong { "A part of this link isn't understood." } }
            ul { @for sentence in wrong { li { (sentence) } } }
        }
    }
}

/// A card of a design, with what can be done with it.
fn card(columns: &[Column], chosen: &Chosen, place: usize) -> Markup {
    let column = &columns[place];
    let (letter, is_baseline) = (column.letter, place == chosen.baseline);
    let heading = format!("design-{letter}");
    html! {
        article.card.compare-design aria-labelledby=(heading) {
            h2 id=(heading) {
                (letter_mark(letter))
                span translate=[own(chosen, place)] { (column.name) }
                @if is_baseline && columns.len() > 1 { " " span.own-mark { "Baseline" } }
            }
            @if !column.changes.is_empty() { p.muted { (sentence(&column.changes)) } }
            @match &column.state {
                State::Legal(_) => (headline(columns, chosen.baseline, place)),
                State::Broken(design, rules) => @match serving::headline(design) {
                    Some(headline) => p { (headline) },
                    None => (broken(recorded::lacking(design), rules)),
                },
                State::Unreadable(errors) => (unreadable(errors)),
            }
            p.ways {
                @let page = opened_in(column);
                @let label = format!("Open {letter} in {}", page.1);
                (way(&format!("{}?{}", page.0.path(), column.link), "Open", &label))
                @if !is_baseline {
                    @let address = chosen.against(place).address();
                    (way(&address, "Make baseline", &format!("Make baseline: {letter}")))
                }
                @if let Some(before) = place.checked_sub(1) {
                    @let text = if columns.len() == 2 { "Swap" } else { "← Move" };
                    @let label = format!("{text}: {letter} before {}", columns[before].letter);
                    (way(&chosen.moved_left(place).address(), text, &label))
                }
                (way(&chosen.without(place).address(), "Remove", &format!("Remove {letter}")))
            }
        }
    }
}

/// The page that a design is opened in, with its name in a sentence.
fn opened_in(column: &Column) -> (Page, &'static str) {
    let is_served = |design: &Design| design.preset.kind == PresetKind::Serving;
    match column.design().is_some_and(is_served) {
        true => (Page::Serving, "serving"),
        false => (Page::Explorer, "the explorer"),
    }
}

fn way(address: &str, text: &str, label: &str) -> Markup {
    html! { a.button.way href=(address) aria-label=(label) { (text) } }
}

/// The headline of a design, and how it differs from the baseline.
fn headline(columns: &[Column], baseline: usize, place: usize) -> Markup {
    let Some(numbers) = columns[place].numbers() else { return Markup::default() };
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
    html! { p { (text) } }
}

/// Says what a design needs that a link doesn't hold, or which rules it breaks.
fn broken(lacking: Option<String>, rules: &[Violation]) -> Markup {
    html! {
        div.compare-broken {
            @if let Some(lacking) = lacking {
                p { strong { "Its trace is missing." } " " (lacking) }
            } @else {
                p { strong { "This design can't run." } }
                ul { @for rule in rules { li data-rule=(rule.rule) { (rule.message) } } }
            }
        }
    }
}

fn unreadable(errors: &[KnobError]) -> Markup {
    html! {
        div.compare-broken {
            p { strong { "Not understood:" } }
            ul { @for error in errors { li { strong { (error.knob) } ": " (error) } } }
        }
    }
}

/// Caveats to read before one believes a difference.
fn notes(columns: &[Column], chosen: &Chosen) -> Markup {
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
    html! {
        @if !notes.is_empty() {
            section.card.compare-card aria-labelledby="notes-title" {
                h2 #notes-title { "Caveats" }
                ul.compare-notes { @for note in &notes { li { (note) } } }
            }
        }
    }
}

/// The table with the choice of its rows.
fn numbers(columns: &[Column], chosen: &Chosen) -> Markup {
    html! {
        section.card.compare-card #numbers aria-labelledby="numbers-title" {
            div.compare-head {
                h2 #numbers-title { "Metrics and knobs" }
                nav.ways aria-label="Rows of the table" {
                    @for (all, text) in [(false, "Only what differs"), (true, "Everything")] {
                        @let address = Chosen { all, ..chosen.clone() }.address();
                        a.button.way href={ (address) "#numbers" }
                            aria-current=[(chosen.all == all).then_some("true")] { (text) }
                    }
                    a.button.way download href={ (CSV_PATH) "?" (chosen.query()) } { "Save as CSV" }
                }
            }
            (table::html(columns, chosen))
        }
    }
}

/// Legend of the words beside a difference.
fn reading() -> Markup {
    html! {
        section.card.compare-card #errors aria-labelledby="errors-title" {
            h2 #errors-title { "How sure a difference is" }
            p {
                strong { "Likely" }
                ": the probability that the difference has the predicted sign. Designs that are "
                "alike (one model, accelerator, framework and state of the software) share most of "
                "their error: how far predicted ratios are off is measured on pairs of runs of one "
                "source. Others have errors that have nothing to do with each other, which add up "
                "as the root of the sum of their squares."
            }
            p {
                "Colour marks what is 90 % likely or more. (9 of 10) is the range that holds a "
                "value with 90 %."
            }
            p {
                "Counts are exact. Without an error: too few published runs report the number. "
                a href="/trust" { "How predictions compare with published runs" }
            }
        }
    }
}

/// Definitions of the metrics.
fn definitions() -> Markup {
    let metrics = MetricId::of(Regime::Training).map(|id| {
        let metric = id.metric();
        let way = match metric.better {
            Some(_) if metric.unit == Unit::Verdict => "Yes is better.",
            Some(Better::Higher) => "Higher is better.",
            Some(Better::Lower) => "Lower is better.",
            None => "Neither way is better by itself.",
        };
        html! {
            div id={ "metric-" (metric.name) } {
                dt { (metric.label) }
                dd {
                    (id.words().definition) "."
                    @let unit = metric.unit.name();
                    @if !unit.is_empty() { " In " (unit) "." }
                    " " (way)
                }
                dd.formula { (id.words().formula) }
            }
        }
    });
    html! {
        section.card.compare-card {
            details {
                summary { h2.compare-summary { "What the metrics mean" } }
                dl.compare-definitions { @for metric in metrics { (metric) } }
            }
        }
    }
}
