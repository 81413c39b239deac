//! The pipeline task by task: each chunk's own times, pairs by list scheduling, then the events.

use alloc::vec::Vec;

use crate::activation::Kept;
use crate::layout::{self, Stage};
use crate::memory::LayerMemory;
use crate::pair::{self, Hiding, PairTimeline, Side};
use crate::plan::Plan;
use crate::schedule::{ChunkTimes, Form, Schedule, Task, TaskKind, Timeline, Times};
use crate::stage::{AXES, Parts, StageWork, Terms, Waiting};

use super::{Held, Phase, PhaseTraffic, Pipeline, Spent};

/// Tasks up to which a step is simulated whole: about 16 stages, 400 micro-batches, 4 chunks.
const WHOLE: u64 = 50_000;

/// What each stage of a span keeps and moves for one micro-batch, and how much of it is done again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PerMicroBatch {
    pub(crate) kept: Kept,
    /// Share of the layers that full recomputation takes.
    pub(crate) repeated_share: f64,
}

/// Chunks of the same content, recomputation, swapping and sends do the same work.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Kind {
    content: Stage,
    terms: Terms,
    work: StageWork,
}

/// The chunks of all stages and their pairs.
#[derive(Clone, Debug)]
struct Chunks {
    schedule: Schedule,
    kinds: Vec<Kind>,
    /// Kind of each stage's chunk, [stage * chunks per stage + chunk].
    of: Vec<usize>,
    /// What a forward of one kind beside a backward of another spends, [forward * kinds + other].
    pairs: Vec<Option<Waiting>>,
    /// Bytes that one micro-batch keeps on each stage's chunk.
    kept: Vec<f64>,
    /// See [`Plan::share_of_pair`].
    share_of_pair: f64,
}

/// A simulated step with what its tasks are made of.
#[derive(Clone, Debug)]
pub(crate) struct Simulation {
    chunks: Chunks,
    pub(crate) timeline: Timeline,
}

impl Plan {
    /// The order of this plan's tasks for so many micro-batches.
    fn schedule_of(&self, micro_batches: u64) -> Option<Schedule> {
        let group = self.design().schedule.microbatch_group_size_per_vp_stage;
        let (p, v) = (self.sizes.pp, self.sizes.vpp);
        Schedule::new(self.order(), p, v, micro_batches, group).ok()
    }

    /// Simulates the step.
    ///
    /// One with more than 50,000 tasks is simulated for fewer micro-batches, and for one group
    /// fewer still; every further group then adds what the last one added, as the steady state
    /// repeats itself. Nothing when even that is too much.
    pub(crate) fn simulated_pipeline(
        &self,
        parts: &Parts,
        layers: &LayerMemory,
        each: &[PerMicroBatch],
    ) -> Option<Pipeline> {
        let m = self.sizes.micro_batches;
        let whole = self.schedule_of(m)?;
        let chunks = Chunks::new(self, parts, layers, each, whole);
        if whole.num_tasks() <= WHOLE {
            return Some(chunks.pipeline(self, &chunks.simulate(self, whole)));
        }
        let group = match self.design().schedule.microbatch_group_size_per_vp_stage {
            Some(group) => group,
            // DualPipe's two directions share a group.
            None => self.sizes.pp * self.form().placement.directions() as u64,
        };
        let affordable = m * WHOLE / whole.num_tasks();
        let fewer = affordable.checked_sub((affordable + group - m % group) % group)?;
        let least = fewer.checked_sub(group)?;
        if least < 4 * self.sizes.pp {
            return None;
        }
        let mut longer = chunks.pipeline(self, &chunks.simulate(self, self.schedule_of(fewer)?));
        let shorter = chunks.pipeline(self, &chunks.simulate(self, self.schedule_of(least)?));
        longer.extend(&shorter, (m - fewer) as f64 / group as f64);
        Some(longer)
    }

    /// The whole step task by task; nothing when there are too many to keep.
    pub(crate) fn simulation(
        &self,
        parts: &Parts,
        layers: &LayerMemory,
        each: &[PerMicroBatch],
    ) -> Option<Simulation> {
        let schedule = self.schedule_of(self.sizes.micro_batches)?;
        if schedule.num_tasks() > Schedule::MAX_TASKS {
            return None;
        }
        let chunks = Chunks::new(self, parts, layers, each, schedule);
        let timeline = chunks.simulate(self, schedule);
        Some(Simulation { chunks, timeline })
    }
}

