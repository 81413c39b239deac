//! The order of each stage's tasks, some of them written out by hand.

use std::collections::HashSet;

use model::ground::choice::Method;
use model::schedule::{Schedule, Task, TaskKind};
use proptest::prelude::*;

use super::{any_schedule, schedule, small};

/// `F`, `B`, `X` (dX) or `W` (dW) and the micro-batch, behind the chunk where there are several.
fn text(schedule: &Schedule, stage: usize) -> String {
    let pass = |letter: char, chunk: u16, micro_batch: u32| {
        if schedule.chunks_per_stage() == 1 {
            format!("{letter}{micro_batch}")
        } else {
            format!("{letter}{chunk}.{micro_batch}")
        }
    };
    let task = |task: &Task| match task.kind {
        TaskKind::Forward => pass('F', task.chunk, task.micro_batch),
        TaskKind::Backward => pass('B', task.chunk, task.micro_batch),
        TaskKind::InputGrad => pass('X', task.chunk, task.micro_batch),
        TaskKind::WeightGrad => pass('W', task.chunk, task.micro_batch),
        TaskKind::Pair => format!(
            "{}+{}",
            pass('F', task.chunk, task.micro_batch),
            pass('B', task.backward_chunk, task.backward_micro_batch)
        ),
    };
    schedule.tasks().stage(stage).iter().map(task).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn is(method: Method, sizes: [u64; 3], stage: usize, expected: &str) {
    let [stages, chunks, micro_batches] = sizes;
    assert_eq!(text(&schedule(method, stages, chunks, micro_batches), stage), expected);
}

#[test]
fn gpipe_runs_all_forwards_first() {
    is(Method::Gpipe, [4, 1, 3], 2, "F0 F1 F2 B0 B1 B2");
}

#[test]
fn one_forward_one_backward_warms_up_for_the_stages_behind() {
    let method = Method::OneForwardOneBackward;
    is(method, [4, 1, 6], 0, "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5");
    is(method, [4, 1, 6], 3, "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
    is(method, [4, 1, 2], 0, "F0 F1 B0 B1");
}

#[test]
fn interleaving_takes_groups_of_micro_batches_through_all_chunks() {
    let method = Method::Interleaved;
    is(method, [4, 1, 6], 0, "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5");
    let first = "F0.0 F0.1 F1.0 F1.1 F0.2 B1.0 F0.3 B1.1 F1.2 B0.0 F1.3 B0.1 B1.2 B1.3 B0.2 B0.3";
    is(method, [2, 2, 4], 0, first);
    let last = "F0.0 F0.1 F1.0 B1.0 F1.1 B1.1 F0.2 B0.0 F0.3 B0.1 F1.2 B1.2 F1.3 B1.3 B0.2 B0.3";
    is(method, [2, 2, 4], 1, last);
}

#[test]
fn the_last_group_may_be_smaller() {
    let schedule = Schedule::new(Method::Interleaved, 2, 2, 5, Some(3)).unwrap();
    let forwards: Vec<String> = text(&schedule, 0)
        .split(' ')
        .filter(|task| task.starts_with('F'))
        .map(|task| task[1..].to_owned())
        .collect();
    assert_eq!(forwards.join(" "), "0.0 0.1 0.2 1.0 1.1 1.2 0.3 0.4 1.3 1.4");
}

#[test]
fn overlap_pairs_each_forward_with_the_next_backward() {
    let method = Method::OneForwardOneBackwardOverlap;
    is(method, [2, 1, 5], 0, "F0 F1 F2 F3+B0 F4+B1 B2 B3 B4");
    is(method, [2, 1, 5], 1, "F0 F1+B0 F2+B1 F3+B2 F4+B3 B4");
    let last = "F0.0 F0.1 F1.0 F1.1+B1.0 F0.2+B1.1 F0.3+B0.0 F1.2+B0.1 F1.3+B1.2 B1.3 B0.2 B0.3";
    is(method, [2, 2, 4], 1, last);
}

#[test]
fn zero_bubble_delays_weight_gradients_the_more_the_later_the_stage() {
    is(Method::ZbH1, [4, 1, 5], 0, "F0 F1 F2 F3 X0 W0 F4 X1 W1 X2 W2 X3 W3 X4 W4");
    is(Method::ZbH1, [4, 1, 5], 3, "F0 X0 F1 X1 F2 X2 F3 X3 W0 F4 X4 W1 W2 W3 W4");
    is(Method::Zb2p, [2, 1, 4], 0, "F0 F1 F2 X0 W0 F3 X1 W1 X2 W2 X3 W3");
    is(Method::Zb2p, [2, 1, 4], 1, "F0 X0 F1 X1 F2 X2 W0 F3 X3 W1 W2 W3");
}

#[test]
fn zero_bubble_in_a_v_turns_at_the_last_stage() {
    let first = "F0.0 F0.1 F0.2 F1.0 X1.0 W1.0 F1.1 X1.1 W1.1 F0.3 X0.0 W0.0 F1.2 X1.2 W1.2 \
                 X0.1 W0.1 F1.3 X1.3 W1.3 X0.2 W0.2 X0.3 W0.3";
    is(Method::ZbV, [2, 2, 4], 0, first);
    let last = "F0.0 F1.0 F0.1 F1.1 X1.0 W1.0 F0.2 X0.0 W0.0 F1.2 X1.1 W1.1 F0.3 X0.1 W0.1 F1.3 \
                X1.2 W1.2 X0.2 X1.3 X0.3 W0.2 W1.3 W0.3";
    is(Method::ZbV, [2, 2, 4], 1, last);
}

#[test]
fn dualpipe_runs_from_both_ends() {
    let first = "F0.0 F1.2 F0.1 B1.2 F1.3+B0.0 B1.3 X0.1 W0.1";
    is(Method::DualPipe, [2, 1, 4], 0, first);
    let last = "F1.2 F0.0 F1.3 B0.0 F0.1+B1.2 B0.1 X1.3 W1.3";
    is(Method::DualPipe, [2, 1, 4], 1, last);
}

#[test]
fn v_min_starts_the_way_back_as_soon_as_it_can() {
    is(Method::VMin, [1, 2, 2], 0, "F0.0 F1.0 X1.0 X0.0 W1.0 W0.0 F0.1 F1.1 X1.1 X0.1 W1.1 W0.1");
}

/// Place along the model, and DualPipe's direction.
fn passes(
    schedule: &Schedule,
    of: impl Fn(&Task) -> Option<(u16, u32)>,
) -> Vec<(usize, usize, u32)> {
    let lists = schedule.tasks();
    let mut passes = Vec::new();
    for stage in 0..schedule.stages() {
        for (chunk, micro_batch) in lists.stage(stage).iter().filter_map(&of) {
            let position = schedule.position(stage, usize::from(chunk));
            let way = if schedule.method() == Method::DualPipe { usize::from(chunk) } else { 0 };
            passes.push((way, position, micro_batch));
        }
    }
    passes
}

/// Every micro-batch passes every place once, forwards and backwards, and each stage's list
/// computes what a task of it needs before that task.
fn check(schedule: &Schedule) {
    let lists = schedule.tasks();
    assert_eq!(schedule.num_tasks(), lists.tasks.len() as u64, "{schedule:?}");
    let expected = schedule.stages() * schedule.chunks() * schedule.micro_batches();
    for of in [Task::forward, Task::input_grad, Task::weight_grad] {
        let all = passes(schedule, of);
        let distinct: HashSet<_> = all.iter().map(|(_, place, micro)| (*place, *micro)).collect();
        assert_eq!([all.len(), distinct.len()], [expected; 2], "{schedule:?}");
        let half = schedule.micro_batches() as u32 / 2;
        let right_way = |(way, _, micro): &(usize, usize, u32)| *way == usize::from(*micro >= half);
        assert!(schedule.method() != Method::DualPipe || all.iter().all(right_way));
    }
    for stage in 0..schedule.stages() {
        let (mut forwards, mut gradients) = (HashSet::new(), HashSet::new());
        for task in lists.stage(stage) {
            let before = |pass: Option<(u16, u32)>, set: &HashSet<(u16, u32)>| {
                pass.is_none_or(|pass| set.contains(&pass))
            };
            assert!(before(task.input_grad(), &forwards), "{schedule:?} {stage} {task:?}");
            gradients.extend(task.input_grad());
            assert!(before(task.weight_grad(), &gradients), "{schedule:?} {stage} {task:?}");
            forwards.extend(task.forward());
        }
    }
}

#[test]
fn every_small_schedule_passes_every_chunk_once() {
    for schedule in small() {
        check(&schedule);
    }
}

#[test]
fn a_schedule_with_too_many_tasks_stays_empty() {
    let huge = schedule(Method::Interleaved, 1_024, 256, 16_777_216);
    assert!(huge.num_tasks() > Schedule::MAX_TASKS);
    assert!(huge.tasks().tasks.is_empty());
    let timeline = super::run(huge, super::UNIT, None);
    assert_eq!([timeline.seconds, timeline.bubble_ratio(), timeline.bubble_ratio_of(3)], [0.0; 3]);
    assert_eq!(timeline.peak_in_flight(3).to_bits(), 0);
    assert_eq!(timeline.stage(3).count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn every_schedule_passes_every_chunk_once(schedule in any_schedule()) {
        check(&schedule);
    }
}
