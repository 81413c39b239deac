//! `cargo xtask calibrate`: fits the model's constants to the published runs and writes them, with
//! what they were fitted on and the errors of runs that were kept out, into the model.
//!
//! `--memory` leaves the fit out and writes the errors of the peak memory anew, which no fitted
//! constant has a part in. `--collectives` prints the constants of collectives and of the kernels of
//! expert parallelism, fitted to one half of the measured ones; they stand in the model's `fabric`.
//! `--dry-run` prints instead of writing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use model::calibration::{Band, Host, Kernels};
use validation::calibrate::{self, Case, Constants};
use validation::kernels::{collective, deepep};
use validation::{peaks, runs, validate};

/// What the table starts with; above it stand types, by hand.
const MARK: &str = "// ---- What follows is written by `cargo xtask calibrate`. ----";
/// What its last part starts with: the errors of the peak memory.
const MEMORY_MARK: &str = "/// Errors of the peak memory";
/// The width of a line of source.
const COLUMNS: usize = 100;
/// Rounds of the fit.
const ROUNDS: usize = 60;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "calibrate: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "../../model/src/calibration.rs"].iter().collect();
    let has = |option: &str| std::env::args().any(|argument| argument == option);
    if has("--collectives") {
        let text = collective::fit() + &deepep::fit();
        return io::stdout().write_all(text.as_bytes());
    }
    let (mark, table) =
        if has("--memory") { (MEMORY_MARK, memory()) } else { (MARK, fitted() + &memory()) };
    if has("--dry-run") {
        return io::stdout().write_all(table.as_bytes());
    }
    let text = fs::read_to_string(&path)?;
    let Some((above, _)) = text.split_once(mark) else {
        return Err(io::Error::other(format!("{} has lost its mark", path.display())));
    };
    fs::write(&path, format!("{above}{table}"))
}

/// The table of constants and of the errors of the step time.
fn fitted() -> String {
    let mut cases = calibrate::cases(runs::published());
    // How a simulation differs from its closed form depends on the constants, a little: those of
    // the start give the first ones, and these the last. What the model holds now has no say.
    let mut constants = Constants::start();
    for _ in 0..2 {
        calibrate::settle(&mut cases, &constants);
        let all: Vec<&Case<'_>> = cases.iter().collect();
        constants = calibrate::fit(&all, &Constants::start(), ROUNDS);
    }
    let held_out = calibrate::held_out(&cases, &Constants::start());
    let table = table(&constants, &cases, &calibrate::bands(&held_out));
    format!("{MARK}\n\n{table}")
}

/// The errors of the peak memory: their band, and their quantiles with signs.
fn memory() -> String {
    let validation = validate(runs::published());
    let band = validation.summary.memory.unwrap_or_default();
    let quantiles = peaks::table(&peaks::peaks(&validation.rows));
    format!(
        "{MEMORY_MARK}, all runs with a published peak together.\n#[rustfmt::skip]\npub const \
         MEMORY_BAND: Band =\n    Band {{ family: \"\", experts: true, median: {:.3}, p90: {:.3}, \
         rows: {}, sources: 0 }};\n\n{quantiles}",
        band.median, band.p90, band.rows
    )
}

