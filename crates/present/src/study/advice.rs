//! What would help: changes of the strategy, alone and together, what each loss of the step is
//! worth, and what makes a design fit that doesn't.

mod outside;

use std::fmt::Write as _;

use maud::{Markup, html};
use model::design::{Design, KnobId};
use model::ground::knob::Value;
use model::ground::sorting::sort_short;
use model::search::find::{self as search, Loss};
use model::search::verdict::{Change, Place, Verdict};
use model::verdict;

use crate::charts;
use crate::format::{self, short_label};
use crate::html::{design_address, way};
use crate::insight::memory_view::moment;
use crate::insight::numbers::Numbers;
use crate::insight::outside::{Outside, outside};
use crate::site::find_address;
use crate::words::name::spelled;

/// Number of changes that make it fit, shown beside the best one; the others are in a list.
const MAX_CHANGES: usize = 4;

/// Maximum number of losses of the step that are listed.
const MAX_LOSSES: usize = 8;

/// The changes as links.
pub(super) fn html(numbers: &Numbers) -> Markup {
    if numbers.estimate.metrics.fits { helpful(numbers) } else { fitting(numbers) }
}

/// First answer, shown while the search runs.
pub(super) fn first(numbers: &Numbers) -> Markup {
    let what = if numbers.estimate.metrics.fits { "faster" } else { "fit" };
    html! {
        div.advice {
            p { "Looking for what makes it " (what) " …" }
            noscript { a href=(find_address(numbers.plan.design())) { "Find layouts" } }
        }
    }
}

/// Changes with which a design that fits is faster, one to three of them together; then the losses
/// of its step, what each is worth, and what moves it.
fn helpful(numbers: &Numbers) -> Markup {
    let advice = search::advice(&numbers.plan, &numbers.estimate);
    let others = if advice.losses.is_empty() { vec![] } else { outside(numbers) };
    let design = numbers.plan.design();
    let lead = if advice.changes.is_empty() {
        "No combination of up to three strategy changes makes it faster"
    } else {
        "Try next (MFU, peak memory)"
    };
    html! {
        div.advice {
            p { (lead) }
            div.ways {
                @for change in &advice.changes {
                    @let words = told(&change.knobs(design));
                    @let effect = format!(
                        "{} pt, {}",
                        gain(numbers, change.metrics.mfu),
                        format::memory(change.metrics.memory_peak)
                    );
                    (way(&change.design, &words, "button way", &words, &effect))
                }
                a.button href=(find_address(design)) { "Find layouts" }
            }
            @if !advice.losses.is_empty() {
                ul.losses {
                    @for it in advice.losses.iter().take(MAX_LOSSES) {
                        (loss(numbers, it, &others))
                    }
                }
            }
        }
    }
}

/// Points of MFU that another design has more.
fn gain(numbers: &Numbers, mfu: f64) -> String {
    format::signed((mfu - numbers.estimate.metrics.mfu) * 100.0, 1)
}

