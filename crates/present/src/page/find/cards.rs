//! A design of an answer as a card, and the further ones as a table.

use maud::{Markup, html};
use model::Plan;
use model::design::{Design, KnobId, link};
use model::metric::MetricId;
use model::search::find::{Query, Recommendation, spare};
use model::training::estimate::Metrics;
use reports::found;

use crate::format::{self, counted, percent, short_label, whole};
use crate::html::{design_address, table_head};
use crate::insight::memory_state;
use crate::site::chosen::{Choice, Chosen};
use crate::words::name::{self, spelled};
use crate::words::range;

/// Maximum number of differences shown unfolded.
const MAX_OPEN_DIFFERENCES: usize = 3;

/// Current design, with which a card compares.
pub(super) struct AtHand<'a> {
    /// Query of the search.
    pub(super) query: &'a Query,
    /// Whether the current design breaks no rule.
    pub(super) is_legal: bool,
}

/// The card of a design with a name.
pub(super) fn card(it: &Recommendation, at_hand: &AtHand<'_>) -> Markup {
    let goal = it.label.unwrap_or_default();
    let heading = format!("find-{}", goal.name());
    html! {
        article.card.find-card data-goal=(goal.name()) aria-labelledby=(heading) {
            h3 id=(heading) { (found::label(goal)) }
            p.find-layout { (layout(&it.design)) }
            p.muted { (frame(&it.design)) }
            (numbers(&it.design, &it.metrics))
            ul.find-why { @for line in &it.why { li { (line) } } }
            @if !it.bottleneck.is_empty() {
                p.find-bounds { span.muted { "Limited by:" } " " span { (it.bottleneck) } }
            }
            (differences(&at_hand.query.design, &it.design))
            (ways(&it.design, found::label(goal), at_hand))
        }
    }
}

/// Parallel degrees and schedule of a design: `TP8 PP16 VPP2 EP32 · MBS 1 · 1f1b_overlap`.
fn layout(design: &Design) -> String {
    let degrees = name::degrees(design);
    let rest = format!(
        "{} {} · {}",
        short_label(KnobId::micro_batch_size),
        whole(design.training.micro_batch_size),
        spelled(&design.get(KnobId::method)),
    );
    if degrees.is_empty() { rest } else { format!("{degrees} · {rest}") }
}

/// On what, and how much in a step.
fn frame(design: &Design) -> String {
    format!(
        "{} x {}, {} sequences of {} tokens in a step",
        whole(design.cluster.num_devices),
        name::part(design.cluster.accelerator),
        whole(design.training.global_batch_size),
        whole(design.training.seq_length),
    )
}

/// Speed and memory, each with how far it may be off.
fn numbers(design: &Design, metrics: &Metrics) -> Markup {
    let plan = Plan::new(design).ok();
    let predicted = |label, metric| {
        let half = plan.as_ref().and_then(|plan| range::half(plan, metric, metrics));
        let value = format::metric(metric, metrics.get(metric)).to_string();
        number(metric, label, &value, half.as_deref(), "(1 of 2)")
    };
    let peak = memory_state::of_limit(metrics.memory_peak, metrics.memory_limit);
    let free = percent(spare(metrics), 1).to_string();
    html! {
        dl.find-numbers {
            (predicted("Throughput per device", MetricId::tokens_per_second_per_device))
            (predicted("MFU", MetricId::mfu))
            (predicted("Step time", MetricId::step_time_seconds))
            (number(MetricId::memory_peak_bytes, "Peak memory", &peak, Some(&free), "to spare"))
        }
        p class=(memory_state::said_class(metrics.memory_state())) {
            (memory_state::short(metrics))
        }
    }
}

fn number(metric: MetricId, label: &str, value: &str, aside: Option<&str>, words: &str) -> Markup {
    html! {
        div data-metric=(metric.metric().name) {
            dt { (label) }
            dd.find-number { (value) }
            @if let Some(aside) = aside { dd.muted { span { (aside) } " " span { (words) } } }
        }
    }
}

/// List of the knobs that differ from the current design, except `timing`: results are always
/// simulated.
fn differences(from: &Design, to: &Design) -> Markup {
    let knobs: Vec<KnobId> =
        found::differences(from, to).filter(|knob| *knob != KnobId::timing).collect();
    if knobs.is_empty() {
        return html! { p.muted { "No knob differs from the current design." } };
    }
    let count = counted(knobs.len() as u64, "knob differs", "knobs differ");
    html! {
        details.find-changes open[knobs.len() <= MAX_OPEN_DIFFERENCES] {
            summary { (count) " from the current design" }
            ul {
                @for knob in knobs {
                    li {
                        span title=(knob.id()) { (short_label(knob)) } " "
                        span.find-from { (spelled(&from.get(knob))) } " → "
                        strong { (spelled(&to.get(knob))) }
                    }
                }
            }
        }
    }
}

/// Actions on a design, one click each.
fn ways(design: &Design, title: &str, at_hand: &AtHand<'_>) -> Markup {
    let link = link::encode(design);
    let choice = |link: String, name: &str| Choice { link, name: name.to_owned() };
    let own = choice(link::encode(&at_hand.query.design), "Current");
    let designs = vec![own, choice(link.clone(), title)];
    let chosen = Chosen { designs, baseline: 0, all: false };
    html! {
        p.find-ways {
            a.button.primary href={ "/?" (link) } aria-label="Open in the explorer" { "Open" }
            // A script of the page's own keeps pins; without one there is no button.
            button type="button" class="button" data-pin=(link) { "Pin" }
            @if at_hand.is_legal { a.button href=(chosen.address()) { "Compare" } }
            a.button href={ "/r/new?" (link) } { "Review" }
            // As a launch script or file of the framework that the user has.
            a.button href={ "/export?" (link) } { "Export" }
        }
    }
}

/// Designs without a name, a row each.
pub(super) fn others(all: &[&Recommendation]) -> Markup {
    const TITLES: [&str; 6] =
        ["Layout", "Throughput per device", "MFU", "Step time", "To spare", "Behind"];
    const METRICS: [MetricId; 3] =
        [MetricId::tokens_per_second_per_device, MetricId::mfu, MetricId::step_time_seconds];
    html! {
        section.card.find-others aria-labelledby="find-others" {
            h3 #find-others { "Other designs" }
            div.scroll-x role="region" tabindex="0" aria-label="Other designs, table" {
                table {
                    caption.visually-hidden { "Other designs" }
                    (table_head(&TITLES))
                    tbody {
                        @for it in all {
                            tr {
                                th scope="row" {
                                    a href=(design_address(&it.design)) { (layout(&it.design)) }
                                }
                                @for metric in METRICS {
                                    td { (format::metric(metric, it.metrics.get(metric))) }
                                }
                                @for share in [it.margin, it.behind] { td { (percent(share, 1)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}
