//! Wrong physics shows: with a constant broken, clearly fewer published runs are within 10 %.
//!
//! Each test breaks one constant of the accelerators and looks at the runs that depend on it. A
//! model whose constants could be broken unnoticed would agree with anything.
#![cfg(feature = "runs")]

use model::catalogue::accelerator::Accelerator;
use model::catalogue::calibration::{AMPERE, ASCEND, BLACKWELL, HOPPER};
use validation::calibrate::{self, Case};
use validation::runs::{self, Run};
use validation::validate;

/// Share of a family's runs that a broken constant must push out of the 10 %, at least.
const CLEARLY: f64 = 0.03;

/// Runs that a family must have to be looked at: with fewer a share would be chance.
const ENOUGH: usize = 20;

fn share_within_a_tenth(cases: &[&Case<'_>], change: fn(&mut Accelerator)) -> f64 {
    let within = cases.iter().filter(|case| case.time_error_on(change).abs() <= 0.1).count();
    within as f64 / cases.len() as f64
}

/// Breaking a constant so makes the predictions for these families' runs clearly worse.
#[track_caller]
fn check(families: &[&str], broken: fn(&mut Accelerator)) {
    let all = calibrate::cases(runs::published());
    for family in families {
        let cases: Vec<&Case<'_>> = all.iter().filter(|case| case.family == *family).collect();
        assert!(cases.len() >= ENOUGH, "{family}: {} runs", cases.len());
        let before = share_within_a_tenth(&cases, |_| ());
        let after = share_within_a_tenth(&cases, broken);
        assert!(after <= before - CLEARLY, "{family}: from {before:.3} to {after:.3}");
    }
}

const ALL: &[&str] = &[ASCEND.family, AMPERE.family, HOPPER.family, BLACKWELL.family];

/// Only Hopper's runs can tell: too few of the others wait for the network.
#[test]
fn a_network_at_half_its_rate_is_noticed() {
    check(&[HOPPER.family], |row| {
        row.inter_node_fraction /= 2.0;
        row.inter_all_to_all_fraction /= 2.0;
    });
}

/// Ampere's runs can't tell: their tensor parallelism is a small part of the step.
#[test]
fn links_inside_a_node_at_half_their_rate_are_noticed() {
    check(&[ASCEND.family, HOPPER.family, BLACKWELL.family], |row| {
        row.intra_node_fraction /= 2.0;
        row.intra_all_to_all_fraction /= 2.0;
    });
}

// Ascend's rates of kernels are an input of each run, its state of the software.

#[test]
fn matmuls_at_twice_their_rate_are_noticed() {
    check(&ALL[1..], |row| {
        row.kernels.gemm *= 2.0;
        row.kernels.fp8_gemm *= 2.0;
        row.kernels.block_fp8_gemm *= 2.0;
        row.kernels.fp4_gemm *= 2.0;
    });
}

#[test]
fn missing_vector_work_is_noticed() {
    check(&ALL[1..], |row| {
        row.kernels.vector_bandwidth *= 100.0;
        row.kernels.gather_bandwidth *= 100.0;
    });
}

/// Ampere's and Hopper's runs have long sequences; the others' attention is a small part.
#[test]
fn attention_at_twice_its_rate_is_noticed() {
    check(&[AMPERE.family, HOPPER.family], |row| {
        row.kernels.attention_forward *= 2.0;
        row.kernels.attention_backward *= 2.0;
    });
}

/// BigScience's cluster has four ports a node, which its runs' steps wait for.
#[test]
fn words_on_the_network_that_are_ignored_are_noticed() {
    let source = runs::published().iter().filter(|run| run.source_id == "bigscience");
    let told: Vec<Run> = source.cloned().collect();
    let untold: Vec<Run> =
        told.iter().map(|run| Run { hardware: "A100-80G".to_owned(), ..run.clone() }).collect();
    let [told, untold] = [told, untold].map(|runs| validate(&runs).summary.all.median);
    assert!(untold > told + 0.005, "{told} {untold}");
}
