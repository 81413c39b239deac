//! Documents of other lengths than their sequence's: laws, hand calculations and draws of their
//! own.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use model::Plan;
use model::design::{Design, KnobId};
use model::layer::lengths::{BALANCE_SLACK, Ragged};
use model::training::estimate::{Estimate, StepPart};
use proptest::prelude::*;
use testing::design::{estimated, from_preset, plan};

fn ragged(settings: &[(&str, &str)]) -> Ragged {
    *plan(&from_preset("llama-3-8b", settings)).ragged().unwrap()
}

fn near(found: f64, wanted: f64, tolerance: f64) {
    assert!((found / wanted - 1.0).abs() <= tolerance, "{found} is not {wanted}");
}

const HISTOGRAM: (&str, &str) = ("length_distribution", "histogram");

#[test]
fn equal_documents_see_their_own_tokens_less_what_is_cut() {
    let equal = [HISTOGRAM, ("length_histogram", "1024:1"), ("seq_length", "32768")];
    // l - l^2 / (3 s): a cut falls into one document of 32.
    near(ragged(&equal).attended, 1_024.0 - 1_024.0 * 1_024.0 / (3.0 * 32_768.0), 1e-12);
    // Documents much longer than a sequence are cut so often that a token sees all of it.
    let long = [HISTOGRAM, ("length_histogram", "16000000:1"), ("seq_length", "8192")];
    near(ragged(&long).attended, 8_192.0, 1e-3);
}

#[test]
fn a_histogram_weighs_lengths_by_their_tokens() {
    let two = [HISTOGRAM, ("length_histogram", "100:0.75,1000:0.25"), ("seq_length", "1048576")];
    let mean = 0.75 * 100.0 + 0.25 * 1_000.0;
    near(ragged(&two).mean_length, mean, 1e-12);
    let squares = 0.75 * 100.0 * 100.0 + 0.25 * 1_000.0 * 1_000.0;
    near(ragged(&two).attended, squares / mean, 1e-3);
}

#[test]
fn a_log_normal_sees_its_mean_times_the_exponential_of_its_variance() {
    for (sigma, tolerance) in [("0.5", 0.01), ("1", 0.03)] {
        let settings = [
            ("length_distribution", "log_normal"),
            ("length_mean", "500"),
            ("length_sigma", sigma),
            ("seq_length", "4194304"),
        ];
        let variance = sigma.parse::<f64>().unwrap().powi(2);
        near(ragged(&settings).attended, 500.0 * variance.exp(), tolerance);
    }
}

/// SplitMix64, seeded apart from the model's own draws.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A standard normal (Box and Muller).
    fn normal(&mut self) -> f64 {
        let (one, other) = (1.0 - self.next(), self.next());
        (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
    }
}

/// Mean squares of sequences, and the mean excess of the busiest of n sums over their mean.
fn drawn(mean: f64, sigma: f64, seq: f64, [n, sequences]: [u64; 2]) -> [f64; 2] {
    let mut random = Random(2_026);
    let (mut left, mut all, mut excess) = (0.0, 0.0, 0.0);
    let repeats = (20_000 / (n * sequences)).max(40);
    for _ in 0..repeats {
        let mut sums = vec![];
        for _ in 0..n {
            let mut work = 0.0;
            for _ in 0..sequences {
                let mut room = seq;
                while room > 0.0 {
                    if left <= 0.0 {
                        left = (mean.ln() - sigma * sigma / 2.0 + sigma * random.normal()).exp();
                    }
                    let piece = f64::min(left, room);
                    work += piece * piece;
                    room -= piece;
                    left -= piece;
                }
            }
            sums.push(work);
        }
        let total: f64 = sums.iter().sum();
        all += total;
        excess += sums.iter().copied().fold(0.0, f64::max) * n as f64 / total - 1.0;
    }
    let count = (repeats * n * sequences) as f64;
    [all / count / seq, excess / repeats as f64]
}

#[test]
fn the_busiest_rank_has_what_draws_of_another_seed_say() {
    // Data-parallel ranks of a dense model meet once a step, after their whole batch.
    for (mean, sigma, seq, devices, batch) in [
        ("1000", "0.5", "8192", "32", "256"),
        ("1000", "1", "8192", "32", "32"),
        ("1000", "1", "32768", "64", "64"),
        ("3000", "1.2", "32768", "32", "256"),
        ("8000", "1", "8192", "16", "64"),
    ] {
        let settings = [
            ("length_distribution", "log_normal"),
            ("length_mean", mean),
            ("length_sigma", sigma),
            ("seq_length", seq),
            ("tp", "1"),
            ("sequence_parallel", "false"),
            ("pp", "1"),
            ("num_devices", devices),
            ("global_batch_size", batch),
        ];
        let found = ragged(&settings);
        let [mean, sigma, seq] = [mean, sigma, seq].map(|text| text.parse::<f64>().unwrap());
        let [attended, excess] = drawn(mean, sigma, seq, found.meeting);
        near(found.attended, attended, 0.05);
        near(found.imbalance - 1.0, excess, 0.15);
    }
}

#[test]
fn experts_meet_after_every_micro_batch_and_dense_ranks_once_a_step() {
    let lengths = ("length_distribution", "log_normal");
    let dense = plan(&from_preset("llama-3-8b", &[lengths]));
    let dp = dense.data_parallel_size();
    let batch = dense.design().training.global_batch_size;
    assert_eq!(dense.ragged().unwrap().meeting, [dp, batch / dp]);
    let moe = plan(&from_preset("qwen3-30b-a3b", &[lengths, ("ep", "8"), ("tp", "1")]));
    let size = moe.design().training.micro_batch_size;
    assert_eq!(moe.ragged().unwrap().meeting, [8, size]);
    // Many sequences even out what a single one doesn't.
    assert!(moe.ragged().unwrap().imbalance > dense.ragged().unwrap().imbalance);
}

