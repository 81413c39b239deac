//! The headline numbers, and the further ones in a row below the charts.

use leptos::either::Either;
use leptos::prelude::*;
use model::choice::Timing;
use model::metric::{Better, MetricId, MetricValue};
use model::units::Bytes;

use crate::bottleneck::fullest_stage;
use crate::error_band::{Expected, expected};
use crate::explorer::{Explorer, Topic};
use crate::format::{self, Quantity};
use crate::numbers::Numbers;

/// A headline card.
struct Card {
    metric: MetricId,
    title: &'static str,
    /// The line below the number.
    line: fn(&Numbers) -> String,
    /// A metric that the line speaks of, where it is another one.
    line_metric: Option<MetricId>,
}

static CARDS: [Card; 6] = [
    Card {
        metric: MetricId::mfu,
        title: "MFU",
        line: |numbers| {
            let rate = numbers.estimate.metrics.model_tflops_per_device;
            format!("{} TFLOPS per device", format::decimals(rate, 1))
        },
        line_metric: Some(MetricId::model_tflops_per_device),
    },
    Card {
        metric: MetricId::tokens_per_second_per_device,
        title: "Throughput per device",
        line: |numbers| {
            let rate = numbers.estimate.metrics.tokens_per_second;
            format!("{} in total", format::token_rate(rate))
        },
        line_metric: Some(MetricId::tokens_per_second),
    },
    Card {
        metric: MetricId::step_time_seconds,
        title: "Step time",
        line: |numbers| {
            let training = &numbers.plan.design().training;
            let tokens = training.global_batch_size as f64 * training.seq_length as f64;
            format!("{} tokens per step", format::count(tokens))
        },
        line_metric: None,
    },
    Card {
        metric: MetricId::memory_peak_bytes,
        title: "Peak memory per device",
        line: |numbers| {
            let limit = format::memory(numbers.estimate.metrics.memory_limit);
            format!("of {limit} usable")
        },
        line_metric: None,
    },
    Card {
        metric: MetricId::bubble_ratio,
        title: "Bubble, real stage times",
        line: |numbers| {
            let ratio = numbers.estimate.metrics.bubble_ratio_closed_form;
            let timing = match numbers.estimate.timing {
                Timing::Simulated => "simulated",
                Timing::ClosedForm => "not simulated",
            };
            format!("{timing}; {} closed form", format::percent(ratio, 2))
        },
        line_metric: Some(MetricId::bubble_ratio_closed_form),
    },
    Card {
        metric: MetricId::comm_exposed_seconds,
        title: "Exposed communication",
        line: |numbers| {
            let metrics = &numbers.estimate.metrics;
            let share = format::percent(metrics.comm_exposed / metrics.step_time, 1);
            format!("{share} of the step, {} hidden", format::percent(metrics.overlap_ratio, 1))
        },
        line_metric: Some(MetricId::overlap_ratio),
    },
];

/// What a headline card says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// The metric.
    pub metric: MetricId,
    /// Its title on the card.
    pub title: &'static str,
    /// The number.
    pub shown: Quantity,
    /// The line below it.
    pub line: String,
}

/// What the cards say, for those who show the same numbers elsewhere.
#[must_use]
pub fn headlines(numbers: &Numbers) -> Vec<Headline> {
    let headline = |card: &Card| Headline {
        metric: card.metric,
        title: card.title,
        shown: quantity(numbers, card.metric),
        line: (card.line)(numbers),
    };
    CARDS.iter().map(headline).collect()
}

/// The verdict on a design's memory, with the stage that is fullest.
#[must_use]
pub fn verdict(numbers: &Numbers) -> String {
    let metrics = &numbers.estimate.metrics;
    let verdict = memory_verdict(metrics.memory_peak, metrics.memory_limit);
    let stage = fullest_stage(&numbers.estimate).map_or(0, |stage| stage.stage);
    format!("{verdict} on stage {stage}")
}

/// The six headline cards.
pub fn cards(explorer: Explorer) -> impl IntoView {
    let cards: Vec<_> = CARDS.iter().map(|spec| card(explorer, spec)).collect();
    view! { <section class="cards" aria-label="Headline numbers">{cards}</section> }
}

