//! What would help: changes of the strategy, alone and together, what each loss of the step is
//! worth, and what makes a design fit that doesn't.

use std::fmt::Write as _;

use model::design::{Design, KnobId};
use model::find::{self as search, Loss};
use model::knob::Value;
use model::verdict::{Change, Place, Verdict};
use model::{make_it_fit, verdict};

use super::Width;
use crate::insight::memory_view::{freed_in_words, moment};
use crate::insight::numbers::Numbers;
use crate::present::format::{self, short_label, spelled};
use crate::present::html::{design_link, element, escaped};
use crate::site::find_address;

/// So many changes that make it fit stand beside the best one; the others are in a list.
const MAX_CHANGES: usize = 3;

/// So many losses of the step are told.
const MAX_LOSSES: usize = 4;

/// The changes as links.
pub(super) fn html(numbers: &Numbers, _: Width) -> String {
    if numbers.estimate.metrics.fits { helpful(numbers) } else { fitting(numbers) }
}

/// What is said at once: searching takes a while.
pub(super) fn first(numbers: &Numbers) -> String {
    let what = if numbers.estimate.metrics.fits { "faster" } else { "fit" };
    let layouts = escaped(&find_address(numbers.plan.design()));
    format!(
        "<div class=\"advice\"><p>Looking for what makes it {what} …</p>\
         <noscript><a href=\"{layouts}\">Find layouts</a></noscript></div>"
    )
}

/// Changes with which a design that fits is faster, one to three of them together; then the losses
/// of its step, what each is worth, and what moves it.
fn helpful(numbers: &Numbers) -> String {
    let advice = search::advice(&numbers.plan, &numbers.estimate);
    let design = numbers.plan.design();
    let lead = if advice.changes.is_empty() {
        "No change of the strategy makes it faster, nor do up to three together"
    } else {
        "Would help (MFU, peak memory)"
    };
    let mut html = format!("<div class=\"advice\"><p>{lead}</p><div class=\"ways\">");
    for change in &advice.changes {
        let words = told(&change.knobs(design));
        let points = format::signed((change.metrics.mfu - numbers.estimate.metrics.mfu) * 100.0, 1);
        let effect = format!("{points} pt, {}", format::memory(change.metrics.memory_peak));
        way(&mut html, &change.design, &words, &words, &effect);
    }
    let layouts = escaped(&find_address(design));
    let _ = write!(html, "<a class=\"button\" href=\"{layouts}\">Find layouts</a></div>");
    losses(&mut html, numbers, &advice.losses);
    html.push_str("</div>");
    html
}

/// The largest losses in a line each.
fn losses(html: &mut String, numbers: &Numbers, losses: &[Loss]) {
    if losses.is_empty() {
        return;
    }
    html.push_str("<ul class=\"losses\">");
    for loss in losses.iter().take(MAX_LOSSES) {
        let _ = write!(
            html,
            "<li><b>{}</b> <span>{} % of the step: worth up to {} pt</span>",
            loss.part.label(),
            format::decimals(loss.share * 100.0, 1),
            format::decimals(loss.worth * 100.0, 1),
        );
        if !loss.movers.is_empty() {
            html.push_str(" <span>moved by</span>");
        }
        for mover in &loss.movers {
            let words = told(&mover.knobs(numbers.plan.design()));
            let gain = (mover.metrics.mfu - numbers.estimate.metrics.mfu) * 100.0;
            html.push(' ');
            design_link(html, &mover.design, &words);
            let (words, points) = (escaped(&words), format::signed(gain, 1));
            let _ = write!(html, ">{words} <span class=\"muted\">{points} pt</span></a>");
        }
        html.push_str("</li>");
    }
    html.push_str("</ul>");
}

/// Changed knobs in words, without those that only move along: SP with TP, the layout with its
/// stages, the granularity with its modules.
fn told(values: &[(KnobId, Value)]) -> String {
    let has = |knob| values.iter().any(|(other, _)| *other == knob);
    let stages = has(KnobId::pipeline_model_parallel_size)
        || has(KnobId::virtual_pipeline_model_parallel_size)
        || has(KnobId::method);
    let layout = has(KnobId::pipeline_model_parallel_layout);
    let along = [
        (KnobId::sequence_parallel, has(KnobId::tensor_model_parallel_size)),
        (KnobId::noop_layers, stages || layout),
        (KnobId::pipeline_model_parallel_layout, stages),
        (KnobId::recompute_granularity, has(KnobId::recompute_modules)),
        (KnobId::recompute_method, has(KnobId::recompute_num_layers)),
    ];
    let is_told = |knob: KnobId| !along.contains(&(knob, true));
    let words: Vec<String> = values
        .iter()
        .filter(|(knob, _)| is_told(*knob))
        .map(|(knob, value)| {
            if *knob == KnobId::pipeline_model_parallel_layout {
                String::from("balanced layout")
            } else {
                format!("{} → {}", short_label(*knob), spelled(value))
            }
        })
        .collect();
    words.join(", ")
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
    let layouts = escaped(&find_address(numbers.plan.design()));
    let _ =
        write!(html, "<a class=\"button primary\" href=\"{layouts}\">Find layouts that fit</a>");
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
    for change in fits.iter().take(MAX_CHANGES) {
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
    every_knob(&mut html, design, &verdict, fits.get(MAX_CHANGES..).unwrap_or_default(), &short);
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

#[cfg(test)]
mod tests {
    use model::design::Design;
    use model::{Plan, link};

    use super::*;

    /// The designs behind the links of a text.
    fn linked(html: &str) -> Vec<Design> {
        let links = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let queries = links.filter_map(|link| link.strip_prefix("/?"));
        queries.map(|query| link::decode(&query.replace("&amp;", "&")).expect("a link")).collect()
    }

    #[test]
    fn every_change_leads_to_a_faster_design_that_fits_and_every_loss_says_its_worth() {
        let design = Design::from_preset("deepseek-v3").expect("a preset");
        let numbers = Numbers::of(&design).expect("a legal design");
        let html = helpful(&numbers);
        let (ways, losses) = html.split_once("<ul class=\"losses\">").expect("losses");
        assert_eq!(linked(ways).len(), 3, "alone, two and three together: {ways}");
        assert!(losses.contains("of the step: worth up to"), "{losses}");
        let all = linked(&html);
        assert!(all.len() > 4, "{html}");
        for design in all {
            let metrics = model::estimate(&Plan::new(&design).expect("legal")).metrics;
            assert!(metrics.fits && metrics.mfu > numbers.estimate.metrics.mfu);
        }
    }

    #[test]
    fn what_moves_along_is_not_told_apart() {
        let value = |number| Value::Integer(number);
        let values = [
            (KnobId::tensor_model_parallel_size, value(4)),
            (KnobId::sequence_parallel, Value::Flag(true)),
        ];
        assert_eq!(told(&values), "TP → 4");
        let values = [(KnobId::pipeline_model_parallel_layout, Value::Text("Et|tL".into()))];
        assert_eq!(told(&values), "balanced layout");
    }
}
