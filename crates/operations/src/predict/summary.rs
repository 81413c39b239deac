//! A prediction for people: the numbers with units, and what each of them means.

use model::design::{Design, KnobId};
use model::ground::choice::{Choice, Timing};
use model::metric::{MetricId, Regime};
use model::training::estimate::{Estimate, StageMemory};
use model::{MODEL_VERSION, Plan, design::link, design::software, estimate};
use present::format;
use present::insight::balance::balance;
use present::insight::memory_state;
use present::study::conventions;
use present::words::name;
use present::words::range::{Expected, basis, expected, nearest, of_profile};

use crate::columns::{table, table_below};

/// The whole summary.
pub(super) fn text(plan: &Plan, estimate: &Estimate) -> String {
    let mut parts = vec![
        head(plan, estimate),
        headline(plan, estimate),
        ways_to_count(plan, estimate),
        step(estimate),
        stages(plan, estimate),
        communication(estimate),
        overlap(estimate),
    ];
    if !estimate.warnings.is_empty() {
        let lines: Vec<String> =
            estimate.warnings.iter().map(|warning| format!("  {warning}\n")).collect();
        parts.push(format!("To know\n{}", lines.concat()));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Head: the design's name, sizes, timing, memory and link.
fn head(plan: &Plan, estimate: &Estimate) -> String {
    let design = plan.design();
    let based = if design.changed().is_empty() { "" } else { "based on " };
    let mut text = format!("{} ({based}{})\n", name::title(design), design.preset.id);
    text.push_str(&changes(design));
    let sizes = [
        ("data-parallel ranks", plan.data_parallel_size()),
        ("expert-data-parallel ranks", plan.expert_data_parallel_size()),
        ("micro-batches per step", plan.num_microbatches()),
    ];
    let sizes = sizes.map(|(name, size)| format!("{} {name}", format::whole(size)));
    text.push_str(&format!("  {}\n", sizes.join(", ")));
    text.push_str(&lengths(plan).unwrap_or_default());
    text.push_str(&format!("  timing {}\n", timing(estimate)));
    text.push_str(&format!("  {}\n", memory_state::sentence_of(plan, estimate)));
    text.push_str(&format!("  link /?{}\n  model {MODEL_VERSION}\n", link::encode(design)));
    text
}

/// Effect on attention of documents of other lengths than the sequence's, with groups of a fixed
/// size and with those of dynamic context parallelism.
fn lengths(plan: &Plan) -> Option<String> {
    let ragged = plan.ragged()?;
    let [ranks, sequences] = ragged.meeting.map(format::whole);
    Some(format!(
        "  documents of {:.0} tokens: a token sees {:.0} instead of {}; attention of the busiest \
         of {ranks} ranks over their mean, after {sequences} sequences each: {:.3}, with dynamic \
         context parallelism {:.3}\n",
        ragged.mean_length,
        ragged.attended,
        format::whole(plan.design().training.seq_length),
        ragged.imbalance,
        ragged.dynamic_imbalance,
    ))
}

/// Origin of the pipeline's times.
fn timing(estimate: &Estimate) -> &'static str {
    match estimate.timing {
        Timing::Simulated => "simulated: every task of every stage",
        Timing::ClosedForm => "closed form: the schedule's published formula",
    }
}

/// The knobs that differ from the preset.
fn changes(design: &Design) -> String {
    let preset = design.preset.design();
    let line =
        |id: KnobId| format!("  {} = {} (preset: {})\n", id.id(), design.get(id), preset.get(id));
    design.changed().into_iter().map(line).collect()
}

/// The metrics, each with its expected error.
fn headline(plan: &Plan, estimate: &Estimate) -> String {
    let rows: Vec<Vec<String>> = MetricId::of(Regime::Training)
        .map(|id| {
            let metric = id.metric();
            let value = format::metric(id, estimate.metrics.get(id));
            vec![
                metric.label.into(),
                value.number,
                value.unit.into(),
                expected(plan, id).short(id, &estimate.metrics),
                id.words().definition.into(),
            ]
        })
        .collect();
    format!("Metrics, with their ranges\n{}{}", table("lrlll", &rows), bases(plan))
}

/// Bases of the ranges, a line for the time and one for the memory, and the nearest measured run.
fn bases(plan: &Plan) -> String {
    let line = |(name, id): (&str, MetricId)| match expected(plan, id) {
        Expected::Range(range) => format!("  {name}: {}\n", basis(&range)),
        Expected::ByToken(_) | Expected::AsPeakMemory | Expected::Exact | Expected::Derived => {
            String::new()
        }
    };
    let mut text =
        [("Step time", MetricId::step_time_seconds), ("Peak memory", MetricId::memory_peak_bytes)]
            .map(line)
            .concat();
    if let Some(profile) = of_profile(plan.design()) {
        text += &format!("  {profile}\n");
    }
    if let Some(run) = nearest(plan) {
        text += &format!("  Nearest measured run: {run}\n");
    }
    text + &software_span(plan).unwrap_or_default()
}

/// Speeds between which a dated state of the software leaves the design.
fn software_span(plan: &Plan) -> Option<String> {
    let design = plan.design();
    let speed = |design: &Design| {
        let metrics = estimate(&Plan::new(design).ok()?).metrics;
        let id = MetricId::tokens_per_second_per_device;
        Some(format::metric(id, metrics.get(id)).number)
    };
    let [slow, fast] = software::ends(design)?;
    Some(format!(
        "  Software: {} to {} tokens/s per device over what the sources of {} leave open\n",
        speed(&slow)?,
        speed(&fast)?,
        design.kernel.software.name(),
    ))
}

/// Utilisation of the same run as other papers count it.
fn ways_to_count(plan: &Plan, estimate: &Estimate) -> String {
    let rows: Vec<Vec<String>> = conventions::rows(plan, estimate)
        .into_iter()
        .map(|row| {
            let [name, utilisation, flops, peak, _, _, _, used_by] = row.cells;
            vec![name, utilisation, format!("{flops} per token"), format!("of {peak}"), used_by]
        })
        .collect();
    format!("Other ways to count utilisation\n{}", table("lrrrl", &rows))
}

fn step(estimate: &Estimate) -> String {
    let total = estimate.step.total().get();
    let rows: Vec<Vec<String>> = estimate
        .step
        .parts()
        .filter(|(_, time)| time.get() != 0.0)
        .map(|(part, time)| {
            let share = if total == 0.0 { 0.0 } else { time.get() / total };
            let (time, share) = (format::duration(time), format::percent(share, 1));
            vec![part.label().into(), time.to_string(), share.to_string(), part.meaning().into()]
        })
        .collect();
    format!("Where the step's time goes\n{}", table("lrrl", &rows))
}

fn stages(plan: &Plan, estimate: &Estimate) -> String {
    let mut head: Vec<String> = vec!["stage".into(), "layers".into(), "peak".into()];
    head.extend(StageMemory::LABELS.map(String::from));
    head.extend(["in flight", "compute", "exposed", "idle"].map(String::from));
    let columns = "r".repeat(head.len());
    let mut rows = vec![head];
    rows.extend(estimate.stages.iter().map(|stage| {
        let mut row = vec![
            stage.stage.to_string(),
            stage.num_layers.to_string(),
            format::memory(stage.memory.peak()).to_string(),
        ];
        row.extend(stage.memory.parts().map(|bytes| format::memory(bytes).to_string()));
        row.push(format::decimals(stage.peak_in_flight, 1));
        let times = [stage.compute, stage.exposed, stage.idle];
        row.extend(times.map(|time| format::duration(time).to_string()));
        row
    }));
    let overflow = balance(plan, estimate)
        .map_or_else(String::new, |balance| format!("  layout overflow {}\n", balance.line()));
    format!("Stages, per device\n{}{overflow}", table(&columns, &rows))
}

/// Table of the layers' communication that compute hides, by phase of the pipeline.
fn overlap(estimate: &Estimate) -> String {
    if estimate.overlap.is_empty() {
        return String::new();
    }
    let head = ["phase", "axis", "time", "exposed", "hidden"];
    let rows = estimate.overlap.iter().map(|part| {
        vec![
            part.phase.label().into(),
            part.axis.name().into(),
            format::duration(part.time).to_string(),
            format::duration(part.exposed).to_string(),
            format!("{:.1} %", part.ratio() * 100.0),
        ]
    });
    let table = table_below(head, "llrrr", rows);
    format!("Hidden communication of the layers, mean over stages\n{table}")
}

fn communication(estimate: &Estimate) -> String {
    if estimate.communication.is_empty() {
        return String::new();
    }
    let head = ["axis", "link", "collective", "per call", "per step", "time", "exposed"];
    let rows = estimate.communication.iter().map(|row| {
        vec![
            row.axis.name().into(),
            row.link.name().into(),
            row.collective.name().into(),
            format::traffic(row.bytes_per_call).to_string(),
            format::traffic(row.bytes).to_string(),
            format::duration(row.time).to_string(),
            format::duration(row.exposed).to_string(),
        ]
    });
    format!("Communication, per device and step\n{}", table_below(head, "lllrrrr", rows))
}