/// A loss with its worth and what moves it: in the strategy, the most gained first, and outside.
fn loss(numbers: &Numbers, loss: &Loss, others: &[Outside]) -> Markup {
    let has_others = outside::says_something(numbers, others, loss.part);
    let mut movers: Vec<&search::Change> = loss.movers.iter().collect();
    sort_short(&mut movers, |one, other| other.metrics.mfu.total_cmp(&one.metrics.mfu));
    html! {
        li {
            details id=(charts::loss_id(loss.part)) {
                summary {
                    b { (loss.part.label()) } " "
                    span {
                        (format::decimals(loss.share * 100.0, 1)) " % of the step: worth up to "
                        (format::decimals(loss.worth * 100.0, 1)) " pt"
                    }
                }
                p.muted { (loss.part.meaning()) }
                @if movers.is_empty() {
                    p {
                        "No single change of the strategy helps."
                        @if !has_others {
                            " " a href=(find_address(numbers.plan.design())) { "Find layouts" }
                            " looks at all of them together."
                        }
                    }
                } @else {
                    p { "Moved by" }
                    ul {
                        @for mover in &movers {
                            @let words = told(&mover.knobs(numbers.plan.design()));
                            li {
                                a href=(design_address(&mover.design)) data-step=(words) {
                                    (words) " "
                                    span.muted { (gain(numbers, mover.metrics.mfu)) " pt" }
                                }
                            }
                        }
                    }
                }
                @if has_others { (outside::html(numbers, others, loss.part)) }
            }
        }
    }
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

/// Reason why a design doesn't fit, and changes that make it fit, the cheapest first.
fn fitting(numbers: &Numbers) -> Markup {
    let verdict = verdict(&numbers.plan, &numbers.estimate);
    let design = numbers.plan.design();
    let remedies = search::remedies(&numbers.plan, &verdict);
    let short: Vec<&Change> = verdict.changes.iter().filter(|change| !change.fits).collect();
    let (shown, more) = remedies.split_at(remedies.len().min(MAX_CHANGES));
    html! {
        div.fitting {
            p { (excess(&verdict)) }
            div.ways {
                a.button.primary href=(find_address(design)) { "Find layouts that fit" }
                @for change in shown { (remedy(design, &verdict, change)) }
            }
            @if remedies.is_empty() {
                p { "Nothing of its strategy alone makes it fit, up to three changes together." }
            }
            @if !(more.is_empty() && short.is_empty()) {
                details {
                    summary { "Other ways" }
                    @if !more.is_empty() {
                        p.muted { "Other ways to make it fit" }
                        div.ways { @for change in more { (remedy(design, &verdict, change)) } }
                    }
                    @if !short.is_empty() {
                        p.muted { "Not enough alone" }
                        div.ways { @for change in short { (changing(design, &verdict, change)) } }
                    }
                }
            }
        }
    }
}

/// A way to make it fit, with what it costs.
fn remedy(design: &Design, verdict: &Verdict, change: &search::Change) -> Markup {
    let words = told(&change.knobs(design));
    let effect = effect(change.metrics.mfu, verdict, change.metrics.memory_peak);
    way(&change.design, &words, "button way", &words, &effect)
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

fn effect(mfu: f64, verdict: &Verdict, peak: model::ground::units::Bytes) -> String {
    let points = format::signed((mfu - verdict.mfu) * 100.0, 1);
    format!("MFU {points} pt, {}", format::memory(peak))
}

fn changing(design: &Design, verdict: &Verdict, change: &Change) -> Markup {
    let mut values = vec![(change.knob, change.value.clone())];
    values.extend(change.with.iter().cloned());
    let Some(design) = changed(design, &values) else { return Markup::default() };
    let effect = effect(change.mfu, verdict, change.memory_peak);
    way(&design, short_label(change.knob), "button way", &said(&values), &effect)
}

#[cfg(test)]
mod tests {
    use model::design::Design;
    use model::{Plan, design::link};

    use testing::page::Page as Html;

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
        let html = helpful(&numbers).into_string();
        let (ways, losses) = html.split_once("<ul class=\"losses\">").expect("losses");
        assert_eq!(linked(ways).len(), 3, "alone, two and three together: {ways}");
        assert!(losses.contains("of the step: worth up to"), "{losses}");
        let all = linked(&html);
        assert!(all.len() > 4, "{html}");
        for design in all {
            let metrics = model::estimate(&Plan::new(&design).expect("legal")).metrics;
            assert!(metrics.fits);
            let speed = |it: &model::training::estimate::Metrics| it.tokens_per_second;
            assert!(speed(&metrics) > speed(&numbers.estimate.metrics));
        }
    }

    /// Changes outside of the strategy, below their heading in one loss.
    fn outside_of(html: &str, part: &str) -> Html {
        let loss = Html::new(html).part(&format!("#loss-{part}")).markup("body");
        let (_, outside) = loss.split_once("<p>Outside the strategy</p>").expect("what is outside");
        Html::new(outside)
    }

    #[test]
    fn the_largest_loss_leads_to_newer_software_with_its_points_to_runs_and_to_the_ladder() {
        let numbers = Numbers::of_link("v=1&preset=pangu-ultra-moe-6k@2");
        let html = helpful(&numbers).into_string();
        let kernels = outside_of(&html, "kernels");
        assert!(kernels.says("State of the software → "), "{}", kernels.words());
        let gains = kernels.texts("span.muted");
        let is_gain = |text: &String| text.starts_with('+') && text.ends_with(" pt");
        assert!(gains.iter().any(is_gain), "{gains:?}");
        for page in ["/calibrate", "/ladder"] {
            assert!(kernels.has_link(page), "{page}: {}", kernels.words());
        }
        let kernels = kernels.markup("body");
        for design in linked(&kernels) {
            let metrics = model::estimate(&Plan::new(&design).expect("legal")).metrics;
            assert!(metrics.fits && metrics.mfu > numbers.estimate.metrics.mfu);
        }
        assert!(!linked(&kernels).is_empty());
        for last in Html::new(&html).texts("details > p:last-child") {
            assert!(!last.ends_with("helps."), "never the last word: {last}");
        }
    }

    #[test]
    fn a_narrower_format_says_what_it_brings_in_tokens() {
        let numbers = Numbers::of_link("v=1&preset=deepseek-v3-2k-h800&training.precision=bf16");
        let html = helpful(&numbers).into_string();
        let kernels = outside_of(&html, "kernels");
        let gains = kernels.texts("span.muted");
        assert!(gains.iter().any(|gain| gain.ends_with(" % tokens/s")), "{gains:?}");
        assert!(!kernels.has_link("/ladder"), "the ladder is of Ascend: {}", kernels.words());
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
