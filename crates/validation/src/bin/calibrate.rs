//! `cargo xtask calibrate`: fits the model's constants to the published runs and writes them, with
//! what they were fitted on and the errors of runs that were kept out, into the model.
//!
//! `--kernels` writes the levels of kernels instead, which are fitted on measured kernels alone;
//! the constants of runs rest on them, so that this comes first. `--collectives` prints the
//! constants of collectives and of the kernels of expert parallelism, fitted to one half of the
//! measured ones; they stand in the model's `fabric`. `--memory` leaves the fits out and writes the
//! errors of the peak memory anew, which no fitted constant has a part in. `--serving` writes the
//! overheads of engines and their errors, fitted on published runs of serving. `--dry-run` prints
//! instead of writing.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use model::catalogue::calibration::{Host, InRun, Levels, ModelKind, Spread};
use validation::calibrate::kernels::{self, Family};
use validation::calibrate::{self, Case, Constants};
use validation::kernels::{collective, deepep};
use validation::left_out::{self, LeftOut};
use validation::ranges::{self, Sourced};
use validation::serving::{self, ServingRun};
use validation::{anchors, evidence, peaks, runs, validate};

/// First line of the levels of kernels; above them are types, by hand.
const KERNELS_MARK: &str =
    "// ---- Levels of kernels: written by `cargo xtask calibrate --kernels`. ----";
/// First line of the constants of runs, where the levels of kernels end.
const MARK: &str = "// ---- What runs say: written by `cargo xtask calibrate`. ----";
/// Beginning of the last part: the errors of the peak memory.
const MEMORY_MARK: &str = "/// Errors of the peak memory";
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
    if has("--serving") {
        let table = serving::overheads::table(&serving_runs()?);
        if has("--dry-run") {
            return io::stdout().write_all(table.as_bytes());
        }
        return fs::write(path_to("../../model/src/serving/overheads.rs"), table);
    }
    let is_of_runs = !has("--kernels") && !has("--memory");
    let fitted = if is_of_runs { Some(Fitted::new()?) } else { None };
    let (marks, table) = match &fitted {
        Some(fitted) => ([MARK, ""], fitted.table.clone() + &memory()),
        None if has("--kernels") => ([KERNELS_MARK, MARK], levels()),
        None => ([MEMORY_MARK, ""], memory()),
    };
    if has("--dry-run") {
        return io::stdout().write_all(table.as_bytes());
    }
    let path = path_to("../../model/src/catalogue/calibration.rs");
    let lost = || io::Error::other(format!("{} has lost a mark", path.display()));
    let text = fs::read_to_string(&path)?;
    let [start, end] = marks;
    let (above, rest) = text.split_once(start).ok_or_else(lost)?;
    let below = if end.is_empty() { "" } else { &rest[rest.find(end).ok_or_else(lost)?..] };
    fs::write(&path, format!("{above}{table}{below}"))?;
    if let Some(fitted) = fitted {
        fs::write(path_to("../../model/src/training/anchor/table.tsv"), fitted.anchors)?;
        let best = anchors::best(&validate(runs::published()).rows);
        fs::write(path_to("../../model/src/training/anchor/best.rs"), best)?;
        fs::write(path_to("runs/left_out.csv"), fitted.left_out)?;
    }
    Ok(())
}

/// The published runs of serving that count: tiers A and B that a design expresses.
fn serving_runs() -> io::Result<Vec<ServingRun>> {
    let text = fs::read_to_string(path_to("runs/serving_runs.csv"))?;
    let rows = serving::read(&text).map_err(io::Error::other)?;
    Ok(rows
        .iter()
        .filter(|row| row.tier != "C")
        .filter_map(|row| serving::expression::express(row).ok())
        .collect())
}

/// The levels of kernels.
fn levels() -> String {
    let mut text = format!("{KERNELS_MARK}\n\n");
    let families = kernels::fit();
    for ((name, words), family) in FAMILIES.into_iter().zip(&families) {
        write_kernels(&mut text, name, words, family);
    }
    let [_, hopper, blackwell] = families.as_slice() else { return text };
    let parts = [&hopper.levels[1..], &blackwell.levels[1..]].concat();
    for (name, levels) in PARTS.into_iter().zip(&parts) {
        write_levels(&mut text, name, levels);
    }
    text
}

