//! Runs task lists on the stages' times.

use alloc::vec;
use alloc::vec::Vec;
use core::array;
use core::ops::Range;

use super::form::Form;
use super::order::Schedule;
use super::task::{TaskKind, TaskLists};
use super::timeline::Timeline;
use super::times::Times;
use crate::ground::choice::Method;

impl Schedule {
    /// When each task runs: a stage works on its list in order; a task starts as soon as the stage
    /// is free and what it needs is there, `times.p2p` after its end when another stage has it.
    ///
    /// A forward needs the forward of the chunk before; a backward (or the gradients of inputs)
    /// needs that of the chunk behind; a pair needs what both need, and finishes both at its end.
    /// Every schedule runs to its end. Times that are negative or not a number count as zero.
    #[must_use]
    pub fn simulate(&self, times: &Times) -> Timeline {
        let lists = self.tasks();
        let (mut start, mut end) = (vec![0.0; lists.tasks.len()], vec![0.0; lists.tasks.len()]);
        let mut run = Run::default();
        run.simulate(self, &lists, [times], |index, [from], [to]| {
            (start[index], end[index]) = (from, to);
        });
        let busy = run.busy().map(|[busy]| *busy).collect();
        let [seconds] = run.seconds;
        Timeline { schedule: *self, lists, start, end, seconds, busy }
    }

    /// The stage of a place along the model; `chunk` says which of DualPipe's two copies.
    fn stage_at(&self, position: usize, chunk: usize) -> usize {
        Form::of(self.method).placement.stage_at(self.stages(), position, chunk)
    }
}

/// A time under each of L loads, whose tasks are the same.
type Lanes<const L: usize> = [f64; L];

fn plus<const L: usize>(one: Lanes<L>, other: Lanes<L>) -> Lanes<L> {
    array::from_fn(|lane| one[lane] + other[lane])
}

/// The later of two, which are numbers.
fn later<const L: usize>(one: Lanes<L>, other: Lanes<L>) -> Lanes<L> {
    array::from_fn(|lane| if one[lane] > other[lane] { one[lane] } else { other[lane] })
}

/// One direction of a stage's chunk: the places of the ends of its passes, what they need and who
/// needs them. Rows are places in [`Run::ends`], to which the micro-batch is added.
#[derive(Clone, Copy, Debug)]
struct Flow<const L: usize> {
    row: usize,
    needs: usize,
    /// From the end of what it needs until it is here.
    delay: Lanes<L>,
    /// The stage that waits for it; this one where none does.
    feeds: usize,
}

/// A stage's chunk: its passes and their seconds.
#[derive(Clone, Copy, Debug)]
struct Place<const L: usize> {
    forward: Flow<L>,
    backward: Flow<L>,
    forward_seconds: Lanes<L>,
    input_grad_seconds: Lanes<L>,
    weight_grad_seconds: Lanes<L>,
    /// Both gradients.
    backward_seconds: Lanes<L>,
}

impl<const L: usize> Place<L> {
    fn new(schedule: &Schedule, times: [&Times; L], stage: usize, chunk: usize) -> Self {
        let (p, m) = (schedule.stages(), schedule.micro_batches());
        let positions = p * schedule.chunks();
        let position = schedule.position(stage, chunk);
        let delay = |neighbour: usize| {
            times.map(|times| if neighbour == stage { 0.0 } else { length(times.p2p) })
        };
        let before = position.checked_sub(1).map(|place| schedule.stage_at(place, chunk));
        let behind = (position + 1 < positions).then(|| schedule.stage_at(position + 1, chunk));
        let [row, backward_row] = [position, positions + position].map(|row| row * m);
        let at = stage * schedule.chunks_per_stage() + chunk;
        let each = times.map(|times| times.chunks.get(at).copied().unwrap_or_default());
        let input_grad_seconds = each.map(|seconds| length(seconds.input_grad));
        let weight_grad_seconds = each.map(|seconds| length(seconds.weight_grad));
        Self {
            forward: Flow {
                row,
                // Behind the two directions a row of zeros: the first chunk's input is there.
                needs: if position > 0 { row - m } else { 2 * positions * m },
                delay: before.map_or([0.0; L], delay),
                feeds: behind.unwrap_or(stage),
            },
            backward: Flow {
                row: backward_row,
                // The last chunk's backward needs its own forward.
                needs: if behind.is_some() { backward_row + m } else { row },
                delay: behind.map_or([0.0; L], delay),
                feeds: before.unwrap_or(stage),
            },
            forward_seconds: each.map(|seconds| length(seconds.forward)),
            input_grad_seconds,
            weight_grad_seconds,
            backward_seconds: plus(input_grad_seconds, weight_grad_seconds),
        }
    }
}

