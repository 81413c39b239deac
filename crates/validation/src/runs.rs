//! Published runs as their files hold them: one row each, nothing derived.
//!
//! Three files are embedded: `published_runs.csv` and, with other columns, `ascend_runs.csv` and
//! `ascend_runs_2.csv`.
//! Reading is tolerant. A column that isn't needed may be absent, and a number that can't be read
//! becomes a [`Run::problems`] entry, so that one bad cell costs one row.

mod ascend;
mod table;

use std::sync::LazyLock;

pub use table::LineError;
use table::{Cells, Table};

/// One published run. Text is as printed; a number that the source leaves open is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Its id, unique in a file.
    pub id: String,
    /// The source's short name.
    pub source_id: String,
    /// `A`: metric exact and layout complete; `B`: something missing; `C`: weak. `B` where the
    /// file doesn't say.
    pub tier: String,
    /// `train_step`, `pipeline`, `memory`, `production_run`, `kernel`, `comm_micro`, `imbalance`;
    /// `train_step` where the file doesn't say.
    pub kind: String,
    /// The model's name.
    pub model: String,
    /// Its parameters, in billions.
    pub params_billions: Option<f64>,
    /// Its architecture, such as `L48 h2048 heads32 kv4 hd128 E128 top8 moe_ffn768 V151936`.
    pub architecture: String,
    /// The hardware.
    pub hardware: String,
    /// The peak that the source's MFU divides by, in TFLOPS.
    pub peak_tflops: Option<f64>,
    /// Devices.
    pub num_devices: Option<u64>,
    /// TP.
    pub tensor_parallel: Option<u64>,
    /// Whether the sequence is split over TP ranks: `on`, `off`, `on if TP>1`.
    pub sequence_parallel: String,
    /// CP.
    pub context_parallel: Option<u64>,
    /// PP.
    pub pipeline_parallel: Option<u64>,
    /// VPP: a number, or what the source says of it.
    pub virtual_pipeline: String,
    /// EP, in the source's own convention.
    pub expert_parallel: Option<u64>,
    /// ETP.
    pub expert_tensor_parallel: Option<u64>,
    /// DP.
    pub data_parallel: Option<u64>,
    /// What data-parallel ranks share out: `ZeRO-1`, `FSDP`, `none`.
    pub sharding: String,
    /// Tokens of a sequence.
    pub seq_length: Option<u64>,
    /// Sequences of a micro-batch.
    pub micro_batch_size: Option<u64>,
    /// Sequences of a step.
    pub global_batch_size: Option<u64>,
    /// Number format.
    pub precision: String,
    /// What is computed again.
    pub recompute: String,
    /// What overlaps, which dispatcher, which schedule.
    pub overlap: String,
    /// Step time, in seconds.
    pub step_time: Option<f64>,
    /// Tokens per second of all devices.
    pub tokens_per_second: Option<f64>,
    /// Tokens per second of one device.
    pub tokens_per_second_per_device: Option<f64>,
    /// TFLOPS of one device, in the source's convention.
    pub tflops_per_device: Option<f64>,
    /// MFU, in percent.
    pub mfu_percent: Option<f64>,
    /// HFU, in percent.
    pub hfu_percent: Option<f64>,
    /// Peak memory of one device, in GB or GiB as the notes say.
    pub memory: Option<f64>,
    /// Anything else that was measured.
    pub other_metric: String,
    /// What the source's FLOPs count.
    pub flops_convention: String,
    /// FLOPs per token that the source's own numbers imply.
    pub implied_flops_per_token: Option<f64>,
    /// The columns that the source prints; the other metrics are derived from them.
    pub measured_fields: Vec<String>,
    /// Where it was published.
    pub source: String,
    /// Where in the source.
    pub locator: String,
    /// How sure the copy is.
    pub confidence: String,
    /// Remarks.
    pub notes: String,
    /// The row of another file that is the same run.
    pub duplicate_of: Option<String>,
    /// What reading itself took for granted.
    pub assumed: Vec<String>,
    /// What can't be read of the row.
    pub problems: Vec<String>,
}

/// Columns without which a row says nothing.
const NEEDED: [&str; 4] = ["id", "model", "hardware", "n_devices"];

/// Reads a file with the columns of `published_runs.csv` or of `ascend_runs.csv`.
///
/// # Errors
/// A file without a needed column, naming each, or without a header.
pub fn read(text: &str) -> Result<Vec<Run>, Vec<LineError>> {
    let table = Table::read(text)?;
    if ascend::is_dialect(&table) {
        return ascend::runs(&table);
    }
    table.need(&NEEDED)?;
    Ok(table.rows().map(run).collect())
}

