//! The planner evens out what lasts, and costs what it moves.

use model::routing::{Generator, MoveCost, Outcome, Planner, Predictor, Size, Trace, Trigger};
use proptest::prelude::*;

use super::{generated, size};

const COST: MoveCost = MoveCost { bytes_per_expert: 100.0, bytes_per_second: 50.0 };

fn planner(predictor: Predictor) -> Planner {
    Planner { predictor, interval: 10, trigger: Trigger::Threshold(0.0), devices: 32, redundant: 0 }
}

fn windowed() -> Planner {
    planner(Predictor::SlidingWindow(5))
}

fn run(generator: &Generator, planner: &Planner) -> Outcome {
    planner.run(&generated(generator, &size(60, 4)), &COST)
}

#[test]
fn without_a_predictor_nothing_changes() {
    let outcome = run(&Generator::default(), &planner(Predictor::None));
    assert_eq!(outcome.before, outcome.after);
    assert!(outcome.migrations.is_empty());
    assert!(outcome.removed(0).abs() < 1e-12);
}

#[test]
fn nothing_moves_before_the_first_plan() {
    let outcome = run(&Generator::default(), &windowed());
    assert_eq!(outcome.before[..40], outcome.after[..40]);
    assert!(outcome.migrations.iter().all(|one| one.step >= 10 && one.step % 10 == 0));
    assert_eq!(outcome.migrations.iter().filter(|one| one.step == 10).count(), 4);
}

#[test]
fn loads_that_last_are_evened_out() {
    for predictor in
        [Predictor::SlidingWindow(5), Predictor::SlidingWindow(25), Predictor::Ema(0.9)]
    {
        let outcome = run(&Generator::default(), &planner(predictor));
        assert!(outcome.removed(10) > 0.9, "{predictor:?}: {}", outcome.removed(10));
        assert!(outcome.quantile_after(1.0, 10) < outcome.mean_before(10));
    }
}

#[test]
fn loads_that_do_not_last_are_not_foretold() {
    let outcome = run(&Generator { locality: 0.0, ..Generator::default() }, &windowed());
    assert!(outcome.removed(10).abs() < 0.1, "{}", outcome.removed(10));
}

#[test]
fn more_lasting_loads_are_evened_out_further() {
    let removed =
        |locality| run(&Generator { locality, ..Generator::default() }, &windowed()).removed(10);
    let found = [0.5, 0.9, 0.99, 0.999].map(removed);
    assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{found:?}");
}

#[test]
fn a_high_threshold_moves_nothing() {
    let planner = Planner { trigger: Trigger::Threshold(9.0), ..windowed() };
    assert!(run(&Generator::default(), &planner).migrations.is_empty());
}

#[test]
fn stable_loads_are_planned_once() {
    let still = Generator { locality: 1.0, ..Generator::default() };
    for trigger in [Trigger::OnIncrease, Trigger::Threshold(0.08)] {
        let outcome = run(&still, &Planner { trigger, ..windowed() });
        assert!(outcome.migrations.iter().all(|one| one.step == 10), "{trigger:?}");
        assert!(!outcome.migrations.is_empty());
    }
}

#[test]
fn a_shift_is_followed_after_the_next_plan() {
    let generator = Generator { shift: Some(35), ..Generator::default() };
    let outcome = run(&generator, &Planner { trigger: Trigger::OnIncrease, ..windowed() });
    let [before, after] = outcome.step(36);
    assert!(after > 0.7 * (before - 1.0) + 1.0, "{after} of {before}");
    let [before, after] = outcome.step(55);
    assert!(after < 0.2 * (before - 1.0) + 1.0, "{after} of {before}");
    assert!(outcome.migrations.iter().any(|one| one.step == 40));
}

#[test]
fn a_move_costs_the_busiest_device() {
    // Two devices, four experts: the heavy two are together and one of them changes place.
    let trace = Trace::new([2, 1, 4], [8, 8, 1, 1].repeat(2)).unwrap();
    let planner = Planner { interval: 1, devices: 2, ..windowed() };
    let outcome = planner.run(&trace, &COST);
    assert_eq!(outcome.migrations.len(), 1);
    let found = outcome.migrations[0];
    assert_eq!((found.step, found.layer, found.experts), (1, 0, 2));
    assert!((found.bytes - 100.0).abs() < 1e-12 && (found.seconds - 2.0).abs() < 1e-12);
    assert!((outcome.after[1] - 1.0).abs() < 1e-12);
    assert!((outcome.migration_seconds(0) - 2.0).abs() < 1e-12);
    assert!(outcome.migration_seconds(2).abs() < 1e-12);
}

/// Windows that overlap add what came and take away what went.
#[test]
fn a_window_longer_than_the_interval_reaches_over_several_plans() {
    let generator = Generator { locality: 0.9, ..Generator::default() };
    let trace = generated(&generator, &size(40, 2));
    let last = |window, steps: &Trace| {
        let planner = Planner { predictor: Predictor::SlidingWindow(window), ..windowed() };
        let outcome = planner.run(steps, &COST);
        outcome.after[outcome.after.len() - 1]
    };
    // With an interval of 30 the same window is summed at once.
    let at_once = Planner { predictor: Predictor::SlidingWindow(25), interval: 30, ..windowed() };
    let at_once = at_once.run(&trace, &COST);
    let overlapping = last(25, &Trace::new([31, 2, 256], rows(&trace, 31)).unwrap());
    let position = 30 * 2 + 1;
    assert!((at_once.after[position] - overlapping).abs() < 1e-12);
}

fn rows(trace: &Trace, steps: usize) -> Vec<u32> {
    (0..steps)
        .flat_map(|step| (0..2).flat_map(move |layer| trace.row(step, layer).to_vec()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_planner_never_makes_stationary_loads_worse(
        seed: u64,
        skew in 0.02..1.0_f64,
        window in 1..40_usize,
        interval in 1..20_usize,
        redundant in prop::sample::select(vec![0_usize, 16]),
    ) {
        let generator = Generator { seed, skew, ..Generator::default() };
        let size = Size { experts: 64, ..size(40, 3) };
        let trace = generated(&generator, &size);
        for trigger in [Trigger::OnIncrease, Trigger::Threshold(0.01)] {
            let predictor = Predictor::SlidingWindow(window);
            let planner = Planner { predictor, interval, trigger, devices: 16, redundant };
            let outcome = planner.run(&trace, &COST);
            let (before, after) = (outcome.mean_before(0), outcome.mean_after(0));
            prop_assert!(after <= before + 0.01, "{before} to {after}");
        }
    }
}
