//! The simulation: nothing starts before what it needs, nothing waits for ever.

use std::collections::HashMap;

use model::ground::choice::Method;
use model::schedule::{ChunkTimes, Schedule, TaskKind, Times};
use proptest::prelude::*;

use super::{UNIT, any_schedule, any_times, schedule, small};

/// When each pass ends: place along the model and micro-batch.
type Ends = HashMap<(usize, u32), (usize, f64)>;

/// Checks starts and ends against what each task needs.
fn check(schedule: &Schedule, times: &Times) {
    let timeline = schedule.simulate(times);
    let places = schedule.stages() * schedule.chunks();
    let (mut forwards, mut gradients) = (Ends::new(), Ends::new());
    for stage in 0..schedule.stages() {
        for (task, _, end) in timeline.stage(stage) {
            let position = |chunk: u16| schedule.position(stage, usize::from(chunk));
            if let Some((chunk, micro)) = task.forward() {
                forwards.insert((position(chunk), micro), (stage, end));
            }
            if let Some((chunk, micro)) = task.input_grad() {
                gradients.insert((position(chunk), micro), (stage, end));
            }
        }
    }
    for stage in 0..schedule.stages() {
        let (mut free, mut busy) = (0.0, 0.0);
        for (task, start, end) in timeline.stage(stage) {
            let arrives =
                |needed: &(usize, f64)| needed.1 + if needed.0 == stage { 0.0 } else { times.p2p };
            let mut ready: f64 = free;
            if let Some((chunk, micro)) = task.forward() {
                let position = schedule.position(stage, usize::from(chunk));
                if position > 0 {
                    ready = ready.max(arrives(&forwards[&(position - 1, micro)]));
                }
            }
            if let Some((chunk, micro)) = task.input_grad() {
                let position = schedule.position(stage, usize::from(chunk));
                ready = ready.max(forwards[&(position, micro)].1);
                if position + 1 < places {
                    ready = ready.max(arrives(&gradients[&(position + 1, micro)]));
                }
            }
            assert_eq!(start.to_bits(), ready.to_bits(), "{schedule:?} {stage} {task:?}");
            let seconds = seconds(schedule, times, stage, task);
            assert_eq!(end.to_bits(), (start + seconds).to_bits(), "{schedule:?} {stage} {task:?}");
            (free, busy) = (end, busy + seconds);
        }
        assert_eq!(timeline.busy[stage].to_bits(), f64::to_bits(busy));
        assert!(timeline.seconds >= free || schedule.method() == Method::Zb2p);
    }
    let ratio = timeline.bubble_ratio();
    assert!((-1e-9..=1.0).contains(&ratio), "{schedule:?}: {ratio}");
}

fn seconds(schedule: &Schedule, times: &Times, stage: usize, task: model::schedule::Task) -> f64 {
    let c = schedule.chunks_per_stage();
    let (chunk, behind) = (usize::from(task.chunk), usize::from(task.backward_chunk));
    let own: ChunkTimes = times.chunks[stage * c + chunk];
    match task.kind {
        TaskKind::Forward => own.forward,
        TaskKind::Backward => own.backward(),
        TaskKind::InputGrad => own.input_grad,
        TaskKind::WeightGrad => own.weight_grad,
        TaskKind::Pair => match times.pairs.len() {
            0 => own.forward + times.chunks[stage * c + behind].backward(),
            1 => times.pairs[0],
            _ => times.pairs[(stage * c + chunk) * c + behind],
        },
    }
}

#[test]
fn every_small_schedule_runs_to_its_end() {
    for schedule in small() {
        check(&schedule, &Times::equal(&schedule, UNIT, None, 0.0));
    }
}

#[test]
fn unequal_stages_wait_for_each_other() {
    // Stage 0: F 1, B 2; stage 1: F 3, B 4; sending takes a half.
    let schedule = schedule(Method::OneForwardOneBackward, 2, 1, 2);
    let chunk = |forward, backward| ChunkTimes { forward, input_grad: backward, weight_grad: 0.0 };
    let times = Times { chunks: vec![chunk(1.0, 2.0), chunk(3.0, 4.0)], pairs: vec![], p2p: 0.5 };
    let timeline = schedule.simulate(&times);
    let spans = |stage| timeline.stage(stage).map(|(_, start, end)| (start, end)).collect();
    let [first, last]: [Vec<(f64, f64)>; 2] = [spans(0), spans(1)];
    assert_eq!(first, [(0.0, 1.0), (1.0, 2.0), (9.0, 11.0), (16.0, 18.0)]);
    assert_eq!(last, [(1.5, 4.5), (4.5, 8.5), (8.5, 11.5), (11.5, 15.5)]);
    assert_eq!([timeline.seconds, timeline.busy[0], timeline.busy[1]], [18.0, 6.0, 14.0]);
    assert_eq!(timeline.bubble_ratio_of(1), 1.0 - 14.0 / 18.0);
    assert_eq!(timeline.bubble_ratio(), 1.0 - 10.0 / 18.0);
}

#[test]
fn the_turn_of_a_v_sends_nothing() {
    // Down and up two stages, forward and back: four sends, none at the turn.
    let schedule = schedule(Method::ZbV, 2, 2, 1);
    let seconds = |p2p| schedule.simulate(&Times::equal(&schedule, UNIT, None, p2p)).seconds;
    assert_eq!(seconds(0.25) - seconds(0.0), 4.0 * 0.25);
}

#[test]
fn one_stage_sends_nothing_to_itself() {
    for schedule in small().filter(|schedule| schedule.stages() == 1) {
        let seconds = |p2p| schedule.simulate(&Times::equal(&schedule, UNIT, None, p2p)).seconds;
        assert_eq!(seconds(5.0), seconds(0.0), "{schedule:?}");
    }
}

#[test]
fn times_that_are_none_count_as_zero() {
    for wrong in [f64::NAN, -1.0, f64::NEG_INFINITY] {
        let stage = ChunkTimes { forward: wrong, ..UNIT };
        for schedule in small().filter(|schedule| schedule.micro_batches() == 8) {
            let times = Times::equal(&schedule, stage, Some(wrong), wrong);
            let zero = Times::equal(&schedule, ChunkTimes { forward: 0.0, ..UNIT }, Some(0.0), 0.0);
            assert_eq!(schedule.simulate(&times), schedule.simulate(&zero), "{schedule:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn tasks_start_as_soon_as_they_can(
        (schedule, times) in any_schedule().prop_flat_map(|s| (Just(s), any_times(s)))
    ) {
        check(&schedule, &times);
    }

    /// Faster tasks never make a step longer: each list's order is fixed.
    #[test]
    fn twice_the_times_take_twice_as_long(
        (schedule, times) in any_schedule().prop_flat_map(|s| (Just(s), any_times(s)))
    ) {
        let mut double = times.clone();
        double.p2p *= 2.0;
        double.pairs.iter_mut().for_each(|pair| *pair *= 2.0);
        double.chunks.iter_mut().for_each(|chunk| *chunk = chunk.times(2.0));
        let [once, twice] = [times, double].map(|times| schedule.simulate(&times).seconds);
        prop_assert_eq!((2.0 * once).to_bits(), twice.to_bits());
    }
}
