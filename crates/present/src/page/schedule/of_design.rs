//! A design's schedule alone: its method and sizes, and the means of its task times.

use model::design::Design;
use model::ground::choice::Method;
use model::ground::decimal;
use model::schedule::{ChunkTimes, TaskKind, Timeline};
use model::training::timeline::timeline;
use model::{Plan, estimate};

use super::input::Input;
use super::methods;
use crate::insight::schedules::under;

/// A pipeline with more tasks is taken with the estimate's mean times instead of its own tasks'.
const MAX_TASKS: u64 = 300_000;

/// The input that a design comes to; `None` if it breaks a rule.
#[must_use]
pub fn of_design(design: &Design) -> Option<Input> {
    let plan = Plan::new(design).ok()?;
    let first = Input::default();
    let parallel = &design.parallel;
    let method = design.schedule.method;
    let chunks = parallel.virtual_pipeline_model_parallel_size;
    let sizes = Input {
        method,
        stages: parallel.pipeline_model_parallel_size,
        chunks: (chunks != methods::usual_chunks(method)).then_some(chunks),
        micro_batches: plan.num_microbatches(),
        group: design.schedule.microbatch_group_size_per_vp_stage,
        ..first
    };
    let few = |plan: &Plan| {
        let tasks = [sizes.stages, chunks, plan.num_microbatches()];
        tasks.into_iter().fold(3_u64, u64::saturating_mul) <= MAX_TASKS
    };
    let run = |plan: &Plan| few(plan).then(|| timeline(plan)).flatten().map(|it| it.timeline);
    let timeline = run(&plan);
    let mean = |kind| timeline.as_ref().and_then(|timeline| mean(timeline, kind));
    let stages = estimate(&plan).stages;
    let of_stages = |seconds: fn(&model::training::estimate::StageEstimate) -> f64| {
        stages.iter().map(seconds).sum::<f64>() / stages.len().max(1) as f64
    };
    let forward = mean(TaskKind::Forward).unwrap_or_else(|| of_stages(|stage| stage.forward.get()));
    let split = mean(TaskKind::InputGrad).zip(mean(TaskKind::WeightGrad));
    let (input_grad, weight_grad) = split.unwrap_or_else(|| {
        let backward =
            mean(TaskKind::Backward).unwrap_or_else(|| of_stages(|stage| stage.backward.get()));
        // What it would be under a schedule that splits it.
        let zero_bubble = Plan::new(&under(design, Method::ZbH1)).ok();
        let zero_bubble = zero_bubble.and_then(|plan| run(&plan));
        let weight_grad = zero_bubble
            .and_then(|timeline| self::mean(&timeline, TaskKind::WeightGrad))
            .map_or(backward / 2.0, |seconds| seconds.min(backward));
        (backward - weight_grad, weight_grad)
    });
    let times = ChunkTimes {
        forward: rounded(forward),
        input_grad: rounded(input_grad),
        weight_grad: rounded(weight_grad),
    };
    let p2p = rounded(timeline.as_ref().map_or(0.0, send));
    Some(Input { times, pair: mean(TaskKind::Pair).map(rounded), p2p, ..sizes })
}

/// The mean over stages and chunks of a task, for a whole stage.
///
/// Each pair of chunks counts once however often it runs: the warm-up runs more on some stages.
fn mean(timeline: &Timeline, kind: TaskKind) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for stage in 0..timeline.lists.stages() {
        let mut seen: Vec<(u16, u16)> = Vec::new();
        for (task, start, end) in timeline.stage(stage) {
            let chunks = (task.chunk, task.backward_chunk);
            if task.kind == kind && !seen.contains(&chunks) {
                seen.push(chunks);
                sum += end - start;
                count += 1;
            }
        }
    }
    let chunks = timeline.schedule.chunks() as f64;
    (count > 0).then(|| sum / f64::from(count) * chunks)
}

/// From the first forward of stage 0 to that of stage 1, which waits for nothing else.
fn send(timeline: &Timeline) -> f64 {
    let first = |stage: usize| timeline.stage(stage).next();
    let (Some((.., sent)), Some((_, received, _))) = (first(0), first(1)) else { return 0.0 };
    let seconds = received - sent;
    // What is left of rounding is no time.
    if seconds > 1e-9 { seconds } else { 0.0 }
}

/// To six digits, as a link is to be read.
fn rounded(seconds: f64) -> f64 {
    decimal::parse(&format!("{seconds:.5e}")).unwrap_or(seconds)
}
