//! One's own runs: files of them, and what half of a source's runs do for its other half.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use model::answer::microbench::{Burst, CausalAttention};
use model::answer::roofline::{Direction, Operator, Unit};
use model::design::{Design, KnobId};
use model::ground::choice::Choice;
use model::{Plan, estimate, roofline};
use proptest::prelude::*;
use validation::own::read::read;
use validation::own::{Calibration, CalibrationInput, Case, MAX_RUNS, calibrate, cases, fit};
use validation::runs::{self, Run};

/// A log as Megatron-LM prints it, with invented times.
const LOG: &str = include_str!("own/llama-8b-tp1.log");

fn on(accelerator: &str) -> CalibrationInput {
    let settings = vec![(KnobId::accelerator, accelerator.to_owned())];
    CalibrationInput { settings, ..CalibrationInput::default() }
}

fn calibrated(
    files: &[(&str, &str)],
    asked: &CalibrationInput,
) -> Result<Calibration, Vec<String>> {
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
    assert!(found.knobs.len() == 2 && found.knobs[1].starts_with("kernel.profile="), "{found:?}");
    let [before, after] = [run.time_error_before.abs(), run.time_error.abs()];
    assert!(0.05 * before < after && after < 0.6 * before, "{before} {after}");
    assert!(found.agreement.as_ref().unwrap().left_out.is_none());
    assert!(found.toml.contains("[kernel]\nin_run_rate = 0."), "{}", found.toml);
}

/// Megatron prints the default of every argument, also of what isn't used, and of what another
/// argument sets.
#[test]
fn a_log_with_all_defaults_is_what_was_trained() {
    let text = include_str!("own/qwen3-30b-a3b.log");
    let found = calibrated(&[("run.log", text)], &on("h100-sxm-80gb")).unwrap();
    let run = &found.runs[0];
    // Of eleven lines two are warm-up, and one step was skipped.
    assert_eq!(run.steps, Some(8));
    assert!(run.link.starts_with("/?v=1&preset=qwen3-30b-a3b&"), "{}", run.link);
    let wrong = ["transformer.", "parallel.", "moe_"].map(|part| run.link.contains(part));
    assert_eq!(wrong, [false; 3], "{}", run.link);
    assert!(run.time_error_before.abs() < 0.1, "{run:?}");
}

/// Launchers write the rank before each line, other systems end lines otherwise, and colours stay.
#[test]
fn a_log_is_read_with_whatever_launchers_write_around_its_lines() {
    let plain = calibrated(&[("run.log", LOG)], &on("h100-sxm-80gb")).unwrap();
    let before = |prefix: &str, end: &str| -> String {
        LOG.lines().flat_map(|line| [prefix, line, end]).collect()
    };
    for text in [
        before("[default0]:", "\n"),
        before("[rank0]: ", "\r\n"),
        before("0: ", "\n"),
        format!("\u{1b}[32m[INFO:swift] begins\u{1b}[0m\n{LOG}"),
        format!("[INFO:swift] local_repo_path: /root/.cache\n{LOG}"),
    ] {
        let found = calibrated(&[("run.log", &text)], &on("h100-sxm-80gb")).unwrap();
        assert_eq!(found, plain, "{}", &text[..60]);
    }
}

#[test]
fn what_a_log_leaves_open_is_asked_for() {
    let why = calibrated(&[("run.log", LOG)], &CalibrationInput::default()).unwrap_err();
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
    let why = calibrated(&[("mine.csv", table)], &CalibrationInput::default()).unwrap_err();
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
    assert!(calibrated(&[("mine.csv", &table)], &CalibrationInput::default()).is_err());
}

/// A trace with kernels of these shapes that take as long as the model says at these rates.
fn trace(design: &Design) -> String {
    let burst = Burst::in_step(&Plan::new(design).unwrap());
    let attention = CausalAttention {
        sequences: 1.0,
        tokens: 8_192.0,
        heads: 32.0,
        qk_dim: 128.0,
        v_dim: 128.0,
    };
    let queries = "[1, 8192, 32, 128]";
    let kernels = [
        (
            "nvjet_hsh",
            "aten::mm",
            "[8192, 4096], [4096, 28672]",
            burst.product([8_192.0, 4_096.0, 28_672.0]),
        ),
        (
            "nvjet_hsh",
            "aten::mm",
            "[8192, 14336], [14336, 4096]",
            burst.product([8_192.0, 14_336.0, 4_096.0]),
        ),
        (
            "void flash_fwd_kernel",
            "flash_attn::_flash_attn_forward",
            queries,
            burst.attention(&attention),
        ),
        (
            "void flash_bwd_dq_dk_dv",
            "flash_attn::_flash_attn_backward",
            "[1, 8192, 32, 128], [1, 8192, 32, 128]",
            burst.attention_backward(&attention),
        ),
    ];
    let mut events = vec![];
    for call in 0..10 {
        for (place, (kernel, operator, dims, seconds)) in kernels.iter().enumerate() {
            let (id, micros) = (10 * call + place, seconds.get() * 1e6);
            events.push(format!(
                "{{\"cat\": \"cpu_op\", \"name\": \"{operator}\", \"args\": {{\"External id\": \
                 {id}, \"Input Dims\": [{dims}]}}}},\n{{\"cat\": \"kernel\", \"name\": \
                 \"{kernel}\", \"dur\": {micros}, \"args\": {{\"External id\": {id}}}}}"
            ));
        }
    }
    let device = "\"deviceProperties\": [{\"name\": \"NVIDIA H100 80GB HBM3\"}]";
    format!("{{{device}, \"traceEvents\": [\n{}\n]}}", events.join(",\n"))
}

