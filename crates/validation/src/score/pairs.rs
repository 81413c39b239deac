//! Runs of one source that differ in exactly one input: what the change costs, measured and
//! predicted.

use super::Scored;
use crate::report::Pair;
use crate::runs::Run;

/// An input of a run by its column's name.
type Input = (&'static str, fn(&Run) -> String);

fn count(number: Option<u64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// The inputs in which two runs may differ.
const INPUTS: [Input; 20] = [
    ("model", |run| run.model.clone()),
    ("architecture", |run| run.architecture.clone()),
    ("hardware", |run| run.hardware.clone()),
    ("devices", |run| count(run.num_devices)),
    ("TP", |run| count(run.tensor_parallel)),
    ("SP", |run| run.sequence_parallel.clone()),
    ("CP", |run| count(run.context_parallel)),
    ("PP", |run| count(run.pipeline_parallel)),
    ("VPP", |run| run.virtual_pipeline.clone()),
    ("EP", |run| count(run.expert_parallel)),
    ("ETP", |run| count(run.expert_tensor_parallel)),
    ("sharding", |run| run.sharding.clone()),
    ("sequence", |run| count(run.seq_length)),
    ("micro-batch", |run| count(run.micro_batch_size)),
    ("global batch", |run| count(run.global_batch_size)),
    ("precision", |run| run.precision.clone()),
    ("recompute", |run| run.recompute.clone()),
    ("overlap", |run| run.overlap.clone()),
    // Releases of one source are runs of their own: only rows of one table are compared.
    ("source", |run| run.source.clone()),
    ("release", |run| {
        let container = run.locator.split(',').next().unwrap_or_default();
        if container.ends_with("container") { container.to_owned() } else { String::new() }
    }),
];

/// Inputs whose change is told; the others only have to agree.
const TOLD: [&str; 9] =
    ["SP", "VPP", "EP", "ETP", "sharding", "micro-batch", "precision", "recompute", "overlap"];

/// Pairs of one source above this are too many to tell.
const MAX_PAIRS: usize = 400;

/// Every pair, in the file's order.
pub(super) fn pairs(scored: &[Scored<'_>]) -> Vec<Pair> {
    let rows: Vec<&Scored<'_>> = scored.iter().filter(|row| row.row.time_error.is_some()).collect();
    let mut pairs = vec![];
    for (index, first) in rows.iter().enumerate() {
        let others = rows.iter().skip(index + 1);
        for second in others.filter(|second| second.run.source_id == first.run.source_id) {
            if pairs.len() >= MAX_PAIRS {
                return pairs;
            }
            pairs.extend(pair(first, second));
        }
    }
    pairs
}

/// Columns that change together: a schedule shows in its virtual stages too, and Korthikanti et
/// al. brought sequence parallelism and selective recomputation at once.
const TOGETHER: [(&[&str], &str); 2] =
    [(&["VPP", "overlap"], "schedule"), (&["SP", "recompute"], "SP and recompute")];

fn pair(first: &Scored<'_>, second: &Scored<'_>) -> Option<Pair> {
    // Two spellings of one design are one input.
    if first.row.metric != second.row.metric || first.row.design == second.row.design {
        return None;
    }
    let differs = |input: &&Input| input.1(first.run) != input.1(second.run);
    let different: Vec<&Input> = INPUTS.iter().filter(differs).collect();
    let names: Vec<&str> = different.iter().map(|(name, _)| *name).collect();
    let what = match names.as_slice() {
        [name] if TOLD.contains(name) => (*name).to_owned(),
        names => TOGETHER.iter().find(|(together, _)| *together == names)?.1.to_owned(),
    };
    let (_, of) = different.last()?;
    let what = format!("{what} {} / {}", shown(&of(first.run)), shown(&of(second.run)));
    let measured_ratio = ratio(first, second)?;
    // time_error = predicted / measured - 1, of each.
    let predicted_ratio =
        measured_ratio * (1.0 + second.row.time_error?) / (1.0 + first.row.time_error?);
    let ids = [first.run.id.clone(), second.run.id.clone()];
    Some(Pair { what, ids, measured_ratio, predicted_ratio })
}

fn shown(text: &str) -> &str {
    let text = text.strip_prefix("schedule ").unwrap_or(text);
    if text.is_empty() { "not printed" } else { text }
}

/// Second over first, in step time.
fn ratio(first: &Scored<'_>, second: &Scored<'_>) -> Option<f64> {
    let (one, two) = (first.row.measured?, second.row.measured?);
    let is_time = first.row.metric.as_deref() == Some("step_time_seconds");
    let ratio = if is_time { two / one } else { one / two };
    ratio.is_finite().then_some(ratio)
}