impl Pipeline {
    /// Adds `times` of what this one has more than a shorter one.
    fn extend(&mut self, shorter: &Self, times: f64) {
        let grow = |own: &mut f64, other: f64| *own += (*own - other) * times;
        grow(&mut self.seconds, shorter.seconds);
        for (own, other) in self.spent.iter_mut().zip(&shorter.spent) {
            grow(&mut own.busy, other.busy);
            let whole = own.waiting;
            own.waiting.add(&whole, times);
            own.waiting.add(&other.waiting, -times);
        }
        if let (Some(own), Some(other)) = (&mut self.phases, &shorter.phases) {
            for (own, other) in own.iter_mut().zip(other) {
                for axis in 0..AXES.len() {
                    grow(&mut own.seconds[axis], other.seconds[axis]);
                    grow(&mut own.exposed[axis], other.exposed[axis]);
                }
            }
        }
    }
}

impl Chunks {
    fn new(
        plan: &Plan,
        parts: &Parts,
        layers: &LayerMemory,
        each: &[PerMicroBatch],
        schedule: Schedule,
    ) -> Self {
        let contents = layout::chunks_of(plan.design());
        let count = schedule.chunks_per_stage();
        let slots = plan.stages.len() * count;
        let mut chunks = Self {
            schedule,
            kinds: Vec::new(),
            of: Vec::with_capacity(slots),
            pairs: Vec::new(),
            kept: Vec::with_capacity(slots),
            share_of_pair: plan.share_of_pair(),
        };
        for (stage, of_stage) in plan.by_stage(each).enumerate() {
            let whole = &plan.stages[stage];
            let share = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
            for chunk in 0..count {
                let position = schedule.position(stage, chunk);
                let content = contents[position];
                let layer_share = share(content.layers() + content.mtp, whole.layers() + whole.mtp);
                let terms = Terms {
                    repeated_share: of_stage.repeated_share,
                    swapped: of_stage.kept.host * layer_share,
                    sends: sends(&schedule, stage, position, contents.len()),
                };
                let known = chunks
                    .kinds
                    .iter()
                    .position(|kind| kind.content == content && kind.terms == terms);
                chunks.of.push(known.unwrap_or(chunks.kinds.len()));
                if known.is_none() {
                    let work = StageWork::new(plan, &content, parts, &terms);
                    chunks.kinds.push(Kind { content, terms, work });
                }
                let [part, all] = [&content, whole].map(|stage| layers.weight(plan, stage));
                chunks.kept.push(of_stage.kept.device * share(part, all));
            }
        }
        chunks.pair_up(plan, parts);
        chunks
    }

    /// Schedules a pair of every two kinds that share a stage.
    fn pair_up(&mut self, plan: &Plan, parts: &Parts) {
        let kinds = self.kinds.len();
        self.pairs = alloc::vec![None; kinds * kinds];
        if !plan.runs_pairs() {
            return;
        }
        for of_stage in self.of.chunks(self.schedule.chunks_per_stage()) {
            for forward in of_stage {
                for backward in of_stage {
                    let pair = &mut self.pairs[forward * kinds + backward];
                    if pair.is_none() {
                        let (ahead, back) = (&self.kinds[*forward], &self.kinds[*backward]);
                        let hiding = Hiding::new(plan, || [ahead.work, back.work]);
                        let sides = [&ahead.side(plan), &back.side(plan)];
                        let exposed = pair::exposed(plan, parts, &hiding, sides);
                        let passes = [&ahead.work.forward, &back.work.backward];
                        let alone = [&ahead.work.waits.alone[0], &back.work.waits.alone[1]];
                        *pair = Some(plan.waiting_of_pair(passes, alone, exposed));
                    }
                }
            }
        }
    }

    fn kind(&self, stage: usize, chunk: usize) -> &Kind {
        &self.kinds[self.of[stage * self.schedule.chunks_per_stage() + chunk]]
    }

    /// What a pair on this stage spends beside its kernels.
    fn pair(&self, stage: usize, forward: usize, backward: usize) -> Waiting {
        let count = self.schedule.chunks_per_stage();
        let [forward, backward] = [forward, backward].map(|chunk| self.of[stage * count + chunk]);
        self.pairs[forward * self.kinds.len() + backward].unwrap_or_default()
    }