fn card(explorer: Explorer, spec: &'static Card) -> impl IntoView {
    let shown = Memo::new(move |_| explorer.with_numbers(|numbers| quantity(numbers, spec.metric)));
    let line = Signal::derive(move || explorer.with_numbers(spec.line));
    let line = match spec.line_metric {
        Some(metric) => Either::Left(explain_button(explorer, metric, "card-line", line)),
        None => Either::Right(view! { <p class="card-line">{move || line.get()}</p> }),
    };
    let is_memory = spec.metric == MetricId::memory_peak_bytes;
    let title_id = format!("card-{}", spec.metric.metric().name);
    view! {
        <article class="card metric" data-metric=spec.metric.metric().name aria-labelledby=title_id>
            <div class="card-head">
                <h2 id=title_id.clone()>{spec.title}</h2>
                <button
                    type="button"
                    class="info"
                    aria-label=format!("Explain {}", spec.title)
                    title="Definition, formula and terms"
                    on:click=move |_| explorer.explained.set(Some(spec.metric))
                >
                    "?"
                </button>
            </div>
            <p class="card-value">
                <span class="number">{move || shown.with(|shown| shown.number.clone())}</span>
                " "
                <span class="unit">{move || shown.with(|shown| shown.unit)}</span>
            </p>
            {band(explorer, spec.metric)}
            {is_memory.then(|| memory_meter(explorer))}
            {line}
            {is_memory.then(|| fits(explorer))}
            {delta(explorer, spec)}
            {explorer.beside(Topic::Metric(spec.metric))}
        </article>
    }
}

/// How far the number may be off; opens the explanation, which says so at length.
fn band(explorer: Explorer, metric: MetricId) -> impl IntoView {
    let expected = expected_error(explorer, metric);
    view! {
        <button
            type="button"
            class="band explain"
            data-band=metric.metric().name
            title=move || expected.get().sentence()
            on:click=move |_| explorer.explained.set(Some(metric))
        >
            {move || expected.get().short()}
        </button>
    }
}

/// Equal for most designs, so that a drag writes nothing.
fn expected_error(explorer: Explorer, metric: MetricId) -> Memo<Expected> {
    Memo::new(move |_| explorer.with_numbers(|numbers| expected(&numbers.plan, metric)))
}

fn quantity(numbers: &Numbers, metric: MetricId) -> Quantity {
    format::metric(metric, numbers.estimate.metrics.get(metric))
}

/// How far from the unchanged preset; its height is kept when there is nothing to say.
fn delta(explorer: Explorer, spec: &'static Card) -> impl IntoView {
    let change = Memo::new(move |_| {
        let now = explorer.with_numbers(|numbers| number(numbers, spec.metric));
        let before = explorer.with_numbers_before(|numbers| number(numbers, spec.metric));
        let preset = || explorer.with_preset_numbers(|numbers| number(numbers, spec.metric));
        (now, before.unwrap_or_else(preset), before.is_some())
    });
    let is_ratio = matches!(spec.metric, MetricId::mfu | MetricId::bubble_ratio);
    let text = move || {
        let (now, then, is_dragged) = change.get();
        if is_dragged {
            let was = format::metric(spec.metric, MetricValue::Number(then));
            return format!("was {was}, {}", format::difference(spec.metric, now, then));
        }
        if now.total_cmp(&then).is_eq() {
            return "as the preset".to_owned();
        }
        let text = if is_ratio { format::points(now, then) } else { format::relative(now, then) };
        format!("{text} vs the preset")
    };
    let is = move |wanted: std::cmp::Ordering| {
        let (now, then, _) = change.get();
        let order = now.total_cmp(&then);
        let is_higher = spec.metric.metric().better != Some(Better::Lower);
        (if is_higher { order } else { order.reverse() }) == wanted
    };
    view! {
        <p
            class="delta"
            class:better=move || is(std::cmp::Ordering::Greater)
            class:worse=move || is(std::cmp::Ordering::Less)
        >
            {text}
        </p>
    }
}

fn number(numbers: &Numbers, metric: MetricId) -> f64 {
    match numbers.estimate.metrics.get(metric) {
        MetricValue::Number(number) => number,
        MetricValue::Flag(flag) => f64::from(u8::from(flag)),
    }
}

/// `Fits, 3.5 GiB free` or `Does not fit, 4.1 GiB over`.
#[must_use]
pub fn memory_verdict(peak: Bytes, limit: Bytes) -> String {
    if peak.get() <= limit.get() {
        format!("Fits, {} free", format::memory(limit - peak))
    } else {
        format!("Does not fit, {} over", format::memory(peak - limit))
    }
}

