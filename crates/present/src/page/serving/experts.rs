//! The part *Experts* as text: which are kept, what of accuracy is published of that, what fits
//! where, and what a router trace of tasks says.

pub mod traced;

use maud::{Markup, html};
use model::ground::units::Bytes;
use model::serving::capacity::capacities;
use model::serving::experts::{Experts, published};

pub use traced::pattern_rows;

use super::ServingAnswer;
use crate::format;
use crate::html::table_head;

/// Fault of a trace.
#[must_use]
pub fn wrong(errors: &[String]) -> Markup {
    html! { ul.link-errors { @for error in errors { li { (error) } } } }
}

fn gigabytes(bytes: Bytes) -> String {
    format!("{} GB", format::decimals(bytes.get() * 1e-9, 1))
}

/// Experts that are kept, published figures of them, and devices that hold them.
#[must_use]
pub fn kept(ran: &ServingAnswer) -> String {
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
fn accuracy(ran: &ServingAnswer) -> Markup {
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
                            td { (format::in_unit(it.figure.value, it.figure.unit)) }
                            td { a href=(it.figure.source.url) { (it.figure.source.title) } }
                        }
                    }
                }
            }
        }
    }
}

/// Experts that fit, by accelerator.
fn machines(ran: &ServingAnswer) -> Markup {
    let memory = |bytes: Bytes| format::memory(bytes).to_string();
    html! {
        table {
            caption { "What fits where" }
            (table_head(&[
                "Machine", "Weights", "Most kept", "As asked", "Weights per device", "Limit",
                "Concurrency",
            ]))
            tbody {
                @for fit in capacities(ran.plan.design()) {
                    tr {
                        th scope="row" { (fit.machine.title) }
                        td { (fit.format()) }
                        @let most = fit.most_kept.map(|it| it.to_string());
                        td { (most.unwrap_or_else(|| "none".to_owned())) }
                        td { (if fit.is_fitting { "fits" } else { "does not fit" }) }
                        td { (memory(fit.weights)) }
                        td { (memory(fit.limit)) }
                        td { (format::decimals(fit.requests, 0)) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::design::file::Tree;
    use model::design::{Design, KnobId};
    use model::routing::pattern::{Generator, Goal};
    use model::serving::traced::Traced;
    use model::serving::{ServingPlan, infer};

    use super::*;

    fn ran(preset: &str, settings: &[(&str, &str)]) -> ServingAnswer {
        let mut design = Design::from_preset(preset).expect("a preset");
        for (knob, value) in settings {
            let id = KnobId::find(knob).expect("a knob");
            design.set_text(id, value).expect("a value");
        }
        let plan = ServingPlan::new(&design).expect("a design that serves");
        let inference = infer(&plan);
        ServingAnswer { plan, inference }
    }

    fn pangu() -> ServingAnswer {
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
    fn a_trace_gives_charts_maps_and_what_changing_tasks_costs_and_says_what_is_generated() {
        let plan = pangu().plan;
        let patterns = Generator::new(1, 3, 58, 256).patterns().expect("scores");
        let found = Traced::new(&plan, &patterns, Goal::Mean).expect("a trace of the model");
        let html = traced::shown(&found, &patterns);
        for part in ["<svg", "Generated scores", "Experts that two tasks keep both", "Changes pay"]
        {
            assert!(html.contains(part), "{part}");
        }
        let Tree::Map(kept) = traced::kept(&found, &patterns) else { panic!("no object") };
        assert_eq!(kept.len(), 3, "a list of each task");
        let other = Generator::new(1, 3, 58, 512).patterns().expect("scores");
        assert!(Traced::new(&plan, &other, Goal::Mean).is_err());
    }

    #[test]
    fn a_dense_model_has_no_experts_to_keep() {
        let dense =
            ran("llama-3-70b", &[("num_devices", "8"), ("serving.tensor_parallel_size", "8")]);
        assert!(kept(&dense).contains("no experts"));
    }
}
