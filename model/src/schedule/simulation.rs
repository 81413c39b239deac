//! Runs task lists on the stages' times.

use alloc::vec;
use alloc::vec::Vec;
use core::array;

use super::form::Form;
use super::order::Schedule;
use super::task::{Task, TaskKind, TaskLists};
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
        let busy = run.busy.into_iter().map(|[busy]| busy).collect();
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
    /// The next task of each stage.
    next: Vec<usize>,
    /// The pass that each stage waits for, as its place in `ends`.
    waits_for: Vec<usize>,
    /// Stages that may go on.
    pending: Vec<usize>,
    /// When each stage starts.
    first: Vec<Lanes<L>>,
    /// When each stage is free.
    free: Vec<Lanes<L>>,
    /// Seconds that each stage works.
    pub(crate) busy: Vec<Lanes<L>>,
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
            next: Vec::new(),
            waits_for: Vec::new(),
            pending: Vec::new(),
            first: Vec::new(),
            free: Vec::new(),
            busy: Vec::new(),
            seconds: [0.0; L],
        }
    }
}

/// Makes a list of this many equal entries, in the room that it has.
fn refill<T: Clone>(list: &mut Vec<T>, count: usize, entry: T) {
    list.clear();
    list.resize(count, entry);
}

/// A stage's own chunks, and the seconds of its pairs.
struct Own<'a, const L: usize> {
    places: &'a [Place<L>],
    pairs: &'a [Lanes<L>],
}

impl<const L: usize> Own<'_, L> {
    /// From when on a task can run, and its seconds; or the pass that it waits for.
    #[inline]
    fn ready(&self, ends: &[Lanes<L>], task: &Task) -> Result<(Lanes<L>, Lanes<L>), usize> {
        let place = &self.places[usize::from(task.chunk)];
        let arrived = |flow: &Flow<L>, micro_batch: u32| {
            let needed = flow.needs + micro_batch as usize;
            let end = ends[needed];
            if end[0].is_nan() { Err(needed) } else { Ok(plus(end, flow.delay)) }
        };
        let micro_batch = task.micro_batch;
        Ok(match task.kind {
            TaskKind::Forward => (arrived(&place.forward, micro_batch)?, place.forward_seconds),
            TaskKind::Backward => (arrived(&place.backward, micro_batch)?, place.backward_seconds),
            TaskKind::InputGrad => {
                (arrived(&place.backward, micro_batch)?, place.input_grad_seconds)
            }
            // The gradients of inputs are earlier in the same list.
            TaskKind::WeightGrad => ([0.0; L], place.weight_grad_seconds),
            TaskKind::Pair => {
                let back = usize::from(task.backward_chunk);
                let forward = arrived(&place.forward, micro_batch)?;
                let backward = arrived(&self.places[back].backward, task.backward_micro_batch)?;
                let seconds = self.pairs[usize::from(task.chunk) * self.places.len() + back];
                (later(forward, backward), seconds)
            }
        })
    }
}

/// Ends of passes, and the stages that wait for any of them.
struct Ends<'a, const L: usize> {
    ends: &'a mut [Lanes<L>],
    waits_for: &'a mut [usize],
    pending: &'a mut Vec<usize>,
}

impl<const L: usize> Ends<'_, L> {
    /// Tells the stage that waits for a pass that it has ended.
    #[inline]
    fn note(&mut self, flow: &Flow<L>, micro_batch: u32, end: Lanes<L>) {
        let at = flow.row + micro_batch as usize;
        self.ends[at] = end;
        let waits_for = &mut self.waits_for[flow.feeds];
        if *waits_for == at {
            *waits_for = usize::MAX;
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
        debug_assert!(self.is_complete(lists), "{schedule:?} can't go on");
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
        self.next.clear();
        self.next.extend((0..p).map(|stage| lists.range(stage).start));
        refill(&mut self.waits_for, p, usize::MAX);
        for list in [&mut self.first, &mut self.free, &mut self.busy] {
            refill(list, p, [0.0; L]);
        }
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
        let (range, c) = (lists.range(stage), self.chunks);
        let tasks = &lists.tasks[..range.end];
        let own = Own {
            places: &self.places[stage * c..(stage + 1) * c],
            pairs: &self.pairs[stage * c * c..(stage + 1) * c * c],
        };
        let mut ends = Ends {
            ends: &mut self.ends,
            waits_for: &mut self.waits_for,
            pending: &mut self.pending,
        };
        let (mut free, mut busy) = (self.free[stage], self.busy[stage]);
        let mut index = self.next[stage];
        while let Some(task) = tasks.get(index) {
            let (start, seconds) = match own.ready(ends.ends, task) {
                Ok((ready, seconds)) => (later(ready, free), seconds),
                Err(needed) => {
                    ends.waits_for[stage] = needed;
                    break;
                }
            };
            if index == range.start {
                self.first[stage] = start;
            }
            free = plus(start, seconds);
            busy = plus(busy, seconds);
            note(index, start, free);
            if let Some((chunk, micro_batch)) = task.forward() {
                ends.note(&own.places[usize::from(chunk)].forward, micro_batch, free);
            }
            if let Some((chunk, micro_batch)) = task.input_grad() {
                ends.note(&own.places[usize::from(chunk)].backward, micro_batch, free);
            }
            index += 1;
        }
        self.next[stage] = index;
        self.free[stage] = free;
        self.busy[stage] = busy;
    }

    fn is_complete(&self, lists: &TaskLists) -> bool {
        self.next.iter().enumerate().all(|(stage, next)| *next == lists.range(stage).end)
    }

    /// The time of a step. ZB-2P's stages begin the next step as soon as they are done with this
    /// one, so that it lasts as long as a stage does; see [`super::zero_bubble::write_h2`].
    fn step_seconds(&self, schedule: &Schedule) -> Lanes<L> {
        let spans = self.first.iter().zip(&self.free);
        let whole = schedule.method == Method::Zb2p;
        spans.fold([0.0; L], |most, (first, last)| {
            // The first task of all starts at zero.
            let from = if whole { *first } else { [0.0; L] };
            later(array::from_fn(|lane| last[lane] - from[lane]), most)
        })
    }
}
