//! The headline: what the design is and what comes of it, in words.

use leptos::prelude::*;
use model::choice::Choice;
use model::design::Design;
use model::metric::MetricId;
use present::format;
use present::insight::bottleneck::largest_loss;
use present::insight::numbers::Numbers;
use present::site::Page;
use present::words::name;
use present::words::range::half;

use crate::explorer::Explorer;

/// What Moescape is, the design's name, what it is made of, and what comes of it.
pub fn headline(explorer: Explorer) -> impl IntoView {
    let short = Memo::new(move |_| explorer.with_numbers(in_short));
    let outcome = Memo::new(move |_| explorer.with_numbers(outcome));
    view! {
        <section class="design-head" aria-label="Design">
            <div class="lead">
                <p>
                    "Predicts how a mixture-of-experts model trains on your cluster, before you "
                    "book it. Turn a knob."
                </p>
                <p class="entry-links">
                    <a href="/import">"Import a model or script"</a>
                    <a href=Page::Ladder.path()>"Watch 18.9 → 30.0 → 41 % MFU"</a>
                </p>
            </div>
            <h1>{move || explorer.title()}</h1>
            <p class="outcome">{move || outcome.get()}</p>
            <p class="design-short">{move || short.get()}</p>
        </section>
    }
}

/// What comes of the design: `11 to 48 % MFU, 97 % of memory. Largest loss: ...`.
fn outcome(numbers: &Numbers) -> String {
    let metrics = &numbers.estimate.metrics;
    let mfu = half(&numbers.plan, MetricId::mfu, metrics)
        .unwrap_or_else(|| format::percent(metrics.mfu, 1).to_string());
    let memory = format::percent(metrics.memory_peak / metrics.memory_limit, 0);
    let mut text = format!("{mfu} MFU with even odds, {memory} of memory.");
    if let Some((name, share)) = largest_loss(&numbers.estimate) {
        text.push_str(&format!(" Largest loss: {name}, {share} of the step."));
    }
    text
}

/// Size, layout and batch, a few words each: one text, so that none moves where another one grows.
fn in_short(numbers: &Numbers) -> String {
    let (design, metrics) = (numbers.plan.design(), &numbers.estimate.metrics);
    let total = format::count(metrics.params_total as f64);
    let active = format::count(metrics.params_active as f64);
    let mut words = vec![if metrics.params_total == metrics.params_active {
        format!("{total} parameters")
    } else {
        format!("{total} parameters, {active} active")
    }];
    words.extend(degrees(design));
    let training = &design.training;
    words.push(format!("MBS {}", training.micro_batch_size));
    let tokens = training.global_batch_size as f64 * training.seq_length as f64;
    words.push(format!("{} tokens a step", format::count(tokens)));
    let precision = training.precision.name();
    words.push(name::value(precision).unwrap_or_else(|| precision.to_owned()));
    words.extend(design.kernel.profile.as_ref().map(|name| format!("profile {name}")));
    words.join(" · ")
}

/// The degrees of parallelism that aren't 1.
fn degrees(design: &Design) -> impl Iterator<Item = String> {
    let parallel = &design.parallel;
    let virtual_stages = parallel.virtual_pipeline_model_parallel_size;
    let stages = parallel.pipeline_model_parallel_size;
    let pipeline = match virtual_stages {
        1 => stages.to_string(),
        chunks => format!("{stages} × {chunks}"),
    };
    let is_cut = [
        ("TP", parallel.tensor_model_parallel_size),
        ("PP", stages),
        ("CP", parallel.context_parallel_size),
        ("EP", parallel.expert_model_parallel_size),
        ("ETP", parallel.expert_tensor_parallel_size),
    ];
    is_cut.into_iter().filter(|(_, degree)| *degree > 1).map(move |(axis, degree)| {
        if axis == "PP" { format!("PP {pipeline}") } else { format!("{axis} {degree}") }
    })
}
