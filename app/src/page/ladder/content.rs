//! What stands on the page, as HTML that only the server writes.

use leptos::prelude::*;
use model::ladder::{NOT_MODELLED, PAPER, START};
use model::link;
use model::metric::MetricId;
use model::preset::Preset;

use super::numbers::{Layouts, Predicted, Step, layouts, steps};
use crate::charts;
use crate::insight::memory_state;
use crate::panel::explanation::source;
use crate::present::format::{self, PerUnit};
use crate::present::html::save_buttons;
use crate::present::range::{Expected, expected};
use crate::site::Page;

/// The metrics that are published of the runs.
const PUBLISHED: [MetricId; 2] = [MetricId::mfu, MetricId::tokens_per_second_per_device];

/// What stands where nothing is known or nothing is compared.
const NOTHING: &str = "–";

/// The whole content. It is the same for everybody, so it is made once.
pub(super) fn html() -> &'static str {
    static HTML: PerUnit<String> = PerUnit::new();
    HTML.get_or_init(|| {
        let (steps, layouts) = (steps(), layouts());
        let Some(first) = steps.first() else {
            return String::new();
        };
        let runs: Vec<&Step> = steps.iter().filter(|step| step.preset.is_some()).collect();
        view! {
            {lead(&runs)}
            {chart(&steps, &layouts)}
            {changes(&steps)}
            {ends(&runs)}
            {baseline(first, &layouts)}
        }
        .to_html()
    })
}

/// What the page says first.
fn lead(runs: &[&Step]) -> impl IntoView + use<> {
    let said = runs.iter().map(|step| {
        let published = step.published(MetricId::mfu);
        let error = published.map(|mfu| format::relative(step.predicted.metrics.mfu, mfu));
        format!("{} ({})", mfu(&step.predicted), error.unwrap_or_default())
    });
    let said = said.collect::<Vec<_>>().join(", ");
    let paper = Preset::find(PAPER).ok().map(|preset| source(preset.source));
    view! {
        <section class="card ladder-card">
            <p class="ladder-headline">
                {format!("The model predicts {said} for the three published runs.")}
            </p>
            <p>
                "The paper reports 18.9 % MFU on 4,096 NPUs and, after tuning, 30.0 % on 6,144 \
                 NPUs; a follow-up of June 2025 (press) 41 % on 6,000 to 10,000 NPUs. The steps \
                 between aren't published as a table: their order here is ours, and beside each \
                 stands what is known of it. Kernels and host are of May 2025 up to the final run \
                 and of June after it, each rate as published. Source: " {paper}
            </p>
        </section>
    }
}

fn mfu(predicted: &Predicted) -> String {
    format::percent(predicted.metrics.mfu, 1).to_string()
}

/// Address of the explorer with a design.
fn address(predicted: &Predicted) -> String {
    format!("/?{}", link::encode(&predicted.design))
}

fn chart(steps: &[Step], layouts: &Layouts) -> impl IntoView + use<> {
    let rungs: Vec<charts::Rung> = steps
        .iter()
        .enumerate()
        .map(|(index, step)| charts::Rung {
            title: format!("{index}. {}", step.title()),
            mfu: step.predicted.metrics.mfu,
            published: step.published(MetricId::mfu),
            range: layouts.mfu_range().filter(|_| index == 0),
        })
        .collect();
    view! {
        <figure class="figure card" id="ladder-figure" aria-labelledby="ladder-chart">
            <figcaption>
                <h2 id="ladder-chart">"MFU after each change"</h2>
                <p>"Each bar goes on from the one above it; the table below has its numbers"</p>
            </figcaption>
            <div class="chart" inner_html=charts::for_any_width(|width| {
                charts::ladder(&rungs, width)
            })></div>
            <p
                class="figure-save"
                inner_html=save_buttons("ladder-figure", "MFU after each change").into_string()
            ></p>
        </figure>
    }
}

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Words,
    Numbers,
}

