//! Runs task lists on the stages' times.

use alloc::vec;
use alloc::vec::Vec;

use super::{Form, Schedule, Task, TaskKind, TaskLists, Timeline, Times};
use crate::choice::Method;

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
        let mut run = Run::new(self, &lists, times);
        let mut pending: Vec<usize> = (0..lists.stages()).rev().collect();
        while let Some(stage) = pending.pop() {
            run.work_on(stage, &lists, &mut pending);
        }
        debug_assert!(run.is_complete(&lists), "{self:?} can't go on");
        let Run { start, end, busy, .. } = run;
        let seconds = self.step_seconds(&lists, &start, &end);
        Timeline { schedule: *self, lists, start, end, seconds, busy }
    }

    /// The time of a step. ZB-2P's stages begin the next step as soon as they are done with this
    /// one, so that it lasts as long as a stage does; see [`super::zero_bubble::write_h2`].
    fn step_seconds(&self, lists: &TaskLists, start: &[f64], end: &[f64]) -> f64 {
        let spans = (0..lists.stages()).filter_map(|stage| {
            let range = lists.range(stage);
            Some((*start.get(range.start)?, *end.get(range.end.checked_sub(1)?)?))
        });
        if self.method == Method::Zb2p {
            return spans.map(|(first, last)| last - first).fold(0.0, f64::max);
        }
        // The first task of all starts at zero.
        spans.map(|(_, last)| last).fold(0.0, f64::max)
    }

    /// The stage of a place along the model; `chunk` says which of DualPipe's two copies.
    fn stage_at(&self, position: usize, chunk: usize) -> usize {
        Form::of(self.method).placement.stage_at(self.stages(), position, chunk)
    }
}

/// One direction of a stage's chunk: where the ends of its passes stand, what they need and who
/// needs them. Rows are places in [`Run::ends`], to which the micro-batch is added.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    row: usize,
    needs: usize,
    /// From the end of what it needs until it is here.
    delay: f64,
    /// The stage that waits for it; this one where none does.
    feeds: usize,
}

/// A stage's chunk: its passes and their seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    forward: Flow,
    backward: Flow,
    forward_seconds: f64,
    input_grad_seconds: f64,
    weight_grad_seconds: f64,
}

impl Place {
    fn new(schedule: &Schedule, times: &Times, stage: usize, chunk: usize) -> Self {
        let (p, m) = (schedule.stages(), schedule.micro_batches());
        let positions = p * schedule.chunks();
        let position = schedule.position(stage, chunk);
        let delay = |neighbour: usize| if neighbour == stage { 0.0 } else { length(times.p2p) };
        let before = position.checked_sub(1).map(|place| schedule.stage_at(place, chunk));
        let behind = (position + 1 < positions).then(|| schedule.stage_at(position + 1, chunk));
        let [row, backward_row] = [position, positions + position].map(|row| row * m);
        let at = stage * schedule.chunks_per_stage() + chunk;
        let seconds = times.chunks.get(at).copied().unwrap_or_default();
        Self {
            forward: Flow {
                row,
                // Behind the two directions a row of zeros: the first chunk's input is there.
                needs: if position > 0 { row - m } else { 2 * positions * m },
                delay: before.map_or(0.0, delay),
                feeds: behind.unwrap_or(stage),
            },
            backward: Flow {
                row: backward_row,
                // The last chunk's backward needs its own forward.
                needs: if behind.is_some() { backward_row + m } else { row },
                delay: behind.map_or(0.0, delay),
                feeds: before.unwrap_or(stage),
            },
            forward_seconds: length(seconds.forward),
            input_grad_seconds: length(seconds.input_grad),
            weight_grad_seconds: length(seconds.weight_grad),
        }
    }
}

/// A time that can pass.
fn length(seconds: f64) -> f64 {
    if seconds > 0.0 { seconds } else { 0.0 }
}

/// A simulation on its way.
struct Run<'a> {
    times: &'a Times,
    /// Chunks per stage.
    chunks: usize,
    places: Vec<Place>,
    /// Ends of passes, forwards and then backwards, by position and micro-batch; not a number
    /// before they ran. DualPipe's two directions share rows, their micro-batches are others.
    ends: Vec<f64>,
    /// The next task of each stage.
    next: Vec<usize>,
    /// The pass that each stage waits for, as its place in `ends`.
    waits_for: Vec<usize>,
    /// When each stage is free.
    free: Vec<f64>,
    busy: Vec<f64>,
    start: Vec<f64>,
    end: Vec<f64>,
}

