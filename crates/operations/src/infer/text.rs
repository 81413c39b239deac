//! An inference in words, for terminals.

use model::design::link;
use model::ground::knob::Section;
use model::ground::units::{Bytes, Seconds};
use model::serving::{Inference, Layout, Part, Replicas, ServingPlan};
use model::{Answer, MODEL_VERSION};
use present::format;

use crate::columns::{metrics, table, table_below};

/// The inference for people, with warnings of knobs that aren't read.
pub(super) fn of(plan: &ServingPlan, inference: &Inference, unread: &[String]) -> String {
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
    metrics(&Answer::Serving { plan, inference }, "exact")
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
