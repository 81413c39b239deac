//! What the page says of an inference, as HTML text.

use maud::{Markup, html};
use model::design::Design;
use model::design::violation::Violation;
use model::ground::units::{Bytes, Seconds};
use model::metric::{MetricId, Regime};
use model::serving::{Part, Replicas};

use super::{ServingAnswer, address};
use crate::format;
use crate::html::{broken, table_head};
use crate::words::range::likely;
use crate::words::terms::{self, explained_link};

/// A metric's value in its unit.
fn shown(ran: &ServingAnswer, metric: MetricId) -> String {
    format::metric(metric, ran.answer().get(metric)).to_string()
}

/// The headline in a sentence.
pub fn headline(ran: &ServingAnswer) -> String {
    let get = |metric| shown(ran, metric);
    format!(
        "{} per device, {} per user, first token after {}",
        get(MetricId::output_tokens_per_second_per_device),
        get(MetricId::tokens_per_second_per_user),
        get(MetricId::ttft_seconds),
    )
}

/// Heading: model, devices and layout, with the limit of the rate and warnings.
pub fn subject(ran: &ServingAnswer) -> String {
    let design = ran.plan.design();
    let row = design.cluster.accelerator.row();
    let Replicas { prefill: prompts, decode: replicas } = ran.plan.replicas();
    let markup = html! {
        h2 {
            (design.preset.model_name()) " · " (format::whole(ran.plan.devices())) " x "
            (row.title)
        }
        p {
            @if let Some(prefill) = ran.plan.prefill_layout() {
                "Prefill: " (instances(prompts, prefill)) ". Decode: "
            }
            (instances(replicas, ran.plan.layout())) ". Limited by "
            strong { (ran.inference.bottleneck.words()) } "."
        }
        @if !ran.inference.warnings.is_empty() {
            ul.serving-warnings {
                @for warning in &ran.inference.warnings { li { (warning) } }
            }
        }
    };
    markup.into_string()
}

/// Instances with their layout.
fn instances(count: u64, of: model::serving::Layout) -> Markup {
    html! { span { (format::counted(count, "instance", "instances")) } " of " (layout(of)) }
}

/// A layout in the trade's letters.
pub(super) fn layout(layout: model::serving::Layout) -> String {
    let mut words = vec![format!("TP {}", layout.tensor)];
    for (name, size) in [
        ("DP", layout.data),
        ("PP", layout.pipeline),
        ("EP", layout.expert),
        ("ETP", layout.expert_tensor),
    ] {
        if size > 1 {
            words.push(format!("{name} {size}"));
        }
    }
    words.join(", ")
}

/// The numbers that matter most.
const CARDS: [MetricId; 4] = [
    MetricId::output_tokens_per_second_per_device,
    MetricId::tpot_seconds,
    MetricId::ttft_seconds,
    MetricId::kv_limited_concurrency,
];

/// The cards.
pub fn cards(ran: &ServingAnswer) -> String {
    let markup = html! {
        @for metric in CARDS {
            @let id = metric.metric().name;
            article.card.metric aria-labelledby={ (id) "-title" } {
                div.card-head {
                    h2 id={ (id) "-title" } { (explained_link(metric)) }
                }
                p.card-value { (shown(ran, metric)) }
                p.card-line { (likely(&ran.answer(), metric)) }
            }
        }
    };
    markup.into_string()
}

/// Explanation of a metric: definition, formula and terms.
#[must_use]
pub fn explained(ran: &ServingAnswer, metric: MetricId) -> String {
    terms::explained(&ran.answer(), metric).into_string()
}

/// Every metric with its range and definition.
pub fn numbers(ran: &ServingAnswer) -> String {
    let markup = html! {
        table.serving-numbers {
            caption.visually-hidden { "All numbers" }
            (table_head(&["Metric", "Value", "Range", "Meaning"]))
            tbody {
                @for metric in MetricId::of(Regime::Serving) {
                    tr {
                        th scope="row" {
                            (explained_link(metric))
                        }
                        td { (shown(ran, metric)) }
                        td { (likely(&ran.answer(), metric)) }
                        td { (metric.words().definition) }
                    }
                }
            }
        }
    };
    markup.into_string()
}

/// A step of decode and a prompt by part.
pub fn parts(ran: &ServingAnswer) -> String {
    let markup = html! {
        (waterfall("A step of decode", &ran.inference.decode))
        (waterfall("A prompt", &ran.inference.prefill))
    };
    markup.into_string()
}

fn waterfall(title: &str, parts: &[Part]) -> Markup {
    let all: Seconds = parts.iter().map(|part| part.time).sum();
    let mut before = Seconds::ZERO;
    let bars: Vec<(Seconds, &Part)> = parts
        .iter()
        .map(|part| {
            let from = before;
            before += part.time;
            (from, part)
        })
        .collect();
    html! {
        table.serving-parts {
            caption { (title) ", " (format::duration(all)) }
            (table_head(&["Part", "Time", "Share", ""]))
            tbody {
                @for (from, part) in bars {
                    tr {
                        th scope="row" { (part.name) }
                        td { (format::duration(part.time)) }
                        td { (format::percent(part.time / all, 1)) }
                        td {
                            svg.serving-bar viewBox="0 0 100 6" preserveAspectRatio="none"
                                aria-hidden="true" {
                                rect x=(round(from / all)) y="0" height="6"
                                    width=(round(part.time / all)) {}
                            }
                        }
                    }
                }
            }
        }
    }
}

fn round(share: f64) -> String {
    format!("{:.2}", share * 100.0)
}

/// Table of a device's memory.
pub fn memory(ran: &ServingAnswer) -> String {
    let memory = &ran.inference.memory;
    let rows = [
        ("Weights", memory.weights),
        ("Activations of a step", memory.activations),
        ("Engine's reserve", memory.reserve),
        ("Keys and values", memory.cache),
    ];
    let requests = |tokens: f64| {
        let each = memory.token * tokens;
        if each > Bytes::ZERO { (memory.cache / each).floor() } else { 0.0 }
    };
    let markup = html! {
        table {
            caption { "The engine takes " (format::memory(memory.limit)) }
            tbody {
                @for (name, bytes) in rows {
                    tr {
                        th scope="row" { (name) }
                        td { (format::memory(bytes)) }
                        td { (format::percent(bytes / memory.limit, 1)) }
                    }
                }
            }
        }
        @if memory.token > Bytes::ZERO {
            table {
                caption { "Requests of an attention group that the cache holds" }
                (table_head(&["Tokens of each", "Concurrency"]))
                tbody {
                    @for tokens in [1_024.0, 4_096.0, 16_384.0, 65_536.0, 131_072.0] {
                        tr {
                            th scope="row" { (format::whole(tokens as u64)) }
                            td { (format::whole(requests(tokens) as u64)) }
                        }
                    }
                }
            }
        }
    };
    markup.into_string()
}

/// Broken rules with their ways out.
pub fn problems(violations: &[Violation], design: &Design) -> String {
    broken::problems(violations, |nearest| address(&mended(design, nearest)))
}

fn mended(design: &Design, nearest: &model::design::violation::Nearest) -> Design {
    let mut mended = design.clone();
    // A way out is a legal value of its knob.
    let _ = mended.set(nearest.knob, &nearest.value);
    mended
}
