//! A design of an answer as a card, and the further ones as a table.

use std::fmt::Write as _;

use model::Plan;
use model::design::{Design, KnobId};
use model::estimate::Metrics;
use model::find::{Query, Recommendation, spare};
use model::link;
use model::metric::MetricId;

use crate::insight::{found, memory_state};
use crate::present::format::{self, counted, percent, short_label, spelled, whole};
use crate::present::html::{element, escape_into, escaped};
use crate::present::{name, range};
use crate::site::chosen::{Choice, Chosen};

/// So many differences are in view; more are folded away.
const MAX_OPEN_DIFFERENCES: usize = 3;

/// What the design at hand is compared with on a card.
pub(super) struct AtHand<'a> {
    /// What is searched.
    pub(super) query: &'a Query,
    /// Whether the design at hand breaks no rule.
    pub(super) is_legal: bool,
}

/// The card of a design with a name.
pub(super) fn card(html: &mut String, it: &Recommendation, at_hand: &AtHand<'_>) {
    let goal = it.label.unwrap_or_default();
    let id = goal.name();
    // Writing to a string can't fail.
    let _ = write!(
        html,
        "<article class=\"card find-card\" data-goal=\"{id}\" aria-labelledby=\"find-{id}\">"
    );
    element(html, "h3", &format!("id=\"find-{id}\""), found::label(goal));
    element(html, "p", "class=\"find-layout\"", &layout(&it.design));
    element(html, "p", "class=\"muted\"", &frame(&it.design));
    numbers(html, &it.design, &it.metrics);
    html.push_str("<ul class=\"find-why\">");
    it.why.iter().for_each(|line| element(html, "li", "", line));
    html.push_str("</ul>");
    bounds(html, it);
    differences(html, &at_hand.query.design, &it.design);
    ways(html, &it.design, found::label(goal), at_hand);
    html.push_str("</article>");
}

/// How a design is cut and run: `TP8 PP16 VPP2 EP32 · MBS 1 · 1f1b_overlap`.
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
fn numbers(html: &mut String, design: &Design, metrics: &Metrics) {
    let plan = Plan::new(design).ok();
    let half = |metric| plan.as_ref().and_then(|plan| range::half(plan, metric, metrics));
    html.push_str("<dl class=\"find-numbers\">");
    for (label, metric) in [
        ("Throughput per device", MetricId::tokens_per_second_per_device),
        ("MFU", MetricId::mfu),
        ("Step time", MetricId::step_time_seconds),
    ] {
        let value = format::metric(metric, metrics.get(metric)).to_string();
        number(html, metric, label, &value, half(metric).as_deref(), "(1 of 2)");
    }
    let peak = memory_state::of_limit(metrics.memory_peak, metrics.memory_limit);
    let free = percent(spare(metrics), 1).to_string();
    let metric = MetricId::memory_peak_bytes;
    number(html, metric, "Peak memory", &peak, Some(&free), "to spare");
    html.push_str("</dl>");
    let class = memory_state::said_class(metrics.memory_state());
    element(html, "p", &format!("class=\"{class}\""), &memory_state::short(metrics));
}

fn number(
    html: &mut String,
    metric: MetricId,
    label: &str,
    value: &str,
    aside: Option<&str>,
    words: &str,
) {
    let _ = write!(html, "<div data-metric=\"{}\">", metric.metric().name);
    element(html, "dt", "", label);
    element(html, "dd", "class=\"find-number\"", value);
    if let Some(aside) = aside {
        html.push_str("<dd class=\"muted\">");
        element(html, "span", "", aside);
        html.push(' ');
        element(html, "span", "", words);
        html.push_str("</dd>");
    }
    html.push_str("</div>");
}

/// What keeps a design from being faster.
fn bounds(html: &mut String, it: &Recommendation) {
    if it.binds.is_empty() {
        return;
    }
    html.push_str("<p class=\"find-bounds\">");
    element(html, "span", "class=\"muted\"", "What binds:");
    html.push(' ');
    element(html, "span", "", &it.binds);
    html.push_str("</p>");
}

