//! What would help: single changes of the strategy, and what makes a design fit that doesn't.

use std::fmt::Write as _;

use model::design::{Design, KnobId};
use model::knob::Value;
use model::verdict::{Change, Place, Verdict};
use model::{make_it_fit, verdict};

use super::Width;
use crate::advice::{Advice, advice};
use crate::format::{self, short_label, spelled};
use crate::html::{design_link, element, escaped};
use crate::memory_view::{freed_in_words, moment};
use crate::numbers::Numbers;

/// So many changes that make it fit stand beside the best one; the others are in a list.
const MOST: usize = 3;

/// The changes as links.
pub(super) fn html(numbers: &Numbers, _: Width) -> String {
    if numbers.estimate.metrics.fits { helpful(numbers) } else { fitting(numbers) }
}

/// What is said at once: searching for what makes a design fit takes a while.
pub(super) fn first(numbers: &Numbers) -> String {
    if numbers.estimate.metrics.fits {
        return helpful(numbers);
    }
    String::from("<div class=\"advice\"><p>Looking for what makes it fit …</p></div>")
}

/// Single changes with which a design that fits is faster.
fn helpful(numbers: &Numbers) -> String {
    let found = advice(&numbers.plan, &numbers.estimate);
    let lead = if found.is_empty() {
        "No single change of the strategy makes it faster"
    } else {
        "Would help (throughput, peak memory)"
    };
    let mut html = format!("<div class=\"advice\"><p>{lead}</p><div class=\"ways\">");
    for advice in &found {
        advised(&mut html, numbers, advice);
    }
    html.push_str("</div></div>");
    html
}

fn advised(html: &mut String, numbers: &Numbers, advice: &Advice) {
    let (knob, value) = (advice.change.knob, &advice.change.value);
    let Some(design) = changed(numbers.plan.design(), &[(knob, value.clone())]) else { return };
    way(html, &design, &said(&[(knob, value.clone())]), short_label(knob), &advice.effect());
}

/// The design with other values of knobs.
fn changed(design: &Design, values: &[(KnobId, Value)]) -> Option<Design> {
    let mut design = design.clone();
    values.iter().try_for_each(|(knob, value)| design.set(*knob, value)).ok()?;
    Some(design)
}

/// Values of knobs in words: `PP → 32, SP → on`.
fn said(values: &[(KnobId, Value)]) -> String {
    let words: Vec<String> = values
        .iter()
        .map(|(knob, value)| format!("{} → {}", short_label(*knob), spelled(value)))
        .collect();
    words.join(", ")
}

/// A link to a design, with what it brings.
fn way(html: &mut String, design: &Design, words: &str, step: &str, effect: &str) {
    design_link(html, design, step);
    let _ = write!(
        html,
        " class=\"button way\">{} <span class=\"muted\">{}</span></a>",
        escaped(words),
        escaped(effect)
    );
}

/// Why a design doesn't fit, and what makes it fit.
fn fitting(numbers: &Numbers) -> String {
    let verdict = verdict(&numbers.plan, &numbers.estimate);
    let mut html = String::from("<div class=\"fitting\">");
    element(&mut html, "p", "", &excess(&verdict));
    html.push_str("<div class=\"ways\">");
    let found = make_it_fit(&numbers.plan);
    let tried = format::counted(found.tried as u64, "set", "sets");
    if let Some(best) = &found.best {
        let metrics = &best.estimate.metrics;
        let words = format!("Make it fit: {}", freed_in_words(&best.design));
        let effect = effect(metrics.mfu, &verdict, metrics.memory_peak);
        let effect = format!("{effect}; the fastest of {tried}");
        design_link(&mut html, &best.design, "making it fit");
        let (words, effect) = (escaped(&words), escaped(&effect));
        let _ = write!(
            html,
            " class=\"button way best\">{words} <span class=\"muted\">{effect}</span></a>"
        );
    }
    let design = numbers.plan.design();
    let (fits, short): (Vec<&Change>, Vec<&Change>) =
        verdict.changes.iter().partition(|change| change.fits);
    for change in fits.iter().take(MOST) {
        changing(&mut html, design, &verdict, change);
    }
    html.push_str("</div>");
    if found.best.is_none() {
        let words = format!("None of {tried} of recomputation and swapping fits.");
        element(&mut html, "p", "", &words);
    }
    if fits.is_empty() {
        element(&mut html, "p", "", "No single knob makes it fit.");
    }
    every_knob(&mut html, design, &verdict, fits.get(MOST..).unwrap_or_default(), &short);
    html.push_str("</div>");
    html
}

/// The binding stage, how far it is over, at which moment, and what fills it most.
fn excess(verdict: &Verdict) -> String {
    let of = match verdict.place {
        Place::Device => "",
        Place::Host => " of host memory",
    };
    let mut text = format!(
        "Stage {} needs {}{of}, {} over the limit",
        verdict.stage,
        format::memory(verdict.peak),
        format::memory(verdict.over()),
    );
    if let Some(task) = verdict.fullest {
        let _ = write!(text, ", {}", moment(task));
    }
    let largest = verdict.contents.iter().take(3);
    let parts: Vec<String> = largest
        .map(|part| format!("{} {}", part.content.label(), format::memory(part.bytes)))
        .collect();
    let _ = write!(text, ". Most of it: {}.", format::list(&parts));
    text
}

fn effect(mfu: f64, verdict: &Verdict, peak: model::units::Bytes) -> String {
    let points = format::signed((mfu - verdict.mfu) * 100.0, 1);
    format!("MFU {points} pt, {}", format::memory(peak))
}

fn changing(html: &mut String, design: &Design, verdict: &Verdict, change: &Change) {
    let mut values = vec![(change.knob, change.value.clone())];
    values.extend(change.with.iter().cloned());
    let Some(design) = changed(design, &values) else { return };
    let effect = effect(change.mfu, verdict, change.memory_peak);
    way(html, &design, &said(&values), short_label(change.knob), &effect);
}

/// The other knobs that make it fit, and those that can't alone.
fn every_knob(
    html: &mut String,
    design: &Design,
    verdict: &Verdict,
    more: &[&Change],
    short: &[&Change],
) {
    if more.is_empty() && short.is_empty() {
        return;
    }
    html.push_str("<details><summary>Every knob, one at a time</summary>");
    for (lead, changes) in [("These make it fit, too", more), ("Not enough alone", short)] {
        if changes.is_empty() {
            continue;
        }
        let _ = write!(html, "<p class=\"muted\">{lead}</p><div class=\"ways\">");
        for change in changes {
            changing(html, design, verdict, change);
        }
        html.push_str("</div>");
    }
    html.push_str("</details>");
}
