//! `moescape infer`: how a design would serve.

mod layouts;

use operations::Names;
use model::design::file::json;
use model::design::link;
use model::ground::knob::Section;
use model::ground::units::{Bytes, Seconds};
use model::metric::{MetricId, Regime};
use model::serving::{Inference, Layout, Part, Replicas, ServingPlan, infer};
use model::{Answer, MODEL_VERSION};
use present::format;
use reports::Cores;

use super::Failure;
use super::input::Source;
use super::output::{self, table, table_below};
use operations::{Operation as _, explain};
use model::metric::{MetricAddress, MetricPart};
use crate::inferred;

/// What to serve and how to say it.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Print how one metric comes about: tpot_seconds, ttft_seconds, kv_limited_concurrency
    #[arg(long, value_name = "METRIC", value_parser = metric)]
    explain: Option<MetricId>,
    /// Print the layouts of its devices that no other beats, prefill and decode together and on
    /// pools of their own, the best within its limits first
    #[arg(long, conflicts_with = "explain")]
    layouts: bool,
}

fn metric(text: &str) -> Result<MetricId, String> {
    output::metric_of(&[Regime::Serving], "serving", text)
}

/// Prints the inference. A design whose serving is illegal has its JSON, too, and is an error.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let design = arguments.source.design_by(Names::Serving)?;
    let set: Vec<_> = arguments.source.knobs(Names::Serving).collect();
    if arguments.layouts {
        return output::result(&match arguments.json {
            true => json::print(&crate::layouts::layouts(&design, &Cores::all())),
            false => layouts::text(&design),
        });
    }
    if arguments.json && arguments.explain.is_none() {
        output::result(&json::print(&inferred::inferred(&design, &set)))?;
    }
    let plan = ServingPlan::new(&design)
        .map_err(|broken| Failure::User(broken.iter().map(output::broken_rule).collect()))?;
    if let Some(id) = arguments.explain {
        let inference = infer(&plan);
        let terms = Answer::Serving { plan: &plan, inference: &inference }.explain(id);
        let terms = terms.ok_or_else(|| Failure::user("that isn't known".to_owned()))?;
        let address = MetricAddress { metric: id, part: MetricPart::Whole };
        let answer = explain::Answer::new(address, terms, &design, None);
        return output::result(&if arguments.json {
            json::print(&reports::typed::Said::said(explain::Explain::output(&answer)))
        } else {
            explain::Explain::text(&answer)
        });
    }
    if arguments.json {
        return Ok(());
    }
    output::result(&text(&plan, &infer(&plan), &inferred::unread(&set)))
}

fn text(plan: &ServingPlan, inference: &Inference, unread: &[String]) -> String {
    let mut sections = vec![
        head(plan, inference),
        numbers(plan, inference),
        parts("A step of decode", &inference.decode),
        parts("A prompt", &inference.prefill),
        memory(inference),
    ];
    let said: Vec<String> =
        inference.warnings.iter().chain(unread).map(|line| format!("  {line}\n")).collect();
    if !said.is_empty() {
        sections.push(format!("To know\n{}", said.concat()));
    }
    sections.join("\n")
}

fn layout(layout: Layout) -> String {
    let Layout { tensor, pipeline, data, expert, expert_tensor } = layout;
    format!(
        "TP {tensor}, PP {pipeline}, attention DP {data}, EP {expert}, expert TP {expert_tensor}"
    )
}

fn head(plan: &ServingPlan, inference: &Inference) -> String {
    let design = plan.design();
    let serving = &design.serving;
    let row = design.cluster.accelerator.row();
    let Replicas { prefill, decode } = plan.replicas();
    let counted = |count| format::counted(count, "instance", "instances");
    let mut text =
        format!("{}, served on {} x {}\n", design.preset.title, plan.devices(), row.title);
    let changed = design.changed();
    for id in changed.iter().filter(|id| {
        matches!(id.knob().section, Section::Serving | Section::Cluster | Section::Transformer)
    }) {
        text.push_str(&format!("  {} = {}\n", id.id(), design.get(*id)));
    }
    text.push_str(&format!("  {} of {}\n", counted(decode), layout(plan.layout())));
    if let Some(own) = plan.prefill_layout() {
        text.push_str(&format!("  prefill: {} of {}\n", counted(prefill), layout(own)));
    }
    text.push_str(&format!(
        "  {} tokens in, {} out; limited by {}\n  link /?{}\n  model {MODEL_VERSION}\n",
        format::whole(serving.input_length),
        format::whole(serving.output_length),
        inference.bottleneck.words(),
        link::encode(design),
    ));
    text
}

fn numbers(plan: &ServingPlan, inference: &Inference) -> String {
    output::metrics(&Answer::Serving { plan, inference }, "exact")
}

fn parts(title: &str, parts: &[Part]) -> String {
    let all: Seconds = parts.iter().map(|part| part.time).sum();
    let row = |part: &Part| {
        vec![
            part.name.to_owned(),
            format::duration(part.time).to_string(),
            format::percent(part.time / all, 1).to_string(),
        ]
    };
    format!("{title}\n{}", table_below(["", "time", "share"], "lrr", parts.iter().map(row)))
}

fn memory(inference: &Inference) -> String {
    let memory = &inference.memory;
    let rows = [
        ("Weights", memory.weights),
        ("Activations of a step", memory.activations),
        ("Engine's reserve", memory.reserve),
        ("Keys and values", memory.cache),
        ("What the engine takes", memory.limit),
        ("A request's keys and values", memory.sequence),
    ];
    let row =
        |(name, bytes): (&str, Bytes)| vec![name.to_owned(), format::memory(bytes).to_string()];
    format!("Memory of a device\n{}", table("lr", &rows.map(row)))
}