/// What differs from the design at hand. How a step is timed is none of it: what is found is
/// simulated always.
fn differences(html: &mut String, from: &Design, to: &Design) {
    let knobs: Vec<KnobId> =
        found::differences(from, to).filter(|knob| *knob != KnobId::timing).collect();
    if knobs.is_empty() {
        element(html, "p", "class=\"muted\"", "No knob differs from the design at hand.");
        return;
    }
    let open = if knobs.len() <= MAX_OPEN_DIFFERENCES { " open" } else { "" };
    let count = counted(knobs.len() as u64, "knob differs", "knobs differ");
    let _ = write!(html, "<details class=\"find-changes\"{open}>");
    element(html, "summary", "", &format!("{count} from the design at hand"));
    html.push_str("<ul>");
    for knob in knobs {
        let [before, after] = [from, to].map(|design| spelled(&design.get(knob)));
        html.push_str("<li>");
        let title = format!("title=\"{}\"", escaped(&knob.id()));
        element(html, "span", &title, short_label(knob));
        html.push(' ');
        element(html, "span", "class=\"find-from\"", &before);
        html.push_str(" → ");
        element(html, "strong", "", &after);
        html.push_str("</li>");
    }
    html.push_str("</ul></details>");
}

/// What can be done with a design, in one click each.
fn ways(html: &mut String, design: &Design, title: &str, at_hand: &AtHand<'_>) {
    let link = link::encode(design);
    let shown = escaped(&link);
    html.push_str("<p class=\"find-ways\">");
    let open =
        format!("class=\"button primary\" href=\"/?{shown}\" aria-label=\"Open in the explorer\"");
    element(html, "a", &open, "Open");
    // A script of the page's own keeps pins and shows the button.
    let pin = format!("type=\"button\" class=\"button\" data-pin=\"{shown}\" hidden");
    element(html, "button", &pin, "Pin");
    if at_hand.is_legal {
        let choice = |link: String, name: &str| Choice { link, name: name.to_owned() };
        let own = choice(link::encode(&at_hand.query.design), "At hand");
        let chosen = Chosen { designs: vec![own, choice(link, title)], baseline: 0, all: false };
        let attributes = format!("class=\"button\" href=\"{}\"", escaped(&chosen.address()));
        element(html, "a", &attributes, "Compare");
    }
    let review = format!("class=\"button\" href=\"/r/new?{shown}\"");
    element(html, "a", &review, "Review");
    html.push_str("</p>");
}

/// Designs without a name, a row each.
pub(super) fn others(html: &mut String, all: &[&Recommendation]) {
    if all.is_empty() {
        return;
    }
    html.push_str(
        "<section class=\"card find-others\" aria-labelledby=\"find-others\">\
         <h3 id=\"find-others\">Other designs</h3>\
         <div class=\"scroll-x\" role=\"region\" tabindex=\"0\" \
         aria-label=\"Other designs, table\">",
    );
    html.push_str("<table><caption class=\"visually-hidden\">Other designs</caption><thead><tr>");
    for name in ["Layout", "Throughput per device", "MFU", "Step time", "To spare", "Behind"] {
        element(html, "th", "scope=\"col\"", name);
    }
    html.push_str("</tr></thead><tbody>");
    for it in all {
        let link = escaped(&link::encode(&it.design));
        let _ = write!(html, "<tr><th scope=\"row\"><a href=\"/?{link}\">");
        escape_into(html, &layout(&it.design));
        html.push_str("</a></th>");
        for metric in
            [MetricId::tokens_per_second_per_device, MetricId::mfu, MetricId::step_time_seconds]
        {
            let value = format::metric(metric, it.metrics.get(metric)).to_string();
            element(html, "td", "", &value);
        }
        for share in [it.margin, it.behind] {
            element(html, "td", "", &percent(share, 1).to_string());
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div></section>");
}
