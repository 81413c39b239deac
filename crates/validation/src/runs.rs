//! Published runs as their files hold them: one row each, nothing derived.
//!
//! Three files are embedded: `published_runs.csv` and, with other columns, `ascend_runs.csv` and
//! `ascend_runs_2.csv`.
//! Reading is tolerant. A column that isn't needed may be absent, and a number that can't be read
//! becomes a [`Run::problems`] entry, so that one bad cell costs one row.

mod table;
mod ascend;

use std::sync::LazyLock;

pub use table::LineError;
use table::{Cells, Table};

macro_rules! run {
    ($($(#[$doc:meta])* $field:ident: $of:ty = $read:ident($column:literal),)*) => {
        /// One published run. Text is as printed; a number that the source leaves open is `None`.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Run {
            $($(#[$doc])* pub $field: $of,)*
            /// The columns that the source prints; the other metrics are derived from them.
            pub measured_fields: Vec<String>,
            /// The row of another file that is the same run.
            pub duplicate_of: Option<String>,
            /// Assumptions made by reading itself.
            pub assumed: Vec<String>,
            /// Cells of the row that can't be read.
            pub problems: Vec<String>,
        }

        fn read_run(cells: &mut Cells<'_>) -> Run {
            Run { $($field: cells.$read($column),)* ..Run::default() }
        }
    };
}

// A field, and the column of `published_runs.csv` that it is.
run! {
    /// Its id, unique in a file.
    id: String = text("id"),
    /// The source's short name.
    source_id: String = text("source_id"),
    /// `A`: metric exact and layout complete; `B`: something missing; `C`: weak. `B` where the
    /// file doesn't say.
    tier: String = text("tier"),
    /// `train_step`, `pipeline`, `memory`, `production_run`, `kernel`, `comm_micro`, `imbalance`;
    /// `train_step` where the file doesn't say.
    kind: String = text("kind"),
    /// The model's name.
    model: String = text("model"),
    /// Its parameters, in billions.
    params_billions: Option<f64> = real("params_B"),
    /// Its architecture, such as `L48 h2048 heads32 kv4 hd128 E128 top8 moe_ffn768 V151936`.
    architecture: String = text("arch"),
    /// The hardware.
    hardware: String = text("hardware"),
    /// The peak that the source's MFU divides by, in TFLOPS.
    peak_tflops: Option<f64> = real("hw_peak_TFLOPs"),
    /// Devices.
    num_devices: Option<u64> = whole("n_devices"),
    /// TP.
    tensor_parallel: Option<u64> = whole("TP"),
    /// Whether the sequence is split over TP ranks: `on`, `off`, `on if TP>1`.
    sequence_parallel: String = text("SP"),
    /// CP.
    context_parallel: Option<u64> = whole("CP"),
    /// PP.
    pipeline_parallel: Option<u64> = whole("PP"),
    /// VPP: a number, or what the source says of it.
    virtual_pipeline: String = text("VPP"),
    /// EP, in the source's own convention.
    expert_parallel: Option<u64> = whole("EP"),
    /// ETP.
    expert_tensor_parallel: Option<u64> = whole("ETP"),
    /// DP.
    data_parallel: Option<u64> = whole("DP"),
    /// State that data-parallel ranks shard: `ZeRO-1`, `FSDP`, `none`.
    sharding: String = text("zero_fsdp"),
    /// Tokens of a sequence.
    seq_length: Option<u64> = whole("seq_len"),
    /// Sequences of a micro-batch.
    micro_batch_size: Option<u64> = whole("MBS"),
    /// Sequences of a step.
    global_batch_size: Option<u64> = whole("GBS"),
    /// Number format.
    precision: String = text("precision"),
    /// Recomputation.
    recompute: String = text("recompute"),
    /// Overlaps, dispatcher and schedule.
    overlap: String = text("overlap_flags"),
    /// Step time, in seconds.
    step_time: Option<f64> = real("step_time_s"),
    /// Tokens per second of all devices.
    tokens_per_second: Option<f64> = real("tokens_per_s_total"),
    /// Tokens per second of one device.
    tokens_per_second_per_device: Option<f64> = real("tokens_per_s_per_device"),
    /// TFLOPS of one device, in the source's convention.
    tflops_per_device: Option<f64> = real("TFLOPs_per_device"),
    /// MFU, in percent.
    mfu_percent: Option<f64> = real("MFU_pct"),
    /// HFU, in percent.
    hfu_percent: Option<f64> = real("HFU_pct"),
    /// Peak memory of one device, in GB or GiB as the notes say.
    memory: Option<f64> = real("mem_GB_per_device"),
    /// Anything else that was measured.
    other_metric: String = text("other_metric"),
    /// FLOPs that the source counts.
    flops_convention: String = text("flops_def"),
    /// FLOPs per token that the source's own numbers imply.
    implied_flops_per_token: Option<f64> = real("implied_fwdbwd_FLOPs_per_token"),
    /// Publication.
    source: String = text("source"),
    /// Place in the source.
    locator: String = text("locator"),
    /// Certainty of the copy.
    confidence: String = text("confidence"),
    /// Remarks.
    notes: String = text("notes"),
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
    let mut run = read_run(&mut cells);
    let measured = cells.text("measured_fields");
    run.measured_fields = measured.split_whitespace().map(str::to_owned).collect();
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

/// Marks duplicates: where an earlier row is the same run, the row that says less is the duplicate.
fn mark_duplicate(known: &mut [Run], run: &mut Run) {
    let first = known.iter_mut().find(|known| known.duplicate_of.is_none() && same(known, run));
    let Some(known) = first else { return };
    if known.global_batch_size.is_some() >= run.global_batch_size.is_some() {
        run.duplicate_of = Some(known.id.clone());
    } else {
        known.duplicate_of = Some(run.id.clone());
    }
}

/// Whether these two rows are one run.
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

/// Whether this is one of Huawei's NPUs.
pub(crate) fn is_ascend(hardware: &str) -> bool {
    let text = hardware.to_lowercase();
    ["ascend", "atlas", "910b", "910c", "cloudmatrix", "npu"].iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests;
