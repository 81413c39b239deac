//! The part *Experts*: which are kept, what of accuracy is published of that, what fits where, and
//! what a router trace of tasks says, which is read in the browser and goes nowhere.

use std::sync::Arc;

use leptos::ev;
use leptos::prelude::*;
use maud::{Markup, PreEscaped, html};
use model::pattern::{Coverage, Generator, Goal, Keep, Patterns, coverage, overlap, text};
use model::serving::experts::{Experts, published};
use model::serving::fits::fits;
use model::units::Bytes;
use wasm_bindgen_futures::JsFuture;
use web_sys::HtmlInputElement;

use super::state::{Ran, State};
use crate::charts::{Line, Lines, for_any_page, lines};
use crate::present::format;
use crate::present::html::table_head;

/// Bytes of a trace that the browser reads.
const MAX_BYTES: f64 = 64e6;
/// Tasks that the chart and the tables show, at most.
const LINES: usize = 5;
const TASKS: usize = 12;
/// Tasks and seed of the example.
const EXAMPLE: (usize, u64) = (4, 1);

/// A trace, or what is wrong with it.
type Trace = Result<Arc<Patterns>, Vec<String>>;

/// The part of the page.
pub(super) fn part(state: State) -> impl IntoView {
    let kept = Memo::new(move |_| state.with_shown(kept));
    let trace = RwSignal::new(None::<Trace>);
    let traced = Memo::new(move |_| {
        trace.with(|trace| match trace {
            None => String::new(),
            Some(Err(errors)) => wrong(errors).into_string(),
            Some(Ok(patterns)) => state.with_shown(|ran| traced(ran, patterns)),
        })
    });
    let open = move |event: ev::Event| read(&event_target::<HtmlInputElement>(&event), trace);
    let example = move |_| {
        let size = untrack(|| {
            state.with(|design| (design.transformer.num_layers, design.transformer.num_moe_experts))
        });
        let (tasks, seed) = EXAMPLE;
        if let (layers, Some(experts)) = size {
            let generator = Generator::new(seed, tasks, layers as usize, experts as usize);
            trace.set(generator.patterns().map(|patterns| Ok(Arc::new(patterns))));
        }
    };
    view! {
        <section class="card schedule-card" aria-labelledby="experts-title">
            <h2 id="experts-title">"Experts"</h2>
            <div class="scroll-x" role="region" tabindex="0" aria-label="Experts, tables"
                inner_html=move || kept.get()
            ></div>
            <p>
                <label for="router-trace">"Router trace of tasks, CSV or JSON"</label>
                " "
                <input type="file" id="router-trace" accept=".csv,.json" on:change=open />
                " "
                <button type="button" class="button" on:click=example>"Generate an example"</button>
            </p>
            <div class="scroll-x" role="region" tabindex="0" aria-label="What tasks need"
                aria-live="polite" inner_html=move || traced.get()
            ></div>
        </section>
    }
}

/// Reads the file that was chosen.
fn read(input: &HtmlInputElement, trace: RwSignal<Option<Trace>>) {
    let Some(file) = input.files().and_then(|files| files.get(0)) else { return };
    leptos::task::spawn_local(async move {
        let read = if file.size() <= MAX_BYTES {
            JsFuture::from(file.text()).await.ok().and_then(|text| text.as_string())
        } else {
            None
        };
        let parsed = match read {
            Some(content) => text::read(content.as_bytes())
                .map(Arc::new)
                .map_err(|errors| errors.iter().map(ToString::to_string).collect()),
            None => Err(vec!["This file can't be read here; up to 64 MB can.".to_owned()]),
        };
        // The page may be gone by then.
        let _ = trace.try_set(Some(parsed));
    });
}

fn wrong(errors: &[String]) -> Markup {
    html! { ul.link-errors { @for error in errors { li { (error) } } } }
}

fn gigabytes(bytes: f64) -> String {
    format!("{} GB", format::decimals(bytes * 1e-9, 1))
}

