//! What scores say of rows.

use super::*;
use crate::runs;

fn published() -> Validation {
    validate(runs::published())
}

#[test]
fn every_run_has_a_prediction_or_a_reason() {
    let validation = published();
    assert_eq!(validation.rows.len(), runs::published().len());
    for row in &validation.rows {
        match &row.refused {
            Some(reason) => assert!(!reason.is_empty() && row.predicted.is_none(), "{}", row.id),
            None => {
                let predicted = row.predicted.or(row.memory_predicted_gib).unwrap();
                assert!(predicted.is_finite() && predicted > 0.0, "{}", row.id);
                assert!(row.design.as_ref().unwrap().starts_with("?v=1&preset="), "{}", row.id);
            }
        }
    }
}

#[test]
fn the_summary_counts_its_rows() {
    let Validation { rows, summary, .. } = published();
    assert_eq!(summary.rows, rows.len());
    assert!(summary.expressed <= summary.expressible && summary.expressible <= summary.candidates);
    assert_eq!(summary.expressed, rows.iter().filter(|row| row.scored).count());
    // Rows whose devices' clock is an input are reported apart: a group of their source.
    let apart = rows.iter().filter(|row| row.source_id == "simumax_b200" && row.scored).count();
    // So are those whose layers differ: a class.
    let mixed = summary.groups.iter().find(|group| group.by == "class").unwrap().score.rows;
    assert!(mixed >= 40, "{mixed}");
    assert_eq!((apart, summary.all.rows), (43, summary.expressed - apart - mixed));
    let refused: usize = summary.refusals.iter().map(|refusal| refusal.rows).sum();
    assert_eq!(refused, rows.iter().filter(|row| row.refused.is_some()).count());
    for by in ["metric", "accelerator", "source", "precision", "framework"] {
        let groups = summary.groups.iter().filter(|group| group.by == by);
        let counted: usize = groups.map(|group| group.score.rows).sum();
        let with_clock = summary.all.rows + apart;
        let own = if by == "source" { with_clock } else { summary.all.rows };
        assert_eq!(counted, own, "{by}");
    }
    let share = summary.expressed as f64 / summary.expressible as f64;
    assert!(share >= 0.85, "only {share} of the expressible runs are expressed");
}

/// Sources whose FLOPs are known to differ from their own formula, and by how much at most.
///
/// Nemotron's MFU counted a gate that isn't there (until v25.04), three bigscience rows precede a
/// fix of its formula, Grok's formula leaves a part out, Llama 4's counts its windows,
/// Colossal-AI's counts a part of attention, gpt-oss's left a part of the experts out until v26.04
/// (27.2 in place of 32.6 GFLOP), and Automodel's leaves a part out, too.
const INEXACT: [(&str, f64); 12] = [
    ("Nemotron_3", 0.08),
    ("Nemotron", 0.16),
    ("Qwen3-Next", 0.04),
    ("GPT OSS 120B", 0.21),
    ("GPT-OSS", 0.09),
    ("Llama-like", 0.07),
    ("nemotron4-15b", 0.12),
    ("nemotron4-340b", 0.15),
    ("BLOOM-proto", 0.04),
    ("grok1", 0.04),
    ("llama4-maverick", 0.12),
    ("LLAMA2-70B SFT", 0.08),
];

#[test]
fn flops_are_counted_as_each_source_counts_them() {
    let mut checked = 0;
    for run in runs::published() {
        let Some(implied) = run.implied_flops_per_token else { continue };
        let Ok(Expressed { plan, .. }) = expressed(run) else { continue };
        let found = convention::flops_per_token(run, &plan, &estimate(&plan));
        let error = (found / implied - 1.0).abs();
        let inexact = INEXACT.iter().find(|(model, _)| run.model.starts_with(model));
        let allowed = inexact.map_or(0.035, |(_, allowed)| *allowed);
        assert!(error <= allowed, "{}: {found:e} against {implied:e}", run.id);
        checked += 1;
    }
    assert!(checked > 400, "only {checked} runs print what they imply");
}

#[test]
fn runs_that_differ_in_one_input_are_paired() {
    let pairs = published().summary.pairs;
    let find = |first: &str, second: &str| {
        pairs.iter().find(|pair| pair.ids == [first.to_owned(), second.to_owned()])
    };
    let overlap = find("bridge_skills-018", "bridge_skills-019").unwrap();
    assert!((overlap.measured_ratio - 0.8527).abs() < 1e-3, "{overlap:?}");
    assert!(overlap.what.starts_with("overlap"), "{overlap:?}");
    let schedule = find("zero_bubble-007", "zero_bubble-010").unwrap();
    assert!(schedule.what.starts_with("schedule"), "{schedule:?}");
    let rings = find("mindspeed_head-007", "mindspeed_head-008").unwrap();
    assert!(rings.measured_ratio < 1.0 && rings.what.contains("ulysses"), "{rings:?}");
    let precisions = pairs.iter().filter(|pair| pair.what.starts_with("precision")).count();
    assert!(precisions >= 8, "{precisions}");
    let recompute = find("korthikanti-003", "korthikanti-004").unwrap();
    assert!(recompute.measured_ratio < 1.0, "{recompute:?}");
}

#[test]
fn a_file_of_nothing_has_a_summary() {
    let validation = validate(&[]);
    assert_eq!(validation.summary.rows, 0);
    assert!(validation.summary.targets.iter().all(|target| target.reached.is_finite()));
}

#[test]
fn a_row_with_one_metric_is_compared_in_it() {
    let text = "id,model,hardware,n_devices,TP,PP,seq_len,GBS,tokens_per_s_total\n\
                a,Llama3 8B,H100,8,1,1,8192,128,96000\n";
    let validation = validate(&runs::read(text).unwrap());
    let row = &validation.rows[0];
    assert_eq!(row.metric.as_deref(), Some("tokens_per_second_per_device"));
    assert!((row.measured.unwrap() - 12_000.0).abs() < 1e-9);
    assert!(row.scored && row.error.is_some(), "{row:?}");
    assert!(!row.assumed.is_empty());
}

#[test]
fn refused_rows_name_their_precision_as_expressed_ones_do() {
    let mut design = model::catalogue::preset::Preset::find("llama-3-8b").unwrap().design();
    for row in published().rows.iter().filter(|row| !row.precision.is_empty()) {
        let outcome = design.set_text(model::design::KnobId::precision, &row.precision);
        assert!(outcome.is_ok(), "{}: {}", row.id, row.precision);
    }
}

#[test]
fn fine_tuning_is_a_class_of_its_own_whose_lora_runs_are_within_12_percent() {
    let summary = &published().summary;
    let class = |name: &str| summary.groups.iter().find(|group| group.name == name).unwrap();
    let lora = &class("fine-tuning, LoRA").score;
    assert!(lora.rows >= 7 && lora.median <= 0.12, "{lora:?}");
    assert!(class("fine-tuning, all weights").score.rows >= 6);
    assert!(summary.refusals.iter().all(|refusal| !refusal.reason.contains("LoRA")));
}