fn fits(explorer: Explorer) -> impl IntoView {
    let fits = Memo::new(move |_| explorer.with_numbers(|numbers| numbers.estimate.metrics.fits));
    let text = move || explorer.with_numbers(verdict);
    view! {
        <p class="fits" class:over=move || !fits.get() data-metric="fits">{text}</p>
    }
}

/// A bar of the limit: how much of it the peak takes.
fn memory_meter(explorer: Explorer) -> impl IntoView {
    let share = Memo::new(move |_| {
        explorer.with_numbers(|numbers| {
            let metrics = &numbers.estimate.metrics;
            // Drawn in whole per mille of one and a half times the limit.
            ((metrics.memory_peak / metrics.memory_limit) / 1.5 * 1_000.0)
                .clamp(0.0, 1_000.0)
                .round()
        })
    });
    let is_over = move || share.get() > 667.0;
    view! {
        <svg class="meter" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
            <rect class="meter-track" width="1000" height="10"></rect>
            <rect
                class="meter-fill"
                class:over=is_over
                width=move || share.get().to_string()
                height="10"
            ></rect>
            <rect class="meter-limit" x="665" width="4" height="10"></rect>
        </svg>
    }
}

/// A text that opens the explanation of a metric.
fn explain_button(
    explorer: Explorer,
    metric: MetricId,
    class: &'static str,
    text: Signal<String>,
) -> impl IntoView {
    view! {
        <button
            type="button"
            class=format!("{class} explain")
            data-metric=metric.metric().name
            title=metric.metric().definition
            on:click=move |_| explorer.explained.set(Some(metric))
        >
            {move || text.get()}
        </button>
    }
}

/// Metrics that have no card, in the order of the row.
const FACTS: [MetricId; 8] = [
    MetricId::params_total,
    MetricId::params_active,
    MetricId::flops_per_token,
    MetricId::hfu,
    MetricId::comm_volume_bytes,
    MetricId::params_total_no_input_embedding,
    MetricId::params_active_no_input_embedding,
    MetricId::token_drop_ratio,
];

/// The further metrics and the sizes that follow from the knobs.
pub fn facts(explorer: Explorer) -> impl IntoView {
    let metrics: Vec<_> = FACTS
        .iter()
        .map(|metric| {
            let metric = *metric;
            let text = Signal::derive(move || {
                explorer.with_numbers(|numbers| quantity(numbers, metric).to_string())
            });
            let expected = expected_error(explorer, metric);
            view! {
                <div class="fact">
                    <dt>{metric.metric().label}</dt>
                    <dd>{explain_button(explorer, metric, "fact-value", text)}</dd>
                    <dd class="fact-band" title=move || expected.get().sentence()>
                        {move || expected.get().short()}
                    </dd>
                </div>
            }
        })
        .collect();
    let derived: Vec<_> = DERIVED
        .iter()
        .map(|(label, size)| {
            let text = move || explorer.with_numbers(|numbers| format::whole(size(numbers)));
            view! { <div class="fact"><dt>{*label}</dt><dd>{text}</dd></div> }
        })
        .collect();
    view! {
        <section class="card facts" aria-labelledby="facts-title">
            <h2 id="facts-title">"Further numbers"</h2>
            <dl>{metrics}{derived}</dl>
        </section>
    }
}

/// A size that follows from the knobs: its name and how to read it.
type Derived = (&'static str, fn(&Numbers) -> u64);

static DERIVED: [Derived; 3] = [
    ("Data parallel (DP)", |numbers| numbers.plan.data_parallel_size()),
    ("Expert data parallel (EDP)", |numbers| numbers.plan.expert_data_parallel_size()),
    ("Micro-batches of a step", |numbers| numbers.plan.num_microbatches()),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_on_memory_says_how_much_is_left_or_over() {
        let limit = Bytes::gib(60.3);
        assert_eq!(memory_verdict(Bytes::gib(56.8), limit), "Fits, 3.5 GiB free");
        assert_eq!(memory_verdict(Bytes::gib(64.4), limit), "Does not fit, 4.1 GiB over");
        assert_eq!(memory_verdict(limit, limit), "Fits, 0.0 GiB free");
    }
}