/// What is kept, what is published of it, and what fits where.
fn kept(ran: &Ran) -> String {
    let Some(experts) = Experts::new(&ran.plan) else {
        return html! { p { "The model has no experts." } }.into_string();
    };
    let touched = experts.touched(&ran.plan, &ran.inference);
    let markup = html! {
        table {
            caption { "As served" }
            tbody {
                (row("Kept of each layer", &format!("{} / {}", experts.kept, experts.routed)))
                (row("Visited by a token", &format::significant(experts.topk, 3)))
                (row("Touched by a step, of each layer", &format::decimals(touched, 1)))
                (row("Imbalance among the kept", &format::decimals(experts.imbalance, 3)))
                (row("Weights of the model", &gigabytes(experts.model_bytes)))
                (row("The same with MTP layers", &gigabytes(experts.model_bytes_with_mtp)))
                @if experts.on_host > 0 {
                    (row("On the host, of each layer", &experts.on_host.to_string()))
                    (row("Visits to the devices",
                        &format::percent(experts.hit_rate, 1).to_string()))
                    (row("Bytes on the host", &gigabytes(experts.host_bytes)))
                }
            }
        }
        (accuracy(ran))
        (machines(ran))
    };
    markup.into_string()
}

fn row(name: &str, value: &str) -> Markup {
    html! { tr { th scope="row" { (name) } td { (value) } } }
}

/// Accuracy as it is published, beside the share that it was measured with.
fn accuracy(ran: &Ran) -> Markup {
    let rows: Vec<_> = published(ran.plan.design()).collect();
    html! {
        @if rows.is_empty() {
            p.muted { "Nothing is published of this model's accuracy with fewer experts." }
        } @else {
            table {
                caption { "Accuracy as published, of no other share is it known" }
                (table_head(&["Model", "Visited / kept", "Benchmark", "Right", "Source"]))
                tbody {
                    @for it in rows {
                        tr {
                            th scope="row" { (it.model) }
                            td { (it.topk) " / " (it.kept) }
                            td { (it.benchmark) }
                            td { (format::percent(it.accuracy, 2)) }
                            td { a href=(it.source.url) { (it.source.title) } }
                        }
                    }
                }
            }
        }
    }
}

/// What fits where.
fn machines(ran: &Ran) -> Markup {
    let memory = |bytes: f64| format::memory(Bytes::new(bytes)).to_string();
    html! {
        table {
            caption { "What fits where" }
            (table_head(&[
                "Machine", "Weights", "Most kept", "As asked", "Weights per device", "Limit",
                "Requests",
            ]))
            tbody {
                @for fit in fits(ran.plan.design()) {
                    tr {
                        th scope="row" { (fit.machine.title) }
                        td { (fit.format()) }
                        @let most = fit.most_kept.map(|it| it.to_string());
                        td { (most.unwrap_or_else(|| "none".to_owned())) }
                        td { (if fit.is_fitting { "fits" } else { "does not fit" }) }
                        td { (memory(fit.weights[0])) }
                        td { (memory(fit.weights[1])) }
                        td { (format::decimals(fit.requests, 0)) }
                    }
                }
            }
        }
    }
}

/// What a trace says of the experts that are kept.
fn traced(ran: &Ran, patterns: &Patterns) -> String {
    let Some(experts) = Experts::new(&ran.plan) else { return String::new() };
    if patterns.experts() as u64 > experts.routed {
        let message =
            format!("The trace has {} experts, the model {}.", patterns.experts(), experts.routed);
        return wrong(&[message]).into_string();
    }
    let kept = (experts.kept as usize).min(patterns.experts());
    let curves: Vec<Coverage> =
        (0..patterns.tasks().len().min(TASKS)).map(|task| Coverage::new(patterns, task)).collect();
    let markup = html! {
        @if patterns.seed().is_some() {
            p.muted { "Generated scores: of no run and no task." }
        }
        (PreEscaped(for_any_page(|width| lines(&chart(patterns, &curves, kept), width))))
        (covered(patterns, &curves, kept))
        (shared(patterns, kept))
    };
    markup.into_string()
}

