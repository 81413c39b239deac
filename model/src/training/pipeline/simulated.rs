//! The pipeline task by task: each chunk's own times, pairs by list scheduling, then the events.

use alloc::vec::Vec;
use core::array;

use crate::ground::axis::Phase;
use crate::layer::architecture::KindId;
use crate::layer::layout::{Span, Stage};
use crate::schedule::{
    ChunkTimes, Form, Run, Schedule, Task, TaskKind, TaskLists, Timeline, Times,
};
use crate::training::memory::{LayerMemory, PeakActivations, PerMicroBatch};
use crate::training::pair::{self, Graph, Hiding, PairTimeline, Side};
use crate::training::plan::Plan;
use crate::training::stage::{AXES, Parts, StageWork, Terms, Waiting};

use super::{PhaseTraffic, Pipeline, Spent};

/// Tasks up to which a step is simulated whole: about 16 stages, 400 micro-batches, 4 chunks.
const WHOLE: u64 = 50_000;

/// Tasks up to which a longer step is simulated: it is twice, which takes no longer than one that
/// is just simulated whole.
const STEADY: u64 = WHOLE / 2;

/// Work and memory of stages under some loads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load<'a> {
    pub(crate) parts: &'a Parts,
    pub(crate) layers: &'a LayerMemory,
    /// For each span of the plan.
    pub(crate) each: &'a [PerMicroBatch],
}

/// Chunks of the same content, recomputation, swapping and sends do the same work.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Kind {
    content: Stage,
    /// The first of its layers in the model's pattern.
    first: usize,
    terms: Terms,
    /// Seconds in which one layer's tensors go to the host, or come back, beside those of another.
    copy: f64,
    work: StageWork,
}

/// The chunks of all stages and their pairs.
#[derive(Clone, Debug)]
struct Chunks {
    schedule: Schedule,
    kinds: Vec<Kind>,
    /// Kind of each stage's chunk, [stage * chunks per stage + chunk].
    of: Vec<usize>,
    /// Waits of a forward of one kind beside a backward of another, [forward * kinds + other].
    pairs: Vec<Option<Waiting>>,
    /// Bytes that one micro-batch keeps on each stage's chunk.
    kept: Vec<f64>,
    /// See [`Plan::share_of_pair`].
    share_of_pair: f64,
    /// Seconds of a send that no task waits for.
    p2p: f64,
}

/// A simulated step with what its tasks are made of.
#[derive(Clone, Debug)]
pub(crate) struct Simulation {
    chunks: Chunks,
    pub(crate) timeline: Timeline,
}

