//! Content of the page, as HTML that only the server writes.

use maud::{Markup, PreEscaped, html};
use model::catalogue::preset::Preset;
use model::design::ladder::{END, NOT_MODELLED, PAPER, START};
use model::metric::MetricId;

use super::numbers::{Layouts, Predicted, Step, layouts, steps};
use crate::charts;
use crate::format::{self, PerUnit};
use crate::html::{design_address, save_buttons};
use crate::insight::memory_state;
use crate::site::Page;
use crate::words::published::printed_mfu;
use crate::words::range::{Expected, expected};

/// The metrics that are published of the runs.
const PUBLISHED: [MetricId; 2] = [MetricId::mfu, MetricId::tokens_per_second_per_device];

/// Placeholder of a cell without a known or compared value.
const NOTHING: &str = "–";

/// The whole content. It is the same for everybody, so it is made once.
#[must_use]
pub fn html() -> &'static str {
    static HTML: PerUnit<String> = PerUnit::new();
    HTML.get_or_init(|| {
        let (steps, layouts) = (steps(), layouts());
        let Some(first) = steps.first() else {
            return String::new();
        };
        let runs: Vec<&Step> = steps.iter().filter(|step| step.preset.is_some()).collect();
        let markup = html! {
            (lead(&runs))
            (chart(&steps, &layouts, "; the table below has its numbers"))
            (changes(&steps))
            (ends(&runs))
            (baseline(first, &layouts))
        };
        markup.into_string()
    })
}

/// Lead and chart of the page, the same for everybody.
#[must_use]
pub fn brief() -> &'static str {
    static HTML: PerUnit<String> = PerUnit::new();
    HTML.get_or_init(|| {
        let (steps, layouts) = (steps(), layouts());
        let runs: Vec<&Step> = steps.iter().filter(|step| step.preset.is_some()).collect();
        html! { (lead(&runs)) (chart(&steps, &layouts, "")) }.into_string()
    })
}

/// Lead of the page.
fn lead(runs: &[&Step]) -> Markup {
    let said = runs.iter().map(|step| {
        let published = step.published(MetricId::mfu);
        let error = published.map(|mfu| format::relative(step.predicted.metrics.mfu, mfu));
        format!("{} ({})", mfu(&step.predicted), error.unwrap_or_default())
    });
    let said = format::unbroken(&said.collect::<Vec<_>>().join(", "));
    html! {
        section.card.ladder-card {
            p.ladder-headline { "The model predicts " (said) " for the three published runs." }
            p {
                "The paper reports " (printed_mfu(START)) " MFU on 4,096 NPUs and, after tuning, "
                (printed_mfu(PAPER)) " on 6,144 NPUs; a follow-up of June 2025 (press) "
                (printed_mfu(END)) " on 6,000 to 10,000 NPUs. The steps "
                "between aren't published as a table: their order here is ours, and beside each "
                "stands what is known of it. Kernels and host are of May 2025 up to the final run "
                "and of June after it, each rate as published. Source: "
                @if let Ok(preset) = Preset::find(PAPER) {
                    a href=(preset.source.url) target="_blank" rel="noopener" {
                        (preset.source.title)
                    }
                }
            }
        }
    }
}

fn mfu(predicted: &Predicted) -> String {
    format::percent(predicted.metrics.mfu, 1).to_string()
}

fn chart(steps: &[Step], layouts: &Layouts, more: &str) -> Markup {
    let rungs = steps.iter().enumerate().map(|(index, step)| charts::Rung {
        title: format!("{index}. {}", step.title()),
        mfu: step.predicted.metrics.mfu,
        published: step.published(MetricId::mfu),
        range: layouts.mfu_range().filter(|_| index == 0),
    });
    let rungs: Vec<charts::Rung> = rungs.collect();
    let chart = charts::for_any_page(|width| charts::ladder(&rungs, width));
    html! {
        figure.figure.card #ladder-figure aria-labelledby="ladder-chart" {
            figcaption {
                h2 #ladder-chart { "MFU after each change" }
                p { "Each bar goes on from the one above it" (more) }
            }
            div.chart { (PreEscaped(chart)) }
            p.figure-save { (save_buttons("ladder-figure", "MFU after each change")) }
        }
    }
}

/// Titles of the columns that hold words, not numbers.
const OF_WORDS: [&str; 4] = ["Change", "What is known of it", "Metric and run", "Layout"];

