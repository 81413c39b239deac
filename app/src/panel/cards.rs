//! The headline numbers, and the further ones in a row below the charts.

use leptos::either::Either;
use leptos::prelude::*;
use model::ground::units::Bytes;
use model::metric::MetricId;
use model::training::estimate::Metrics;
use present::format::{self, number};
use present::insight::better::is_better;
use present::insight::headline::{CARDS, Card, MAX_EXCESS_PER_MILLE, Meter, RangeBar, quantity};
use present::insight::memory_state;
use present::insight::numbers::Numbers;
use present::site::Page;
use present::words::range::{Expected, expected};

use crate::explorer::{Explorer, Topic};
use crate::reaction::{handler, memo};
use crate::widget::part::{Text, maybe_text, text};

/// The six headline cards.
pub fn cards(explorer: Explorer) -> impl IntoView {
    let cards: Vec<_> = CARDS.iter().map(|spec| card(explorer, spec)).collect();
    view! { <section class="cards" aria-label="Headline numbers">{cards}</section> }
}

fn card(explorer: Explorer, spec: &'static Card) -> impl IntoView {
    let shown = move || explorer.with_numbers(|numbers| quantity(numbers, spec.metric));
    let (number, unit) = (memo(move || shown().number), memo(move || shown().unit.to_owned()));
    let line = Signal::derive(move || explorer.with_numbers(spec.line));
    let is_memory = spec.metric == MetricId::memory_peak_bytes;
    // The bar of memory has the limit below it.
    let line = match spec.line_metric {
        Some(metric) => Either::Left(explain_button(explorer, metric, "card-line", line)),
        None if is_memory => Either::Right(Either::Left(memory_meter(explorer))),
        None => {
            let line = view! { <p class="card-line">{text(move || line.get())}</p> };
            Either::Right(Either::Right((line, budget_link(explorer))))
        }
    };
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
                    on:click=handler(move |_| explorer.explained.set(Some(spec.metric)))
                >
                    "?"
                </button>
            </div>
            <p class="card-value">
                <span class="number">{text(move || number.get())}</span>
                " "
                <span class="unit">{text(move || unit.get())}</span>
            </p>
            {(spec.metric == MetricId::mfu).then(|| range_bar(explorer))}
            {(!follows_mfu(spec.metric)).then(|| band(explorer, spec.metric))}
            {line}
            {is_memory.then(|| fits(explorer))}
            {delta(explorer, spec)}
            {explorer.beside(Topic::Metric(spec.metric))}
        </article>
    }
}

/// The way from a step's time to what a run of such steps takes and costs.
fn budget_link(explorer: Explorer) -> impl IntoView {
    let address = text(move || format!("{}?{}", Page::Budget.path(), explorer.link()));
    view! { <p><a href=address>"Days, cost and brief"</a></p> }
}

/// Whether a number is MFU in other words, whose range would say one fact again.
const fn follows_mfu(metric: MetricId) -> bool {
    matches!(metric, MetricId::tokens_per_second_per_device | MetricId::step_time_seconds)
}

/// Attributes of the marks of a picture, by their place in what is read; 0 where there are fewer.
fn marks(explorer: Explorer, read: fn(&Numbers) -> Vec<f64>) -> impl Fn(usize) -> Text {
    let all = memo(move || {
        let all = explorer.with_numbers(read);
        all.iter().map(f64::to_string).collect::<Vec<_>>()
    });
    move |place| {
        text(move || all.with(|all| all.get(place).cloned()).unwrap_or_else(|| "0".to_owned()))
    }
}

/// The range of MFU as a bar, with the measured run as a tick.
fn range_bar(explorer: Explorer) -> impl IntoView {
    let at = marks(explorer, |numbers| {
        let Some(RangeBar { most, half, measured }) = RangeBar::new(numbers) else { return vec![] };
        let tick = [measured.unwrap_or(0.0) - 4.0, if measured.is_some() { 8.0 } else { 0.0 }];
        let bar = |[from, to]: [f64; 2]| [from, to - from];
        [bar(most), bar(half), tick].concat()
    });
    view! {
        <svg class="range-bar" viewBox="0 0 1000 14" preserveAspectRatio="none" aria-hidden="true">
            <rect class="range-track" y="4" width="1000" height="6"></rect>
            <rect
                class="range-most"
                y="4"
                height="6"
                x=at(0)
                width=at(1)
            ></rect>
            <rect
                class="range-half"
                y="4"
                height="6"
                x=at(2)
                width=at(3)
            ></rect>
            <rect
                class="range-measured"
                height="14"
                x=at(4)
                width=at(5)
            ></rect>
        </svg>
    }
}

/// Expected error of the number; opens the explanation, which gives it at length.
fn band(explorer: Explorer, metric: MetricId) -> impl IntoView {
    let [short, sentence] = expected_error(explorer, metric);
    view! {
        <button
            type="button"
            class="band explain"
            data-band=metric.metric().name
            title=text(move || sentence.get())
            on:click=handler(move |_| explorer.explained.set(Some(metric)))
        >
            {text(move || short.get())}
        </button>
    }
}

/// Expected error of a number: in a few words, and in sentences.
fn expected_error(explorer: Explorer, metric: MetricId) -> [Memo<String>; 2] {
    let said = move |words: fn(Expected, MetricId, &Metrics) -> String| {
        memo(move || {
            explorer.with_numbers(|numbers| {
                words(expected(&numbers.plan, metric), metric, &numbers.estimate.metrics)
            })
        })
    };
    [said(Expected::short), said(Expected::sentence)]
}