fn run(mut cells: Cells<'_>) -> Run {
    let measured_fields = cells.text("measured_fields");
    let mut run = Run {
        id: cells.text("id"),
        source_id: cells.text("source_id"),
        tier: cells.text("tier"),
        kind: cells.text("kind"),
        model: cells.text("model"),
        params_billions: cells.real("params_B"),
        architecture: cells.text("arch"),
        hardware: cells.text("hardware"),
        peak_tflops: cells.real("hw_peak_TFLOPs"),
        num_devices: cells.whole("n_devices"),
        tensor_parallel: cells.whole("TP"),
        sequence_parallel: cells.text("SP"),
        context_parallel: cells.whole("CP"),
        pipeline_parallel: cells.whole("PP"),
        virtual_pipeline: cells.text("VPP"),
        expert_parallel: cells.whole("EP"),
        expert_tensor_parallel: cells.whole("ETP"),
        data_parallel: cells.whole("DP"),
        sharding: cells.text("zero_fsdp"),
        seq_length: cells.whole("seq_len"),
        micro_batch_size: cells.whole("MBS"),
        global_batch_size: cells.whole("GBS"),
        precision: cells.text("precision"),
        recompute: cells.text("recompute"),
        overlap: cells.text("overlap_flags"),
        step_time: cells.real("step_time_s"),
        tokens_per_second: cells.real("tokens_per_s_total"),
        tokens_per_second_per_device: cells.real("tokens_per_s_per_device"),
        tflops_per_device: cells.real("TFLOPs_per_device"),
        mfu_percent: cells.real("MFU_pct"),
        hfu_percent: cells.real("HFU_pct"),
        memory: cells.real("mem_GB_per_device"),
        other_metric: cells.text("other_metric"),
        flops_convention: cells.text("flops_def"),
        implied_flops_per_token: cells.real("implied_fwdbwd_FLOPs_per_token"),
        measured_fields: measured_fields.split_whitespace().map(str::to_owned).collect(),
        source: cells.text("source"),
        locator: cells.text("locator"),
        confidence: cells.text("confidence"),
        notes: cells.text("notes"),
        duplicate_of: None,
        assumed: vec![],
        problems: vec![],
    };
    if run.kind.is_empty() {
        run.kind = "train_step".to_owned();
    }
    if run.tier.is_empty() {
        run.tier = "B".to_owned();
    }
    run.problems = cells.problems();
    run
}

/// Files of runs on Ascend, in the order in which they were collected.
const ASCEND: [&str; 2] =
    [include_str!("../runs/ascend_runs.csv"), include_str!("../runs/ascend_runs_2.csv")];

static PUBLISHED: LazyLock<Vec<Run>> = LazyLock::new(|| {
    // The embedded files are read in a test, so that none can be faulty here.
    let mut runs = read(include_str!("../runs/published_runs.csv")).unwrap_or_default();
    for file in ASCEND {
        let mut further = read(file).unwrap_or_default();
        further.iter_mut().for_each(|run| mark_duplicate(&mut runs, run));
        runs.append(&mut further);
    }
    runs
});

/// The embedded runs: `published_runs.csv`, then the files of runs on Ascend.
#[must_use]
pub fn published() -> &'static [Run] {
    &PUBLISHED
}

/// Where a run stands in an earlier row too, the row that says less is the duplicate.
fn mark_duplicate(known: &mut [Run], run: &mut Run) {
    let first = known.iter_mut().find(|known| known.duplicate_of.is_none() && same(known, run));
    let Some(known) = first else { return };
    if known.global_batch_size.is_some() >= run.global_batch_size.is_some() {
        run.duplicate_of = Some(known.id.clone());
    } else {
        known.duplicate_of = Some(run.id.clone());
    }
}

/// Are these two rows one run?
fn same(known: &Run, run: &Run) -> bool {
    let close = |left: Option<f64>, right: Option<f64>| match (left, right) {
        (Some(left), Some(right)) => (left - right).abs() <= 0.005 * right.abs(),
        _ => false,
    };
    let is_on_ascend = |run: &Run| is_ascend(&run.hardware);
    // `LLaMA2-7B` and `LLaMA2 7B bf16` are of one family; equal rates of others are chance.
    let family = |run: &Run| -> String {
        run.model.chars().take_while(char::is_ascii_alphabetic).collect::<String>().to_lowercase()
    };
    is_on_ascend(known) == is_on_ascend(run)
        && family(known) == family(run)
        && known.num_devices == run.num_devices
        && close(known.tokens_per_second_per_device, run.tokens_per_second_per_device)
}

/// Is this one of Huawei's NPUs?
pub(crate) fn is_ascend(hardware: &str) -> bool {
    let text = hardware.to_lowercase();
    ["ascend", "atlas", "910b", "910c", "cloudmatrix", "npu"].iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests;
