//! What a search has found, as HTML: the same text in the browser and on the server.

use maud::{Markup, html};
use model::design::violation::{Nearest, Violation};
use model::design::{Design, KnobId};
use model::metric::MetricId;
use model::run::budget::RunTarget;
use model::search::find::{Answer, Goal, Miss, Query, Recommendation, RuledOut, Target};
use model::training::estimate::Metrics;
use reports::found::label;

use super::cards::{AtHand, card, others};
use super::request::{address, encode, with_devices};
use crate::format::{self, counted, percent, short_label, whole};
use crate::html::design_address;
use crate::insight::memory_state;
use crate::site::Page;
use crate::site::chosen::{Choice, Chosen, MAX_DESIGNS};
use crate::words::name::{self, spelled};

/// HTML of the answer to a query so far, or at its end.
#[must_use]
pub fn html(query: &Query, answer: &Answer, is_done: bool) -> String {
    let main = match (answer.designs.is_empty(), &answer.miss) {
        (false, _) => found(query, answer, is_done),
        (true, Some(miss)) => missed(query, miss),
        (true, None) if is_done => html! {
            h2 { "Nothing found" }
            p { "No layout of this model is legal on this machine." }
        },
        (true, None) => return String::new(),
    };
    let markup = html! {
        (main)
        @if is_done {
            @if !answer.for_more.is_empty() { (for_more(answer)) }
            @if !answer.ruled_out.is_empty() { (ruled_out(&answer.ruled_out)) }
            (onwards(query, answer))
        }
    };
    markup.into_string()
}

fn found(query: &Query, answer: &Answer, is_done: bool) -> Markup {
    let (named, rest): (Vec<_>, Vec<_>) =
        answer.designs.iter().partition(|found| found.label.is_some());
    let heading = match answer.size.filter(|_| is_done) {
        Some((knob, size)) => sized(knob, size),
        None if is_done => "Layouts that fit".to_owned(),
        None => "Found so far".to_owned(),
    };
    let is_legal = answer.at_hand.is_some();
    let own = is_legal.then(|| choice(&query.design, "Current"));
    let found = |it: &&Recommendation| choice(&it.design, label(it.label.unwrap_or_default()));
    let designs = own.into_iter().chain(named.iter().map(found)).take(MAX_DESIGNS).collect();
    let chosen = Chosen { designs, ..Chosen::default() };
    html! {
        h2 { (heading) }
        (at_hand(answer.at_hand.as_ref()))
        div.find-cards { @for it in &named { (card(it, &AtHand { query, is_legal })) } }
        @if is_done && named.len() > 1 {
            p { a.button href=(chosen.address()) { "Compare all of these" } }
        }
        @if !rest.is_empty() { (others(&rest)) }
    }
}

fn choice(design: &Design, name: &str) -> Choice {
    Choice { link: model::design::link::encode(design), name: name.to_owned() }
}

/// Text of the size that was requested, with what it is a size of.
fn sized(knob: KnobId, size: u64) -> String {
    if knob == KnobId::num_devices {
        format!("The fewest devices: {}", whole(size))
    } else if knob == KnobId::global_batch_size {
        format!("The largest batch: {}", counted(size, "sequence", "sequences"))
    } else {
        format!("The longest sequence: {}", counted(size, "token", "tokens"))
    }
}

/// Paragraph on the current design, with which all others are compared.
fn at_hand(metrics: Option<&Metrics>) -> Markup {
    let Some(metrics) = metrics else {
        let text = "The current design breaks a rule on this machine, so that it has no numbers.";
        return html! { p.muted { (text) } };
    };
    let value = |metric| format::metric(metric, metrics.get(metric));
    let state = metrics.memory_state();
    html! {
        p.muted.find-at-hand {
            span { "The current design:" }
            " MFU " (value(MetricId::mfu)) ", " (value(MetricId::tokens_per_second_per_device)) ", "
            (memory_state::of_limit(metrics.memory_peak, metrics.memory_limit)) ", "
            span class=(memory_state::class(state)) { (memory_state::word(state)) }
        }
    }
}