/// A time that can pass.
fn length(seconds: f64) -> f64 {
    if seconds > 0.0 { seconds } else { 0.0 }
}

/// A stage on its way through its tasks.
#[derive(Clone, Copy, Debug)]
struct StageState<const L: usize> {
    /// Its first and its next task, and where its tasks end.
    begin: usize,
    next: usize,
    last: usize,
    /// The pass that it waits for, as its place in [`Run::ends`].
    waits_for: usize,
    /// When it starts.
    first: Lanes<L>,
    /// When it is free.
    free: Lanes<L>,
    /// Seconds that it works.
    busy: Lanes<L>,
}

/// A simulation under L loads at once: which task comes next depends on no time. Its room is used
/// again by the next one, as a large one would give its heap back and fault it in anew.
#[derive(Clone, Debug)]
pub(crate) struct Run<const L: usize> {
    /// Chunks per stage.
    chunks: usize,
    places: Vec<Place<L>>,
    /// Seconds of pairs, at `(stage * chunks + forward chunk) * chunks + backward chunk`.
    pairs: Vec<Lanes<L>>,
    /// Ends of passes, forwards and then backwards, by position and micro-batch; not a number
    /// before they ran. DualPipe's two directions share rows, their micro-batches are others.
    ends: Vec<Lanes<L>>,
    stages: Vec<StageState<L>>,
    /// Stages that may go on.
    pending: Vec<usize>,
    /// The time of a step.
    pub(crate) seconds: Lanes<L>,
}

impl<const L: usize> Default for Run<L> {
    fn default() -> Self {
        Self {
            chunks: 0,
            places: Vec::new(),
            pairs: Vec::new(),
            ends: Vec::new(),
            stages: Vec::new(),
            pending: Vec::new(),
            seconds: [0.0; L],
        }
    }
}

/// A stage at work on its tasks.
struct Worker<'a, const L: usize> {
    stage: usize,
    /// When it is free, and the seconds that it has worked.
    free: Lanes<L>,
    busy: Lanes<L>,
    /// Ends of passes, and the stages that wait for any of them.
    ends: &'a mut [Lanes<L>],
    stages: &'a mut [StageState<L>],
    pending: &'a mut Vec<usize>,
}

impl<const L: usize> Worker<'_, L> {
    /// From when on what a pass needs is here; `None` if the stage has to wait for it.
    #[inline]
    fn arrived(&mut self, flow: &Flow<L>, micro_batch: u32) -> Option<Lanes<L>> {
        let needed = flow.needs + micro_batch as usize;
        let end = self.ends[needed];
        if end[0].is_nan() {
            self.stages[self.stage].waits_for = needed;
            return None;
        }
        Some(plus(end, flow.delay))
    }

    /// Runs a task that can start from then on; tells when it does.
    #[inline]
    fn run(&mut self, ready: Lanes<L>, seconds: Lanes<L>) -> Lanes<L> {
        let start = later(ready, self.free);
        self.free = plus(start, seconds);
        self.busy = plus(self.busy, seconds);
        start
    }

    /// Ends a pass now, and tells the stage that waits for it.
    #[inline]
    fn end(&mut self, flow: &Flow<L>, micro_batch: u32) {
        let at = flow.row + micro_batch as usize;
        self.ends[at] = self.free;
        let fed = &mut self.stages[flow.feeds];
        if fed.waits_for == at {
            fed.waits_for = usize::MAX;
            self.pending.push(flow.feeds);
        }
    }
}

impl<const L: usize> Run<L> {
    /// Runs a schedule's lists on the times of each load, and tells the start and end of each task
    /// by its place in the lists.
    pub(crate) fn simulate(
        &mut self,
        schedule: &Schedule,
        lists: &TaskLists,
        times: [&Times; L],
        mut note: impl FnMut(usize, Lanes<L>, Lanes<L>),
    ) {
        self.begin(schedule, lists, times);
        while let Some(stage) = self.pending.pop() {
            self.work_on(stage, lists, &mut note);
        }
        debug_assert!(self.is_complete(), "{schedule:?} can't go on");
        self.seconds = self.step_seconds(schedule);
    }

    fn begin(&mut self, schedule: &Schedule, lists: &TaskLists, times: [&Times; L]) {
        let (p, c) = (lists.stages(), schedule.chunks_per_stage());
        let (count, m) = (lists.tasks.len(), schedule.micro_batches());
        let passes = if count == 0 { 0 } else { 2 * p * schedule.chunks() * m };
        self.chunks = c;
        self.places.clear();
        self.places.extend((0..p * c).map(|at| Place::new(schedule, times, at / c, at % c)));
        self.pair_up(times);
        // Room for both at once: growing would copy all of the first.
        self.ends.clear();
        self.ends.reserve(passes + m);
        self.ends.resize(passes, [f64::NAN; L]);
        self.ends.resize(if count == 0 { 0 } else { passes + m }, [0.0; L]);
        self.stages.clear();
        self.stages.extend((0..p).map(|stage| {
            let (Range { start: begin, end: last }, none) = (lists.range(stage), [0.0; L]);
            let (next, waits_for) = (begin, usize::MAX);
            StageState { begin, next, last, waits_for, first: none, free: none, busy: none }
        }));
        self.pending.clear();
        self.pending.extend((0..p).rev());
    }

