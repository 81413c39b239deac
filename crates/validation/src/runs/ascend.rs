//! The columns of `ascend_runs.csv`, where numbers stand beside remarks: `6144 (derived)`.

mod cells;

use super::Run;
use super::table::{Cells, LineError, Table};

const NEEDED: [&str; 6] = ["id", "model", "hardware", "devices", "throughput", "unit"];

/// Whether this file has these columns.
pub(super) fn is_dialect(table: &Table) -> bool {
    table.has("throughput") && table.has("unit") && !table.has("n_devices")
}

/// The rows.
pub(super) fn runs(table: &Table) -> Result<Vec<Run>, Vec<LineError>> {
    table.need(&NEEDED)?;
    let mut runs: Vec<Run> = table.rows().map(run).collect();
    for index in 0..runs.len() {
        take_options(&mut runs, index);
        take_hardware(&mut runs, index);
    }
    Ok(runs)
}

/// `as N1 + compile`: the options of the row of that id, and further ones.
fn take_options(runs: &mut [Run], index: usize) {
    let options = runs[index].overlap.clone();
    let Some(rest) = options.strip_prefix("as ") else { return };
    let id = rest.split([' ', ',', ';', '+']).next().unwrap_or_default();
    let Some(other) = runs.iter().find(|run| run.id == id && run.id != runs[index].id) else {
        return;
    };
    let options = format!("{},{}", other.overlap, &rest[id.len()..]);
    cells::sharding(&options).clone_into(&mut runs[index].sharding);
    runs[index].recompute.clone_from(&options);
    runs[index].overlap = options;
}

/// A row that leaves its hardware open ran on that of its source's other row, where there is one.
fn take_hardware(runs: &mut [Run], index: usize) {
    let is_open = |run: &Run| matches!(run.hardware.trim(), "" | "?" | "-");
    if !is_open(&runs[index]) {
        return;
    }
    let of_source = |run: &&Run| !is_open(run) && run.source_id == runs[index].source_id;
    if let Some(other) = runs.iter().find(of_source) {
        let hardware = other.hardware.clone();
        let words = format!("hardware of {}, another run of its source: {hardware}", other.id);
        runs[index].assumed.push(words);
        runs[index].hardware = hardware;
    }
}

fn run(mut cells: Cells<'_>) -> Run {
    let source = cells.text("source");
    let confidence = cells.text("confidence");
    let mfu_text = cells.text("mfu_published");
    let options = [cells.text("memory_opts"), cells::features(&mfu_text)];
    let options = options.iter().filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>();
    let options = options.join("; ");
    let seq_length = cells::leading_number(&cells.text("seq"));
    let (num_devices, devices_assumed) = cells::devices(&cells.text("devices"));
    let mfu = cells::leading_share(&mfu_text);
    let throughput = cells.real("throughput");
    let unit = cells.text("unit");
    let rate = throughput.and_then(|value| cells::rate(value, &unit, num_devices, seq_length));
    let mut run = Run {
        id: cells.text("id"),
        source_id: source_id(&source),
        kind: kind(&source).to_owned(),
        model: cells.text("model"),
        hardware: cells.text("hardware"),
        num_devices,
        tensor_parallel: cells::leading_number(&cells.text("TP")),
        sequence_parallel: "on if TP>1".to_owned(),
        context_parallel: cells::leading_number(&cells.text("CP")),
        pipeline_parallel: cells::leading_number(&cells.text("PP")),
        virtual_pipeline: cells::virtual_pipeline(&cells.text("VPP_layers_per_stage")),
        expert_parallel: cells::expert_parallel(&cells.text("EP")),
        sharding: cells::sharding(&options),
        seq_length,
        micro_batch_size: cells::leading_number(&cells.text("MBS")),
        global_batch_size: cells::leading_number(&cells.text("GBS")),
        precision: "BF16".to_owned(),
        recompute: options.clone(),
        mfu_percent: mfu.map(|mfu| 100.0 * mfu),
        flops_convention: "convention not printed".to_owned(),
        locator: unit,
        notes: cells.text("note"),
        memory: cells::memory(&options).or_else(|| cells::memory(&cells.text("note"))),
        overlap: options,
        ..Run::default()
    };
    run.assumed.extend(devices_assumed);
    run.tier = tier(&run, &confidence).to_owned();
    set_metrics(&mut run, rate);
    let address = cells.text("source_address");
    run.source = if address.is_empty() { source } else { format!("{source}, {address}") };
    run.confidence = confidence;
    run.problems = cells.problems();
    run
}

/// The first of what the row measures is the one that it is scored by.
fn set_metrics(run: &mut Run, rate: Option<cells::Rate>) {
    let field = match rate {
        Some(cells::Rate::TokensPerSecond(value)) => {
            run.tokens_per_second_per_device = Some(value);
            Some("tokens_per_s_per_device")
        }
        Some(cells::Rate::Tflops(value)) => {
            run.tflops_per_device = Some(value);
            Some("TFLOPs_per_device")
        }
        Some(cells::Rate::StepTime(value)) => {
            run.step_time = Some(value);
            Some("step_time_s")
        }
        None => run.mfu_percent.map(|_| "MFU_pct"),
    };
    run.measured_fields.extend(field.map(str::to_owned));
    run.measured_fields.extend(run.memory.map(|_| "mem_GB_per_device".to_owned()));
}

/// `A` where the layout and the batch are complete, `C` where the source is second hand or calls
/// the run an outlier.
fn tier(run: &Run, confidence: &str) -> &'static str {
    let complete = run.tensor_parallel.is_some()
        && run.pipeline_parallel.is_some()
        && run.global_batch_size.is_some();
    let is_weak = !confidence.starts_with("published")
        || confidence.contains("2nd")
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
    let reports_runs = ["arXiv", "Huawei", "press"].iter().any(|start| source.starts_with(start));
    if reports_runs { "production_run" } else { "train_step" }
}

/// A short name from the source's first word: `ascend_runs/mindspeed-llm`.
fn source_id(source: &str) -> String {
    let word = source.split_whitespace().next().unwrap_or("unknown").to_lowercase();
    format!("ascend_runs/{}", word.trim_end_matches([',', ';', ':']))
}
