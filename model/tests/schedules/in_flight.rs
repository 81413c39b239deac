//! How many micro-batches each schedule holds.

use model::ground::choice::Method;
use model::schedule::Schedule;
use proptest::prelude::*;

use super::{UNIT, any_schedule, any_times, run, schedule, small};

fn peaks(schedule: Schedule) -> Vec<f64> {
    let timeline = run(schedule, UNIT, None);
    (0..schedule.stages()).map(|stage| timeline.peak_in_flight(stage)).collect()
}

#[track_caller]
fn each(schedule: Schedule, expected: impl Fn(f64) -> f64) {
    for (stage, peak) in peaks(schedule).into_iter().enumerate() {
        let expected = expected(stage as f64);
        assert!((peak - expected).abs() < 1e-12, "{schedule:?} {stage}: {peak}, not {expected}");
    }
}

#[test]
fn gpipe_holds_all() {
    each(schedule(Method::Gpipe, 4, 1, 7), |_| 7.0);
}

#[test]
fn one_forward_one_backward_holds_one_for_each_stage_from_here_on() {
    for (p, m) in [(1, 4), (4, 2), (4, 9), (16, 64)] {
        let held = |stage: f64| (p as f64 - stage).min(m as f64);
        each(schedule(Method::OneForwardOneBackward, p, 1, m), held);
        each(schedule(Method::Interleaved, p, 1, m), held);
    }
}

/// Korthikanti et al. 2022, arXiv 2205.05198: (1 + (p - 1) / (p v)) p on the first stage.
#[test]
fn interleaving_holds_more() {
    for (p, v, m) in [(4, 2, 8), (8, 4, 32), (16, 2, 64)] {
        let [stages, chunks] = [p, v].map(|size| size as f64);
        let warm_up = |stage| stages * (chunks - 1.0) + 2.0 * (stages - 1.0 - stage);
        each(schedule(Method::Interleaved, p, v, m), |stage| (warm_up(stage) + 1.0) / chunks);
        let overlap = schedule(Method::OneForwardOneBackwardOverlap, p, v, m);
        each(overlap, |stage| (warm_up(stage) + 2.0) / chunks);
    }
    assert_eq!(peaks(schedule(Method::Interleaved, 16, 2, 64))[0], 23.5);
    assert_eq!(peaks(schedule(Method::OneForwardOneBackwardOverlap, 16, 2, 64))[0], 24.0);
    assert_eq!(peaks(schedule(Method::OneForwardOneBackwardOverlap, 4, 1, 16)), [8., 6., 4., 2.]);
}

#[test]
fn zero_bubble_holds_as_much_on_every_stage() {
    for p in [1, 2, 3, 4, 8] {
        let m = 4 * p;
        each(schedule(Method::ZbH1, p, 1, m), |_| p as f64);
        each(schedule(Method::Zb2p, p, 1, m), |_| (2 * p - 1) as f64);
        each(schedule(Method::ZbV, p, 2, m), |_| p as f64);
    }
}

/// DualPipe's README: PP + 1 activations, of whole stages; DualPipeV's PP are the chunks, two on
/// each stage, so that it holds 2 p + 1 halves.
#[test]
fn dual_pipelines_hold_one_chunk_more_than_there_are() {
    for p in [2, 4, 8, 16] {
        each(schedule(Method::DualPipe, p, 1, 4 * p), |_| (p + 1) as f64);
        each(schedule(Method::DualPipeV, p, 2, 4 * p), |_| (2 * p + 1) as f64 / 2.0);
    }
}

/// About a half and a third of 1F1B's p, Qi et al. 2024, arXiv 2405.15362.
#[test]
fn v_half_and_v_min_hold_less() {
    for p in 2..=24 {
        let most = |method| peaks(schedule(method, p, 2, 4 * p)).into_iter().fold(0.0, f64::max);
        assert!(most(Method::VHalf) <= p as f64 / 2.0 + 1.5, "{p}: {}", most(Method::VHalf));
        assert!(most(Method::VMin) <= p as f64 / 3.0 + 1.5, "{p}: {}", most(Method::VMin));
    }
}

#[test]
fn nothing_is_left_at_the_end() {
    for schedule in small() {
        let timeline = run(schedule, UNIT, None);
        for stage in 0..schedule.stages() {
            let steps = timeline.in_flight(stage);
            assert_eq!(steps.last().unwrap().1, 0.0, "{schedule:?} {stage}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// The order alone decides what is held at once, whatever tasks take.
    #[test]
    fn peaks_are_the_orders(
        (schedule, times) in any_schedule().prop_flat_map(|s| (Just(s), any_times(s)))
    ) {
        let timeline = schedule.simulate(&times);
        for (stage, peak) in peaks(schedule).into_iter().enumerate() {
            prop_assert_eq!(timeline.peak_in_flight(stage), peak);
            let steps = timeline.in_flight(stage);
            prop_assert!(steps.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        }
    }
}