    fn simulate(&self, plan: &Plan, schedule: Schedule) -> Timeline {
        let count = schedule.chunks_per_stage();
        let chunks = self.of.iter().map(|kind| {
            let work = &self.kinds[*kind].work;
            ChunkTimes {
                forward: work.alone_seconds(0),
                input_grad: (work.alone_seconds(1) - work.weight_grad).max(0.0),
                weight_grad: work.weight_grad,
            }
        });
        let mut times = Times { chunks: chunks.collect(), pairs: Vec::new(), p2p: 0.0 };
        if plan.runs_pairs() {
            times.pairs.reserve(self.of.len() * count);
            for stage in 0..plan.stages.len() {
                for forward in 0..count {
                    for backward in 0..count {
                        let kernels = self.kind(stage, forward).work.forward.kernels()
                            + self.kind(stage, backward).work.backward.kernels();
                        let waiting = self.pair(stage, forward, backward);
                        times.pairs.push(kernels + waiting.seconds());
                    }
                }
            }
        }
        // Sends that are waited for are part of their tasks.
        if plan.sizes.pp > 1 && plan.overlaps_sends() {
            times.p2p = plan.boundary().seconds();
        }
        schedule.simulate(&times)
    }

    fn pipeline(&self, plan: &Plan, timeline: &Timeline) -> Pipeline {
        let stages = plan.stages.len();
        let mut phases = [PhaseTraffic::default(); 3];
        let mut spent = Vec::with_capacity(stages);
        for (index, span) in plan.spans.iter().enumerate() {
            for stage in span.first..span.first + span.count {
                let tasks = timeline.lists.stage(stage);
                let counts = Counts::new(tasks, self.schedule.chunks_per_stage());
                let waiting = self.spent(stage, &counts, &mut phases);
                let (busy, held) = (timeline.busy[stage], Some(self.held(stage, tasks)));
                spent.push(Spent { span: index, first: stage, count: 1, busy, waiting, held });
            }
        }
        for phase in &mut phases {
            for axis in 0..AXES.len() {
                phase.seconds[axis] /= stages as f64;
                phase.exposed[axis] /= stages as f64;
            }
        }
        Pipeline { seconds: timeline.seconds, spent, phases: Some(phases) }
    }

    /// What a stage spends beside its kernels, and its traffic added to that of each phase.
    fn spent(&self, stage: usize, counts: &Counts, phases: &mut [PhaseTraffic; 3]) -> Waiting {
        let count = self.schedule.chunks_per_stage();
        let mut all = Waiting::default();
        for (phase, counts) in phases.iter_mut().zip(&counts.phases) {
            let mut spend = |waiting: &Waiting, traffic: &dyn Fn(usize) -> f64, times: u32| {
                let times = f64::from(times);
                all.add(waiting, times);
                for axis in 0..AXES.len() {
                    phase.seconds[axis] += traffic(axis) * times;
                    phase.exposed[axis] += waiting.exposed[axis] * times;
                }
            };
            for chunk in 0..count {
                let work = &self.kind(stage, chunk).work;
                let (ahead, back) = (counts.alone[chunk * 2], counts.alone[chunk * 2 + 1]);
                spend(&work.waits.alone[0], &|axis| work.forward.axis(axis), ahead);
                spend(&work.waits.alone[1], &|axis| work.backward.axis(axis), back);
                for backward in 0..count {
                    let times = counts.pairs[chunk * count + backward];
                    if times > 0 {
                        let other = &self.kind(stage, backward).work;
                        let traffic =
                            |axis: usize| work.forward.axis(axis) + other.backward.axis(axis);
                        spend(&self.pair(stage, chunk, backward), &traffic, times);
                    }
                }
            }
        }
        all
    }

    /// The fullest moment of a stage: tasks hold in their order, whatever their times.
    fn held(&self, stage: usize, tasks: &[Task]) -> Held {
        let count = self.schedule.chunks_per_stage();
        let kept = &self.kept[stage * count..][..count];
        let part = 1.0 / self.schedule.chunks() as f64;
        let share_of = |task: &Task| {
            if task.kind == TaskKind::Pair { self.share_of_pair } else { 1.0 }
        };
        let (mut most, mut now) = (Held::default(), Held::default());
        for task in tasks {
            if matches!(task.kind, TaskKind::Forward | TaskKind::Pair) {
                let (bytes, share) = (kept[usize::from(task.chunk)], share_of(task));
                let held = now.bytes + bytes * share;
                if held > most.bytes {
                    (most.bytes, most.task) = (held, Some(*task));
                }
                most.micro_batches = most.micro_batches.max(now.micro_batches + part * share);
                now.bytes += bytes;
                now.micro_batches += part;
            }
            if matches!(task.kind, TaskKind::Backward | TaskKind::WeightGrad | TaskKind::Pair) {
                now.bytes -= kept[usize::from(task.backward_chunk)];
                now.micro_batches -= part;
            }
        }
        // Parts of a micro-batch add up to it only nearly.
        let chunks = self.schedule.chunks() as f64;
        if self.share_of_pair >= 1.0 {
            most.micro_batches = libm::round(most.micro_batches * chunks) / chunks;
        }
        most
    }
}

