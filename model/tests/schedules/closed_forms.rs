//! The simulation of equal stages gives the published formulas.

use model::ground::choice::{Choice, Method};
use model::schedule::ChunkTimes;
use proptest::prelude::*;

use super::{UNIT, any_schedule, fixed_chunks, run, schedule, small};

/// The simulation's time beside the formula's, where that holds.
#[track_caller]
fn compare(schedule: model::schedule::Schedule, stage: ChunkTimes, pair: f64) -> bool {
    let Some(formula) = schedule.closed_form_seconds(stage, pair) else { return false };
    let simulated = run(schedule, stage, Some(pair)).seconds;
    let off = (simulated / formula - 1.0).abs();
    assert!(off <= 1e-12, "{schedule:?} {stage:?} pair {pair}: {simulated}, formula {formula}");
    true
}

const STAGES: [ChunkTimes; 6] = [
    UNIT,
    ChunkTimes { forward: 0.7, input_grad: 0.7, weight_grad: 0.7 },
    ChunkTimes { forward: 1.0, input_grad: 1.4, weight_grad: 0.8 },
    ChunkTimes { forward: 3.0, input_grad: 0.5, weight_grad: 0.25 },
    ChunkTimes { forward: 0.2, input_grad: 3.0, weight_grad: 1.0 },
    ChunkTimes { forward: 1.0, input_grad: 0.3, weight_grad: 2.5 },
];

#[test]
fn every_small_schedule_takes_its_formula() {
    for schedule in small() {
        for stage in STAGES {
            for pair in [0.5, 1.0, 1.4, 2.0, 2.5, 3.0, 4.0] {
                compare(schedule, stage, pair);
            }
        }
    }
}

/// Each formula holds from the number of micro-batches on that it states.
#[test]
fn formulas_hold_in_their_domains() {
    for p in [2, 4, 6, 8, 16] {
        let least = |method| match method {
            Method::ZbH1 | Method::Interleaved => p,
            Method::Zb2p | Method::ZbV => 2 * p - 1,
            Method::DualPipe | Method::DualPipeV => 2 * p,
            Method::Gpipe
            | Method::OneForwardOneBackward
            | Method::OneForwardOneBackwardOverlap
            | Method::VHalf
            | Method::VMin => 1,
        };
        for method in Method::ALL {
            let chunks: &[u64] = match fixed_chunks(*method) {
                Some(1) => &[1],
                Some(_) => &[2],
                None if *method == Method::Interleaved => &[1, 2, 3, 4],
                None => &[1],
            };
            for v in chunks {
                for m in [least(*method), 2 * p, 4 * p, 6 * p] {
                    let any = matches!(method, Method::VHalf | Method::VMin);
                    assert_ne!(compare(schedule(*method, p, *v, m), UNIT, 2.5), any, "{method:?}");
                }
            }
        }
    }
}

/// Where weight gradients are longer than what they wait for, they are in the way.
#[test]
fn long_weight_gradients_have_no_formula() {
    let long = ChunkTimes { weight_grad: 1.5, ..UNIT };
    for (method, chunks) in [(Method::ZbH1, 1), (Method::Zb2p, 1), (Method::ZbV, 2)] {
        assert_eq!(schedule(method, 8, chunks, 32).closed_form_seconds(long, 3.0), None);
    }
    let formula = 32.0 * 3.5 + 7.0 * 0.5;
    assert!(run(schedule(Method::ZbH1, 8, 1, 32), long, None).seconds > formula + 1.0);
}

#[test]
fn one_step_of_eight_stages_and_32_micro_batches_is_known() {
    for (method, chunks, expected) in [
        (Method::OneForwardOneBackward, 1, 117.0),
        (Method::Interleaved, 2, 106.5),
        (Method::Interleaved, 4, 101.25),
        (Method::ZbH1, 1, 103.0),
        (Method::Zb2p, 1, 96.0),
        (Method::ZbV, 2, 99.5),
        (Method::DualPipe, 1, 102.0),
        (Method::DualPipeV, 2, 103.0),
        // As Primus has it.
        (Method::VHalf, 2, 104.5),
    ] {
        let seconds = run(schedule(method, 8, chunks, 32), UNIT, None).seconds;
        assert!((seconds - expected).abs() < 1e-9, "{}: {seconds}", method.name());
    }
}

/// ZB-2P's stages work without a gap, one after the other.
#[test]
fn a_step_of_zb_2p_is_a_stages_span() {
    let timeline = run(schedule(Method::Zb2p, 8, 1, 32), UNIT, None);
    for stage in 0..8 {
        let (_, start, _) = timeline.stage(stage).next().unwrap();
        let (.., end) = timeline.stage(stage).last().unwrap();
        assert!((end - start - 96.0).abs() < 1e-9 && (start - stage as f64).abs() < 1e-9);
    }
    assert!(timeline.bubble_ratio().abs() < 1e-12);
}

/// Pangu Ultra MoE, arXiv 2505.04519: 18.98 % and 10.49 % at 16 stages and 64 micro-batches.
/// Pangu Ultra, arXiv 2504.07866: 30.45 % and 6.8 % at 8 stages and 16 micro-batches.
#[test]
fn bubbles_are_the_published_shares() {
    for (p, v, m, expected) in [
        (16, 1, 64, 15.0 / 79.0),
        (16, 2, 64, 15.0 / 143.0),
        (8, 1, 16, 0.304_347_826_086_956_5),
        (8, 6, 16, 0.067_961_165_048_543_7),
    ] {
        let timeline = run(schedule(Method::Interleaved, p, v, m), UNIT, None);
        assert!((timeline.bubble_ratio() - expected).abs() < 1e-12);
        for stage in 0..timeline.schedule.stages() {
            assert!((timeline.bubble_ratio_of(stage) - expected).abs() < 1e-12);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_024, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn simulations_take_their_formula(
        schedule in any_schedule(),
        forward in 0.01..10.0_f64,
        input_grad in 0.1..4.0_f64,
        weight_grad in 0.1..2.0_f64,
        even in any::<bool>(),
        pair in 0.5..3.0_f64,
    ) {
        let [input_grad, weight_grad] =
            if even { [forward; 2] } else { [forward * input_grad, forward * weight_grad] };
        let stage = ChunkTimes { forward, input_grad, weight_grad };
        compare(schedule, stage, forward * pair);
    }
}
