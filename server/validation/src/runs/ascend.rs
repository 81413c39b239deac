//! The columns of `ascend_runs.csv`, where numbers stand beside remarks: `6144 (derived)`.

use super::table::{Cells, Table};
use super::{LineError, Run};

const NEEDED: [&str; 6] = ["id", "model", "hardware", "devices", "throughput", "unit"];

/// Does this file have these columns?
pub(super) fn is_dialect(table: &Table) -> bool {
    table.has("throughput") && table.has("unit") && !table.has("n_devices")
}

/// The rows.
pub(super) fn runs(table: &Table) -> Result<Vec<Run>, Vec<LineError>> {
    table.need(&NEEDED)?;
    Ok(table.rows().map(run).collect())
}

fn run(mut cells: Cells<'_>) -> Run {
    let source = cells.text("source");
    let confidence = cells.text("confidence");
    let options = cells.text("memory_opts");
    let seq_length = leading_number(&cells.text("seq"));
    let num_devices = leading_number(&cells.text("devices"));
    let mfu = leading_real(&cells.text("mfu_published"));
    let throughput = cells.real("throughput");
    let unit = cells.text("unit");
    let per_device = throughput.and_then(|value| per_device(value, &unit, num_devices, seq_length));
    let mut run = Run {
        id: cells.text("id"),
        source_id: source_id(&source),
        kind: kind(&source).to_owned(),
        model: cells.text("model"),
        hardware: cells.text("hardware"),
        num_devices,
        tensor_parallel: leading_number(&cells.text("TP")),
        sequence_parallel: "on if TP>1".to_owned(),
        context_parallel: leading_number(&cells.text("CP")),
        pipeline_parallel: leading_number(&cells.text("PP")),
        virtual_pipeline: virtual_pipeline(&cells.text("VPP_layers_per_stage")),
        expert_parallel: expert_parallel(&cells.text("EP")),
        sharding: sharding(&options).to_owned(),
        seq_length,
        micro_batch_size: leading_number(&cells.text("MBS")),
        global_batch_size: leading_number(&cells.text("GBS")),
        precision: "BF16".to_owned(),
        recompute: options.clone(),
        overlap: options,
        tokens_per_second_per_device: per_device,
        mfu_percent: mfu.map(|mfu| 100.0 * mfu),
        flops_convention: "convention not printed".to_owned(),
        locator: unit,
        notes: cells.text("note"),
        ..Run::default()
    };
    run.tier = tier(&run, &confidence).to_owned();
    if per_device.is_some() {
        run.measured_fields.push("tokens_per_s_per_device".to_owned());
    } else if mfu.is_some() {
        run.measured_fields.push("MFU_pct".to_owned());
    }
    run.source = source;
    run.confidence = confidence;
    run.problems = cells.problems();
    run
}

/// `A` where the layout and the batch are complete, `C` where the source is second hand or calls
/// the run an outlier.
fn tier(run: &Run, confidence: &str) -> &'static str {
    let complete = run.tensor_parallel.is_some()
        && run.pipeline_parallel.is_some()
        && run.global_batch_size.is_some();
    let is_weak = !confidence.starts_with("published")
        || confidence.contains("second hand")
        || run.notes.contains("outlier");
    match (is_weak, complete) {
        (true, _) => "C",
        (false, true) => "A",
        (false, false) => "B",
    }
}

/// A paper reports a whole run, a repository's table a benchmark.
fn kind(source: &str) -> &'static str {
    let reports_runs = ["arXiv", "Huawei"].iter().any(|start| source.starts_with(start));
    if reports_runs { "production_run" } else { "train_step" }
}

/// A short name from the source's first word: `ascend_runs/mindspeed-llm`.
fn source_id(source: &str) -> String {
    let word = source.split_whitespace().next().unwrap_or("unknown").to_lowercase();
    format!("ascend_runs/{word}")
}

/// The number that a cell starts with: 6144 of `6144 (derived)`; none of `?`, `-` and `6K-10K`.
fn leading_number(cell: &str) -> Option<u64> {
    let digits: String = cell.chars().take_while(char::is_ascii_digit).collect();
    let next = cell[digits.len()..].chars().next();
    if next.is_some_and(|next| next.is_ascii_alphabetic()) {
        return None;
    }
    digits.parse().ok().filter(|value| *value > 0)
}

fn leading_real(cell: &str) -> Option<f64> {
    let number: String = cell.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    number.parse().ok().filter(|value| (0.0..=1.0).contains(value) && *value > 0.0)
}

/// `4 (x TP = 32 groups)` names the groups that experts are spread over.
fn expert_parallel(cell: &str) -> Option<u64> {
    let groups = cell.rsplit_once("= ").filter(|(_, rest)| rest.contains("groups"));
    groups.and_then(|(_, rest)| leading_number(rest)).or_else(|| leading_number(cell))
}

/// A number of chunks (`2 chunks`) or of layers in one (`5`).
fn virtual_pipeline(cell: &str) -> String {
    match (leading_number(cell), cell.contains("chunk")) {
        (Some(chunks), true) => chunks.to_string(),
        (Some(layers), false) => format!("{layers} layers per virtual stage"),
        (None, _) => cell.trim_matches(['-', '?']).to_owned(),
    }
}

fn sharding(options: &str) -> &'static str {
    let named = options.contains("dist-opt") || options.contains("ZeRO");
    if named { "ZeRO-1" } else { "" }
}

/// Tokens per second of one device (die).
fn per_device(value: f64, unit: &str, devices: Option<u64>, seq: Option<u64>) -> Option<f64> {
    if unit.starts_with("tok/s total") {
        return devices.map(|devices| value / devices as f64);
    }
    if unit.contains("2-die card") {
        return Some(value / 2.0);
    }
    if unit.starts_with("samples/s/NPU") {
        return seq.map(|seq| value * seq as f64);
    }
    unit.starts_with("tok/s").then_some(value)
}
