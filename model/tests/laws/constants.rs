//! What no fitted constant may claim.

use std::fs;
use std::path::Path;

use model::answer::constants::{Constant, constants};
use model::catalogue::accelerator::AcceleratorId;
use model::catalogue::calibration::{MEMORY_SPREAD, PAIR_SPREAD, SPREADS};
use model::ground::choice::Choice;

/// Levels of microbenchmarks are above it: no shape reaches an endless product's.
#[test]
fn no_matmul_of_a_step_is_faster_than_the_best_that_was_measured_and_nothing_than_its_peak() {
    for id in AcceleratorId::ALL.iter().copied() {
        let (row, kernels) = (id.row(), id.row().kernels);
        let clock = row.sustained_clock * kernels.in_run;
        assert!(kernels.gemm * clock <= row.best_gemm_fraction, "{id:?}: {}", kernels.gemm);
        if row.fp8_tflops.is_some() {
            for share in [kernels.fp8_gemm, kernels.block_fp8_gemm] {
                assert!(share * clock <= row.best_fp8_gemm_fraction, "{id:?}: {share}");
            }
        }
        for share in [kernels.attention_forward, kernels.attention_backward] {
            assert!(share > 0.0 && share * clock < 1.0, "{id:?}: {share}");
        }
        let bandwidths =
            [kernels.vector_bandwidth, kernels.gather_bandwidth, kernels.matmul_bandwidth];
        for share in bandwidths {
            assert!(share > 0.0 && share < 1.0, "{id:?}: {share}");
        }
    }
}

/// Constants that rest on fewer rows than they should: a list that may only get shorter.
const PROVISIONAL: [&str; 12] = [
    "CORRELATED_TOKENS",
    "FIRST_LAYER_TIME",
    "FRAGMENTATION",
    "HYBRID_EP",
    "QUEUE",
    "QUEUE_BAND",
    "SENT_SHARE",
    "mindie on Ascend 910B",
    "sglang on Ascend 910B",
    "sglang on Ascend 910C",
    "sglang on NVIDIA Blackwell",
    "vllm on NVIDIA Ampere",
];

#[test]
fn every_fitted_constant_names_the_runs_that_it_was_fitted_on() {
    let all = constants();
    assert!(all.len() > 30, "{}", all.len());
    for Constant { name, evidence, reason } in &all {
        let is_told = !evidence.to_string().is_empty() && reason.is_none_or(|why| why.len() > 20);
        assert!(is_told, "{name}");
    }
    let is_short = |it: &&Constant| !it.evidence.suffices() || it.reason.is_some();
    let mut short: Vec<&str> = all.iter().filter(is_short).map(|it| it.name.as_str()).collect();
    short.sort_unstable();
    assert_eq!(short, PROVISIONAL);
}

/// The text of every file below a folder.
fn sources(folder: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, texts);
        } else {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
}

/// Constants with their types and comments.
fn declared(text: &str) -> Vec<[String; 3]> {
    let (mut all, mut words) = (vec![], String::new());
    for line in text.lines().map(str::trim) {
        let bare =
            ["pub(crate) ", "pub(super) ", "pub "].iter().find_map(|it| line.strip_prefix(it));
        if let Some(comment) = line.strip_prefix("///") {
            words += comment;
        } else if let Some(rest) = bare.unwrap_or(line).strip_prefix("const ")
            && let Some((name, kind)) = rest.split_once(": ")
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        {
            let kind = kind.split(" =").next().unwrap_or_default();
            all.push([name.to_owned(), kind.to_owned(), core::mem::take(&mut words)]);
        } else if !line.starts_with("#[") {
            words.clear();
        }
    }
    all
}

#[test]
fn no_fitted_constant_is_without_its_type_or_missing_in_the_list() {
    let mut texts = vec![];
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut texts);
    let all: Vec<String> = constants().into_iter().map(|it| it.name).collect();
    let declared: Vec<[String; 3]> = texts.iter().flat_map(|text| declared(text)).collect();
    let mut fitted = 0;
    for [name, kind, words] in declared {
        let is_fitted = kind.starts_with("Fitted");
        fitted += usize::from(is_fitted);
        assert!(!is_fitted || all.contains(&name), "{name} is not among the constants");
        let says_so = ["itted on", "itted by", "itted to"].iter().any(|it| words.contains(it));
        assert!(!says_so || is_fitted, "{name} is fitted, but of the type {kind}");
    }
    assert!(fitted >= 7, "{fitted}");
    // Sets of constants that were fitted together: kernels and their rates in steps, hosts,
    // engines, links.
    let fields: usize = texts.iter().map(|text| text.matches("fitted_on: Evidence,").count()).sum();
    assert_eq!(fields, 6, "a further set of constants has to be among them");
}

#[test]
fn the_range_of_half_lies_in_that_of_nine_of_ten() {
    for spread in SPREADS.iter().chain([&PAIR_SPREAD, &MEMORY_SPREAD]) {
        let ([low, high], [lowest, highest]) = (spread.half, spread.most);
        assert!(lowest <= low && low < high && high <= highest, "{spread:?}");
        assert!(spread.rows > 0 && spread.sources > 0, "{spread:?}");
    }
}