/// The value of a constant, and who gives it.
fn of<'a>(found: &'a Calibration, knob: &str) -> (f64, &'a str) {
    let told = found.constants.iter().find(|told| told.knob == format!("kernel.{knob}")).unwrap();
    (told.value, told.from)
}

#[test]
fn rates_come_out_of_a_trace_as_they_went_in() {
    let mut design = Design::from_preset("llama-3-8b").unwrap();
    design.set_text(KnobId::accelerator, "h100-sxm-80gb").unwrap();
    let asked = [
        (KnobId::gemm_efficiency, "gemm_efficiency", 0.61),
        (KnobId::attention_forward_efficiency, "attention_forward_efficiency", 0.55),
        (KnobId::attention_backward_efficiency, "attention_backward_efficiency", 0.42),
    ];
    for (knob, _, value) in asked {
        design.set_text(knob, &value.to_string()).unwrap();
    }
    let text = trace(&design);
    let found = calibrated(&[("trace.json", &text)], &CalibrationInput::default()).unwrap();
    for (_, name, value) in asked {
        let (read, from) = of(&found, name);
        assert!((read / value - 1.0).abs() < 5e-3 && from == "profile", "{name}: {read} {from}");
    }
    assert_eq!(of(&found, "vector_bandwidth_share").1, "family");
    assert!(found.accelerator == "h100-sxm-80gb" && found.agreement.is_none());
    // Packed by gzip it is the same; a run beside it leaves them alone, and tells too little of
    // what is left.
    let mut packed = GzEncoder::new(vec![], Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let packed = read(packed.finish().unwrap().as_slice()).unwrap();
    let log = read(LOG.as_bytes()).unwrap();
    let files = vec![("a.gz".to_owned(), packed), ("b.log".to_owned(), log)];
    let both = calibrate(files, &on("h100-sxm-80gb")).unwrap();
    for (_, name, value) in asked {
        assert!((of(&both, name).0 / value - 1.0).abs() < 5e-3, "{name}");
    }
    assert_eq!((of(&both, "in_run_rate").1, both.runs.len()), ("family", 1));
}

#[test]
fn a_table_of_kernels_without_shapes_needs_the_design() {
    let mut design = Design::from_preset("llama-3-8b").unwrap();
    for (knob, value) in [
        (KnobId::accelerator, "ascend-910b2"),
        (KnobId::framework, "mindspeed"),
        (KnobId::recompute_granularity, "none"),
    ] {
        design.set_text(knob, value).unwrap();
    }
    let plan = Plan::new(&design).unwrap();
    let operators = roofline(&plan, &estimate(&plan).communication).operators;
    let all = |is: &dyn Fn(&Operator) -> bool| -> (f64, f64) {
        let own: Vec<&Operator> = operators.iter().filter(|it| is(it)).collect();
        let micros = own.iter().map(|it| it.step_seconds().get() * 1e6).sum();
        (own.iter().map(|it| it.calls).sum(), micros)
    };
    let is_core = |it: &Operator| it.unit == Unit::Cube && it.name == "Core attention";
    let is_forward = |it: &Operator| it.direction == Direction::Forward;
    let rows = [
        ("FlashAttentionScore", all(&|it| is_core(it) && is_forward(it)), 1.25),
        ("FlashAttentionScoreGrad", all(&|it| is_core(it) && !is_forward(it)), 1.0),
        ("MatMulV2", all(&|it| it.unit == Unit::Cube && !is_core(it)), 1.0),
    ];
    let mut table = "OP Type,Core Type,Count,Total Time(us)\n".to_owned();
    for (name, (calls, micros), slower) in rows {
        // Two steps.
        let (calls, micros) = (2.0 * calls, 2.0 * micros * slower);
        table.push_str(&format!("{name},AI_CORE,{calls},{micros}\n"));
    }
    let files = [("op_statistic.csv", table.as_str())];
    let why = calibrated(&files, &on("ascend-910b2")).unwrap_err();
    assert!(why.iter().any(|it| it.contains("design isn't given")), "{why:?}");
    let asked = CalibrationInput { base: Some(design.clone()), ..CalibrationInput::default() };
    let found = calibrated(&files, &asked).unwrap();
    let before = plan.rates_in_effect();
    let (forward, from) = of(&found, "attention_forward_efficiency");
    let slower = before.attention_forward_efficiency / forward;
    assert!((slower / 1.25 - 1.0).abs() < 0.01 && from == "profile", "{slower} {from}");
    let (gemm, _) = of(&found, "gemm_efficiency");
    assert!((gemm / before.gemm_efficiency - 1.0).abs() < 0.01, "{gemm}");
    design.set_text(KnobId::recompute_granularity, "full").unwrap();
    let asked = CalibrationInput { base: Some(design), ..CalibrationInput::default() };
    let why = calibrated(&files, &asked).unwrap_err();
    assert!(why.iter().any(|it| it.contains("record shapes")), "{why:?}");
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