/// Section for an empty result: the nearest miss, and where to go on.
fn missed(query: &Query, miss: &Miss) -> Markup {
    let devices = miss.fewest_devices.map(|count| counted(count, "device", "devices"));
    html! {
        h2 { "No layout fits" }
        section.card.find-miss aria-labelledby="find-miss" {
            h3 #find-miss { "The nearest miss" }
            p.find-layout { (name::title(&miss.design)) }
            ul { @for line in &miss.misses { li { (line) } } }
            p.find-ways {
                @if let (Some(count), Some(words)) = (miss.fewest_devices, &devices) {
                    a.button.primary href=(address(&with_devices(query, count))) {
                        "Find layouts on " (words)
                    }
                }
                a href=(design_address(&miss.design)) data-step="the nearest miss" class="button" {
                    span { "Open in the explorer" }
                }
            }
            @if miss.tried_devices {
                p.muted {
                    @match devices {
                        Some(words) => {
                            (words) " of this kind are the fewest on which some layout does."
                        }
                        None => "No device count that was tried is enough.",
                    }
                }
            }
        }
    }
}

/// Section of the changes that would make it faster.
fn for_more(answer: &Answer) -> Markup {
    html! {
        section.card.find-part aria-labelledby="find-more" {
            h3 #find-more { "What would make it faster" }
            ul { @for line in &answer.for_more { li { (line) } } }
        }
    }
}

/// Table of the combinations ruled out, by reason.
fn ruled_out(all: &[RuledOut]) -> Markup {
    html! {
        details.card.find-part {
            summary { "What was ruled out" }
            table {
                caption.visually-hidden { "What was ruled out" }
                thead { tr { th scope="col" { "Reason" } th scope="col" { "Combinations" } } }
                tbody {
                    @for RuledOut { reason, designs } in all {
                        tr { th scope="row" { (why_out(reason)) } td { (whole(*designs)) } }
                    }
                }
            }
        }
    }
}

/// Text of the reason that ruled designs out: three reasons of the search's own, and rules.
fn why_out(reason: &str) -> String {
    match reason {
        "memory" => "Can't fit even with full recomputation and swapping".to_owned(),
        "slower_than_found" => "Can't beat the best found".to_owned(),
        "less_promising" => "Not evaluated further: others are more promising".to_owned(),
        rule => format::reason(rule),
    }
}

/// Summary of the search effort, with a link to the same space as a sweep.
fn onwards(query: &Query, answer: &Answer) -> Markup {
    html! {
        section.find-onwards aria-label="How it was searched" {
            p.muted {
                (counted(answer.space, "combination", "combinations"))
                " of degrees, micro-batch, chunks and schedule; "
                (counted(answer.evaluated, "estimate", "estimates")) " by closed forms, "
                (counted(answer.simulated, "estimate", "estimates"))
                " by simulation. Every number of a card is simulated."
            }
            p.find-ways { a.button href=(sweep_address(query)) { "Open as a sweep" } }
        }
    }
}

/// The sweep over the space of a search: its address says that it is one.
fn sweep_address(query: &Query) -> String {
    let mut address = format!("{}?{}", Page::Sweep.path(), encode(query));
    if query.goal == Goal::default() {
        address.push_str("&find.goal=");
        address.push_str(query.goal.name());
    }
    address
}

/// Rules that no layout can mend, each with the designs that break it no more.
#[must_use]
pub fn refused(query: &Query, violations: &[Violation]) -> String {
    let mended = |nearest: &Nearest| {
        let mut mended = query.clone();
        mended.design.set(nearest.knob, &nearest.value).ok()?;
        Some(address(&mended))
    };
    let markup = html! {
        h2 { "No layout can fix this" }
        ul.card.find-refused {
            @for violation in violations {
                li {
                    span { (violation.message) }
                    @for nearest in &violation.nearest {
                        @if let Some(address) = mended(nearest) {
                            " "
                            a.button.way href=(address) {
                                "Set " (short_label(nearest.knob)) " to " (spelled(&nearest.value))
                            }
                        }
                    }
                }
            }
        }
    };
    markup.into_string()
}

/// A target as people read it: `MFU at least 40 %`.
#[must_use]
pub fn target_text(target: &Target) -> String {
    let value = |metric: MetricId, number: f64| format::measured(metric, number).to_string();
    match *target {
        Target::AtLeast(metric, least) => {
            format!("{} at least {}", metric.metric().label, value(metric, least))
        }
        Target::AtMost(metric, most) => {
            format!("{} at most {}", metric.metric().label, value(metric, most))
        }
        Target::Spare(share) => format!("Memory to spare at least {}", percent(share, 1)),
        Target::Devices(most) => format!("Devices at most {}", whole(most)),
        Target::Run(RunTarget { metric, is_most, limit }) => {
            let way = if is_most { "most" } else { "least" };
            format!("{} at {way} {}", metric.metric().label, value(metric, limit))
        }
    }
}
