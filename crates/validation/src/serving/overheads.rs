//! The overheads of engines, fitted on published runs of serving.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::iter::repeat_n;

use model::catalogue::calibration::{ModelKind, Spread};
use model::ground::choice::{Choice, Engine};
use model::ground::fitted::Evidence;
use model::serving::Overheads;

use crate::evidence;
use crate::ranges::{self, Sourced};
use crate::serving::{Measured, ServingRun};
use crate::statistics::percentile;

/// The constants of an engine on a family, in the order in which they are fitted.
const CONSTANTS: usize = 8;

/// Bounds of each constant.
const BOUNDS: [[f64; 2]; CONSTANTS] = [
    [0.8, 6.0],
    [0.0, 800.0],
    [0.0, 900.0],
    [0.0, 3.0],
    [0.8, 4.0],
    [0.8, 6.0],
    [0.8, 3.0],
    [0.0, 1.0],
];

/// An error counts no more than this: rows whose source is wrong don't pull.
const MAX_LOG_ERROR: f64 = 0.6;

/// Role of rows that count to the ranges, though no constant is fitted on them.
const HELD_OUT: &str = "held_out";

/// Overheads of an engine on one family, and the error that is left.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The engine.
    pub engine: Engine,
    /// The family of accelerators.
    pub family: &'static str,
    /// Its overheads.
    pub overheads: Overheads,
    /// Rows.
    pub rows: usize,
    /// The median error.
    pub median: f64,
    /// The error that nine of ten are within.
    pub p90: f64,
    /// Rows of each source.
    pub sources: BTreeMap<String, usize>,
}

/// Whether a row says something of the constants: those of a first token under load don't.
#[must_use]
pub fn is_fitted(run: &ServingRun) -> bool {
    // With answers of a few tokens a median over bursts of prompts says nothing of a steady state.
    let is_burst = run.measured == Measured::Tpot
        && run.decode_alone.is_none()
        && run.design.serving.output_length <= 128
        && run.design.serving.input_length >= 8 * run.design.serving.output_length;
    run.measured != Measured::Ttft && !is_burst && !run.row.is(HELD_OUT)
}

fn with_constants(constants: [f64; CONSTANTS], engine: Engine) -> Overheads {
    let [kernel, dense, moe, step, prefill, prefill_moe, experts, lockstep] = constants;
    Overheads {
        kernel_micros: kernel,
        dense_layer_micros: dense,
        moe_layer_micros: moe,
        step_millis: step,
        prefill: [prefill, prefill_moe],
        experts,
        lockstep,
        queue: 1.0,
        mixes: !matches!(engine, Engine::Sglang | Engine::Mindie),
        fitted_on: Evidence::Unfitted(""),
    }
}

/// ln(predicted / measured) of the time, where it can be predicted.
#[must_use]
pub fn error(run: &ServingRun, overheads: Option<Overheads>) -> Option<f64> {
    let error = (run.predicted(overheads).ok()? / run.value).ln();
    let is_rate = matches!(run.measured, Measured::Output | Measured::Total | Measured::Input);
    Some(if is_rate { -error } else { error })
}

/// Loss over some runs' errors, in which each source counts as the root of its rows.
fn loss(
    runs: &[(&ServingRun, f64)],
    constants: [f64; CONSTANTS],
    engine: Engine,
    family: &str,
) -> f64 {
    let overheads = with_constants(constants, engine);
    let errors = runs.iter().filter_map(|(run, weight)| {
        error(run, Some(overheads)).map(|error| (error.abs().min(MAX_LOG_ERROR), *weight))
    });
    let (sum, weights) =
        errors.fold((0.0, 0.0), |(sum, all), (error, weight)| (sum + error * weight, all + weight));
    // What no row tells stays where it is.
    let usual = start(family);
    let pull: f64 = (0..CONSTANTS)
        .map(|it| (constants[it] - usual[it]).abs() / (BOUNDS[it][1] - BOUNDS[it][0]))
        .sum();
    sum / weights.max(1e-9) + (0.002 + 0.03 / (runs.len() as f64).max(1.0)) * pull
}