fn chart(patterns: &Patterns, curves: &[Coverage], kept: usize) -> Lines {
    let names = patterns.tasks().iter().zip(curves).take(LINES);
    let line = |(name, curve): (&String, &Coverage)| Line {
        name: name.clone(),
        points: curve.mean.iter().enumerate().map(|(at, it)| (at as f64, it * 100.0)).collect(),
        is_apart: false,
    };
    Lines {
        label: "Router mass that the best experts of each layer cover, over how many are kept."
            .to_owned(),
        x_title: "experts kept of each layer".to_owned(),
        y_title: "router mass covered (%)".to_owned(),
        lines: names.map(line).collect(),
        ticks: None,
        places: vec![(kept as f64, "kept".to_owned())],
        from: 0.0,
        decimals: 1,
    }
}

fn covered(patterns: &Patterns, curves: &[Coverage], kept: usize) -> Markup {
    let percent = |share: f64| format::percent(share, 1).to_string();
    let all: Vec<usize> = (0..patterns.tasks().len()).collect();
    let layers = patterns.layers().len();
    let pooled = patterns
        .pooled(&all)
        .map(|pooled| Keep::new(&pooled, 0, kept * layers, 1, Goal::Equal).sets)
        .unwrap_or_default();
    html! {
        table {
            caption { "Router mass covered by task" }
            (table_head(&["Task", "By its own best", "Least layer", "By all tasks' best",
                "Kept for 95 %"]))
            tbody {
                @for (task, curve) in curves.iter().enumerate() {
                    @let together = coverage(patterns, task, &pooled);
                    tr {
                        th scope="row" { (patterns.tasks()[task]) }
                        td { (percent(curve.mean[kept])) }
                        td { (percent(curve.least[kept])) }
                        td { (percent(together.iter().sum::<f64>() / layers as f64)) }
                        td { (curve.kept_for(0.95)) }
                    }
                }
            }
        }
    }
}

/// What tasks have in common, as a matrix.
fn shared(patterns: &Patterns, kept: usize) -> Markup {
    let matrix = overlap(patterns, kept);
    let names: Vec<&str> = patterns.tasks().iter().take(TASKS).map(String::as_str).collect();
    html! {
        table {
            caption { "Experts that two tasks keep both" }
            thead { tr { th {} @for name in &names { th scope="col" { (name) } } } }
            tbody {
                @for (name, row) in names.iter().zip(&matrix) {
                    tr {
                        th scope="row" { (name) }
                        @for share in row.iter().take(TASKS) {
                            td { (format::percent(*share, 0)) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::design::{Design, KnobId};
    use model::serving::{ServingPlan, infer};

    use super::*;

    fn ran(preset: &str, settings: &[(&str, &str)]) -> Ran {
        let mut design = Design::from_preset(preset).expect("a preset");
        for (knob, value) in settings {
            let id = KnobId::find(knob).expect("a knob");
            design.set_text(id, value).expect("a value");
        }
        let plan = ServingPlan::new(&design).expect("a design that serves");
        let inference = infer(&plan);
        Ran { plan, inference }
    }

    fn pangu() -> Ran {
        ran(
            "pangu-ultra-moe-718b",
            &[
                ("accelerator", "ascend-910b3"),
                ("num_devices", "8"),
                ("serving.tensor_parallel_size", "8"),
                ("moe_expert_parallel_size", "8"),
                ("experts_kept", "64"),
                ("experts_kept_topk", "4"),
            ],
        )
    }

    #[test]
    fn accuracy_stands_beside_its_share_with_its_source() {
        let html = kept(&pangu());
        for part in ["64 / 256", "387.1 GB", "393.6 GB", "4 / 64", "96.95", "2505.17639"] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn a_trace_gives_a_chart_and_a_matrix_and_says_what_is_generated() {
        let patterns = Generator::new(1, 3, 58, 256).patterns().expect("scores");
        let html = traced(&pangu(), &patterns);
        for part in ["<svg", "Generated scores", "Experts that two tasks keep both", "100"] {
            assert!(html.contains(part), "{part}");
        }
        let other = Generator::new(1, 3, 58, 512).patterns().expect("scores");
        assert!(traced(&pangu(), &other).contains("The trace has 512 experts, the model 256."));
    }

    #[test]
    fn a_dense_model_has_no_experts_to_keep() {
        let dense =
            ran("llama-3-70b", &[("num_devices", "8"), ("serving.tensor_parallel_size", "8")]);
        assert!(kept(&dense).contains("no experts"));
    }
}
