//! One's own runs: files of them, and what a fit to half of a source's runs does for its other half.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use model::choice::Choice;
use model::design::KnobId;
use proptest::prelude::*;
use validation::own::read::read;
use validation::own::{Asked, Calibration, Case, MAX_RUNS, calibrate, cases, fit};
use validation::runs::{self, Run};

/// A log as Megatron-LM prints it, with invented times.
const LOG: &str = include_str!("own/llama-8b-tp1.log");

fn on(accelerator: &str) -> Asked {
    let settings = vec![(KnobId::accelerator, accelerator.to_owned())];
    Asked { settings, ..Asked::default() }
}

fn calibrated(files: &[(&str, &str)], asked: &Asked) -> Result<Calibration, Vec<String>> {
    let read = |(name, text): &(&str, &str)| ((*name).to_owned(), read(text.as_bytes()).unwrap());
    calibrate(files.iter().map(read).collect(), asked)
}

/// Runs of a source on one accelerator, as a user has them.
fn of_source(source: &str, accelerator: &str) -> Vec<Case> {
    let known = runs::published().iter();
    let known = known.filter(|it| it.source_id == source && it.tier != "C" && it.kind != "memory");
    let all: Vec<Run> = known.cloned().collect();
    let (mut cases, _) = cases(&all, &[]);
    cases.retain(|case| case.plan().design().cluster.accelerator.name() == accelerator);
    cases
}

fn median(mut errors: Vec<f64>) -> f64 {
    errors.iter_mut().for_each(|it| *it = it.abs());
    errors.sort_by(f64::total_cmp);
    f64::midpoint(errors[(errors.len() - 1) / 2], errors[errors.len() / 2])
}

/// Half of these sources' runs, every other one in the file, tell enough to predict the other half
/// better than the family's constants do.
#[test]
fn half_of_a_source_s_runs_lower_the_error_on_its_other_half() {
    for (source, accelerator, at_most) in [
        ("bigscience", "a100-sxm-80gb", 0.5),
        ("nemo_2407", "h100-sxm-80gb", 0.5),
        ("korthikanti", "a100-sxm-80gb", 0.5),
        ("moe_modelzoo", "h100-sxm-80gb", 0.5),
    ] {
        let cases = of_source(source, accelerator).into_iter().enumerate();
        let (own, others): (Vec<_>, Vec<_>) = cases.partition(|(index, _)| index % 2 == 0);
        let own: Vec<Case> = own.into_iter().map(|it| it.1).collect();
        let found = fit(&own);
        let none = fit(&[]);
        let errors = |by: &validation::own::Fit| -> f64 {
            median(others.iter().map(|(_, case)| by.log_ratio(case)).collect())
        };
        let (before, after) = (errors(&none), errors(&found));
        assert!(after < at_most * before, "{source}: {before:.3} to {after:.3}");
    }
}

#[test]
fn a_log_is_its_design_and_the_median_of_its_steps() {
    let found = calibrated(&[("run.log", LOG)], &on("h100-sxm-80gb")).unwrap();
    let [run] = found.runs.as_slice() else { panic!("{found:?}") };
    assert_eq!((run.metric, run.steps), ("step_time_seconds", Some(3)));
    assert!((run.measured - 11.5023).abs() < 1e-9, "{run:?}");
    assert!((run.memory_measured_gib.unwrap() - 41_250.98 / 1_024.0).abs() < 1e-9, "{run:?}");
    for knob in ["num_layers=32", "num_devices=16", "global_batch_size=128", "vocab_size=128256"] {
        let name = knob.split('=').next().unwrap();
        let is_preset = run.link.contains("llama-3-8b") && !run.link.contains(&format!(".{name}"));
        assert!(is_preset || run.link.contains(knob), "{knob}: {}", run.link);
    }
    assert!(run.link.contains("recompute_granularity=full"), "{}", run.link);
    // One run is fitted by one constant, towards it, and not all the way: it may be chance.
    assert_eq!(found.knobs.len(), 1, "{found:?}");
    let [before, after] = [run.time_error_before.abs(), run.time_error.abs()];
    assert!(0.05 * before < after && after < 0.6 * before, "{before} {after}");
    assert!(found.agreement.left_out.is_none());
    assert!(found.toml.contains("[kernel]\nin_run_rate = 0."), "{}", found.toml);
}

#[test]
fn what_a_log_leaves_open_is_asked_for() {
    let why = calibrated(&[("run.log", LOG)], &Asked::default()).unwrap_err();
    assert!(why.iter().any(|it| it.contains("cluster.accelerator")), "{why:?}");
    let cut = LOG.split("------------------------ arguments").next().unwrap();
    let steps = LOG.split("end of arguments ---------------------").nth(1).unwrap();
    let why = calibrated(&[("run.log", &format!("{cut}{steps}"))], &on("a100-sxm-80gb"));
    assert!(why.unwrap_err().iter().any(|it| it.contains("prints no arguments")));
}

#[test]
fn runs_of_two_accelerators_are_no_cluster() {
    let table = "id,model,hardware,n_devices,TP,PP,GBS,seq_len,MBS,step_time_s\n\
                 a,llama-3-8b,H100,8,1,1,64,8192,1,8\nb,llama-3-8b,A100-80G,8,1,1,64,8192,1,20\n";
    let why = calibrated(&[("mine.csv", table)], &Asked::default()).unwrap_err();
    assert!(why[0].contains("2 accelerators: a100-sxm-80gb, h100-sxm-80gb"), "{why:?}");
}

#[test]
fn few_runs_move_one_constant_and_the_same_runs_the_same_ones() {
    let cases = of_source("bigscience", "a100-sxm-80gb");
    for count in 1..5 {
        let found = fit(&cases[..count]);
        assert!(found.knobs().len() <= 1, "{found:?}");
    }
    assert_eq!(fit(&cases[..12]), fit(&cases[..12]));
}

#[test]
fn a_knob_that_a_design_sets_is_left_alone() {
    let known = runs::published().iter().filter(|it| it.source_id == "bigscience");
    let all: Vec<Run> = known.take(9).cloned().collect();
    let settings = [(KnobId::in_run_rate, "0.9".to_owned())];
    let (cases, _) = cases(&all, &settings);
    assert!(!cases.is_empty() && fit(&cases).knobs().is_empty());
}

#[test]
fn more_runs_than_a_fit_takes_are_refused() {
    let line = "r,llama-3-8b,H100,8,1,64,8192,1,8\n";
    let head = "id,model,hardware,n_devices,TP,GBS,seq_len,MBS,step_time_s\n";
    let table = format!("{head}{}", line.repeat(MAX_RUNS + 1));
    assert!(calibrated(&[("mine.csv", &table)], &Asked::default()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever a file holds, it is read or refused with a reason.
    #[test]
    fn any_bytes_are_read_or_refused(
        head in prop::sample::select(vec![
            "", "id,model,hardware,n_devices\n", "--- arguments ---\n", "{\"traceEvents\": [",
            "iteration 1/ 2 | elapsed time per iteration (ms): 1.0 |\n",
            "Name,Type,Duration(us),Input Shapes\n", "OP Type,Count,Total Time(us)\n",
            "\u{1f}\u{8b}\u{8}",
        ]),
        bytes in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let all = [head.as_bytes(), bytes.as_slice()].concat();
        match read(all.as_slice()) {
            Ok(content) => {
                let found = calibrate(vec![("x".to_owned(), content)], &on("h100-sxm-80gb"));
                prop_assert!(found.is_ok() || !found.unwrap_err().is_empty());
            }
            Err(why) => prop_assert!(!why.is_empty()),
        }
    }
}