impl Kind {
    fn side(&self, plan: &Plan) -> Side {
        let layers = self.content.layers() + self.content.mtp;
        let copy = self.terms.swapped / plan.machine.host.get();
        Side {
            content: self.content,
            repeated_share: self.terms.repeated_share,
            copy: if layers > 0.0 { copy / layers } else { 0.0 },
        }
    }
}

/// Sends of a chunk's forward and backward: to another stage, if there is one.
fn sends(schedule: &Schedule, stage: usize, position: usize, positions: usize) -> [f64; 2] {
    let p = schedule.stages();
    let placement = Form::of(schedule.method()).placement;
    let stage_at = |position: usize| placement.stage_at(p, position, 0);
    // In DualPipe's other direction the neighbours are those of the mirrored stage.
    let here = stage_at(position);
    debug_assert!(here == stage || p - 1 - here == stage);
    let next = position + 1 < positions && stage_at(position + 1) != here;
    let before = position > 0 && stage_at(position - 1) != here;
    [next, before].map(|sends| f64::from(u8::from(sends)))
}

/// How often each kind of task runs on a stage, per phase.
struct Counts {
    phases: [PhaseCounts; 3],
}

#[derive(Clone)]
struct PhaseCounts {
    /// Of each chunk, forwards and backwards without a partner.
    alone: Vec<u32>,
    /// Of each forward's chunk with each backward's chunk.
    pairs: Vec<u32>,
}

impl Counts {
    fn new(tasks: &[Task], chunks: usize) -> Self {
        let empty = PhaseCounts {
            alone: alloc::vec![0; chunks * 2],
            pairs: alloc::vec![0; chunks * chunks],
        };
        let mut phases = [empty.clone(), empty.clone(), empty];
        let runs_forward = |task: &Task| matches!(task.kind, TaskKind::Forward | TaskKind::Pair);
        let first_back =
            tasks.iter().position(|task| task.kind != TaskKind::Forward).unwrap_or(tasks.len());
        let last_ahead = tasks.iter().rposition(runs_forward).unwrap_or(0);
        for (index, task) in tasks.iter().enumerate() {
            let phase = if index < first_back {
                Phase::WarmUp
            } else if index > last_ahead {
                Phase::CoolDown
            } else {
                Phase::Steady
            };
            let counts = &mut phases[phase as usize];
            let [chunk, back] = [task.chunk, task.backward_chunk].map(usize::from);
            match task.kind {
                TaskKind::Forward => counts.alone[chunk * 2] += 1,
                TaskKind::Backward | TaskKind::InputGrad => counts.alone[back * 2 + 1] += 1,
                TaskKind::Pair => counts.pairs[chunk * chunks + back] += 1,
                TaskKind::WeightGrad => {}
            }
        }
        Self { phases }
    }
}

impl Simulation {
    /// The work of a task's forward and of its backward, and what it spends beside its kernels.
    pub(crate) fn task(&self, stage: usize, task: &Task) -> (&StageWork, &StageWork, Waiting) {
        let (chunk, other) = (usize::from(task.chunk), usize::from(task.backward_chunk));
        let ahead = &self.chunks.kind(stage, chunk).work;
        let back = &self.chunks.kind(stage, other).work;
        let waiting = match task.kind {
            TaskKind::Forward => ahead.waits.alone[0],
            TaskKind::Backward | TaskKind::InputGrad => back.waits.alone[1],
            TaskKind::WeightGrad => Waiting::default(),
            TaskKind::Pair => self.chunks.pair(stage, chunk, other),
        };
        (ahead, back, waiting)
    }

    /// Bytes that one micro-batch keeps on a stage's chunk.
    pub(crate) fn kept(&self, stage: usize, chunk: usize) -> f64 {
        self.chunks.kept[stage * self.chunks.schedule.chunks_per_stage() + chunk]
    }

    /// A pair operator by operator.
    pub(crate) fn pair(
        &self,
        plan: &Plan,
        parts: &Parts,
        stage: usize,
        [forward, backward]: [usize; 2],
    ) -> PairTimeline {
        let [ahead, back] = [forward, backward].map(|chunk| self.chunks.kind(stage, chunk));
        let hiding = Hiding::new(plan, || [ahead.work, back.work]);
        pair::operators(plan, parts, &hiding, [&ahead.side(plan), &back.side(plan)])
    }
}
