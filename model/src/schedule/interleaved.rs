//! Interleaved 1F1B, and the same with forwards and backwards that run as pairs.

use alloc::vec::Vec;

use super::order::Schedule;
use super::task::{Task, TaskKind, TaskLists};

/// Megatron-Core's interleaved 1F1B: `2 (p - 1 - i) + (v - 1) group` forwards to warm up, then a
/// forward and a backward in turn, then the backwards that are left; for v = 1 it is 1F1B.
///
/// The first stage holds `(p (v - 1) + 2 (p - 1) + 1) / v` micro-batches.
///
/// Source: Narayanan et al. 2021, arXiv 2104.04473, section 2.2.2; Megatron-Core
/// `schedules.py:forward_backward_pipelining_with_interleaving`.
pub(super) fn write(schedule: &Schedule, lists: &mut TaskLists) {
    let order = order(schedule);
    for stage in 0..schedule.stages {
        let warm_up = warm_up(schedule, stage).min(order.len());
        let forward = |at: &(u16, u32)| Task::new(TaskKind::Forward, at.0, at.1);
        let backward = |at: &(u16, u32)| {
            let (chunk, micro_batch) = reversed(schedule, *at);
            Task::new(TaskKind::Backward, chunk, micro_batch)
        };
        let (first, steady) = order.split_at(warm_up);
        lists.tasks.extend(first.iter().map(forward));
        for (ahead, behind) in steady.iter().zip(&order) {
            lists.tasks.push(forward(ahead));
            lists.tasks.push(backward(behind));
        }
        lists.tasks.extend(order.iter().skip(steady.len()).map(backward));
        lists.end_stage();
    }
}

/// The interleaved order with one more forward to warm up; after that the next forward and the next
/// backward run as one, so that each hides the other's communication. For v = 1 the warm-up is `2
/// (p - 1 - i) + 1`, as the backward of a micro-batch can't run together with its forward.
///
/// A stage holds one chunk more than in the interleaved order.
///
/// Source: Pangu Ultra MoE, arXiv 2505.04519, section 4.2 (adaptive pipe overlap); Megatron-Core
/// `combined_1f1b.py` (`overlap_moe_expert_parallel_comm`).
pub(super) fn write_overlapped(schedule: &Schedule, lists: &mut TaskLists) {
    let order = order(schedule);
    for stage in 0..schedule.stages {
        let warm_up = overlapped_warm_up(schedule, stage).min(order.len());
        let (first, steady) = order.split_at(warm_up);
        let forward = |at: &(u16, u32)| Task::new(TaskKind::Forward, at.0, at.1);
        lists.tasks.extend(first.iter().map(forward));
        let pairs = steady.iter().zip(&order);
        lists.tasks.extend(pairs.map(|(at, behind)| Task::pair(*at, reversed(schedule, *behind))));
        lists.tasks.extend(order.iter().skip(steady.len()).map(|at| {
            let (chunk, micro_batch) = reversed(schedule, *at);
            Task::new(TaskKind::Backward, chunk, micro_batch)
        }));
        lists.end_stage();
    }
}

/// Tasks of the overlapped order: each pair takes the place of two.
pub(super) fn num_overlapped_tasks(schedule: &Schedule) -> u64 {
    let passes = u64::from(schedule.chunks) * u64::from(schedule.micro_batches);
    let unpaired = |stage| passes.min(overlapped_warm_up(schedule, stage) as u64);
    (0..schedule.stages).map(|stage| passes + unpaired(stage)).sum()
}

/// Forwards of that stage before its first backward.
fn warm_up(schedule: &Schedule, stage: u32) -> usize {
    let behind = schedule.stages - 1 - stage;
    let chunks = schedule.chunks - 1;
    (if chunks == 0 { behind } else { 2 * behind + chunks * schedule.group }) as usize
}

fn overlapped_warm_up(schedule: &Schedule, stage: u32) -> usize {
    (2 * (schedule.stages - 1 - stage) + (schedule.chunks - 1) * schedule.group + 1) as usize
}

/// The order of forwards, `(chunk, micro_batch)`: the micro-batches in groups (the last one may be
/// smaller), and in a group chunk 0 for all its micro-batches, then chunk 1, and so on.
///
/// Source: Megatron-Core `schedules.py:get_schedule_table`.
fn order(schedule: &Schedule) -> Vec<(u16, u32)> {
    let (m, group) = (schedule.micro_batches, schedule.group.max(1));
    let mut order = Vec::with_capacity(schedule.chunks() * schedule.micro_batches());
    let mut first = 0;
    while first < m {
        let end = m.min(first + group);
        for chunk in 0..schedule.chunks {
            order.extend((first..end).map(|micro_batch| (chunk as u16, micro_batch)));
        }
        first = end;
    }
    order
}

/// The backwards' order is the forwards' with the chunks from last to first.
fn reversed(schedule: &Schedule, (chunk, micro_batch): (u16, u32)) -> (u16, u32) {
    (schedule.chunks as u16 - 1 - chunk, micro_batch)
}