    /// Sets the seconds of pairs.
    fn pair_up(&mut self, times: [&Times; L]) {
        let (places, c) = (&self.places, self.chunks);
        let seconds = |at: usize, back: usize| {
            let apart = plus(places[at].forward_seconds, places[back].backward_seconds);
            array::from_fn(|lane| match times[lane].pairs.as_slice() {
                [] => apart[lane],
                [all] => length(*all),
                each => length(each.get(at * c + back % c).copied().unwrap_or(0.0)),
            })
        };
        self.pairs.clear();
        let each = (0..places.len()).flat_map(|at| (0..c).map(move |back| (at, at / c * c + back)));
        self.pairs.extend(each.map(|(at, back)| seconds(at, back)));
    }

    /// Runs a stage's tasks until one of them has to wait; stages that waited for one of them are
    /// pending then.
    fn work_on(
        &mut self,
        stage: usize,
        lists: &TaskLists,
        note: &mut impl FnMut(usize, Lanes<L>, Lanes<L>),
    ) {
        let StageState { begin, next, last, free, busy, .. } = self.stages[stage];
        let (c, tasks) = (self.chunks, &lists.tasks[..last]);
        let places = &self.places[stage * c..(stage + 1) * c];
        let pairs = &self.pairs;
        let (ends, stages, pending) = (&mut self.ends, &mut self.stages, &mut self.pending);
        let mut worker = Worker { stage, free, busy, ends, stages, pending };
        let mut index = next;
        while let Some(task) = tasks.get(index) {
            let (place, micro_batch) = (&places[usize::from(task.chunk)], task.micro_batch);
            let start = match task.kind {
                TaskKind::Forward => {
                    let Some(ready) = worker.arrived(&place.forward, micro_batch) else { break };
                    let start = worker.run(ready, place.forward_seconds);
                    worker.end(&place.forward, micro_batch);
                    start
                }
                TaskKind::Backward | TaskKind::InputGrad => {
                    let Some(ready) = worker.arrived(&place.backward, micro_batch) else { break };
                    let is_whole = task.kind == TaskKind::Backward;
                    let seconds =
                        if is_whole { place.backward_seconds } else { place.input_grad_seconds };
                    let start = worker.run(ready, seconds);
                    worker.end(&place.backward, micro_batch);
                    start
                }
                // The gradients of inputs are earlier in the same list.
                TaskKind::WeightGrad => worker.run([0.0; L], place.weight_grad_seconds),
                TaskKind::Pair => {
                    let back = usize::from(task.backward_chunk);
                    let (ahead, behind) = (&place.forward, &places[back].backward);
                    let Some(ready) = worker.arrived(ahead, micro_batch) else { break };
                    let other = task.backward_micro_batch;
                    let Some(also) = worker.arrived(behind, other) else { break };
                    let seconds = pairs[(stage * c + usize::from(task.chunk)) * c + back];
                    let start = worker.run(later(ready, also), seconds);
                    worker.end(ahead, micro_batch);
                    worker.end(behind, other);
                    start
                }
            };
            if index == begin {
                worker.stages[stage].first = start;
            }
            note(index, start, worker.free);
            index += 1;
        }
        let Worker { free, busy, .. } = worker;
        let state = &mut self.stages[stage];
        (state.next, state.free, state.busy) = (index, free, busy);
    }

    fn is_complete(&self) -> bool {
        self.stages.iter().all(|stage| stage.next == stage.last)
    }

    /// Seconds that each stage works.
    pub(crate) fn busy(&self) -> impl Iterator<Item = &Lanes<L>> {
        self.stages.iter().map(|stage| &stage.busy)
    }

    /// The time of a step. ZB-2P's stages begin the next step as soon as they are done with this
    /// one, so that it lasts as long as a stage does; see [`super::zero_bubble::write_h2`].
    fn step_seconds(&self, schedule: &Schedule) -> Lanes<L> {
        let whole = schedule.method == Method::Zb2p;
        self.stages.iter().fold([0.0; L], |most, StageState { first, free, .. }| {
            // The first task of all starts at zero.
            let from = if whole { *first } else { [0.0; L] };
            later(array::from_fn(|lane| free[lane] - from[lane]), most)
        })
    }
}
