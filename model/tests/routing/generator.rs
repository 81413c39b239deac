//! The generator makes the runs that it says it makes.

use model::ground::choice::TRAINED_SKEW;
use model::routing::measure::{coefficient_of_variation, gini, imbalance};
use model::routing::{Generator, Size};
use proptest::prelude::*;

use super::{generated, size};

fn real(row: &[u32]) -> Vec<f64> {
    row.iter().map(|count| f64::from(*count)).collect()
}

proptest! {
    #[test]
    fn copies_are_conserved_and_no_expert_gets_a_token_twice(
        seed: u64,
        skew in 0.0..10.0_f64,
        locality in 0.0..1.0_f64,
        experts in 1..80_usize,
        topk in 1..9_u64,
        tokens in 1..100_000_u64,
        groups in prop::sample::select(vec![1_usize, 2, 4]),
    ) {
        let generator = Generator { seed, skew, locality, groups, ..Generator::default() };
        let size = Size { steps: 3, stride: 7, layers: 2, experts, tokens, topk };
        let trace = generated(&generator, &size);
        let topk = topk.min(experts as u64);
        prop_assert_eq!(trace.faults(tokens, topk), vec![]);
    }
}

#[test]
fn the_same_seed_makes_the_same_run_and_another_one_another() {
    let run = |seed| generated(&Generator { seed, ..Generator::default() }, &size(3, 4));
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

/// Pinned, so that a change of the numbers on any machine is seen.
#[test]
fn the_default_run_has_known_content() {
    let trace = generated(&Generator::default(), &size(2, 2));
    assert_eq!(trace.content_hash(), "67d81f4ddc9866d0a07800d81243e8a0");
}

#[test]
fn no_skew_is_even() {
    let trace = generated(&Generator { skew: 0.0, ..Generator::default() }, &size(1, 1));
    assert!(trace.row(0, 0).iter().all(|count| *count == 8 << 12));
}

/// 64 experts, the mean over layers, as the paper takes it.
#[test]
fn the_default_skew_gives_the_published_violations() {
    let size = Size { experts: 64, topk: 6, ..size(1, 400) };
    let violation = |skew| {
        let trace = generated(&Generator { skew, ..Generator::default() }, &size);
        trace.rows().map(|(_, row)| imbalance(&real(row)) - 1.0).sum::<f64>() / 400.0
    };
    let found = [0.016, 0.18, TRAINED_SKEW, 0.24].map(violation);
    println!("MaxVio of skews 0.016, 0.18, default and 0.24: {found:.3?}");
    for (found, published) in [(found[0], 0.04), (found[1], 0.52), (found[3], 0.72)] {
        assert!((found / published - 1.0).abs() < 0.12, "{found} is not {published}");
    }
    assert!((0.52..0.72).contains(&found[2]));
}

#[test]
fn the_spread_is_that_of_a_log_normal() {
    let generator = Generator { skew: 0.3, ..Generator::default() };
    let layers = 300;
    let trace = generated(&generator, &size(1, layers));
    for (layer, sigma) in generator.layer_skews(layers).into_iter().enumerate() {
        let row = real(trace.row(0, layer));
        let expected = libm::erf(sigma / 2.0);
        assert!((gini(&row) / expected - 1.0).abs() < 0.25, "{} {expected}", gini(&row));
        let expected = (libm::exp(sigma * sigma) - 1.0).sqrt();
        let found = coefficient_of_variation(&row);
        assert!((found / expected - 1.0).abs() < 0.35, "{found} {expected}");
    }
}

#[test]
fn the_first_layers_are_the_evenest_and_the_mean_is_the_skew() {
    let skews = Generator::default().layer_skews(58);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    assert!((mean(&skews) - TRAINED_SKEW).abs() < 1e-12);
    assert!(mean(&skews[..3]) < 0.65 * TRAINED_SKEW, "{:?}", &skews[..3]);
    assert!(mean(&skews[20..]) > TRAINED_SKEW);
}

/// Correlation of the logarithm of load from one recorded step to the next.
fn correlation(generator: &Generator, stride: usize) -> f64 {
    let trace = generated(generator, &Size { stride, ..size(2, 8) });
    let mut sums = [0.0; 3];
    for layer in 0..8 {
        let log = |step| -> Vec<f64> {
            let logs: Vec<f64> =
                trace.row(step, layer).iter().map(|c| f64::from(*c).ln()).collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            logs.iter().map(|log| log - mean).collect()
        };
        for (one, other) in log(0).into_iter().zip(log(1)) {
            sums[0] += one * other;
            sums[1] += one * one;
            sums[2] += other * other;
        }
    }
    sums[0] / (sums[1] * sums[2]).sqrt()
}

#[test]
fn the_correlation_from_step_to_step_is_the_locality() {
    for (locality, stride, expected) in [(0.9, 1, 0.9), (0.99, 1, 0.99), (0.9, 5, 0.590)] {
        let found = correlation(&Generator { locality, ..Generator::default() }, stride);
        assert!((found - expected).abs() < 0.03, "{locality}^{stride}: {found}");
    }
}

#[test]
fn the_default_locality_gives_the_published_errors_of_prediction() {
    // Loads of the first step as the prediction of every 50th of the next 1,000 and 2,000.
    let generator = Generator::default();
    let trace = generated(&generator, &Size { stride: 50, ..size(41, 8) });
    let error = |steps: usize| {
        let (mut sum, mut count) = (0.0, 0.0);
        for step in 1..=steps / 50 {
            for layer in 0..8 {
                for (now, then) in trace.row(0, layer).iter().zip(trace.row(step, layer)) {
                    sum += (f64::from(*now) / f64::from(*then) - 1.0).abs();
                    count += 1.0;
                }
            }
        }
        sum / count
    };
    let found = [error(1_000), error(2_000)];
    println!("mean error of prediction over 1,000 and 2,000 steps: {found:.4?}");
    assert!((found[0] / 0.013 - 1.0).abs() < 0.15, "{found:?}");
    assert!((found[1] / 0.018 - 1.0).abs() < 0.15, "{found:?}");
}

#[test]
fn a_shift_draws_popularity_anew() {
    let generator = Generator { shift: Some(5), ..Generator::default() };
    let trace = generated(&generator, &size(8, 1));
    let change = |one: usize, other: usize| {
        let pairs = trace.row(one, 0).iter().zip(trace.row(other, 0));
        pairs.map(|(a, b)| (f64::from(*a) - f64::from(*b)).abs()).sum::<f64>()
    };
    assert!(change(4, 5) > 20.0 * change(3, 4));
    assert!(change(4, 5) > 20.0 * change(5, 6));
}