#[test]
fn attention_takes_the_mean_and_waits_for_the_busiest() {
    let base = [("cp", "1"), ("seq_length", "8192"), ("ep", "8")];
    let full = estimated(&from_preset("qwen3-30b-a3b", &base));
    let with = |more: &[(&'static str, &'static str)]| {
        estimated(&from_preset("qwen3-30b-a3b", &[&base[..], more].concat()))
    };
    let short = with(&[HISTOGRAM, ("length_histogram", "512:1")]);
    assert!(short.metrics.step_time < full.metrics.step_time);
    assert!(short.metrics.flops_per_token < full.metrics.flops_per_token);
    let mixed = [("length_distribution", "log_normal"), ("length_mean", "2000")];
    let fixed = with(&mixed);
    let dynamic = with(&[&mixed[..], &[("dynamic_context_parallel", "true")]].concat());
    assert!(dynamic.metrics.step_time < fixed.metrics.step_time);
    // Both are as much work.
    let (one, other) = (dynamic.metrics.flops_per_token, fixed.metrics.flops_per_token);
    assert!((one.get() - other.get()).abs() < 1.0);
}

#[test]
fn dynamic_groups_leave_the_slack_of_their_schedule() {
    let lengths = [("length_distribution", "log_normal"), ("length_mean", "2000"), ("ep", "8")];
    let plan = plan(&from_preset("qwen3-30b-a3b", &lengths));
    let found = plan.ragged().unwrap();
    near(found.dynamic_imbalance, 1.0 / (1.0 - BALANCE_SLACK), 1e-12);
    assert!(found.imbalance > 1.3, "{found:?}");
}

#[test]
fn dynamic_groups_exchange_only_documents_that_one_rank_cannot_hold() {
    let lengths = [
        HISTOGRAM,
        ("length_histogram", "512:0.9,30000:0.1"),
        ("seq_length", "32768"),
        ("cp", "4"),
        ("num_devices", "16"),
    ];
    let parts = |more: &[(&'static str, &'static str)]| {
        estimated(&from_preset("llama-3-8b", &[&lengths[..], more].concat()))
    };
    let (fixed, dynamic) = (parts(&[]), parts(&[("dynamic_context_parallel", "true")]));
    let bytes = |estimate: &Estimate| -> f64 {
        let rows = estimate.communication.iter();
        let rows = rows.filter(|row| row.axis == model::ground::axis::Axis::Cp);
        rows.map(|row| row.bytes.get()).sum()
    };
    // Tokens of long documents: 0.1 x 30000 of 0.9 x 512 + 0.1 x 30000.
    near(bytes(&dynamic) / bytes(&fixed), 3_000.0 / (3_000.0 + 460.8), 0.01);
    let exposed = |estimate: &Estimate| estimate.step.part(StepPart::ContextParallel);
    assert!(exposed(&dynamic) <= exposed(&fixed));
}

#[test]
fn lengths_that_say_nothing_are_refused() {
    let broken = |settings: &[(&str, &str)]| -> Vec<&'static str> {
        let violations = Plan::new(&from_preset("llama-3-8b", settings)).unwrap_err();
        violations.iter().map(|violation| violation.rule).collect()
    };
    assert_eq!(broken(&[HISTOGRAM]), ["a_histogram_has_lengths"]);
    assert_eq!(broken(&[("dynamic_context_parallel", "true")]), ["dynamic_groups_need_documents"]);
    let lengths = ("length_distribution", "uniform");
    let both = [lengths, ("data_imbalance", "1.2")];
    assert_eq!(broken(&both), ["data_imbalance_follows_from_lengths"]);
    let plain = [lengths, ("flash_attention", "false")];
    assert_eq!(broken(&plain), ["documents_need_flash_attention"]);
}

#[test]
fn a_histogram_is_read_with_its_mistakes() {
    let read = |text: &str| {
        let mut design = Design::from_preset("llama-3-8b").unwrap();
        design
            .set_text(KnobId::length_histogram, text)
            .map(|()| design.get(KnobId::length_histogram).to_string())
    };
    assert_eq!(read("1024:0.3, 4096:0.50").unwrap(), "1024:0.3,4096:0.5");
    for wrong in ["1024", "1024:0", "4096:1,1024:1", "0:1", "1:nan", "1:inf", "1:1,1:1", ":", ""] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn what_lengths_make_stays_within_one_document_to_a_sequence(
        mean in 1.0_f64..1e6, sigma in 0.0_f64..4.0, seq in 1_u64..1_000_000,
        distribution in prop::sample::select(vec!["uniform", "log_normal"]),
    ) {
        let (mean, sigma, seq) = (mean.to_string(), sigma.to_string(), seq.to_string());
        let found = ragged(&[
            ("length_distribution", distribution),
            ("length_mean", &mean),
            ("length_sigma", &sigma),
            ("seq_length", &seq),
            ("cp", "1"), ("tp", "1"), ("sequence_parallel", "false"),
        ]);
        let seq: f64 = seq.parse().unwrap();
        prop_assert!(found.attended > 0.0 && found.attended <= seq * (1.0 + 1e-12));
        prop_assert!(found.imbalance >= 1.0 && found.imbalance <= (seq / found.attended).max(1.0));
        prop_assert!(found.dynamic_imbalance <= found.imbalance);
        prop_assert!((0.0..=1.0).contains(&found.split_share));
    }
}