/// Difference from the unchanged preset; its height is kept when there is nothing to say.
fn delta(explorer: Explorer, spec: &'static Card) -> impl IntoView {
    let words = memo(move || {
        let value = |numbers: &Numbers| number(numbers.estimate.metrics.get(spec.metric));
        let now = explorer.with_numbers(value);
        if let Some(then) = explorer.with_numbers_before(value) {
            let was = format::measured(spec.metric, then);
            return Some(format!("was {was}, {}", format::difference(spec.metric, now, then)));
        }
        let then = explorer.with_preset_numbers(value);
        if now.total_cmp(&then).is_eq() {
            // None rather than an empty text, which the server writes as a space.
            return None;
        }
        let text = format::change(spec.metric, now, then);
        Some(format!("{text} vs the preset"))
    });
    let class = memo(move || {
        let better = explorer.with_numbers(|now| {
            let is_better = |then: &Numbers| is_better(spec.metric, now, then);
            let before = explorer.with_numbers_before(is_better);
            before.unwrap_or_else(|| explorer.with_preset_numbers(is_better))
        });
        let class = match better {
            Some(true) => "delta better",
            Some(false) => "delta worse",
            None => "delta",
        };
        class.to_owned()
    });
    view! { <p class=text(move || class.get())>{maybe_text(move || words.get())}</p> }
}

/// Certainty that the design fits, in a sentence with its colour and its sign.
fn fits(explorer: Explorer) -> impl IntoView {
    let class = memo(move || {
        let state = explorer.with_numbers(|it| it.estimate.metrics.memory_state());
        memory_state::said_class(state).to_owned()
    });
    let sentence = text(move || explorer.with_numbers(memory_state::sentence));
    view! { <p class=text(move || class.get()) data-metric="fit_probability">{sentence}</p> }
}

/// A bar that is full at the limit, with what is over it beyond, and the error as a shadow.
fn memory_meter(explorer: Explorer) -> impl IntoView {
    let over = memo(move || {
        // None rather than an empty text, which the server writes as a space.
        let over = explorer.with_numbers(|numbers| {
            let metrics = &numbers.estimate.metrics;
            metrics.memory_peak.beyond(metrics.memory_limit)
        });
        (over > Bytes::ZERO).then(|| format!("+{}", format::memory(over)))
    });
    let at = marks(explorer, |numbers| {
        let Meter { peak, likely: [from, to] } = Meter::of(numbers);
        vec![peak.min(1_000.0), (peak - 1_000.0).max(0.0), from, to - from]
    });
    let limit = text(move || {
        let limit = explorer.with_numbers(|numbers| numbers.estimate.metrics.memory_limit);
        format!("limit {}", format::memory(limit))
    });
    let class = memo(move || {
        let state = explorer.with_numbers(|it| it.estimate.metrics.memory_state());
        format!("meter-box {}", memory_state::class(state))
    });
    view! {
        <div
            class=text(move || class.get())
            title="Full bar = limit; the shadow holds the true peak in 8 of 10 cases"
        >
            <p class="meter-over">{maybe_text(move || over.get())}</p>
            <svg
                class="meter"
                viewBox=format!("0 0 {} 14", 1_000.0 + MAX_EXCESS_PER_MILLE)
                preserveAspectRatio="none"
                aria-hidden="true"
            >
                <rect class="meter-track" y="2" width="1000" height="10"></rect>
                <rect class="meter-fill" y="2" width=at(0) height="10"></rect>
                <rect class="meter-beyond" x="1000" y="2" width=at(1) height="10"></rect>
                <rect class="meter-error" x=at(2) y="4" width=at(3) height="6"></rect>
                <rect class="meter-limit" x="994" width="12" height="14"></rect>
            </svg>
            <p class="meter-label">{limit}</p>
        </div>
    }
}

/// A text that opens the explanation of a metric.
fn explain_button(
    explorer: Explorer,
    metric: MetricId,
    class: &'static str,
    line: Signal<String>,
) -> impl IntoView {
    view! {
        <button
            type="button"
            class=format!("{class} explain")
            data-metric=metric.metric().name
            on:click=handler(move |_| explorer.explained.set(Some(metric)))
        >
            {text(move || line.get())}
        </button>
    }
}

/// Metrics that have no card, in the order of the row.
const FACTS: [MetricId; 9] = [
    MetricId::fit_probability,
    MetricId::params_total,
    MetricId::params_active,
    MetricId::flops_per_token,
    MetricId::model_tflops_per_device,
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
            let value = Signal::derive(move || {
                explorer.with_numbers(|numbers| quantity(numbers, metric).to_string())
            });
            let [short, sentence] = expected_error(explorer, metric);
            view! {
                <div class="fact">
                    <dt>{metric.metric().label}</dt>
                    <dd>{explain_button(explorer, metric, "fact-value", value)}</dd>
                    <dd class="fact-band" title=text(move || sentence.get())>
                        {text(move || short.get())}
                    </dd>
                </div>
            }
        })
        .collect();
    let derived: Vec<_> = DERIVED
        .iter()
        .map(|(label, size)| {
            let size = move || explorer.with_numbers(|numbers| format::whole(size(numbers)));
            view! { <div class="fact"><dt>{*label}</dt><dd>{text(size)}</dd></div> }
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
