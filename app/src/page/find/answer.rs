//! What a search has found, as HTML: the same text in the browser and on the server.

use std::fmt::Write as _;

use model::design::{Design, KnobId};
use model::estimate::Metrics;
use model::find::{Answer, Goal, Miss, Query, RuledOut, Target};
use model::metric::MetricId;
use model::violation::Violation;

use super::cards::{AtHand, card, others};
use super::request::{address, encode, with_devices};
use crate::insight::found::label;
use crate::insight::memory_state;
use crate::present::format::{self, counted, percent, short_label, spelled, whole};
use crate::present::html::{design_link, element, escape_into, escaped};
use crate::present::name;
use crate::site::Page;
use crate::site::chosen::{Choice, Chosen, MAX_DESIGNS};

/// What is found of a question so far, or at its end.
#[must_use]
pub fn html(query: &Query, answer: &Answer, is_done: bool) -> String {
    let mut html = String::new();
    match (answer.designs.is_empty(), &answer.miss) {
        (false, _) => found(&mut html, query, answer, is_done),
        (true, Some(miss)) => missed(&mut html, query, miss),
        (true, None) if is_done => {
            element(&mut html, "h2", "", "Nothing is found");
            element(&mut html, "p", "", "No layout of this model is legal on this machine.");
        }
        (true, None) => return html,
    }
    if is_done {
        for_more(&mut html, answer);
        ruled_out(&mut html, &answer.ruled_out);
        onwards(&mut html, query, answer);
    }
    html
}

fn found(html: &mut String, query: &Query, answer: &Answer, is_done: bool) {
    let (named, rest): (Vec<_>, Vec<_>) =
        answer.designs.iter().partition(|found| found.label.is_some());
    match answer.size.filter(|_| is_done) {
        Some((knob, size)) => element(html, "h2", "", &sized(knob, size)),
        None if is_done => element(html, "h2", "", "Layouts that fit"),
        None => element(html, "h2", "", "Found so far"),
    }
    at_hand(html, answer.at_hand.as_ref());
    let at_hand = AtHand { query, is_legal: answer.at_hand.is_some() };
    html.push_str("<div class=\"find-cards\">");
    named.iter().for_each(|found| card(html, found, &at_hand));
    html.push_str("</div>");
    if is_done && named.len() > 1 {
        let mut designs = Vec::new();
        if at_hand.is_legal {
            designs.push(choice(&query.design, "At hand"));
        }
        designs.extend(
            named.iter().map(|found| choice(&found.design, label(found.label.unwrap_or_default()))),
        );
        designs.truncate(MAX_DESIGNS);
        let chosen = Chosen { designs, ..Chosen::default() };
        let attributes = format!("class=\"button\" href=\"{}\"", escaped(&chosen.address()));
        html.push_str("<p>");
        element(html, "a", &attributes, "Compare all of these");
        html.push_str("</p>");
    }
    others(html, &rest);
}

fn choice(design: &Design, name: &str) -> Choice {
    Choice { link: model::link::encode(design), name: name.to_owned() }
}

/// The size that was asked for, with what it is a size of.
fn sized(knob: KnobId, size: u64) -> String {
    if knob == KnobId::num_devices {
        format!("The fewest devices: {}", whole(size))
    } else if knob == KnobId::global_batch_size {
        format!("The largest batch: {}", counted(size, "sequence", "sequences"))
    } else {
        format!("The longest sequence: {}", counted(size, "token", "tokens"))
    }
}

/// What all is compared with.
fn at_hand(html: &mut String, metrics: Option<&Metrics>) {
    let Some(metrics) = metrics else {
        let text = "The design at hand breaks a rule on this machine, so that it has no numbers.";
        return element(html, "p", "class=\"muted\"", text);
    };
    let value = |metric| format::metric(metric, metrics.get(metric)).to_string();
    html.push_str("<p class=\"muted find-at-hand\">");
    element(html, "span", "", "The design at hand:");
    let text = format!(
        " MFU {}, {}, {}, ",
        value(MetricId::mfu),
        value(MetricId::tokens_per_second_per_device),
        memory_state::of_limit(metrics.memory_peak, metrics.memory_limit),
    );
    escape_into(html, &text);
    let class = memory_state::class(metrics.memory_state());
    let word = memory_state::word(metrics.memory_state());
    element(html, "span", &format!("class=\"{class}\""), word);
    html.push_str("</p>");
}