/// A table that scrolls by itself.
fn table(caption: &str, titles: &[&str], rows: &Markup) -> Markup {
    let class = |title| OF_WORDS.contains(title).then_some("words");
    html! {
        div.scroll-x role="region" tabindex="0" aria-label={ (caption) ", table" } {
            table.ladder-table {
                caption.visually-hidden { (caption) }
                thead {
                    tr { @for title in titles { th scope="col" class=[class(title)] { (title) } } }
                }
                tbody { (rows) }
            }
        }
    }
}

/// The table of all changes.
fn changes(steps: &[Step]) -> Markup {
    const TITLES: [&str; 8] = [
        "Change",
        "MFU",
        "Gain",
        "Gain, relative",
        "Throughput per NPU",
        "Bubble",
        "Peak memory per NPU",
        "What is known of it",
    ];
    let total = |first: &Step, last: &Step| {
        let [from, to] = [first, last].map(|step| step.predicted.metrics);
        let rate =
            format::relative(to.tokens_per_second_per_device, from.tokens_per_second_per_device);
        html! {
            tr.total {
                th scope="row" { "From the first to the last" }
                td {}
                td { (format::points(to.mfu, from.mfu)) }
                td { (format::relative(to.mfu, from.mfu)) }
                td { (rate) }
                td {} td {} td {}
            }
        }
    };
    let rows = html! {
        @for index in 0..steps.len() { (change(steps, index)) }
        tr.not-modelled {
            th scope="row" { (NOT_MODELLED.title) }
            td colspan="6" { "published, not modelled" }
            td.words { (NOT_MODELLED.known) }
        }
        @if let [first, .., last] = steps { (total(first, last)) }
    };
    html! {
        section.card.ladder-card aria-labelledby="ladder-changes" {
            h2 #ladder-changes { "One change at a time" }
            p.muted {
                "Each row keeps the changes above it and opens as a design in the explorer. Bubble "
                "with actual stage times; peak memory on the fullest stage."
            }
            (table("Changes from the baseline to the follow-up", &TITLES, &rows))
        }
    }
}

fn change(steps: &[Step], index: usize) -> Markup {
    let step = &steps[index];
    let metrics = &step.predicted.metrics;
    let before = index.checked_sub(1).map(|before| steps[before].predicted.metrics.mfu);
    let gain = |said: fn(f64, f64) -> String| {
        before.map_or_else(|| NOTHING.to_owned(), |before| said(metrics.mfu, before))
    };
    let settings: Vec<String> = step
        .rung
        .map(|rung| rung.settings.iter().map(|(knob, value)| format!("{knob} = {value}")).collect())
        .unwrap_or_default();
    let known = match step.rung {
        None => format!("{} MFU; its layout isn't published", printed_mfu(START)),
        Some(rung) if rung.known.is_empty() => "not published by itself".to_owned(),
        Some(rung) => rung.known.to_owned(),
    };
    // A loss that is written as zero is none.
    let is_loss = before.is_some_and(|before| metrics.mfu < before - 0.000_5);
    let loss = is_loss.then_some("loss");
    let closed_form = format::percent(metrics.bubble_ratio_closed_form, 2);
    html! {
        tr {
            th scope="row" {
                div.rung {
                    span { (index) "." }
                    div {
                        a href=(design_address(&step.predicted.design)) { (step.title()) }
                        code.settings {
                            // Long names break where their words end.
                            @for part in settings.join(", ").split_inclusive(['_', ',']) {
                                (part) wbr;
                            }
                        }
                    }
                }
            }
            td { (mfu(&step.predicted)) }
            td class=[loss] { (gain(format::points)) }
            td class=[loss] { (gain(format::relative)) }
            td { (format::token_rate(metrics.tokens_per_second_per_device)) }
            td {
                (format::percent(metrics.bubble_ratio, 2))
                span.beside { (closed_form) " closed form" }
            }
            (memory(&step.predicted))
            td.words { (known) }
        }
    }
}

/// The peak, and how sure it is that it fits.
fn memory(predicted: &Predicted) -> Markup {
    let state = predicted.metrics.memory_state();
    html! {
        td {
            (format::memory(predicted.metrics.memory_peak)) " "
            span class=(memory_state::said_class(state)) { (memory_state::word(state)) }
        }
    }
}

