//! Every run with its prediction, and how well they agree.

mod groups;
mod left_out;
mod pairs;
mod targets;

use std::collections::BTreeMap;

use model::catalogue::calibration::ModelKind;
use model::design::KnobId;
use model::ground::choice::Choice;
use model::{MODEL_VERSION, Plan, design::link, estimate};

use crate::expression::Expressed;
use crate::refusal::Refusal;
use crate::report::{Refusal as RefusalCount, Row, Summary, Validation};
use crate::runs::Run;
use crate::{convention, expression, hardware, imputation, statistics};

/// A run's row with what scoring needs beside it.
struct Scored<'a> {
    run: &'a Run,
    row: Row,
    /// Tier A or B, a training step, NVIDIA or Ascend.
    is_candidate: bool,
    /// No knob expresses its architecture.
    is_inexpressible: bool,
    /// Its family of accelerators and whether its model has experts, where it is expressed.
    of: Option<(&'static str, ModelKind)>,
    /// The refusal, without what is particular to the row.
    reason: Option<String>,
}

/// Predicts every run and scores the predictions.
#[must_use]
pub fn validate(runs: &[Run]) -> Validation {
    let known = left_out::Known::new();
    let scored: Vec<Scored<'_>> = runs.iter().map(|run| scored(run, runs, &known)).collect();
    let summary = summary(&scored);
    Validation {
        rows: scored.into_iter().map(|scored| scored.row).collect(),
        summary,
        model_version: MODEL_VERSION.to_owned(),
    }
}

/// Kinds of rows that are training steps.
const STEPS: [&str; 3] = ["train_step", "pipeline", "production_run"];

fn scored<'a>(run: &'a Run, runs: &[Run], known: &left_out::Known) -> Scored<'a> {
    let mut row = Row {
        id: run.id.clone(),
        source_id: run.source_id.clone(),
        tier: run.tier.clone(),
        kind: run.kind.clone(),
        model: run.model.clone(),
        hardware: run.hardware.clone(),
        num_devices: run.num_devices,
        precision: precision(run),
        memory_measured_gib: convention::memory_gib(run),
        source: run.source.clone(),
        locator: run.locator.clone(),
        is_derived_memory: run.is("derived_memory"),
        is_single_node: run.is("single_node"),
        ..Row::default()
    };
    if let Some((metric, value)) = convention::published(run) {
        row.metric = Some(metric.to_owned());
        row.measured = Some(value);
    }
    let outcome = expression::contradicted(runs, run).and_then(|()| expressed(run));
    let mut is_inexpressible = false;
    let (mut reason, mut of) = (None, None);
    match outcome {
        Ok(expressed) => {
            of = Some(left_out::kind(&expressed.plan));
            fill(&mut row, run, expressed, known);
        }
        Err(refusal) => {
            row.refused = Some(refusal.to_string());
            is_inexpressible = refusal.inexpressible;
            reason = Some(refusal.reason);
        }
    }
    let is_candidate = hardware::is_candidate(run);
    row.scored = is_candidate && row.error.is_some();
    Scored { run, row, is_candidate, is_inexpressible, of, reason }
}

/// The knob's name for a run's number format, so that rows that are refused and rows that are
/// expressed share it; the source's own words where no knob has it.
fn precision(run: &Run) -> String {
    let known = expression::precision(run, &imputation::facts(run));
    known.map_or_else(|| run.precision.clone(), |(format, _)| format.to_owned())
}

/// A run's design, where the run has something to compare.
pub(crate) fn expressed(run: &Run) -> Result<Expressed, Refusal> {
    if run.kind == "memory" {
        if run.memory.is_none() {
            return Err(Refusal::open("the source prints no memory"));
        }
        return expression::for_run(run);
    }
    if !STEPS.contains(&run.kind.as_str()) {
        return Err(Refusal::new("not a training step", &run.kind));
    }
    let expressed = expression::for_run(run)?;
    if !convention::has_metric(run) {
        return Err(Refusal::open("the source prints no step time, throughput, TFLOPS or MFU"));
    }
    Ok(expressed)
}