/// The heading of a column and what stands below it.
#[derive(Clone, Copy, Debug)]
struct Column(&'static str, Holds);

/// A table that scrolls by itself.
fn table(caption: &'static str, columns: &'static [Column], body: impl IntoView) -> impl IntoView {
    let columns: Vec<_> = columns
        .iter()
        .map(|Column(name, holds)| {
            view! { <th scope="col" class:words=*holds == Holds::Words>{*name}</th> }
        })
        .collect();
    view! {
        <div class="scroll-x" role="region" tabindex="0" aria-label=format!("{caption}, table")>
            <table class="ladder-table">
                <caption class="visually-hidden">{caption}</caption>
                <thead><tr>{columns}</tr></thead>
                <tbody>{body}</tbody>
            </table>
        </div>
    }
}

/// The table of all changes.
fn changes(steps: &[Step]) -> impl IntoView + use<> {
    let rows: Vec<_> = (0..steps.len()).map(|index| change(steps, index)).collect();
    let total = steps.first().zip(steps.last()).map(|(first, last)| {
        let [from, to] = [first, last].map(|step| step.predicted.metrics);
        let rate =
            format::relative(to.tokens_per_second_per_device, from.tokens_per_second_per_device);
        view! {
            <tr class="total">
                <th scope="row">"From the first to the last"</th>
                <td></td>
                <td>{format::points(to.mfu, from.mfu)}</td>
                <td>{format::relative(to.mfu, from.mfu)}</td>
                <td>{rate}</td>
                <td></td>
                <td></td>
                <td></td>
            </tr>
        }
    });
    let beside = view! {
        <tr class="not-modelled">
            <th scope="row">{NOT_MODELLED.title}</th>
            <td colspan="6">"published, not modelled"</td>
            <td class="words">{NOT_MODELLED.known}</td>
        </tr>
    };
    let columns = &[
        Column("Change", Holds::Words),
        Column("MFU", Holds::Numbers),
        Column("Gain", Holds::Numbers),
        Column("Gain, relative", Holds::Numbers),
        Column("Throughput per NPU", Holds::Numbers),
        Column("Bubble", Holds::Numbers),
        Column("Peak memory per NPU", Holds::Numbers),
        Column("What is known of it", Holds::Words),
    ];
    view! {
        <section class="card ladder-card" aria-labelledby="ladder-changes">
            <h2 id="ladder-changes">"One change at a time"</h2>
            <p class="muted">
                "Each row keeps the changes above it and opens as a design in the explorer. \
                 Bubble with real stage times; peak memory on the fullest stage."
            </p>
            {table("Changes from the baseline to the follow-up", columns, (rows, beside, total))}
        </section>
    }
}

fn change(steps: &[Step], index: usize) -> impl IntoView + use<> {
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
    let known = step.rung.map_or("18.9 % MFU; its layout isn't published", |rung| {
        if rung.known.is_empty() { "not published by itself" } else { rung.known }
    });
    let closed_form = format::percent(metrics.bubble_ratio_closed_form, 2);
    // A loss that is written as zero is none.
    let is_loss = before.is_some_and(|before| metrics.mfu < before - 0.000_5);
    view! {
        <tr>
            <th scope="row">
                <div class="rung">
                    <span>{format!("{index}.")}</span>
                    <div>
                        <a href=address(&step.predicted)>{step.title()}</a>
                        <code class="settings">{settings.join(", ")}</code>
                    </div>
                </div>
            </th>
            <td>{mfu(&step.predicted)}</td>
            <td class:loss=is_loss>{gain(format::points)}</td>
            <td class:loss=is_loss>{gain(format::relative)}</td>
            <td>{format::token_rate(metrics.tokens_per_second_per_device).to_string()}</td>
            <td>
                {format::percent(metrics.bubble_ratio, 2).to_string()}
                <span class="beside">{format!("{closed_form} closed form")}</span>
            </td>
            {memory(&step.predicted)}
            <td class="words">{known}</td>
        </tr>
    }
}

/// The peak, and how sure it is that it fits.
fn memory(predicted: &Predicted) -> impl IntoView + use<> {
    let metrics = &predicted.metrics;
    let state = metrics.memory_state();
    view! {
        <td>
            {format::memory(metrics.memory_peak).to_string()}
            " "
            <span class=memory_state::said_class(state)>{memory_state::word(state)}</span>
        </td>
    }
}

/// The published runs beside their predictions.
fn ends(runs: &[&Step]) -> impl IntoView + use<> {
    let rows: Vec<_> = runs
        .iter()
        .copied()
        .flat_map(|step| PUBLISHED.map(|metric| (step, metric)))
        .filter_map(|(step, metric)| end(step, metric))
        .collect();
    view! {
        <section class="card ladder-card" aria-labelledby="ladder-ends">
            <h2 id="ladder-ends">"Published and predicted"</h2>
            {table(
                "Published and predicted numbers of the runs",
                &[
                    Column("Metric and run", Holds::Words),
                    Column("Published", Holds::Numbers),
                    Column("Predicted", Holds::Numbers),
                    Column("Error", Holds::Numbers),
                ],
                rows,
            )}
            <p class="muted">
                "The error is the predicted value divided by the published one, minus 1. The \
                 published throughput is that of the whole cluster, 0.61 and 1.46 million \
                 tokens/s, divided by the number of NPUs. No constant of the model is set for \
                 these runs. " {runs.last().and_then(|last| band(last))} " "
                <a href=Page::Trust.path()>"How predictions compare with published runs"</a>
            </p>
        </section>
    }
}

/// What is known of the error of predictions like these.
fn band(last: &Step) -> Option<String> {
    let plan = model::Plan::new(&last.predicted.design).ok()?;
    let expected = expected(&plan, MetricId::mfu);
    matches!(expected, Expected::Range(_))
        .then(|| expected.sentence(MetricId::mfu, &last.predicted.metrics))
}

fn end(step: &Step, metric: MetricId) -> Option<impl IntoView + use<>> {
    let published = step.published(metric)?;
    let model::metric::MetricValue::Number(predicted) = step.predicted.metrics.get(metric) else {
        return None;
    };
    let shown =
        |value| format::metric(metric, model::metric::MetricValue::Number(value)).to_string();
    let run = Preset::find(step.preset?).ok()?.title;
    Some(view! {
        <tr class="ends">
            <th scope="row">{metric.metric().label} <span class="beside">{run}</span></th>
            <td>{shown(published)}</td>
            <td>{shown(predicted)}</td>
            <td>{format::relative(predicted, published)}</td>
        </tr>
    })
}

/// The range over layouts that the baseline may have had.
fn baseline(first: &Step, layouts: &Layouts) -> impl IntoView + use<> {
    let rows: Vec<_> = layouts.fitting.iter().map(layout).collect();
    let columns = &[
        Column("Layout", Holds::Words),
        Column("MFU", Holds::Numbers),
        Column("Throughput per NPU", Holds::Numbers),
        Column("Bubble", Holds::Numbers),
        Column("Peak memory per NPU", Holds::Numbers),
    ];
    view! {
        <section class="card ladder-card" aria-labelledby="ladder-baseline">
            <h2 id="ladder-baseline">"The baseline's layout isn't published"</h2>
            <p>{range_sentence(first, layouts)}</p>
            <p class="muted">
                "Tried are all combinations of TP 4 and 8, PP 8, 16 and 32, EP 16 to 256 and \
                 micro-batches of 1 and 2 on 4,096 NPUs, with one chunk a stage (VPP 1), whole \
                 layers recomputed and nothing overlapped. Which of them it was isn't known, so \
                 the range isn't scored. The ladder starts from the TP, PP and EP of the final \
                 run: " <a href=format!("/?v=1&preset={START}")>"the baseline's preset"</a> "."
            </p>
            <details class="figure-table">
                <summary>"All layouts that fit, the slowest first"</summary>
                {table("Layouts that fit", columns, rows)}
            </details>
        </section>
    }
}

/// How wide the range is, and where the published number lies.
fn range_sentence(first: &Step, layouts: &Layouts) -> String {
    let Some((low, high)) = layouts.mfu_range() else {
        return "No layout that was tried is legal and fits in memory.".to_owned();
    };
    let place = match first.published(MetricId::mfu) {
        Some(published) if published < low => "the published 18.9 % lies below",
        Some(published) if published > high => "the published 18.9 % lies above",
        Some(_) => "the published 18.9 % lies within",
        None => "nothing is published to compare",
    };
    format!(
        "Of {} layouts that were tried, {} are legal and {} of these fit in memory. Their \
         predicted MFU goes from {} to {}: {place}.",
        format::whole(layouts.tried as u64),
        format::whole(layouts.legal as u64),
        format::whole(layouts.fitting.len() as u64),
        format::percent(low, 1),
        format::percent(high, 1),
    )
}

fn layout(predicted: &Predicted) -> impl IntoView + use<> {
    let (parallel, training) = (&predicted.design.parallel, &predicted.design.training);
    let name = format!(
        "TP {} PP {} EP {} MBS {}",
        parallel.tensor_model_parallel_size,
        parallel.pipeline_model_parallel_size,
        parallel.expert_model_parallel_size,
        training.micro_batch_size,
    );
    let metrics = &predicted.metrics;
    view! {
        <tr>
            <th scope="row"><a href=address(predicted)>{name}</a></th>
            <td>{mfu(predicted)}</td>
            <td>{format::token_rate(metrics.tokens_per_second_per_device).to_string()}</td>
            <td>{format::percent(metrics.bubble_ratio, 2).to_string()}</td>
            {memory(predicted)}
        </tr>
    }
}