/// Where nothing fits: what comes nearest, and where to go on.
fn missed(html: &mut String, query: &Query, miss: &Miss) {
    element(html, "h2", "", "No layout fits");
    html.push_str("<section class=\"card find-miss\" aria-labelledby=\"find-miss\">");
    element(html, "h3", "id=\"find-miss\"", "The nearest miss");
    element(html, "p", "class=\"find-layout\"", &name::title(&miss.design));
    html.push_str("<ul>");
    miss.misses.iter().for_each(|line| element(html, "li", "", line));
    html.push_str("</ul><p class=\"find-ways\">");
    if let Some(devices) = miss.fewest_devices {
        let more = with_devices(query, devices);
        let attributes = format!("class=\"button primary\" href=\"{}\"", escaped(&address(&more)));
        let text = format!("Find layouts on {}", counted(devices, "device", "devices"));
        element(html, "a", &attributes, &text);
    }
    design_link(html, &miss.design, "the nearest miss");
    html.push_str(" class=\"button\">");
    element(html, "span", "", "Open in the explorer");
    html.push_str("</a></p>");
    let words = match miss.fewest_devices {
        _ if !miss.tried_devices => String::new(),
        Some(devices) => format!(
            "{} of this kind are the fewest on which some layout does.",
            counted(devices, "device", "devices"),
        ),
        None => "No number of devices that was looked at lets a layout do.".to_owned(),
    };
    if !words.is_empty() {
        element(html, "p", "class=\"muted\"", &words);
    }
    html.push_str("</section>");
}

/// What it would take to be faster.
fn for_more(html: &mut String, answer: &Answer) {
    if answer.for_more.is_empty() {
        return;
    }
    html.push_str("<section class=\"card find-part\" aria-labelledby=\"find-more\">");
    element(html, "h3", "id=\"find-more\"", "What it would take to be faster");
    html.push_str("<ul>");
    answer.for_more.iter().for_each(|line| element(html, "li", "", line));
    html.push_str("</ul></section>");
}

/// What was ruled out and why.
fn ruled_out(html: &mut String, all: &[RuledOut]) {
    if all.is_empty() {
        return;
    }
    html.push_str("<details class=\"card find-part\"><summary>What was ruled out</summary>");
    html.push_str("<table><caption class=\"visually-hidden\">What was ruled out</caption>");
    html.push_str(
        "<thead><tr><th scope=\"col\">Reason</th><th scope=\"col\">Combinations</th></tr></thead>\
         <tbody>",
    );
    for RuledOut { reason, designs } in all {
        html.push_str("<tr>");
        element(html, "th", "scope=\"row\"", &why_out(reason));
        element(html, "td", "", &whole(*designs));
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></details>");
}

/// Why designs were ruled out, for people: three reasons of the search's own, and rules.
fn why_out(reason: &str) -> String {
    match reason {
        "memory" => "Can't fit, whatever is recomputed or swapped".to_owned(),
        "slower_than_found" => "Can't be as fast as what is found".to_owned(),
        "less_promising" => "Not looked at closer, as others promise more".to_owned(),
        rule => format::reason(rule),
    }
}

/// How much was looked at, and the same space as a sweep.
fn onwards(html: &mut String, query: &Query, answer: &Answer) {
    html.push_str("<section class=\"find-onwards\" aria-label=\"How it was searched\">");
    let text = format!(
        "{} of degrees, micro-batch, chunks and schedule; {} by closed forms, {} by simulation. \
         Every number of a card is simulated.",
        counted(answer.space, "combination", "combinations"),
        counted(answer.evaluated, "estimate", "estimates"),
        counted(answer.simulated, "estimate", "estimates"),
    );
    element(html, "p", "class=\"muted\"", &text);
    let attributes = format!("class=\"button\" href=\"{}\"", escaped(&sweep_address(query)));
    html.push_str("<p class=\"find-ways\">");
    element(html, "a", &attributes, "Open as a sweep");
    html.push_str("</p></section>");
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
    let mut html = String::new();
    element(&mut html, "h2", "", "No layout can mend this");
    html.push_str("<ul class=\"card find-refused\">");
    for violation in violations {
        html.push_str("<li>");
        element(&mut html, "span", "", &violation.message);
        for nearest in &violation.nearest {
            let mut mended = query.clone();
            if mended.design.set(nearest.knob, &nearest.value).is_err() {
                continue;
            }
            let words = format!("Set {} to {}", short_label(nearest.knob), spelled(&nearest.value));
            let link = escaped(&address(&mended));
            // Writing to a string can't fail.
            let _ =
                write!(html, " <a class=\"button way\" href=\"{link}\">{}</a>", escaped(&words));
        }
        html.push_str("</li>");
    }
    html.push_str("</ul>");
    html
}

/// A target as people read it: `MFU at least 40 %`.
#[must_use]
pub fn target_text(target: &Target) -> String {
    let value = |metric: MetricId, number: f64| {
        format::metric(metric, model::metric::MetricValue::Number(number)).to_string()
    };
    match *target {
        Target::AtLeast(metric, least) => {
            format!("{} at least {}", metric.metric().label, value(metric, least))
        }
        Target::AtMost(metric, most) => {
            format!("{} at most {}", metric.metric().label, value(metric, most))
        }
        Target::Spare(share) => format!("Memory to spare at least {}", percent(share, 1)),
        Target::Devices(most) => format!("Devices at most {}", whole(most)),
    }
}