impl<'a> Run<'a> {
    fn new(schedule: &Schedule, lists: &TaskLists, times: &'a Times) -> Self {
        let (p, c) = (lists.stages(), schedule.chunks_per_stage());
        let (count, m) = (lists.tasks.len(), schedule.micro_batches());
        let passes = if count == 0 { 0 } else { 2 * p * schedule.chunks() * m };
        let mut ends = vec![f64::NAN; passes];
        ends.resize(if count == 0 { 0 } else { passes + m }, 0.0);
        Self {
            times,
            chunks: c,
            places: (0..p * c).map(|at| Place::new(schedule, times, at / c, at % c)).collect(),
            ends,
            next: (0..p).map(|stage| lists.range(stage).start).collect(),
            waits_for: vec![usize::MAX; p],
            free: vec![0.0; p],
            busy: vec![0.0; p],
            start: vec![0.0; count],
            end: vec![0.0; count],
        }
    }

    /// Runs a stage's tasks until one of them has to wait; stages that waited for one of them are
    /// pending then.
    fn work_on(&mut self, stage: usize, lists: &TaskLists, pending: &mut Vec<usize>) {
        let last = lists.range(stage).end;
        let (mut free, mut busy) = (self.free[stage], self.busy[stage]);
        let mut index = self.next[stage];
        while index < last {
            let task = lists.tasks[index];
            let (start, seconds) = match self.ready(stage, task) {
                Ok((ready, seconds)) => (ready.max(free), seconds),
                Err(needed) => {
                    self.waits_for[stage] = needed;
                    break;
                }
            };
            free = start + seconds;
            busy += seconds;
            self.start[index] = start;
            self.end[index] = free;
            self.pass_on(stage, task, free, pending);
            index += 1;
        }
        self.next[stage] = index;
        self.free[stage] = free;
        self.busy[stage] = busy;
    }

    /// From when on a task can run, and its seconds; or the pass that it waits for.
    fn ready(&self, stage: usize, task: Task) -> Result<(f64, f64), usize> {
        let place = self.place(stage, task.chunk);
        let arrived = |flow: &Flow, micro_batch: u32| {
            let needed = flow.needs + micro_batch as usize;
            let end = self.ends[needed];
            if end.is_nan() { Err(needed) } else { Ok(end + flow.delay) }
        };
        let micro_batch = task.micro_batch;
        Ok(match task.kind {
            TaskKind::Forward => (arrived(&place.forward, micro_batch)?, place.forward_seconds),
            TaskKind::Backward => (
                arrived(&place.backward, micro_batch)?,
                place.input_grad_seconds + place.weight_grad_seconds,
            ),
            TaskKind::InputGrad => {
                (arrived(&place.backward, micro_batch)?, place.input_grad_seconds)
            }
            // The gradients of inputs are earlier in the same list.
            TaskKind::WeightGrad => (0.0, place.weight_grad_seconds),
            TaskKind::Pair => {
                let behind = self.place(stage, task.backward_chunk);
                let forward = arrived(&place.forward, micro_batch)?;
                let backward = arrived(&behind.backward, task.backward_micro_batch)?;
                (forward.max(backward), self.pair_seconds(stage, task))
            }
        })
    }

    fn pair_seconds(&self, stage: usize, task: Task) -> f64 {
        let (forward, backward) = (usize::from(task.chunk), usize::from(task.backward_chunk));
        match self.times.pairs.as_slice() {
            [] => {
                let behind = self.place(stage, task.backward_chunk);
                self.place(stage, task.chunk).forward_seconds
                    + (behind.input_grad_seconds + behind.weight_grad_seconds)
            }
            [all] => length(*all),
            each => {
                let at = (stage * self.chunks + forward) * self.chunks + backward;
                length(each.get(at).copied().unwrap_or(0.0))
            }
        }
    }

    /// Tells those who wait that a task has ended.
    fn pass_on(&mut self, stage: usize, task: Task, end: f64, pending: &mut Vec<usize>) {
        let mut ended = |run: &mut Self, flow: Flow, micro_batch: u32| {
            let at = flow.row + micro_batch as usize;
            run.ends[at] = end;
            if run.waits_for[flow.feeds] == at {
                run.waits_for[flow.feeds] = usize::MAX;
                pending.push(flow.feeds);
            }
        };
        if let Some((chunk, micro_batch)) = task.forward() {
            ended(self, self.place(stage, chunk).forward, micro_batch);
        }
        if let Some((chunk, micro_batch)) = task.input_grad() {
            ended(self, self.place(stage, chunk).backward, micro_batch);
        }
    }

    fn place(&self, stage: usize, chunk: u16) -> &Place {
        &self.places[stage * self.chunks + usize::from(chunk)]
    }

    fn is_complete(&self, lists: &TaskLists) -> bool {
        self.next.iter().enumerate().all(|(stage, next)| *next == lists.range(stage).end)
    }
}