/// The table of the model's `serving/overheads.rs`.
#[must_use]
pub fn table(all: &[ServingRun]) -> String {
    let mut text = String::from(
        "//! Overheads of engines, and errors of what they predict: written by\n\
         //! `cargo xtask calibrate --serving`.\n\n\
         use super::engine::{Overheads, Row};\n\
         use crate::catalogue::calibration::{ModelKind, Spread};\n\
         use crate::ground::choice::Engine;\nuse crate::ground::fitted::Evidence;\n\n\
         #[rustfmt::skip]\npub(crate) static TABLE: &[Row] = &[\n",
    );
    for Fitted { engine, family, overheads: it, sources, .. } in fit(all) {
        let each = sources.iter().flat_map(|(name, rows)| repeat_n(name.as_str(), *rows));
        let source = evidence::runs(each, 8);
        let _ = writeln!(
            text,
            "    Row {{ engine: Engine::{engine:?}, family: {family:?}, overheads: Overheads {{\n\
             \x20       kernel_micros: {:.2}, dense_layer_micros: {:.1}, moe_layer_micros: {:.1},\n\
             \x20       step_millis: {:.2}, prefill: [{:.2}, {:.2}], experts: {:.2}, \
             lockstep: {:.2},\n\
             \x20       queue: {:.2}, mixes: {},\n\
             \x20       {source}\n    }} }},",
            it.kernel_micros,
            it.dense_layer_micros,
            it.moe_layer_micros,
            it.step_millis,
            it.prefill[0],
            it.prefill[1],
            it.experts,
            it.lockstep,
            it.queue,
            it.mixes,
        );
    }
    text.push_str("];\n\n");
    let held = held_out(all);
    text.push_str(
        "/// Errors of the time of a token, of a step and of throughput, by kind of model.\n\
         #[rustfmt::skip]\npub(super) static SPREADS: [Spread; 3] = [\n",
    );
    for kind in ModelKind::ALL {
        let _ = writeln!(text, "    {},", written(&spread(&held, Some(kind), false)));
    }
    let _ = writeln!(
        text,
        "];\n\n/// Errors of the time to the first token under load.\n#[rustfmt::skip]\n\
         pub(super) static FIRST_SPREAD: Spread =\n    {};",
        written(&spread(&held, None, true))
    );
    text
}

fn written(spread: &Spread) -> String {
    let ends = |[low, high]: [f64; 2]| format!("[{low:.3}, {high:.3}]");
    format!(
        "Spread {{ family: \"\", kind: ModelKind::{:?}, is_of_time: true,\n\
         \x20       half: {}, most: {}, \
         coverage: {},\n        rows: {}, sources: {} }}",
        spread.kind,
        ends(spread.half),
        ends(spread.most),
        ends(spread.coverage),
        spread.rows,
        spread.sources
    )
}

/// The overheads that suit these runs best, one constant after the other.
#[must_use]
pub fn fit(all: &[ServingRun]) -> Vec<Fitted> {
    let mut groups: BTreeMap<(&str, &'static str), Vec<&ServingRun>> = BTreeMap::new();
    for run in all {
        groups.entry((run.engine.name(), run.family)).or_default().push(run);
    }
    groups.into_values().map(|runs| fit_one(&runs)).collect()
}

/// Constants to begin with, where no row of an engine tells them: those of other engines.
fn start(family: &str) -> [f64; CONSTANTS] {
    if family.starts_with("Ascend") {
        [2.0, 40.0, 120.0, 0.5, 1.0, 1.0, 1.0, 0.0]
    } else {
        [1.8, 10.0, 20.0, 0.5, 1.0, 1.2, 1.0, 0.1]
    }
}

/// Whether a run determines its engine's constants on a family: only steps at one request alone do
/// where everything else is to be a prediction.
fn told(engine: Engine, family: &str, run: &ServingRun) -> bool {
    let is_of_seeds = engine == Engine::Mindie && family != "Ascend 910C";
    !is_of_seeds || (run.row.concurrency == "1" && run.decode_alone.is_some())
}

fn free(engine: Engine, family: &str) -> &'static [usize] {
    if engine == Engine::Mindie && family != "Ascend 910C" {
        &[1, 2]
    } else {
        &[0, 1, 2, 3, 4, 5, 6, 7]
    }
}

/// Runs with the weight of each: a source counts like the root of its rows.
fn weighed<'a>(runs: &[&'a ServingRun]) -> Vec<(&'a ServingRun, f64)> {
    let mut sources: BTreeMap<&str, usize> = BTreeMap::new();
    runs.iter().for_each(|run| *sources.entry(&run.row.source_id).or_default() += 1);
    let weight = |run: &ServingRun| 1.0 / (sources[run.row.source_id.as_str()] as f64).sqrt();
    runs.iter().map(|run| (*run, weight(run))).collect()
}