/// The families' names in the table, and what they are.
const FAMILIES: [(&str, &str); 3] = [
    ("AMPERE", "A100 and A800."),
    ("HOPPER", "H100, H800, H200 and H20."),
    ("BLACKWELL", "B200, B300, GB200 and GB300."),
];

/// The parts with levels of their own, as their families have them.
const PARTS: [&str; 4] = ["H200", "B300", "GB200", "GB300"];

/// A file by its place beside this crate.
fn path_to(place: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), place].iter().collect()
}

/// Texts of the files that a fit writes.
struct Fitted {
    /// The constants, and the errors of the step time.
    table: String,
    /// The table of measured runs.
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
            calibrate::time_simulations(&mut cases, &constants);
            let all: Vec<&Case<'_>> = cases.iter().collect();
            constants = calibrate::fit(&all, &Constants::start(), ROUNDS);
        }
        let held_out = calibrate::held_out(&cases, &Constants::start());
        let errors: Vec<(&Case<'_>, LeftOut)> =
            held_out.iter().map(|(case, error)| (*case, LeftOut::new(case, *error))).collect();
        // No fit has seen them: their errors are those of left-out sources.
        let mut mixed = calibrate::mixed_runs(runs::published());
        calibrate::time_simulations(&mut mixed, &constants);
        let mixed: Vec<(&Case<'_>, LeftOut)> = mixed
            .iter()
            .map(|case| (case, LeftOut::new(case, constants.time_error(case))))
            .collect();
        let whole = calibrate::whole_runs(runs::published());
        let anchors = errors.iter().map(|(case, error)| (*case, error.clone()));
        let whole = whole.iter().map(|case| (case, LeftOut::new(case, constants.time_error(case))));
        let anchors: Vec<(&Case<'_>, LeftOut)> =
            anchors.chain(mixed.iter().cloned()).chain(whole).collect();
        let mut left_out: Vec<LeftOut> = errors.iter().map(|(_, error)| error.clone()).collect();
        let pairs = ranges::pair_spread(&left_out);
        left_out.extend(mixed.iter().map(|(_, error)| error.clone()));
        let spreads = ranges::spreads(&left_out);
        Ok(Self {
            table: format!("{MARK}\n\n{}", table(&constants, &cases, &spreads, &pairs)),
            anchors: anchors::table(&anchors),
            left_out: left_out::table(&left_out).map_err(io::Error::other)?,
        })
    }
}

/// The errors of the peak memory: their spread, and their quantiles with signs.
fn memory() -> String {
    let validation = validate(runs::published());
    let peaks = peaks::peaks(&validation.rows);
    // What a run that ran says of a peak that nobody printed is a bound, not an error.
    let printed = peaks.iter().filter(|peak| !peak.is_bound);
    let sourced: Vec<Sourced<'_>> =
        printed.map(|peak| Sourced { source: peak.source, log_ratio: peak.log_ratio }).collect();
    let spread = Spread { is_of_time: false, ..ranges::spread("", ModelKind::Experts, &sourced) };
    format!(
        "{MEMORY_MARK}, of the peaks behind [`MEMORY_QUANTILES`] that were printed.\n\
         #[rustfmt::skip]\npub const MEMORY_SPREAD: Spread = {};\n\n{}",
        written(&spread),
        peaks::table(&peaks),
    )
}

/// A spread as Rust.
fn written(spread: &Spread) -> String {
    let ends = |[low, high]: [f64; 2]| format!("[{low:.3}, {high:.3}]");
    format!(
        "Spread {{ family: {:?}, kind: ModelKind::{:?},\n        is_of_time: {}, \
         half: {}, most: {},\n\
         \x20       coverage: {}, rows: {}, sources: {} }}",
        spread.family,
        spread.kind,
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
    for (index, (name, words)) in FAMILIES.into_iter().enumerate() {
        let flash_attention_2 = constants.flash_attention_2(index);
        let in_run = InRun { flash_attention_2, ..constants.in_run[index] };
        write_in_run(&mut text, name, words, &in_run, cases);
    }
    let hosts = [
        ("MEGATRON", "Megatron-Core."),
        ("MINDSPEED", "MindSpeed and MindFormers."),
        ("FSDP", "PyTorch FSDP and its relatives."),
    ];
    for (index, ((name, words), host)) in hosts.into_iter().zip(&constants.hosts).enumerate() {
        write_host(&mut text, name, words, host, cases, index);
    }
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

fn write_kernels(text: &mut String, name: &str, words: &str, family: &Family) {
    let set = &family.kernels;
    let source = evidence::kernels("aiconfigurator 095f58a", &family.fitted_on, 4);
    let _ = writeln!(
        text,
        "/// {words}\n#[rustfmt::skip]\npub const {name}: Kernels = Kernels {{\n    \
         family: {:?},\n    gemm: {:.3},\n    fp8_gemm: {:.3},\n    block_fp8_gemm: {:.3},\n    \
         fp4_gemm: {:.3},\n    grouped_gemm: {:.3},\n    matmul_bandwidth: {:.3},\n    \
         half_depth_bytes: {:.1},\n    attention_forward: {:.3},\n    \
         attention_backward: {:.3},\n    mla_attention: {:.3},\n    softmax: {:.3},\n    \
         softmax_overlap: Overlap::{:?},\n    \
         softmaxes_backward: {:.2},\n    attention_ramp_keys: {:.1},\n    \
         attention_block: {:.1},\n    attention_micros: {:.1},\n    \
         flash_attention_2: {name}_IN_RUN.flash_attention_2,\n    vector_bandwidth: {:.3},\n    \
         gather_bandwidth: {:.3},\n    convolution: {:.3},\n    scan: {:.3},\n    \
         in_run: {name}_IN_RUN.rate,\n    {source}\n    \
         in_run_fitted_on: {name}_IN_RUN.fitted_on,\n}};\n",
        set.family,
        set.gemm,
        set.fp8_gemm,
        set.block_fp8_gemm,
        set.fp4_gemm,
        set.grouped_gemm,
        set.matmul_bandwidth,
        set.half_depth_bytes,
        set.attention_forward,
        set.attention_backward,
        set.mla_attention,
        set.softmax,
        set.softmax_overlap,
        set.softmaxes_backward,
        set.attention_ramp_keys,
        set.attention_block,
        set.attention_micros,
        set.vector_bandwidth,
        set.gather_bandwidth,
        set.convolution,
        set.scan,
    );
}

fn write_levels(text: &mut String, name: &str, levels: &Levels) {
    let _ = writeln!(
        text,
        "/// {name}.\n#[rustfmt::skip]\npub const {name}: Levels = Levels {{\n    gemm: {:.3}, \
         fp8_gemm: {:.3}, block_fp8_gemm: {:.3}, fp4_gemm: {:.3},\n    attention_forward: {:.3}, \
         softmax: {:.3},\n}};\n",
        levels.gemm,
        levels.fp8_gemm,
        levels.block_fp8_gemm,
        levels.fp4_gemm,
        levels.attention_forward,
        levels.softmax,
    );
}

fn write_in_run(text: &mut String, name: &str, words: &str, in_run: &InRun, cases: &[Case<'_>]) {
    let family = calibrate::family(name);
    let own = cases.iter().filter(|case| case.family == family);
    let source = evidence::runs(own.map(|case| case.source), 4);
    let _ = writeln!(
        text,
        "/// Steps on {words}\n#[rustfmt::skip]\nconst {name}_IN_RUN: InRun = InRun {{\n    rate: \
         {:.3},\n    flash_attention_2: {:.3},\n    {source}\n}};\n",
        in_run.rate, in_run.flash_attention_2,
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
    let own = cases.iter().filter(|case| case.framework() == framework);
    let source = evidence::runs(own.map(|case| case.source), 4);
    let _ = writeln!(
        text,
        "/// {words}\n#[rustfmt::skip]\npub const {name}: Host = Host {{\n    \
         dispatch_micros: {:.1},\n    sync_micros: {:.1},\n    syncs: {:?},\n    \
         launches_per_expert: {:.3},\n    \
         stops_early: {},\n    element_passes: {:.3},\n    \
         straggler_sigma: {:.4},\n    {source}\n}};\n",
        host.dispatch_micros,
        host.sync_micros,
        host.syncs,
        host.launches_per_expert,
        host.stops_early,
        host.element_passes,
        host.straggler_sigma,
    );
}