/// The published runs beside their predictions.
fn ends(runs: &[&Step]) -> Markup {
    let rows = html! {
        @for step in runs { @for metric in PUBLISHED { (end(step, metric)) } }
    };
    let titles = ["Metric and run", "Published", "Predicted", "Error"];
    html! {
        section.card.ladder-card aria-labelledby="ladder-ends" {
            h2 #ladder-ends { "Published and predicted" }
            (table("Published and predicted numbers of the runs", &titles, &rows))
            p.muted {
                "The error is the predicted value divided by the published one, minus 1. The "
                "published throughput is that of the whole cluster, 0.61 and 1.46 million "
                "tokens/s, divided by the number of NPUs. No constant of the model is set for "
                "these runs. " (runs.last().and_then(|last| band(last)).unwrap_or_default()) " "
                a href=(Page::Trust.path()) { "How predictions compare with published runs" }
            }
        }
    }
}

/// Sentence on the expected error of predictions like these.
fn band(last: &Step) -> Option<String> {
    let plan = model::Plan::new(&last.predicted.design).ok()?;
    let expected = expected(&plan, MetricId::mfu);
    matches!(expected, Expected::Range(_))
        .then(|| expected.sentence(MetricId::mfu, &last.predicted.metrics))
}

fn end(step: &Step, metric: MetricId) -> Markup {
    let published = step.published(metric);
    let run = step.preset.and_then(|id| Preset::find(id).ok());
    let predicted = format::number(step.predicted.metrics.get(metric));
    let shown = |value| format::measured(metric, value);
    html! {
        @if let (Some(published), Some(run)) = (published, run) {
            tr.ends {
                th scope="row" { (metric.metric().label) " " span.beside { (run.title) } }
                td { (shown(published)) }
                td { (shown(predicted)) }
                td { (format::relative(predicted, published)) }
            }
        }
    }
}

/// The range over layouts that the baseline may have had.
fn baseline(first: &Step, layouts: &Layouts) -> Markup {
    let titles = ["Layout", "MFU", "Throughput per NPU", "Bubble", "Peak memory per NPU"];
    let rows = html! { @for fitting in &layouts.fitting { (layout(fitting)) } };
    html! {
        section.card.ladder-card aria-labelledby="ladder-baseline" {
            h2 #ladder-baseline { "The baseline's layout isn't published" }
            p { (range_sentence(first, layouts)) }
            p.muted {
                "Tried are all combinations of TP 4 and 8, PP 8, 16 and 32, EP 16 to 256 and "
                "micro-batches of 1 and 2 on 4,096 NPUs, with one chunk a stage (VPP 1), whole "
                "layers recomputed and nothing overlapped. Which of them it was isn't known, so "
                "the range isn't scored. The ladder starts from the TP, PP and EP of the final "
                "run: " a href={ "/?v=1&preset=" (START) } { "the baseline's preset" } "."
            }
            details.figure-table {
                summary { "All layouts that fit, the slowest first" }
                (table("Layouts that fit", &titles, &rows))
            }
        }
    }
}

/// Sentence on the range's width and the place of the published number.
fn range_sentence(first: &Step, layouts: &Layouts) -> String {
    let Some((low, high)) = layouts.mfu_range() else {
        return "No layout that was tried is legal and fits in memory.".to_owned();
    };
    let side = match first.published(MetricId::mfu) {
        Some(published) if published < low => "below",
        Some(published) if published > high => "above",
        Some(_) => "within",
        None => return "Nothing is published to compare.".to_owned(),
    };
    format!(
        "Of {} layouts that were tried, {} are legal and {} of these fit in memory. Their \
         predicted MFU goes from {} to {}: the published {} lies {side}.",
        format::whole(layouts.tried as u64),
        format::whole(layouts.legal as u64),
        format::whole(layouts.fitting.len() as u64),
        format::percent(low, 1),
        format::percent(high, 1),
        printed_mfu(START),
    )
}

fn layout(predicted: &Predicted) -> Markup {
    let (parallel, training) = (&predicted.design.parallel, &predicted.design.training);
    let name = format!(
        "TP {} PP {} EP {} MBS {}",
        parallel.tensor_model_parallel_size,
        parallel.pipeline_model_parallel_size,
        parallel.expert_model_parallel_size,
        training.micro_batch_size,
    );
    let metrics = &predicted.metrics;
    html! {
        tr {
            th scope="row" { a href=(design_address(&predicted.design)) { (name) } }
            td { (mfu(predicted)) }
            td { (format::token_rate(metrics.tokens_per_second_per_device)) }
            td { (format::percent(metrics.bubble_ratio, 2)) }
            (memory(predicted))
        }
    }
}