/// The constants that suit these runs of an engine on a family best, one after the other, with
/// steps that shrink.
fn constants(engine: Engine, family: &str, runs: &[&ServingRun]) -> [f64; CONSTANTS] {
    let told: Vec<&ServingRun> =
        runs.iter().copied().filter(|run| told(engine, family, run) && is_fitted(run)).collect();
    let weighed = weighed(&told);
    let mut best = start(family);
    if weighed.is_empty() {
        return best;
    }
    let mut least = loss(&weighed, best, engine, family);
    let mut step = 0.5;
    while step > 0.02 {
        let mut is_better = false;
        for place in free(engine, family) {
            let [low, high] = BOUNDS[*place];
            for sign in [1.0, -1.0] {
                let mut tried = best;
                let width = if *place < 4 { (high - low) * 0.3 } else { 0.6 };
                tried[*place] = (best[*place] + sign * step * width).clamp(low, high);
                let left = loss(&weighed, tried, engine, family);
                if left < least - 1e-6 {
                    (best, least, is_better) = (tried, left, true);
                }
            }
        }
        if !is_better {
            step *= 0.6;
        }
    }
    best
}

/// The overheads of an engine on a family by these runs: constants of steps first, then how long
/// first tokens wait.
fn fitted(engine: Engine, family: &str, runs: &[&ServingRun]) -> Overheads {
    let mut overheads = with_constants(constants(engine, family, runs), engine);
    let first: Vec<&ServingRun> = runs
        .iter()
        .copied()
        .filter(|run| run.measured == Measured::Ttft && run.design.serving.concurrency > Some(2))
        .collect();
    if first.len() < 8 {
        return overheads;
    }
    let mut least = f64::INFINITY;
    for step in 0..24 {
        let tried = Overheads { queue: 0.1 * 1.2_f64.powi(step), ..overheads };
        let errors: Vec<f64> =
            first.iter().filter_map(|run| error(run, Some(tried))).map(f64::abs).collect();
        let left = percentile(&errors, 0.5);
        if left < least {
            (overheads, least) = (tried, left);
        }
    }
    overheads
}

fn fit_one(runs: &[&ServingRun]) -> Fitted {
    let (engine, family) = (runs[0].engine, runs[0].family);
    let mut sources: BTreeMap<String, usize> = BTreeMap::new();
    let told = runs.iter().filter(|run| told(engine, family, run) && is_fitted(run));
    told.for_each(|run| *sources.entry(run.row.source_id.clone()).or_default() += 1);
    let overheads = fitted(engine, family, runs);
    let mut errors: Vec<f64> = runs
        .iter()
        .filter(|run| is_fitted(run))
        .filter_map(|run| error(run, Some(overheads)))
        .map(f64::abs)
        .collect();
    errors.sort_by(f64::total_cmp);
    let at = |share: f64| errors.get((errors.len() as f64 * share) as usize).copied();
    Fitted {
        engine,
        family,
        overheads,
        rows: errors.len(),
        median: at(0.5).unwrap_or_default(),
        p90: at(0.9).unwrap_or_default(),
        sources,
    }
}

/// A run, and ln(measured / predicted) of its time under constants that were fitted without its
/// source.
#[derive(Clone, Debug)]
pub struct HeldOut<'a> {
    /// The run.
    pub run: &'a ServingRun,
    /// The error.
    pub log_ratio: f64,
}

/// Errors of each source under constants that were fitted without it.
#[must_use]
pub fn held_out(all: &[ServingRun]) -> Vec<HeldOut<'_>> {
    let sources: BTreeSet<&str> = all.iter().map(|run| run.row.source_id.as_str()).collect();
    let mut held = Vec::new();
    for source in sources {
        let mut known: BTreeMap<(&str, &str), Overheads> = BTreeMap::new();
        for run in all.iter().filter(|run| run.row.source_id == source) {
            let overheads = *known.entry((run.engine.name(), run.family)).or_insert_with(|| {
                let is_like = |other: &&ServingRun| {
                    other.engine == run.engine
                        && other.family == run.family
                        && other.row.source_id != source
                };
                let others: Vec<&ServingRun> = all.iter().filter(is_like).collect();
                fitted(run.engine, run.family, &others)
            });
            if let Some(error) = error(run, Some(overheads)) {
                held.push(HeldOut { run, log_ratio: -error });
            }
        }
    }
    held
}

/// The errors of a kind of models, of the time of a token or of the first one.
#[must_use]
pub fn spread(held: &[HeldOut<'_>], kind: Option<ModelKind>, is_of_first: bool) -> Spread {
    let is_asked = |it: &&HeldOut<'_>| {
        (it.run.measured == Measured::Ttft) == is_of_first
            && (is_of_first || is_fitted(it.run) || it.run.row.is(HELD_OUT))
            && kind.is_none_or(|kind| it.run.design.transformer.model_kind() == kind)
    };
    let sourced: Vec<Sourced<'_>> = held
        .iter()
        .filter(is_asked)
        .map(|it| Sourced { source: &it.run.row.source_id, log_ratio: it.log_ratio })
        .collect();
    ranges::spread("", kind.unwrap_or(ModelKind::Experts), &sourced)
}
