//! The four charts with their captions and tables.

use std::sync::Arc;

use leptos::prelude::*;

use super::cards::facts;
use crate::bottleneck::fullest_stage;
use crate::charts;
use crate::explorer::{Explorer, Numbers};
use crate::format;
use crate::widgets::figure::{Draw, Figure, figure};

/// A chart of the page.
struct Spec {
    id: &'static str,
    title: &'static str,
    caption: fn(&Numbers) -> String,
    draw: fn(&Numbers, u32) -> String,
    rows: fn(&Numbers) -> Vec<Vec<String>>,
}

static FIGURES: [Spec; 4] = [
    Spec {
        id: "memory",
        title: "Memory per pipeline stage",
        caption: memory_caption,
        draw: |numbers, width| charts::memory_by_stage(&numbers.estimate, width),
        rows: |numbers| charts::memory_by_stage_table(&numbers.estimate),
    },
    Spec {
        id: "step",
        title: "Where the step goes",
        caption: |numbers| {
            let metrics = &numbers.estimate.metrics;
            format!(
                "From the ideal time to the step of {}; its parts add up",
                format::duration(metrics.step_time),
            )
        },
        draw: |numbers, width| charts::step_breakdown(&numbers.estimate, width),
        rows: |numbers| charts::step_breakdown_table(&numbers.estimate),
    },
    Spec {
        id: "communication",
        title: "Communication",
        caption: |numbers| {
            let metrics = &numbers.estimate.metrics;
            format!(
                "{} per device and step; {} of the communication time is hidden",
                format::traffic(metrics.comm_volume),
                format::percent(metrics.overlap_ratio, 1),
            )
        },
        draw: |numbers, width| charts::communication(&numbers.estimate, width),
        rows: |numbers| charts::communication_table(&numbers.estimate),
    },
    Spec {
        id: "bubble",
        title: "Bubble against micro-batches",
        caption: |numbers| {
            let metrics = &numbers.estimate.metrics;
            format!(
                "At {}: {} by the closed form, {} with real stage times",
                format::counted(numbers.plan.num_microbatches(), "micro-batch", "micro-batches"),
                format::percent(metrics.bubble_ratio_closed_form, 2),
                format::percent(metrics.bubble_ratio, 2),
            )
        },
        draw: |numbers, width| {
            charts::bubble_by_microbatches(&numbers.plan, &numbers.estimate, width)
        },
        rows: |numbers| charts::bubble_by_microbatches_table(&numbers.plan, &numbers.estimate),
    },
];

fn memory_caption(numbers: &Numbers) -> String {
    let limit = format::memory(numbers.estimate.metrics.memory_limit);
    let over = numbers
        .estimate
        .stages
        .iter()
        .filter(|stage| stage.memory.peak().get() > numbers.estimate.metrics.memory_limit.get())
        .count();
    let fullest = fullest_stage(&numbers.estimate).map_or_else(String::new, |stage| {
        format!("Stage {} is the fullest, {}", stage.stage, format::memory(stage.memory.peak()))
    });
    match over {
        0 => format!("{fullest}; all are within the limit of {limit}"),
        1 => format!("{fullest}; 1 stage is over the limit of {limit}"),
        count => format!("{fullest}; {count} stages are over the limit of {limit}"),
    }
}

/// The charts in two columns; the further numbers fill the shorter one.
pub fn figures(explorer: Explorer) -> impl IntoView {
    let [memory, step, communication, bubble] =
        FIGURES.each_ref().map(|spec| chart(explorer, spec));
    view! {
        <section class="figures" aria-label="Charts">
            <div class="column">{memory}{communication}</div>
            <div class="column">{step}{bubble}{facts(explorer)}</div>
        </section>
    }
}

fn chart(explorer: Explorer, spec: &'static Spec) -> impl IntoView {
    let draw: Draw = Arc::new(move |width| {
        explorer.with_numbers_untracked(|numbers| (spec.draw)(numbers, width))
    });
    figure(Figure {
        id: spec.id,
        title: spec.title,
        caption: Signal::derive(move || explorer.with_numbers(spec.caption)),
        first: charts::for_any_width(|width| draw(width)),
        draw,
        rows: Arc::new(move || explorer.with_numbers_untracked(spec.rows)),
        changes: Signal::derive(move || explorer.with_numbers(|_| ())),
        // The explanation takes room from the charts.
        room: Signal::derive(move || explorer.explained.with(|_| ())),
    })
}
