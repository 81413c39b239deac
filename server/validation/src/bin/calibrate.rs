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

use model::calibration::{Host, Kernels, Spread};
use validation::calibrate::{self, Case, Constants};
use validation::kernels::{collective, deepep};
use validation::left_out::{self, LeftOut};
use validation::ranges::{self, Sourced};
use validation::{anchors, peaks, runs, validate};

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
    let has = |option: &str| std::env::args().any(|argument| argument == option);
    if has("--collectives") {
        let text = collective::fit() + &deepep::fit();
        return io::stdout().write_all(text.as_bytes());
    }
    let fitted = if has("--memory") { None } else { Some(Fitted::new()?) };
    let (mark, table) = match &fitted {
        None => (MEMORY_MARK, memory()),
        Some(fitted) => (MARK, fitted.table.clone() + &memory()),
    };
    if has("--dry-run") {
        return io::stdout().write_all(table.as_bytes());
    }
    let path = path_to("../../model/src/calibration.rs");
    let text = fs::read_to_string(&path)?;
    let Some((above, _)) = text.split_once(mark) else {
        return Err(io::Error::other(format!("{} has lost its mark", path.display())));
    };
    fs::write(&path, format!("{above}{table}"))?;
    if let Some(fitted) = fitted {
        fs::write(path_to("../../model/src/anchor/table.rs"), fitted.anchors)?;
        fs::write(path_to("runs/left_out.csv"), fitted.left_out)?;
    }
    Ok(())
}

/// A file by its place beside this crate.
fn path_to(place: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), place].iter().collect()
}

/// What a fit comes to.
struct Fitted {
    /// The constants, and the errors of the step time.
    table: String,
    /// The module of measured runs.
    anchors: String,
    /// The errors of each source under constants that were fitted without it.
    left_out: String,
}

impl Fitted {
    fn new() -> io::Result<Self> {
        let mut cases = calibrate::cases(runs::published());
        // How a simulation differs from its closed form depends on the constants, a little: those
        // of the start give the first ones, and these the last. What the model holds now has no
        // say.
        let mut constants = Constants::start();
        for _ in 0..2 {
            calibrate::settle(&mut cases, &constants);
            let all: Vec<&Case<'_>> = cases.iter().collect();
            constants = calibrate::fit(&all, &Constants::start(), ROUNDS);
        }
        let held_out = calibrate::held_out(&cases, &Constants::start());
        let errors: Vec<(&Case<'_>, LeftOut)> =
            held_out.iter().map(|(case, error)| (*case, LeftOut::new(case, *error))).collect();
        let left_out: Vec<LeftOut> = errors.iter().map(|(_, error)| error.clone()).collect();
        let spreads = ranges::spreads(&left_out);
        let pairs = ranges::pair_spread(&left_out);
        Ok(Self {
            table: format!("{MARK}\n\n{}", table(&constants, &cases, &spreads, &pairs)),
            anchors: anchors::module(&errors),
            left_out: left_out::table(&left_out).map_err(io::Error::other)?,
        })
    }
}

/// The errors of the peak memory: their spread, and their quantiles with signs.
fn memory() -> String {
    let validation = validate(runs::published());
    let peaks = peaks::peaks(&validation.rows);
    let sourced: Vec<Sourced<'_>> = peaks
        .iter()
        .map(|peak| Sourced { source: peak.source, log_ratio: peak.log_ratio })
        .collect();
    let spread = Spread { is_of_time: false, ..ranges::spread("", true, &sourced) };
    format!(
        "{MEMORY_MARK}, of the peaks behind [`MEMORY_QUANTILES`].\n#[rustfmt::skip]\npub const \
         MEMORY_SPREAD: Spread = {};\n\n{}",
        written(&spread),
        peaks::table(&peaks),
    )
}

/// A spread as Rust.
fn written(spread: &Spread) -> String {
    let ends = |[low, high]: [f64; 2]| format!("[{low:.3}, {high:.3}]");
    format!(
        "Spread {{ family: {:?}, experts: {},\n        is_of_time: {}, half: {}, most: {},\n        \
         coverage: {}, rows: {}, sources: {} }}",
        spread.family,
        spread.experts,
        spread.is_of_time,
        ends(spread.half),
        ends(spread.most),
        ends(spread.coverage),
        spread.rows,
        spread.sources
    )
}

fn table(constants: &Constants, cases: &[Case<'_>], spreads: &[Spread], pairs: &Spread) -> String {
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
    text.push_str(
        "/// Errors of the step time by family and kind of model, all families together last.\n\
         #[rustfmt::skip]\npub const SPREADS: &[Spread] = &[\n",
    );
    for spread in spreads {
        let _ = writeln!(text, "    {},", written(spread));
    }
    text.push_str("];\n\n");
    let _ = writeln!(
        text,
        "/// Errors of the ratio of two step times of one source, model and accelerator.\n\
         #[rustfmt::skip]\npub const PAIR_SPREAD: Spread = {};\n",
        written(pairs)
    );
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