impl Plan {
    /// Simulates the step under each of these loads.
    ///
    /// One with more than 50,000 tasks is simulated for fewer micro-batches, and for one group
    /// fewer still; every further group then adds what the last one added, as the steady state
    /// repeats itself. Nothing when even that is too much.
    pub(crate) fn simulated_pipelines<const L: usize>(
        &self,
        loads: [&Load<'_>; L],
        tasks: &mut Tasks,
        run: &mut Run<L>,
    ) -> Option<[Pipeline; L]> {
        let m = self.batch.micro_batches;
        let whole = self.schedule.tasks(m)?;
        let chunks = loads.map(|load| Chunks::new(self, load, whole));
        let mut simulate = |schedule: Schedule| {
            tasks.turn_to(schedule);
            let times: [Times; L] = array::from_fn(|lane| chunks[lane].times());
            run.simulate(&schedule, &tasks.lists, times.each_ref(), |_, _, _| ());
            let held = |stage| held(&chunks, stage, tasks.lists.stage(stage));
            let held: Vec<[PeakActivations; L]> = (0..tasks.lists.stages()).map(held).collect();
            array::from_fn(|lane| {
                let stages = run.busy().zip(&held).map(|(busy, held)| (busy[lane], held[lane]));
                chunks[lane].pipeline(&self.spans, &tasks.counts, run.seconds[lane], stages)
            })
        };
        if whole.num_tasks() <= WHOLE {
            return Some(simulate(whole));
        }
        let group = match self.schedule.group {
            Some(group) => group,
            // DualPipe's two directions share a group.
            None => self.deployment.ranks.pp * self.schedule.form.placement.directions() as u64,
        };
        // Half of what is simulated whole shows a steady state where it has several times as many
        // micro-batches as the pipeline has stages.
        let affordable = m * WHOLE / whole.num_tasks();
        let steady = (m * STEADY / whole.num_tasks()).max(8 * self.deployment.ranks.pp + 2 * group);
        let enough = affordable.min(steady);
        let fewer = enough.checked_sub((enough + group - m % group) % group)?;
        let least = fewer.checked_sub(group)?;
        if least < 4 * self.deployment.ranks.pp {
            return None;
        }
        let [longer, shorter] = [self.schedule.tasks(fewer)?, self.schedule.tasks(least)?];
        let (mut longer, shorter): ([Pipeline; L], _) = (simulate(longer), simulate(shorter));
        for (longer, shorter) in longer.iter_mut().zip(&shorter) {
            longer.extend(shorter, (m - fewer) as f64 / group as f64);
        }
        Some(longer)
    }

    /// The whole step task by task; nothing when there are too many to keep.
    pub(crate) fn simulation(&self, load: &Load<'_>) -> Option<Simulation> {
        let schedule = self.schedule.tasks(self.batch.micro_batches)?;
        if schedule.num_tasks() > Schedule::MAX_TASKS {
            return None;
        }
        let chunks = Chunks::new(self, load, schedule);
        let timeline = schedule.simulate(&chunks.times());
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
    fn new(plan: &Plan, load: &Load<'_>, schedule: Schedule) -> Self {
        let Load { parts, layers, each } = load;
        let contents = &plan.chunks;
        let count = schedule.chunks_per_stage();
        let slots = plan.stages.len() * count;
        // Sends that are waited for are part of their tasks.
        let is_hidden = plan.deployment.ranks.pp > 1 && plan.overlap.sends;
        let mut chunks = Self {
            schedule,
            kinds: Vec::new(),
            of: Vec::with_capacity(slots),
            pairs: Vec::new(),
            kept: Vec::with_capacity(slots),
            share_of_pair: plan.share_of_pair(),
            p2p: if is_hidden { parts.boundary.seconds() } else { 0.0 },
        };
        let pattern = &plan.architecture.pattern.layers;
        let firsts = first_layers(contents);
        for (stage, of_stage) in plan.by_stage(each).enumerate() {
            let whole = &plan.stages[stage];
            let share = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
            for chunk in 0..count {
                let position = schedule.position(stage, chunk);
                let content = contents[position];
                let layer_share = share(content.num_all_layers(), whole.num_all_layers());
                let terms = Terms {
                    repeated_share: of_stage.repeated_share,
                    swapped: of_stage.kept.host * layer_share,
                    sends: sends(&schedule, stage, position, contents.len()),
                };
                let first = firsts[position];
                let known = chunks.kinds.iter().position(|kind| {
                    kind.content == content
                        && kind.terms == terms
                        && kind.layers(pattern) == layers_from(pattern, first, &content)
                });
                chunks.of.push(known.unwrap_or(chunks.kinds.len()));
                if known.is_none() {
                    let work = StageWork::new(plan, &content, parts, &terms);
                    let layers = content.num_all_layers();
                    let copy = terms.swapped / plan.deployment.machine.host_both_ways.get();
                    let copy = if layers > 0.0 { copy / layers } else { 0.0 };
                    chunks.kinds.push(Kind { content, first, terms, copy, work });
                }
                let [part, all] =
                    [&content, whole].map(|stage| layers.weight(plan.architecture.mtp.kind, stage));
                chunks.kept.push(of_stage.kept.device * share(part, all));
            }
        }
        if plan.schedule.runs_pairs {
            chunks.pair_up(parts, pattern);
        }
        chunks
    }

    /// Schedules a pair of every two kinds that share a stage.
    fn pair_up(&mut self, parts: &Parts, pattern: &[KindId]) {
        let kinds = self.kinds.len();
        self.pairs = alloc::vec![None; kinds * kinds];
        let mut graph = Graph::default();
        for of_stage in self.of.chunks(self.schedule.chunks_per_stage()) {
            for forward in of_stage {
                for backward in of_stage {
                    let pair = &mut self.pairs[forward * kinds + backward];
                    if pair.is_none() {
                        let (ahead, back) = (&self.kinds[*forward], &self.kinds[*backward]);
                        let hiding = Hiding::new(&parts.overlap, || [ahead.work, back.work]);
                        let sides = [&ahead.side(pattern), &back.side(pattern)];
                        let exposed = pair::exposed(parts, &hiding, sides, &mut graph);
                        let passes = [&ahead.work.forward, &back.work.backward];
                        let alone = [&ahead.work.waits.alone[0], &back.work.waits.alone[1]];
                        *pair = Some(parts.overlap.waiting_of_pair(passes, alone, exposed));
                    }
                }
            }
        }
    }

    fn kind(&self, stage: usize, chunk: usize) -> &Kind {
        &self.kinds[self.of[stage * self.schedule.chunks_per_stage() + chunk]]
    }

    /// Time of a pair on this stage beyond its kernels.
    fn pair(&self, stage: usize, forward: usize, backward: usize) -> Waiting {
        let count = self.schedule.chunks_per_stage();
        let [forward, backward] = [forward, backward].map(|chunk| self.of[stage * count + chunk]);
        self.pairs[forward * self.kinds.len() + backward].unwrap_or_default()
    }

    /// Times of the tasks of all stages.
    fn times(&self) -> Times {
        let count = self.schedule.chunks_per_stage();
        let chunks = self.of.iter().map(|kind| {
            let work = &self.kinds[*kind].work;
            ChunkTimes {
                forward: work.alone_seconds(0),
                input_grad: (work.alone_seconds(1) - work.weight_grad).max(0.0),
                weight_grad: work.weight_grad,
            }
        });
        let mut times = Times { chunks: chunks.collect(), pairs: Vec::new(), p2p: self.p2p };
        if !self.pairs.is_empty() {
            times.pairs.reserve(self.of.len() * count);
            for stage in 0..self.schedule.stages() {
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
        times
    }

    /// Pipeline of these counts of tasks, which took `seconds`; `stages` has the busy time and the
    /// memory of each stage.
    fn pipeline(
        &self,
        spans: &[Span],
        counts: &Counts,
        seconds: f64,
        mut stages: impl Iterator<Item = (f64, PeakActivations)>,
    ) -> Pipeline {
        let count = self.schedule.stages();
        let mut phases = [PhaseTraffic::default(); 3];
        let mut spent = Vec::with_capacity(count);
        for (index, span) in spans.iter().enumerate() {
            for stage in span.first..span.first + span.count {
                let waiting = self.spent(stage, counts, &mut phases);
                let (busy, held) = stages.next().unwrap_or_default();
                let held = Some(held);
                spent.push(Spent { span: index, first: stage, count: 1, busy, waiting, held });
            }
        }
        for phase in &mut phases {
            for axis in 0..AXES.len() {
                phase.seconds[axis] /= count as f64;
                phase.exposed[axis] /= count as f64;
            }
        }
        Pipeline { seconds, spent, phases: Some(phases) }
    }

    /// Time of a stage beyond its kernels; its traffic is added to that of each phase.
    fn spent(&self, stage: usize, counts: &Counts, phases: &mut [PhaseTraffic; 3]) -> Waiting {
        let count = self.schedule.chunks_per_stage();
        let mut all = Waiting::default();
        for (index, phase) in phases.iter_mut().enumerate() {
            let (alone, pairs) = counts.at(stage, index);
            let mut spend = |waiting: &Waiting, traffic: &dyn Fn(usize) -> f64, times: u32| {
                if times == 0 {
                    return;
                }
                let times = f64::from(times);
                all.add(waiting, times);
                for axis in 0..AXES.len() {
                    phase.seconds[axis] += traffic(axis) * times;
                    phase.exposed[axis] += waiting.exposed[axis] * times;
                }
            };
            for chunk in 0..count {
                let work = &self.kind(stage, chunk).work;
                let (ahead, back) = (alone[chunk * 2], alone[chunk * 2 + 1]);
                spend(&work.waits.alone[0], &|axis| work.forward.axis(axis), ahead);
                spend(&work.waits.alone[1], &|axis| work.backward.axis(axis), back);
                for backward in 0..count {
                    let times = pairs[chunk * count + backward];
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
}

/// The fullest moment of a stage under each load: tasks hold in their order, whatever their times.
fn held<const L: usize>(loads: &[Chunks; L], stage: usize, tasks: &[Task]) -> [PeakActivations; L] {
    let Some(Chunks { schedule, share_of_pair, .. }) = loads.first() else {
        return [PeakActivations::default(); L];
    };
    let count = schedule.chunks_per_stage();
    let kept = loads.each_ref().map(|chunks| &chunks.kept[stage * count..][..count]);
    let part = 1.0 / schedule.chunks() as f64;
    let (mut most, mut now) = ([(0.0, None); L], [0.0; L]);
    let (mut most_micro_batches, mut micro_batches) = (0.0, 0.0);
    for (index, task) in tasks.iter().enumerate() {
        if matches!(task.kind, TaskKind::Forward | TaskKind::Pair) {
            let share = if task.kind == TaskKind::Pair { *share_of_pair } else { 1.0 };
            for lane in 0..L {
                let bytes = kept[lane][usize::from(task.chunk)];
                let held = now[lane] + bytes * share;
                if held > most[lane].0 {
                    most[lane] = (held, Some(index));
                }
                now[lane] += bytes;
            }
            let held = micro_batches + part * share;
            most_micro_batches = if held > most_micro_batches { held } else { most_micro_batches };
            micro_batches += part;
        }
        if matches!(task.kind, TaskKind::Backward | TaskKind::WeightGrad | TaskKind::Pair) {
            for lane in 0..L {
                now[lane] -= kept[lane][usize::from(task.backward_chunk)];
            }
            micro_batches -= part;
        }
    }
    // Parts of a micro-batch add up to it only nearly.
    let chunks = schedule.chunks() as f64;
    if *share_of_pair >= 1.0 {
        most_micro_batches = libm::round(most_micro_batches * chunks) / chunks;
    }
    most.map(|(bytes, index)| PeakActivations {
        bytes,
        micro_batches: most_micro_batches,
        task: index.and_then(|index: usize| tasks.get(index)).copied(),
    })
}

impl Kind {
    /// Its layers in the order of a forward, MTP layers not among them.
    fn layers<'a>(&self, pattern: &'a [KindId]) -> &'a [KindId] {
        layers_from(pattern, self.first, &self.content)
    }

    fn side<'a>(&self, pattern: &'a [KindId]) -> Side<'a> {
        Side {
            content: self.content,
            layers: self.layers(pattern),
            repeated_share: self.terms.repeated_share,
            copy: self.copy,
        }
    }
}

/// The first layer of each chunk in the model's pattern.
fn first_layers(chunks: &[Stage]) -> Vec<usize> {
    let mut first = 0;
    let take = |chunk: &Stage| {
        let own = first;
        first += libm::round(chunk.num_layers()) as usize;
        own
    };
    chunks.iter().map(take).collect()
}

/// The layers of a chunk, of which this is the first.
fn layers_from<'a>(pattern: &'a [KindId], first: usize, chunk: &Stage) -> &'a [KindId] {
    let behind = pattern.get(first..).unwrap_or_default();
    &behind[..(libm::round(chunk.num_layers()) as usize).min(behind.len())]
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

/// The tasks of a schedule and how many of each kind there are, whatever the loads; their room is
/// used again by the next schedule.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tasks {
    schedule: Option<Schedule>,
    lists: TaskLists,
    counts: Counts,
}

impl Tasks {
    /// Makes these the tasks of a schedule.
    fn turn_to(&mut self, schedule: Schedule) {
        if self.schedule != Some(schedule) {
            schedule.write(&mut self.lists);
            self.counts.count(&self.lists, schedule.chunks_per_stage());
            self.schedule = Some(schedule);
        }
    }
}

/// Number of runs of each kind of task, by stage and phase.
#[derive(Clone, Debug, Default)]
struct Counts {
    chunks: usize,
    /// Counts by stage and phase: for each chunk its forwards and its backwards without a partner,
    /// then for each forward's chunk the pairs with each backward's chunk.
    each: Vec<u32>,
}

impl Counts {
    const PHASES: usize = Phase::ALL.len();

    fn count(&mut self, lists: &TaskLists, chunks: usize) {
        self.chunks = chunks;
        self.each.clear();
        self.each.resize(lists.stages() * Self::PHASES * self.kinds(), 0);
        for stage in 0..lists.stages() {
            self.count_stage(stage, lists.stage(stage));
        }
    }

    /// Kinds of tasks that are counted.
    const fn kinds(&self) -> usize {
        self.chunks * (2 + self.chunks)
    }

    fn count_stage(&mut self, stage: usize, tasks: &[Task]) {
        let runs_forward = |task: &Task| matches!(task.kind, TaskKind::Forward | TaskKind::Pair);
        let first_back =
            tasks.iter().position(|task| task.kind != TaskKind::Forward).unwrap_or(tasks.len());
        let last_ahead = tasks.iter().rposition(runs_forward).unwrap_or(0);
        let behind = (last_ahead + 1).max(first_back).min(tasks.len());
        let phases = [
            (Phase::WarmUp, &tasks[..first_back]),
            (Phase::Steady, &tasks[first_back..behind]),
            (Phase::CoolDown, &tasks[behind..]),
        ];
        let (chunks, kinds) = (self.chunks, self.kinds());
        for (phase, tasks) in phases {
            let start = (stage * Self::PHASES + phase as usize) * kinds;
            let counts = &mut self.each[start..start + kinds];
            for task in tasks {
                let [chunk, back] = [task.chunk, task.backward_chunk].map(usize::from);
                match task.kind {
                    TaskKind::Forward => counts[chunk * 2] += 1,
                    TaskKind::Backward | TaskKind::InputGrad => counts[back * 2 + 1] += 1,
                    TaskKind::Pair => counts[chunks * 2 + chunk * chunks + back] += 1,
                    TaskKind::WeightGrad => {}
                }
            }
        }
    }

    /// Counts of a stage and a phase: the tasks without a partner, and the pairs.
    fn at(&self, stage: usize, phase: usize) -> (&[u32], &[u32]) {
        let start = (stage * Self::PHASES + phase) * self.kinds();
        self.each[start..start + self.kinds()].split_at(self.chunks * 2)
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
        parts: &Parts,
        pattern: &[KindId],
        stage: usize,
        [forward, backward]: [usize; 2],
    ) -> PairTimeline {
        let [ahead, back] = [forward, backward].map(|chunk| self.chunks.kind(stage, chunk));
        let hiding = Hiding::new(&parts.overlap, || [ahead.work, back.work]);
        pair::operators(parts, &hiding, [&ahead.side(pattern), &back.side(pattern)])
    }
}
