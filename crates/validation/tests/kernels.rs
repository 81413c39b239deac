//! Single kernels are predicted as measured, on the half that no constant was fitted on.
#![cfg(feature = "runs")]

use std::sync::LazyLock;

use model::catalogue::accelerator::AcceleratorId;
use validation::calibrate::{self, Constants};
use validation::kernels;
use validation::report::kernels::{KernelGroup, KernelValidation};

static REPORT: LazyLock<KernelValidation> = LazyLock::new(kernels::validate);

#[track_caller]
fn medians_are_at_most(kind: &str, limit: f64, groups: usize) {
    let of: Vec<&KernelGroup> = REPORT.groups.iter().filter(|group| group.kind == kind).collect();
    assert_eq!(of.len(), groups, "{kind}");
    for group in of {
        assert!(group.held_out >= 30, "{group:?}");
        assert!(group.median <= limit, "{group:?}");
    }
}

/// A100 in 16 bits, H100 and H200 in three formats, four parts of Blackwell in four.
#[test]
fn matrix_products_are_within_eight_percent() {
    medians_are_at_most("gemm", 0.08, 23);
}

#[test]
fn attention_is_within_twelve_percent() {
    medians_are_at_most("attention", 0.12, 7);
    medians_are_at_most("mla", 0.12, 7);
}

#[test]
fn layers_of_experts_are_within_twenty_percent() {
    medians_are_at_most("grouped", 0.2, 22);
}

#[test]
fn casts_are_within_ten_percent() {
    medians_are_at_most("cast", 0.1, 6);
}

/// One rate for gated delta nets, KDA and Mamba-2 of a family, and one for convolutions, which are
/// bound by instructions: H200 has more bandwidth than H100 and is hardly faster.
#[test]
fn scans_and_convolutions_are_within_a_quarter() {
    medians_are_at_most("scan", 0.25, 6);
    medians_are_at_most("convolution", 0.25, 6);
}

/// A level that is off shows in the time of every shape. Those of layers of experts are of their
/// 16-bit rows alone: block-scaled ones on H200 take a quarter more.
#[test]
fn levels_are_within_six_percent_and_those_of_experts_and_scans_within_thirty() {
    for group in &REPORT.groups {
        let limit = match group.kind.as_str() {
            "grouped" | "scan" | "convolution" => 0.3,
            _ => 0.06,
        };
        assert!((group.level - 1.0).abs() <= limit, "{group:?}");
    }
}

/// Ratios of each pair of parts and format over the whole tables, of which half the shapes are
/// here.
const PUBLISHED: [(&str, &str, &str, f64); 11] = [
    ("gb200", "b200", "bf16", 1.07),
    ("gb200", "b200", "fp8", 1.10),
    ("gb200", "b200", "nvfp4", 1.09),
    ("gb300", "gb200", "bf16", 1.17),
    ("gb300", "gb200", "fp8", 1.11),
    ("gb300", "gb200", "nvfp4", 1.05),
    ("b300", "b200", "bf16", 1.05),
    ("b300", "b200", "fp8", 1.07),
    ("b300", "b200", "nvfp4", 1.02),
    ("h200-sxm-141gb", "h100-sxm-80gb", "bf16", 0.97),
    ("h200-sxm-141gb", "h100-sxm-80gb", "fp8", 1.07),
];

#[test]
fn parts_of_a_family_differ_as_measured() {
    assert_eq!(REPORT.ratios.len(), 15);
    for ratio in &REPORT.ratios {
        assert!(ratio.shapes >= 80, "{ratio:?}");
        assert!((ratio.predicted / ratio.measured - 1.0).abs() <= 0.05, "{ratio:?}");
    }
    for (first, second, precision, published) in PUBLISHED {
        let is_it = |parts: &[String; 2]| parts[0] == first && parts[1] == second;
        let mut ratios = REPORT.ratios.iter();
        let ratio = ratios
            .find(|ratio| is_it(&ratio.parts) && ratio.precision == precision)
            .expect("a ratio of these parts");
        let off = ratio.predicted / published - 1.0;
        println!("{first} / {second} {precision}: {:.3}, {published}", ratio.predicted);
        assert!(off.abs() <= 0.06, "{ratio:?}, {published}");
    }
}

/// GB200 and GB300 differ in their levels and in what holds their memory.
#[test]
fn the_levels_of_two_parts_cannot_be_swapped_unnoticed() {
    let [gb200, gb300] = [AcceleratorId::Gb200, AcceleratorId::Gb300];
    let other = |part| [(gb200, gb300), (gb300, gb200)].into_iter().find(|(one, _)| *one == part);
    let swapped = kernels::validate_on(|part| other(part).map_or(part, |(_, other)| other).row());
    let missed = |report: &KernelValidation| -> Vec<String> {
        let targets = report.targets.iter().filter(|target| !target.met);
        targets.map(|target| target.name.clone()).collect()
    };
    assert!(missed(&REPORT).is_empty(), "{:?}", REPORT.targets);
    let missed = missed(&swapped);
    assert!(missed.contains(&"parts".to_owned()), "{missed:?}");
    assert!(missed.contains(&"gemm".to_owned()), "{missed:?}");
}

/// A constant at the end of its range makes up for something that is missing.
#[test]
fn no_constant_of_runs_ends_at_a_bound() {
    let found = calibrate::at_bounds(&Constants::current());
    assert!(found.is_empty(), "{found:?}");
    let mut broken = Constants::current();
    broken.in_run[1].rate = 0.4;
    assert_eq!(calibrate::at_bounds(&broken).len(), 1);
}

#[test]
fn every_target_of_the_kernels_is_met() {
    for target in &REPORT.targets {
        assert!(target.met, "{target:?}");
    }
    assert_eq!(REPORT.targets.len(), 9);
}

/// Both halves have shapes of every kind, and the same ones on all parts.
#[test]
fn a_shape_is_of_the_same_half_on_every_part() {
    for one in REPORT.measured.iter().step_by(97) {
        let alike = REPORT
            .measured
            .iter()
            .filter(|other| other.kind == one.kind && other.shape == one.shape);
        for other in alike {
            assert_eq!(one.is_held_out, other.is_held_out, "{one:?} {other:?}");
        }
    }
    let held_out = REPORT.measured.iter().filter(|kernel| kernel.is_held_out).count();
    let share = held_out as f64 / REPORT.measured.len() as f64;
    assert!((share - 0.5).abs() <= 0.05, "{share}");
}
