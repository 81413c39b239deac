//! A step of a plan task by task: when each runs, what it is made of, what the stage holds.

use alloc::vec::Vec;

use crate::ground::sorting::sort_short;
use crate::ground::units::{Bytes, Seconds};
use crate::schedule::{Task, TaskKind, Timeline};
use crate::training::estimate::StepPart;
use crate::training::pair::{self, PairTimeline};
use crate::training::pipeline::simulated::{Load, Simulation};
use crate::training::plan::Plan;
use crate::training::stage::{AXES, Parts, Waiting};

/// The simulated pipeline of a plan.
#[derive(Clone, Debug)]
pub struct PlanTimeline {
    /// Start and end of every task, s from the first forward.
    pub timeline: Timeline,
    /// Memory of each stage's device.
    pub memory: Vec<StageOverTime>,
    plan: Plan,
    parts: Parts,
    simulation: Simulation,
}

/// Memory of one stage over the step.
#[derive(Clone, Debug, PartialEq)]
pub struct StageOverTime {
    /// Weights, gradients, optimizer, buffers and reserve: all but activations.
    pub fixed: Bytes,
    /// Memory that a program gets.
    pub limit: Bytes,
    /// Activations from each moment on: seconds, bytes.
    pub steps: Vec<(f64, Bytes)>,
}

/// Parts of a task's time.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskDetail {
    /// Label, meaning and time of each part; together the task's time.
    pub parts: Vec<(&'static str, &'static str, Seconds)>,
    /// Communication that runs beside its kernels.
    pub hidden: Seconds,
}

/// Simulates a plan's step whatever its `schedule.timing`; nothing when it has more than
/// [`crate::schedule::Schedule::MAX_TASKS`] tasks.
#[must_use]
pub fn timeline(plan: &Plan) -> Option<PlanTimeline> {
    let parts = pair::parts(plan);
    let layers = plan.layer_memory();
    let each = plan.per_micro_batch(&layers);
    let simulation = plan.simulation(&Load { parts: &parts, layers: &layers, each: &each })?;
    let timeline = simulation.timeline.clone();
    let occupancies = plan.occupancies(&each, None);
    let memory = occupancies
        .iter()
        .enumerate()
        .map(|(stage, held)| StageOverTime {
            fixed: held.device.peak() - held.device.activations,
            limit: plan.memory_limit,
            steps: activations(&simulation, stage),
        })
        .collect();
    Some(PlanTimeline { timeline, memory, plan: plan.clone(), parts, simulation })
}

/// A forward holds its chunk's tensors from its start; the last task of the backward frees them
/// at its end.
fn activations(simulation: &Simulation, stage: usize) -> Vec<(f64, Bytes)> {
    let mut changes: Vec<(f64, f64)> = Vec::new();
    for (task, start, end) in simulation.timeline.stage(stage) {
        if matches!(task.kind, TaskKind::Forward | TaskKind::Pair) {
            changes.push((start, simulation.kept(stage, usize::from(task.chunk))));
        }
        if matches!(task.kind, TaskKind::Backward | TaskKind::WeightGrad | TaskKind::Pair) {
            changes.push((end, -simulation.kept(stage, usize::from(task.backward_chunk))));
        }
    }
    // Tasks follow each other, so only a pair's own end can be behind the next start.
    sort_short(&mut changes, |one, other| one.0.total_cmp(&other.0));
    let mut held = 0.0_f64;
    let mut steps: Vec<(f64, Bytes)> = Vec::with_capacity(changes.len());
    for (moment, bytes) in changes {
        held = (held + bytes).max(0.0);
        match steps.last_mut() {
            Some(step) if step.0 >= moment => step.1 = Bytes::new(held),
            _ => steps.push((moment, Bytes::new(held))),
        }
    }
    steps
}

impl PlanTimeline {
    /// Parts of the time of a stage's task.
    #[must_use]
    pub fn explain(&self, stage: usize, task: Task) -> TaskDetail {
        let (ahead, back, waiting) = self.simulation.task(stage, &task);
        let delayed = match task.kind {
            TaskKind::InputGrad => back.weight_grad,
            TaskKind::WeightGrad | TaskKind::Forward | TaskKind::Backward | TaskKind::Pair => 0.0,
        };
        let runs_forward = matches!(task.kind, TaskKind::Forward | TaskKind::Pair);
        let runs_backward =
            matches!(task.kind, TaskKind::Backward | TaskKind::InputGrad | TaskKind::Pair);
        let mut kernels = 0.0;
        let mut recompute = 0.0;
        let mut traffic = 0.0;
        let mut all_axes = |pass: &crate::training::stage::Pass| {
            traffic += (0..AXES.len()).map(|axis| pass.axis(axis)).sum::<f64>();
        };
        if runs_forward {
            kernels += ahead.forward.cost.seconds();
            all_axes(&ahead.forward);
        }
        if runs_backward {
            kernels += back.backward.cost.seconds() - delayed;
            recompute += back.backward.recompute.seconds();
            all_axes(&back.backward);
        }
        if task.kind == TaskKind::WeightGrad {
            kernels += back.weight_grad;
        }
        let exposed: f64 = waiting.exposed.iter().sum();
        TaskDetail {
            parts: parts(kernels, recompute, &waiting),
            hidden: Seconds::new((traffic - exposed).max(0.0)),
        }
    }

    /// Forward and backward of a stage's chunks as a pair, operator by operator; nothing when the
    /// schedule runs no pairs.
    #[must_use]
    pub fn pair(
        &self,
        stage: usize,
        forward_chunk: usize,
        backward_chunk: usize,
    ) -> Option<PairTimeline> {
        let count = self.timeline.schedule.chunks_per_stage();
        let known = stage < self.timeline.schedule.stages()
            && forward_chunk < count
            && backward_chunk < count;
        (known && self.plan.schedule.runs_pairs).then(|| {
            let pattern = &self.plan.architecture.pattern.layers;
            self.simulation.pair(&self.parts, pattern, stage, [forward_chunk, backward_chunk])
        })
    }
}

fn parts(
    kernels: f64,
    recompute: f64,
    waiting: &Waiting,
) -> Vec<(&'static str, &'static str, Seconds)> {
    let named = [
        ("Kernels", "Matrix products, attention and element-wise work", kernels),
        part(StepPart::Recompute, recompute),
        part(StepPart::TensorParallel, waiting.exposed[0]),
        part(StepPart::ContextParallel, waiting.exposed[1]),
        part(StepPart::ExpertParallel, waiting.exposed[2]),
        part(StepPart::PipelineParallel, waiting.exposed[3]),
        part(StepPart::Swap, waiting.exposed[4]),
        part(StepPart::DataParallel, waiting.exposed[5]),
        part(StepPart::Contention, waiting.contention),
        part(StepPart::Host, waiting.host),
    ];
    named
        .into_iter()
        .filter(|(.., seconds)| *seconds > 0.0)
        .map(|(label, meaning, seconds)| (label, meaning, Seconds::new(seconds)))
        .collect()
}

const fn part(part: StepPart, seconds: f64) -> (&'static str, &'static str, f64) {
    (part.label(), part.meaning(), seconds)
}