fn table(constants: &Constants, cases: &[Case<'_>], bands: &[Band]) -> String {
    let mut text = String::new();
    let families = [
        ("AMPERE", "A100 and A800."),
        ("HOPPER", "H100, H800, H200 and H20."),
        ("BLACKWELL", "B200, B300, GB200 and GB300."),
    ];
    for ((name, words), kernels) in families.into_iter().zip(&constants.kernels) {
        write_kernels(&mut text, name, words, kernels, cases);
    }
    let hosts = [
        ("MEGATRON", "Megatron-Core."),
        ("MINDSPEED", "MindSpeed and MindFormers."),
        ("FSDP", "PyTorch FSDP and its relatives."),
    ];
    for (index, ((name, words), host)) in hosts.into_iter().zip(&constants.hosts).enumerate() {
        write_host(&mut text, name, words, host, cases, index);
    }
    let [h100_96gb, gb200, gb300] = constants.clocks;
    let _ = writeln!(
        text,
        "/// Sustained clocks.\n#[rustfmt::skip]\npub const CLOCKS: Clocks = Clocks {{\n    \
         h100_96gb: {h100_96gb:.3}, gb200: {gb200:.3}, gb300: {gb300:.3}, grace_wide: {:.3},\n\
         }};\n",
        constants.grace_wide
    );
    let _ = writeln!(
        text,
        "/// Errors of the step time by family and kind of model, all families together last.\n\
         #[rustfmt::skip]\npub const BANDS: &[Band] = &["
    );
    for band in bands {
        let _ = writeln!(
            text,
            "    Band {{ family: {:?}, experts: {},\n        median: {:.3}, p90: {:.3}, rows: {}, \
             sources: {} }},",
            band.family, band.experts, band.median, band.p90, band.rows, band.sources
        );
    }
    text.push_str("];\n\n");
    text
}

/// The sources that have a say in a constant, with their runs, as a string of Rust that keeps
/// within the width of a line.
fn fitted_on<'a>(cases: impl Iterator<Item = &'a Case<'a>>) -> String {
    let mut sources: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases {
        *sources.entry(case.source).or_default() += 1;
    }
    if sources.is_empty() {
        return "\"estimate: no run with it\"".to_owned();
    }
    let last = sources.len() - 1;
    let mut text = String::from("\"");
    let mut columns = "    fitted_on: \"".len();
    for (index, (name, rows)) in sources.into_iter().enumerate() {
        let comma = if index < last { "," } else { "\"" };
        let word = format!("{name} ({rows}){comma}");
        // A backslash follows where the line breaks.
        if columns + word.len() + " \\".len() > COLUMNS {
            text.push_str("\\\n        ");
            columns = 8;
        }
        columns += word.len() + 1;
        text.push_str(&word);
        if index < last {
            text.push(' ');
        }
    }
    text
}

fn write_kernels(text: &mut String, name: &str, words: &str, set: &Kernels, cases: &[Case<'_>]) {
    let source = fitted_on(cases.iter().filter(|case| case.family == set.family));
    let _ = writeln!(
        text,
        "/// {words}\n#[rustfmt::skip]\npub const {name}: Kernels = Kernels {{\n    \
         family: {:?},\n    gemm: {:.3},\n    fp8_gemm: {:.3},\n    block_fp8_gemm: {:.3},\n    \
         fp4_gemm: {:.3},\n    grouped_gemm: {:.3},\n    attention_forward: {:.3},\n    attention_backward: {:.3},\n    \
         softmaxes_backward: {:.1},\n    flash_attention_2: {:.3},\n    \
         vector_bandwidth: {:.3},\n    gather_bandwidth: {:.3},\n    fitted_on: {source},\n}};\n",
        set.family,
        set.gemm,
        set.fp8_gemm,
        set.block_fp8_gemm,
        set.fp4_gemm,
        set.grouped_gemm,
        set.attention_forward,
        set.attention_backward,
        set.softmaxes_backward,
        set.flash_attention_2,
        set.vector_bandwidth,
        set.gather_bandwidth,
    );
}

fn write_host(
    text: &mut String,
    name: &str,
    words: &str,
    host: &Host,
    cases: &[Case<'_>],
    index: usize,
) {
    let framework = calibrate::framework(index);
    let source = fitted_on(cases.iter().filter(|case| case.framework() == framework));
    let _ = writeln!(
        text,
        "/// {words}\n#[rustfmt::skip]\npub const {name}: Host = Host {{\n    \
         dispatch_micros: {:.1},\n    sync_micros: {:.1},\n    syncs: {:?},\n    launches_per_expert: {:.3},\n    \
         flash_attention_2: {},\n    stops_early: {},\n    element_passes: {:.3},\n    \
         straggler_sigma: {:.4},\n    fitted_on: {source},\n}};\n",
        host.dispatch_micros,
        host.sync_micros,
        host.syncs,
        host.launches_per_expert,
        host.flash_attention_2,
        host.stops_early,
        host.element_passes,
        host.straggler_sigma,
    );
}