fn fill(row: &mut Row, run: &Run, expressed: Expressed, known: &left_out::Known) {
    let Expressed { plan, assumed, others } = expressed;
    let design = plan.design();
    let estimate = estimate(&plan);
    row.accelerator = Some(design.cluster.accelerator.name().to_owned());
    row.framework = Some(design.kernel.framework.name().to_owned());
    row.num_devices = Some(design.cluster.num_devices);
    row.precision = design.training.precision.name().to_owned();
    row.design = Some(format!("?{}", link::encode(design)));
    row.assumed = assumed;
    let gib = estimate.metrics.memory_peak.get() / (1_u64 << 30) as f64;
    row.memory_predicted_gib = Some(gib);
    if run.kind == "memory" {
        return;
    }
    if let Some(comparison) = convention::compare(run, &plan, &estimate) {
        let other = |plan: &Plan| convention::compare(run, plan, &model::estimate(plan));
        let predictions = others.iter().filter_map(other).map(|other| other.predicted);
        let widen = |[least, most]: [f64; 2], value: f64| [least.min(value), most.max(value)];
        if !others.is_empty() {
            row.predicted_range = Some(predictions.fold([comparison.predicted; 2], widen));
        }
        row.metric = Some(comparison.metric.to_owned());
        row.measured = Some(comparison.measured);
        row.predicted = Some(comparison.predicted);
        row.error = Some(comparison.predicted / comparison.measured - 1.0);
        row.time_error = Some(comparison.time_error);
        known.fill(row, &plan);
    }
}

fn summary(scored: &[Scored<'_>]) -> Summary {
    let candidates: Vec<&Scored<'_>> = scored.iter().filter(|row| row.is_candidate).collect();
    let expressible = candidates.iter().filter(|row| !row.is_inexpressible).count();
    let expressed: Vec<&Row> =
        scored.iter().map(|scored| &scored.row).filter(|row| row.scored).collect();
    let own = expressed.iter().copied().filter(|row| groups::fine_tuning(row).is_none());
    let (given, own): (Vec<&Row>, Vec<&Row>) = own.partition(|row| has_own_clock(row));
    let (mixed, own): (Vec<&Row>, Vec<&Row>) =
        own.into_iter().partition(|row| crate::peaks::is_mixed(row));
    let mut groups = groups::groups(&own);
    groups.extend(groups::apart(&given));
    groups.extend(groups::mixed(&mixed));
    groups.extend(groups::fine_tuned(scored.iter().map(|scored| &scored.row)));
    let mut summary = Summary {
        rows: scored.len(),
        candidates: candidates.len(),
        expressible,
        expressed: expressed.len(),
        all: statistics::score(&own),
        groups,
        sweeps: groups::sweeps(&expressed),
        pairs: pairs::pairs(scored),
        left_out: left_out::scores(scored),
        memory: groups::memory(scored.iter().map(|scored| &scored.row)),
        refusals: refusals(scored),
        targets: vec![],
    };
    let rows: Vec<&Row> = scored.iter().map(|scored| &scored.row).collect();
    summary.targets = targets::targets(&summary, &rows);
    summary
}

/// Whether the clock that its devices sustain is an input. Such rows are reported apart: they say
/// nothing of how well a part's rates are known.
fn has_own_clock(row: &Row) -> bool {
    let design = row.design.as_deref().unwrap_or_default();
    design.contains(KnobId::sustained_clock.id().as_str())
}

/// Reasons for refusing rows, the most frequent first.
fn refusals(scored: &[Scored<'_>]) -> Vec<RefusalCount> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in scored.iter().filter_map(|scored| scored.reason.as_deref()) {
        *counts.entry(reason).or_default() += 1;
    }
    let mut list: Vec<RefusalCount> = counts
        .into_iter()
        .map(|(reason, rows)| RefusalCount { reason: reason.to_owned(), rows })
        .collect();
    list.sort_by_key(|refusal| std::cmp::Reverse(refusal.rows));
    list
}

#[cfg(test)]
mod tests;
